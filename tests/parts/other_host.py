"""What another host has of its own: an interpreter, a file of credentials, a home. Nothing of it is the driver's."""

import json
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

from tests.tree import ROOT


class OtherHost:
    """A folder that stands for a host of a cluster."""

    def __init__(self, folder: Path, credentials: dict[str, Any]) -> None:
        self._folder = folder
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "python"], check=True, timeout=120)
        self.python = folder / "python" / "bin" / "python"
        # the same packages, found by an interpreter of another path
        packages = sysconfig.get_path("purelib", vars={"base": str(folder / "python")})
        (Path(packages) / "penstock.pth").write_text(f"{sysconfig.get_path('purelib')}\n{ROOT / 'src'}\n")
        self._credentials = folder / "executors.yaml"
        self._credentials.write_text(json.dumps(credentials))
        self._credentials.chmod(0o600)

    @property
    def environment(self) -> dict[str, str]:
        """Of the workers, and so of their executors."""
        return {
            "PENSTOCK_CREDENTIALS": str(self._credentials),
            "PENSTOCK_HOME": str(self._folder / "home"),
            "HOME": str(self._folder),
            "PYSPARK_PYTHON": str(self.python),
        }
