"""From the raw attributes of a message to one map of headers. The attributes stay as they are, and as JSON text."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from penstock.pipeline.texts import NEEDS_ESCAPE, fold, quoted, text_or_null

ENVELOPE = (
    "source_part",
    "source_offset",
    "message_id",
    "published_at",
    "message_key",
    "body",
    "attributes",
    "ack",
    "delivery_attempt",
)
NORMALISED = (*ENVELOPE, "attributes_json", "headers")
# The same headers as `header` finds them: folded keys and values of a plain message, and the map of one that is not.
FOUND = ("names", "texts", "others")


# Between keys that hold no control character.
_BETWEEN = "\x01"


def normalise(messages: DataFrame) -> DataFrame:
    """Adds `attributes_json`, and `headers`: folded key to all its values in order, null for one that is not text.

    Nearly every message is plain: text throughout, nothing to escape, each key once. One look finds that out, and
    such a message is spared the work on each attribute: `header` reads it without a map. Each step is a select of its
    own, because what a later lambda uses many times must be a column by then.
    """
    texts = F.col("attributes.value").cast("array<string>")
    return (
        messages.select(*ENVELOPE, F.col("attributes.key").alias("keys"), texts.alias("texts"))
        .select("*", _is_plain().alias("plain"))
        .select("*", F.when(F.col("plain"), _folded_keys()).alias("names"))
        .select("*", _json().alias("attributes_json"), _entries_unless_plain().alias("entries"))
        .select("*", _sorted().alias("sorted"))
        .select("*", _starts().alias("starts"))
        .select("*", _others().alias("others"))
        .select(*NORMALISED[:-1], F.coalesce("others", _plain()).alias("headers"), *FOUND)
    )


def header(name: str) -> Column:
    """All values of the header with this folded name, null if there is none; the same as in `headers`, only sooner."""
    position = F.array_position("names", F.lit(name))
    plain = F.when(position > F.lit(0), F.array(F.get("texts", (position - F.lit(1)).cast("int"))))
    return F.when(F.col("others").isNull(), plain).otherwise(F.try_element_at("others", F.lit(name)))


def _is_plain() -> Column:
    # Joined by a comma, halves of a character do not make a whole one; a null becomes a character no plain text has.
    joined = F.concat_ws(",", F.array_join("keys", ",", "\0"), F.array_join("texts", ",", "\0"))
    return (F.size("attributes") > F.lit(0)) & F.is_valid_utf8(joined) & ~joined.rlike(NEEDS_ESCAPE)


def _folded_keys() -> Column:
    return F.split(fold(F.array_join("keys", _BETWEEN)), _BETWEEN, -1)


def _plain_json() -> Column:
    pairs = F.transform(
        "attributes",
        lambda one: F.concat(F.lit('["'), one["key"], F.lit('","'), one["value"].cast("string"), F.lit('"]')),
    )
    return F.concat(F.lit("["), F.array_join(pairs, ","), F.lit("]"))


def _entries_unless_plain() -> Column:
    each_once = F.size(F.array_distinct("names")) == F.size("names")
    return F.when(~F.coalesce(each_once, F.lit(False)), _entries())


def _attributes() -> Column:
    return F.coalesce("attributes", F.array())


def _json() -> Column:
    pairs = F.transform(_attributes(), lambda one: _array(_key_json(one["key"]), _value_json(one["value"])))
    return F.when(F.col("plain"), _plain_json()).otherwise(F.concat(F.lit("["), F.array_join(pairs, ","), F.lit("]")))


def _array(key: Column, value: Column) -> Column:
    return F.concat(F.lit("["), key, F.lit(","), value, F.lit("]"))


def _key_json(key: Column) -> Column:
    return _bytes_json(key.cast("binary"))


def _value_json(value: Column) -> Column:
    return F.when(value.isNull(), F.lit("null")).otherwise(_bytes_json(value))


def _bytes_json(raw: Column) -> Column:
    # Spark breaks base64 into lines, as mail does.
    encoded = F.concat(F.lit('{"base64":"'), F.translate(F.base64(raw), "\r\n", ""), F.lit('"}'))
    return F.coalesce(quoted(text_or_null(raw)), encoded)


def _entries() -> Column:
    """The attributes whose key is text: folded key and text of the value."""
    entries = F.transform(
        _attributes(),
        lambda one: F.struct(
            fold(text_or_null(one["key"].cast("binary"))).alias("name"),
            text_or_null(F.coalesce(one["value"], F.lit(b""))).alias("text"),
        ),
    )
    return F.filter(entries, lambda entry: entry["name"].isNotNull())


def _sorted() -> Column:
    """Only where a key came twice: the entries by key, those of one key in their order."""
    names = F.col("entries.name")
    numbered = F.transform(
        "entries",
        lambda entry, position: F.struct(entry["name"].alias("name"), position.alias("position"), entry["text"]),
    )
    return F.when(F.size(F.array_distinct(names)) < F.size(names), F.sort_array(numbered))


def _starts() -> Column:
    """Where in the sorted entries each key begins."""
    begins = F.transform(
        "sorted",
        lambda entry, position: F.when(
            (position == F.lit(0)) | (entry["name"] != _sorted_at(position - F.lit(1))["name"]), position
        ),
    )
    return F.filter(begins, lambda position: position.isNotNull())


def _others() -> Column:
    """Null for a plain message."""
    found = F.when(F.col("sorted").isNull(), _single()).otherwise(_grouped())
    return F.when(F.col("entries").isNotNull(), found)


def _plain() -> Column:
    return F.map_from_arrays("names", F.transform("texts", lambda text: F.array(text)))


def _single() -> Column:
    """The map where every key came once."""
    return F.map_from_arrays(F.col("entries.name"), F.transform("entries", lambda entry: F.array(entry["text"])))


def _grouped() -> Column:
    """The map where keys came twice: in time that grows with the number of headers, not with its square."""
    ends = F.size("sorted") - F.lit(1)
    return F.map_from_arrays(
        F.transform("starts", lambda start: _sorted_at(start)["name"]),
        F.transform(
            "starts",
            lambda start, number: F.transform(
                F.sequence(start, F.coalesce(F.get("starts", number + F.lit(1)) - F.lit(1), ends)),
                lambda position: _sorted_at(position)["text"],
            ),
        ),
    )


def _sorted_at(position: Column) -> Column:
    return F.get("sorted", position)
