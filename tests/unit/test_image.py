"""What deploy/cloud-run makes an image of: named one by one, pinned, and no more than a runtime needs."""

import re
import runpy

from tests.tree import ROOT, text

FOLDER = ROOT / "deploy" / "cloud-run"
LOCK = runpy.run_path(str(FOLDER / "lock.py"))


def test_the_image_has_the_versions_and_hashes_of_the_tests_and_only_what_is_needed() -> None:
    every, image = (LOCK["pins"](text(place / "requirements.lock")) for place in (ROOT, FOLDER))
    assert image == {name: every[name] for name in LOCK["needed"]()}, "run: .venv/bin/python deploy/cloud-run/lock.py"
    assert {"pyspark", "psycopg", "setuptools"} <= set(image)
    assert set(image).isdisjoint({"pytest", "mypy", "schemathesis", "hypothesis", "ruff"})


def test_what_is_copied_into_an_image_is_named() -> None:
    _, build, image = text(FOLDER / "Containerfile").split("\nFROM ")
    copied = " ".join(re.findall(r"^COPY (.+) \S+$", build, re.MULTILINE)).split()
    assert copied == ["pyproject.toml", "README.md", "LICENSE", "src", "deploy/cloud-run"]
    # of the first stage only what it has made: the sources, and what was fetched to build them, stay behind
    made = re.findall(r"^COPY (.+) \S+$", image, re.MULTILINE)
    assert [one.split()[-1] for one in made] == ["/app", "/penstock", "/src/deploy/cloud-run/entry.sh"]
    assert all(one.startswith("--from=build ") for one in made)


def test_nothing_else_is_sent_to_whoever_builds_it() -> None:
    lines = [line for line in text(ROOT / ".dockerignore").splitlines() if not line.startswith("#")]
    assert lines[0] == "*"
    assert {line[1:] for line in lines if line.startswith("!")} == {
        "pyproject.toml", "README.md", "LICENSE", "src", "deploy/cloud-run"
    }  # fmt: skip
