"""How much templates may make: each value, and all values of one evaluation together.

A text that a template only hands on is not counted, however long: it is in memory already.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from penstock.errors import TemplateFailed

_LONGEST_VALUE = 1_000_000
_MOST_IN_ALL = 10_000_000

_spent: ContextVar[int] = ContextVar("penstock_template_spent", default=0)


@contextmanager
def counted_from_zero() -> Iterator[None]:
    """One evaluation: what is made within counts together."""
    token = _spent.set(0)
    try:
        yield
    finally:
        _spent.reset(token)


def spend(length: int) -> None:
    """Count characters or items that are made, before or right after."""
    spent = _spent.get() + length
    if spent > _MOST_IN_ALL:
        raise TemplateFailed(f"templates made more than {_MOST_IN_ALL:,} characters or items on the way to their value")
    _spent.set(spent)


def check_length(length: int) -> None:
    if length > _LONGEST_VALUE:
        raise TemplateFailed(f"a template gave more than {_LONGEST_VALUE:,} characters or items")


def made(value: Any) -> Any:
    """A value that a template has made, if it is not too long."""
    if isinstance(value, str | list | tuple):
        check_length(len(value))
        spend(len(value))
    return value


def text_of(value: Any) -> str:
    """A value as text. A list may hold one long text many times: it is weighed before it is written out."""
    check_weight(value)
    return str(value)


def check_weight(value: Any) -> None:
    """Refuse lists and mappings whose text would be too long."""
    if isinstance(value, Mapping | list | tuple):
        total = 0
        for one in _weights(value):
            total += one
            check_length(total)


def _weights(value: Any) -> Iterator[int]:
    if isinstance(value, str):
        yield len(value)
    elif isinstance(value, Mapping):
        for key, one in value.items():
            yield len(key) if isinstance(key, str) else 1
            yield from _weights(one)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _weights(one)
    # of the commas and quotes, too: a list of a million empty lists is long
    yield 1
