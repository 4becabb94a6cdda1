"""Playbooks: what is read, and what is refused in words."""

from typing import Any

import pytest

from penstock.catalog.playbook import PlaybookSpec
from penstock.catalog.steps import Arc, Backoff, Loop, Step
from penstock.catalog.tools import Tool
from penstock.errors import SpecError
from tests.unit.catalog.files import GONE, PLAYBOOK, changed, entry, only_problem, playbook

STEP = "workflow/0"
DRAIN = {"kind": "subscription", "operation": "poll", "source": "nats", "auth": "a", "stream": "S", "consumer": "c"}
KAFKA_DRAIN = {"kind": "subscription", "operation": "poll", "source": "kafka", "auth": "a", "topic": "t"}


def test_a_playbook_with_everything() -> None:
    assert entry(PLAYBOOK).spec == PlaybookSpec(
        name="process-order",
        path="domain/process_order",
        workflow=(
            Step(
                step="process",
                tools=(Tool("python", {"function": "shop.orders:process"}),),
                desc="Book the order",
                max_attempts=7,
                timeout_s=60,
                pool="priority",
                lane="orders",
                executor="PG_worker",
            ),
        ),
        workload={"retries": 3, "region": "eu", "tags": ["a", "b"]},
    )


def test_the_least_a_playbook_can_be() -> None:
    text = "{apiVersion: penstock/v1, kind: Playbook, metadata: {path: a}, workflow: [{step: b, tool: {kind: noop}}]}"
    assert entry(text).spec == PlaybookSpec("a", "a", (Step("b", (Tool("noop"),)),))


