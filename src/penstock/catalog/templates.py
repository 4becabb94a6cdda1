"""Templates of playbooks: Jinja in a sandbox that knows plain data, a few filters, and nothing of Python.

A text that is one expression in `{{ }}` gives its value as it is; any other text is rendered to text.
"""

import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, TypeVar

from jinja2 import StrictUndefined, TemplateSyntaxError, nodes
from jinja2.exceptions import SecurityError, TemplateError
from jinja2.meta import find_undeclared_variables
from jinja2.runtime import Undefined
from jinja2.sandbox import ImmutableSandboxedEnvironment

from penstock.catalog.values import Kind, Unfit, is_template, refused
from penstock.errors import TemplateFailed

T = TypeVar("T")

_FILTERS = frozenset(
    (
        *(
            "abs",
            "batch",
            "capitalize",
            "count",
            "d",
            "default",
            "dictsort",
            "first",
            "float",
            "groupby",
            "int",
            "items",
            "join",
            "last",
            "length",
            "list",
            "lower",
            "map",
            "max",
        ),
        *(
            "min",
            "reject",
            "rejectattr",
            "replace",
            "reverse",
            "round",
            "select",
            "selectattr",
            "slice",
            "sort",
            "string",
            "sum",
            "title",
            "tojson",
            "trim",
            "truncate",
        ),
        *("unique", "upper", "urlencode", "wordcount"),
    )
)
_METHODS: dict[type, frozenset[str]] = {
    dict: frozenset(("get", "items", "keys", "values")),
    list: frozenset(("count", "index")),
    str: frozenset(
        (
            *("capitalize", "count", "endswith", "find", "isalnum", "isalpha", "isdecimal", "isdigit", "islower"),
            *("isupper", "lower", "lstrip", "partition", "removeprefix", "removesuffix", "rfind"),
            *("rpartition", "rsplit", "rstrip", "split", "splitlines", "startswith", "strip", "swapcase", "title"),
            "upper",
        )
    ),
}
_NODES = (
    *(nodes.Template, nodes.Output, nodes.TemplateData, nodes.If, nodes.For, nodes.Name, nodes.Const, nodes.Tuple),
    *(nodes.List, nodes.Dict, nodes.Pair, nodes.Keyword, nodes.CondExpr, nodes.Filter, nodes.Test, nodes.Call),
    *(nodes.Getattr, nodes.Getitem, nodes.Slice, nodes.Concat, nodes.Compare, nodes.Operand, nodes.BinExpr),
    nodes.UnaryExpr,
)
_FAILURES = (
    TemplateError,
    ArithmeticError,
    AttributeError,
    LookupError,
    MemoryError,
    TypeError,
    ValueError,
    RecursionError,
)
_LONGEST = 20_000
_LONGEST_TEXT = 1_000_000
_LARGEST = 2**64


class _Sandbox(ImmutableSandboxedEnvironment):
    intercepted_binops = frozenset(("*", "**", "%", "+"))

    def getattr(self, obj: Any, attribute: str) -> Any:
        """A key of that name first: data may have a key `items`."""
        if isinstance(obj, dict) and attribute in obj:
            return obj[attribute]
        return super().getattr(obj, attribute)

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        """The few methods of plain data that read it. A loop tells its own numbers."""
        allowed = _METHODS.get(type(obj))
        if allowed is None:
            return not attr.startswith("_") and type(obj).__name__ == "LoopContext"
        return attr in allowed

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        """What could fill the memory is for small numbers only."""
        if operator == "+":
            return _bounded(super().call_binop(context, operator, left, right))
        if not (_is_number(left) and _is_number(right)) or (operator == "**" and abs(right) > 64):
            raise SecurityError(f"{operator} is for numbers, and ** for exponents up to 64")
        return _bounded(super().call_binop(context, operator, left, right))


def _environment() -> _Sandbox:
    made = _Sandbox(undefined=StrictUndefined, autoescape=False, keep_trailing_newline=True)
    made.globals.clear()
    made.filters = {name: made.filters[name] for name in _FILTERS}
    made.filters |= {"replace": _replaced, "join": _joined, "tojson": _as_json}
    return made


def _replaced(text: Any, old: str, new: str) -> str:
    found = str(text)
    _check_length(len(found) + found.count(str(old)) * len(str(new)))
    return found.replace(str(old), str(new))


def _joined(values: Any, between: str = "", attribute: str | None = None) -> str:
    parts = [str(_SANDBOX.getitem(one, attribute) if attribute else one) for one in values]
    _check_length(sum(map(len, parts)) + len(parts) * len(str(between)))
    return str(between).join(parts)


def _as_json(value: Any) -> str:
    return json.dumps(_plain(value), ensure_ascii=False)


def _check_length(length: int) -> None:
    if length > _LONGEST_TEXT:
        raise TemplateFailed(f"a template gave more than {_LONGEST_TEXT:,} characters or items")


_SANDBOX = _environment()


def templated(kind: Kind[T]) -> Kind[T | str]:
    """A value of a kind, or a template that gives one."""

    def either(value: Any) -> T | str:
        if not (isinstance(value, str) and is_template(value)):
            return kind(value)
        for problem in problems(value):
            raise refused(problem)
        return value

    return either


