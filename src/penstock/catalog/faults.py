"""Why a file is no YAML, in words for somebody who wrote it by hand."""

import re

from ruamel.yaml.error import MarkedYAMLError

# of the parser's texts, and what usually is behind them
_EXPLAINED = (
    (r"cannot start any token.*\\t|'\\t'", "a tab: indent with spaces"),
    (r"character '(.)' that cannot start any token", "text that begins with {0} stands in quotes"),
    (
        r"mapping values are not allowed",
        "a second ': ' where a value goes on: check the indentation of this line and the one before, "
        "or put text that holds ': ' in quotes",
    ),
    (
        r"expected <block end>",
        "the indentation does not fit: keys of one mapping, and items of one list, begin in the same column",
    ),
    (
        r"expected '<document start>'",
        "the indentation does not fit what stands before: keys of one mapping begin in the same column",
    ),
    (r"could not find expected ':'", "a key without a ':' after it, or text that goes on with too little indentation"),
    (r"expected ',' or '([\]}])'", "the list or mapping is not closed: expected , or {0}"),
    (r"unexpected end of stream", "the quotes are not closed"),
    (
        r"unknown escape character '(.)'",
        "\\{0} means nothing between double quotes: use single quotes, or write \\\\{0}",
    ),
    (r"expected the node content", "a value is missing here"),
    (r"incompatible YAML document", "catalog files are YAML 1.2: leave the %YAML line out"),
)


class Fault(Exception):
    """A file that cannot be read at all: the line, where it is known, and why."""

    def __init__(self, line: int | None, text: str) -> None:
        super().__init__(text)
        self.line = line
        self.text = text


def syntax_fault(error: MarkedYAMLError) -> Fault:
    """The parser's error as a fault: in the line where what was not closed began, else where the parser stopped."""
    said = " ".join(str(error.problem or error).split())
    text = _explained(said)
    unfinished = "not closed" in text or "a key without" in text
    mark = error.context_mark if unfinished and error.context_mark is not None else error.problem_mark
    return Fault(None if mark is None else mark.line + 1, text)


def text_fault(text: str) -> None:
    """Refuse characters that no catalog file has a use for, before the parser sees them."""
    found = re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]", text)
    if found:
        line = text.count("\n", 0, found.start()) + 1
        raise Fault(line, f"the file holds the character U+{ord(found[0]):04X}, which is no text")


def _explained(said: str) -> str:
    for pattern, words in _EXPLAINED:
        found = re.search(pattern, said)
        if found:
            return words.replace("{0}", found[1]) if found.groups() else words
    return f"this is not YAML: {said[:200]}"
