"""The handlers of the measured worker. Importing it says START: the worker's loop begins right after."""

import itertools
import json
import os
import threading
import time

import penstock

_MODE = os.environ["BENCH_MODE"]
_JOBS = int(os.environ["BENCH_JOBS"])
_seen = itertools.count(1)
_latencies_ms: list[float] = []


@penstock.job("noop")
def noop(job: penstock.Job) -> None:
    """Does nothing; counts, and outside drains notes how long the job took to get here."""
    if _MODE != "work":
        since = int(job.target_ref or 0) if _MODE == "event" else job.payload["t"]
        _latencies_ms.append((time.monotonic_ns() - since) / 1e6)
    if next(_seen) == _JOBS:
        _say("HANDLED", time.monotonic_ns(), json.dumps(_latencies_ms))


def _say(*words: object) -> None:
    print(*words, flush=True)


def _report_seconds() -> None:
    while True:
        time.sleep(1)
        gathered = len(_latencies_ms)
        _say("SECOND", time.monotonic_ns(), json.dumps([round(ms, 2) for ms in _latencies_ms[:gathered]]))
        del _latencies_ms[:gathered]


if _MODE == "soak":
    threading.Thread(target=_report_seconds, daemon=True).start()
_say("START", time.monotonic_ns())