def test_a_playbook_says_which_pools_it_uses() -> None:
    spec = entry(PLAYBOOK).spec
    assert (spec.pools(), spec.playbooks(), spec.credentials()) == (("priority",), (), ())


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"workflow": []}, "workflow: expected a list of 1 to 1,000 items, found an empty one"),
        ({"workflow": GONE}, "workflow: is missing"),
        (
            {"workflow": [{"step": name, "tool": {"kind": "noop"}} for name in "ab"]},
            "workflow[1].step: no arc leads to b",
        ),
        (
            {"workflow": [{"step": "a", "tool": {"kind": "noop"}} for _ in "ab"]},
            "workflow[1].step: a is the name of another step too",
        ),
        ({f"{STEP}/step": GONE}, "workflow[0].step: is missing"),
        ({f"{STEP}/step": "2nd step"}, "workflow[0].step: expected a step's name"),
        ({f"{STEP}/tool": GONE}, "workflow[0].tool: is missing"),
        ({f"{STEP}/tool": "noop"}, "workflow[0].tool: expected a mapping, found 'noop'"),
        ({f"{STEP}/tool": []}, "workflow[0].tool: expected a list of 1 to 20 items, found an empty one"),
        ({f"{STEP}/tool": [{"kind": "noop"}]}, "workflow[0].tool[0].name: is missing"),
        (
            {f"{STEP}/tool": [{"kind": "wait", "name": "a", "seconds": 1}, {"kind": "noop", "name": "b"}]},
            "workflow[0].tool: wait can only be the last of a list",
        ),
        (
            {f"{STEP}/tool": DRAIN | {"operation": "fetch"}},
            "tool.operation: expected poll, ack, nack or term, found 'fetch'",
        ),
        ({f"{STEP}/tool": DRAIN | {"source": "webhook"}}, "tool.source: expected nats, kafka or pubsub"),
        ({f"{STEP}/tool": DRAIN | {"topic": "a"}}, "tool.topic: belongs to source: kafka, and this one is nats"),
        ({f"{STEP}/tool": DRAIN | {"handles": "a"}}, "tool.handles: belongs to ack, nack and term"),
        ({f"{STEP}/tool": DRAIN | {"ack": "later"}}, "tool.ack: expected on_success, auto, manual, defer or none"),
        ({f"{STEP}/tool": DRAIN | {"operation": "ack"}}, "tool.handles: is missing: which messages"),
        (
            {f"{STEP}/tool": DRAIN | {"operation": "ack", "handles": "a", "batch": 5}},
            "tool.batch: belongs to operation: poll",
        ),
        ({f"{STEP}/tool": KAFKA_DRAIN}, "tool.group: is missing: the consumer group whose offset"),
        (
            {f"{STEP}/tool": KAFKA_DRAIN | {"group": "g", "operation": "term", "handles": "a"}},
            "tool.operation: Kafka cannot drop one message of a topic: ack it to go over it",
        ),
        (
            {f"{STEP}/tool": [DRAIN | {"name": "a"}, {"kind": "wait", "seconds": 1, "name": "b"}]},
            "workflow[0].tool: poll and wait cannot be in one list",
        ),
        (
            {f"{STEP}/tool": [KAFKA_DRAIN | {"group": "g", "name": name} for name in "ab"]},
            "workflow[0].tool: two polls of the Kafka group g in one list would give the same messages",
        ),
        ({f"{STEP}/tool/kind": "shell"}, "workflow[0].tool.kind: expected noop, python, http, postgres,"),
        ({f"{STEP}/tool": {"kind": "http"}}, "workflow[0].tool.url: is missing"),
        (
            {f"{STEP}/tool": {"kind": "postgres", "auth": "a", "statement": "select {{ workload.x }}"}},
            "workflow[0].tool.statement: values are not written into a statement",
        ),
        ({f"{STEP}/tool": {"kind": "wait"}}, "workflow[0].tool: wait has either until, a time, or seconds"),
        ({f"{STEP}/tool/kind": "noop"}, "workflow[0].tool.function: noop calls nothing"),
        ({f"{STEP}/tool/function": GONE}, "workflow[0].tool.function: is missing: python needs the import path"),
        ({f"{STEP}/tool/function": "shop.orders"}, "workflow[0].tool.function: expected the import path of a function"),
        ({f"{STEP}/tool/function": "{{ f }}"}, "found the template '{{ f }}'"),
        ({f"{STEP}/tool/code": "print()"}, "workflow[0].tool.function: a python tool has a function or code, not both"),
        (
            {f"{STEP}/lane": "{{ message.device }}"},
            "workflow[0].lane: expected a lane of 1 to 500 characters, found the template",
        ),
        (
            {f"{STEP}/desc": "{% if x %}"},
            "workflow[0].desc: expected text of at most 2,000 characters, found the template",
        ),
        (
            {"workload/tags": [{"deep": "{{ x }}"}]},
            "workload.tags[0].deep: expected the values themselves, found the template '{{ x }}'",
        ),
        ({"workload": [1]}, "workload: expected a mapping, found a list"),
        ({f"{STEP}/next": "b"}, "workflow[0].next: b is no step of this playbook; its steps are process"),
        (
            {f"{STEP}/next": "process"},
            "workflow[0].next: the cycle of process has no bound",
        ),
        ({f"{STEP}/on_error": {"step": "b"}}, "workflow[0].on_error: b is no step of this playbook"),
        (
            {f"{STEP}/on_error": "ignore"},
            "workflow[0].on_error: expected fail, continue or {step: NAME}, found 'ignore'",
        ),
        ({f"{STEP}/when": "x"}, "workflow[0].when: expected true, false or an expression"),
        ({f"{STEP}/when": "it is {{ workload.x }}"}, "workflow[0].when: expected one expression in {{ }}"),
        ({f"{STEP}/args": [1]}, "workflow[0].args: expected a mapping, found a list"),
        (
            {f"{STEP}/args": {"a": "{{ nobody.x }}"}},
            "workflow[0].args.a: the template '{{ nobody.x }}': nobody is unknown",
        ),
        ({f"{STEP}/args": {"a": "{{ process.x }}"}}, "process does not come before process"),
        ({f"{STEP}/args": {"a": "{{ workload.__class__ }}"}}, "the attribute __class__ cannot be touched"),
        ({f"{STEP}/args": {"a": "{{ 1 + }}"}}, "is no template that can be read"),
        ({f"{STEP}/loop": {"in": "abc"}}, "workflow[0].loop.in: expected a list, or a template that gives one"),
        (
            {
                "workflow": [
                    {"step": "workload", "tool": {"kind": "noop"}, "next": "b"},
                    {"step": "b", "tool": {"kind": "noop"}},
                ]
            },
            "workflow[0].step: workload means something else in templates",
        ),
        (
            {f"{STEP}/retry": {"max_attempts": 0}},
            "workflow[0].retry.max_attempts: expected a whole number from 1 to 1,000, found 0",
        ),
        ({f"{STEP}/retry": {"max_attempts": 1001}}, "from 1 to 1,000, found 1001"),
        ({f"{STEP}/retry": 3}, "workflow[0].retry: expected a mapping, found 3"),
        ({f"{STEP}/retry/backoff": "fast"}, "workflow[0].retry.backoff: expected a mapping, found 'fast'"),
        (
            {f"{STEP}/timeout_s": "1h"},
            "workflow[0].timeout_s: expected a whole number of seconds from 1 to 604,800, found '1h'",
        ),
        ({f"{STEP}/pool": "Fast Lane"}, "workflow[0].pool: expected a pool's name"),
        ({f"{STEP}/executor": "MOT"}, "workflow[0].executor: MOT hands out work and never does any"),
        ({f"{STEP}/executor": "nobody"}, "workflow[0].executor: expected PG_worker, DOT,"),
        ({f"{STEP}/tmeout_s": 5}, "workflow[0].tmeout_s: is no key here: did you mean timeout_s?"),
        ({"spec": {}}, "spec: is no key here"),
        ({"metadata/path": "/x"}, "metadata.path: expected a path such as domain/process_order"),
        (
            {"metadata/name": ""},
            "metadata.name: expected a name of at most 200 characters, on one line, found an empty text",
        ),
        ({"apiVersion": "v1"}, "apiVersion: expected penstock/v1, noetl.io/v1 or noetl.io/v2, found 'v1'"),
        ({"kind": "playbook"}, "kind: expected Playbook or Subscription, found 'playbook'"),
    ],
)
def test_what_is_wrong_is_refused_in_words(changes: dict[str, Any], words: str) -> None:
    assert words in only_problem(changed(playbook(), changes))


