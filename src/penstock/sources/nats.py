"""NATS JetStream: messages of one durable consumer, fetched here and acknowledged from anywhere."""

import asyncio
import json
from base64 import b64decode
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any
from uuid import uuid4

import nats.errors

from penstock.catalog.source import Start
from penstock.closing import Closing
from penstock.errors import SourceError, SourceMissing, SourceUnavailable, SourceUnfit
from penstock.sources.contract import Attributes, Message, Peeked, Span, all_or_given_back
from penstock.sources.nats_facts import NANOSECONDS, ConsumerFacts, add_command, answer, facts_of
from penstock.sources.nats_wire import HANDLE, Arrived, Inlet, Wire

ANSWER_S = 5
PAUSE_S = 0.5
FETCH_AT_ONCE = 1000
FETCH_BYTES = 64 * 2**20  # the largest message a NATS server can be told to accept
ACKS_ON_THE_WAY = 2000
_REREAD_WAIT_S = 60
_REREAD_PENDING = 100_000
ACK, NAK, TERM = b"+ACK", b"-NAK", b"+TERM"
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

NO_RESPONDERS = 503
NO_MESSAGE = 10037
# The server's ways to say that a request is over: nothing there, time is up, or the next one does not fit.
NOTHING, TIME_IS_UP = 404, 408
CONFLICT = 409
TOO_LARGE = "MaxBytes"
GONE = ("Consumer Deleted", "Consumer is push based")


