"""What a user can call, set or meet stands in README.md or docs/, and what stands there exists."""

import ast
import re
from collections.abc import Iterable, Iterator
from inspect import isfunction, signature
from itertools import product
from pkgutil import resolve_name
from textwrap import dedent
from typing import Any

import pytest
from typer.main import get_command

from penstock.cli.main import app
from penstock.errors import BY_SQLSTATE
from penstock.gateway.measures import Measures
from penstock.kernel.connection import Connection
from penstock.pipeline.metrics import STATES, Metrics
from penstock.settings import Settings
from tests.tree import ROOT, SQL, files, nothing, text

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]
ENVIRONMENT = re.compile(r"\bPENSTOCK_[A-Z_]*[A-Z]\b")
DOCS = "\n".join(text(page) for page in PAGES)
EXAMPLES = "\n".join(text(page) for page in sorted((ROOT / "examples").glob("**/*.md")))


def _missing(names: Iterable[str]) -> list[str]:
    return sorted(name for name in names if not re.search(rf"(?<!\w){re.escape(name)}(?![\w-])", DOCS))


def _commands(command: Any, path: tuple[str, ...]) -> Iterator[str]:
    """The full names of all commands that do something themselves."""
    below = getattr(command, "commands", {})
    if not below:
        yield " ".join(path)
    for name, one in below.items():
        if not one.hidden:
            yield from _commands(one, (*path, name))


def _relations(db: Connection, kinds: list[str]) -> set[str]:
    """Tables or views, without the parts of partitioned tables."""
    found = db.execute(
        "select relname::text from pg_class where relnamespace = 'penstock'::regnamespace"
        ' and relkind = any (%s::text[]::"char"[]) and not relispartition',
        [kinds],
    ).fetchall()
    return {name for (name,) in found}


def _functions() -> set[str]:
    return {path.stem for path in (SQL / "functions").glob("fn_*.sql")}


def _documented_moves() -> set[tuple[str, ...]]:
    """The table of legal moves; a cell may list several states or moves, and – stands for no state yet."""
    table = re.search(r"^\| from \| move \| to \|.*\n\|[-|: ]+\n((?:\|.*\n)+)", DOCS, re.MULTILINE)
    assert table, "docs/ have no table that begins with: | from | move | to |"
    rows = [[re.split(r",\s*", cell.strip(" `")) for cell in row.split("|")[1:4]] for row in table[1].splitlines()]
    return {tuple(word.strip("` ") for word in move) for row in rows for move in product(*row)}


def _python() -> Iterator[ast.Module]:
    """What is written in Python: blocks, and words in backticks that can be read as such. … stands for any value."""
    written = (DOCS + EXAMPLES).replace("…", "...")
    for block in re.findall(r"^```python\n(.*?)^```", written, re.MULTILINE | re.DOTALL):
        yield ast.parse(dedent(block))
    for words in re.findall(r"`([^`\n]+\))`", written):
        try:
            yield ast.parse(words)
        except SyntaxError:
            continue


def _full_names(module: ast.Module) -> dict[str, str]:
    """What a first word stands for: ours that a block imports, and the two that pages name without an import."""
    found = {"penstock": "penstock", "Client": "penstock.Client", "job": "penstock.Job"}
    for one in ast.walk(module):
        if isinstance(one, ast.ImportFrom) and str(one.module).startswith("penstock"):
            found |= {alias.name: f"{one.module}.{alias.name}" for alias in one.names}
    return found


def _stale(module: ast.Module) -> Iterator[str]:
    """Calls of ours that nothing real would take."""
    full = _full_names(module)
    for call in (one for one in ast.walk(module) if isinstance(one, ast.Call)):
        first, *others = ast.unparse(call.func).replace("Client()", "Client").split(".")
        if first not in full or others[:1] == ["log"]:
            continue
        try:
            called = resolve_name(".".join((full[first], *others)))
            itself = [None] if isfunction(called) and "." in called.__qualname__ else []
            named = {one.arg: None for one in call.keywords if one.arg}
            signature(called).bind_partial(*itself, *call.args, **named)
        except (AttributeError, ImportError, TypeError) as error:
            yield f"{ast.unparse(call)}: {error}"


