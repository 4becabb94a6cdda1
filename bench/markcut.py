"""One run of MARK/CUT under measurement, in a process of its own: a Spark driver with a gigabyte of memory."""

import argparse
import json
import random
import resource
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from penstock.markcut import stages
from penstock.pipeline.session import spark_session

DRIVER_MEMORY = "1g"
WORDS = ("valve", "pump", "needle", "gauge", "sluice", "weir", "turbine", "spillway", "intake", "shaft", "bearing")


def write_documents(folder: Path, count: int, size: int) -> int:
    """Markdown of about this size each, alike with every call; returns how many bytes they have."""
    dice = random.Random(7)
    written = 0
    for number in range(count):
        place = folder / f"{number % 50:02}"
        place.mkdir(parents=True, exist_ok=True)
        text = _document(dice, number, size).encode()
        (place / f"{number:05}.md").write_bytes(text)
        written += len(text)
    return written


def _document(dice: random.Random, number: int, size: int) -> str:
    parts = [f"# Document {number}\n\n"]
    while (reached := sum(map(len, parts))) < size:
        section = len(parts)
        if section % 6 == 1:
            parts.append(f"## Section {section}\n\n")
        elif section % 6 == 4:
            parts.append(
                "```\n" + "".join(f"{dice.choice(WORDS)} --{dice.choice(WORDS)}\n" for _ in range(8)) + "```\n\n"
            )
        else:
            words = (dice.choice(WORDS) for _ in range(min(120, max(4, (size - reached) // 7))))
            parts.append(" ".join(words) + ".\n\n")
    return "".join(parts)[: size - 1] + "\n"


def main() -> None:
    """Run the six stages, and say how long each took; the session is warmed by a run of its own first."""
    options = _options()
    with TemporaryDirectory(prefix="penstock-markcut-") as scratch:
        conf = {"spark.driver.memory": DRIVER_MEMORY, "spark.executor.memory": "512m"}
        spark = spark_session(options.master, Path(scratch), conf)
        warm = Path(scratch) / "warm"
        write_documents(warm, 20, 2000)
        _run_stages({"run": "warm", "folder": str(warm), "collection": "warm"}, spark)
        print("START", time.monotonic_ns(), flush=True)
        seconds, counts = _run_stages({"run": "bench", "folder": options.folder}, spark)
        told = {
            "seconds": seconds,
            "counts": counts,
            "driver_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        }
        print("HANDLED", time.monotonic_ns(), json.dumps(told), flush=True)
        spark.stop()


def _run_stages(params: dict[str, str], spark: object) -> tuple[dict[str, float], dict[str, dict[str, int]]]:
    seconds, counts = {}, {}
    for name in ("copy_to_staging", "mark", "verify_mark", "cut", "verify_cut", "cleanup"):
        began = time.monotonic()
        counts[name] = getattr(stages, name)(spark, params)
        seconds[name] = round(time.monotonic() - began, 2)
    return seconds, counts


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--master", required=True)
    parser.add_argument("--folder", required=True)
    return parser.parse_args()


if __name__ == "__main__":
    main()
