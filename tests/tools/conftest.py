"""One worker's services for the tools of a test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.tools.calling import Caller


@pytest.fixture
def caller(database: str, tmp_path: Path) -> Iterator[Caller]:
    made = Caller(database, tmp_path)
    yield made
    made.close()
