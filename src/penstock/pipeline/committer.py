"""The runtime's side of the sink: what the tasks have staged becomes executions, one batch after another."""

import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from threading import Condition, Event, Thread
from types import TracebackType
from typing import Self, cast

import structlog

from penstock import hosts
from penstock.catalog.subscription import SubscriptionSpec
from penstock.errors import PenstockError, SchemaMissing, SourceChanged, SourceUnfit
from penstock.model import Json
from penstock.pipeline.books import Books, Place, opened
from penstock.pipeline.handover import Answer, Batch, Inlet, Share
from penstock.sources.contract import Marking, Queue, Source
from penstock.sources.kafka import KafkaSource
from penstock.sources.opening import open_source

log = structlog.get_logger("penstock.runtime")

_LOOK_S = 0.1
_END_S = 20
_CANCEL_S = 5
_NO_LIMIT = 2**31 - 1


@dataclass(frozen=True)
class Terms:
    """By what a runtime commits."""

    spec: SubscriptionSpec
    token: int
    # part, or its topic, to what makes it that one
    identities: Mapping[str, str]
    # no more messages than this are committed
    most: int | None = None
    ledger: str = ""

    @property
    def per_s(self) -> int:
        return self.spec.limits.max_dispatch_per_sec or 0

    @property
    def lanes(self) -> int:
        """Two, where the next batch may be read before this one is committed.

        A queue counts what is not acknowledged yet as its backlog, and limits count what is not committed.
        """
        return 1 if self.spec.is_queue or self.spec.max_in_flight() or self.per_s or self.most else 2


