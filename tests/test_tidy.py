"""The tree stays tidy: limits that are tripwires, names that explain themselves, nothing dead."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import penstock.errors
from penstock.errors import BY_SQLSTATE, PenstockError
from tests.tree import ROOT, SQL, files, nothing, shown, sql_code, text

FILE_LINES = 400
FUNCTION_LINES = 60
FUNCTION_LINES_MEDIAN = 10
SQL_FUNCTION_LINES = 70
LINE_LENGTH = {".py": 120, ".sql": 140}

BANNED_NAMES = {"util", "utils", "helper", "helpers", "common", "manager", "misc", "base2", "stuff"}
UNFINISHED = re.compile(r"\b(TO" + r"DO|FIX" + r"ME|XX" + r"X|HA" + r"CK)\b")
MACHINE = re.compile(r"/work/|/root/|/home/\w|/Users/\w|/tmp/w\b|C:\\")
MAKERS = re.compile(r"\b(chatgpt|claude|anthropic|openai|copilot|llm|helper agent|coding agent)\b", re.IGNORECASE)

# Python that runs row by row, and ways round the sink that commits positions with the rows
NOT_IN_THE_PIPELINE = {
    "SimpleDataSourceStreamReader",
    "foreachBatch",
    "udf",
    "pandas_udf",
    "mapInArrow",
    "mapInPandas",
    "rdd",
}

SQL_FUNCTIONS = sorted((SQL / "functions").glob("*.sql"))
SQL_VIEWS = sorted((SQL / "views").glob("*.sql"))
SQL_FILES = [path for path in files(".sql") if SQL in path.parents]


def _python_functions(path: Path) -> Iterator[tuple[str, int]]:
    """Each function's name and how many lines it has, without its decorators and docstring."""
    for node in ast.walk(ast.parse(text(path))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno is not None:
            yield f"{shown(path)}:{node.lineno} {node.name}", node.end_lineno - node.lineno + 1


def _lines(path: Path) -> list[str]:
    return text(path).splitlines()


def _matches(pattern: re.Pattern[str]) -> list[str]:
    return [
        f"{shown(path)}:{number} {line.strip()[:80]}"
        for path in files()
        if path != Path(__file__)
        for number, line in enumerate(_lines(path), 1)
        if pattern.search(line)
    ]


def _tables() -> set[str]:
    created = re.compile(r"create (?:unlogged )?table (?:if not exists )?penstock\.(\w+)")
    return {name for path in SQL_FILES for name in created.findall(sql_code(path))}


def test_no_file_is_too_long() -> None:
    nothing([f"{shown(path)}: {len(_lines(path))}" for path in files(".py", ".sql") if len(_lines(path)) > FILE_LINES])


def test_no_line_is_too_long() -> None:
    nothing(
        [
            f"{shown(path)}:{number} has {len(line)}"
            for suffix, limit in LINE_LENGTH.items()
            for path in files(suffix)
            for number, line in enumerate(_lines(path), 1)
            if len(line) > limit
        ]
    )


def test_no_python_function_is_too_long() -> None:
    long = [one for path in files(".py") for one in _python_functions(path) if one[1] > FUNCTION_LINES]
    nothing(long)


def test_most_python_functions_are_short() -> None:
    package = ROOT / "src"
    lengths = [lines for path in files(".py") if package in path.parents for _, lines in _python_functions(path)]
    assert median(lengths) <= FUNCTION_LINES_MEDIAN


def test_a_sql_function_fits_on_a_screen() -> None:
    nothing([f"{path.name}: {len(_lines(path))}" for path in SQL_FUNCTIONS if len(_lines(path)) > SQL_FUNCTION_LINES])


def test_a_file_of_the_functions_folder_holds_the_one_function_it_is_named_after() -> None:
    defined = re.compile(r"^create or replace function penstock\.(\w+)\(", re.MULTILINE)
    nothing([path.name for path in SQL_FUNCTIONS if defined.findall(text(path)) != [path.stem]])


def test_a_file_of_the_views_folder_holds_the_one_view_it_is_named_after() -> None:
    defined = re.compile(r"^create or replace view penstock\.(\w+) ", re.MULTILINE)
    nothing([path.name for path in SQL_VIEWS if defined.findall(text(path)) != [path.stem]])


def test_every_sql_function_and_view_begins_with_what_it_is() -> None:
    headless = [path.name for path in SQL_FUNCTIONS + SQL_VIEWS if not text(path).startswith(f"-- {path.stem}: ")]
    nothing(headless)


def test_sql_keywords_are_lower_case() -> None:
    capitals = re.compile(r"\b(?!UTC\b)[A-Z]{2,}\b")
    nothing([f"{shown(path)}: {found}" for path in SQL_FILES if (found := capitals.findall(_unquoted(path)))])


def _unquoted(path: Path) -> str:
    return re.sub(r'"[^"]*"', '""', sql_code(path))


def test_tables_and_views_are_named_with_their_schema() -> None:
    ours = "|".join(sorted(_tables() | {path.stem for path in SQL_VIEWS}))
    bare = re.compile(rf"\b(?:from|join|into|update|table|view|references|truncate)\s+({ours})\b(?!\s*\.)")
    nothing([f"{shown(path)}: {found}" for path in SQL_FILES if (found := bare.findall(sql_code(path)))])


def test_functions_are_called_with_their_schema() -> None:
    ours = "|".join(path.stem for path in SQL_FUNCTIONS)
    bare = re.compile(rf"(?<![\w.])({ours})\(")
    nothing([f"{shown(path)}: {found}" for path in SQL_FILES if (found := bare.findall(sql_code(path)))])


def test_no_sql_function_is_dead() -> None:
    callers = [*SQL_FILES, *(ROOT / "src" / "penstock" / "kernel").glob("*.py")]
    named = {path: set(re.findall(r"penstock\.(\w+)", text(path))) for path in callers}
    inner = [path for path in SQL_FUNCTIONS if not path.stem.startswith("fn_")]
    dead = [one.stem for one in inner if not any(one.stem in names for path, names in named.items() if path != one)]
    nothing(dead)


def test_every_public_function_and_view_is_granted_to_somebody() -> None:
    granted = set(re.findall(r"penstock\.(\w+)", sql_code(SQL / "grants.sql")))
    public = {path.stem for path in SQL_FUNCTIONS if path.stem.startswith("fn_")} | {path.stem for path in SQL_VIEWS}
    nothing(public - granted)


def test_every_private_sqlstate_that_sql_raises_has_its_error_and_every_error_is_raised() -> None:
    raised = {code for path in SQL_FILES for code in re.findall(r"errcode = '(PS\d{3})'", text(path))}
    assert raised == {code for code in BY_SQLSTATE if code.startswith("PS")}


def test_every_error_stands_in_the_picture_of_the_tree() -> None:
    errors = {
        name for name, one in vars(penstock.errors).items() if isinstance(one, type) and issubclass(one, PenstockError)
    }
    picture = penstock.errors.__doc__ or ""
    nothing({name for name in errors if not re.search(rf"\b{name}\b", picture)})


def test_names_explain_themselves() -> None:
    nothing([shown(path) for path in files() if path.stem.lower() in BANNED_NAMES])
    folders = {parent for path in files() for parent in path.parents if ROOT in parent.parents}
    nothing([shown(folder) for folder in folders if folder.name.lower() in BANNED_NAMES])


def test_nothing_is_left_for_later() -> None:
    nothing(_matches(UNFINISHED))


def test_no_test_sleeps() -> None:
    """Handlers may take their time, and the one loop that waits for a condition looks now and then."""
    sleeping = re.compile(r"\b(time|asyncio)\.sleep\(|^from (time|asyncio) import .*\bsleep\b")
    nothing(one for one in _matches(sleeping) if re.match(r"tests/(.*/)?(test_\w+|conftest)\.py:", one))


def test_no_test_is_skipped() -> None:
    skipping = re.compile(r"pytest\.xfail\(|mark\.(skip|xfail)\b")
    nothing([one for one in _matches(skipping) if one.startswith("tests/")])


def test_nobody_asks_the_admin_client_where_a_group_stands() -> None:
    """Where the group's place has moved, librdkafka 2.16 takes the whole process down (its issue 5040)."""
    nothing(_matches(re.compile("list_consumer_group_[o]ffsets")))


def test_the_tree_speaks_of_itself_alone() -> None:
    nothing(_matches(MACHINE))
    nothing(_matches(MAKERS))


def test_the_pipeline_keeps_to_columns_and_to_its_own_sink() -> None:
    pipeline = ROOT / "src" / "penstock" / "pipeline"
    nothing(
        f"{shown(path)}:{line} {name}"
        for path in files(".py")
        if pipeline in path.parents
        for line, name in _names(path)
        if name in NOT_IN_THE_PIPELINE
    )


def _names(path: Path) -> Iterator[tuple[int, str]]:
    """Every name the code of a file uses, reaches for or imports, with its line."""
    for node in ast.walk(ast.parse(text(path))):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name):
                yield node.lineno, name
            case ast.alias(name=name):
                yield node.lineno, name.rpartition(".")[2]


def test_every_module_is_used() -> None:
    package = ROOT / "src" / "penstock"
    modules = {
        "penstock." + ".".join(path.relative_to(package).with_suffix("").parts): path
        for path in files(".py")
        if package in path.parents and path.stem not in ("__init__", "__main__")
    }
    used: Counter[str] = Counter()
    for path in files(".py"):
        used.update(_imports(path))
    entries = set(re.findall(r'= "(penstock[\w.]*):', text(ROOT / "pyproject.toml")))
    nothing({name for name in modules if name not in used and name not in entries})


def _imports(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(text(path))):
        if isinstance(node, ast.Import):
            found.update(one.name for one in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
            found.update(f"{node.module}.{one.name}" for one in node.names)
    return found
