"""What a handler leaves behind outside the database: a line per happening, written at once."""

import json
import os
import time
from pathlib import Path

from penstock import Job

_LOOK_S = 0.01


def note(job: Job, what: str, **more: object) -> None:
    """Append one line; a single write, so that lines of several processes do not mix."""
    line = {"what": what, "job": job.id, "kind": job.kind, "attempt": job.attempt, "lease": job.lease_token, **more}
    written = os.open(os.environ["NOTES"], os.O_WRONLY | os.O_APPEND)
    try:
        os.write(written, json.dumps(line | {"pid": os.getpid()}).encode() + b"\n")
    finally:
        os.close(written)


def gate_is_open(name: str) -> bool:
    return (Path(os.environ["GATES"]) / f"{name}.gate").exists()


def wait_at(name: str) -> None:
    """Stand until the test opens the gate of that name."""
    while not gate_is_open(name):
        time.sleep(_LOOK_S)
