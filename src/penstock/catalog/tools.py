"""What a step can call: the tools and their keys, one function each. Most values may be templates."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from penstock.catalog import names
from penstock.catalog.reading import Reader
from penstock.catalog.source import SourceOptions, read_place
from penstock.catalog.templates import templated
from penstock.catalog.values import UNBOUNDED_S, flag, instant, one_of, plain_text, seconds, whole

_MOST_IN_A_ROW = 20
# nothing is ever written into code or a statement, and what names a source is no template
_AS_THEY_ARE = ("code", "statement", "stream", "consumer", "topics", "topic_pattern", "group", "subscription")
_ANY_NUMBER = whole(-(2**31), 2**31 - 1)


@dataclass(frozen=True)
class Tool:
    """One call: the tool, its keys as the file has them (templates and all), and its name within a list."""

    kind: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    name: str | None = None

    @property
    def templates(self) -> Mapping[str, Any]:
        """The keys whose templates are filled in."""
        return {key: value for key, value in self.settings.items() if key not in _AS_THEY_ARE}

    @property
    def awaits(self) -> bool:
        """Whether the step goes on only after somebody, something or some time has answered."""
        return self.kind in ("wait", "approve") or (self.kind == "playbook" and self.settings.get("wait", True))


def read_tools(step: Reader) -> tuple[Tool, ...]:
    """A step's tool, or its list of tools that run one after the other."""
    if not step.holds_list("tool"):
        return (_tool(step.inside("tool"), is_listed=False),)
    tools = tuple(_tool(block, is_listed=True) for block in step.inside_each("tool", most=_MOST_IN_A_ROW))
    for tool in tools[:-1]:
        if tool.awaits:
            step.refuse("tool", f"{tool.kind} can only be the last of a list: the step ends with it")
    if tools and tools[-1].awaits and any(tool.settings.get("operation") == "poll" for tool in tools):
        step.refuse(
            "tool", f"poll and {tools[-1].kind} cannot be in one list: the step would end without what it polled"
        )
    for name in _repeated(tool.name for tool in tools if tool.name):
        step.refuse("tool", f"two tools of the list have the name {name}")
    polled = (tool.settings.get("group") for tool in tools if tool.settings.get("operation") == "poll")
    for group in _repeated(group for group in polled if group):
        step.refuse(
            "tool",
            f"two polls of the Kafka group {group} in one list would give the same messages: what the first has polled "
            "is acknowledged after the step. Poll once with a larger batch, in two steps, or with a group for each",
        )
    return tools


def _repeated(found: Iterable[str]) -> list[str]:
    return sorted(one for one, times in Counter(found).items() if times > 1)


def _tool(block: Reader, *, is_listed: bool) -> Tool:
    kind = block.take("kind", one_of(*_TOOLS))
    name = None
    if is_listed:
        name = block.take("name", names.step)
    if kind in _TOOLS:
        settings = _TOOLS[kind](block)
    else:
        settings = {}
        block.ignore_all()
    block.close()
    return Tool(kind, {key: value for key, value in settings.items() if value is not None}, name)


def _noop(block: Reader) -> dict[str, Any]:
    block.refuse_any({"function": "noop calls nothing: leave it out, or use kind: python"})
    return {}


def _python(block: Reader) -> dict[str, Any]:
    if block.has("code"):
        block.refuse_any({"function": "a python tool has a function or code, not both"})
        return {"code": block.take("code", plain_text(100_000))}
    block.require("function", "is missing: python needs the import path of a function, such as shop.orders:process")
    return {"function": block.take("function", names.function, None)}


def _http(block: Reader) -> dict[str, Any]:
    if block.has("json") and block.has("body"):
        block.refuse("body", "a request has json or a body, not both")
    return {
        "url": block.take("url", templated(names.request_url)),
        "method": block.take("method", one_of("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"), None),
        "headers": block.take_pairs("headers", templated(names.header_value), most=100) or None,
        "params": block.take_pairs("params", templated(names.scalar_text), most=100) or None,
        "json": block.take_templates("json") if block.has("json") else None,
        "body": block.take("body", templated(plain_text(1_000_000)), None),
        "auth": block.take("auth", names.alias, None),
        "expect": list(block.take_all("expect", whole(100, 599))) or None,
        "timeout_s": block.take("timeout_s", seconds(3600), None),
    }


def _postgres(block: Reader) -> dict[str, Any]:
    return {
        "auth": block.take("auth", names.alias),
        "statement": block.take("statement", names.statement),
        "params": block.take_templates("params") if block.has("params") else None,
    }


def _spark(block: Reader) -> dict[str, Any]:
    return {"function": block.take("function", names.function)}


