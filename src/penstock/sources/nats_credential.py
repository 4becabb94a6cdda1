"""What a credential for NATS may hold, as nats-py's options."""

import ssl
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from penstock.errors import SourceRefused

KNOWN = ("servers", "user", "password", "token", "creds_file", "nkey_seed_file", "tls")
KNOWN_TLS = ("ca_file", "cert_file", "key_file")


def connect_options(credential: Mapping[str, Any]) -> tuple[list[str], dict[str, Any]]:
    """The servers, and how to log in to them."""
    _refuse_unknown(credential, KNOWN, "")
    servers = credential.get("servers")
    if not servers:
        raise SourceRefused("A credential for NATS must name its servers, such as servers: nats://127.0.0.1:4222.")
    options = {
        "user": credential.get("user"),
        "password": credential.get("password"),
        "token": credential.get("token"),
        "user_credentials": _readable(credential, "creds_file"),
        "nkeys_seed": _readable(credential, "nkey_seed_file"),
        "tls": _tls(credential["tls"]) if credential.get("tls") else None,
    }
    chosen = {name: value for name, value in options.items() if value is not None}
    return [servers] if isinstance(servers, str) else [str(server) for server in servers], chosen


def without_login(server: str) -> str:
    """How a message names a server: its URL may hold a password."""
    parts = urlsplit(server if "://" in server else f"nats://{server}")
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"


def _readable(credential: Mapping[str, Any], key: str) -> str | None:
    if credential.get(key) is None:
        return None
    path = Path(str(credential[key])).expanduser()
    try:
        path.read_bytes()
    except OSError as error:
        raise SourceRefused(f"The {key} of a credential for NATS cannot be read: {error}.") from error
    return str(path)


def _tls(files: Mapping[str, Any]) -> ssl.SSLContext:
    _refuse_unknown(files, KNOWN_TLS, "tls.")
    try:
        context = ssl.create_default_context(cafile=files.get("ca_file"))
        if "cert_file" in files:
            context.load_cert_chain(files["cert_file"], files.get("key_file"))
    except OSError as error:
        raise SourceRefused(f"The TLS files of a credential for NATS cannot be used: {error}.") from error
    return context


def _refuse_unknown(mapping: Mapping[str, Any], known: tuple[str, ...], under: str) -> None:
    unknown = [str(key) for key in mapping if key not in known]
    if unknown:
        may = ", ".join(under + key for key in known)
        raise SourceRefused(f"A credential for NATS does not know {under}{unknown[0]}. It may hold {may}.")
