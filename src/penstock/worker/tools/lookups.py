"""What several tools look up for a call: a credential, a setting, a function of the user's."""

import importlib
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from penstock.errors import CredentialError
from penstock.jobs import PermanentError
from penstock.kernel import admin
from penstock.worker.tools.contract import Call, Services

_RESULT_BYTES = 65_536
_LOOP_ITEMS = 100_000
_LOOP_BYTES = 16_777_216


def credential(call: Call, tool: str) -> Mapping[str, Any]:
    """What the step's alias stands for."""
    try:
        return call.services.credentials().get(call.settings["auth"])
    except CredentialError as error:
        raise PermanentError(f"{tool}: {error}") from error


def setting(services: Services, key: str) -> str | None:
    """One setting of dot_config, as it is now."""
    found = services.links.call(lambda connection: admin.config_get(connection, key))
    return None if found is None else found.value


def result_bytes(services: Services) -> int:
    """How much a step's result may hold."""
    return int(setting(services, "queue.result.max_bytes") or _RESULT_BYTES)


def loop_items(services: Services) -> int:
    """How many items a loop may have."""
    return int(setting(services, "execution.loop.max_items") or _LOOP_ITEMS)


def loop_bytes(services: Services) -> int:
    """How many bytes of JSON all items of a loop may be."""
    return int(setting(services, "execution.loop.max_bytes") or _LOOP_BYTES)


@cache
def function(path: str) -> Callable[..., Any]:
    """The function of an import path `pkg.mod:function`."""
    module_name, _, name = path.partition(":")
    try:
        found = getattr(importlib.import_module(module_name), name)
    except (ImportError, AttributeError) as error:
        # retried: the next release of the user's code may have it
        raise LookupError(f"the function {path} cannot be imported by this worker: {error}") from error
    if not callable(found):
        raise PermanentError(f"{path} is a {type(found).__name__}, not a function")
    return found  # type: ignore[no-any-return]
