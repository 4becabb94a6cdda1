"""The W3C's rules for trace context as a table: headers sent, and what must come of them."""

from typing import NamedTuple

TRACE_ID = "12345678901234567890123456789012"
SPAN_ID = "1234567890123456"
PARENT = f"00-{TRACE_ID}-{SPAN_ID}-00"
THIRTY_TWO = [f"bar{number:02}={number:02}" for number in range(1, 33)]
ALL_KEY = "abcdefghijklmnopqrstuvwxyz0123456789_-*/"
ALL_VALUE = "".join(chr(code) for code in range(0x20, 0x7F) if chr(code) not in ",=")


class Case(NamedTuple):
    """One request: is the trace continued, and with which tracestate?"""

    why: str
    sent: list[tuple[str, str]]
    continued: bool
    tracestate: str | None = None


def _parent(why: str, value: str, continued: bool, key: str = "traceparent") -> Case:
    return Case(why, [(key, value)], continued)


def _state(why: str, sent: list[str], tracestate: str | None, key: str = "tracestate") -> Case:
    return Case(why, [("traceparent", PARENT), *((key, value) for value in sent)], True, tracestate)


PARENTS = [
    Case("nothing sent", [], False),
    Case("sent twice", [("traceparent", PARENT), ("traceparent", PARENT)], False),
    _parent("valid", PARENT, True),
    _parent("another name", PARENT, False, "trace-parent"),
    _parent("another name", PARENT, False, "trace.parent"),
    _parent("any case", PARENT, True, "TraceParent"),
    _parent("any case", PARENT, True, "TrAcEpArEnT"),
    _parent("any case", PARENT, True, "TRACEPARENT"),
    _parent("version 00 with more", PARENT + ".", False),
    _parent("version 00 with more", PARENT + "-what-the-future-will-be-like", False),
    _parent("version 00 with a line end", PARENT + "\n", False),
    _parent("a later version", "cc" + PARENT[2:], True),
    _parent("a later version with more", f"cc{PARENT[2:]}-what-the-future-will-be-like", True),
    _parent("a later version ending in a dash", f"cc{PARENT[2:]}-", True),
    _parent("a later version run on", f"cc{PARENT[2:]}.what-the-future-will-be-like", False),
    _parent("a later version with a line end", f"cc{PARENT[2:]}\n", False),
    _parent("version ff", "ff" + PARENT[2:], False),
    _parent("no version", ".0" + PARENT[2:], False),
    _parent("no version", "0." + PARENT[2:], False),
    _parent("version in capitals", "CC" + PARENT[2:], False),
    _parent("long version", "0" + PARENT, False),
    _parent("long version", "00" + PARENT, False),
    _parent("short version", PARENT[1:], False),
    _parent("trace id of zeros", f"00-{'0' * 32}-{SPAN_ID}-01", False),
    _parent("trace id in capitals", f"00-{'A' * 32}-{SPAN_ID}-01", False),
    _parent("trace id not hexadecimal", f"00-.{TRACE_ID[1:]}-{SPAN_ID}-01", False),
    _parent("trace id not hexadecimal", f"00-{TRACE_ID[:-1]}.-{SPAN_ID}-01", False),
    _parent("long trace id", f"00-{TRACE_ID}3-{SPAN_ID}-01", False),
    _parent("short trace id", f"00-{TRACE_ID[1:]}-{SPAN_ID}-01", False),
    _parent("span id of zeros", f"00-{TRACE_ID}-{'0' * 16}-01", False),
    _parent("span id not hexadecimal", f"00-{TRACE_ID}-.{SPAN_ID[1:]}-01", False),
    _parent("span id not hexadecimal", f"00-{TRACE_ID}-{SPAN_ID[:-1]}.-01", False),
    _parent("long span id", f"00-{TRACE_ID}-{SPAN_ID}7-01", False),
    _parent("short span id", f"00-{TRACE_ID}-{SPAN_ID[1:]}-01", False),
    _parent("flags not hexadecimal", f"00-{TRACE_ID}-{SPAN_ID}-.0", False),
    _parent("flags not hexadecimal", f"00-{TRACE_ID}-{SPAN_ID}-0.", False),
    _parent("long flags", f"00-{TRACE_ID}-{SPAN_ID}-001", False),
    _parent("short flags", f"00-{TRACE_ID}-{SPAN_ID}-1", False),
    _parent("digits of another script", f"00-{TRACE_ID[:-1]}\u0662-{SPAN_ID}-01", False),
    _parent("blanks around", f" {PARENT}", True),
    _parent("blanks around", f"\t{PARENT}", True),
    _parent("blanks around", f"{PARENT} ", True),
    _parent("blanks around", f"{PARENT}\t", True),
    _parent("blanks around", f"\t {PARENT} \t", True),
    _parent("a blank that is no OWS", f"{PARENT}\u00a0", False),
]