def _playbook(block: Reader) -> dict[str, Any]:
    return {
        "path": block.take("path", names.path),
        "payload": block.take_templates("payload") if block.has("payload") else None,
        "wait": block.take("wait", flag, None),
        "pool": block.take("pool", names.pool, None),
    }


def _event(block: Reader) -> dict[str, Any]:
    return {
        "domain": block.take("domain", names.event_domain),
        "type": block.take("type", names.event_type),
        "stream": block.take("stream", names.event_type, None),
        "subject_table": block.take("subject_table", templated(names.short), None),
        "subject_ref": block.take("subject_ref", templated(names.short), None),
        "payload": block.take_templates("payload") if block.has("payload") else None,
        "key": block.take("key", templated(names.short), None),
    }


def _wait(block: Reader) -> dict[str, Any]:
    if block.has("until") == block.has("seconds"):
        block.refuse(None, "wait has either until, a time, or seconds")
    return {
        "until": block.take("until", templated(_instant_text), None),
        "seconds": block.take("seconds", templated(seconds(UNBOUNDED_S, 0)), None),
    }


def _approve(block: Reader) -> dict[str, Any]:
    if block.has("escalate") and not block.has("deadline_s"):
        block.refuse("escalate", "is where a step goes that nobody has answered by its deadline: deadline_s is missing")
    return {
        "prompt": block.take("prompt", templated(names.sentence), None),
        "to": list(block.take_all("to", names.actor, most=50)) or None,
        "deadline_s": block.take("deadline_s", templated(seconds(UNBOUNDED_S)), None),
        "escalate": block.take("escalate", names.step, None),
    }


def _email(block: Reader) -> dict[str, Any]:
    if not block.has("to"):
        block.require("to", "is missing: whom the mail goes to")
    return {
        "auth": block.take("auth", names.alias),
        "from": block.take("from", templated(names.mailbox)),
        "to": _addresses(block, "to"),
        "cc": _addresses(block, "cc"),
        "reply_to": block.take("reply_to", templated(names.mailbox), None),
        "subject": block.take("subject", templated(names.title)),
        "text": block.take("text", templated(plain_text(1_000_000))),
        "headers": block.take_pairs("headers", templated(names.header_value), most=20) or None,
    }


def _subscription(block: Reader) -> dict[str, Any]:
    operation = block.take("operation", one_of("poll", "ack", "nack", "term"))
    source = block.take("source", one_of("nats", "kafka", "pubsub"))
    if source == "kafka":
        if not block.has("group"):
            block.require("group", "is missing: the consumer group whose offset says what is acknowledged")
        if operation == "term":
            block.refuse("operation", "Kafka cannot drop one message of a topic: ack it to go over it")
    return {
        "operation": operation,
        "source": source,
        "auth": block.take("auth", names.alias),
        **_source_keys(read_place(block, source)),
        **(_poll(block) if operation == "poll" else _handles(block, operation)),
    }


def _source_keys(options: SourceOptions | None) -> dict[str, Any]:
    return {} if options is None else {key: value or None for key, value in vars(options).items()}


def _poll(block: Reader) -> dict[str, Any]:
    block.refuse_any({"handles": "belongs to ack, nack and term: a poll gives them"})
    return {
        "batch": block.take("batch", templated(_ANY_NUMBER), None),
        "timeout_ms": block.take("timeout_ms", templated(_ANY_NUMBER), None),
        "ack": block.take("ack", one_of("on_success", "auto", "manual", "defer", "none"), None),
        "payload_from": block.take("payload_from", one_of("message.body", "message.json"), None),
    }


def _handles(block: Reader, operation: str) -> dict[str, Any]:
    belongs = "belongs to operation: poll"
    block.refuse_any(dict.fromkeys(("batch", "timeout_ms", "ack", "payload_from"), belongs))
    if operation and not block.has("handles"):
        block.require("handles", 'is missing: which messages, such as "{{ drain.messages }}"')
    return {"handles": block.take_templates("handles")}


def _addresses(block: Reader, key: str) -> list[str] | None:
    """One address, or a list of them."""
    one = templated(names.mailbox)
    if block.holds_list(key):
        return list(block.take_all(key, one, most=100))
    return [block.take(key, one)] if block.has(key) else None


def _instant_text(value: Any) -> str:
    return instant(value).isoformat()


_TOOLS: dict[str, Callable[[Reader], dict[str, Any]]] = {
    "noop": _noop,
    "python": _python,
    "http": _http,
    "postgres": _postgres,
    "spark": _spark,
    "playbook": _playbook,
    "event": _event,
    "wait": _wait,
    "approve": _approve,
    "email": _email,
    "subscription": _subscription,
}
KINDS = tuple(_TOOLS)