def test_every_command_is_documented() -> None:
    nothing(_missing(_commands(get_command(app), ("penstock",))))


def test_every_environment_setting_is_documented() -> None:
    read = {name for path in files(".py") if ROOT / "src" in path.parents for name in ENVIRONMENT.findall(text(path))}
    nothing(_missing(read | {f"PENSTOCK_{name.upper()}" for name in Settings.model_fields}))


def test_every_metric_is_documented_and_every_documented_one_exists() -> None:
    suffixes = {"counter": "_total"}
    ours = [*Metrics().registry.collect(), *Measures().registry.collect()]
    told = {f"{one.name}{suffixes.get(one.type, '')}" for one in ours}
    assert set(re.findall(r"\bpenstock_(?:ingest|runtime|http)_\w+", DOCS)) == told
    nothing([state for state in STATES if f"`{state}`" not in DOCS])


def test_every_key_of_dot_config_is_documented(db: Connection) -> None:
    keys = [key for (key,) in db.execute("select key from penstock.dot_config").fetchall()]
    # a setting that may differ by job kind is written once, as <prefix>.<kind|default>
    per_kind = [key.removesuffix("default") + "<kind|default>" for key in keys if key.endswith(".default")]
    nothing(_missing([key for key in keys if not key.endswith(".default")]))
    nothing([key for key in per_kind if key not in DOCS])


def test_every_public_function_is_documented() -> None:
    nothing(_missing(_functions()))


def test_every_public_function_is_documented_with_its_parameters(db: Connection) -> None:
    """Somewhere it is written as fn_name(p_one, p_two, …)."""
    found = db.execute(
        "select proname::text, coalesce(proargnames[1:pronargs], '{}') from pg_proc"
        " where pronamespace = 'penstock'::regnamespace and proname like 'fn\\_%'"
    ).fetchall()
    written = {name: re.findall(rf"\b{name}\(([^)]*)\)", DOCS) for name, _ in found}
    nothing(
        [
            f"{name}({', '.join(parameters)})"
            for name, parameters in sorted(found)
            if not any(set(parameters) <= set(re.findall(r"\w+", one)) for one in written[name])
        ]
    )


def test_every_view_is_documented(db: Connection) -> None:
    nothing(_missing(_relations(db, ["v"])))


def test_every_table_is_documented(db: Connection) -> None:
    nothing(_missing(_relations(db, ["r", "p"])))


def test_every_private_sqlstate_and_its_error_are_documented() -> None:
    private = {code: error.__name__ for code, error in BY_SQLSTATE.items() if code.startswith("PS")}
    nothing(_missing([*private, *private.values()]))


def test_the_table_of_legal_moves_is_the_machine(db: Connection) -> None:
    moves = db.execute(
        "select coalesce(from_status::text, '–'), move, to_status::text from penstock.job_move"
    ).fetchall()
    assert _documented_moves() == set(moves)


@pytest.mark.parametrize("pattern", [r"\bfn_\w+", r"\bv_[a-z]\w+", r"\bPS\d{3}\b"])
def test_nothing_is_documented_that_does_not_exist(pattern: str, db: Connection) -> None:
    known = _functions() | _relations(db, ["v"]) | set(BY_SQLSTATE)
    nothing({name for name in re.findall(pattern, DOCS + EXAMPLES) if name.rstrip("_") not in known})


def test_every_command_of_the_examples_exists() -> None:
    known = set(_commands(get_command(app), ("penstock",)))
    called = re.findall(r"^ {4}(penstock [a-z]+(?: [a-z]+)?)", EXAMPLES, re.MULTILINE)
    assert called
    nothing([one for one in called if one not in known and " ".join(one.split()[:2]) not in known])


def test_every_documented_call_from_python_fits_what_is_called() -> None:
    modules = list(_python())
    calls = [ast.unparse(one) for module in modules for one in ast.walk(module) if isinstance(one, ast.Call)]
    assert any("Client().execute" in one for one in calls)
    nothing([one for module in modules for one in _stale(module)])
