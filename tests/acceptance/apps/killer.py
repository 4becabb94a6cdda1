"""A job that kills its worker whenever it is tried, and its peaceful neighbours."""

import os
import signal
import time

from penstock import Job, job
from tests.acceptance.apps.notes import note


@job("killer")
def killer(job: Job) -> None:
    note(job, "began")
    if job.payload["how"] == "exit":
        os._exit(7)
    os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(60)


@job("neighbour")
def neighbour(job: Job) -> None:
    time.sleep(0.001)
    note(job, "ran")
