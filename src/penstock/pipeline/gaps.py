"""Offsets that hold no message: the ledger follows a batch that ended in marks of transactions."""

from contextlib import suppress

from penstock.kernel.runtimes import Lease
from penstock.pipeline.books import PASSING, Books, Place, opened
from penstock.pipeline.committer import Committer
from penstock.pipeline.lag import Progress

_LOCK_MS = 500


class Gaps:
    """Of one query. Marks that the ledger has not passed would look like a loss, once their source removes them."""

    def __init__(self, place: Place, path: str, progress: Progress, committer: Committer) -> None:
        self._place = place
        self._path = path
        self._progress = progress
        self._committer = committer
        # what a lease says of the ledger may be a moment old
        self._passed: dict[str, int] = {}

    def look(self, lease: Lease) -> None:
        """Pass what there is; what cannot be passed now, as the batch under way has the row, at a later look."""
        ends = self._beyond(lease)
        if ends:
            with suppress(*PASSING), opened(self._place, self._path, "penstock runtime", _LOCK_MS) as books:
                self._move(books, lease, ends)

    def look_last(self, books: Books, lease: Lease) -> None:
        ends = self._beyond(lease)
        if ends:
            self._move(books, lease, ends)

    def _beyond(self, lease: Lease) -> dict[str, int]:
        ledger, reached = lease.positions, self._committer.reached
        return {
            part: end
            for part, end in self._progress.ends().items()
            if part in ledger and end > max(int(ledger[part]["next"]), reached.get(part, 0), self._passed.get(part, 0))
        }

    def _move(self, books: Books, lease: Lease, ends: dict[str, int]) -> None:
        at = {part: {"identity": lease.positions[part]["identity"], "next": end} for part, end in ends.items()}
        books.commit(lease.token, at, {})
        self._passed |= ends
