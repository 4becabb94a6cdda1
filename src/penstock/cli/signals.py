"""What a signal does to a command: it ends in order, so that the embedded server is not left behind."""

import atexit
import os
import signal
from collections.abc import Callable
from queue import SimpleQueue
from threading import Event, Thread
from types import FrameType


class Signalled(SystemExit):
    """A signal ended the command; its code is the shell's, 128 and the signal's number."""


def end_in_order() -> None:
    """Let SIGTERM and SIGHUP end the process as sys.exit() does; nohup's wish is respected."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, _end)


def hears_hangups() -> bool:
    """Whether a SIGHUP is for us: under nohup it is not."""
    return signal.getsignal(signal.SIGHUP) != signal.SIG_IGN


def heed(react: Callable[[int], None]) -> None:
    """Call this for SIGTERM, Ctrl-C and SIGHUP."""
    for number in (signal.SIGTERM, signal.SIGINT, *([signal.SIGHUP] if hears_hangups() else [])):
        signal.signal(number, lambda number, _: react(number))


def stopped_by_signals(hurry: Callable[[], None] = lambda: None) -> Event:
    """Set by the first signal; a second one ends the process at once, after `hurry`."""
    stop = Event()
    heard: SimpleQueue[int] = SimpleQueue()

    def pass_on() -> None:
        heard.get()
        stop.set()

    def react(number: int) -> None:
        # not stop.set() itself: the thread this interrupts may be holding the event's lock
        if not stop.is_set():
            heard.put(number)
        # a closing terminal hangs up twice by itself: that is no hurry
        elif number != signal.SIGHUP:
            hurry()
            leave(128 + number)

    Thread(target=pass_on, daemon=True).start()
    heed(react)
    return stop


def leave(code: int) -> None:
    """End the process whatever its threads still do: they would keep the interpreter alive."""
    atexit._run_exitfuncs()
    os._exit(code)


def _end(number: int, _: FrameType | None) -> None:
    # whoever asks again does not want to wait; but a closing terminal hangs up twice by itself
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    raise Signalled(128 + number)
