"""The handler of the ingest latency: notes when each message was sent, and when it came here."""

import os
import time
from typing import Any


def arrived(order: dict[str, Any]) -> None:
    line = f"[{order['at_ns']}, {time.time_ns()}]\n"
    # one write of one line: the worker's threads do not mix them up
    with open(os.environ["BENCH_ARRIVALS"], "ab", buffering=0) as notes:
        notes.write(line.encode())
