"""The spool block: parsed and judged before there is a spool."""

from typing import Any

import pytest

from penstock.catalog.spool import Spool
from penstock.catalog.subscription import SubscriptionSpec
from tests.unit.catalog.files import GONE, changed, entry, example, only_problem

GCS = {"mode": "hybrid", "backend": "gcs", "bucket": "gs://acme/x", "auth": "a"}


def _spool(name: str, spool: dict[str, Any]) -> Spool:
    spec = entry(changed(example(name), {"spec/spool": spool})).spec
    assert isinstance(spec, SubscriptionSpec)
    assert spec.spool is not None
    return spec.spool


def test_a_spool_that_is_off_needs_nothing() -> None:
    spool = _spool("orders-drain", {"mode": "off"})
    assert (spool.mode, spool.backend, spool.place, spool.auth) == ("off", None, None, None)


def test_a_folder_of_the_machine_needs_no_credential() -> None:
    spool = _spool("orders-drain", {"mode": "hybrid", "backend": "local_disk", "directory": "/var/spool/x"})
    assert (spool.backend, spool.place, spool.auth) == ("local_disk", "/var/spool/x", None)


def test_the_order_is_by_key_where_messages_have_one_else_one_for_all() -> None:
    assert _spool("orders-drain", GCS).ordering == "per_key"
    assert _spool("stripe-webhook", GCS).ordering == "global"
    assert _spool("stripe-webhook", GCS | {"ordering_key": "customer"}).ordering == "per_key"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"mode": "on"}, "mode: expected off, buffer_and_ack or hybrid, found 'on'"),
        ({"mode": GONE}, "mode: is missing"),
        ({"backend": GONE}, "backend: is missing"),
        ({"backend": "azure"}, "backend: expected gcs, s3, nats_object or local_disk, found 'azure'"),
        ({"bucket": GONE}, "bucket: is missing: gcs needs a bucket"),
        ({"bucket": "s3://acme"}, "bucket: expected a bucket such as gs://"),
        ({"auth": GONE}, "auth: is missing: gcs needs the alias of a credential; there is no default one"),
        ({"directory": "/x/y"}, "directory: gcs keeps its objects in a bucket: name it with bucket"),
        ({"ordering": "random"}, "ordering: expected global, per_key or none"),
        (
            {"ordering": "none", "ordering_key": "device"},
            "ordering_key: is read with ordering per_key only; here it is none",
        ),
        (
            {"ordering": "global", "drain": {"on_recovery": "interleave"}},
            "drain.on_recovery: interleave would mix old and new",
        ),
        ({"drain": {"on_recovery": "never"}}, "drain.on_recovery: expected ordered_then_live or interleave"),
        ({"drain": {"rate_per_sec": 0}}, "drain.rate_per_sec: expected a whole number"),
        ({"drain": {"max_replay_attempts": "ten"}}, "drain.max_replay_attempts: expected a whole number"),
        ({"circuit": {"trip_after": 0}}, "circuit.trip_after: expected a whole number from 1"),
        ({"circuit": {"probe_after": 5}}, "circuit.probe_after: is no key here: did you mean probe_after_ms?"),
        ({"retention": {"max_bytes": "lots"}}, "retention.max_bytes: expected a size in bytes"),
        ({"retention": {"max_age_hours": 0}}, "retention.max_age_hours: expected a whole number of hours from 1"),
        ({"retention": {"on_full": "panic"}}, "retention.on_full: expected stop_acking, drop_to_dlq or alert_only"),
        ({"buket": "x"}, "buket: is no key here: did you mean bucket?"),
    ],
)
def test_a_broken_rule_is_one_error(changes: dict[str, Any], words: str) -> None:
    document = example("orders-drain")
    document["spec"]["spool"] = GCS
    text = changed(document, {f"spec/spool/{key}": value for key, value in changes.items()})
    assert f"spec.spool.{words}" in only_problem(text)


@pytest.mark.parametrize(
    ("spool", "words"),
    [
        ({"backend": "local_disk"}, "directory: is missing: local_disk needs a folder"),
        ({"backend": "local_disk", "directory": "spool"}, "directory: expected an absolute folder"),
        ({"backend": "local_disk", "directory": "/x", "auth": "a"}, "auth: local_disk needs no credential"),
        ({"backend": "local_disk", "directory": "/x", "bucket": "b"}, "bucket: local_disk keeps its files in a folder"),
        ({"backend": "s3", "bucket": "gs://acme", "auth": "a"}, "bucket: expected a bucket such as s3://"),
        ({"backend": "nats_object", "bucket": "a/b", "auth": "a"}, "bucket: expected the name of a NATS object bucket"),
    ],
)
def test_each_backend_has_its_own_place(spool: dict[str, Any], words: str) -> None:
    text = changed(example("orders-drain"), {"spec/spool": {"mode": "buffer_and_ack", **spool}})
    assert f"spec.spool.{words}" in only_problem(text)


def test_a_webhook_has_no_key_of_its_own() -> None:
    text = changed(example("stripe-webhook"), {"spec/spool/ordering": "per_key"})
    assert "spec.spool.ordering: per_key needs ordering_key" in only_problem(text)
