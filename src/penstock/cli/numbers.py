"""Which rows of a table that grows have been seen, by their numbers: none is missed, and few are remembered."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from penstock.kernel.local import Horizon


@dataclass
class Numbers:
    """All numbers up to `floor` have been seen, and these above it.

    A number that was given early may be committed late. The floor rises to what an earlier look has seen once every
    transaction has ended that was under way then.
    """

    floor: int = 0
    _above: set[int] = field(default_factory=set)
    _top: int = 0
    _until: int | None = None

    def __len__(self) -> int:
        """How many are remembered one by one."""
        return len(self._above)

    def unseen(self, numbers: Iterable[int]) -> list[int]:
        return [one for one in numbers if one not in self._above]

    def see(self, numbers: Iterable[int], horizon: Horizon) -> None:
        """These are all there are above the floor, by a look with this horizon."""
        self._above.update(numbers)
        if self._until is not None and horizon.oldest >= self._until:
            self.floor, self._until = self._top, None
            self._above = {one for one in self._above if one > self.floor}
        if self._until is None and self._above:
            self._top, self._until = max(self._above), horizon.next
