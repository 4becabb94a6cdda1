"""Playbooks of one step, and what this version says of the rest."""

from typing import Any

import pytest

from penstock.catalog.playbook import PlaybookSpec, Step, Tool
from tests.unit.catalog.files import GONE, PLAYBOOK, changed, entry, only_problem, playbook

STEP = "workflow/0"


def test_a_playbook_with_everything() -> None:
    assert entry(PLAYBOOK).spec == PlaybookSpec(
        name="process-order",
        path="domain/process_order",
        workflow=(
            Step(
                step="process",
                tool=Tool("python", "shop.orders:process"),
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
    assert entry(text).spec == PlaybookSpec("a", "a", (Step("b", Tool("noop")),))


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
            "workflow: has 2 steps: this version runs",
        ),
        ({f"{STEP}/step": GONE}, "workflow[0].step: is missing"),
        ({f"{STEP}/step": "2nd step"}, "workflow[0].step: expected a step's name"),
        ({f"{STEP}/tool": GONE}, "workflow[0].tool: is missing"),
        ({f"{STEP}/tool": "noop"}, "workflow[0].tool: expected a mapping, found 'noop'"),
        (
            {f"{STEP}/tool": [{"kind": "noop"}]},
            "workflow[0].tool: is a list of tools, which comes with a later version",
        ),
        (
            {f"{STEP}/tool/kind": "http"},
            "workflow[0].tool.kind: the tool http comes with a later version; this version runs",
        ),
        ({f"{STEP}/tool/kind": "shell"}, "workflow[0].tool.kind: expected noop or python, found 'shell'"),
        ({f"{STEP}/tool/kind": "noop"}, "workflow[0].tool.function: noop calls nothing"),
        ({f"{STEP}/tool/function": GONE}, "workflow[0].tool.function: is missing: python needs the import path"),
        ({f"{STEP}/tool/function": "shop.orders"}, "workflow[0].tool.function: expected the import path of a function"),
        ({f"{STEP}/tool/function": "{{ f }}"}, "found the template '{{ f }}' (templates come with a later version)"),
        ({f"{STEP}/tool/code": "print()"}, "workflow[0].tool.code: code within a playbook comes with a later version"),
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
            "workload: expected the values themselves, found the template '{{ x }}'",
        ),
        ({"workload": [1]}, "workload: expected a mapping, found a list"),
        ({f"{STEP}/next": "b"}, "workflow[0].next: comes with playbooks of several steps; this version runs"),
        ({f"{STEP}/when": "x"}, "workflow[0].when: comes with playbooks of several steps"),
        ({f"{STEP}/args": {"a": 1}}, "workflow[0].args: comes with templates"),
        (
            {f"{STEP}/retry": {"max_attempts": 0}},
            "workflow[0].retry.max_attempts: expected a whole number from 1 to 1,000, found 0",
        ),
        ({f"{STEP}/retry": {"max_attempts": 1001}}, "from 1 to 1,000, found 1001"),
        ({f"{STEP}/retry": 3}, "workflow[0].retry: expected a mapping, found 3"),
        ({f"{STEP}/retry/backoff": "fast"}, "workflow[0].retry.backoff: is set for all jobs by queue.retry.backoff.*"),
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
def test_what_this_version_does_not_run_is_refused_in_words(changes: dict[str, Any], words: str) -> None:
    assert words in only_problem(changed(playbook(), changes))
