"""A Pub/Sub subscription that would not notice a restored older database says so, wherever it is looked at."""

from pathlib import Path

import pytest

from penstock.kernel.connection import Connection
from tests.acceptance.conftest import Penstock
from tests.sql.support import rows

PATH = "subscriptions/orders"
FILE = """
apiVersion: penstock/v1
kind: Playbook
metadata: {path: shop/process}
workflow:
  - {step: start, tool: {kind: noop}}
---
apiVersion: penstock/v1
kind: Subscription
metadata: {path: subscriptions/orders}
spec:
  source: pubsub
  mode: pull
  auth: main
  subscription: projects/shop/subscriptions/penstock-orders
  dispatch: {playbook: shop/process}
"""
CAUTION = "an older copy of the database, once restored, is not noticed"


@pytest.fixture
def penstock(database: str, tmp_path: Path) -> Penstock:
    credentials = tmp_path / "credentials.yaml"
    credentials.write_text("main: {emulator: '127.0.0.1:1'}\n")
    credentials.chmod(0o600)
    return Penstock(PENSTOCK_DATABASE_URL=database, PENSTOCK_CREDENTIALS=str(credentials))


def _file(folder: Path, more: str = "") -> Path:
    file = folder / "orders.yaml"
    file.write_text(FILE.replace("  mode: pull\n", f"  mode: pull\n{more}"))
    return file


def _cautions(db: Connection) -> list[tuple[str | None]]:
    return rows(db, "select detail ->> 'caution' from penstock.v_subscription_event where happening ~ 'activated'")


def test_without_a_mark_it_is_said_and_recorded(penstock: Penstock, db: Connection, tmp_path: Path) -> None:
    file = _file(tmp_path)
    assert CAUTION in penstock.ok("subscription", "explain", file)
    penstock.ok("subscription", "register", file)
    assert CAUTION in penstock.run("subscription", "activate", PATH).err
    assert CAUTION in penstock.ok("subscription", "show", PATH)
    said = penstock.json("subscription", "show", PATH)["cautions"]
    assert "restore_mark: true" in said[0]
    # in the same words
    assert _cautions(db) == [(said[0],)]


def test_with_a_mark_there_is_nothing_to_say(penstock: Penstock, db: Connection, tmp_path: Path) -> None:
    file = _file(tmp_path, "  restore_mark: true\n")
    penstock.ok("subscription", "register", file)
    ran = [penstock.run("subscription", *words) for words in (("explain", file), ("activate", PATH), ("show", PATH))]
    assert not any(CAUTION in one.out + one.err for one in ran)
    assert "is noticed by a mark" in ran[0].out
    assert _cautions(db) == [(None,)]
