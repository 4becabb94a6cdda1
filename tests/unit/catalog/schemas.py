"""The published schemas beside the code that reads catalog files: what each says of a document."""

import json
import re
from collections.abc import Iterator
from typing import Any

from jsonschema import Draft202012Validator, ValidationError
from jsonschema.validators import extend

from penstock.catalog.entry import spec_of
from penstock.catalog.yaml import documents, plain
from penstock.errors import SpecError
from penstock.model import Json
from tests.tree import ROOT
from tests.unit.catalog.files import EVERY_KEY, EXAMPLES, PLAYBOOK

KINDS = ("Playbook", "Subscription")
SCHEMAS: dict[str, Json] = {
    kind: json.loads((ROOT / "docs" / f"{kind.lower()}.schema.json").read_text(encoding="utf-8")) for kind in KINDS
}
Place = tuple[str | int, ...]


def _pattern(_validator: Any, pattern: str, value: Any, _schema: Any) -> Iterator[ValidationError]:
    """As editors read it: in their regular expressions $ is the end, and never before a last line break."""
    if isinstance(value, str) and not re.search(re.sub(r"\$(?=$|\))", r"\\Z", pattern), value):
        yield ValidationError(f"{value[:60]!r} does not match {pattern}")


_Validator: Any = extend(Draft202012Validator, {"pattern": _pattern})  # type: ignore[no-untyped-call]
_VALIDATORS = {kind: _Validator(schema) for kind, schema in SCHEMAS.items()}


def contents(text: str) -> list[Json]:
    """The documents of a file as plain data."""
    return [plain(document.root) for document in documents(text)]


def kind_of(content: Json) -> str:
    """What a document was before it was damaged."""
    return "Playbook" if "workflow" in content else "Subscription"


def part_of(error: ValidationError) -> Json:
    """The part of the schema that a document does not fit."""
    assert isinstance(error.schema, dict)
    return error.schema


def misfits(content: Json) -> list[ValidationError]:
    """What the schema has against a document."""
    return list(_VALIDATORS[kind_of(content)].iter_errors(content))


def fits(content: Json) -> bool:
    return bool(_VALIDATORS[kind_of(content)].is_valid(content))


def refusals(content: Json) -> list[str]:
    """What the reader has against a document."""
    try:
        spec_of(kind_of(content), content)
    except SpecError as error:
        return str(error).splitlines()
    return []


def replaced(content: Any, place: Place, value: Any) -> Any:
    """The document with another value at a place; what is not on the way there is shared."""
    if not place:
        return value
    copied: Any = dict(content) if isinstance(content, dict) else list(content)
    copied[place[0]] = replaced(content[place[0]], place[1:], value)
    return copied


def places(value: Any, above: Place = ()) -> Iterator[tuple[Place, Any]]:
    """Every value within a document, and where it stands."""
    yield above, value
    if isinstance(value, dict | list):
        for key, one in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(one, (*above, key))


def mappings(schema: Any) -> Iterator[Json]:
    """Every part of a schema that describes the keys of a mapping."""
    for _, part in places(schema):
        if isinstance(part, dict) and part.get("additionalProperties") is False:
            yield part


WHOLE = contents(EVERY_KEY)
SMALL = [*WHOLE, *contents(PLAYBOOK), *(one for text in EXAMPLES.values() for one in contents(text))]
