"""`kind: Subscription`: where messages come from, and which playbook each one runs."""

from dataclasses import dataclass
from typing import cast

from penstock.catalog import names
from penstock.catalog.cases import Case, check_reachable, read_cases
from penstock.catalog.cron import cadence
from penstock.catalog.headers import Headers, read_headers
from penstock.catalog.ingress import Ingress, read_ingress
from penstock.catalog.reading import UNREAD, Reader
from penstock.catalog.runtime import (
    ACK_KEYS,
    Dedup,
    Limits,
    Runtime,
    check_scaling,
    read_dedup,
    read_limits,
    read_runtime,
)
from penstock.catalog.source import (
    BUILT_IN,
    KafkaOptions,
    PubsubOptions,
    SourceOptions,
    Start,
    read_options,
    read_start,
    source_kind,
)
from penstock.catalog.spool import Spool, read_spool
from penstock.catalog.values import flag, one_of, whole

DEFAULT_POOL = "subscription"
MOST_IN_A_BATCH = 1000
# on by default it would ask for a right that who only reads does not have
_UNMARKED = (
    "an older copy of the database, once restored, is not noticed here: what was acknowledged since is missing then. "
    "Say restore_mark: true (the login needs roles/pubsub.editor for it), or seek the Pub/Sub subscription back "
    "after a restore"
)
_BATCH_MAX = whole(1, MOST_IN_A_BATCH)
_PAYLOADS = ("message.json", "message.body", "message.attributes")
_PULL_ONLY = ("activation", "cadence", "start", "on_data_loss")
_CANNOT = {
    ("webhook", "pull"): "a webhook comes by itself: use mode: push",
    ("kafka", "push"): "Kafka does not push: use mode: pull",
    ("nats", "push"): "NATS is read by pulling: use mode: pull",
}


@dataclass(frozen=True)
class Dispatch:
    """What each message starts. JSON is read only when payload_from asks for it."""

    playbook: str
    payload_from: str = "message.body"
    execution_pool: str = DEFAULT_POOL


@dataclass(frozen=True)
class BatchDispatch:
    enabled: bool = False
    max: int = MOST_IN_A_BATCH


