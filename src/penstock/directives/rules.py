"""The rules of one subscription: which header may ask for what. A rule without its allowlist cannot be made."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

from penstock.directives.baggage import is_token
from penstock.directives.headers import fold

PLAYBOOK = "dispatch.playbook"
POOL = "dispatch.execution_pool"
PRIORITY = "priority"
LISTED = (PLAYBOOK, POOL)
# Characters a free value may have: a key, or a hint, never a target.
FREE = MappingProxyType({"idempotency_key": 512, "content_type": 256, "schema_hint": 256})

Trust = Literal["continue", "link", "restart"]


@dataclass(frozen=True)
class Rule:
    """One directive: the header, what it controls, and the values it may have."""

    header: str
    controls: str
    allowed: tuple[str, ...] = ()
    map: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "header", fold(self.header))
        object.__setattr__(self, "map", MappingProxyType(dict(self.map)))
        problem = self._problem()
        if problem:
            raise ValueError(f"the directive on {self.header!r}: {problem}")

    def _problem(self) -> str | None:
        if self.controls in LISTED:
            return None if self.allowed and not self.map else f"{self.controls} needs `allowed`, and no `map`"
        if self.controls == PRIORITY:
            return None if self.map and not self.allowed else "priority needs a `map`, and no `allowed`"
        if self.controls not in FREE:
            return f"nothing is controlled by {self.controls!r}"
        return f"{self.controls} takes neither `allowed` nor `map`" if self.allowed or self.map else None


@dataclass(frozen=True)
class TraceRules:
    """What becomes of the caller's trace, and which baggage may come in."""

    propagate: Literal["w3c"] | None = "w3c"
    baggage_allowlist: tuple[str, ...] = ()
    trust: Trust = "continue"

    def __post_init__(self) -> None:
        # Told twice is told once: a key stands in the stored baggage one time.
        object.__setattr__(self, "baggage_allowlist", tuple(dict.fromkeys(self.baggage_allowlist)))
        bad = [key for key in self.baggage_allowlist if not is_token(key)]
        if bad:
            raise ValueError(f"no baggage has the key {bad[0]!r}: a key is letters, digits and !#$%&'*+-.^_`|~")
        if self.trust not in ("continue", "link", "restart"):
            raise ValueError(f"trace.trust is continue, link or restart, not {self.trust!r}")


@dataclass(frozen=True)
class Rules:
    """All of a subscription's rules, in their order. Its path is part of every message's identity."""

    subscription: str
    directives: tuple[Rule, ...] = ()
    trace: TraceRules | None = None

    @property
    def tracing(self) -> TraceRules | None:
        """The trace rules, if they are switched on."""
        return self.trace if self.trace and self.trace.propagate else None
