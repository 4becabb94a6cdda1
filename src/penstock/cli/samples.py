"""Messages to try on a subscription: of a file, of the dead letters, or out of its source."""

import json
import sys
from collections.abc import Mapping
from contextlib import closing
from itertools import islice
from pathlib import Path

import typer

from penstock.catalog.cases import Sample, read_sample
from penstock.catalog.problems import Problems
from penstock.catalog.reading import Reader
from penstock.catalog.subscription import SubscriptionSpec
from penstock.catalog.yaml import located
from penstock.cli.database import opened
from penstock.cli.nats import credentials_of
from penstock.cli.rehearsal import Rehearsal, first_id
from penstock.cli.subjects import Subject
from penstock.directives.headers import attributes_from_json
from penstock.kernel import dead_letters, subscriptions
from penstock.settings import read_settings

# a body may have as much as a source carries
_LARGEST = 64 * 2**20


def of_file(sample: Sample, spec: SubscriptionSpec) -> Rehearsal:
    """A message that stands in a file; what it leaves out is as the source would have it."""
    # only Kafka has messages without a body
    body = b"" if sample.body is None and spec.source != "kafka" else sample.body
    return Rehearsal(sample.id or first_id(spec), list(sample.attributes), body, sample.key)


def read_message(where: str, spec: SubscriptionSpec) -> Rehearsal:
    """The message in a file of JSON, or on standard input for `-`."""
    name = "standard input" if where == "-" else where
    try:
        data = json.loads(_text(where))
    except (ValueError, RecursionError) as error:
        raise typer.BadParameter(f"{name} is not JSON: {error}", param_hint="--message") from error
    problems = Problems(name)
    sample = read_sample(Reader(located(data), "", problems))
    problems.refuse()
    return of_file(sample, spec)


def dead_message(letter_id: str, path: str) -> Rehearsal:
    """The message of a dead letter of this subscription, as it came."""
    with opened("subscription") as connection:
        found = dead_letters.message(connection, letter_id)
    if found.subscription != path:
        raise typer.BadParameter(
            f"{letter_id} is a message of {found.subscription}, and this is {path}: give that one, or its file",
            param_hint="--from-dlq",
        )
    return Rehearsal(
        message_id=found.message_id,
        headers=attributes_from_json(json.dumps(found.attributes)),
        body=found.body,
        key=found.message_key,
        part=found.part,
        offset=found.source_offset,
        published_at=found.published_at,
    )


def captured(subject: Subject, count: int) -> list[Rehearsal]:
    """The next messages of the source: nothing is acknowledged, and no position moves.

    Kafka and NATS do not notice. Pub/Sub has no way to look: its messages are delivered, and given back at once.
    """
    # their clients take a while to import
    from penstock.sources.opening import open_source, peeking

    spec, ledger = subject.spec, _ledger(subject)
    with credentials_of(spec.auth, read_settings()) as credentials, closing(open_source(spec, credentials)) as source:
        source.check()
        return [
            Rehearsal(
                message_id=one.id,
                headers=list(one.attributes),
                body=one.body,
                key=one.key,
                part=one.part,
                offset=one.offset,
                published_at=one.published_at,
            )
            for one in islice(peeking(source, spec).peek(count, spec.start, ledger), count)
        ]


def _ledger(subject: Subject) -> Mapping[str, int]:
    """How far a registered subscription has come; a file alone has no ledger."""
    if subject.version is None:
        return {}
    with opened("subscription") as connection:
        return {at.part: at.next_offset for at in subscriptions.positions(connection, subject.spec.path)}


def _text(where: str) -> bytes:
    try:
        if where == "-":
            text = sys.stdin.buffer.read(_LARGEST + 1)
        else:
            with Path(where).open("rb") as file:
                text = file.read(_LARGEST + 1)
    except OSError as error:
        raise typer.BadParameter(f"{where} cannot be read: {error.strerror}", param_hint="--message") from error
    if len(text) > _LARGEST:
        raise typer.BadParameter(f"{where} has more than {_LARGEST:,} bytes: too many", param_hint="--message")
    return text
