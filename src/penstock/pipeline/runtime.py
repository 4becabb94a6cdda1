"""The process that holds a subscription open: leases it, runs its query, and does what its state says."""

import shutil
import tempfile
import time
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Event
from typing import cast
from uuid import UUID, uuid4

import structlog
from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from penstock import hosts
from penstock.catalog.entry import spec_of
from penstock.catalog.subscription import SubscriptionSpec
from penstock.embedded.spark import quietly
from penstock.errors import DataLoss, PenstockError, QueryFailed, RuntimeReplaced, SourceError
from penstock.kernel.catalog import CatalogEntry
from penstock.kernel.runtimes import Lease
from penstock.kernel.subscriptions import not_active
from penstock.model import Json
from penstock.pipeline.books import PASSING, Books, Place, Server, opened
from penstock.pipeline.bound import Bound
from penstock.pipeline.committer import Committer, Terms
from penstock.pipeline.gaps import Gaps
from penstock.pipeline.keeper import Keeper
from penstock.pipeline.lag import Progress, lag_of
from penstock.pipeline.losses import accept, after_mark
from penstock.pipeline.outlet import Outlet
from penstock.pipeline.positions import Loss, Starts, ahead, first_offsets, starts
from penstock.pipeline.sink import SinkOptions
from penstock.pipeline.spans import described
from penstock.pipeline.stream import Stream, failure_of
from penstock.pipeline.telemetry import Sight, Telemetry
from penstock.sources.contract import Marking, Queue, Source
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
_LAST_MS = 2000
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
    place: Place
    path: str
    once: bool = False
    stop: Event = field(default_factory=Event)
    incarnation: UUID = field(default_factory=uuid4)
    telemetry: Telemetry = field(default_factory=Telemetry)
    bound: Bound = field(default_factory=Bound)
    _sight: Sight = field(init=False, repr=False)
    # how often a query has failed, how many batches there were when it did, and whether that was said
    _failures: int = field(default=0, init=False)
    _failed_at: int = field(default=-1, init=False)
    _failing_is_said: bool = field(default=False, init=False)

    def run(self) -> str:
        """Until it is stopped, drained or deactivated, or has done its one drain. Returns the state it leaves."""
        with self._opened() as books:
            held = books.lease(self.incarnation)
            if held.state not in _READ:
                books.release(held.token)
                raise not_active(self.path, held.state)
        self._sight = self.telemetry.sight(self.path, held)
        keeper = Keeper(self.place, self.path, self.incarnation, held)
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
        with self._opened_last() as books:
            return keeper.release(books)

    def _opened(self) -> Books:
        return opened(self.place, self.path, "penstock runtime")

    def _opened_last(self) -> Books:
        """For what there is to say at the end: a server that hangs does not keep a runtime that is to stop."""
        return opened(self.place, self.path, "penstock runtime", _LAST_MS if self.stop.is_set() else None)

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
                with self._opened() as books:
                    lease = keeper.retake(books)
                    self.bound.stand(lease.counts)
                    if self.bound.is_met:
                        return
                    self._read(books, keeper, lease)
                # one that a new version, or a batch beyond the bound, interrupted has not read all
                is_whole = keeper.lease.version == lease.version and not self.bound.is_cut
                if self.bound.is_met or (self.once and is_whole):
                    return
                wait_s = _FIRST_WAIT_S
            except (SourceError, *PASSING, QueryFailed, RuntimeReplaced) as error:
                # whether another one has its place, or a take of its own came late, is for the keeper to say
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
        with suppress(*PASSING), self._opened() as books:
            detail: Json = {"error": str(error)[:500], "kind": type(error).__name__}
            books.said(keeper.lease.token, "source_unavailable", detail)
            keeper.source_is_down = True

    def _say_failing(self, keeper: Keeper, error: PenstockError) -> None:
        """An event when queries fail again and again and nothing is committed between; once, until something is."""
        if not isinstance(error, QueryFailed):
            return
        batches = keeper.lease.counts.batches
        if batches != self._failed_at:
            self._failures, self._failed_at, self._failing_is_said = 0, batches, False
        self._failures += 1
        if self._failures >= _FAILING and not self._failing_is_said:
            # with the database away it is said at the next failure
            with suppress(*PASSING), self._opened() as books:
                # others' texts may repeat a message
                detail: Json = {"error": described(str(error))[1], "times": self._failures}
                books.said(keeper.lease.token, "query_failing", detail)
                self._failing_is_said = True

    def _read(self, books: Books, keeper: Keeper, lease: Lease) -> None:
        """Run the query until it ends, or somebody wants it to; by the version this lease was taken with."""
        entry = books.entry(lease.version)
        spec = _spec(entry.content)
        source = open_source(spec, hosts.credentials())
        try:
            source.check()
            if isinstance(source, NatsSource):
                source.check_ack_wait(_ACK_WAIT_S)
            if keeper.source_is_down:
                keeper.source_is_down = False
                books.said(keeper.lease.token, "source_recovered", {})
            found = self._starts(books, keeper, entry, source)
            if found is None:
                return
            for caution in spec.cautions():
                log.warning(caution, subscription=self.path)
            log.info("reads", subscription=self.path, source=spec.source, version=entry.version)
            self._run_query(books, keeper, entry, found, source, once=self.once)
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
            with self._opened_last() as books:
                books.commit(keeper.lease.token, reached, {})
        except PenstockError as error:
            # the next start finds a floor beyond the ledger, and looks into it
            log.warning("the ledger does not follow the source's floor", subscription=self.path, error=str(error))

    def _run_query(
        self, books: Books, keeper: Keeper, entry: CatalogEntry, found: Starts, source: Source, *, once: bool
    ) -> None:
        content, spec = entry.content, self.bound.narrowed(_spec(entry.content))
        terms = Terms(spec, keeper.lease.token, found.named(), self.bound.left, keeper.lease.ledger)
        # Spark wants a place for its checkpoints; the ledger is ours
        folder = Path(tempfile.mkdtemp(prefix="penstock-checkpoint-"))
        try:
            before = keeper.lease.counts
            with ExitStack() as stack, Committer(terms, self.place, folder) as committer:
                stream = Stream(
                    spec=spec,
                    content=content,
                    credential=hosts.credentials().get(spec.auth) if spec.auth else {},
                    starts=found,
                    sink=self._sink(committer, spec, terms.token),
                    checkpoint=folder / "spark",
                    once=once,
                )
                stack.callback(self.bound.count, committer)
                query = stream.start(self.spark)
                rate = spec.limits.max_dispatch_per_sec
                progress = Progress(query, rate if rate == stream.batch else None, lambda: committer.done)
                keeper.watch(lag_of(spec, source, progress))
                with self._sight.reading(query, spec.source, before, lambda: self._newest(books, keeper)):
                    self._watch(books, keeper, query, progress, committer, entry.version)
        finally:
            keeper.watch(None)
            shutil.rmtree(folder, ignore_errors=True)

    def _newest(self, books: Books, keeper: Keeper) -> Lease:
        """As it was heard last, once the runtime is to stop: that was a moment ago."""
        return keeper.lease if self.stop.is_set() else keeper.latest(books)

    def _sink(self, committer: Committer, spec: SubscriptionSpec, token: int) -> SinkOptions:
        outlet = Outlet(self.place, self.path, token) if isinstance(self.place, Server) else None
        return SinkOptions([one.name for one in committer.stages], committer.address, spec.is_queue, outlet)

    def _starts(self, books: Books, keeper: Keeper, entry: CatalogEntry, source: Source) -> Starts | None:
        """Where to begin; None when somebody wants something else before that is known."""
        spec = _spec(entry.content)
        ledger = keeper.lease.positions
        is_first = not ledger and not keeper.lease.counts.begun
        if spec.start.position == "ledger" and is_first:
            raise DataLoss(f"{self.path}: start is ledger, and the ledger is empty\nSay where to begin, once.")
        found = starts(ledger, source.spans(), first_offsets(spec, source) if is_first else {})
        floors = {} if isinstance(source, KafkaSource) else cast(Queue, source).floors()
        if is_first:
            # else a restart before the first commit would ask for `latest` anew, and skip what came meanwhile
            books.commit(keeper.lease.token, found.first_ledger(floors), {})
        lost = ahead(ledger, found.identities, floors)
        if isinstance(source, Marking):
            return after_mark(books, self.path, keeper.lease, spec, source, found)
        if lost and isinstance(source, NatsSource) and source.consumer_facts().holds_from(lost[0].first):
            if not self._read_again(books, keeper, entry, found, source, lost[0]):
                return None
            lost = ()
        found = found.behind(lost)
        if found.losses:
            accept(books, self.path, keeper.lease.token, spec, found)
        return found

    def _read_again(
        self, books: Books, keeper: Keeper, entry: CatalogEntry, found: Starts, source: NatsSource, loss: Loss
    ) -> bool:
        """The database is an older copy, and the stream still holds what came after it: read it all from there.

        From the ledger's floor on, if it has one: what was committed above it is known. False when somebody wants
        something else.
        """
        books.said(keeper.lease.token, "read_again", loss.to_json())
        log.warning("reads again", subscription=self.path, part=loss.part, first=loss.first, next=loss.next)
        floor = int(keeper.lease.positions[loss.part]["floor"])
        with source.consumer_from(loss.first if floor < 0 else floor + 1) as consumer:
            content = {**entry.content, "spec": {**entry.content["spec"], "consumer": consumer}}
            rewound = replace(entry, content=content)
            with cast(NatsSource, open_source(_spec(content), hosts.credentials())) as again:
                while not again.consumer_facts().is_done_before(loss.next or 0):
                    self._run_query(books, keeper, rewound, found, again, once=True)
                    if self._wants_else(keeper, entry.version) or self.stop.wait(_LOOK_S):
                        return False
        return True

    def _wants_else(self, keeper: Keeper, version: int) -> bool:
        return keeper.lease.state != "ACTIVE" or keeper.lease.version != version

    def _watch(
        self,
        books: Books,
        keeper: Keeper,
        query: StreamingQuery,
        progress: Progress,
        committer: Committer,
        version: int,
    ) -> None:
        give_up_at = time.monotonic() + _DRAIN_S if self.once else None
        gaps = Gaps(self.place, self.path, progress, committer)
        try:
            while query.isActive and not committer.is_over and not self._wants_else(keeper, version):
                keeper.check()
                self._sight.look(keeper.lease)
                if progress.has_met_its_limit():
                    detail: Json = {"limit": "max_dispatch_per_sec", "batch": progress.limit}
                    books.said(keeper.lease.token, "rate_limited", detail)
                if progress.has_filled_up(committer.is_full):
                    books.said(keeper.lease.token, "rate_limited", {"limit": "max_in_flight"})
                gaps.look(keeper.lease)
                if self.stop.wait(_LOOK_S) or (give_up_at is not None and time.monotonic() > give_up_at):
                    break
            failure = query.exception()
            if failure is not None and not committer.is_over:
                raise failure_of(str(failure))
        finally:
            if query.isActive:
                with quietly(self.spark):
                    self._end_query(keeper, query, committer)
            committer.hurry()
        self._settle(keeper, committer)
        with self._opened_last() as fresh:
            gaps.look_last(fresh, keeper.latest(fresh))

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

    def _end_query(self, keeper: Keeper, query: StreamingQuery, committer: Committer) -> None:
        """A queue that is drained, or had enough, ends its batch first: nothing stays handed out. Nothing else waits.

        Where Spark was told that a batch is not committed, it gives back what was handed out, and ends by itself.
        """
        reads_ahead = len(committer.stages) > 1
        is_drained = keeper.lease.state == "DRAINING" and committer.is_queue
        ends_first = is_drained or (committer.has_enough and committer.is_queue)
        committer.say_last()
        if not is_drained:
            committer.hurry()
        # else Spark, interrupted in the middle of it, would give back what is being committed
        if not reads_ahead and not committer.is_settled(_TAKEN_S) and self.stop.is_set():
            # nor does Spark wait for it then: what comes of it is waited for below
            committer.refuse()
        give_up_at = time.monotonic() + _BATCH_S
        while query.isActive and query.status["isTriggerActive"] and time.monotonic() < give_up_at:
            ends_by_itself = committer.has_refused and not reads_ahead
            if not (ends_first or ends_by_itself) or self.stop.wait(_TURN_S):
                break
        # Spark does not stop while a batch waits to be taken
        committer.hurry()
        if reads_ahead:
            committer.refuse()
        try:
            query.stop()
        except Py4JJavaError as error:
            raise QueryFailed("the query does not stop: its batch is read again from the ledger") from error


def _spec(content: Json) -> SubscriptionSpec:
    spec = spec_of("Subscription", content)
    assert isinstance(spec, SubscriptionSpec)
    return spec
