"""The `headers:` block of a subscription: which headers are instructions, and how far they may go."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from penstock.catalog import names
from penstock.catalog.reading import Reader
from penstock.catalog.values import flag, one_of, text

# a header that chooses among these may choose only what `allowed` (or `map`) lists
PLAYBOOK = "dispatch.playbook"
POOL = "dispatch.execution_pool"
PRIORITY = "priority"
FREE = ("idempotency_key", "content_type", "schema_hint")

_NO_CREDENTIALS = "a header never chooses a credential: it may choose a playbook or a pool out of a list"
_ELSEWHERE = {
    "trace": "trace context needs no directive: set headers.trace.propagate to w3c",
    **dict.fromkeys(("auth", "credential", "dispatch.auth", "dispatch.credential", "spool.auth"), _NO_CREDENTIALS),
}
CONTROLS = one_of(PLAYBOOK, POOL, PRIORITY, *FREE, others=_ELSEWHERE)
_VALUE = {PLAYBOOK: names.path, POOL: names.pool}
_ANY_TEXT = text("text", r"(?s).{1,500}")
_MOST_RULES = 100
_MOST_BAGGAGE = 64


@dataclass(frozen=True)
class Directive:
    """One header that is an instruction: its name in lower case, what it controls, and the values that count."""

    header: str
    controls: str
    allowed: tuple[str, ...] = ()
    map: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Trace:
    """How the sender's W3C trace context and baggage are taken over."""

    propagate: str = "w3c"
    baggage_allowlist: tuple[str, ...] = ()
    trust: str = "continue"


@dataclass(frozen=True)
class Headers:
    """What headers may do; by default nothing but be data."""

    normalize: bool = True
    directives: tuple[Directive, ...] = ()
    trace: Trace | None = None
    passthrough: str = "data"

    def playbooks(self) -> set[str]:
        return {value for rule in self.directives if rule.controls == PLAYBOOK for value in rule.allowed}

    def pools(self) -> set[str]:
        allowed = {value for rule in self.directives if rule.controls == POOL for value in rule.allowed}
        return allowed | {pool for rule in self.directives for pool in rule.map.values()}


def read_headers(block: Reader | None) -> Headers:
    if block is None:
        return Headers()
    headers = Headers(
        normalize=block.take("normalize", flag, True),
        directives=tuple(_directive(one) for one in block.inside_each("directives", _MOST_RULES)),
        trace=_trace(block.inside_if_any("trace")),
        passthrough=block.take("passthrough", one_of("data"), "data"),
    )
    if headers.normalize is False and (headers.directives or headers.trace):
        block.refuse(
            "normalize", "directives and trace read the normalised headers: leave normalize out, or set it to true"
        )
    block.close()
    return headers


def folded(header: str) -> str:
    """Lower case for ASCII letters alone, as headers are compared everywhere."""
    return "".join(chr(ord(one) + 32) if "A" <= one <= "Z" else one for one in header)


def _directive(block: Reader) -> Directive:
    header = block.take("header", names.header)
    controls = block.take("controls", CONTROLS)
    listed = controls in _VALUE
    allowed = block.take_all("allowed", _VALUE[controls] if listed else _ANY_TEXT)
    pools = block.take_pairs("map", names.pool if controls == PRIORITY else _ANY_TEXT)
    _check_values(block, controls)
    block.close()
    return Directive(folded(header or ""), controls, allowed, pools)


def _check_values(block: Reader, controls: str) -> None:
    """Each control with what it needs, and nothing it would not read."""
    if controls in _VALUE:
        block.require("allowed", f"is missing: {controls} needs the list of what a header may choose")
        block.refuse_any({"map": f"{controls} takes allowed, a list; map belongs to priority"})
    elif controls == PRIORITY:
        block.require("map", "is missing: priority needs to know which value of the header means which pool")
        block.refuse_any({"allowed": "priority takes map; its keys are the values that count"})
    elif controls in FREE:
        free = f"{controls} takes any value, as it chooses neither playbook nor pool: leave this out"
        block.refuse_any({"allowed": free, "map": free})


def _trace(block: Reader | None) -> Trace | None:
    if block is None:
        return None
    trace = Trace(
        propagate=block.take("propagate", one_of("w3c", "off"), "w3c"),
        baggage_allowlist=block.take_all("baggage_allowlist", names.token, _MOST_BAGGAGE),
        trust=block.take("trust", one_of("continue", "link", "restart"), "continue"),
    )
    block.close()
    return trace
