"""The catalog: versions, references, and the documents' own examples."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from penstock.catalog.entry import read
from penstock.credentials import read_credentials
from penstock.errors import BadRequest, CredentialError, UnknownPlaybook, UnknownPool
from penstock.kernel import admin, catalog, executions, subscriptions
from penstock.kernel.connection import Connection
from penstock.kernel.registration import register
from penstock.model import Json
from tests.conftest import Connect
from tests.ingest.support import PATH, PLAYBOOK, playbook, subscription
from tests.sql.support import rows, value

EXAMPLES = sorted((Path(__file__).parent.parent / "unit" / "catalog" / "examples").glob("*.yaml"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_the_documents_own_examples_register_given_what_they_name(
    example: Path, db: Connection, tmp_path: Path
) -> None:
    (entry,) = read(example.read_text(), example.name)
    for path in entry.spec.playbooks():
        playbook(db, path)
    for pool in entry.spec.pools():
        admin.pool_set(db, pool)
    file = tmp_path / "credentials.yaml"
    file.write_text(json.dumps({alias: {"secret": "x"} for alias in entry.spec.credentials()}))
    file.chmod(0o600)
    (made,) = register(db, [entry], read_credentials(file))
    assert (made.version, made.created) == (1, True)
    assert subscriptions.show(db, entry.path).state == "REGISTERED"
    assert register(db, [entry], read_credentials(file))[0].created is False


def test_there_are_six_examples() -> None:
    assert len(EXAMPLES) == 6


def test_what_an_entry_names_must_exist(db: Connection) -> None:
    with pytest.raises(UnknownPlaybook, match=f"the playbook {PLAYBOOK} is not in the catalog"):
        subscription(db)
    playbook(db)
    with pytest.raises(UnknownPool, match="the pool nowhere does not exist"):
        subscription(db, dispatch={"playbook": PLAYBOOK, "execution_pool": "nowhere"})
    with pytest.raises(UnknownPool, match="nowhere"):
        playbook(db, "domain/other", pool="nowhere")
    assert rows(db, "select path from penstock.catalog") == [(PLAYBOOK,)]


def test_a_missing_alias_registers_nothing(db: Connection) -> None:
    (entry,) = read(EXAMPLES[0].read_text(), EXAMPLES[0].name)
    with pytest.raises(CredentialError, match=rf"{EXAMPLES[0].name}:\d+: spec\.spool\.auth: "):
        register(db, [entry], read_credentials(None))
    assert rows(db, "select path from penstock.catalog") == []


def test_a_path_keeps_its_kind(db: Connection) -> None:
    playbook(db)
    with pytest.raises(BadRequest, match="is a Playbook: it cannot become a Subscription"):
        subscription(db, PLAYBOOK)


def test_two_registers_at_once_make_one_version(db: Connection, session: Connect) -> None:
    playbook(db)
    start = Barrier(4, timeout=60)
    connections = [session() for _ in range(4)]

    def one(connection: Connection) -> tuple[int, bool]:
        start.wait()
        content = catalog.entry(connection, PLAYBOOK).content | {"workload": {"n": 1}}
        return catalog.register(connection, PLAYBOOK, "Playbook", content, "")

    with ThreadPoolExecutor(4) as threads:
        made = list(threads.map(one, connections))
    assert sorted(made) == [(2, False)] * 3 + [(2, True)]
    assert [one.version for one in catalog.entries(db)] == [2]


def test_a_batch_of_requests_contains_its_bad_ones(db: Connection) -> None:
    playbook(db)
    asked: list[Json] = [
        {"playbook": PLAYBOOK, "payload": {"n": 1}, "idempotency_key": "k"},
        {"playbook": "domain/nowhere"},
        {"playbook": PLAYBOOK, "payload": [1]},
        {"playbook": PLAYBOOK, "surprise": 1},
        {"playbook": PLAYBOOK, "payload": {"x": "y" * 2_000_000}},
        {"playbook": PLAYBOOK, "idempotency_key": "k"},
        {"playbook": PLAYBOOK, "pool": "nowhere"},
    ]
    done = executions.execute_batch(db, asked)
    assert [one.status for one in done] == ["started", *["refused"] * 4, "known", "refused"]
    assert done[5].execution_id == done[0].execution_id
    assert [(one.error or "")[:5] for one in done] == ["", "PS016", "PS011", "PS011", "PS007", "", "PS003"]
    assert value(db, "select count(*) from penstock.job") == 1
    assert executions.execution_input(db, done[0].execution_id or 0) == {"n": 1}


def test_keys_of_different_playbooks_do_not_meet(db: Connection) -> None:
    playbook(db)
    playbook(db, "domain/other")
    asked = [{"playbook": path, "idempotency_key": "same"} for path in (PLAYBOOK, "domain/other")]
    first, second = executions.execute_batch(db, asked)
    assert first.execution_id != second.execution_id


@pytest.mark.parametrize("size", [0, 1001])
def test_a_batch_is_1_to_1000_requests(size: int, db: Connection) -> None:
    with pytest.raises(BadRequest, match="1 to 1,000"):
        executions.execute_batch(db, [{"playbook": PLAYBOOK}] * size)


def test_an_entry_is_never_changed(db: Connection) -> None:
    playbook(db)
    subscription(db)
    subscription(db, dispatch={"playbook": PLAYBOOK, "payload_from": "message.json"})
    first, second = (catalog.entry(db, PATH, version).content["spec"]["dispatch"] for version in (1, 2))
    assert ("payload_from" in first, second["payload_from"]) == (False, "message.json")
