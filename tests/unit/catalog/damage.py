"""Documents with something wrong in them: values replaced, taken out, or found under another key."""

import json
import re
from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from penstock.model import Json
from tests.unit.catalog.files import EVERY_KEY, EXAMPLES, PLAYBOOK

# words of all files, so that values land where they do not belong
WORDS = sorted({word for text in (*EXAMPLES.values(), PLAYBOOK, EVERY_KEY) for word in re.findall(r"[\w./*-]+", text)})

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(max_size=12)
    | st.sampled_from(WORDS),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS) | st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)


@st.composite
def damaged(draw: st.DrawFn, contents: Sequence[Json]) -> Json:
    """One of these documents, damaged in one to three places."""
    content: Json = json.loads(json.dumps(draw(st.sampled_from(contents))))
    for _ in range(draw(st.integers(1, 3))):
        _damage(draw, content)
    return content


def _damage(draw: st.DrawFn, content: Json) -> None:
    place: Any = content
    while True:
        keys = sorted(place) if isinstance(place, dict) else list(range(len(place)))
        if not keys:
            return
        key = draw(st.sampled_from(keys))
        if not isinstance(place[key], dict | list) or draw(st.integers(0, 3)) == 0:
            break
        place = place[key]
    what = draw(st.sampled_from(["replace", "replace", "remove", "rename", "add"]))
    if what == "replace":
        place[key] = draw(json_values)
    elif what == "remove":
        del place[key]
    elif isinstance(place, dict):
        value = place.pop(key) if what == "rename" else draw(json_values)
        place[draw(st.sampled_from(WORDS))] = value
