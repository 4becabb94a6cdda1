"""Handlers that take a known time."""

import time

from penstock import Job, job
from tests.acceptance.apps.notes import note


@job("ms_1")
def ms_1(job: Job) -> None:
    time.sleep(0.001)
    note(job, "ran")


@job("ms_10")
def ms_10(job: Job) -> None:
    time.sleep(0.010)
    note(job, "ran")
