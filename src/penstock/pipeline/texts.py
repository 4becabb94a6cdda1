"""Text in Columns exactly as penstock.directives has it in Python: folding, what counts as text, JSON strings."""

from string import ascii_lowercase, ascii_uppercase

from pyspark.sql import Column
from pyspark.sql import functions as F

from penstock.directives.baggage import OWS

NEEDS_ESCAPE = r'[\x00-\x1F"\\]'


def fold(text: Column) -> Column:
    """Lower case for A to Z alone. lower() is quicker, but folds every script: it is used where all is ASCII."""
    is_ascii = F.octet_length(text) == F.char_length(text)
    return F.when(is_ascii, F.lower(text)).otherwise(F.translate(text, ascii_uppercase, ascii_lowercase))


def text_or_null(raw: Column) -> Column:
    """Bytes as a string, null if they are not UTF-8 or hold U+0000."""
    text = raw.cast("string")
    return F.when(F.is_valid_utf8(text) & ~F.contains(text, F.lit("\0")), text)


def quoted(text: Column) -> Column:
    """A JSON string. Most texts have nothing to escape, and are spared the writer."""
    written = F.to_json(F.array(text))
    escaped = F.substr(written, F.lit(2), F.char_length(written) - F.lit(2))
    return F.when(text.rlike(NEEDS_ESCAPE), escaped).otherwise(quoted_plainly(text))


def quoted_plainly(text: Column) -> Column:
    """A JSON string of a text that is known to hold nothing to escape."""
    return F.concat(F.lit('"'), text, F.lit('"'))


def trimmed(text: Column) -> Column:
    """Without the optional white space of HTTP, which is blanks and tabs only."""
    return F.btrim(text, F.lit(OWS))


def matches(text: Column, pattern: str) -> Column:
    """Is the whole text of this pattern?"""
    return text.rlike(whole(pattern))


def whole(pattern: str) -> str:
    """The pattern bound to both ends, as Java says it: `$` would let a line end pass."""
    return rf"\A(?:{pattern})\z"


def last(array: Column) -> Column:
    """The last element, null if there is none."""
    return F.get(array, F.size(array) - F.lit(1))


def listed(texts: Column) -> Column:
    """The members of a comma-separated header, sent once or in pieces: trimmed, without empty ones."""
    members = F.transform(F.split(F.array_join(texts, ","), ",", -1), trimmed)
    return F.filter(members, lambda member: member != F.lit(""))


def all_text(texts: Column) -> Column:
    """Is none of a header's values null, that is, not text?"""
    return F.forall(texts, lambda text: text.isNotNull())
