"""Catalog files as entries: what `validate` shows, what registration stores, and the way back from there."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from penstock.catalog import names
from penstock.catalog.faults import Fault
from penstock.catalog.playbook import PlaybookSpec, read_playbook
from penstock.catalog.problems import Problems
from penstock.catalog.reading import Reader
from penstock.catalog.subscription import SubscriptionSpec, read_subscription
from penstock.catalog.values import one_of
from penstock.catalog.yaml import MAX_BYTES, Document, Node, documents, located, plain
from penstock.errors import SpecError
from penstock.model import Json

Spec = PlaybookSpec | SubscriptionSpec

_VERSIONS = ("penstock/v1", "noetl.io/v1", "noetl.io/v2")
_KINDS: dict[str, Callable[[str, str, Reader], Spec]] = {"Playbook": read_playbook, "Subscription": read_subscription}
_MOST_DOCUMENTS = 200


@dataclass(frozen=True)
class Entry:
    """One document of a file: its data for the database, its own text, its spec, which keys have no effect yet.

    `file` and `root` tell where something of it stands.
    """

    kind: str
    path: str
    name: str
    content: Json
    source: str
    spec: Spec
    unused: tuple[str, ...]
    file: str
    root: Node


def read_file(path: Path) -> list[Entry]:
    """The entries of a file, or all that is wrong with it."""
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise SpecError([f"{path}: cannot be read: {error.strerror}"]) from error
    try:
        return read(raw.decode("utf-8"), str(path))
    except UnicodeDecodeError as error:
        if len(raw) > MAX_BYTES:
            raise SpecError([f"{path}: the file is larger than {MAX_BYTES:,} bytes"]) from None
        line = raw.count(b"\n", 0, error.start) + 1
        raise SpecError([f"{path}:{line}: the file is not UTF-8 (byte {raw[error.start]:#04x})"]) from None


def read(text: str, name: str) -> list[Entry]:
    """The entries of a file's text, or all that is wrong with it, each with `name` and its line."""
    problems = Problems(name)
    entries = [_entry(document, problems) for document in _documents(text, problems)]
    _check_paths(entries, problems)
    problems.refuse()
    return [entry for entry, _ in entries]


def spec_of(kind: str, content: Json) -> Spec:
    """The spec again, from what the database keeps."""
    return _stored(kind, content)[0]


def unused_of(kind: str, content: Json) -> tuple[str, ...]:
    """Which keys of what the database keeps have no effect yet."""
    return tuple(_stored(kind, content)[1].unused)


def cautions_of(content: Json) -> tuple[str, ...]:
    """What may go wrong unseen with a subscription of the database."""
    spec = _stored("Subscription", content)[0]
    return spec.cautions() if isinstance(spec, SubscriptionSpec) else ()


def _stored(kind: str, content: Json) -> tuple[Spec, Problems]:
    problems = Problems(f"the {kind} in the catalog")
    spec, found = _spec(located(content), problems)
    if found and found != kind:
        problems.add(None, "kind", f"expected {kind}, found {found}")
    problems.refuse()
    return spec, problems


def _documents(text: str, problems: Problems) -> list[Document]:
    """The documents; a file that is no YAML has this one problem and no other."""
    found: list[Document] = []
    try:
        found = documents(text)
        if not found:
            problems.add(None, "", "the file is empty: expected a document with kind: Playbook or kind: Subscription")
    except Fault as fault:
        problems.add(fault.line, "", fault.text)
    if len(found) > _MOST_DOCUMENTS:
        problems.add(found[_MOST_DOCUMENTS].root.line, "", f"more than {_MOST_DOCUMENTS} documents in one file")
        return []
    return found


def _entry(document: Document, problems: Problems) -> tuple[Entry, int | None]:
    """The entry, and the line it begins in."""
    before = len(problems.unused)
    spec, kind = _spec(document.root, problems)
    unused = tuple(problems.unused[before:])
    content = plain(document.root)
    entry = Entry(kind, spec.path, spec.name, content, document.source, spec, unused, problems.name, document.root)
    return entry, document.root.line


def _spec(root: Node, problems: Problems) -> tuple[Spec, str]:
    document = Reader(root, "", problems)
    document.take("apiVersion", one_of(*_VERSIONS))
    kind = document.take("kind", one_of(*_KINDS))
    metadata = document.inside("metadata")
    path = metadata.take("path", names.path)
    name = metadata.take("name", names.title, path)
    metadata.close()
    if kind not in _KINDS:
        document.ignore("spec", "tests", "workload", "workflow")
    spec = _KINDS.get(kind, _nothing)(name, path, document)
    document.close()
    return spec, kind


def _nothing(name: str, path: str, document: Reader) -> Spec:
    """Stands where the kind is unknown, and a problem says so."""
    return PlaybookSpec(name, path, ())


def _check_paths(entries: list[tuple[Entry, int | None]], problems: Problems) -> None:
    """A path is one entry's alone, and so is a path at the gateway."""
    first: dict[tuple[str, str], int | None] = {}
    for entry, line in entries:
        for key, path in _paths(entry):
            if (key, path) in first:
                problems.add(line, key, f"{path} is another document's too, which begins in line {first[key, path]}")
            first.setdefault((key, path), line)


def _paths(entry: Entry) -> list[tuple[str, str]]:
    ingress = entry.spec.ingress if isinstance(entry.spec, SubscriptionSpec) else None
    both = [("metadata.path", entry.path), ("spec.ingress.gateway_path", ingress.gateway_path if ingress else "")]
    return [(key, path) for key, path in both if path]
