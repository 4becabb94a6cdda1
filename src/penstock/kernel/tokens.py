"""Tokens of the HTTP API: made, looked at, revoked. Whoever holds the secret is the token's actor."""

import re
from base64 import b32encode
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from secrets import token_bytes, token_urlsafe

from psycopg.rows import class_row

from penstock.kernel.connection import Connection, translated

_SHAPE = re.compile(r"pst_([a-z2-7]{16})_([A-Za-z0-9_-]{43})")


@dataclass(frozen=True)
class Token:
    """One row of v_api_token."""

    token_id: str
    actor: str
    scopes: list[str]
    paths: list[str] | None
    state: str
    note: str | None
    created_by: str
    created_at: datetime
    expires_at: datetime | None
    revoked_by: str | None
    revoked_at: datetime | None


@dataclass(frozen=True)
class Shown:
    """What the text of a token says: which it is, and the hash of its secret."""

    token_id: str
    secret_sha256: bytes


@dataclass(frozen=True)
class Bearer:
    """Whom a request speaks for, and what it may ask."""

    actor: str
    scopes: frozenset[str]
    # the subscriptions that `internal` opens; None: every one
    paths: frozenset[str] | None
    state: str

    def reaches(self, path: str) -> bool:
        return self.paths is None or path in self.paths


def create(
    connection: Connection,
    actor: str,
    scopes: list[str],
    *,
    expires_at: datetime | None = None,
    note: str | None = None,
    created_by: str | None = None,
    paths: list[str] | None = None,
) -> tuple[str, str]:
    """fn_token_create: the token's id, and the text its holder shows. The text is kept nowhere."""
    token_id = b32encode(token_bytes(10)).decode().lower()
    secret = token_urlsafe(32)
    with translated(connection):
        connection.execute(
            "select penstock.fn_token_create(%s, %s, %s, %s::text[], %s, %s, %s, %s::text[])",
            [token_id, _hashed(secret), actor, scopes, expires_at, note, created_by, paths],
        )
    return token_id, f"pst_{token_id}_{secret}"


def read(text: str) -> Shown | None:
    """None for what is no token of ours: it need not be asked about."""
    shape = _SHAPE.fullmatch(text)
    return None if shape is None else Shown(shape[1], _hashed(shape[2]))


def check(connection: Connection, shown: Shown) -> Bearer | None:
    """fn_token_check: None for one that is not known."""
    with translated(connection):
        row = connection.execute(
            "select actor, scopes, paths, state from penstock.fn_token_check(%s, %s)",
            [shown.token_id, shown.secret_sha256],
        ).fetchone()
    if row is None:
        return None
    actor, scopes, paths, state = row
    return Bearer(actor, frozenset(scopes), None if paths is None else frozenset(paths), state)


def revoke(connection: Connection, token_id: str, actor: str | None = None) -> bool:
    """fn_token_revoke: False when it was revoked before."""
    with translated(connection):
        row = connection.execute("select penstock.fn_token_revoke(%s, %s)", [token_id, actor]).fetchone()
    return bool(row and row[0])


def listed(connection: Connection) -> list[Token]:
    """v_api_token, newest first."""
    with translated(connection), connection.cursor(row_factory=class_row(Token)) as cursor:
        return cursor.execute("select * from penstock.v_api_token order by created_at desc, token_id").fetchall()


def _hashed(secret: str) -> bytes:
    # of 256 random bits: nothing slower is needed
    return sha256(secret.encode()).digest()
