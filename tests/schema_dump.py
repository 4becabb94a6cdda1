"""Writes src/penstock/sql/schema.sql, so that every change of the schema shows as a diff. Run: make schema"""

import re
import tempfile
from pathlib import Path

from penstock.embedded import EmbeddedPostgres, bundled_binaries
from penstock.kernel.connection import connect
from penstock.kernel.migrate import migrate
from tests.dump import dump

SCHEMA_FILE = Path(__file__).parent.parent / "src" / "penstock" / "sql" / "schema.sql"

_HEADER = (
    "-- The whole schema as one dump. Generated, never edited: make schema rewrites it from the files beside it.\n"
)
# which months there are depends on the day
_MONTHS = "penstock.*_y[0-9][0-9][0-9][0-9]m[0-9][0-9]"
_PREAMBLE = re.compile(r"^(SET .*|SELECT pg_catalog\.set_config.*|--|-- PostgreSQL database dump.*)\n", re.MULTILINE)


def generated_schema() -> str:
    """What a new database looks like after migrate, as pg_dump of the bundled PostgreSQL tells it."""
    binaries = bundled_binaries()
    with tempfile.TemporaryDirectory(prefix="penstock-", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o755)
        with EmbeddedPostgres(Path(folder) / "postgres", binaries=binaries, settings={"fsync": "off"}) as server:
            with connect(server.url()) as connection:
                migrate(connection)
            written = dump(binaries, server.url(), "--schema-only", "--schema=penstock", f"--exclude-table={_MONTHS}")
    return _HEADER + re.sub(r"\n{3,}", "\n\n", "\n" + _PREAMBLE.sub("", written).strip() + "\n")


if __name__ == "__main__":
    SCHEMA_FILE.write_text(generated_schema())
    print(f"wrote {SCHEMA_FILE}")
