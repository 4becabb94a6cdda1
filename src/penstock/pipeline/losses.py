"""What becomes of messages that the ledger expects and the source does not hand out any more."""

import structlog

from penstock.catalog.subscription import SubscriptionSpec
from penstock.errors import DataLoss
from penstock.kernel.runtimes import Lease
from penstock.pipeline.books import Books
from penstock.pipeline.positions import Starts, beyond_mark, ranges
from penstock.sources.contract import Marking

log = structlog.get_logger("penstock.runtime")


def accept(books: Books, path: str, token: int, spec: SubscriptionSpec, found: Starts) -> None:
    """Do what on_data_loss says about messages that cannot be had."""
    detail = {"losses": [one.to_json() for one in found.losses]}
    if spec.on_data_loss == "fail":
        books.said(token, "data_loss_refused", detail)
        raise DataLoss(
            f"{path}: the source no longer holds what the ledger expects: {ranges(found.losses)}\n"
            "Look at it, then set on_data_loss: skip_and_record to go on without it."
        )
    books.position_set(token, found.ledger(), found.losses[0].reason, detail)


def after_mark(books: Books, path: str, lease: Lease, spec: SubscriptionSpec, source: Marking, found: Starts) -> Starts:
    """A mark beyond our batches: the database is an older copy. The source hands all out again, if it still can.

    What the copy knows is known by its id. The mark is set back last: whoever dies before that does it all again.
    """
    lost = beyond_mark(found.offsets, source.mark(lease.ledger), lease.counts.batches)
    if lost and source.rewind():
        books.said(lease.token, "read_again", lost[0].to_json())
        log.warning("reads again all that is retained", subscription=path)
        source.set_mark(lease.ledger, lease.counts.batches)
        return found
    found = found.behind(lost)
    if found.losses:
        accept(books, path, lease.token, spec, found)
        source.set_mark(lease.ledger, lease.counts.batches)
    return found
