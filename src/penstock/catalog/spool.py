"""The `spool:` block of a subscription: where messages wait while what they need is down."""

from dataclasses import dataclass

from penstock.catalog import names
from penstock.catalog.reading import Reader
from penstock.catalog.values import Kind, milliseconds, one_of, size, text, whole

_BUCKETS: dict[str, Kind[str]] = {"gcs": names.gcs_bucket, "s3": names.s3_bucket, "nats_object": names.nats_bucket}
_FIELD = text("the name of a field or header, at most 200 characters", r"\S([^\r\n]{0,198}\S)?")
_GIB = 1024**3
_DAY_MS = 86_400_000


@dataclass(frozen=True)
class Circuit:
    """When a downstream counts as down, and when it is tried again."""

    trip_after: int = 5
    probe_after_ms: int = 30_000


@dataclass(frozen=True)
class Retention:
    """How much is kept, and what happens when that is full."""

    max_age_hours: int = 72
    max_bytes: int = 50 * _GIB
    on_full: str = "stop_acking"


@dataclass(frozen=True)
class Drain:
    """How what was kept is replayed."""

    on_recovery: str = "ordered_then_live"
    rate_per_sec: int = 200
    max_replay_attempts: int = 10


@dataclass(frozen=True)
class Spool:
    """Store and forward. `place` is the bucket, or the folder of local_disk; off needs neither."""

    mode: str
    backend: str | None
    place: str | None
    auth: str | None
    circuit: Circuit
    ordering: str
    ordering_key: str | None
    retention: Retention
    drain: Drain


def read_spool(block: Reader | None, source: str) -> Spool | None:
    if block is None:
        return None
    mode = block.take("mode", one_of("off", "buffer_and_ack", "hybrid"))
    backend = _backend(block, mode)
    ordering, ordering_key = _ordering(block, source)
    spool = Spool(
        mode=mode,
        backend=backend,
        place=_place(block, backend),
        auth=block.take("auth", names.alias, None),
        circuit=_circuit(block.inside_if_any("circuit")),
        ordering=ordering,
        ordering_key=ordering_key,
        retention=_retention(block.inside_if_any("retention")),
        drain=_drain(block.inside_if_any("drain"), ordering),
    )
    _check_backend(block, spool)
    block.close()
    return spool


def _backend(block: Reader, mode: str) -> str | None:
    kind = one_of(*_BUCKETS, "local_disk")
    return block.take("backend", kind, None) if mode == "off" else block.take("backend", kind)


def _place(block: Reader, backend: str | None) -> str | None:
    bucket = block.take("bucket", _BUCKETS.get(backend or "", text("a bucket", r"\S+", 1000)), None)
    return block.take("directory", names.directory, None) or bucket


def _check_backend(block: Reader, spool: Spool) -> None:
    """Each backend with its own place and credential."""
    if spool.backend == "local_disk":
        block.refuse_any(
            {
                "bucket": "local_disk keeps its files in a folder: name it with directory",
                "auth": "local_disk needs no credential: leave auth out",
            }
        )
        block.require("directory", "is missing: local_disk needs a folder")
    elif spool.backend in _BUCKETS:
        block.refuse_any({"directory": f"{spool.backend} keeps its objects in a bucket: name it with bucket"})
        block.require("bucket", f"is missing: {spool.backend} needs a bucket")
        if not block.has("auth"):
            block.refuse(
                "auth", f"is missing: {spool.backend} needs the alias of a credential; there is no default one"
            )


def _ordering(block: Reader, source: str) -> tuple[str, str | None]:
    """A webhook's messages have no key of their own, so without ordering_key they keep one order for all."""
    key = block.take("ordering_key", _FIELD, None)
    keyed = source != "webhook" or block.has("ordering_key")
    ordering = block.take("ordering", one_of("global", "per_key", "none"), "per_key" if keyed else "global")
    if ordering == "per_key" and not keyed:
        block.refuse("ordering", "per_key needs ordering_key: a webhook's messages have no key of their own")
    if ordering in ("global", "none") and block.has("ordering_key"):
        block.refuse("ordering_key", f"is read with ordering per_key only; here it is {ordering}")
    return ordering, key


def _circuit(block: Reader | None) -> Circuit:
    if block is None:
        return Circuit()
    circuit = Circuit(
        trip_after=block.take("trip_after", whole(1, 10_000), Circuit.trip_after),
        probe_after_ms=block.take("probe_after_ms", milliseconds(_DAY_MS, 100), Circuit.probe_after_ms),
    )
    block.close()
    return circuit


def _retention(block: Reader | None) -> Retention:
    if block is None:
        return Retention()
    retention = Retention(
        max_age_hours=block.take("max_age_hours", whole(1, 87_600, "hours"), Retention.max_age_hours),
        max_bytes=block.take("max_bytes", size, Retention.max_bytes),
        on_full=block.take("on_full", one_of("stop_acking", "drop_to_dlq", "alert_only"), Retention.on_full),
    )
    block.close()
    return retention


def _drain(block: Reader | None, ordering: str) -> Drain:
    if block is None:
        return Drain()
    drain = Drain(
        on_recovery=block.take("on_recovery", one_of("ordered_then_live", "interleave"), Drain.on_recovery),
        rate_per_sec=block.take("rate_per_sec", whole(1, 1_000_000), Drain.rate_per_sec),
        max_replay_attempts=block.take("max_replay_attempts", whole(1, 1000), Drain.max_replay_attempts),
    )
    if drain.on_recovery == "interleave" and ordering == "global":
        block.refuse(
            "on_recovery", "interleave would mix old and new messages, and ordering is global: use ordered_then_live"
        )
    block.close()
    return drain
