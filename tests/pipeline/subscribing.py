"""Subscriptions for tests that run them in the run's own Spark session."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from penstock.kernel import catalog, subscriptions
from penstock.kernel.connection import Connection
from tests.ingest.support import PATH, PLAYBOOK, playbook

Subscribe = Callable[..., str]


@pytest.fixture
def subscribe(db: Connection, database: str, credentials_file: Path) -> Subscribe:
    """Register and activate a subscription; its credential and the database are in the file of credentials."""
    playbook(db)
    playbook(db, "domain/fraud")

    def register(credential: dict[str, Any], **spec: Any) -> str:
        credentials_file.write_text(json.dumps({"main": credential, "penstock_database": {"url": database}}))
        content = {
            "apiVersion": "penstock/v1",
            "kind": "Subscription",
            "metadata": {"name": "orders", "path": PATH},
            "spec": {"mode": "pull", "auth": "main", "dispatch": {"playbook": PLAYBOOK}, **spec},
        }
        catalog.register(db, PATH, "Subscription", content, "")
        subscriptions.move(db, PATH, "activate")
        return PATH

    return register
