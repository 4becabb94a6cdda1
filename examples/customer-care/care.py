"""What the customer-care playbook calls: a classifier of a few rules, and drafts of answers."""

import re
from typing import Any

_ORDER = re.compile(r"\b(?:order|invoice)\s*#?\s*(\d{1,12})\b", re.IGNORECASE)
# the first that matches decides
_KINDS = (
    ("spam", re.compile(r"\b(lottery|crypto|casino|winner)\b", re.IGNORECASE)),
    ("complaint", re.compile(r"\b(complain\w*|broken|angry|refund|never again)\b", re.IGNORECASE)),
    ("delivery", re.compile(r"\b(where is|deliver\w*|arriv\w*|track\w*|shipp\w*)\b", re.IGNORECASE)),
)
_URGENT = re.compile(r"\b(lawyer|court|injur\w*|fire|at once)\b", re.IGNORECASE)
_DRAFTS = {
    "complaint": "We are sorry about {what}. Tell us whether you want it replaced or your money back.",
    "delivery": "We have looked for {what}: it is on its way, and we will write when it has arrived.",
    "question": "Thank you for your question about {what}. Here is what we know.",
}


def classify(args: dict[str, Any]) -> dict[str, Any]:
    """kind, order (a number or None) and urgent."""
    text = f"{args['subject']}\n{args['text']}"
    order = _ORDER.search(text)
    kind = next((name for name, pattern in _KINDS if pattern.search(text)), "question")
    return {
        "kind": kind,
        "order": int(order[1]) if order else None,
        "urgent": kind != "spam" and bool(_URGENT.search(text)),
    }


def draft(args: dict[str, Any]) -> dict[str, Any]:
    """The answer; `note` is what the person who looked at the last one wants changed."""
    what = f"order {args['order']}" if args["order"] else "your message"
    body = _DRAFTS[args["kind"]].format(what=what)
    note = f"\n\n{args['note']}" if "note" in args else ""
    return {"text": f"Dear {args['customer']},\n\n{body}{note}\n\nYour customer care"}
