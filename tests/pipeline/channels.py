"""Metadata channels as an ill-meaning caller would fill them: made by the thousand from a seed, aimed at some rules."""

from random import Random

from hypothesis import strategies as st

from penstock.directives.headers import Attribute
from penstock.directives.rules import FREE, LISTED, PRIORITY, Rule, Rules, TraceRules
from tests.unit.directives.w3c import CASES, PARENT

NAMES = [
    "x-route",
    "x-pool",
    "X-Priority",
    "x-key",
    "content-type",
    "kelvin",
    "x-é",
    "strasse",
    "",
    'a"b\\c',
    "traceparent",
]
TARGETS = ["domain/bills", "iot", "shared", "Iot", "é", "ﬁ", "💧", "a b", 'q"uo\\te', "x" * 300, "\u0130", "line\nend"]
BAGGAGE = ["tenant", "request_id", "a.b", "A", "%41", "x'y"]
ODD_TEXTS = [
    "",
    " ",
    "\t",
    "\n",
    "\x1b\x7f",
    "\u2028",
    "\ufffd",
    "\ufeff",
    "\u212a",
    '"',
    "\\",
    "%",
    "+",
    "💧" * 3,
    "e\u0301",
]
NOT_TEXT = [b"\xff", b"a\0b", b"\xed\xa0\x80", b"\xc0\xaf", b"\xf4\x90\x80\x80", b"\xe2\x82", bytes(range(256)), b"\0"]
LONG = [
    "k" * 256,
    "k" * 257,
    "k" * 512,
    "k" * 513,
    "💧" * 512,
    "💧" * 513,
    "é" * 9000,
    ",".join(["a=1"] * 65),
    "," * 300,
]
PIECES = [
    "=",
    ";",
    ",",
    " ",
    "\t",
    "%",
    "%2",
    "%zz",
    "%C3%A9",
    "%ff",
    "%ED%A0%80",
    "%00",
    "%2B",
    "+",
    "é",
    '"',
    "v",
    "==",
]
PERCENTS = [piece for piece in PIECES if piece.startswith("%")] + ["a", "+", "9"]
TRACED = ["traceparent", "tracestate", "baggage"]


def _rule() -> st.SearchStrategy[Rule]:
    names, targets = st.sampled_from(NAMES), st.sampled_from(TARGETS)
    listed = st.lists(targets, min_size=1, max_size=4).map(tuple)
    return st.one_of(
        st.builds(Rule, names, st.sampled_from(LISTED), allowed=listed),
        st.builds(Rule, names, st.just(PRIORITY), map=st.dictionaries(targets, targets, min_size=1, max_size=4)),
        st.builds(Rule, names, st.sampled_from(sorted(FREE))),
    )


def specs() -> st.SearchStrategy[Rules]:
    """Rules as subscriptions might have them, several on one header and several of one control among them."""
    allowlist = st.lists(st.sampled_from(BAGGAGE), max_size=4).map(tuple)
    propagate, trust = st.sampled_from(["w3c"] * 5 + [None]), st.sampled_from(["continue", "link", "restart"])
    trace = st.builds(TraceRules, propagate, allowlist, trust)
    return st.builds(Rules, st.sampled_from(["orders", "é/x"]), st.lists(_rule(), max_size=7).map(tuple), trace)


def channel(random: Random, rules: Rules) -> list[Attribute]:
    """The attributes of one message."""
    if random.random() < 0.15:
        return [(_case(random, key), value.encode()) for key, value in random.choice(CASES).sent]
    length = random.choices([0, 1, 3, 8, 200], [1, 6, 14, 6, 0.1])[0]
    return [_attribute(random, rules) for _ in range(length)]


def _attribute(random: Random, rules: Rules) -> Attribute:
    if rules.tracing and random.random() < 0.3:
        name = random.choice(TRACED)
        return _case(random, name), _trace_value(random, name)
    rule = random.choice(rules.directives) if rules.directives else None
    name = rule.header if rule and random.random() < 0.8 else random.choice([*NAMES, *ODD_TEXTS, "a\0b"])
    return _key(random, name), _value(random, rule)


def _key(random: Random, name: str) -> str | bytes:
    if random.random() < 0.02:
        return name.encode() + random.choice(NOT_TEXT)
    return _case(random, name.replace("k", "\u212a") if random.random() < 0.03 else name)


def _case(random: Random, name: str) -> str:
    return "".join(one.upper() if random.random() < 0.3 and one.isascii() else one for one in name)


def _value(random: Random, rule: Rule | None) -> bytes | None:
    listed = [*rule.allowed, *rule.map, *rule.map.values()] if rule else []
    kind = random.random()
    if listed and kind < 0.5:
        return random.choice(listed).encode()
    if listed and kind < 0.7:
        return _near(random, random.choice(listed)).encode()
    if kind < 0.75:
        return random.choice(NOT_TEXT)
    if kind < 0.77:
        return None
    return random.choice([*ODD_TEXTS, *LONG, "key", "text/plain", random.choice(TARGETS)]).encode()


def _near(random: Random, text: str) -> str:
    place, other = random.randrange(len(text) + 1), random.choice(ODD_TEXTS)
    return random.choice([text.upper(), text.swapcase(), text[:place], text[:place] + other + text[place:], text + " "])


def _trace_value(random: Random, name: str) -> bytes:
    kind = random.random()
    if kind < 0.04:
        return random.choice(NOT_TEXT)
    sent = random.choice([value for case in CASES for key, value in case.sent if key == name] or [""])
    if kind < 0.3:
        return _near(random, sent).encode()
    if name == "traceparent" and kind < 0.7:
        return f"{random.choice(['00', '00', '01', 'fe'])}{PARENT[2:-2]}{random.randrange(256):02x}".encode()
    if name != "baggage" and kind < 0.97:
        return sent.encode()
    members = (_baggage_member(random) for _ in range(random.choices([1, 2, 5, 64, 65], [6, 6, 6, 1, 1])[0]))
    return random.choice([",", ", ", " ,\t", ",,"]).join(members).encode()


def _baggage_member(random: Random) -> str:
    key = random.choice([*BAGGAGE, "other", "tenant "])
    pieces = random.choice([PIECES, PERCENTS])
    value = "".join(random.choice(pieces) for _ in range(random.randrange(5)))
    return f"{key}={value}{random.choice(['', ';p', ' ; p=1', ''])}"
