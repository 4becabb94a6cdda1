"""How the tests are dealt out to processes. (pytest-xdist's own groups do nothing under this pytest.)"""

from functools import cache

from xdist.scheduler import LoadScopeScheduling


class ByFile(LoadScopeScheduling):  # type: ignore[misc]
    """The tests of a file stay in one process, and all that need Spark in the same: it takes a while to start."""

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        return "spark" if _needs_spark(str(self.config.rootpath / file)) else file


@cache
def _needs_spark(file: str) -> bool:
    with open(file, encoding="utf-8") as text:
        return "spark: SparkSession" in text.read()
