"""Google's fake of Pub/Sub, built from Go's module proxy once and kept between runs."""

import fcntl
import hashlib
import os
import shutil
import stat
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.parts.jars import cache

SOURCES = Path(__file__).parent / "pstest"
MODULE = "cloud.google.com/go/pubsub/v2"
MENDS = (
    (
        "//Message: pm,",
        "Message: &pb.PubsubMessage{MessageId: m.ID, Data: m.Data, Attributes: m.Attributes,"
        " OrderingKey: m.OrderingKey, PublishTime: timestamppb.New(m.PublishTime)},",
    ),
    ("retentionDuration = 10 * time.Minute", "retentionDuration = 24 * time.Hour"),
    ("if m.PublishTime.Before(target) {", "if m.PublishTime.Before(target) || m.Topic != sub.topic.proto.Name {"),
)
_BUILD_S = 900


class NotBuilt(Exception):
    """The server cannot be built here."""


def pstest_program() -> Path:
    """The program; of several processes that want it, one builds."""
    parts = [*sorted(SOURCES.iterdir()), Path(__file__)]
    made = hashlib.sha256(b"".join(one.read_bytes() for one in parts)).hexdigest()[:16]
    folder = cache() / "pstest"
    program = folder / f"pstest-{made}"
    if program.exists():
        return program
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not program.exists():
            _build(program)
    return program


def _build(program: Path) -> None:
    go = shutil.which("go")
    if go is None:
        raise NotBuilt("Go is not installed, and Pub/Sub's server for tests is built with it")
    _go(go, SOURCES, "mod", "download")
    module = Path(_go(go, SOURCES, "list", "-m", "-f", "{{.Dir}}", MODULE).strip())
    unfinished = program.with_suffix(".unfinished")
    with TemporaryDirectory() as folder:
        workshop = Path(shutil.copytree(SOURCES, Path(folder) / "pstest"))
        _mend(_writable(module, workshop / "mended") / "pstest" / "fake.go")
        with (workshop / "go.mod").open("a") as file:
            file.write(f"\nreplace {MODULE} => ./mended\n")
        _go(go, workshop, "build", "-mod=readonly", "-o", str(unfinished), ".")
    unfinished.rename(program)


def _writable(module: Path, copy: Path) -> Path:
    """Go keeps modules as nobody may change them."""
    shutil.copytree(module, copy)
    for one in [copy, *copy.rglob("*")]:
        one.chmod(one.stat().st_mode | stat.S_IWUSR)
    return copy


def _mend(fake: Path) -> None:
    """The fake breaks when it is asked to seek back: it has not kept what it would hand out, and minds no topic.

    And it forgets what nobody has fetched for ten minutes, whatever a subscription says.
    """
    text = fake.read_text()
    for found, instead in MENDS:
        if text.count(found) != 1:
            raise NotBuilt(f"pstest is not the one that is known: {found!r} stands there {text.count(found)} times")
        text = text.replace(found, instead)
    fake.write_text(text)


def _go(go: str, where: Path, *words: str) -> str:
    ran = subprocess.run(
        [go, *words],
        cwd=where,
        env=os.environ | {"CGO_ENABLED": "0", "GOFLAGS": "-buildvcs=false"},
        capture_output=True,
        text=True,
        timeout=_BUILD_S,
    )
    if ran.returncode != 0:
        raise NotBuilt(f"Pub/Sub's server for tests cannot be built: {ran.stderr[-2000:]}")
    return ran.stdout
