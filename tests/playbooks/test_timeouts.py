"""A step's own timeout and its kind's: what cannot hold is said when the playbook is registered."""

import pytest

from penstock.errors import BadRequest, UnknownPlaybook
from penstock.kernel import catalog
from penstock.kernel.connection import Connection
from tests.playbooks.support import playbook
from tests.sql.support import configure

ONE = "  - {step: a, tool: {kind: noop}, timeout_s: %s}"
LATER = "  - {step: a, tool: {kind: noop}, next: b}\n  - {step: b, tool: {kind: noop}, timeout_s: %s}"
LISTED = "  - {step: a, tool: [{name: x, kind: noop}, {name: y, kind: noop}], timeout_s: %s}"
SPARK = '  - {step: a, tool: {kind: spark, function: "shop:sum"}, timeout_s: %s}'
HTTP = "  - {step: a, timeout_s: 60, tool: {kind: http, url: 'https://shop.example', timeout_s: %s}}"
HTTP_LISTED = (
    "  - {step: a, tool: [{name: x, kind: noop}, {name: y, kind: http, url: 'https://shop.example', timeout_s: %s}]}"
)


@pytest.mark.parametrize(
    ("workflow", "place", "step", "kind", "most_s"),
    [
        (ONE, "5: workflow[0].timeout_s", "a", "tool:noop", 900),
        (LATER, "6: workflow[1].timeout_s", "b", "tool:noop", 900),
        (LISTED, "5: workflow[0].timeout_s", "a", "tool:list", 900),
        (SPARK, "5: workflow[0].timeout_s", "a", "tool:spark", 21600),
        (HTTP, "5: workflow[0].tool.timeout_s", "a", "tool:http", 900),
        (HTTP_LISTED, "5: workflow[0].tool[1].timeout_s", "a", "tool:list", 900),
    ],
)
def test_a_step_cannot_ask_for_more_time_than_its_kind_has(
    db: Connection, workflow: str, place: str, step: str, kind: str, most_s: int
) -> None:
    with pytest.raises(BadRequest) as caught:
        playbook(db, workflow % (most_s + 1))
    assert str(caught.value) == (
        f"playbook.yaml:{place}: flow: timeout_s of {step} is {most_s + 1}, "
        f"and a job of its kind, {kind}, ends after {most_s} s\n"
        f"Lower it, or first: penstock config set queue.timeout_ms.{kind} {most_s + 1}000"
    )
    with pytest.raises(UnknownPlaybook):
        catalog.entry(db, "flow")
    playbook(db, workflow % most_s)


def test_a_kind_that_has_more_time_lets_its_steps_have_it(db: Connection) -> None:
    configure(db, "queue.timeout_ms.tool:noop", "7200000")
    playbook(db, ONE % 7200)
    # what is registered already stays so, whatever the setting says now
    configure(db, "queue.timeout_ms.tool:noop", "1500")
    playbook(db, ONE % 7200)
    with pytest.raises(BadRequest, match=r"ends after 1\.5 s"):
        playbook(db, LATER % 2)
