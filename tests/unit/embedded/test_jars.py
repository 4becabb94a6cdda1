"""Java archives: fetched by Maven once, whoever asks."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from penstock.embedded import maven
from penstock.embedded.jars import NEEDED, cached_jars, kafka_jars, spark_options
from penstock.errors import JarsMissing
from tests.parts.jars import connector_jars
from tests.parts.missing import missing
from tests.unit.embedded.support import environment

__all__ = ["connector_jars"]

SMALL = [("com.google.code.findbugs", "jsr305", "3.0.2")]
FETCHING = f"""
import sys
from pathlib import Path
from penstock.embedded import maven
print(maven.fetch(maven.pom({SMALL!r}), Path(sys.argv[1])))
"""


@pytest.fixture
def with_maven(connector_jars: list[Path]) -> None:
    """Maven is here and reaches its repository."""


def test_without_maven_spark_is_told_what_to_fetch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    jars = kafka_jars(tmp_path)
    assert jars == "org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0"
    assert spark_options(jars) == {"spark.jars.packages": jars}


def test_the_connector_is_five_archives(connector_jars: list[Path]) -> None:
    assert len(connector_jars) == len(NEEDED)
    assert all(any(jar.name.startswith(name) for jar in connector_jars) for name in NEEDED)
    assert spark_options(connector_jars)["spark.jars"].count(",") == len(NEEDED) - 1


def test_a_connector_that_was_fetched_is_found_again_without_maven(
    connector_jars: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert cached_jars(connector_jars[0].parent.parent) == connector_jars
    assert cached_jars(tmp_path) == []


def test_two_processes_that_ask_at_once_get_the_same_and_leave_nothing_else(with_maven: None, tmp_path: Path) -> None:
    command = [sys.executable, "-c", FETCHING, str(tmp_path)]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment()) for _ in range(2)]
    said = [process.communicate(timeout=maven.FETCH_S)[0] for process in both]
    assert said[0] == said[1] != ""
    assert sorted(path.suffix for path in tmp_path.iterdir()) == ["", ".lock"]


def test_a_fetch_that_was_killed_is_done_again_and_one_that_was_not_is_not(
    with_maven: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (fetched,) = maven.fetch(maven.pom(SMALL), tmp_path)
    fetched.parent.rename(tmp_path / f"{fetched.parent.name}.new-killed")
    assert maven.fetch(maven.pom(SMALL), tmp_path) == [fetched]
    assert not list(tmp_path.glob("*.new-*"))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert maven.fetch(maven.pom(SMALL), tmp_path) == [fetched]


def test_what_does_not_exist_is_missing_and_leaves_nothing(with_maven: None, tmp_path: Path) -> None:
    with pytest.raises(JarsMissing, match=r"Maven could not fetch(.|\n)*no-such-artifact"):
        maven.fetch(maven.pom([("org.example", "no-such-artifact", "1")]), tmp_path)
    assert [path.suffix for path in tmp_path.iterdir()] == [".lock"]


def test_a_part_that_cannot_be_had_skips_unless_all_are_required(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PENSTOCK_REQUIRE_PARTS", raising=False)
    with pytest.raises(pytest.skip.Exception, match="because"):
        missing("because")
    monkeypatch.setitem(os.environ, "PENSTOCK_REQUIRE_PARTS", "1")
    with pytest.raises(pytest.fail.Exception, match="because"):
        missing("because")