@dataclass(frozen=True)
class SubscriptionSpec:
    """A subscription as the program uses it. `source` is one of ours, or pkg.module:Class."""

    name: str
    path: str
    source: str
    mode: str
    activation: str | None
    cadence: str | None
    auth: str | None
    options: SourceOptions | None
    start: Start
    on_data_loss: str
    dispatch: Dispatch
    batch_dispatch: BatchDispatch
    headers: Headers
    runtime: Runtime
    limits: Limits
    dedup: Dedup
    spool: Spool | None
    ingress: Ingress | None
    tests: tuple[Case, ...] = ()

    @property
    def is_queue(self) -> bool:
        """Its source hands messages out and has each one acknowledged; else it is a log, read by offset."""
        return not isinstance(self.options, KafkaOptions)

    @property
    def is_numbered(self) -> bool:
        """Its source numbers the messages of a part; else each is known by its id alone."""
        return not isinstance(self.options, PubsubOptions)

    @property
    def makes_lanes(self) -> bool:
        """The message's key is its lane."""
        return isinstance(self.options, PubsubOptions) and self.options.lanes is not None

    def cautions(self) -> tuple[str, ...]:
        """What may go wrong unseen as it stands, in the words of subscription_caution in the database."""
        unmarked = isinstance(self.options, PubsubOptions) and not self.options.restore_mark and self.mode == "pull"
        return (_UNMARKED,) if unmarked else ()

    def playbooks(self) -> tuple[str, ...]:
        """Every playbook it may start, sorted."""
        return tuple(sorted({self.dispatch.playbook} | self.headers.playbooks()))

    def pools(self) -> tuple[str, ...]:
        """Every pool it may put work into, sorted."""
        return tuple(sorted({self.dispatch.execution_pool} | self.headers.pools()))

    def credentials(self) -> tuple[str, ...]:
        """The aliases it needs, sorted."""
        spool = self.spool.auth if self.spool else None
        secret = self.ingress.verify.secret if self.ingress else None
        return tuple(sorted({alias for alias in (self.auth, spool, secret) if alias}))

    def max_in_flight(self) -> int | None:
        """The tighter of limits.max_in_flight and runtime.max_in_flight."""
        return min((one for one in (self.limits.max_in_flight, self.runtime.max_in_flight) if one), default=None)

    def batch(self) -> int:
        """Messages of one batch at most: half of max_in_flight, so that the next fits; a second's worth of a rate."""
        in_flight, rate = self.max_in_flight(), self.limits.max_dispatch_per_sec
        bounds = (self.runtime.batch, max(1, in_flight // 2) if in_flight else None, rate)
        return min(one for one in bounds if one is not None)


def read_subscription(name: str, path: str, document: Reader) -> SubscriptionSpec:
    """The spec of a document whose head is read already; only to be used if no problem was noted."""
    spec = document.inside("spec")
    source = spec.take("source", source_kind)
    mode = _mode(spec, source)
    spec.refuse_any(ACK_KEYS)
    activation = _activation(spec, mode)
    dispatch, batch = _dispatch(spec)
    options = read_options(spec, source, mode)
    deadline_s = options.ack_deadline_s if isinstance(options, PubsubOptions) else None
    read = SubscriptionSpec(
        name=name,
        path=path,
        source=source,
        mode=mode,
        activation=activation,
        cadence=_cadence(spec, activation),
        auth=_auth(spec, source, mode),
        options=options,
        start=read_start(spec, source) if mode != "push" else Start(),
        on_data_loss=spec.take("on_data_loss", one_of("fail", "skip_and_record"), "fail"),
        dispatch=dispatch,
        batch_dispatch=batch,
        headers=read_headers(spec.inside_if_any("headers")),
        runtime=read_runtime(spec.inside_if_any("runtime"), source, mode, activation, deadline_s),
        limits=read_limits(spec.inside_if_any("limits")),
        dedup=read_dedup(spec.inside_if_any("dedup")),
        spool=read_spool(spec.inside_if_any("spool"), source),
        ingress=_ingress(spec, mode),
        tests=read_cases(document),
    )
    if dispatch.playbook:
        check_reachable(document, read.tests, {dispatch.playbook} | read.headers.playbooks())
    check_scaling(spec)
    spec.close()
    return read


def _mode(spec: Reader, source: str) -> str:
    """pull or push; UNREAD where the source cannot, so that what hangs on the mode adds no complaints of its own."""
    mode = spec.take("mode", one_of("pull", "push"))
    own = bool(source) and source not in BUILT_IN
    if own and mode == "push":
        spec.refuse("mode", "a source of your own is pulled: use mode: pull; what pushes to you is source: webhook")
        return cast(str, UNREAD)
    if (source, mode) in _CANNOT:
        spec.refuse("mode", _CANNOT[source, mode])
        return cast(str, UNREAD)
    return mode


def _activation(spec: Reader, mode: str) -> str | None:
    if mode == "push":
        spec.refuse_any(dict.fromkeys(_PULL_ONLY, "is read with mode: pull only; push runs when it is called"))
        return None
    return spec.take("activation", one_of("continuous", "scheduled"), "continuous")


def _cadence(spec: Reader, activation: str | None) -> str | None:
    if activation == "scheduled":
        spec.require("cadence", 'is missing: activation: scheduled needs a cron line such as "*/5 * * * *"')
    elif activation == "continuous":
        spec.refuse_any({"cadence": "is read with activation: scheduled only; this one is continuous"})
    return spec.take("cadence", cadence, None)


def _auth(spec: Reader, source: str, mode: str) -> str | None:
    """Every connection has its credential by name; there is no default one."""
    if mode == "push":
        spec.refuse_any(
            {"auth": "a push subscription opens no connection: what it verifies with is ingress.verify.secret"}
        )
    elif mode == "pull" and source in BUILT_IN:
        spec.require("auth", f"is missing: {source} needs the alias of a credential; there is no default one")
    return spec.take("auth", names.alias, None)


def _dispatch(spec: Reader) -> tuple[Dispatch, BatchDispatch]:
    block = spec.inside("dispatch")
    block.refuse_any(ACK_KEYS)
    dispatch = Dispatch(
        playbook=block.take("playbook", names.path),
        payload_from=block.take("payload_from", one_of(*_PAYLOADS), Dispatch.payload_from),
        execution_pool=block.take("execution_pool", names.pool, DEFAULT_POOL),
    )
    batch = BatchDispatch(
        block.take("batch_dispatch", flag, False), block.take("batch_max", _BATCH_MAX, MOST_IN_A_BATCH)
    )
    block.unused("batch_dispatch", "batch_max")
    block.close()
    if spec.has("batch_dispatch") and (block.has("batch_dispatch") or block.has("batch_max")):
        spec.refuse("batch_dispatch", "stands in dispatch too: say it once")
    return dispatch, _batch(spec) or batch


def _batch(spec: Reader) -> BatchDispatch | None:
    """The same as dispatch.batch_dispatch and batch_max, written as a block."""
    block = spec.inside_if_any("batch_dispatch")
    if block is None:
        return None
    batch = BatchDispatch(block.take("enabled", flag, True), block.take("max", _BATCH_MAX, MOST_IN_A_BATCH))
    spec.unused("batch_dispatch")
    block.close()
    return batch


def _ingress(spec: Reader, mode: str) -> Ingress | None:
    if mode == "push":
        return read_ingress(spec.inside("ingress"))
    if mode == "pull":
        spec.refuse_any({"ingress": "is read with mode: push only"})
        return None
    block = spec.inside_if_any("ingress")
    return read_ingress(block) if block is not None else None