class NatsSource(Closing):
    """One durable consumer. Connects when first asked, and again after the connection was lost."""

    def __init__(self, credential: Mapping[str, Any], *, stream: str, consumer: str) -> None:
        self._wire = Wire(credential)
        self._stream = stream
        self._consumer = consumer

    def check(self) -> None:
        self.consumer_facts().check()

    def check_ack_wait(self, min_s: float) -> None:
        """Refuse a consumer whose ack_wait is below this."""
        self.consumer_facts().check_ack_wait(min_s)

    def consumer_facts(self) -> ConsumerFacts:
        return self._wire.call(self._facts())

    def spans(self) -> tuple[Span, ...]:
        facts = self.consumer_facts()
        # a stream that never held a message says 0
        first = max(facts.first_sequence, 1)
        # of what a filter leaves out nobody is to read anything
        keeps = not facts.is_filtered
        return (Span(facts.stream, facts.stream_created, first, facts.last_sequence + 1, keeps=keeps),)

    def backlog(self) -> int:
        facts = self.consumer_facts()
        return facts.num_pending + facts.num_ack_pending

    def floors(self) -> dict[str, int]:
        facts = self.consumer_facts()
        return {facts.stream: facts.ack_floor}

    def fetch(self, limit: int, wait_s: float) -> Iterator[Message]:
        left, wait = limit, wait_s
        while left > 0:
            asked = min(left, FETCH_AT_ONCE)
            batch, is_all = self._wire.call(self._pull(asked, wait), wait + 4 * ANSWER_S)
            yield from all_or_given_back(batch, self.give_back)
            if len(batch) < asked and is_all:
                return
            left, wait = left - len(batch), 0

    def acknowledge(self, handles: Iterable[str]) -> int:
        # The server's word is given from memory: one that is killed within the next seconds forgets these, and its
        # ack floor falls back. Whoever commits must know a message it has seen before.
        return self._settle_all(handles, ACK)

    def give_back(self, handles: Iterable[str]) -> None:
        self._settle_all(handles, NAK)

    def terminate(self, handles: Iterable[str]) -> None:
        """Let the source never hand these out again."""
        self._settle_all(handles, TERM)

    def peek(self, limit: int, start: Start, ledger: Mapping[str, int]) -> Iterator[Peeked]:
        """Read from the stream itself, beyond the consumer's ack floor: the consumer does not hear of it."""
        config = self._wire.call(self._ask(f"CONSUMER.INFO.{self._stream}.{self._consumer}"))["config"]
        subjects = config.get("filter_subjects") or [config.get("filter_subject") or ">"]
        following = self.consumer_facts().ack_floor + 1
        for _ in range(limit):
            found = [one for subject in subjects if (one := self._wire.call(self._stored(following, subject)))]
            if not found:
                return
            first = min(found, key=lambda one: one.offset)
            yield first
            following = first.offset + 1

    @contextmanager
    def consumer_from(self, first: int) -> Iterator[str]:
        """A consumer for the time being that begins at this sequence; its name."""
        name = f"penstock-reread-{uuid4().hex[:12]}"
        own = self._wire.call(self._ask(f"CONSUMER.INFO.{self._stream}.{self._consumer}"))["config"]
        config = {
            "durable_name": name,
            "ack_policy": "explicit",
            "ack_wait": _REREAD_WAIT_S * NANOSECONDS,
            "deliver_policy": "by_start_sequence",
            "opt_start_seq": first,
            "max_ack_pending": _REREAD_PENDING,
            "max_deliver": -1,
            # so that one whose runtime was killed does not stay
            "inactive_threshold": 3600 * NANOSECONDS,
        } | {key: own[key] for key in ("filter_subject", "filter_subjects") if own.get(key)}
        create = json.dumps({"stream_name": self._stream, "config": config}).encode()
        self._wire.call(self._ask(f"CONSUMER.DURABLE.CREATE.{self._stream}.{name}", create))
        try:
            yield name
        finally:
            with suppress(SourceError):
                self._wire.call(self._ask(f"CONSUMER.DELETE.{self._stream}.{name}"))

    def close(self) -> None:
        self._wire.close()

    async def _facts(self) -> ConsumerFacts:
        stream = await self._ask(f"STREAM.INFO.{self._stream}")
        consumer = await self._ask(f"CONSUMER.INFO.{self._stream}.{self._consumer}")
        return facts_of(stream, consumer)

    async def _ask(self, question: str, body: bytes = b"") -> dict[str, Any]:
        client = await self._wire.client()
        try:
            said = await client.request(f"$JS.API.{question}", body, timeout=ANSWER_S)
        except nats.errors.NoRespondersError as error:
            raise SourceUnfit(
                f"NATS at {self._wire.name} has no JetStream for this login. "
                "Start the server with -js, or enable JetStream for the account."
            ) from error
        return answer(said.data, self._stream, self._consumer, self._wire.name)

    async def _stored(self, sequence: int, subject: str) -> Peeked | None:
        """The first message of a subject from a sequence on, as the stream keeps it."""
        client = await self._wire.client()
        question = json.dumps({"seq": sequence, "next_by_subj": subject}).encode()
        said = await client.request(f"$JS.API.STREAM.MSG.GET.{self._stream}", question, timeout=ANSWER_S)
        if json.loads(said.data).get("error", {}).get("err_code") == NO_MESSAGE:
            return None
        found = answer(said.data, self._stream, self._consumer, self._wire.name)["message"]
        return Peeked(
            part=self._stream,
            offset=found["seq"],
            id=str(found["seq"]),
            published_at=datetime.fromisoformat(found["time"]),
            key=found["subject"].encode(),
            body=b64decode(found.get("data", "")),
            attributes=_attributes(b64decode(found.get("hdrs", ""))),
        )

    async def _pull(self, limit: int, wait_s: float) -> tuple[list[Message], bool]:
        """One request: what is there, or what is there when the first has come. It never outlives its call.

        Also whether the server ended it because nothing more is there.
        """
        client = await self._wire.client()
        question = f"$JS.API.CONSUMER.MSG.NEXT.{self._stream}.{self._consumer}"
        # Without a time a server ends such a request when nothing is left; with one also when it was too slow.
        expires = {"expires": int(wait_s * NANOSECONDS)} if wait_s > 0 else {}
        request = {"batch": limit, "no_wait": True, "max_bytes": FETCH_BYTES, **expires}
        async with client.inlet() as inlet:
            await client.publish(question, json.dumps(request).encode(), inlet.inbox)
            got, is_all = await self._answers(inlet, limit, wait_s)
            await client.shut(inlet, ANSWER_S)
            while (late := inlet.take_now()) is not None:
                if late.status() is None:
                    got.append(late)
        return [_message(one) for one in got], is_all

    async def _answers(self, inlet: Inlet, limit: int, wait_s: float) -> tuple[list[Arrived], bool]:
        got: list[Arrived] = []
        while len(got) < limit and (one := await self._next(inlet, 0 if got else wait_s)) is not None:
            status = one.status()
            if status is None:
                got.append(one)
            elif self._is_over(*status):
                is_late = status[0] == TIME_IS_UP and wait_s > 0
                is_cut = TOO_LARGE in status[1] and bool(got)
                return got, not (is_late or is_cut)
        return got, True

    async def _next(self, inlet: Inlet, wait_s: float) -> Arrived | None:
        """None when the server has fallen silent."""
        loop = asyncio.get_running_loop()
        one = await inlet.take(loop.time() + wait_s + PAUSE_S)
        # at its limit of pending acknowledgements it does not say that a request is over; else it is slow
        if one is None and not (await self._facts()).is_full:
            one = await inlet.take(loop.time() + ANSWER_S)
        return one

    def _is_over(self, code: int, words: str) -> bool:
        if code == NO_RESPONDERS or (code == CONFLICT and words.startswith(GONE)):
            raise SourceMissing(
                f"The consumer {self._consumer} of stream {self._stream} at {self._wire.name} is gone: "
                f"{words or 'nobody answers for it'}. Run: {add_command(self._stream, self._consumer)}"
            )
        return code in (NOTHING, TIME_IS_UP, CONFLICT)

    def _settle_all(self, handles: Iterable[str], verdict: bytes) -> int:
        rest = iter(handles)
        settled = 0
        while some := list(islice(rest, ACKS_ON_THE_WAY)):
            settled += self._wire.call(self._settle(some, verdict))
        return settled

    async def _settle(self, handles: list[str], verdict: bytes) -> int:
        """All at once, then wait for the server's word on each: without it a lost one would go unnoticed."""
        client = await self._wire.client()
        async with client.inlet(wildcard=True) as inlet:
            for number, handle in enumerate(handles):
                if not handle.startswith(HANDLE):
                    raise SourceUnfit(f"{handle!r} is no handle of a NATS message.")
                await client.publish(handle, verdict, f"{inlet.inbox}.{number}")
            confirmed = await self._confirmed(inlet, len(handles))
        if confirmed < len(handles):
            raise SourceUnavailable(
                f"NATS at {self._wire.name} confirmed {confirmed} of {len(handles)} acknowledgements for "
                f"{self._consumer} of stream {self._stream}. They may be sent again; unconfirmed messages come again."
            )
        return confirmed

    async def _confirmed(self, inlet: Inlet, expected: int) -> int:
        loop, confirmed = asyncio.get_running_loop(), 0
        # the patience is for silence: a slow server that goes on answering is waited for
        while confirmed < expected and (one := await inlet.take(loop.time() + ANSWER_S)) is not None:
            if one.status() is not None:
                raise SourceMissing(
                    f"The stream {self._stream} at {self._wire.name}, or its consumer {self._consumer}, is gone: "
                    "acknowledgements find nobody there."
                )
            confirmed += 1
        return confirmed


