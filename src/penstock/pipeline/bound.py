"""How many messages a runtime is to commit, if not all that come."""

from dataclasses import dataclass, replace

from penstock.catalog.subscription import SubscriptionSpec
from penstock.kernel.runtimes import Counts
from penstock.pipeline.committer import Committer


@dataclass
class Bound:
    """Messages that were known already do not count. `is_cut`: the last query ended at the bound, or before it."""

    most: int | None = None
    made: int = 0
    is_cut: bool = False
    # how many there were before the first of ours
    _before: int | None = None

    @property
    def left(self) -> int | None:
        return None if self.most is None else self.most - self.made

    @property
    def is_met(self) -> bool:
        return self.left == 0

    def narrowed(self, spec: SubscriptionSpec) -> SubscriptionSpec:
        """The same with batches no larger than what is still wanted, so that the first one always fits."""
        if self.left is None:
            return spec
        return replace(spec, runtime=replace(spec.runtime, batch=max(1, min(spec.runtime.batch, self.left))))

    def stand(self, counts: Counts) -> None:
        """By the subscription's own counts: a commit whose answer nobody heard was made all the same."""
        total = counts.executions + counts.deduplicated + counts.dead_lettered
        if self._before is None:
            self._before = total
        self.made = total - self._before

    def count(self, committer: Committer) -> None:
        """What a query has made, however it ended."""
        self.made += committer.made
        self.is_cut = committer.has_enough
