"""What a playbook gets of a message: for the worker that runs it, and for a dry run that needs no more of a worker."""

import json
from base64 import b64encode
from typing import Any

from penstock.catalog.subscription import SubscriptionSpec
from penstock.directives.headers import attributes_from_json, normalise
from penstock.jobs import PermanentError
from penstock.kernel.executions import IngestMessage
from penstock.model import Json


def envelope(message: IngestMessage, spec: SubscriptionSpec) -> Json:
    """What a playbook gets of a message. What is merged in never covers the three names of ours."""
    attributes = attributes_from_json(json.dumps(message.attributes))
    headers = normalise(attributes) if spec.headers.normalize else {}
    data = _data(message, spec.dispatch.payload_from == "message.json")
    ours: Json = {
        "message": {
            "id": message.message_id,
            "data": data,
            "headers": headers,
            "attributes": message.attributes,
            "metadata": {
                "part": message.part,
                "offset": message.source_offset,
                "key": None if message.message_key is None else _text(message.message_key),
                "published_at": None if message.published_at is None else message.published_at.isoformat(),
                "ingested_at": message.ingested_at.isoformat(),
                "delivery_attempt": message.delivery_attempt,
                "directives": message.directives,
            },
        },
        "subscription": message.subscription,
        "source": spec.source,
    }
    merged = {"message.json": data, "message.attributes": headers}.get(spec.dispatch.payload_from)
    return {**(merged if isinstance(merged, dict) else {}), **ours}


def _data(message: IngestMessage, is_json: bool) -> Any:
    if message.body is None:
        return None
    if not is_json:
        return _text(message.body)
    try:
        return json.loads(message.body)
    except (ValueError, RecursionError) as error:
        # PostgreSQL takes integers of more digits, and deeper nesting, than Python reads: another try ends the same
        raise PermanentError(
            f"the body of message {message.message_id} is JSON that Python cannot read: {error}. "
            f"To get such bodies as text, register {message.subscription} with payload_from: message.body"
        ) from error


def _text(value: bytes) -> str | dict[str, str]:
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return {"base64": b64encode(value).decode("ascii")}
