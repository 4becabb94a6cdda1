"""The documents' own examples, ways to change them, and what is said about the result."""

import copy
import json
from pathlib import Path
from typing import Any

from penstock.catalog.entry import Entry, read
from penstock.errors import SpecError
from penstock.model import Json

_HERE = Path(__file__).parent
EXAMPLES = {path.stem: path.read_text(encoding="utf-8") for path in (_HERE / "examples").glob("*.yaml")}
EVERY_KEY = (_HERE / "every_key.yaml").read_text(encoding="utf-8")
PLAYBOOK = """\
apiVersion: penstock/v1
kind: Playbook
metadata:
  name: process-order
  path: domain/process_order
workload: { retries: 3, region: eu, tags: [a, b] }
workflow:
  - step: process
    desc: Book the order
    tool: { kind: python, function: "shop.orders:process" }
    retry: { max_attempts: 7 }
    timeout_s: 60
    pool: priority
    lane: orders
    executor: PG_worker
"""
GONE: Any = object()


def entry(text: str) -> Entry:
    """The only entry of a file."""
    (only,) = read(text, "file.yaml")
    return only


def example(name: str) -> Json:
    return copy.deepcopy(entry(EXAMPLES[name]).content)


def playbook() -> Json:
    return copy.deepcopy(entry(PLAYBOOK).content)


def changed(document: Json, changes: dict[str, Any]) -> str:
    """The document with the values at these dotted paths put in, or taken out (GONE); JSON is YAML too."""
    document = copy.deepcopy(document)
    for path, value in changes.items():
        *way, last = [int(part) if part.isdigit() else part for part in path.split("/")]
        place: Any = document
        for part in way:
            place = place.setdefault(part, {}) if isinstance(place, dict) else place[part]
        if value is GONE:
            del place[last]
        else:
            place[last] = value
    return json.dumps(document, ensure_ascii=False)


def problems(text: str) -> list[str]:
    """What is wrong with a file, a line each, without the file's name; empty when it can be used."""
    try:
        read(text, "file.yaml")
    except SpecError as error:
        return [line.removeprefix("file.yaml:") for line in str(error).splitlines()]
    return []


def only_problem(text: str) -> str:
    (only,) = problems(text)
    return only
