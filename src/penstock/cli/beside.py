"""The playbooks beside a subscription's file: in its folder, found by what the files say, not by their names."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from penstock.catalog.entry import Entry, read_file
from penstock.catalog.playbook import PlaybookSpec
from penstock.errors import SettingsError, SpecError

_SAYS_SO = re.compile(rb"^\s*[\"']?kind[\"']?\s*:\s*[\"']?Playbook\b", re.MULTILINE)


def playbooks_beside(file: Path, wanted: Iterable[str], here: Iterable[Entry]) -> dict[str, Entry]:
    """Those of the wanted playbooks that stand in `here` or in other files of the folder, and all they start.

    One that is nowhere is left out. A file that cannot be read is of no matter, unless a playbook is then missing.
    """
    known = {one.path: one for one in here if isinstance(one.spec, PlaybookSpec)}
    if set(_closure(wanted, known)) <= set(known):
        return {path: known[path] for path in _closure(wanted, known)}
    broken: list[SpecError] = []
    found = _others(file, broken)
    for path in set(found) & set(known):
        if found[path].content != known[path].content:
            raise SettingsError(f"{path} stands in {file} and, otherwise, in another file beside it: keep one of them")
    known = found | known
    needed = list(_closure(wanted, known))
    if broken and not set(needed) <= set(known):
        raise broken[0]
    return {path: known[path] for path in needed if path in known}


def _others(file: Path, broken: list[SpecError]) -> dict[str, Entry]:
    found: dict[str, Entry] = {}
    where: dict[str, Path] = {}
    for other in sorted(one for one in file.absolute().parent.iterdir() if one.suffix in (".yaml", ".yml")):
        if other.name == file.name or not _says_so(other):
            continue
        try:
            entries = read_file(other)
        except SpecError as error:
            broken.append(error)
            continue
        for one in (one for one in entries if isinstance(one.spec, PlaybookSpec)):
            if one.path in found and found[one.path].content != one.content:
                raise SettingsError(f"{one.path} stands in {where[one.path]} and, otherwise, in {other}: keep one")
            found[one.path], where[one.path] = one, other
    return found


def _says_so(file: Path) -> bool:
    try:
        return bool(_SAYS_SO.search(file.read_bytes()))
    except OSError:
        return False


def _closure(wanted: Iterable[str], known: dict[str, Entry]) -> Iterator[str]:
    """These paths, and those of the playbooks they start, as far as they are known."""
    seen: set[str] = set()
    left = sorted(wanted)
    while left:
        path = left.pop(0)
        if path in seen:
            continue
        seen.add(path)
        yield path
        spec = known[path].spec if path in known else None
        if isinstance(spec, PlaybookSpec):
            left += sorted(spec.playbooks())
