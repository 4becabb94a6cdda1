"""A wall clock that somebody puts forward and back, for Python processes that are started with it.

Such a process finds this file as `sitecustomize`, and in another one by how many seconds its clock is off. What counts
seconds (time.monotonic) goes on as it was.
"""

import ctypes
import datetime
import gc
import os
import shutil
import time
from pathlib import Path

_VARIABLE = "JUMPING_CLOCK"
_time = time.time


class JumpingClock:
    """The test's side of it."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        shutil.copy(__file__, folder / "sitecustomize.py")
        self._file = folder / "seconds"
        self.environment = {"PYTHONPATH": str(folder), _VARIABLE: str(self._file)}
        self.jump(datetime.timedelta(0))

    def jump(self, by: datetime.timedelta) -> None:
        """Off by this much from now on, whatever it was before."""
        fresh = self._file.with_suffix(".new")
        fresh.write_text(str(by.total_seconds()))
        fresh.replace(self._file)


def _now() -> float:
    with open(os.environ[_VARIABLE]) as file:
        return _time() + float(file.read())


def _now_as_datetime(_: type, tz: datetime.tzinfo | None = None) -> datetime.datetime:
    return datetime.datetime.fromtimestamp(_now(), tz)


def _replace() -> None:
    time.time = _now
    time.time_ns = lambda: int(_now() * 1e9)
    # in the type itself, which others have imported by its name, or made types of their own of
    (attributes,) = gc.get_referents(datetime.datetime.__dict__)
    attributes |= {name: classmethod(_now_as_datetime) for name in ("now", "today", "utcnow")}
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(datetime.datetime))


if __name__ == "sitecustomize":
    _replace()
