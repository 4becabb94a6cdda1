"""The cells of the table, by name. Each function measures what its cell shows."""

from collections.abc import Callable

from bench.cells import claim, drain, enqueue, events, ingest, latency, local, markcut, playbooks
from bench.results import Cell
from bench.run import Bench

CELLS: dict[str, Callable[[Bench], list[Cell]]] = {
    "enqueue_bulk": enqueue.bulk,
    "enqueue_keyed": enqueue.keyed,
    "drain_100k": drain.short,
    "drain_300k": drain.long,
    "drain_vs_raw": drain.against_raw,
    "wal_bytes_per_job": drain.wal,
    "latency_wake_p50": latency.wake_p50,
    "latency_wake_p99": latency.wake_p99,
    "latency_poll": latency.poll,
    "claim_backlog": claim.backlog,
    "claim_foreign": claim.foreign,
    "claim_lane": claim.lane,
    "trigger_update": events.update,
    "trigger_insert": events.insert,
    "dispatch": events.dispatch,
    "dispatch_flat": events.flat,
    "event_latency": events.latency,
    "playbook_execute": playbooks.execute,
    "playbook_steps": playbooks.steps,
    "playbook_latency": playbooks.latency,
    "playbook_fan": playbooks.fan,
    "ingest_kafka": ingest.kafka,
    "ingest_flat": ingest.flat,
    "ingest_start": ingest.starts,
    "ingest_nats": ingest.nats,
    "ingest_api": ingest.api,
    "ingest_pubsub": ingest.pubsub,
    "ingest_latency": ingest.latency,
    "subscribe_once": local.once,
    "explain": local.explain,
    "markcut_local": markcut.local,
    "markcut_cluster": markcut.cluster,
}
