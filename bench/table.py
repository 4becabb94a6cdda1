"""The cells as a table for a terminal."""

from bench.results import Cell

_HEADINGS = ("cell", "figure", "unit", "against", "ratio", "line", "ok", "compared with, and beside it")
_NUMBERS = {1, 3, 4}


def table(cells: list[Cell]) -> str:
    """One line per cell, columns as wide as they need to be."""
    rows = [_HEADINGS, *(_row(one) for one in cells)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEADINGS))]
    return "\n".join(
        "  ".join(
            text.rjust(widths[column]) if column in _NUMBERS else text.ljust(widths[column])
            for column, text in enumerate(row)
        ).rstrip()
        for row in rows
    )


def _row(one: Cell) -> tuple[str, ...]:
    verdict = {True: "yes", False: "NO", None: "-"}[one.ok]
    beside = [f"{name} {_number(value)}" for name, value in one.beside.items()]
    notes = "; ".join(part for part in (one.baseline, ", ".join(beside), one.reason) if part)
    return (
        one.cell,
        _number(one.figure),
        one.unit,
        _number(one.against),
        "-" if one.ratio is None else f"{one.ratio:.2f}",
        one.line or "-",
        verdict,
        notes,
    )


def _number(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,.0f}" if value >= 1000 else f"{value:,.1f}" if value >= 10 else f"{value:.2f}"
