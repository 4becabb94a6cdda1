"""Calls of tools as the engine makes them: a job, filled-in settings, args, and what a worker shares with its tools."""

import os
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from penstock.credentials import read_credentials
from penstock.jobs import Job
from penstock.kernel import health, jobs
from penstock.model import Claim, Facts
from penstock.worker.link import Link, LinkPool
from penstock.worker.tools.contract import Call, Services

TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


def a_job(
    job_id: int = 7,
    *,
    attempt: int = 1,
    trace: str | None = TRACE,
    actor: str = "role:postgres",
    timeout_s: float | None = None,
    **facts: Any,
) -> Job:
    """A job that has just begun."""
    said: dict[str, Any] = dict.fromkeys(Facts._fields[1:-1]) | {"trace": trace, "actor": actor} | facts
    claim = Claim(job_id, 100 + attempt, "tool:list", attempt, True, False, datetime.now(UTC))
    job = Job(claim, Facts(job_id, **said))
    job.timeout_s = timeout_s
    return job


class Caller:
    """Makes calls that share one worker's services; `credentials` may be written anew between them."""

    def __init__(self, database: str, folder: Path) -> None:
        self._file = folder / "credentials.yaml"
        self.credentials("{}")
        self._opened: list[Link] = []
        links = LinkPool(lambda part: self._open(database, part), "tools")
        self.services = Services(links, lambda: read_credentials(self._file), "local[2]", folder)

    def credentials(self, text: str) -> None:
        with open(os.open(self._file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            file.write(text)

    def __call__(
        self,
        settings: dict[str, Any],
        args: dict[str, Any] | None = None,
        job: Job | None = None,
        written: Mapping[str, Any] | None = None,
    ) -> Call:
        """`written` are the keys before their templates were filled in, if they had any."""
        return Call(job or a_job(), settings, args or {}, self.services, {**settings, **(written or {})})

    def held(self) -> Job:
        """A job of its own that a worker has begun."""
        job_id = self.services.links.call(lambda c: jobs.enqueue(c, {"kind": "tool:subscription"}))
        (claim,) = self.services.links.call(lambda c: jobs.claim(c, "default", 1, start=True))
        assert claim.job_id == job_id
        return Job(claim, self.services.links.call(lambda c: jobs.facts(c, [claim]))[job_id])

    def close(self) -> None:
        for link in self._opened:
            link.close()

    def _open(self, database: str, part: str) -> Link:
        self._opened.append(Link(database, f"test {part}"))
        return self._opened[-1]


def now_ms(caller: Caller) -> int:
    """By the database's clock, which handles go by."""
    return int(caller.services.links.call(health.server_time) * 1000)
