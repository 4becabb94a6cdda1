"""A playbook's graph in a terminal: before it runs, and while it does."""

from penstock.catalog.entry import read
from penstock.catalog.playbook import PlaybookSpec
from penstock.cli.execution_tree import tree_lines
from penstock.cli.playbook_graph import mermaid, picture

FORKED = """
  - step: ask
    tool: {kind: approve, deadline_s: 5, escalate: boss}
    next: [{step: send, when: "{{ ask.ok }}"}, {step: ask, max_times: 3}]
    on_error: {step: boss}
  - {step: send, tool: {kind: noop}, next: end}
  - {step: boss, tool: {kind: noop}, next: end}
  - {step: end, tool: {kind: noop}}
"""


def _spec(workflow: str) -> PlaybookSpec:
    head = "apiVersion: penstock/v1\nkind: Playbook\nmetadata: {path: shop/forked}\nworkflow:"
    (entry,) = read(head + workflow, "forked.yaml")
    assert isinstance(entry.spec, PlaybookSpec)
    return entry.spec


def test_a_picture_says_what_leads_where() -> None:
    assert picture(_spec(FORKED)).splitlines() == [
        "ask  [approve]",
        "├─ if ask.ok: send  [noop]",
        "│  └─ end  [noop]  waits for 2 arcs",
        "├─ else, at most 3 times: ask ↑",
        "├─ on error: boss  [noop]  waits for 2 arcs",
        "│  └─ end ↑",
        "└─ nobody answered: boss ↑",
    ]


def test_a_flowchart_has_steps_named_as_mermaids_own_words() -> None:
    assert mermaid(_spec(FORKED)).splitlines() == [
        "flowchart TD",
        '  step_ask{{"ask<br/>approve"}}',
        '  step_send["send<br/>noop"]',
        '  step_boss["boss<br/>noop"]',
        '  step_end["end<br/>noop"]',
        '  step_ask -->|"if ask.ok"| step_send',
        '  step_ask -->|"else, at most 3 times"| step_ask',
        '  step_ask -.->|"on error"| step_boss',
        '  step_ask -.->|"nobody answered"| step_boss',
        "  step_send --> step_end",
        "  step_boss --> step_end",
    ]


def test_a_tree_says_how_far_each_step_is() -> None:
    assert [line.rstrip() for line in tree_lines(_spec(FORKED), [], "running")] == [
        "ask               not yet",
        "├─ send           not yet",
        "│  └─ end         not yet",
        "├─ ask ↑",
        "├─ (error) boss   not yet",
        "│  └─ end ↑",
        "└─ (late) boss ↑",
    ]


def test_a_line_of_a_thousand_steps_is_shown() -> None:
    steps = [f"  - {{step: s{n}, tool: {{kind: noop}}, next: s{n + 1}}}" for n in range(999)]
    spec = _spec("\n".join(["", *steps, "  - {step: s999, tool: {kind: noop}}"]))
    assert len(picture(spec).splitlines()) == len(tree_lines(spec, [], "running")) == 1000
