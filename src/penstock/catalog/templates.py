"""Templates of playbooks: Jinja in a sandbox that knows plain data, a few filters, and nothing of Python.

A text that is one expression in `{{ }}` gives its value as it is; any other text is rendered to text.
"""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, TypeVar

from jinja2 import Template, TemplateSyntaxError, nodes
from jinja2.environment import TemplateExpression
from jinja2.exceptions import TemplateError
from jinja2.meta import find_undeclared_variables

from penstock.catalog.sandbox import plain, sandbox
from penstock.catalog.template_limits import check_length, counted_from_zero, made
from penstock.catalog.values import Kind, Unfit, is_template, refused
from penstock.errors import TemplateFailed

T = TypeVar("T")

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

_SANDBOX = sandbox()


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


def reads(text: str) -> dict[str, frozenset[str | None]]:
    """The names a template looks up, and of each the keys it reads by name; None stands for the value as a whole."""
    tree = _SANDBOX.parse(text)
    wanted = find_undeclared_variables(tree)
    by_name = ((one.node, one.attr) for one in tree.find_all(nodes.Getattr))
    by_item = ((one.node, one.arg.value) for one in tree.find_all(nodes.Getitem) if isinstance(one.arg, nodes.Const))
    keys = {id(node): key for node, key in (*by_name, *by_item) if isinstance(key, str)}
    found: dict[str, set[str | None]] = {name: set() for name in wanted}
    for node in tree.find_all(nodes.Name):
        if node.name in wanted:
            found[node.name].add(keys.get(id(node)))
    return {name: frozenset(those) for name, those in found.items()}


def is_expression(text: str) -> bool:
    """Whether it is one expression in {{ }} and nothing else, so that its value keeps its type."""
    return _expression(text) is not None


def evaluated(value: Any, context: Mapping[str, Any]) -> Any:
    """A tree of data with every template in it replaced by its value."""
    with counted_from_zero():
        return _filled(value, context)


def texts(value: Any) -> Iterator[str]:
    """Every template in a tree of data."""
    if isinstance(value, str):
        if is_template(value):
            yield value
    elif isinstance(value, Mapping | list | tuple):
        for one in value.values() if isinstance(value, Mapping) else value:
            yield from texts(one)


def _filled(value: Any, context: Mapping[str, Any]) -> Any:
    if isinstance(value, str):
        return _evaluated(value, context) if is_template(value) else value
    if isinstance(value, Mapping):
        return {key: _filled(one, context) for key, one in value.items()}
    return [_filled(one, context) for one in value] if isinstance(value, list | tuple) else value


def _evaluated(text: str, context: Mapping[str, Any]) -> Any:
    try:
        return plain(_compiled(text)(context))
    except TemplateFailed:
        raise
    except _FAILURES as error:
        raise TemplateFailed(f"the template {_shown(text)}: {error}") from error


@lru_cache(maxsize=4096)
def _compiled(text: str) -> Any:
    expression = _expression(text)
    if expression is None:
        template = _SANDBOX.from_string(text)
        return lambda context: _rendered(template, context)
    # made of what the parser has read, not of the text between the braces: `{{-x}}` has no sign, `{{ -x }}` has one
    kept = nodes.Assign(nodes.Name("result", "store", lineno=1), expression, lineno=1)
    return TemplateExpression(_SANDBOX.from_string(nodes.Template([kept], lineno=1)), undefined_to_none=False)


def _rendered(template: Template, context: Mapping[str, Any]) -> str:
    """The text, put together only as long as it is short enough."""
    parts: list[str] = []
    length = 0
    for part in template.generate(context):
        length += len(part)
        check_length(length)
        parts.append(part)
    return str(made("".join(parts)))


def _expression(text: str) -> nodes.Expr | None:
    stripped = text.strip()
    if not (stripped.startswith("{{") and stripped.endswith("}}")):
        return None
    body = _SANDBOX.parse(stripped).body
    if len(body) != 1 or not isinstance(body[0], nodes.Output) or len(body[0].nodes) != 1:
        return None
    return body[0].nodes[0]


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


def _shown(text: str) -> str:
    return repr(text if len(text) <= 100 else text[:100] + "…")
