"""What is wrong with a catalog file: all of it, in the order of its lines."""

from typing import NamedTuple

from penstock.errors import SpecError


class Problem(NamedTuple):
    """One thing to put right: where it stands, and what was expected there."""

    line: int | None
    path: str
    text: str


class Problems:
    """Collects what is wrong, so that one reading of a file tells everything."""

    # enough to see what kind of file it is; a wrong file of 10,000 keys need not list them all
    _SHOWN = 50

    def __init__(self, name: str) -> None:
        self.name = name
        self._found: list[Problem] = []
        self.unused: list[str] = []

    def add(self, line: int | None, path: str, text: str) -> None:
        self._found.append(Problem(line, _on_one_line(path), _on_one_line(text)))

    def refuse(self) -> None:
        """Raise SpecError if anything was found."""
        if self._found:
            found = sorted(dict.fromkeys(self._found), key=lambda problem: problem.line or 0)
            raise SpecError([self._shown(problem) for problem in found[: self._SHOWN]] + self._rest(found), found)

    def _shown(self, problem: Problem) -> str:
        place = self.name if problem.line is None else f"{self.name}:{problem.line}"
        return ": ".join(part for part in (place, problem.path, problem.text) if part)

    def _rest(self, found: list[Problem]) -> list[str]:
        more = len(found) - self._SHOWN
        return [f"{self.name}: and {more} more problems"] if more > 0 else []


def _on_one_line(text: str) -> str:
    """What a file holds may end a line, or steer a terminal, where it is quoted."""
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in text)
