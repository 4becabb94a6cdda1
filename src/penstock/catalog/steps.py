"""One step of a playbook: what it calls, with what, when, how often, and where it goes on."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from penstock.catalog import names
from penstock.catalog.reading import Reader
from penstock.catalog.templates import condition, templated, texts
from penstock.catalog.tools import Tool, read_tools
from penstock.catalog.values import Unfit, milliseconds, one_of, seconds, whole

EXECUTORS = ("PG_worker", "DOT", "Agent", "Hermes", "Codex", "external_worker", "future_Kestra_adapter")
_EXECUTOR = one_of(*EXECUTORS, others={"MOT": "MOT hands out work and never does any: use PG_worker"})
_WEEK_S = 7 * 86_400
_DAY_MS = 86_400_000
_MOST_ARCS = 100
# keys and numbers of items, from a step down to a value
Way = tuple[str | int, ...]
_NEXT = "a step's name, a list of names, or a list of {step, when, args, max_times}"


@dataclass(frozen=True)
class Arc:
    """Where a step goes on. `max_times` bounds how often one execution takes it."""

    step: str
    when: str | bool | None = None
    args: Mapping[str, Any] = field(default_factory=dict)
    max_times: int | None = None


@dataclass(frozen=True)
class Loop:
    """Run the step once for each item of a list."""

    items: str | list[Any]
    iterator: str = "iter"
    mode: str = "sequential"
    max_in_flight: int | None = None

    @property
    def at_once(self) -> int | None:
        """How many items may be under way together; None for all."""
        return 1 if self.mode == "sequential" else self.max_in_flight


@dataclass(frozen=True)
class Backoff:
    strategy: str
    base_ms: int
    cap_ms: int


@dataclass(frozen=True)
class Step:
    step: str
    tools: tuple[Tool, ...]
    desc: str | None = None
    args: Mapping[str, Any] = field(default_factory=dict)
    when: str | bool | None = None
    loop: Loop | None = None
    next: tuple[Arc, ...] = ()
    # one of the arcs is taken, the first that holds; else all of them
    is_choice: bool = False
    max_attempts: int | None = None
    backoff: Backoff | None = None
    timeout_s: int | None = None
    on_error: Literal["fail", "continue", "step"] = "fail"
    error_step: str | None = None
    pool: str | None = None
    lane: str | None = None
    executor: str = "PG_worker"
    downstream: str | None = None

    @property
    def tool(self) -> Tool:
        """The only one, or the last of a list."""
        return self.tools[-1]

    @property
    def job_kind(self) -> str:
        """What its jobs are claimed by."""
        return f"tool:{self.tools[0].kind}" if len(self.tools) == 1 else "tool:list"

    @property
    def late_step(self) -> str | None:
        """Where it goes on when nobody has answered in time."""
        escalate: str | None = self.tool.settings.get("escalate")
        return escalate

    def templates(self) -> Iterator[tuple[Way, frozenset[str]]]:
        """The templates the step itself uses, by the keys and items that lead to them; the arcs' are theirs."""
        yield from _used(("args",), self.args)
        yield from _used(("when",), self.when)
        yield from _used(("loop", "in"), self.loop.items if self.loop else None)
        for nth, tool in enumerate(self.tools):
            for key, value in tool.templates.items():
                yield from _used(("tool", nth, key), value)

    def arc_templates(self) -> Iterator[tuple[Way, frozenset[str]]]:
        """The templates that decide where it goes on, or are handed over there."""
        for nth, arc in enumerate(self.next):
            yield from _used(("next", nth, "when"), arc.when)
            yield from _used(("next", nth, "args"), arc.args)


def _used(way: Way, value: Any) -> Iterator[tuple[Way, frozenset[str]]]:
    if found := frozenset(texts(value)):
        yield way, found


