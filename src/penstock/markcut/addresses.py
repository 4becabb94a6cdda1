"""Canonical addresses: the document, the headings a piece stands under, and its number among them.

`guide/setup.md#installing/linux~2` is the second piece under "Linux" under "Installing". What comes before the first
heading, and all of a plain text, is `guide/setup.md#~1` and so on.
"""

import re
from collections import Counter

_LONGEST_WORD = 60
_OTHER = re.compile(r"[\W_]+")


class Addresses:
    """Of one document, handed out in its order. Sections with the same headings count on, so that none has two."""

    def __init__(self, document: str) -> None:
        self._document = document
        self._path: list[tuple[int, str]] = []
        self._given: Counter[str] = Counter()

    def enter(self, level: int, title: bytes) -> None:
        """A heading: what is under it ends with the next one of its level, or above."""
        self._path = [one for one in self._path if one[0] < level] + [(level, word_of(title))]

    def next(self) -> str:
        path = "/".join(word for _, word in self._path)
        self._given[path] += 1
        return f"{self._document}#{path}~{self._given[path]}"


def word_of(title: bytes) -> str:
    """A heading in an address: small letters and digits of any script, and - between them; `-` if it has none."""
    words = _OTHER.sub("-", title.decode("utf-8", "replace").lower()).strip("-")
    return words[:_LONGEST_WORD].strip("-") or "-"
