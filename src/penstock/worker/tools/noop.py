"""noop: a step that does nothing."""

from penstock.worker.tools.contract import Call


def run(_: Call) -> None:
    return None
