"""The process that holds a subscription open: leases it, runs its query, and does what its state says."""

import shutil
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from threading import Event
from typing import Literal, cast
from uuid import UUID, uuid4

import structlog
from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from penstock import hosts
from penstock.catalog.entry import spec_of
from penstock.catalog.source import KafkaOptions
from penstock.catalog.subscription import SubscriptionSpec
from penstock.errors import DatabaseUnavailable, DataLoss, PenstockError, QueryFailed, RuntimeReplaced, SourceError
from penstock.kernel import catalog, runtimes
from penstock.kernel.catalog import CatalogEntry
from penstock.kernel.connection import Connection, connect
from penstock.kernel.runtimes import Lease
from penstock.kernel.subscriptions import not_active
from penstock.model import Json
from penstock.pipeline.committer import Committer, Terms
from penstock.pipeline.keeper import Keeper
from penstock.pipeline.lag import Progress, lag_of
from penstock.pipeline.positions import Loss, Starts, ahead, ranges, starts
from penstock.pipeline.sink import SinkOptions
from penstock.pipeline.spans import described
from penstock.pipeline.stream import Stream
from penstock.pipeline.telemetry import Sight, Telemetry
from penstock.sources.contract import Queue, Source
from penstock.sources.kafka import KafkaSource
from penstock.sources.nats import NatsSource
from penstock.sources.opening import open_source

log = structlog.get_logger("penstock.runtime")

_LOOK_S = 0.2
_TURN_S = 0.02
# a drain ends before the kind's timeout, and the next one goes on
_DRAIN_S = 600
_BATCH_S = 30
_COMMIT_S = 20
_TAKEN_S = 5
# twice what a batch should take from its fetch to its acknowledgement
_ACK_WAIT_S = 30
_FIRST_WAIT_S = 1.0
_FAILING = 3
_LONGEST_WAIT_S = 30.0
_ENDED = ("DEACTIVATED", "DRAINING")
_READ = ("ACTIVE", "PAUSED", "DRAINING")


