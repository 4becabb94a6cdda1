"""What a tool gets, and what it gives back."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from penstock.credentials import Credentials
from penstock.jobs import Job, Pledge
from penstock.model import Json
from penstock.worker.link import LinkPool


@dataclass(frozen=True)
class Services:
    """What tools share in a worker: connections to Penstock's own database, credentials, and how it was started."""

    links: LinkPool
    # read anew with each call: a secret may have been changed
    credentials: Callable[[], Credentials]
    spark_master: str = "local[*]"
    # a folder of ours for what a tool keeps on disk (Spark's work files)
    home: Path | None = None


@dataclass(frozen=True)
class Call:
    """One call of a tool: its keys, every template filled in, and the step's args (or the execution's whole input).

    `written` are its keys as the playbook has them.
    """

    job: Job
    settings: Json
    args: Json
    services: Services
    written: Mapping[str, Any]
    # within a list of tools
    name: str | None = None
    # a tool may add what it owes once the step's result is kept, or lost
    pledges: list[Pledge] = field(default_factory=list)

    @property
    def key(self) -> str:
        """The same whenever the call is tried again, and no other call's."""
        return f"{self.job.id}" if self.name is None else f"{self.job.id}-{self.name}"


# the result: plain data, kept as the step's result (64 KiB by default)
Tool = Callable[[Call], Any]
