"""noop: a step that does nothing, and needs nothing to be read for it."""

from penstock.jobs import Job, JobFunction

KIND = "tool:noop"


def handler() -> JobFunction:
    def nothing(_: Job) -> None:
        return None

    return JobFunction(KIND, nothing, is_async=False)
