"""Catalog files into the catalog: all entries of a call or none, playbooks first."""

from collections.abc import Sequence
from dataclasses import dataclass

from penstock.catalog.entry import Entry
from penstock.catalog.graph_data import graph_data
from penstock.catalog.places import alias_place, playbook_place, pool_place, timeout_place, url_place
from penstock.catalog.playbook import PlaybookSpec
from penstock.credentials import Credentials
from penstock.errors import BadRequest, CredentialError, UnknownPlaybook, UnknownPool
from penstock.kernel import catalog
from penstock.kernel.connection import Connection
from penstock.model import Json

# of what the database refuses: what its `about` names, and where that stands
_PLACES = {UnknownPlaybook: playbook_place, UnknownPool: pool_place, BadRequest: timeout_place}


@dataclass(frozen=True)
class Registered:
    """What became of one entry: its version, and whether that is new."""

    path: str
    kind: str
    version: int
    created: bool
    unused: tuple[str, ...]


def register(
    connection: Connection, entries: Sequence[Entry], credentials: Credentials, actor: str | None = None
) -> list[Registered]:
    """Check what the entries refer to, and store them in one transaction."""
    for entry in entries:
        _check_aliases(entry, credentials)
    made: list[Registered] = []
    with connection.transaction():
        for entry in _in_order(entries):
            version, created = _registered(connection, entry, actor)
            made.append(Registered(entry.path, entry.kind, version, created, entry.unused))
    return made


def _registered(connection: Connection, entry: Entry, actor: str | None) -> tuple[int, bool]:
    try:
        return catalog.register(connection, entry.path, entry.kind, entry.content, entry.source, actor, _graph(entry))
    except (UnknownPlaybook, UnknownPool, BadRequest) as error:
        place = _PLACES[type(error)]
        if error.about is None:
            raise
        raise type(error)(f"{place(entry, error.about)}: {error.message}", error.hint, error.about) from error


def _in_order(entries: Sequence[Entry]) -> list[Entry]:
    """Playbooks before those that start them, and all of them before subscriptions."""
    left = {entry.path: entry for entry in sorted(entries, key=lambda one: one.kind != "Playbook")}
    ordered: list[Entry] = []
    while left:
        # of playbooks that start one another in a circle, none can be the first: the database says which is missing
        free = [one for one in left.values() if not set(one.spec.playbooks()) & left.keys()] or [
            next(iter(left.values()))
        ]
        ordered += free
        for one in free:
            del left[one.path]
    return ordered


def _graph(entry: Entry) -> Json | None:
    return graph_data(entry.spec) if isinstance(entry.spec, PlaybookSpec) else None


def _check_aliases(entry: Entry, credentials: Credentials) -> None:
    for alias in entry.spec.credentials():
        try:
            credentials.get(alias)
        except CredentialError as error:
            raise CredentialError(f"{alias_place(entry, alias)}: {error}") from error
    if isinstance(entry.spec, PlaybookSpec):
        _check_hosts(entry, entry.spec, credentials)


def _check_hosts(entry: Entry, spec: PlaybookSpec, credentials: Credentials) -> None:
    for step, alias in spec.roaming_credentials():
        if "hosts" not in credentials.get(alias):
            place = url_place(entry, step, alias)
            raise CredentialError(
                f"{place}: {step} sends the credential {alias} to a host that comes out of a template: write the host"
                " into the url, or list the hosts it is for in the credential, such as hosts: [api.example.com]"
            )
