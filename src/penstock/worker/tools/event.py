"""event: a step that records a fact in the event log, once however often it is tried."""

from functools import partial
from typing import Any

from penstock.errors import ActorRefused, Refused
from penstock.jobs import PermanentError
from penstock.kernel import events
from penstock.kernel.connection import Connection
from penstock.model import Json
from penstock.worker.tools.contract import Call


def run(call: Call) -> Json:
    """Emit the event with the job's correlation, cause, trace and actor; its id."""
    try:
        return {"event_id": str(call.services.links.call(partial(_emitted, call)))}
    except Refused as error:
        named = f"{call.settings['domain']}.{call.settings['type']}"
        raise PermanentError(f"event: {named} was refused: {error}") from error


def _emitted(call: Call, connection: Connection) -> Any:
    job, settings = call.job, call.settings
    emit = partial(
        events.emit,
        connection,
        settings["domain"],
        settings["type"],
        stream=settings.get("stream"),
        subject_table=_text(settings, "subject_table"),
        subject_ref=_text(settings, "subject_ref"),
        payload=settings.get("payload"),
        correlation_id=job.correlation_id,
        causation_event_id=job.causation_event_id,
        idempotency_key=_text(settings, "key") or f"job:{call.key}",
        trace=job.trace,
    )
    try:
        return emit(actor=job.actor)
    except ActorRefused:
        # the worker's login may not speak for whoever asked for the job: then it speaks for itself
        return emit(actor=None)


def _text(settings: Json, key: str) -> str | None:
    """A template may have given a number."""
    return None if settings.get(key) is None else str(settings[key])
