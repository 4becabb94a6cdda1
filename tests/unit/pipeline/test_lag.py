"""How far behind a subscription is, asked of a source that anybody may have written."""

from typing import Any, cast

from penstock.catalog.entry import spec_of
from penstock.catalog.subscription import SubscriptionSpec
from penstock.pipeline.lag import lag_of
from penstock.sources.contract import Source


class Broken:
    """Keeps to the contract in nothing but its name."""

    def backlog(self) -> int:
        raise ZeroDivisionError


def test_a_source_of_ones_own_that_raises_anything_does_not_end_the_renewal_of_the_lease() -> None:
    spec = spec_of(
        "Subscription",
        {
            "apiVersion": "penstock/v1",
            "kind": "Subscription",
            "metadata": {"path": "subscriptions/own"},
            "spec": {"source": "own:Broken", "mode": "pull", "dispatch": {"playbook": "a/b"}},
        },
    )
    assert isinstance(spec, SubscriptionSpec)
    assert lag_of(spec, cast(Source, Broken()), cast(Any, None))({}) is None
