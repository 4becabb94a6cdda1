"""What a user's handlers are made of: the `job` decorator, and the `Job` a handler gets."""

import inspect
import json
import logging
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from types import ModuleType
from typing import Any
from uuid import UUID

from penstock.errors import SettingsError
from penstock.kernel import events
from penstock.kernel.connection import Connection
from penstock.model import Claim, Facts, Json

Handler = Callable[["Job"], Any]

# what job_target_check.sql takes
_KIND = re.compile(r"[A-Za-z][A-Za-z0-9_.:/-]*")
_LONGEST_KIND = 100
# what fn_job_release.sql takes
_LONGEST_SNOOZE_S = 604_800


class Job:
    """One attempt at one job, as its handler sees it."""

    __slots__ = ("_claim", "_facts", "cancelled", "timeout_s")

    def __init__(self, claim: Claim, facts: Facts) -> None:
        self._claim = claim
        self._facts = facts
        self.cancelled = False
        # a limit of its own below that of its kind, once its step is known
        self.timeout_s: float | None = None

    @property
    def id(self) -> int:
        return self._claim.job_id

    @property
    def kind(self) -> str:
        return self._claim.job_kind

    @property
    def attempt(self) -> int:
        """1 for the first try."""
        return self._claim.attempt

    @property
    def lease_token(self) -> int:
        """Grows with every claim of the job: pass it on to fence writes to other systems."""
        return self._claim.lease_token

    @property
    def payload(self) -> Json:
        """The safe payload, a fresh copy with every look."""
        text = self._facts.safe_payload
        payload: Json = {} if text is None else json.loads(text)
        return payload

    @property
    def has_payload(self) -> bool:
        return self._facts.safe_payload is not None

    @property
    def source_ref(self) -> str | None:
        return self._facts.source_ref

    @property
    def target_ref(self) -> str | None:
        return self._facts.target_ref

    @property
    def payload_ref(self) -> str | None:
        return self._facts.payload_ref

    @property
    def lane(self) -> str | None:
        return self._facts.lane

    @property
    def event_domain(self) -> str | None:
        return self._facts.event_domain

    @property
    def correlation_id(self) -> str | None:
        return self._facts.correlation_id

    @property
    def causation_event_id(self) -> UUID | None:
        return self._facts.causation_event_id

    @property
    def trace(self) -> str | None:
        return self._facts.trace

    @property
    def playbook_ref(self) -> str | None:
        """Which playbook, at which version, it runs a step of."""
        return self._facts.playbook_ref

    @property
    def execution_id(self) -> int:
        """The execution it belongs to; its own id if it is all of it."""
        return self._facts.execution_id or self._claim.job_id

    @property
    def step(self) -> str | None:
        """Which step of a playbook of several it is."""
        return self._facts.step

    @property
    def actor(self) -> str:
        return self._facts.actor

    def mark(self, connection: Connection) -> None:
        """Say in the transaction under way that its changes come from this job: the events of SQL routes carry it on.

        Without it nobody can tell that a change was caused by the event that made this job, and a loop through a table
        is not noticed.
        """
        events.mark(connection, self.causation_event_id, self.correlation_id, self.trace)

    @property
    def log(self) -> "logging.LoggerAdapter[logging.Logger]":
        """A logger whose lines carry the job."""
        return _JobLogger(logging.getLogger(f"penstock.job.{self.kind}"), {"job": self})


class _JobLogger(logging.LoggerAdapter[logging.Logger]):
    def log(self, level: int, msg: object, *args: object, stacklevel: int = 1, **kwargs: Any) -> None:
        if not self.isEnabledFor(level):
            return
        assert self.extra is not None
        job = self.extra["job"]
        assert isinstance(job, Job)
        carried = _carried(job)
        # with arguments the line is a format string, and a ref may hold anything
        line = f"{carried.replace('%', '%%') if args else carried} {msg}"
        # the line is the handler's, not this method's
        self.logger.log(level, line, *args, stacklevel=stacklevel + 1, **kwargs)


def _carried(job: Job) -> str:
    facts = {
        "job": str(job.id),
        "attempt": str(job.attempt),
        "trace": job.trace,
        "correlation_id": job.correlation_id,
        "source_ref": job.source_ref,
        "target_ref": job.target_ref,
        "payload_ref": job.payload_ref,
    }
    known = (f"{name}={_on_one_line(value)}" for name, value in facts.items() if value is not None)
    return f"[{' '.join(known)}]"


def _on_one_line(value: str) -> str:
    # a ref comes from elsewhere: it must not be able to forge a line of the log
    return value if value.isprintable() else ascii(value)


class PermanentError(Exception):
    """Raised by a handler when trying again cannot help: the job goes to the dead letter at once."""


class Snooze(Exception):
    """Raised by a handler that cannot do its job yet: it is given back for a while, and the attempt does not count."""

    def __init__(self, seconds: float) -> None:
        if not 0 <= seconds <= _LONGEST_SNOOZE_S:
            raise SettingsError(f"Snooze({seconds!r}): a job can be put off by 0 to {_LONGEST_SNOOZE_S} s, a week")
        super().__init__(f"put off by {seconds:g} s")
        self.seconds = seconds


@dataclass(frozen=True)
class Pledge:
    """What a step owes somebody: one thing once its result is kept, another once it is known that it will not be.

    Neither is done by a worker that dies first, so it must be something that can stay undone. Of several pledges the
    last is redeemed first.
    """

    kept: Callable[[], object]
    lost: Callable[[], object]
    # somebody else waits for it: it takes no time, and is done even if the others of its step are left undone
    always: bool = False


@dataclass(frozen=True)
class Outcome:
    """What a step of a playbook gives back: its result, where it goes on if that took a look, and what it then owes."""

    result: Any = None
    following: Json | None = None
    pledges: tuple[Pledge, ...] = ()


@dataclass(frozen=True)
class Awaiting:
    """What a step gives back that goes on with an answer, or at a time: `until`, or in so many `seconds`."""

    until: datetime | None = None
    seconds: float | None = None
    on_due: str = "expire"
    callback_key: str | None = None
    approvers: tuple[str, ...] | None = None
    prompt: str | None = None


@dataclass(frozen=True)
class JobFunction:
    """A handler and the kind it serves. Still callable, so that it can be tested as the function it is."""

    kind: str
    handler: Handler
    is_async: bool

    def __call__(self, job: Job) -> Any:
        return self.handler(job)


def job(kind: str) -> Callable[[Handler], JobFunction]:
    """Make a function the handler of a job kind: `@penstock.job("send_invoice")`."""
    if callable(kind):
        raise SettingsError('@penstock.job needs the kind of job to handle: write @penstock.job("send_invoice")')
    if not isinstance(kind, str) or len(kind) > _LONGEST_KIND or not _KIND.fullmatch(kind):
        raise SettingsError(
            f"@penstock.job({kind!r}): no such kind can be enqueued. A kind is a letter, then letters, digits and "
            f"_ . : / - and at most {_LONGEST_KIND} characters long"
        )

    def wrap(handler: Handler) -> JobFunction:
        return JobFunction(kind, handler, inspect.iscoroutinefunction(handler))

    return wrap


def handlers_of(module: ModuleType) -> dict[str, JobFunction]:
    """The handlers a module holds, by kind."""
    found: dict[str, JobFunction] = {}
    for value in vars(module).values():
        if not isinstance(value, JobFunction):
            continue
        if found.setdefault(value.kind, value) is not value:
            raise SettingsError(f"{module.__name__} has two handlers for the job kind {value.kind!r}: keep one")
    return found
