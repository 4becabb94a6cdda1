"""A user's modules: imported, and their handlers collected."""

import importlib
import sys
import traceback
from pathlib import Path
from types import ModuleType

import penstock
from penstock.cli.signals import Signalled
from penstock.errors import SettingsError
from penstock.jobs import JobFunction, handlers_of

_OURS = str(Path(penstock.__file__).parent)
_IMPORTLIB = (str(Path(importlib.__file__).parent), "<frozen importlib")


def load_handlers(modules: list[str]) -> dict[str, JobFunction]:
    """Import the app modules and collect their handlers, by kind."""
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    handlers: dict[str, JobFunction] = {}
    for name in modules:
        for kind, function in handlers_of(_import(name, here)).items():
            if kind in handlers and handlers[kind] is not function:
                raise SettingsError(f"--app {name}: another module already has a handler for the job kind {kind!r}")
            handlers[kind] = function
    if modules and not handlers:
        raise SettingsError(f"--app {', '.join(modules)}: no function there is decorated with @penstock.job(kind)")
    return handlers


def _import(name: str, here: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except Signalled:
        raise
    except SystemExit as error:
        raise SettingsError(
            f"--app {name}: it cannot be imported: it ends the program (sys.exit) while it is being imported\n"
            f"{_where(error)}"
        ) from error
    except Exception as error:
        if _is_missing(name, error):
            raise SettingsError(
                f"--app {name}: there is no module of that name in {here} or on the Python path{_advice(name)}"
            ) from error
        raise SettingsError(f"--app {name}: it cannot be imported\n{_where(error)}") from error


def _is_missing(name: str, error: Exception) -> bool:
    """Whether the module itself is not there, rather than something it imports."""
    if isinstance(error, ModuleNotFoundError):
        return error.name is not None and f"{name}.".startswith(f"{error.name}.")
    return isinstance(error, TypeError | ValueError) and not all(part.isidentifier() for part in name.split("."))


def _advice(name: str) -> str:
    """A file's path was given where a module's name is wanted: say that name."""
    path = Path(name)
    if path.is_absolute() or (path.suffix != ".py" and len(path.parts) == 1):
        return ""
    return f". Name the module, not its file: --app {'.'.join(path.with_suffix('').parts)}"


def _where(error: BaseException) -> str:
    """The error as Python would print it, but only with the user's own lines of code."""
    told = traceback.TracebackException.from_exception(error)
    _keep_theirs(told)
    lines = (line for line in told.format() if not line.startswith("Traceback (most recent call last)"))
    return "".join(lines).rstrip()


def _keep_theirs(told: traceback.TracebackException) -> None:
    told.stack = traceback.StackSummary.from_list([frame for frame in told.stack if _is_theirs(frame.filename)])
    for other in (told.__cause__, told.__context__, *(told.exceptions or ())):
        if other is not None:
            _keep_theirs(other)


def _is_theirs(file: str) -> bool:
    return not file.startswith((_OURS, *_IMPORTLIB))
