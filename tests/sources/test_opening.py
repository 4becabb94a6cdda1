"""A user's own class as a source: what does not fit is said before anything is read."""

import pytest

from outbox import OutboxQueue
from penstock.catalog.entry import spec_of
from penstock.catalog.subscription import SubscriptionSpec
from penstock.errors import SourceMissing, SourceUnfit
from penstock.sources.opening import open_queue


class Forgetful:
    """Lacks half of the contract."""

    def __init__(self, credential: object) -> None: ...

    def check(self) -> None: ...

    def spans(self) -> None: ...

    def fetch(self, limit: int, wait_s: float) -> None: ...

    def close(self) -> None: ...


def _spec(source: str, **options: object) -> SubscriptionSpec:
    spec = spec_of(
        "Subscription",
        {
            "apiVersion": "penstock/v1",
            "kind": "Subscription",
            "metadata": {"path": "subscriptions/own"},
            "spec": {"source": source, "mode": "pull", "dispatch": {"playbook": "a/b"}}
            | ({"options": options} if options else {}),
        },
    )
    assert isinstance(spec, SubscriptionSpec)
    return spec


def test_a_class_gets_its_credential_and_options() -> None:
    queue = open_queue(_spec("outbox:OutboxQueue", table="parcels", hold_s=90), {"url": "postgresql://host/shop"})
    assert isinstance(queue, OutboxQueue)
    queue.close()


@pytest.mark.parametrize("source", ["no_such_module:Queue", "outbox:NoSuchQueue"])
def test_a_class_that_cannot_be_imported_is_missing_and_says_where_to_put_it(source: str) -> None:
    with pytest.raises(SourceMissing, match=rf"{source} cannot be imported here: .* PYTHONPATH"):
        open_queue(_spec(source), {})


def test_options_the_class_does_not_take_are_named() -> None:
    with pytest.raises(SourceUnfit, match=r"outbox:OutboxQueue does not take the options .* 'tabel'"):
        open_queue(_spec("outbox:OutboxQueue", tabel="parcels"), {"url": "postgresql://host/shop"})


def test_a_class_without_all_of_the_contract_says_what_is_lacking() -> None:
    with pytest.raises(SourceUnfit, match="has no backlog, floors, acknowledge, give_back: see Queue"):
        open_queue(_spec(f"{__name__}:Forgetful"), {})
