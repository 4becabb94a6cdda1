"""Writes the lock of the image: of requirements.lock, pin by pin and hash by hash, what a runtime needs.

Run by make lock, in an environment that has all of it: .venv/bin/python deploy/cloud-run/lock.py
"""

import re
import tomllib
from collections.abc import Iterator
from importlib.metadata import requires
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
NEEDED = Requirement("penstock[spark,otlp]")
HEADER = "# Made by deploy/cloud-run/lock.py of requirements.lock: what a runtime needs, without what tests need.\n"
_PIN = re.compile(r"^([\w.-]+)==\S+ \\\n(?: +--hash=\S+(?: \\)?\n)+", re.MULTILINE)


def pins(lock: str) -> dict[str, str]:
    """Every pin of a lock with its hashes, by the name of what it pins."""
    return {canonicalize_name(found[1]): found[0] for found in _PIN.finditer(lock)}


def needed() -> set[str]:
    """What is installed when Penstock is, with Spark, and what builds it."""
    builds = tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]["requires"]
    left = [NEEDED, *map(Requirement, builds)]
    seen: set[tuple[str, str]] = set()
    while left:
        one = left.pop()
        for extra in ("", *one.extras):
            name = (canonicalize_name(one.name), extra)
            if name not in seen:
                seen.add(name)
                left += _requirements(*name)
    return {name for name, _ in seen} - {NEEDED.name}


def _requirements(name: str, extra: str) -> Iterator[Requirement]:
    for one in map(Requirement, requires(name) or []):
        if one.marker is None or one.marker.evaluate({"extra": extra}):
            yield one


if __name__ == "__main__":
    every = pins((ROOT / "requirements.lock").read_text())
    (HERE / "requirements.lock").write_text(HEADER + "".join(every[name] for name in sorted(needed())))
