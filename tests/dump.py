"""pg_dump of a database, without what differs from run to run."""

import re
import subprocess

from penstock.embedded import Binaries

# pg_dump guards its script with a random token since the fix of CVE-2025-8714, and says which version it is
_PASSING = re.compile(r"^(\\(un)?restrict .*|-- Dumped (from|by) .*)\n", re.MULTILINE)


def dump(binaries: Binaries, url: str, *options: str) -> str:
    """What pg_dump writes with these options."""
    ran = subprocess.run(
        [binaries.folder / "pg_dump", "--no-owner", *options, url], capture_output=True, text=True, timeout=120
    )
    assert ran.returncode == 0, ran.stderr
    return _PASSING.sub("", ran.stdout)
