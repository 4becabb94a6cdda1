"""The parts Penstock brings along: nothing to install by hand."""

from penstock.embedded.binaries import Binaries, bundled_binaries, system_binaries
from penstock.embedded.nats import EmbeddedNats
from penstock.embedded.postgres import EmbeddedPostgres

__all__ = ["Binaries", "EmbeddedNats", "EmbeddedPostgres", "bundled_binaries", "system_binaries"]
