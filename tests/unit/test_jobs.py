"""Handlers as users write them: which kinds they may serve, and the logger they get."""

import logging
from datetime import UTC, datetime
from typing import Any, cast

import pytest

from penstock.errors import SettingsError
from penstock.jobs import Job, JobFunction, job
from penstock.model import Claim, Facts

LONG_AGO = datetime(2026, 1, 1, tzinfo=UTC)


def _job(**facts: str) -> Job:
    known: dict[str, Any] = dict.fromkeys(Facts._fields)
    claim = Claim(
        job_id=7, job_kind="send", lease_token=3, attempt=1, started=True, suspect=False, enqueued_at=LONG_AGO
    )
    return Job(claim, Facts(**(known | {"actor": "role:ann"} | facts)))


@pytest.mark.parametrize("kind", ["send invoice", "", "1st", "_x", "naïve", "a" * 101, "send\n", 7, None])
def test_a_kind_that_cannot_be_enqueued_is_refused_where_it_is_written(kind: Any) -> None:
    with pytest.raises(SettingsError, match="no such kind can be enqueued"):
        job(kind)


@pytest.mark.parametrize("kind", ["a", "send_invoice", "shop.send:v2/x-y", "a" * 100])
def test_a_kind_that_can_be_enqueued_is_taken(kind: str) -> None:
    assert job(kind)(lambda job: None).kind == kind


def test_a_decorator_without_its_kind_says_so() -> None:
    def handler(job: Job) -> None: ...

    with pytest.raises(SettingsError, match=r'write @penstock\.job\("send_invoice"\)'):
        job(cast(str, handler))


def test_a_handler_is_still_the_function_it_was() -> None:
    function = job("send")(lambda job: job.id)
    assert isinstance(function, JobFunction)
    assert function(_job()) == 7


def test_the_log_carries_the_job_whatever_its_refs_hold(caplog: pytest.LogCaptureFixture) -> None:
    refs = {name: f"100%s/{name}" for name in ("trace", "correlation_id", "source_ref", "target_ref", "payload_ref")}
    with caplog.at_level(logging.INFO):
        _job(**refs).log.info("sent %s of %d%%", "all", 5)
        _job(**refs).log.info("sent 5%")
    carried = "[job=7 attempt=1 " + " ".join(f"{name}={value}" for name, value in refs.items()) + "]"
    assert caplog.messages == [f"{carried} sent all of 5%", f"{carried} sent 5%"]


def test_a_ref_cannot_forge_a_line_of_the_log(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        _job(trace="a\nERROR forged").log.info("sent")
    assert caplog.messages == [r"[job=7 attempt=1 trace='a\nERROR forged'] sent"]


def test_a_line_of_the_log_names_the_handler_that_wrote_it(caplog: pytest.LogCaptureFixture) -> None:
    _job().log.error("late", extra={"customer": 5})
    (record,) = caplog.records
    assert record.funcName == "test_a_line_of_the_log_names_the_handler_that_wrote_it"
    assert vars(record)["customer"] == 5
