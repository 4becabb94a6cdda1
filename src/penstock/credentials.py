"""Credentials by alias, out of a file that only its owner can read."""

import os
import stat
from collections.abc import Iterator, Mapping
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.constructor import DuplicateKeyError
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from penstock.errors import CredentialError

_MAX_BYTES = 1024 * 1024
_MODES = (0o600, 0o400)
_SHAPE = "expected a mapping of aliases, each with a mapping of what it needs"


class Credential(Mapping[str, Any]):
    """What opens one system. Its values are text as written, or lists and mappings of text; none is ever shown."""

    __slots__ = ("_values",)

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = {key: Credential(one) if isinstance(one, dict) else one for key, one in values.items()}

    def __getitem__(self, key: str) -> Any:
        return self._values[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"Credential({', '.join(f'{key}=…' for key in self._values)})"


class Credentials:
    """The credentials of one file, or none if there is no file."""

    __slots__ = ("_by_alias", "_path")

    def __init__(self, path: Path | None, by_alias: Mapping[str, Credential]) -> None:
        self._path = path
        self._by_alias = dict(by_alias)

    def get(self, alias: str) -> Mapping[str, Any]:
        """What the alias stands for; CredentialError names the alias and the file, and no value."""
        if self._path is None:
            raise CredentialError(
                f"no credential {alias}: PENSTOCK_CREDENTIALS is not set. It names a YAML file of aliases, mode 600"
            )
        if alias not in self._by_alias:
            raise CredentialError(f"{self._path} has no credential {alias}: add it there, or use another alias")
        return self._by_alias[alias]

    def __contains__(self, alias: object) -> bool:
        return alias in self._by_alias

    def aliases(self) -> tuple[str, ...]:
        return tuple(sorted(self._by_alias))

    def __repr__(self) -> str:
        return f"Credentials({self._path}: {', '.join(self.aliases()) or 'none'})"


def read_credentials(path: Path | None) -> Credentials:
    """Read the file that PENSTOCK_CREDENTIALS names; with None there are no credentials, and `get` says why."""
    if path is None:
        return Credentials(None, {})
    path = path.expanduser()
    loaded = _loaded(path, _text(path))
    if loaded is None:
        return Credentials(path, {})
    if not isinstance(loaded, dict):
        raise CredentialError(f"{path}: {_SHAPE}")
    for alias, values in loaded.items():
        # the value, or what stands in a key's place, may be the secret itself, so it is not shown
        if not isinstance(alias, str):
            raise CredentialError(f"{path}: {_SHAPE}")
        if not isinstance(values, dict) or not values or not all(isinstance(key, str) for key in values):
            raise CredentialError(f"{path}: {alias}: {_SHAPE}")
    return Credentials(path, {alias: Credential(values) for alias, values in loaded.items()})


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            _check_private(path, os.fstat(file.fileno()))
            raw = file.read(_MAX_BYTES + 1)
    except OSError as error:
        raise CredentialError(f"the credentials {path} cannot be read: {error.strerror}") from error
    if len(raw) > _MAX_BYTES:
        raise CredentialError(f"{path} is larger than {_MAX_BYTES:,} bytes")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        # the error would carry the whole file
        raise CredentialError(f"{path} is not UTF-8") from None


def _check_private(path: Path, found: os.stat_result) -> None:
    mode = stat.S_IMODE(found.st_mode)
    if not stat.S_ISREG(found.st_mode):
        raise CredentialError(f"the credentials {path} are not a file")
    if mode not in _MODES:
        raise CredentialError(
            f"the credentials {path} have the mode {mode:03o}, and only their owner may read them: chmod 600 {path}"
        )


def _loaded(path: Path, text: str) -> Any:
    """Everything as text: a password 0123 or 1e5 stays what was written."""
    # the parser's own messages quote the file, so they are not passed on
    try:
        return YAML(typ="base", pure=True).load(text)
    except DuplicateKeyError as error:
        raise CredentialError(f"{_place(path, error)}: a key stands there twice") from None
    except MarkedYAMLError as error:
        raise CredentialError(f"{_place(path, error)}: this is not YAML. Check indentation and quotes") from None
    except (YAMLError, RecursionError, ValueError, TypeError):
        raise CredentialError(f"{path}: this is not YAML") from None


def _place(path: Path, error: MarkedYAMLError) -> str:
    return str(path) if error.problem_mark is None else f"{path}:{error.problem_mark.line + 1}"


def may_be_sent(credential: Mapping[str, Any], scheme: str, host: str) -> bool:
    """Where it can be read on the way, only if it says so itself: over https or to this machine it cannot."""
    return scheme == "https" or _is_loopback(host) or credential.get("allow_http") == "true"


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
