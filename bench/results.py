"""What a run found, and the file it is kept in."""

import json
import operator
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

_OPERATORS = {"<=": operator.le, ">=": operator.ge}


@dataclass(frozen=True)
class Line:
    """What a figure, or its ratio to the baseline, has to keep to."""

    of: str
    sign: str
    bound: float

    def holds(self, figure: float, ratio: float | None) -> bool | None:
        value = ratio if self.of == "ratio" else figure
        return None if value is None else bool(_OPERATORS[self.sign](value, self.bound))

    def __str__(self) -> str:
        return f"{self.of} {self.sign} {self.bound:g}"


def at_least(bound: float) -> Line:
    """The ratio to the baseline is this or more."""
    return Line("ratio", ">=", bound)


def at_most(bound: float) -> Line:
    """The ratio to the baseline is this or less."""
    return Line("ratio", "<=", bound)


def reaching(bound: float) -> Line:
    """The figure itself is this or more."""
    return Line("figure", ">=", bound)


def within(bound: float) -> Line:
    """The figure itself is this or less."""
    return Line("figure", "<=", bound)


@dataclass(frozen=True)
class Cell:
    """One row of the table. `ok` is null, with a reason, where there was nothing to compare with."""

    cell: str
    figure: float | None
    unit: str
    against: float | None
    ratio: float | None
    line: str | None
    ok: bool | None
    baseline: str | None = None
    beside: dict[str, float] = field(default_factory=dict)
    detail: dict[str, Any] = field(default_factory=dict)
    reason: str | None = None


def cell(
    name: str,
    figure: float,
    unit: str,
    line: Line | None = None,
    *,
    against: float | None = None,
    ratio: float | None = None,
    baseline: str | None = None,
    beside: Mapping[str, float] | None = None,
    detail: Mapping[str, Any] | None = None,
    reason: str | None = None,
) -> Cell:
    """A cell with its ratio and its verdict worked out. A ratio that is given is the median of the rounds' own."""
    if ratio is None and against:
        ratio = figure / against
    return Cell(
        name,
        _round(figure),
        unit,
        None if against is None else _round(against),
        None if ratio is None else round(ratio, 3),
        None if line is None else str(line),
        None if line is None else line.holds(figure, ratio),
        baseline,
        {name: _round(value) for name, value in (beside or {}).items()},
        dict(detail or {}),
        reason,
    )


def missing(name: str, unit: str, reason: str) -> Cell:
    """A cell that could not be measured."""
    return Cell(name, None, unit, None, None, None, None, reason=reason)


def write(paths: list[Path], run: Mapping[str, Any], cells: list[Cell]) -> None:
    """Keep the run in these files, all alike."""
    document = {
        "measured_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "cells": [asdict(one) for one in cells],
        **run,
    }
    text = json.dumps(document, indent=1, ensure_ascii=False) + "\n"
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def dated(folder: Path, name: str) -> Path:
    """The file of a run that is kept beside those of other days."""
    return folder / f"{datetime.now(UTC):%Y-%m-%d}-{name}.json"


def _round(value: float) -> float:
    return round(value, 0 if value >= 1000 else 1 if value >= 100 else 2)
