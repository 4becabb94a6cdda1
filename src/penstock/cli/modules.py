"""Python beside a subscription's file: functions and sources of the user's own."""

import os
import sys
from pathlib import Path


def find_modules_beside(file: Path) -> None:
    """What stands there can be imported from now on: here, by the worker, and by the tasks of Spark."""
    folder = str(file.absolute().parent)
    sys.path.insert(0, folder)
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join([folder, *([before] if before else [])])
