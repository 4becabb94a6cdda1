"""The files of a run: listed by the driver, by name and size; read by the tasks, each on its own host."""

import os
import stat
from collections.abc import Iterator
from typing import NamedTuple

from penstock.errors import DocumentUnfit
from penstock.markcut.params import Params

_MARKDOWN = (".md", ".markdown")
_LONGEST_NAME = 1000


class Found(NamedTuple):
    """A file, under which name it becomes a document, and its size when it was listed."""

    name: str
    path: str
    size: int


def listed(params: Params) -> list[Found]:
    """All documents of a run, by name. Refuses what cannot be one, naming the file."""
    found: dict[str, Found] = {}
    for name, path in _files(params):
        one = Found(_checked(name), path, _size(path, params.max_document_bytes))
        before = found.setdefault(one.name, one)
        if before is not one and before.path != one.path:
            raise DocumentUnfit(
                f"{before.path} and {one.path} would both be the document {one.name}: cut them in two runs"
            )
        if len(found) > params.max_documents:
            raise DocumentUnfit(
                f"there are more than {params.max_documents:,} documents: raise max_documents, or make two runs"
            )
    if not found:
        raise DocumentUnfit(f"there is no document: {params.folder or 'files'} holds no {', '.join(params.suffixes)}")
    return [found[name] for name in sorted(found)]


def read(path: str, max_bytes: int) -> bytes:
    """The bytes of a file, which may have changed since it was listed."""
    try:
        with open(path, "rb") as file:
            document = file.read(max_bytes + 1)
    except OSError as error:
        raise DocumentUnfit(f"{path} cannot be read: {error.strerror}") from error
    if len(document) > max_bytes:
        raise DocumentUnfit(_too_large(path, len(document), max_bytes))
    return document


def format_of(name: str) -> str:
    return "markdown" if name.lower().endswith(_MARKDOWN) else "text"


def _files(params: Params) -> Iterator[tuple[str, str]]:
    """Each file with its name: within a folder relative to it, else as it was written."""
    prefix = f"{params.collection.strip('/')}/" if params.collection.strip("/") else ""
    if params.folder is not None:
        root = os.path.abspath(params.folder)
        for path in _walked(root, params.suffixes):
            yield prefix + os.path.relpath(path, root), path
    for given in params.files:
        path = os.path.abspath(given)
        for one in _walked(path, params.suffixes) if os.path.isdir(path) else [path]:
            yield prefix + _as_written(given, os.path.relpath(one, path)), one


def _as_written(given: str, below: str) -> str:
    """A relative path stays as it is; one that leads out of here, or is absolute, is named from the root."""
    name = os.path.normpath(os.path.join(given, below))
    return os.path.abspath(name).lstrip("/") if name.startswith(("..", "/")) else name


def _walked(root: str, suffixes: tuple[str, ...]) -> Iterator[str]:
    """The documents below a folder. Names that begin with a dot are not for readers; links to folders loop."""
    if not os.path.isdir(root):
        raise DocumentUnfit(f"there is no folder {root}")
    for folder, below, files in os.walk(root, onerror=_raise):
        below[:] = sorted(name for name in below if not name.startswith("."))
        for name in sorted(files):
            if not name.startswith(".") and name.lower().endswith(suffixes):
                yield os.path.join(folder, name)


def _raise(error: OSError) -> None:
    raise DocumentUnfit(f"{error.filename} cannot be read: {error.strerror}") from error


def _checked(name: str) -> str:
    name = name.replace(os.sep, "/")
    try:
        name.encode()
    except UnicodeEncodeError:
        raise DocumentUnfit(f"{name!a}: the file's name is not UTF-8: rename it") from None
    if len(name) > _LONGEST_NAME:
        raise DocumentUnfit(f"{name[:80]}…: a document's name has at most {_LONGEST_NAME} characters")
    return name


def _size(path: str, max_bytes: int) -> int:
    try:
        found = os.stat(path)
    except OSError as error:
        raise DocumentUnfit(f"{path} cannot be read: {error.strerror}") from error
    if not stat.S_ISREG(found.st_mode):
        raise DocumentUnfit(f"{path} is not a file")
    if found.st_size > max_bytes:
        raise DocumentUnfit(_too_large(path, found.st_size, max_bytes))
    return found.st_size


def _too_large(path: str, size: int, max_bytes: int) -> str:
    return f"{path} has {size:,} bytes or more, and a document at most {max_bytes:,} (max_document_bytes)"