def condition(value: Any) -> str | bool:
    """true, false, or one expression in {{ }}."""
    if isinstance(value, bool):
        return value
    if not isinstance(value, str) or not is_template(value):
        raise Unfit('true, false or an expression such as "{{ workload.amount > 100 }}"', value)
    for problem in problems(value):
        raise refused(problem)
    if not is_expression(value):
        raise Unfit("one expression in {{ }} and nothing around it: any other text would always hold", value)
    return value


def problems(text: str) -> list[str]:
    """What is wrong with a text as a template, wherever it is used."""
    if len(text) > _LONGEST:
        return [f"a template has at most {_LONGEST:,} characters, this one {len(text):,}"]
    try:
        tree = _SANDBOX.parse(text)
        _compiled(text)
    except (TemplateSyntaxError, TemplateFailed) as error:
        return [f"is no template that can be read: {error}"]
    except RecursionError:
        return ["is nested too deep for a template"]
    return list(dict.fromkeys(_forbidden(tree)))


def names(text: str) -> frozenset[str]:
    """The names a template looks up: workload, message, steps …"""
    return frozenset(find_undeclared_variables(_SANDBOX.parse(text)))


def is_expression(text: str) -> bool:
    """Whether it is one expression in {{ }} and nothing else, so that its value keeps its type."""
    return _expression(text) is not None


def evaluated(value: Any, context: Mapping[str, Any]) -> Any:
    """A tree of data with every template in it replaced by its value."""
    if isinstance(value, str):
        return _evaluated(value, context) if is_template(value) else value
    if isinstance(value, Mapping):
        return {key: evaluated(one, context) for key, one in value.items()}
    return [evaluated(one, context) for one in value] if isinstance(value, list | tuple) else value


def texts(value: Any) -> Iterator[str]:
    """Every template in a tree of data."""
    if isinstance(value, str):
        if is_template(value):
            yield value
    elif isinstance(value, Mapping | list | tuple):
        for one in value.values() if isinstance(value, Mapping) else value:
            yield from texts(one)


def _evaluated(text: str, context: Mapping[str, Any]) -> Any:
    try:
        found = _compiled(text)(context)
        return _plain(found)
    except TemplateFailed:
        raise
    except _FAILURES as error:
        raise TemplateFailed(f"the template {_shown(text)}: {error}") from error


@lru_cache(maxsize=4096)
def _compiled(text: str) -> Any:
    inner = _expression(text)
    if inner is None:
        template = _SANDBOX.from_string(text)
        return lambda context: _bounded(template.render(context))
    expression = _SANDBOX.compile_expression(inner, undefined_to_none=False)
    return lambda context: _defined(expression(context))


def _expression(text: str) -> str | None:
    stripped = text.strip()
    if not (stripped.startswith("{{") and stripped.endswith("}}")):
        return None
    body = _SANDBOX.parse(stripped).body
    if len(body) != 1 or not isinstance(body[0], nodes.Output) or len(body[0].nodes) != 1:
        return None
    return stripped[2:-2].strip().removeprefix("-").removesuffix("-")


def _defined(value: Any) -> Any:
    if isinstance(value, Undefined):
        str(value)  # says what is missing
    return value


def _plain(value: Any) -> Any:
    """Plain data again: what filters leave behind are generators, tuples and views."""
    if value is None or isinstance(value, str | bool | int | float):
        return str(value) if isinstance(value, str) else value
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, Undefined):
        str(value)
    if hasattr(value, "__iter__"):
        return [_plain(one) for one in value]
    raise TemplateFailed(f"a template gave a {type(value).__name__}, which is no plain data")


def _forbidden(tree: nodes.Node) -> Iterator[str]:
    for node in tree.find_all(nodes.Node):
        if not isinstance(node, _NODES):
            yield f"{type(node).__name__.lower()} cannot be used in a template of a playbook"
        if isinstance(node, nodes.Getattr) and node.attr.startswith("_"):
            yield f"the attribute {node.attr} cannot be touched"
        if (
            isinstance(node, nodes.Getitem)
            and isinstance(node.arg, nodes.Const)
            and str(node.arg.value).startswith("__")
        ):
            yield f"the attribute {node.arg.value} cannot be touched"
        if isinstance(node, nodes.Call) and not isinstance(node.node, nodes.Getattr):
            yield "only methods of values can be called"
        if isinstance(node, nodes.For) and any(True for _ in _inner_loops(node)):
            yield "a loop within a loop cannot be used in a template"


def _inner_loops(loop: nodes.For) -> Iterator[nodes.For]:
    for one in loop.body:
        if isinstance(one, nodes.For):
            yield one
        yield from one.find_all(nodes.For)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and abs(value) <= _LARGEST


def _bounded(value: Any) -> Any:
    if isinstance(value, str | list | tuple):
        _check_length(len(value))
    return value


def _shown(text: str) -> str:
    return repr(text if len(text) <= 100 else text[:100] + "…")
