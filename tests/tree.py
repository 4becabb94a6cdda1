"""The project's own files, as the tests of the tree see them."""

import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent
SQL = ROOT / "src" / "penstock" / "sql"

_NOT_OURS = re.compile(r"^(\..*|__pycache__|node_modules|results|build|dist|.*\.egg-info)$")
_GENERATED = {"LICENSE", "requirements.lock", "schema.sql", "package-lock.json", "PKG-INFO"}
_TEXT = {".py", ".sql", ".md", ".toml", ".sh", ".mjs", ".js", ".json", ".yaml", ".yml", ""}


@cache
def files(*suffixes: str) -> tuple[Path, ...]:
    """Everything written by hand, or only files with these endings."""
    return tuple(sorted(path for path in _walk(ROOT) if not suffixes or path.suffix in suffixes))


@cache
def text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def sql_code(path: Path) -> str:
    """A SQL file without its comments and without what stands between single quotes."""
    return re.sub(r"--[^\n]*|'(?:[^']|'')*'", lambda found: "" if found[0].startswith("--") else "''", text(path))


def shown(path: Path) -> str:
    """How a message names a file."""
    return str(path.relative_to(ROOT))


def nothing(found: Iterable[object]) -> None:
    """Fail and name all of it, if anything was found."""
    left = sorted(str(one) for one in found)
    assert not left, "\n" + "\n".join(left)


def _walk(folder: Path) -> Iterator[Path]:
    for path in folder.iterdir():
        if path.is_dir():
            if not _NOT_OURS.match(path.name):
                yield from _walk(path)
        elif path.name not in _GENERATED and path.suffix in _TEXT and not path.name.startswith("."):
            yield path
