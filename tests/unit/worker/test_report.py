"""How the end of an attempt is told."""

import pytest

from penstock.worker.report import as_error


class _Unreadable(Exception):
    def __init__(self, second: BaseException) -> None:
        self._second = second

    def __str__(self) -> str:
        raise self._second


@pytest.mark.parametrize("second", [RuntimeError("no"), SystemExit(3), KeyboardInterrupt()])
def test_an_exception_whose_message_cannot_be_read_is_told_all_the_same(second: BaseException) -> None:
    told = as_error(_Unreadable(second))
    assert told == {"type": "_Unreadable", "message": f"its message cannot be read: {type(second).__name__}"}