def place_of(handle: str) -> tuple[str, str, int]:
    """The stream and the consumer of a handle, and the message's sequence."""
    try:
        stream, consumer, _, sequence, _, _ = _tokens(handle)
        return stream, consumer, int(sequence)
    except ValueError:
        raise SourceUnfit(f"{handle[:100]!r} is no handle of a NATS message.") from None


def _tokens(handle: str) -> list[str]:
    """The reply subject says all about a delivery: [domain, account,] stream, consumer, count, sequences, time."""
    tokens = handle.split(".") if handle.startswith(HANDLE) else []
    return tokens[2:8] if len(tokens) == 9 else tokens[4:10]


def _message(one: Arrived) -> Message:
    handle = one.reply.decode()
    stream, _, deliveries, sequence, _, nanoseconds = _tokens(handle)
    return Message(
        part=stream,
        offset=int(sequence),
        id=sequence,
        published_at=EPOCH + timedelta(microseconds=int(nanoseconds) // 1000),
        key=one.subject,
        body=one.body,
        attributes=_attributes(one.headers),
        ack=handle,
        deliveries=int(deliveries),
    )


def _attributes(block: bytes) -> Attributes:
    """Every header line, in order, with its value's bytes."""
    lines = (line.partition(b":") for line in block.split(b"\r\n")[1:] if line)
    return tuple((key.decode(errors="backslashreplace"), value.lstrip(b" \t")) for key, _, value in lines)
