"""Connections a tool keeps open between calls: a few per alias, closed when idle or when the credential has changed."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import BoundedSemaphore, Lock, Timer
from time import monotonic
from typing import Generic, Protocol, TypeVar

_MOST = 8
_WAIT_S = 30.0
_IDLE_S = 180.0


class Closable(Protocol):
    def close(self) -> None: ...


T = TypeVar("T", bound=Closable)


@dataclass
class _Pool(Generic[T]):
    """Of one alias, as long as it stands for the same."""

    address: str
    idle: list[tuple[float, T]] = field(default_factory=list)
    slots: BoundedSemaphore = field(default_factory=lambda: BoundedSemaphore(_MOST))


class Pools(Generic[T]):
    """`is_alive` is asked before one is used again, `is_clean` before it is kept. Threads share it."""

    def __init__(
        self,
        open_one: Callable[[str], T],
        is_alive: Callable[[T], bool],
        is_clean: Callable[[T], bool],
        *,
        idle_s: float = _IDLE_S,
    ) -> None:
        self._open_one = open_one
        self._is_alive = is_alive
        self._is_clean = is_clean
        self._idle_s = idle_s
        self._lock = Lock()
        self._pools: dict[str, _Pool[T]] = {}
        self._sweeper: Timer | None = None

    @contextmanager
    def taken(self, alias: str, address: str) -> Iterator[T]:
        """One connection for the caller alone."""
        pool = self._pool(alias, address)
        if not pool.slots.acquire(timeout=_WAIT_S):
            raise TimeoutError(f"all {_MOST} connections of {alias} are in use, and none was free for {_WAIT_S:g} s")
        try:
            one = self._reused(pool) or self._open_one(address)
            try:
                yield one
            except BaseException:
                self._given_back(alias, pool, one)
                raise
            self._given_back(alias, pool, one)
        finally:
            pool.slots.release()

    def _pool(self, alias: str, address: str) -> _Pool[T]:
        with self._lock:
            known = self._pools.get(alias)
            if known is not None and known.address == address:
                return known
            made: _Pool[T] = _Pool(address)
            self._pools[alias] = made
            outdated = known.idle if known is not None else []
        for _, one in outdated:
            one.close()
        return made

    def _reused(self, pool: _Pool[T]) -> T | None:
        while True:
            with self._lock:
                if not pool.idle:
                    return None
                _, one = pool.idle.pop()
            if self._is_alive(one):
                return one
            one.close()

    def _given_back(self, alias: str, pool: _Pool[T], one: T) -> None:
        if self._is_clean(one):
            with self._lock:
                if self._pools.get(alias) is pool:
                    pool.idle.append((monotonic(), one))
                    self._sweep_later()
                    return
        one.close()

    def _sweep_later(self) -> None:
        if self._sweeper is None:
            self._sweeper = Timer(self._idle_s, self._sweep)
            self._sweeper.daemon = True
            self._sweeper.start()

    def _sweep(self) -> None:
        """Close what nobody has used for a while."""
        since = monotonic() - self._idle_s
        with self._lock:
            self._sweeper = None
            old = [one for pool in self._pools.values() for at, one in pool.idle if at <= since]
            for pool in self._pools.values():
                pool.idle = [(at, one) for at, one in pool.idle if at > since]
            if any(pool.idle for pool in self._pools.values()):
                self._sweep_later()
        for one in old:
            one.close()
