"""The names a catalog file uses, each with its grammar; PostgreSQL has the same for those it keeps."""

import re
import warnings
from typing import Any

from penstock.catalog.values import Unfit, is_template, refused, scalar, text

_IDENTIFIER = r"[A-Za-z_][A-Za-z0-9_]*"
_IMPORT = rf"{_IDENTIFIER}(\.{_IDENTIFIER})*:{_IDENTIFIER}"
_TOKEN = r"[A-Za-z0-9!#$%&'*+.^_`|~-]+"

_NO_TEMPLATE = r"(?!.*\{[{%])"

path = text(
    "a path such as domain/process_order (letters, digits and _ . / -, at most 200, a letter or digit first)",
    r"[A-Za-z0-9][A-Za-z0-9_./-]{0,199}",
)
pool = text("a pool's name (lower-case letters, digits, _ and -, at most 63, a letter first)", r"[a-z][a-z0-9_-]{0,62}")
alias = text(
    "the alias of a credential (letters, digits and _ . -, at most 100, a letter or digit first)",
    r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}",
)
title = text("a name of at most 200 characters, on one line", r"[^\s]([^\n\r]{0,198}[^\s])?")
sentence = text("text of at most 2,000 characters", rf"(?s){_NO_TEMPLATE}.*", 2000)
step = text("a step's name (letters, digits and _, at most 100, no digit first)", r"[A-Za-z_][A-Za-z0-9_]{0,99}")
lane = text("a lane of 1 to 500 characters", rf"(?s){_NO_TEMPLATE}.+")
function = text("the import path of a function, such as shop.orders:process", _IMPORT)
reader = re.compile(_IMPORT)
header = text("a header's name, without spaces around it, at most 256 characters", r"\S([^\r\n]{0,254}\S)?")
token = text("a key of the baggage header (letters, digits and !#$%&'*+-.^_`|~)", _TOKEN, 256)

topic = text("a Kafka topic (letters, digits and . _ -, at most 249)", r"(?!\.{1,2}$)[A-Za-z0-9._-]{1,249}")
group = text("a Kafka consumer group of at most 249 characters", r"[^\s]{1,249}")
stream = text("the name of a NATS stream (no spaces and none of . * > / \\)", r"[^\s.*>/\\]{1,255}")
consumer = text("the name of a durable NATS consumer (no spaces and none of . * > / \\)", r"[^\s.*>/\\]{1,255}")
pubsub_subscription = text(
    "a Pub/Sub subscription: projects/PROJECT/subscriptions/NAME",
    r"projects/[a-z0-9.:-]{1,100}/subscriptions/[A-Za-z][A-Za-z0-9._~+%-]{2,254}",
)

gcs_bucket = text("a bucket such as gs://acme-spool/orders", r"gs://[a-z0-9][a-z0-9._-]{1,221}(/[^\s]*)?", 1000)
s3_bucket = text("a bucket such as s3://acme-spool/orders", r"s3://[a-z0-9][a-z0-9.-]{1,62}(/[^\s]*)?", 1000)
nats_bucket = text("the name of a NATS object bucket (letters, digits, _ and -)", r"[A-Za-z0-9_-]{1,200}")
directory = text("an absolute folder such as /var/lib/penstock/spool", r"/[^\n\r]{1,999}", 1000)

url = text("a URL such as https://api.example.com", r"https?://[^\s/?#@]+(/[^\s?#]*)?", 2000)
audience = text("the audience of the token, as the push subscription states it", r"\S{1,500}")
service_account = text("the service account's email address", r"[^\s@]{1,200}@[^\s@]{1,200}")
gateway_path = text(
    "a path that starts with /, such as /ingress/orders (letters, digits and _ . - ~ between the slashes)",
    r"(/(?!\.{1,2}(/|$))[A-Za-z0-9_.~-]+)+",
    200,
)

request_url = text(
    "a URL such as https://api.example.com/orders?open=1", r"https?://[^\s/?#@]+(/[^\s]*|\?[^\s]*)?", 4000
)
header_value = text("a header's value, on one line, at most 4,000 characters", r"[^\r\n\0]*", 4000)
short = text("text of 1 to 500 characters", r"(?s).+")
event_domain = text("an event domain (lower-case letters, digits and _, at most 40)", r"[a-z][a-z0-9_]{0,39}")
event_type = text("an event type (letters, digits and _ . -, at most 100)", r"[A-Za-z][A-Za-z0-9_.-]{0,99}")
actor = text("an actor such as user:ann or role:support", r"(role|agency|user|agent):[^\s\x00-\x1f\x7f]{1,200}", 210)
mailbox = text(
    "an address such as care@example.com or Care <care@example.com>", r"[^\r\n@]{1,200}@[^\r\n@]{1,200}", 400
)


def names_its_host(url: str) -> bool:
    """Whether a URL that may hold templates leads to one host, whatever they give."""
    return re.match(r"https?://[^\s/?#@\\{]+([/?#]|$)", url) is not None


def scalar_text(value: Any) -> str:
    """Text, a number, true or false, as a request carries it."""
    found = scalar(value)
    return str(found).lower() if isinstance(found, bool) else str(found)


def statement(value: Any) -> str:
    """SQL whose values are bound, never written into it."""
    if not isinstance(value, str) or not 1 <= len(value) <= 100_000:
        raise Unfit("an SQL statement", value)
    if is_template(value):
        raise refused("values are not written into a statement: name them %(name)s and give them under params")
    return value


def topic_pattern(value: Any) -> str:
    """A regular expression for topics."""
    expected = "a regular expression for topics, such as orders\\..*"
    if not isinstance(value, str) or not 1 <= len(value) <= 500:
        raise Unfit(expected, value)
    try:
        # a pattern that Python only warns about is good enough for a list of topics
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            re.compile(value)
    except (re.error, RecursionError, OverflowError):
        raise Unfit(expected, value) from None
    return value