def read_step(block: Reader) -> Step:
    on_error, error_step = _on_error(block)
    arcs, is_choice = _next(block)
    retry = block.inside_if_any("retry")
    step = Step(
        step=block.take("step", names.step),
        tools=read_tools(block),
        desc=block.take("desc", names.sentence, None),
        args=_args(block),
        when=block.take("when", condition, None),
        loop=_loop(block.inside_if_any("loop")),
        next=arcs,
        is_choice=is_choice,
        max_attempts=None if retry is None else retry.take("max_attempts", whole(1, 1000), None),
        backoff=None if retry is None else _backoff(retry.inside_if_any("backoff")),
        timeout_s=block.take("timeout_s", seconds(_WEEK_S), None),
        on_error=on_error,
        error_step=error_step,
        pool=block.take("pool", names.pool, None),
        lane=block.take("lane", names.lane, None),
        executor=block.take("executor", _EXECUTOR, Step.executor),
        downstream=block.take("downstream", names.alias, None),
    )
    block.unused("downstream")
    if retry is not None:
        retry.close()
    block.close()
    return step


def _args(block: Reader) -> Mapping[str, Any]:
    if block.has("args") and not block.holds_mapping("args"):
        block.take("args", _mapping)
        return {}
    return block.take_templates("args") or {}


def _mapping(value: Any) -> Any:
    raise Unfit("a mapping", value)


def _next(block: Reader) -> tuple[tuple[Arc, ...], bool]:
    if not block.has("next"):
        return (), False
    if block.holds_text("next"):
        return (Arc(block.take("next", names.step)),), False
    if block.is_text_list("next"):
        return tuple(map(Arc, block.take_all("next", names.step, most=_MOST_ARCS))), False
    if block.holds_mapping("next"):
        return (_arc(block.inside("next")),), True
    if block.holds_list("next"):
        return tuple(_arc(one) for one in block.inside_each("next", most=_MOST_ARCS)), True
    block.refuse("next", f"expected {_NEXT}")
    return (), False


def _arc(block: Reader) -> Arc:
    arc = Arc(
        step=block.take("step", names.step),
        when=block.take("when", condition, None),
        args=_args(block),
        max_times=block.take("max_times", whole(1, 10_000), None),
    )
    block.close()
    return arc


def _loop(block: Reader | None) -> Loop | None:
    if block is None:
        return None
    mode = block.take("mode", one_of("sequential", "parallel"), Loop.mode)
    if mode == "sequential":
        block.refuse_any({"max_in_flight": "of a sequential loop one item is under way: use mode: parallel"})
    items = block.take_templates("in") if block.holds_list("in") else block.take("in", templated(_no_list))
    loop = Loop(
        items=items,
        iterator=block.take("iterator", names.step, Loop.iterator),
        mode=mode,
        max_in_flight=block.take("max_in_flight", whole(1, 100_000), None),
    )
    block.close()
    return loop


def _no_list(value: Any) -> Any:
    raise Unfit('a list, or a template that gives one, such as "{{ workload.orders }}"', value)


def _backoff(block: Reader | None) -> Backoff | None:
    if block is None:
        return None
    backoff = Backoff(
        strategy=block.take("strategy", one_of("exponential", "linear", "fixed"), "exponential"),
        base_ms=block.take("base_ms", milliseconds(_DAY_MS), 1000),
        cap_ms=block.take("cap_ms", milliseconds(_DAY_MS), 600_000),
    )
    block.close()
    return backoff


def _on_error(block: Reader) -> tuple[Literal["fail", "continue", "step"], str | None]:
    if block.holds_mapping("on_error"):
        inner = block.inside("on_error")
        error_step = inner.take("step", names.step)
        inner.close()
        return "step", error_step
    said: Literal["fail", "continue"] = block.take("on_error", _word, "fail")
    return said, None


def _word(value: Any) -> Literal["fail", "continue"]:
    if value == "fail":
        return "fail"
    if value == "continue":
        return "continue"
    raise Unfit("fail, continue or {step: NAME}", value)
