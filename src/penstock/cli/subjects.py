"""What a command is asked about: a subscription of a file or of the catalog, the playbook of an execution."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from penstock.catalog.entry import read_file, spec_of, unused_of
from penstock.catalog.playbook import PlaybookSpec
from penstock.catalog.subscription import SubscriptionSpec
from penstock.cli.beside import playbooks_beside
from penstock.cli.database import opened
from penstock.errors import SettingsError, UnknownPlaybook
from penstock.kernel import catalog
from penstock.kernel.connection import Connection
from penstock.kernel.executions import ExecutionView
from penstock.model import Json


@dataclass(frozen=True)
class Subject:
    """A subscription, and those of its playbooks that are known. `version` is None for one of a file.

    `pool` is what it says itself: where it says nothing, a playbook's own pool counts.
    """

    spec: SubscriptionSpec
    pool: str | None
    unused: tuple[str, ...]
    version: int | None
    playbooks: Mapping[str, PlaybookSpec]


def subject(what: str) -> Subject:
    """A file if there is one of that name, or if it ends as one; else a path of the catalog."""
    file = Path(what)
    if file.is_file() or file.suffix in (".yaml", ".yml"):
        return _of_file(file)
    with opened("subscription") as connection:
        entry = catalog.entry(connection, what, kind="Subscription")
        spec = spec_of(entry.kind, entry.content)
        assert isinstance(spec, SubscriptionSpec)
        playbooks = _registered(connection, spec)
    return Subject(spec, _pool(entry.content), unused_of(entry.kind, entry.content), entry.version, playbooks)


def _of_file(file: Path) -> Subject:
    entries = read_file(file)
    found = [one for one in entries if isinstance(one.spec, SubscriptionSpec)]
    if len(found) != 1:
        paths = ", ".join(one.path for one in found) or "none"
        raise SettingsError(
            f"{file}: expected one subscription in it, found {paths}\n"
            "Give a file with one, or register it and give the subscription's path."
        )
    spec = found[0].spec
    assert isinstance(spec, SubscriptionSpec)
    beside = playbooks_beside(file, spec.playbooks(), entries)
    playbooks = {path: one.spec for path, one in beside.items() if isinstance(one.spec, PlaybookSpec)}
    return Subject(spec, _pool(found[0].content), found[0].unused, None, playbooks)


def _pool(content: Json) -> str | None:
    stated: str | None = content["spec"]["dispatch"].get("execution_pool")
    return stated


def _registered(connection: Connection, spec: SubscriptionSpec) -> dict[str, PlaybookSpec]:
    found: dict[str, PlaybookSpec] = {}
    for path in spec.playbooks():
        with suppress(UnknownPlaybook):
            entry = catalog.entry(connection, path, kind="Playbook")
            playbook = spec_of(entry.kind, entry.content)
            assert isinstance(playbook, PlaybookSpec)
            found[path] = playbook
    return found


def playbook_of(connection: Connection, one: ExecutionView) -> PlaybookSpec:
    """The playbook an execution runs, at its version."""
    path, _, version = one.playbook_ref.partition("@")
    entry = catalog.entry(connection, path, int(version))
    spec = spec_of(entry.kind, entry.content)
    assert isinstance(spec, PlaybookSpec)
    return spec
