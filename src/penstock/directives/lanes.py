"""The lane that a message's key makes, in plain Python; penstock.pipeline.admit has the same in Columns."""

from hashlib import sha256

from penstock.directives.headers import text_or_none

# with a subscription's path before it, it fits into a lane's name
LONGEST_KEY = 200


def lane_of(subscription: str, key: bytes | None) -> str | None:
    """None for a message without a key. A key that is too long for a lane's name, or no text, is named by its hash."""
    if not key:
        return None
    text = text_or_none(key)
    is_short = text is not None and len(text) <= LONGEST_KEY
    return f"{subscription}:{text if is_short else 'sha256=' + sha256(key).hexdigest()}"
