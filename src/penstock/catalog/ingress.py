"""The `ingress:` block of a push subscription: its path at the gateway, and how a delivery is verified."""

from dataclasses import dataclass

from penstock.catalog import names
from penstock.catalog.headers import folded
from penstock.catalog.reading import Reader
from penstock.catalog.values import one_of

# what each way of verifying needs
_NEEDS = {
    "hmac_sha256": {"header": names.header, "secret": names.alias},
    "bearer": {"secret": names.alias},
    "pubsub_oidc": {"audience": names.audience, "service_account": names.service_account},
}
_KEYS = dict.fromkeys(key for needs in _NEEDS.values() for key in needs)
_TYPE = one_of(
    *_NEEDS, others={"none": "whatever comes from outside is verified: use hmac_sha256, bearer or pubsub_oidc"}
)


@dataclass(frozen=True)
class Verify:
    """How a delivery proves where it comes from; `secret` is an alias, `header` is in lower case."""

    type: str
    header: str | None = None
    secret: str | None = None
    audience: str | None = None
    service_account: str | None = None


@dataclass(frozen=True)
class Ingress:
    gateway_path: str
    verify: Verify


def read_ingress(block: Reader) -> Ingress:
    ingress = Ingress(block.take("gateway_path", names.gateway_path), _verify(block.inside("verify")))
    block.close()
    return ingress


def _verify(block: Reader) -> Verify:
    kind = block.take("type", _TYPE)
    needs = _NEEDS.get(kind, {})
    block.refuse_any({key: f"{kind} does not read this: leave it out" for key in _KEYS if needs and key not in needs})
    values = {key: block.take(key, needed) for key, needed in needs.items()}
    if not needs:
        # without a type nobody knows which of them are right
        block.ignore(*_KEYS)
    block.close()
    if values.get("header"):
        values["header"] = folded(values["header"])
    return Verify(kind, **values)
