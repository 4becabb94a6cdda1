"""What happens to a test whose part cannot be had on this machine."""

import os
from typing import NoReturn

import pytest


def missing(reason: str) -> NoReturn:
    """Skip and say why; a failure where PENSTOCK_REQUIRE_PARTS=1 says that every part must be there."""
    if os.environ.get("PENSTOCK_REQUIRE_PARTS") == "1":
        pytest.fail(f"PENSTOCK_REQUIRE_PARTS=1, but {reason}", pytrace=False)
    pytest.skip(reason)
