"""Two handlers for one kind, which no worker accepts."""

from penstock import Job, job


@job("twice")
def first(job: Job) -> None:
    pass


@job("twice")
def second(job: Job) -> None:
    pass
