"""What the figures were measured on: the machine without its name, and the versions."""

import os
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any

import psutil

from bench import peers
from bench.server import BenchServer


def about(server: BenchServer) -> dict[str, Any]:
    """What stands beside the cells in every file of results."""
    return {
        "machine": machine(),
        "versions": versions(server.version()),
        "settings": {**server.settings(), "clients": "all parties over the server's unix socket"},
    }


def machine() -> dict[str, str | int | float]:
    """Cores, memory, CPU model and kernel; no host name, no paths."""
    return {
        "cores": cores(),
        "memory_gib": round(psutil.virtual_memory().total / 2**30, 1),
        "cpu": _cpu_model(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "load_before": round(os.getloadavg()[0], 2),
    }


def name() -> str:
    """What the results' file is called after: the size of the machine, not its name."""
    return f"{cores()}-cores-{platform.machine()}"


def versions(postgres: str) -> dict[str, str]:
    return {
        "penstock": version("penstock"),
        "postgresql": postgres,
        "python": platform.python_version(),
        "psycopg": version("psycopg"),
        **peers.versions(),
    }


def cores() -> int:
    """Those this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _cpu_model() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    found = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return found[0] if found else platform.processor() or "unknown"