@dataclass
class Runtime:
    """One life of one subscription's runtime."""

    spark: SparkSession
    database_url: str
    path: str
    once: bool = False
    stop: Event = field(default_factory=Event)
    incarnation: UUID = field(default_factory=uuid4)
    telemetry: Telemetry = field(default_factory=Telemetry)
    _sight: Sight = field(init=False, repr=False)
    # how often in a row a query has failed, and how many batches there were when it did
    _failures: int = field(default=0, init=False)
    _failed_at: int = field(default=-1, init=False)

    def run(self) -> str:
        """Until it is stopped, drained or deactivated, or has done its one drain. Returns the state it leaves."""
        with self._connected() as connection:
            held = runtimes.lease(connection, self.path, self.incarnation)
            if held.state not in _READ:
                runtimes.release(connection, self.path, held.token)
                raise not_active(self.path, held.state)
        self._sight = self.telemetry.sight(self.path, held)
        keeper = Keeper(self.database_url, self.path, self.incarnation, held)
        keeper.start()
        try:
            self._hold(keeper)
        except BaseException:
            self._sight.says("failed")
            # whoever comes next need not wait for the lease to end
            with suppress(PenstockError):
                self._let_go(keeper)
            raise
        self._sight.says("stopped")
        return self._let_go(keeper)

    def _let_go(self, keeper: Keeper) -> str:
        keeper.end()
        with self._connected() as connection:
            return runtimes.release(connection, self.path, keeper.lease.token)

    def _connected(self) -> Connection:
        return connect(self.database_url, application="penstock runtime")

    def _hold(self, keeper: Keeper) -> None:
        wait_s = _FIRST_WAIT_S
        while not self._is_over(keeper):
            if keeper.lease.state == "PAUSED":
                if self.once:
                    log.info("is paused: nothing is read", subscription=self.path)
                    return
                self._sight.says("paused")
                self._sight.look(keeper.lease)
                self.stop.wait(_LOOK_S)
                continue
            began = time.monotonic()
            try:
                # a connection and a token of its own: a server may have been restarted, a version registered
                with self._connected() as connection:
                    lease = keeper.retake(connection)
                    self._read(connection, keeper, lease)
                # one that a new version interrupted has not read all
                if self.once and keeper.lease.version == lease.version:
                    return
                wait_s = _FIRST_WAIT_S
            except (SourceError, DatabaseUnavailable, QueryFailed) as error:
                keeper.check()
                if self.once:
                    raise
                self._sight.says("retrying")
                self._say_unavailable(keeper, error)
                self._say_failing(keeper, error)
                if time.monotonic() - began > _LONGEST_WAIT_S:
                    wait_s = _FIRST_WAIT_S
                log.warning("starts again from the ledger", subscription=self.path, wait_s=wait_s, error=str(error))
                self.stop.wait(wait_s)
                wait_s = min(2 * wait_s, _LONGEST_WAIT_S)

    def _is_over(self, keeper: Keeper) -> bool:
        keeper.check()
        return self.stop.is_set() or keeper.lease.state in _ENDED

    def _say_unavailable(self, keeper: Keeper, error: PenstockError) -> None:
        """An event when the source falls away, not for every try."""
        if not isinstance(error, SourceError) or keeper.source_is_down:
            return
        # with the database away too it is said at the next try
        with suppress(DatabaseUnavailable), self._connected() as connection:
            detail: Json = {"error": str(error)[:500], "kind": type(error).__name__}
            runtimes.said(connection, self.path, keeper.lease.token, "source_unavailable", detail)
            keeper.source_is_down = True

    def _say_failing(self, keeper: Keeper, error: PenstockError) -> None:
        """An event when queries fail again and again and nothing is committed between; once, until something is."""
        batches = keeper.lease.counts.batches
        self._failures = self._failures + 1 if batches == self._failed_at else 1
        self._failed_at = batches
        if isinstance(error, QueryFailed) and self._failures == _FAILING:
            with suppress(DatabaseUnavailable), self._connected() as connection:
                # others' texts may repeat a message
                detail: Json = {"error": described(str(error))[1], "times": self._failures}
                runtimes.said(connection, self.path, keeper.lease.token, "query_failing", detail)

    def _read(self, connection: Connection, keeper: Keeper, lease: Lease) -> None:
        """Run the query until it ends, or somebody wants it to; by the version this lease was taken with."""
        entry = catalog.entry(connection, self.path, lease.version, "Subscription")
        spec = _spec(entry.content)
        source = open_source(spec, hosts.credentials())
        try:
            source.check()
            if isinstance(source, NatsSource):
                source.check_ack_wait(_ACK_WAIT_S)
            if keeper.source_is_down:
                keeper.source_is_down = False
                runtimes.said(connection, self.path, keeper.lease.token, "source_recovered", {})
            found = self._starts(connection, keeper, entry, source)
            if found is None:
                return
            log.info("reads", subscription=self.path, source=spec.source, version=entry.version)
            self._run_query(connection, keeper, entry, found, source, once=self.once)
            if not isinstance(source, KafkaSource):
                self._follow(keeper, found, cast(Queue, source))
        finally:
            source.close()

    def _follow(self, keeper: Keeper, found: Starts, source: Queue) -> None:
        """A queue with a filter passes over what is not for us: the ledger follows, or it would look like a loss."""
        try:
            reached = {
                part: {"identity": found.identities[part], "next": floor + 1}
                for part, floor in source.floors().items()
                if part in found.identities
            }
            with self._connected() as connection:
                runtimes.commit(connection, self.path, keeper.lease.token, reached, {})
        except PenstockError as error:
            # the next start finds a floor beyond the ledger, and looks into it
            log.warning("the ledger does not follow the source's floor", subscription=self.path, error=str(error))

    def _run_query(
        self, connection: Connection, keeper: Keeper, entry: CatalogEntry, found: Starts, source: Source, *, once: bool
    ) -> None:
        content, spec = entry.content, _spec(entry.content)
        terms = Terms(spec, keeper.lease.token, found.named())
        # Spark wants a place for its checkpoints; the ledger is ours
        folder = Path(tempfile.mkdtemp(prefix="penstock-checkpoint-"))
        try:
            before = keeper.lease.counts
            with Committer(terms, self.database_url, folder) as committer:
                stream = Stream(
                    spec=spec,
                    content=content,
                    credential=hosts.credentials().get(spec.auth) if spec.auth else {},
                    starts=found,
                    sink=SinkOptions(committer.stages, committer.address, spec.is_queue),
                    checkpoint=folder / "spark",
                    once=once,
                )
                query = stream.start(self.spark)
                rate = spec.limits.max_dispatch_per_sec
                progress = Progress(query, rate if rate == stream.batch else None, lambda: committer.done)
                keeper.watch(lag_of(spec, source, progress))
                with self._sight.reading(query, spec.source, before, lambda: keeper.latest(connection)):
                    self._watch(connection, keeper, query, progress, committer, entry.version)
        finally:
            keeper.watch(None)
            shutil.rmtree(folder, ignore_errors=True)

    def _starts(self, connection: Connection, keeper: Keeper, entry: CatalogEntry, source: Source) -> Starts | None:
        """Where to begin; None when somebody wants something else before that is known."""
        spec = _spec(entry.content)
        ledger = keeper.lease.positions
        is_first = not ledger and not keeper.lease.counts.begun
        if spec.start.position == "ledger" and is_first:
            raise DataLoss(f"{self.path}: start is ledger, and the ledger is empty\nSay where to begin, once.")
        found = starts(ledger, source.spans(), _first_time(spec, source) if is_first else {})
        floors = {} if isinstance(source, KafkaSource) else cast(Queue, source).floors()
        if is_first:
            # else a restart before the first commit would ask for `latest` anew, and skip what came meanwhile
            runtimes.commit(connection, self.path, keeper.lease.token, found.first_ledger(floors), {})
        lost = ahead(ledger, found.identities, floors)
        if lost and isinstance(source, NatsSource) and source.consumer_facts().holds_from(lost[0].first):
            if not self._read_again(connection, keeper, entry, found, source, lost[0]):
                return None
            lost = ()
        found = found.behind(lost)
        if found.losses:
            self._accept(connection, keeper, spec, found)
        return found

    def _read_again(
        self, connection: Connection, keeper: Keeper, entry: CatalogEntry, found: Starts, source: NatsSource, loss: Loss
    ) -> bool:
        """The database is an older copy, and the stream still holds what came after it: read it all from there.

        From the ledger's floor on, if it has one: what was committed above it is known. False when somebody wants
        something else.
        """
        runtimes.said(connection, self.path, keeper.lease.token, "read_again", loss.to_json())
        log.warning("reads again", subscription=self.path, part=loss.part, first=loss.first, next=loss.next)
        floor = int(keeper.lease.positions[loss.part]["floor"])
        with source.consumer_from(loss.first if floor < 0 else floor + 1) as consumer:
            content = {**entry.content, "spec": {**entry.content["spec"], "consumer": consumer}}
            rewound = replace(entry, content=content)
            with cast(NatsSource, open_source(_spec(content), hosts.credentials())) as again:
                while not again.consumer_facts().is_done_before(loss.next or 0):
                    self._run_query(connection, keeper, rewound, found, again, once=True)
                    if self._wants_else(keeper, entry.version) or self.stop.wait(_LOOK_S):
                        return False
        return True

    def _wants_else(self, keeper: Keeper, version: int) -> bool:
        return keeper.lease.state != "ACTIVE" or keeper.lease.version != version

    def _accept(self, connection: Connection, keeper: Keeper, spec: SubscriptionSpec, found: Starts) -> None:
        """Do what on_data_loss says about messages that cannot be had."""
        detail = {"losses": [one.to_json() for one in found.losses]}
        if spec.on_data_loss == "fail":
            runtimes.said(connection, self.path, keeper.lease.token, "data_loss_refused", detail)
            raise DataLoss(
                f"{self.path}: the source no longer holds what the ledger expects: {ranges(found.losses)}\n"
                "Look at it, then set on_data_loss: skip_and_record to go on without it."
            )
        runtimes.position_set(connection, self.path, keeper.lease.token, found.ledger(), found.losses[0].reason, detail)

    def _watch(
        self,
        connection: Connection,
        keeper: Keeper,
        query: StreamingQuery,
        progress: Progress,
        committer: Committer,
        version: int,
    ) -> None:
        give_up_at = time.monotonic() + _DRAIN_S if self.once else None
        try:
            while query.isActive and committer.failure is None and not self._wants_else(keeper, version):
                keeper.check()
                self._sight.look(keeper.lease)
                if progress.has_met_its_limit():
                    detail: Json = {"limit": "max_dispatch_per_sec", "batch": progress.limit}
                    runtimes.said(connection, self.path, keeper.lease.token, "rate_limited", detail)
                if progress.has_filled_up(committer.is_full):
                    runtimes.said(connection, self.path, keeper.lease.token, "rate_limited", {"limit": "max_in_flight"})
                self._pass_gaps(connection, keeper, progress, committer)
                if self.stop.wait(_LOOK_S) or (give_up_at is not None and time.monotonic() > give_up_at):
                    break
            failure = query.exception()
            if failure is not None and committer.failure is None:
                raise _failure(str(failure))
        finally:
            if query.isActive:
                self._end_query(keeper, query, committer)
            committer.hurry()
        self._settle(keeper, committer)
        with self._connected() as fresh:
            keeper.latest(fresh)
            self._pass_gaps(fresh, keeper, progress, committer)

    def _settle(self, keeper: Keeper, committer: Committer) -> None:
        """Wait for the batch that was taken last; not for ever, once the runtime is to end."""
        give_up_at: float | None = None
        while not committer.is_settled(_LOOK_S):
            keeper.check()
            if give_up_at is None and (self.stop.is_set() or keeper.lease.state != "ACTIVE"):
                give_up_at = time.monotonic() + _COMMIT_S
            if give_up_at is not None and time.monotonic() > give_up_at:
                committer.give_up()
                raise QueryFailed(f"a commit has not ended within {_COMMIT_S} s: it is read again from the ledger")
        failure = committer.failure
        if isinstance(failure, RuntimeReplaced):
            raise failure
        if failure is not None:
            raise QueryFailed(f"{type(failure).__module__}.{type(failure).__name__}: {failure}"[:1000]) from failure

    def _pass_gaps(self, connection: Connection, keeper: Keeper, progress: Progress, committer: Committer) -> None:
        """The ledger follows a batch that ended in marks of transactions: else their removal would look like a loss."""
        ledger = keeper.lease.positions
        beyond = {
            part: {"identity": ledger[part]["identity"], "next": end}
            for part, end in progress.new_ends().items()
            if part in ledger and end > max(int(ledger[part]["next"]), committer.reached.get(part, 0))
        }
        if beyond:
            runtimes.commit(connection, self.path, keeper.lease.token, beyond, {})

    def _end_query(self, keeper: Keeper, query: StreamingQuery, committer: Committer) -> None:
        """A drained queue's batch under way ends first, so that nothing stays handed out; nothing else waits.

        Where Spark was told that a batch is not committed, it gives back what was handed out, and ends by itself.
        """
        reads_ahead = len(committer.stages) > 1
        is_drained = keeper.lease.state == "DRAINING" and committer.is_queue
        committer.say_last()
        if not is_drained:
            committer.hurry()
        if not reads_ahead:
            # else Spark, interrupted in the middle of it, would give back what is being committed
            committer.is_settled(_TAKEN_S)
        give_up_at = time.monotonic() + _BATCH_S
        while query.isActive and query.status["isTriggerActive"] and time.monotonic() < give_up_at:
            ends_by_itself = committer.failure is not None and not reads_ahead
            if not (is_drained or ends_by_itself) or self.stop.wait(_TURN_S):
                break
        # Spark does not stop while a batch waits to be taken
        committer.hurry()
        if reads_ahead:
            committer.refuse()
        try:
            query.stop()
        except Py4JJavaError as error:
            raise QueryFailed("the query does not stop: its batch is read again from the ledger") from error


def _failure(text: str) -> QueryFailed:
    """The line that says why, of Spark's many."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    causes = [line for line in lines if line.startswith("penstock.errors.")] or [
        line for line in lines if "Caused by" in line
    ]
    return QueryFailed((causes[-1] if causes else lines[0] if lines else "the query ended")[:1000])


def _spec(content: Json) -> SubscriptionSpec:
    spec = spec_of("Subscription", content)
    assert isinstance(spec, SubscriptionSpec)
    return spec


def _first_time(spec: SubscriptionSpec, source: Source) -> dict[str, int]:
    if not isinstance(spec.options, KafkaOptions) or spec.start.position in ("earliest", "ledger"):
        return {}
    assert isinstance(source, KafkaSource)
    at: datetime | Literal["latest"] = spec.start.at or "latest"
    return {f"{topic}:{part}": offset for (topic, part), offset in source.offsets(at).items()}
