"""The sandbox of templates: which filters and methods there are, and that none of them fills the memory."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sized
from functools import wraps
from typing import Any

from jinja2 import StrictUndefined, Undefined, nodes, pass_context, pass_environment
from jinja2.compiler import CodeGenerator, Frame
from jinja2.exceptions import SecurityError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from penstock.catalog.template_limits import check_length, check_weight, made, spend, text_of
from penstock.errors import TemplateFailed

_FILTERS = frozenset(
    (
        *(
            "abs",
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
# these hand on what there is already, or give a number
_NOTHING_MADE = frozenset(("abs", "count", "d", "default", "first", "float", "int", "last", "length", "max", "min"))
# these write a list out as text before they look at it
_WRITE_OUT = frozenset(
    ("capitalize", "lower", "string", "title", "trim", "truncate", "upper", "urlencode", "wordcount")
)
_LARGEST = 2**64
_FINEST = 64


class _Code(CodeGenerator):
    def visit_Concat(self, node: nodes.Concat, frame: Frame) -> None:  # noqa: N802
        """`~` through the sandbox, as the other operators."""
        self.write("environment.concatenated((")
        for one in node.nodes:
            self.visit(one, frame)
            self.write(", ")
        self.write("))")


class Sandbox(ImmutableSandboxedEnvironment):
    """Plain data, a few filters, and nothing of Python."""

    intercepted_binops = frozenset(("*", "**", "%", "+"))
    code_generator_class = _Code

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

    def call(self, *args: Any, **named: Any) -> Any:
        return made(super().call(*args, **named))

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        """What could fill the memory is for small numbers only."""
        if operator == "+":
            return made(super().call_binop(context, operator, left, right))
        if not (_is_number(left) and _is_number(right)) or (operator == "**" and abs(right) > 64):
            raise SecurityError(f"{operator} is for numbers, and ** for exponents up to 64")
        return super().call_binop(context, operator, left, right)

    def concatenated(self, values: tuple[Any, ...]) -> str:
        """What `~` gives."""
        return str(made("".join(_while_short(values, 0))))


def sandbox() -> Sandbox:
    """A sandbox in which nothing is worked out before a template is filled in: registration runs no filter."""
    there = Sandbox(
        undefined=StrictUndefined, autoescape=False, keep_trailing_newline=True, optimized=False, finalize=_written
    )
    there.globals.clear()
    ours = {"replace": _replaced, "join": _joined, "tojson": _as_json}
    found: dict[str, Callable[..., Any]] = {name: there.filters[name] for name in _FILTERS} | ours
    guards: dict[str, Callable[..., None]] = {"round": _check_precision, "sum": _check_start}
    guards |= dict.fromkeys(_WRITE_OUT, check_weight)
    there.filters = {name: _limited(name, one, guards.get(name)) for name, one in found.items()}
    return there


def _limited(name: str, run: Callable[..., Any], guard: Callable[..., None] | None) -> Callable[..., Any]:
    """A filter whose guard looks at the value and its arguments first, and that counts what it gives."""
    if name in _NOTHING_MADE:
        return run
    # some filters are given the environment before the value
    ahead = 1 if hasattr(run, "jinja_pass_arg") else 0

    @wraps(run)
    def limited(*args: Any, **named: Any) -> Any:
        if guard is not None:
            guard(*args[ahead:], **named)
        return made(run(*args, **named))

    return limited


@pass_context
def _written(_context: Any, value: Any) -> Any:
    """What stands in a text. It asks for a context, so that no constant is written before there is one."""
    return value if isinstance(value, str) else text_of(value)


def _check_precision(_value: Any, precision: int = 0, *_method: Any, **_named: Any) -> None:
    if abs(precision) > _FINEST:
        raise SecurityError(f"round is for up to {_FINEST} digits")


def _check_start(_values: Any, _attribute: Any = None, start: Any = 0, **_named: Any) -> None:
    if not _is_number(start):
        raise SecurityError("sum is for numbers")


def _replaced(text: Any, old: str, new: str) -> str:
    found, old, new = text_of(text), text_of(old), text_of(new)
    check_length(len(found) + found.count(old) * len(new))
    return found.replace(old, new)


@pass_environment
def _joined(there: Sandbox, values: Any, between: str = "", attribute: str | None = None) -> str:
    between = text_of(between)
    chosen = (there.getitem(one, attribute) if attribute else one for one in values)
    return between.join(_while_short(chosen, len(between)))


def _while_short(values: Iterable[Any], between: int) -> Iterator[str]:
    total = 0
    for value in values:
        text = text_of(value)
        total += len(text) + between
        check_length(total)
        yield text


def _as_json(value: Any) -> str:
    found = plain(value)
    check_weight(found)
    return json.dumps(found, ensure_ascii=False)


def plain(value: Any) -> Any:
    """Plain data again: what filters leave behind are generators, tuples and views."""
    if value is None or isinstance(value, str | bool | int | float):
        return str(value) if isinstance(value, str) else value
    if isinstance(value, Mapping):
        return {str(key): plain(one) for key, one in _counted(value.items())}
    if isinstance(value, Undefined):
        str(value)  # says what is missing
    if hasattr(value, "__iter__"):
        return [plain(one) for one in _counted(value)]
    raise TemplateFailed(f"a template gave a {type(value).__name__}, which is no plain data")


def _counted(values: Iterable[Any]) -> Iterator[Any]:
    """A list that stands in a template many times is copied as often, so its items count."""
    if isinstance(values, Sized):
        spend(len(values))
        yield from values
        return
    for one in values:
        spend(1)
        yield one


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and abs(value) <= _LARGEST
