"""How a subscription is run: the `runtime:`, `limits:`, `dedup:` and `scaling:` blocks."""

from dataclasses import dataclass

from penstock.catalog import names
from penstock.catalog.reading import Reader
from penstock.catalog.values import flag, milliseconds, one_of, seconds, text, whole

_MOST_MESSAGES = 10_000_000
_HOUR_MS = 3_600_000
_YEAR_S = 366 * 86_400
# asked for a shorter time Pub/Sub may say that nothing is there though something is
_PUBSUB_WAIT_MS = 10_000
# they describe a deployment that does not exist yet
_DEPLOYMENT = ("target", "pool", "server_url", "concurrency", "max_instances")
_ACK = (
    "a message is acknowledged when its execution is committed: leave this out; "
    "acknowledging after the execution has ended comes with a later release"
)
ACK_KEYS = dict.fromkeys(("ack", "ack_mode", "ack_policy", "ack_after"), _ACK)


@dataclass(frozen=True)
class Runtime:
    """`batch` is messages of a commit at most, `timeout_ms` a fetch's wait, `trigger_ms` the pause between two."""

    target: str | None = None
    pool: str | None = None
    batch: int = 50_000
    max_in_flight: int | None = None
    timeout_ms: int = 1000
    trigger_ms: int = 500
    server_url: str | None = None
    concurrency: int | None = None
    max_instances: int | None = None

    @classmethod
    def of(cls, source: str) -> "Runtime":
        """What holds where a file says nothing."""
        return cls(timeout_ms=_PUBSUB_WAIT_MS) if source == "pubsub" else cls()


@dataclass(frozen=True)
class Limits:
    max_dispatch_per_sec: int | None = None
    max_in_flight: int | None = None


@dataclass(frozen=True)
class Dedup:
    """One execution per key and window; without window_s the database's queue.once_key.ttl_s.dedup."""

    enabled: bool = False
    window_s: int | None = None


def read_runtime(
    block: Reader | None, source: str, mode: str, activation: str | None, deadline_s: int | None
) -> Runtime:
    """`deadline_s`: so long a source waits for the acknowledgement of a message."""
    default = Runtime.of(source)
    if block is None:
        return default
    block.refuse_any(ACK_KEYS)
    runtime = Runtime(
        target=block.take("target", one_of("dedicated-pool", "cloud-run", "local"), None),
        pool=block.take("pool", names.pool, None),
        batch=block.take("batch", whole(1, 1_000_000), Runtime.batch),
        max_in_flight=block.take("max_in_flight", whole(1, _MOST_MESSAGES), None),
        timeout_ms=block.take("timeout_ms", milliseconds(60_000), default.timeout_ms),
        trigger_ms=block.take("trigger_ms", milliseconds(_HOUR_MS), Runtime.trigger_ms),
        server_url=block.take("server_url", names.url, None),
        concurrency=block.take("concurrency", whole(1, 10_000), None),
        max_instances=block.take("max_instances", whole(1, 10_000), None),
    )
    block.unused(*_DEPLOYMENT)
    if mode == "push":
        block.unused("batch", "timeout_ms", "trigger_ms")
    elif activation == "scheduled":
        block.unused("trigger_ms")
    elif deadline_s and runtime.trigger_ms and runtime.trigger_ms > deadline_s * 500:
        block.refuse(
            "trigger_ms",
            f"is {runtime.trigger_ms}, more than half of ack_deadline_s, which is {deadline_s}: a message that is "
            "found between two batches would be handed out again before the next",
        )
    if source == "kafka" and mode == "pull":
        block.unused("timeout_ms")
    block.close()
    return runtime


def read_limits(block: Reader | None) -> Limits:
    if block is None:
        return Limits()
    limits = Limits(
        max_dispatch_per_sec=block.take("max_dispatch_per_sec", whole(1, 1_000_000), None),
        max_in_flight=block.take("max_in_flight", whole(1, _MOST_MESSAGES), None),
    )
    block.close()
    return limits


def read_dedup(block: Reader | None) -> Dedup:
    """A block that does not say `enabled: false` asks for it."""
    if block is None:
        return Dedup()
    dedup = Dedup(block.take("enabled", flag, True), block.take("window_s", seconds(_YEAR_S), None))
    block.close()
    return dedup


def check_scaling(spec: Reader) -> None:
    """Nothing scales by it yet, but what stands there is checked."""
    block = spec.inside_if_any("scaling")
    if block is None:
        return
    keda = block.inside("keda")
    keda.take("trigger", text("the name of a KEDA scaler", r"[a-z0-9-]{1,100}"), None)
    lowest = keda.take("min", whole(0, 10_000), None)
    highest = keda.take("max", whole(1, 10_000), None)
    keda.take("lag_threshold", whole(1, 1_000_000_000), None)
    if lowest and highest and lowest > highest:
        keda.refuse("min", f"is {lowest}, more than max, which is {highest}")
    keda.close()
    block.unused("keda")
    block.close()
