"""Events sent over HTTP, signed as the Standard Webhooks specification says: id, time and raw body, HMAC-SHA256."""

import hmac
import json
import time
from base64 import b64decode, b64encode
from binascii import Error as NotBase64
from hashlib import sha256

import httpx

from penstock.credentials import Credentials
from penstock.errors import CredentialError, PenstockError
from penstock.model import Json
from penstock.worker.exchange import HttpClient, NoAnswer, NotSendable, place

_PREFIX = "whsec_"
_TIMEOUT_S = 10
_GONE = 410


class NotDelivered(PenstockError):
    """The receiver did not say that it has it."""


class ReceiverGone(NotDelivered):
    """The receiver wants nothing more (410)."""


class Sender:
    """Keeps connections to receivers open: many events go to the same few. Threads share it."""

    def __init__(self) -> None:
        self._client = HttpClient("penstock-webhooks")

    def post(self, delivery: Json, credentials: Credentials) -> int:
        """Send one event; the receiver's status. Anything but 2xx raises."""
        target = delivery["target"]
        body = _body(delivery["event"])
        headers = {
            "content-type": "application/json",
            "user-agent": "penstock",
            **signed(_secret(target["secret"], credentials), delivery["idempotency_key"], int(time.time()), body),
        }
        url = httpx.URL(target["url"])
        timeout_s = float(target.get("timeout_s") or _TIMEOUT_S)
        try:
            status = self._client.send("POST", url, headers, body, timeout_s=timeout_s).status
        except (NoAnswer, NotSendable) as error:
            raise NotDelivered(str(error)) from error
        if status == _GONE:
            raise ReceiverGone(f"POST {place(url)}: the receiver answered 410, and wants nothing more")
        if not 200 <= status < 300:
            raise NotDelivered(f"POST {place(url)}: the receiver answered {status}")
        return status


def signed(secret: bytes, message_id: str, timestamp: int, body: bytes) -> dict[str, str]:
    """The three headers a receiver verifies."""
    content = f"{message_id}.{timestamp}.".encode() + body
    signature = b64encode(hmac.new(secret, content, sha256).digest()).decode()
    return {"webhook-id": message_id, "webhook-timestamp": str(timestamp), "webhook-signature": f"v1,{signature}"}


def _body(event: Json) -> bytes:
    told = {"type": f"{event['event_domain']}.{event['event_type']}", "timestamp": event["created_at"], "data": event}
    return json.dumps(told, separators=(",", ":"), ensure_ascii=False).encode()


def _secret(alias: str, credentials: Credentials) -> bytes:
    text = credentials.get(alias).get("secret")
    if not isinstance(text, str) or not text:
        raise CredentialError(
            f"credential {alias} has no secret: add one, such as whsec_ and 32 random bytes in base64"
        )
    try:
        return b64decode(text.removeprefix(_PREFIX), validate=True)
    except NotBase64 as error:
        raise CredentialError(f"the secret of credential {alias} is not whsec_ and base64") from error
