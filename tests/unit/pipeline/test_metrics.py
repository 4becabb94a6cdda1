"""The counting rule, and the numbers as Prometheus reads them."""

import socket
from dataclasses import replace

import pytest

from penstock.errors import SettingsError
from penstock.kernel.runtimes import Counts
from penstock.pipeline.metrics import STATES, Metrics, Tally, served
from tests.parts.prometheus import scraped

PATH = "subscriptions/orders"
BASE = Counts(
    executions=1000,
    deduplicated=20,
    dead_lettered=3,
    replays=5,
    batches=7,
    recent=[],
    backlog=None,
    last_commit_s=None,
)


def _read(metrics: Metrics) -> dict[str, float]:
    with served(metrics, "127.0.0.1", 0) as port:
        return scraped(port)


def test_commits_of_before_are_not_ours() -> None:
    assert not any(Tally(BASE).more(BASE).values())


def test_what_was_added_since_the_last_look_is_ours() -> None:
    tally = Tally(BASE)
    first = replace(BASE, executions=1010, dead_lettered=4, batches=8)
    second = replace(first, deduplicated=22, replays=9, batches=10)
    assert tally.more(first) == {"executed": 10, "deduplicated": 0, "dead_lettered": 1, "replayed": 0, "batches": 1}
    assert tally.more(second) == {"executed": 0, "deduplicated": 2, "dead_lettered": 0, "replayed": 4, "batches": 2}


def test_the_same_counts_heard_twice_count_once() -> None:
    tally = Tally(BASE)
    tally.more(replace(BASE, executions=1010))
    assert not any(tally.more(replace(BASE, executions=1010)).values())


def test_counts_that_went_back_take_nothing_away_and_are_the_new_beginning() -> None:
    tally = Tally(BASE)
    older = replace(BASE, executions=400, batches=3)
    assert not any(tally.more(older).values())
    assert tally.more(replace(older, executions=401))["executed"] == 1


def test_every_counter_stands_at_zero_before_it_grows() -> None:
    metrics = Metrics()
    metrics.begins(PATH, "nats")
    read = _read(metrics)
    labels = f'source="nats",subscription="{PATH}"'
    outcomes = ("executed", "deduplicated", "dead_lettered", "replayed")
    named = [f'penstock_ingest_messages_total{{outcome="{one}",{labels}}}' for one in outcomes]
    assert [read[one] for one in (*named, f"penstock_ingest_batches_total{{{labels}}}")] == [0] * 5


def test_a_runtime_is_in_one_state_at_a_time() -> None:
    metrics = Metrics()
    for state in STATES:
        metrics.says(PATH, state)
    named = {one: f'penstock_runtime_state{{state="{one}",subscription="{PATH}"}}' for one in STATES}
    assert _read(metrics) == {name: one == STATES[-1] for one, name in named.items()}


def test_what_is_not_known_is_not_told() -> None:
    metrics = Metrics()
    metrics.stands(PATH, BASE)
    assert not _read(metrics)
    metrics.stands(PATH, replace(BASE, backlog=12, last_commit_s=1700000000.5))
    metrics.stands(PATH, BASE)
    assert _read(metrics) == {
        f'penstock_ingest_lag_messages{{subscription="{PATH}"}}': 12,
        f'penstock_ingest_last_commit_timestamp_seconds{{subscription="{PATH}"}}': 1700000000.5,
    }


def test_a_port_that_is_taken_is_refused_with_what_to_set() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with (
            pytest.raises(SettingsError, match=rf"127\.0\.0\.1:{port}.*\n.*PENSTOCK_METRICS_PORT"),
            served(Metrics(), "127.0.0.1", port),
        ):
            pass


def test_a_host_that_is_not_this_machines_is_refused_with_what_to_set() -> None:
    with pytest.raises(SettingsError, match="PENSTOCK_METRICS_HOST"), served(Metrics(), "192.0.2.1", 0):
        pass