MANY = """\
apiVersion: penstock/v1
kind: Playbook
metadata: {path: shop/order}
start: read
workflow:
  - {step: done, tool: {kind: noop}}
  - step: read
    tool: {kind: python, function: "shop:read"}
    args: {id: "{{ workload.id }}"}
    next: [{step: each, when: "{{ read.lines }}", args: {a: 1}}, {step: done}]
    retry: {backoff: {strategy: fixed, base_ms: 10}}
  - step: each
    tool: [{name: one, kind: noop}, {name: ask, kind: approve, deadline_s: 60}]
    loop: {in: "{{ read.lines }}", iterator: line, mode: parallel, max_in_flight: 5}
    when: "{{ workload.id > 0 }}"
    on_error: continue
    next: done
"""


def test_a_playbook_of_many_steps() -> None:
    spec = entry(MANY).spec
    assert isinstance(spec, PlaybookSpec)
    assert spec.steps["read"] == Step(
        "read",
        (Tool("python", {"function": "shop:read"}),),
        args={"id": "{{ workload.id }}"},
        next=(Arc("each", "{{ read.lines }}", {"a": 1}), Arc("done")),
        is_choice=True,
        backoff=Backoff("fixed", 10, 600_000),
    )
    each = spec.steps["each"]
    assert (each.loop, each.job_kind, each.late_step, each.on_error) == (
        Loop("{{ read.lines }}", "line", "parallel", 5),
        "tool:list",
        None,
        "continue",
    )
    assert (spec.graph.start, len(spec.graph.waits_for("done"))) == ("read", 2)


def test_a_loop_does_not_escalate_item_by_item() -> None:
    text = MANY.replace("deadline_s: 60}", "deadline_s: 60, escalate: done}")
    with pytest.raises(SpecError, match=r"workflow\[2\].tool: escalate and loop do not go together"):
        entry(text)


def _forked(branch: str, reads: str = "a.x") -> str:
    """Two branches that c waits for; one of its arcs reads what the first has given back."""
    return f"""
apiVersion: penstock/v1
kind: Playbook
metadata: {{path: forked}}
workflow:
  - {{step: one, tool: {{kind: noop}}, next: [a, b]}}
  - {{step: a, {branch}, next: c}}
  - {{step: b, tool: {{kind: noop}}, next: c}}
  - {{step: c, tool: {{kind: noop}}, next: [{{step: d, when: "{{{{ {reads} == 1 }}}}"}}, {{step: z}}]}}
  - {{step: d, tool: {{kind: noop}}}}
  - {{step: z, tool: {{kind: noop}}}}
"""


@pytest.mark.parametrize(
    "branch",
    [
        'when: "{{ workload.go }}", tool: {kind: noop}',
        "on_error: {step: z}, tool: {kind: noop}",
        "tool: {kind: approve, deadline_s: 60, escalate: z}",
    ],
)
def test_an_arc_reads_no_branch_that_may_come_to_nothing(branch: str) -> None:
    assert "a may not have run when this is decided" in only_problem(_forked(branch))
    entry(_forked(branch, reads="b.x"))


@pytest.mark.parametrize("on_error", ["fail", "continue"])
def test_an_arc_reads_a_branch_that_is_waited_for(on_error: str) -> None:
    entry(_forked(f"on_error: {on_error}, tool: {{kind: noop}}"))
