"""How commands print: tables for people on a terminal, aligned text into a pipe, one JSON document for programs."""

import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime, timedelta
from threading import Timer
from typing import Any
from uuid import UUID

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

_GAP = "  "
_NUMBER = re.compile(r"[\d,]*")
_QUIET_S = 1.0
_MANY = 100
_STYLES = {
    "ok": "green",
    "succeeded": "green",
    "warn": "yellow",
    "retrying": "yellow",
    "fail": "bold red",
    "dead_lettered": "red",
    "silent": "red",
}


def show_json(document: Any) -> None:
    """One JSON document, the same on every machine: times in UTC, everything but ASCII escaped."""
    typer.echo(json.dumps(as_json(document), indent=2))


def as_json(value: Any) -> Any:
    """Rows and their values as JSON knows them; durations are seconds."""
    match value:
        case datetime():
            return value.astimezone(UTC).isoformat()
        case timedelta():
            return value.total_seconds()
        case UUID():
            return str(value)
        case Mapping():
            return {str(name): as_json(inner) for name, inner in value.items()}
        case list() | tuple():
            return [as_json(inner) for inner in value]
        case _ if is_dataclass(value):
            return {field.name: as_json(getattr(value, field.name)) for field in fields(value)}
    return value


def show_table(columns: Sequence[str], rows: Iterable[Sequence[Any]], *, empty: str = "none") -> None:
    """A table; `empty` is what it says when there is no row."""
    cells = [[cell(value) for value in row] for row in rows]
    if not cells:
        typer.echo(empty)
        return
    numeric = [all(_NUMBER.fullmatch(value) for value in column) for column in zip(*cells, strict=True)]
    if _console().is_terminal:
        _show_rich(columns, cells, numeric)
    else:
        _show_aligned(columns, cells, numeric)


def _show_rich(columns: Sequence[str], cells: list[list[str]], numeric: list[bool]) -> None:
    table = Table(header_style="bold")
    for column, right in zip(columns, numeric, strict=True):
        table.add_column(Text(column), justify="right" if right else "left")
    for row in cells:
        table.add_row(*(Text(value, style=_STYLES.get(value, "")) for value in row))
    _console().print(table)


def _show_aligned(columns: Sequence[str], cells: list[list[str]], numeric: list[bool]) -> None:
    widths = [max(map(len, column)) for column in zip(columns, *cells, strict=True)]
    for row in [list(columns), *cells]:
        aligned = (
            value.rjust(width) if right else value.ljust(width)
            for value, width, right in zip(row, widths, numeric, strict=True)
        )
        typer.echo(_GAP.join(aligned).rstrip())


def show_facts(facts: Mapping[str, Any]) -> None:
    """Names and values, one per line; what is not there is left out."""
    known = {name: cell(value) for name, value in facts.items() if value is not None}
    width = max(map(len, known), default=0)
    for name, value in known.items():
        label = (f"{printable(name).ljust(width)}{_GAP}", "bold")
        _console().print(Text.assemble(label, (value, _STYLES.get(value, ""))), soft_wrap=True)


def show_heading(title: str) -> None:
    _console().print(Text(f"\n{title}", style="bold"))


def show_line(state: str, text: str) -> None:
    """A line led by a state such as ok, warn or fail."""
    _console().print(Text.assemble((state.ljust(6), _STYLES.get(state, "")), printable(text)), soft_wrap=True)


def complain(message: object) -> None:
    """Say on stderr what went wrong."""
    text = Text.assemble(("penstock: ", "bold red"), printable(str(message), keep="\n\t"))
    Console(stderr=True, highlight=False).print(text, soft_wrap=True)


def cell(value: Any) -> str:
    """A value as people read it, on one line."""
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case datetime():
            return f"{value.astimezone(UTC):%Y-%m-%d %H:%M:%S}Z"
        case timedelta():
            return duration(value.total_seconds())
        case dict() | list():
            return printable(json.dumps(value, ensure_ascii=False, default=str))
    return printable(str(value))


def duration(seconds: float) -> str:
    """About how long, in its two largest units."""
    whole = int(seconds)
    parts = [(whole // 86400, "d"), (whole // 3600 % 24, "h"), (whole // 60 % 60, "m"), (whole % 60, "s")]
    shown = [f"{count}{unit}" for count, unit in parts if count][:2]
    return " ".join(shown) or f"{seconds:.1f}s"


def error_line(error: Mapping[str, Any] | None, longest: int = 100) -> str:
    """The error of an attempt on one short line."""
    if not error:
        return ""
    said = ": ".join(str(error[name]) for name in ("type", "message") if error.get(name)) or json.dumps(error)
    line = " ".join(said.split())
    return line if len(line) <= longest else line[: longest - 1] + "…"


def printable(text: str, keep: str = "") -> str:
    """What came from elsewhere must not steer the terminal: control characters are spelled out."""
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() or one in keep else one.encode("unicode_escape").decode() for one in text)


@contextmanager
def waiting(what: str) -> Iterator[None]:
    """On a terminal, say what is going on when it takes longer than a moment."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield
        return
    status = console.status(what)
    timer = Timer(_QUIET_S, status.start)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        status.stop()


class Counter:
    """Progress on stderr: a bar on a terminal, else a line whenever another tenth is done. Nothing for a few items."""

    def __init__(self, what: str, total: int) -> None:
        self._what = what
        self._total = total
        self._tenths = 0 if total >= _MANY else 10
        console = Console(stderr=True)
        self._bar = _bar(console) if console.is_terminal and total >= _MANY else None
        self._task = self._bar.add_task(what, total=total) if self._bar else None

    def __enter__(self) -> "Counter":
        if self._bar:
            self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar:
            self._bar.stop()

    def at(self, done: int) -> None:
        if self._bar and self._task is not None:
            self._bar.update(self._task, completed=done)
        elif (tenths := done * 10 // max(self._total, 1)) > self._tenths:
            self._tenths = tenths
            print(f"{self._what}: {done:,} of {self._total:,}", file=sys.stderr, flush=True)


def _bar(console: Console) -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    return Progress(*columns, console=console)


def _console() -> Console:
    return Console(highlight=False)
