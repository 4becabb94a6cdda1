"""Batches on their way from Spark's process to the runtime's."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from penstock.errors import NotTaken, SettingsError
from penstock.pipeline.handover import Answer, Batch, Inlet, Share, hand_over, is_last

BATCH = Batch(7, [Share(1, {"a": 3}, {"t:0": 4}, {"t:0": 7}), Share(1, {"b": 1}, {"t:1": 0}, {"t:1": 1})])
LONG_S = 30


@pytest.fixture
def inlet(tmp_path: Path) -> Inlet:
    return Inlet(tmp_path)


def test_a_batch_comes_as_it_was_handed_over(inlet: Inlet) -> None:
    came: list[Batch] = []

    def take(batch: Batch, answer: Answer) -> None:
        came.append(batch)
        answer.taken()

    with ThreadPoolExecutor(1) as spark:
        handed = spark.submit(hand_over, inlet.address, BATCH)
        inlet.next(LONG_S, take)
        handed.result(LONG_S)
    assert came == [BATCH]
    assert BATCH.rows == 4
    inlet.close()


@pytest.mark.parametrize(
    ("take", "words"),
    [(lambda _, answer: answer.refused("the one before failed"), "the one before failed"),
     (lambda *_: None, "ended meanwhile")],
)  # fmt: skip
def test_one_that_is_refused_or_not_answered_is_not_taken(
    inlet: Inlet, take: Callable[[Batch, Answer], None], words: str
) -> None:
    with ThreadPoolExecutor(1) as spark:
        handed = spark.submit(hand_over, inlet.address, BATCH)
        inlet.next(LONG_S, take)
        with pytest.raises(NotTaken, match=words):
            handed.result(LONG_S)
    inlet.close()


def test_readers_hear_which_batch_is_the_last(inlet: Inlet) -> None:
    assert not is_last(inlet.address)
    inlet.say_last()
    assert is_last(inlet.address)
    inlet.close()


def test_a_batch_that_was_waiting_when_the_runtime_ended_is_not_taken(inlet: Inlet) -> None:
    with ThreadPoolExecutor(1) as spark:
        handed = spark.submit(hand_over, inlet.address, BATCH)
        with pytest.raises(TimeoutError):
            handed.result(0.2)
        inlet.close()
        with pytest.raises(NotTaken):
            handed.result(LONG_S)


def test_a_runtime_that_is_busy_and_to_stop_keeps_nobody_waiting(inlet: Inlet) -> None:
    with ThreadPoolExecutor(1) as spark:
        handed = spark.submit(hand_over, inlet.address, BATCH)
        with pytest.raises(TimeoutError):
            handed.result(0.2)
        inlet.shut()
        with pytest.raises(NotTaken, match="does not take batches any more"):
            handed.result(LONG_S)
    inlet.close()


def test_there_may_be_no_runtime_at_all(tmp_path: Path) -> None:
    with pytest.raises(NotTaken, match="does not take batches any more"):
        hand_over(str(tmp_path / "batches"), BATCH)


def test_a_folder_too_deep_for_a_socket_is_said(tmp_path: Path) -> None:
    deep = tmp_path / ("x" * 120)
    deep.mkdir()
    with pytest.raises(SettingsError, match="Set TMPDIR to a shorter path"):
        Inlet(deep)
