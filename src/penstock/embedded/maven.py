"""Java archives from Maven, fetched once into a cache that processes share."""

import hashlib
import shutil
import subprocess
import tempfile
from pathlib import Path
from xml.sax.saxutils import escape

from penstock.embedded.lock import locked_file
from penstock.errors import JarsMissing

FETCH_S = 900
SAID_LINES = 15

Artifact = tuple[str, str, str]  # group, name, version


def pom(wanted: list[Artifact], pinned: list[Artifact] | None = None) -> str:
    """A project that depends on these; `pinned` are versions for what they in turn depend on."""
    return f"""<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>penstock</groupId>
  <artifactId>jars</artifactId>
  <version>1</version>
  <dependencyManagement>
    <dependencies>{"".join(map(_dependency, pinned or []))}</dependencies>
  </dependencyManagement>
  <dependencies>{"".join(map(_dependency, wanted))}</dependencies>
</project>
"""


def is_installed() -> bool:
    return shutil.which("mvn") is not None


def fetch(project: str, cache: Path, only: tuple[str, ...] = ()) -> list[Path]:
    """The archives of a project and of all it needs, or only those of these names. Fetched when not in the cache."""
    folder = folder_of(project, cache, only)
    if not folder.exists():
        try:
            folder.parent.mkdir(parents=True, exist_ok=True)
            with locked_file(folder.with_suffix(".lock"), FETCH_S, "fetching the same archives", JarsMissing):
                if not folder.exists():
                    _fetch_into(folder, project, only)
        except OSError as error:
            raise JarsMissing(f"Java archives cannot be kept in {folder.parent}: {error}.") from error
    return sorted(folder.glob("*.jar"))


def folder_of(project: str, cache: Path, only: tuple[str, ...] = ()) -> Path:
    """Where they are once they have been fetched."""
    key = hashlib.sha256("\n".join([project, *only]).encode()).hexdigest()[:16]
    return cache.expanduser().absolute() / f"jars-{key}"


def _fetch_into(folder: Path, project: str, only: tuple[str, ...]) -> None:
    """Beside, then renamed: the folder is there as a whole or not at all."""
    for left in folder.parent.glob(f"{folder.name}.new-*"):
        shutil.rmtree(left, ignore_errors=True)
    work = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f"{folder.name}.new-"))
    try:
        (work / "pom.xml").write_text(project)
        _copy_dependencies(work, only)
        (work / "jars").rename(folder)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _copy_dependencies(work: Path, only: tuple[str, ...]) -> None:
    command = ["mvn", "-B", "-q", "-f", str(work / "pom.xml"), "dependency:copy-dependencies"]
    command += [f"-DoutputDirectory={work / 'jars'}", "-DincludeScope=runtime"]
    command += [f"-DincludeArtifactIds={','.join(only)}"] if only else []
    try:
        ran = subprocess.run(command, capture_output=True, text=True, timeout=FETCH_S, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise JarsMissing(f"Maven could not be run: {error}.") from error
    if ran.returncode != 0 or not any((work / "jars").glob("*.jar")):
        said = "\n  ".join((ran.stdout + ran.stderr).strip().splitlines()[-SAID_LINES:])
        raise JarsMissing(
            f"Maven could not fetch Java archives. See that it reaches its repository. It said:\n  {said}"
        )


def _dependency(artifact: Artifact) -> str:
    group, name, version = map(escape, artifact)
    return (
        f"\n    <dependency><groupId>{group}</groupId><artifactId>{name}</artifactId>"
        f"<version>{version}</version></dependency>"
    )
