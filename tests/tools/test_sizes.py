"""What data takes as JSON in PostgreSQL is never underestimated, and hardly overestimated."""

import json
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from penstock.kernel.connection import Connection
from penstock.worker.tools.sizes import kept_bytes

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(-(10**60), 10**60)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
)
DATA = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(codec="ascii", min_codepoint=32)), inner),
    max_leaves=50,
)


@given(DATA)
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_it_takes_no_more_than_that(db: Connection, value: Any) -> None:
    row = db.execute("select octet_length((%s::jsonb)::text)", [json.dumps(value)]).fetchone()
    assert row is not None
    # true is shorter than false, and some numbers have zeros that PostgreSQL leaves away
    assert row[0] <= kept_bytes(value) <= 2 * row[0] + 8
