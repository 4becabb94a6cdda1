"""The live line: whole, whatever is said meanwhile and by whom; what matters above it, the rest in a file."""

import os
import subprocess
import sys
from pathlib import Path

from tests.parts.terminal import on_a_terminal, rows_of

SAYS = """\
import os, subprocess, sys
from pathlib import Path
from penstock.cli.line import Line
from penstock.cli.logs import log_to_stderr
from penstock.embedded.logfile import LogFile
CHILD = '''
import os
os.write(2, b"2026-11-17T05:11:20Z [info     ] working executor=default\\\\n" * 500)
os.write(2, b"half a ")
os.write(2, b"line\\\\n[spark ERROR] lost a task\\\\n\\\\x1b[2Jsteers\\\\n")
os.write(2, b"its last words")
'''
with Line(LogFile(Path(sys.argv[1]))) as line:
    log_to_stderr()
    import structlog
    log = structlog.get_logger("test")
    line.says("counts 1")
    log.info("all is well")
    log.warning("something is not")
    subprocess.run([sys.executable, "-c", CHILD], check=True)
    line.says("counts 2")
    end = sys.argv[2]
    if end == "hurry":
        from penstock.cli.signals import leave
        leave(3)
    if end == "error":
        raise SystemExit("a good reason")
print("a summary")
print("and an end", file=sys.stderr)
"""
ABOVE = ["half a line", "[spark ERROR] lost a task", "\\x1b[2Jsteers", "its last words"]


def _ran(tmp_path: Path, end: str) -> tuple[int, bytes, str]:
    log = tmp_path / "home" / "said.log"
    command = [sys.executable, "-c", SAYS, str(log), end]
    code, said = on_a_terminal(command, os.environ, tmp_path, 60)
    return code, said, log.read_text()


def _is_line(row: str) -> bool:
    return row[1:] in (" starting", " counts 1", " counts 2")


def test_the_line_is_whole_and_what_matters_stands_above_it(tmp_path: Path) -> None:
    code, said, log = _ran(tmp_path, "summary")
    assert code == 0, said
    told, *others = [row for row in rows_of(said) if not _is_line(row)]
    assert "said.log" in told
    assert others[0].endswith("something is not")
    assert "[warning" in others[0]
    assert others[1:] == [*ABOVE, "a summary", "and an end"]
    assert log.count("working executor=default") == 500
    assert all(words in log for words in ("all is well", "something is not", "half a line\n", "its last words\n"))


def test_a_reason_to_end_is_shown_below(tmp_path: Path) -> None:
    code, said, _ = _ran(tmp_path, "error")
    assert (code, rows_of(said)[-1]) == (1, "a good reason")


def test_whoever_leaves_in_a_hurry_has_the_cursor_back(tmp_path: Path) -> None:
    code, said, _ = _ran(tmp_path, "hurry")
    # hidden while the line is shown
    hidden, shown = said.rfind(b"\x1b[?25l"), said.rfind(b"\x1b[?25h")
    assert (code, 0 < hidden < shown) == (3, True), said


def test_without_a_terminal_everything_is_said_as_it_comes(tmp_path: Path) -> None:
    log = tmp_path / "said.log"
    ran = subprocess.run(
        [sys.executable, "-c", SAYS, str(log), "summary"], capture_output=True, text=True, timeout=60, check=True
    )
    assert (ran.stdout, log.exists()) == ("a summary\n", False)
    assert ran.stderr.count("working executor=default") == 500
    assert "counts" not in ran.stderr