STATES = [
    Case("no traceparent", [("tracestate", "foo=1")], False),
    _state("inherited", ["foo=1,bar=2"], "foo=1,bar=2"),
    _state("another name", ["foo=1"], None, "trace-state"),
    _state("another name", ["foo=1"], None, "trace.state"),
    _state("any case", ["foo=1"], "foo=1", "TrAcEsTaTe"),
    _state("empty", [""], None),
    _state("an empty one after", ["foo=1", ""], "foo=1"),
    _state("an empty one before", ["", "foo=1"], "foo=1"),
    _state("empty members", ["foo=1,,,bar=2, ,"], "foo=1,bar=2"),
    _state("several headers", ["foo=1,bar=2", "rojo=1,congo=2", "baz=3"], "foo=1,bar=2,rojo=1,congo=2,baz=3"),
    _state("a key twice", ["foo=1,foo=1"], None),
    _state("a key twice", ["foo=1,foo=2"], None),
    _state("a key twice", ["foo=1", "foo=2"], None),
    _state("every character", [f"{ALL_KEY}={ALL_VALUE}"], f"{ALL_KEY}={ALL_VALUE}"),
    _state("every character", [f"{ALL_KEY}@a-z0-9_-*/={ALL_VALUE}"], f"{ALL_KEY}@a-z0-9_-*/={ALL_VALUE}"),
    _state("blanks", ["foo=1 \t , \t bar=2, \t baz=3"], "foo=1,bar=2,baz=3"),
    _state("blanks", ["foo=1\t \t,\t \tbar=2,\t \tbaz=3"], "foo=1,bar=2,baz=3"),
    _state("blanks", ["\t foo=1 \t"], "foo=1"),
    _state("a blank in the key", ["foo =1"], None),
    _state("capitals in the key", ["FOO=1"], None),
    _state("a dot in the key", ["foo.bar=1"], None),
    _state("a digit first", ["1foo=1"], None),
    _state("a tenant's digit first", ["1foo@bar=1"], "1foo@bar=1"),
    _state("no system", ["foo@=1,bar=2"], None),
    _state("no tenant", ["@foo=1,bar=2"], None),
    _state("two at signs", ["foo@@bar=1,bar=2"], None),
    _state("two at signs", ["foo@bar@baz=1,bar=2"], None),
    _state("32 members", [",".join(THIRTY_TWO[:10]), ",".join(THIRTY_TWO[10:])], ",".join(THIRTY_TWO)),
    _state("33 members", [",".join(THIRTY_TWO), "bar33=33"], None),
    _state("a key of 256", ["foo=1", "z" * 256 + "=1"], "foo=1," + "z" * 256 + "=1"),
    _state("a key of 257", ["foo=1", "z" * 257 + "=1"], None),
    _state("a tenant of 241", [f"{'t' * 241}@{'v' * 14}=1"], f"{'t' * 241}@{'v' * 14}=1"),
    _state("a tenant of 242", ["foo=1", "t" * 242 + "@v=1"], None),
    _state("a system of 15", ["foo=1", "t@" + "v" * 15 + "=1"], None),
    _state("a value of 256", ["foo=" + "v" * 256], "foo=" + "v" * 256),
    _state("a value of 257", ["foo=" + "v" * 257], None),
    _state("two equal signs", ["foo=bar=baz"], None),
    _state("no value", ["foo=,bar=3"], None),
    _state("a line end", ["foo=1\n"], None),
    _state("no equal sign", ["foo"], None),
    _state("a value that is not ASCII", ["foo=é"], None),
]
CASES = [*PARENTS, *STATES]
