"""Run as a process of its own: the tool's session from its first use to its end, noted line by line as JSON."""

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from penstock.worker.tools import spark
from tests.acceptance.processes import until
from tests.tools.calling import Caller, a_job


def tell(**said: Any) -> None:
    print(json.dumps(said), flush=True)


def main(database: str, folder: Path) -> None:
    caller = Caller(database, folder)
    tell(loaded_before_use="pyspark" in sys.modules)

    def run(name: str, args: dict[str, Any] | None = None, job_id: int = 7) -> Any:
        return spark.run(caller({"function": f"tests.tools.sparkling:{name}"}, args, a_job(job_id)))

    def failure(name: str) -> str:
        try:
            run(name)
        except Exception as error:
            return f"{type(error).__name__}: {error}"
        return "none"

    with ThreadPoolExecutor(4) as threads:
        tell(counts=list(threads.map(lambda n: run("count", {"n": n}, n), range(1, 9))))
    tell(views=run("views"), tasks=run("python_of_tasks", job_id=8))
    tell(failures={name: failure(name) for name in ("frame", "raising", "missing")})
    tell(cancelled=cancelled(caller, folder))
    session = spark._SESSIONS._session
    assert session is not None
    jvm = session.sparkContext._gateway.proc  # type: ignore[union-attr]
    jvm.kill()
    jvm.wait()
    tell(after_a_killed_jvm=run("count", {"n": 3}))
    session = spark._SESSIONS._session
    assert session is not None
    tell(jvm=session.sparkContext._gateway.proc.pid)  # type: ignore[union-attr]
    caller.close()


def cancelled(caller: Caller, folder: Path) -> str:
    """What a call ends with whose job is cancelled while a task runs."""
    job, note = a_job(9), folder / "runs"
    call = caller({"function": "tests.tools.sparkling:endless"}, {"note": str(note)}, job)
    with ThreadPoolExecutor(1) as thread:
        running = thread.submit(spark.run, call)
        until(note.exists, "the task runs")
        job.cancelled = True
        return str(running.exception(60))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
