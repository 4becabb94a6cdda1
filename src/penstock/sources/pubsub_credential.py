"""What a credential for Pub/Sub may hold, and the channel that it opens."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import google.auth
import grpc
from google.auth import credentials as logins
from google.auth.exceptions import DefaultCredentialsError, GoogleAuthError, TransportError
from google.auth.transport.grpc import AuthMetadataPlugin
from google.auth.transport.requests import Request
from google.oauth2 import credentials as oauth2
from google.oauth2 import service_account

from penstock.errors import SourceRefused, SourceUnavailable

GOOGLE = "pubsub.googleapis.com:443"
SCOPES = ["https://www.googleapis.com/auth/pubsub"]
LOGINS = ("service_account_file", "service_account", "token", "application_default", "emulator")
KNOWN = (*LOGINS, "endpoint", "ca_file")
# a server that comes back is found within seconds, and one client's failures do not slow another's first try
_CHANNEL = [
    ("grpc.max_receive_message_length", -1),
    ("grpc.max_send_message_length", -1),
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.initial_reconnect_backoff_ms", 200),
    ("grpc.max_reconnect_backoff_ms", 2000),
]


@dataclass(frozen=True)
class PubsubCredential:
    """Exactly one way to log in. There is no default one: the environment is asked only where the alias says so."""

    login: str
    value: Any = field(repr=False)
    endpoint: str
    ca_file: str | None = None

    @classmethod
    def read(cls, credential: Mapping[str, Any]) -> Self:
        """Check the mapping a file of credentials holds under an alias."""
        unknown = [str(key) for key in credential if key not in KNOWN]
        if unknown:
            raise SourceRefused(f"A credential for Pub/Sub does not know {unknown[0]}. It may hold {', '.join(KNOWN)}.")
        given = [key for key in LOGINS if credential.get(key)]
        if len(given) != 1:
            raise SourceRefused(
                f"A credential for Pub/Sub must hold exactly one of {', '.join(LOGINS)}; "
                f"this one holds {' and '.join(given) or 'none'}."
            )
        login = given[0]
        _refuse_odd(login, credential)
        endpoint = credential["emulator"] if login == "emulator" else credential.get("endpoint") or GOOGLE
        return cls(login, credential[login], _with_port(str(endpoint)), credential.get("ca_file"))

    def channel(self) -> grpc.Channel:
        """Logged in, unless it is an emulator's; a login that does not work is refused here, in words."""
        if self.login == "emulator":
            return grpc.insecure_channel(self.endpoint, _CHANNEL)
        request = Request()
        login = self._logged_in(request)
        roots = _bytes(self.ca_file, "ca_file") if self.ca_file else None
        both = grpc.composite_channel_credentials(
            grpc.ssl_channel_credentials(root_certificates=roots),
            grpc.metadata_call_credentials(AuthMetadataPlugin(login, request)),
        )
        return grpc.secure_channel(self.endpoint, both, _CHANNEL)

    def _logged_in(self, request: Request) -> logins.Credentials:
        try:
            login = self._login()
            if self.login != "token":
                login.refresh(request)
        except TransportError as error:
            raise SourceUnavailable(
                f"Google's login for Pub/Sub at {self.endpoint} does not answer: {_first_line(error)}."
            ) from error
        except DefaultCredentialsError as error:
            raise SourceRefused(
                "A credential for Pub/Sub says application_default, and this host has none: "
                f"{_first_line(error)} Run: gcloud auth application-default login"
            ) from error
        except GoogleAuthError as error:
            raise SourceRefused(
                f"Google refused the credential for Pub/Sub at {self.endpoint}: {_first_line(error)}. "
                f"Correct {self.login} in the file of credentials."
            ) from error
        return login

    def _login(self) -> logins.Credentials:
        if self.login == "token":
            return oauth2.Credentials(str(self.value))
        if self.login == "application_default":
            login, _ = google.auth.default(scopes=SCOPES)
            return login
        try:
            account: logins.Credentials = service_account.Credentials.from_service_account_info(
                self._account(), scopes=SCOPES
            )
            return account
        except SourceRefused:
            raise
        except Exception as error:
            # what reads keys may quote them
            raise SourceRefused(
                f"The {self.login} of a credential for Pub/Sub is no service account's JSON ({type(error).__name__}). "
                "Give the file that gcloud iam service-accounts keys create wrote."
            ) from None

    def _account(self) -> dict[str, Any]:
        if isinstance(self.value, Mapping):
            return dict(self.value)
        raw = _bytes(str(self.value), self.login) if self.login == "service_account_file" else str(self.value)
        found: dict[str, Any] = json.loads(raw)
        return found


def _refuse_odd(login: str, credential: Mapping[str, Any]) -> None:
    if login == "application_default" and str(credential[login]).lower() != "true":
        raise SourceRefused("A credential for Pub/Sub takes application_default: true, or leaves it out.")
    if login == "emulator" and (credential.get("endpoint") or credential.get("ca_file")):
        raise SourceRefused("A credential for a Pub/Sub emulator holds nothing but emulator: host:port.")


def _with_port(endpoint: str) -> str:
    bare = endpoint.removeprefix("https://").removeprefix("http://").rstrip("/")
    return bare if ":" in bare else f"{bare}:443"


def _bytes(path: str, key: str) -> bytes:
    try:
        return Path(path).expanduser().read_bytes()
    except OSError as error:
        raise SourceRefused(f"The {key} of a credential for Pub/Sub cannot be read: {error}.") from error


def _first_line(error: Exception) -> str:
    """google-auth adds what the server said, which may be long."""
    said = error.args[0] if error.args else error
    return (str(said).strip().splitlines() or [type(error).__name__])[0][:300].rstrip(".")