class Committer:
    """A thread that commits in the order batches are handed over, with connections that stay open.

    With two lanes a batch is taken before it is committed, and the next one waits for that. The first failure is the
    last thing it does: whatever was staged is read again, from the ledger.
    """

    def __init__(self, terms: Terms, place: Place, folder: Path) -> None:
        self._terms = terms
        self._place = place
        # for all batches: a server that was started again may be an older copy, and only a start from the ledger asks
        self._books = opened(place, terms.spec.path, "penstock commit")
        try:
            self.stages = [self._books.stage_open(terms.token, lane) for lane in range(terms.lanes)]
            self._inlet = Inlet(folder)
        except PenstockError:
            self._books.close()
            raise
        self.address = self._inlet.address
        # the last batch that is committed, by Spark's number, and where its parts ended
        self.done = -1
        self.reached: dict[str, int] = {}
        # messages committed that were not known already, and whether no more are wanted, or the next batch is too large
        self.made = 0
        self.has_enough = False
        self._is_beyond = False
        # whether the last batch found no room under max_in_flight for another
        self.is_full = False
        self.failure: Exception | None = None
        self._source: Source | None = None
        # after how long a message of a part cannot come again, where its source says so
        self._retention_s: dict[str, int | None] = {}
        self._is_busy = False
        self._is_given_up = False
        self._turn = Condition()
        self._last = Event()
        self._enough = Event()
        self._end = Event()
        self._thread = Thread(target=self._run, name=f"commits {terms.spec.path}", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """What is being committed may end; if it does not, it is given up, and the next token fences it off."""
        self.refuse()
        if self._is_given_up:
            return
        self._thread.join(_END_S)
        if self._thread.is_alive():
            self.give_up()

    def give_up(self) -> None:
        """End the commit under way, which may wait for a lock that nobody lets go of."""
        log.warning("a commit is given up", subscription=self._terms.spec.path)
        self._is_given_up = True
        self.refuse()
        try:
            self._books.cancel(_CANCEL_S)
        except Exception as error:
            log.warning("it cannot be cancelled", subscription=self._terms.spec.path, error=str(error))
        self._thread.join(_CANCEL_S)

    def say_last(self) -> None:
        """The batch under way is the last: nobody waits for room for another, and a queue hands out none."""
        self._inlet.say_last()
        self._last.set()

    def hurry(self) -> None:
        """From now on no other batch is taken."""
        self.say_last()
        self._enough.set()

    def refuse(self) -> None:
        """Take nothing more; whoever waits for an answer hears so."""
        self.hurry()
        self._end.set()
        self._inlet.shut()

    @property
    def is_queue(self) -> bool:
        return self._terms.spec.is_queue

    @property
    def is_over(self) -> bool:
        """Whether nothing more is committed: one batch has failed, or there were enough."""
        return self.failure is not None or self.has_enough

    @property
    def has_refused(self) -> bool:
        """Whether Spark was told that a batch is not committed."""
        return self.failure is not None or self._is_beyond

    def is_settled(self, wait_s: float) -> bool:
        """Whether nothing is being committed, or nothing any more within this time."""
        with self._turn:
            return self._turn.wait_for(lambda: not self._is_busy, wait_s)

    def _run(self) -> None:
        try:
            while not self._end.is_set():
                self._inlet.next(_LOOK_S, self._take)
        except Exception as error:
            self.failure = error
        finally:
            self._inlet.close()
            self._books.close()
            if self._source is not None:
                self._source.close()

    def _take(self, batch: Batch, answer: Answer) -> None:
        if batch.is_aborted:
            self._give_back(batch)
            answer.taken()
            return
        if self._enough.is_set():
            answer.refused("the runtime is to stop: the batch is read again from the ledger")
            return
        if self._is_too_large(batch):
            # not before the runtime ends the query: what Spark would fail with is no failure
            self._enough.wait(_END_S)
            answer.refused("it has more messages than are wanted: the batch is read again from the ledger")
            return
        if self.failure is not None:
            answer.refused(f"an earlier batch was not committed: {self.failure}")
            return
        with self._turn:
            self._is_busy = True
        try:
            if self._terms.lanes > 1:
                answer.taken()
            self._commit(batch)
            answer.taken()
        except Exception as error:
            # whatever it is: the runtime hears of it, and starts again
            self.failure = error
            answer.refused(f"{type(error).__name__}: {error}")
        finally:
            with self._turn:
                self._is_busy = False
                self._turn.notify_all()

    def _is_too_large(self, batch: Batch) -> bool:
        most = self._terms.most
        is_beyond = self.has_enough or (most is not None and self.made + batch.rows > most)
        self.has_enough = self._is_beyond = is_beyond
        return is_beyond

    def _commit(self, batch: Batch) -> None:
        began = time.monotonic()
        if batch.shares:
            self._make_executions(batch)
        self.done = batch.number
        if self.made == self._terms.most:
            self.has_enough = True
            self.say_last()
        self._await_room(began, batch.rows)

    def _make_executions(self, batch: Batch) -> None:
        terms, shares = self._terms, batch.shares
        floors: Mapping[str, int] = {}
        if terms.spec.is_queue:
            self._check_queue(shares)
            floors = self._queue().floors()
        else:
            self._check_topics()
        positions = self._positions(shares, floors)
        expected = {attempt: rows for one in shares for attempt, rows in one.staged.items()}
        stage = self.stages[shares[0].lane]
        report = self._books.commit(terms.token, positions, expected, stage.lane)
        self.made += report.executions + report.deduplicated + report.dead_lettered
        self.reached = self.reached | {part: int(at["next"]) for part, at in positions.items()}
        if terms.spec.is_queue:
            self._mark()
            self._queue().acknowledge(self._handles(self._books, shares))
        self._books.stage_clear(stage)

    def _mark(self) -> None:
        """Before the acknowledgement: whoever finds the mark with an older database knows what that has not seen."""
        queue = self._queue()
        if isinstance(queue, Marking):
            queue.set_mark(self._terms.ledger, self._books.batches())

    def _give_back(self, batch: Batch) -> None:
        """So that they come again at once; those that cannot be given back come when the queue has waited enough."""
        try:
            # the other connection may be why they were not committed
            with opened(self._place, self._terms.spec.path, "penstock abort") as books:
                handles = self._handles(books, batch.shares)
            self._queue().give_back(handles)
        except Exception as error:
            is_gone = isinstance(error, SchemaMissing)
            said = "the staging table is gone, and with it what they are" if is_gone else str(error)
            log.warning("messages come again later", subscription=self._terms.spec.path, reason=said)

    def _handles(self, books: Books, shares: list[Share]) -> list[str]:
        attempts = [attempt for one in shares for attempt in one.staged]
        return books.staged_acks(self.stages[shares[0].lane], attempts)

    def _positions(self, shares: list[Share], floors: Mapping[str, int]) -> dict[str, Json]:
        nexts: Counter[str] = Counter()
        for one in shares:
            for part, following in one.nexts.items():
                nexts[part] = max(nexts[part], following)
        return {part: self._position(part, following, floors.get(part)) for part, following in nexts.items()}

    def _position(self, part: str, following: int, floor: int | None) -> Json:
        at: Json = {"identity": self._identity(part), "next": following}
        if floor is not None:
            # a queue's floor may be beyond the last message for us
            at |= {"next": max(following, floor + 1), "floor": floor}
        if self._retention_s.get(part) is not None:
            at["keep_s"] = self._retention_s[part]
        return at

    def _check_topics(self) -> None:
        """Spark's connector knows a topic by its name: one made again that has outgrown the old offsets passes it."""
        for topic in cast(KafkaSource, self._opened()).topics():
            self._check_identity(topic.name, topic.id)

    def _check_identity(self, part: str, identity: str) -> None:
        if self._terms.identities.get(part, identity) != identity:
            raise SourceChanged(f"{part} was made again since the runtime started: nothing was committed")

    def _check_queue(self, shares: list[Share]) -> None:
        """Looked at after the fetch: a queue says nothing when it was made again, or removes what nobody has read.

        Nothing is committed then, and the runtime starts again, with the ledger held against what is there now.
        """
        ledger = self._books.nexts()
        for span in self._queue().spans():
            self._check_identity(span.part, span.identity)
            self._retention_s[span.part] = span.retention_s
            first = min((one.firsts.get(span.part, span.first) for one in shares), default=span.first)
            if span.keeps and ledger.get(span.part, span.first) < min(first, span.first):
                raise SourceChanged(f"{span.part} has removed messages before they were read: nothing was committed")

    def _identity(self, part: str) -> str:
        identities = self._terms.identities
        found = identities.get(part) or identities.get(part.rpartition(":")[0])
        if found is None:
            raise SourceUnfit(
                f"{self._terms.spec.path}: a message of part {part} came, and the source did not name that part "
                "when the runtime started: spans() must name a part before its first message is handed out"
            )
        return found

    def _await_room(self, began: float, rows: int) -> None:
        """Until the next batch fits under max_in_flight and the rate, or nobody wants it any more."""
        terms = self._terms
        until = began + rows / terms.per_s if terms.per_s else began
        in_flight = terms.spec.max_in_flight()
        is_full = False
        while (in_flight or time.monotonic() < until) and not self._last.is_set():
            room = self._books.room(terms.token, in_flight or _NO_LIMIT)
            if 0 <= room < terms.spec.batch():
                self.is_full = is_full = True
            if room >= terms.spec.batch() and time.monotonic() >= until:
                break
            # below zero: the subscription is not to be read any more, which the keeper hears in a moment
            self._last.wait(_LOOK_S)
        self.is_full = is_full

    def _queue(self) -> Queue:
        return cast(Queue, self._opened())

    def _opened(self) -> Source:
        """A client of this thread's own."""
        if self._source is None:
            self._source = open_source(self._terms.spec, hosts.credentials())
        return self._source
