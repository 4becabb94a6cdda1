"""`kind: Playbook`: what an execution runs. This version runs playbooks of one step."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from penstock.catalog import names
from penstock.catalog.reading import Reader
from penstock.catalog.values import is_template, one_of, seconds, shown, whole

EXECUTORS = ("PG_worker", "DOT", "Agent", "Hermes", "Codex", "external_worker", "future_Kestra_adapter")
_NOW = "this version runs playbooks of one step, with the tool noop or python"
_LATER_STEPS = f"comes with playbooks of several steps; {_NOW}"
_LATER = {
    **dict.fromkeys(("next", "when", "loop", "on_error", "downstream"), _LATER_STEPS),
    "args": f"comes with templates; {_NOW}, which gets the execution's whole input",
}
_LATER_TOOLS = ("http", "postgres", "spark", "playbook", "event", "wait", "approve", "email", "subscription")
_TOOL = one_of(
    "noop",
    "python",
    others={tool: f"the tool {tool} comes with a later version; {_NOW}" for tool in _LATER_TOOLS},
)
_EXECUTOR = one_of(*EXECUTORS, others={"MOT": "MOT hands out work and never does any: use PG_worker"})
_WEEK_S = 7 * 86_400


@dataclass(frozen=True)
class Tool:
    """What a step calls; `function` is the import path of the python tool."""

    kind: str
    function: str | None = None


@dataclass(frozen=True)
class Step:
    step: str
    tool: Tool
    desc: str | None = None
    max_attempts: int | None = None
    timeout_s: int | None = None
    pool: str | None = None
    lane: str | None = None
    executor: str = "PG_worker"


@dataclass(frozen=True)
class PlaybookSpec:
    """A playbook as the program uses it; `workload` holds the defaults of an execution's input."""

    name: str
    path: str
    workflow: tuple[Step, ...]
    workload: Mapping[str, Any] = field(default_factory=dict)

    def playbooks(self) -> tuple[str, ...]:
        """Every other playbook it may start."""
        return ()

    def pools(self) -> tuple[str, ...]:
        """Every pool it may put work into, sorted."""
        return tuple(sorted({step.pool for step in self.workflow if step.pool}))

    def credentials(self) -> tuple[str, ...]:
        """The aliases it needs."""
        return ()


def read_playbook(name: str, path: str, document: Reader) -> PlaybookSpec:
    """The spec of a document whose head is read already; only to be used if no problem was noted."""
    workload = document.take_data("workload")
    template = next((text for text in _texts(workload) if is_template(text)), None)
    if template is not None:
        document.refuse("workload", f"expected the values themselves, found {shown(template)}")
    steps = document.inside_each("workflow", most=1000, required=True)
    if len(steps) > 1:
        document.refuse("workflow", f"has {len(steps)} steps: {_NOW}")
    return PlaybookSpec(name, path, tuple(_step(step) for step in steps), workload)


def _step(block: Reader) -> Step:
    block.refuse_any(_LATER)
    step = Step(
        step=block.take("step", names.step),
        tool=_tool(block),
        desc=block.take("desc", names.sentence, None),
        max_attempts=_max_attempts(block.inside_if_any("retry")),
        timeout_s=block.take("timeout_s", seconds(_WEEK_S), None),
        pool=block.take("pool", names.pool, None),
        lane=block.take("lane", names.lane, None),
        executor=block.take("executor", _EXECUTOR, Step.executor),
    )
    block.close()
    return step


def _tool(step: Reader) -> Tool:
    if step.holds_list("tool"):
        step.refuse("tool", f"is a list of tools, which comes with a later version; {_NOW}")
        return Tool("noop")
    block = step.inside("tool")
    kind = block.take("kind", _TOOL)
    block.refuse_any({"code": f"code within a playbook comes with a later version: name a function instead; {_NOW}"})
    block.refuse_any({"args": _LATER["args"]})
    if kind == "python":
        block.require("function", "is missing: python needs the import path of a function, such as shop.orders:process")
    elif kind == "noop":
        block.refuse_any({"function": "noop calls nothing: leave it out, or use kind: python"})
    else:
        block.ignore_all()
    function = block.take("function", names.function, None)
    block.close()
    return Tool(kind, function)


def _max_attempts(block: Reader | None) -> int | None:
    if block is None:
        return None
    block.refuse_any(
        {"backoff": f"is set for all jobs by queue.retry.backoff.*; its own comes with a later version; {_NOW}"}
    )
    attempts = block.take("max_attempts", whole(1, 1000))
    block.close()
    return attempts


def _texts(data: Any) -> Iterator[str]:
    """Every text of a tree of data."""
    if isinstance(data, str):
        yield data
    elif isinstance(data, Mapping | list):
        for one in data.values() if isinstance(data, Mapping) else data:
            yield from _texts(one)
