"""What a signal does to a command: it ends in order, so that the embedded server is not left behind."""

import signal
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


def _end(number: int, _: FrameType | None) -> None:
    # whoever asks again does not want to wait; but a closing terminal hangs up twice by itself
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    raise Signalled(128 + number)
