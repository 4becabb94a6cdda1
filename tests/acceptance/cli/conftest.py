"""What the tests of the commands share."""

from penstock.kernel.connection import Connection
from tests.acceptance.conftest import DEADLINE_S, PROGRAM, Penstock

__all__ = ["DEADLINE_S", "PROGRAM", "Penstock"]


def break_a_part_of_the_tick(db: Connection) -> None:
    """From now on the part once_keys fails."""
    db.execute("alter table penstock.once_key rename to once_gone")
