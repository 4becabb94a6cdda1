"""How the end of an attempt is told."""

from collections import deque
from typing import cast

import pytest

from penstock.worker.held import Held
from penstock.worker.report import Done, UnserialisableResult, as_error, as_json, drained


class _Unreadable(Exception):
    def __init__(self, second: BaseException) -> None:
        self._second = second

    def __str__(self) -> str:
        raise self._second


@pytest.mark.parametrize("second", [RuntimeError("no"), SystemExit(3), KeyboardInterrupt()])
def test_an_exception_whose_message_cannot_be_read_is_told_all_the_same(second: BaseException) -> None:
    told = as_error(_Unreadable(second))
    assert told == {"type": "_Unreadable", "message": f"its message cannot be read: {type(second).__name__}"}


@pytest.mark.parametrize("done", [("x" * 1_000_000, None), (None, "x" * 1_000_000), ("x" * 500_000, "x" * 500_000)])
def test_a_batch_holds_no_more_than_a_statement_can(done: tuple[str | None, str | None]) -> None:
    queue: deque[Done] = deque([(cast(Held, None), *done)] * 500)
    assert len(drained(queue)) == 16
    assert len(queue) == 484


def test_what_cannot_be_kept_is_called_by_its_name() -> None:
    with pytest.raises(UnserialisableResult, match=r"^the items cannot be kept as JSON"):
        as_json([{1, 2}], "the items")
    with pytest.raises(UnserialisableResult, match=r"^the items holds U\+0000"):
        as_json(["\0"], "the items")
