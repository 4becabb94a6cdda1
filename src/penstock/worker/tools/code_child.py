"""The process inline code runs in: started by code.py as a script, with nothing but the standard library.

It is told its code and args on standard input, answers on what was its standard output, and ends its whole group when
the other end of its input closes: then the worker is gone.
"""

import json
import os
import resource
import signal
import sys
import threading
import traceback
from typing import Any

_FILE = "<code>"
_MEMORY = 1024**3
_FILE_BYTES = 100 * 1024**2
_LONGEST = 2000


def main() -> None:
    told = json.loads(_read(int.from_bytes(_read(8), "big")))
    # what the code opens, prints or forks must not get hold of our two pipes
    source, sink = os.dup(0), os.dup(1)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    threading.Thread(target=_die_with, args=[source], daemon=True).start()
    for what, most in ((resource.RLIMIT_CORE, 0), (resource.RLIMIT_FSIZE, _FILE_BYTES), (resource.RLIMIT_AS, _MEMORY)):
        resource.setrlimit(what, (most, most))
    this = os.getpid()
    answer = _answer(told["code"], told["args"], told["most_bytes"])
    if os.getpid() != this:
        # a fork that came this far has nothing to say
        os._exit(0)
    with open(sink, "wb") as out:
        out.write(answer)
    sys.stdout.flush()
    # threads and exit hooks of the code's do not hold up a result that is told
    os._exit(0)


def _answer(code: str, args: Any, most_bytes: int) -> bytes:
    seen: dict[str, Any] = {"__name__": "__penstock__", "args": args, "result": None}
    try:
        exec(compile(code, _FILE, "exec"), seen)
    except SyntaxError as error:
        return _failed(f"SyntaxError: {error.msg} (line {error.lineno} of the code)", final=True)
    except SystemExit as error:
        return _failed(f"the code ended itself with exit({error.code!r}): set result instead")
    except BaseException as error:
        return _failed(f"{type(error).__name__}: {error}{_line(error)}")
    try:
        answer = json.dumps({"result": seen.get("result")}, ensure_ascii=False, allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError) as error:
        return _failed(f"the code's result cannot be kept as JSON: {error}", final=True)
    size = len(answer) - len(b'{"result": }')
    if size > most_bytes:
        said = f"the code's result has {size:,} bytes, and may have {most_bytes:,} (queue.result.max_bytes)"
        return _failed(said, final=True)
    return answer


def _failed(said: str, *, final: bool = False) -> bytes:
    return json.dumps({"error": said[:_LONGEST], "final": final}).encode()


def _line(error: BaseException) -> str:
    lines = [line for frame, line in traceback.walk_tb(error.__traceback__) if frame.f_code.co_filename == _FILE]
    return f" (line {lines[-1]} of the code)" if lines else ""


def _read(count: int) -> bytes:
    data = b""
    while len(data) < count:
        piece = os.read(0, count - len(data))
        if not piece:
            os._exit(1)
        data += piece
    return data


def _die_with(source: int) -> None:
    while os.read(source, 1):
        pass
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    main()
