"""What Prometheus reads of the API: every number by route, none by anything a client writes."""

import time
from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_SESSIONS = ("open", "free", "waiting")


class Measures:
    """The numbers of one process."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._requests = Counter(
            "penstock_http_requests",
            "Requests answered, by route, method and status.",
            ("route", "method", "status"),
            registry=self.registry,
        )
        self._seconds = Histogram(
            "penstock_http_request_seconds",
            "How long a request took until its answer was sent.",
            ("route",),
            registry=self.registry,
        )
        self._in_hand = Gauge(
            "penstock_http_requests_in_hand", "Requests that are being read or answered.", registry=self.registry
        )
        self._held = Gauge(
            "penstock_http_bodies_bytes",
            "Memory set aside for the bodies of the requests in hand.",
            registry=self.registry,
        )
        self._sessions = Gauge(
            "penstock_http_database_sessions",
            "Sessions with PostgreSQL that are open, those of them that are free, and requests that wait for one.",
            ("state",),
            registry=self.registry,
        )

    def answered(self, route: str, method: str, status: int, seconds: float) -> None:
        self._requests.labels(route, method if method in _METHODS else "other", str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def watch(self, requests: Callable[[], int], held: Callable[[], int]) -> None:
        """Have these asked when somebody looks."""
        self._in_hand.set_function(requests)
        self._held.set_function(held)

    def text(self, sessions: dict[str, int]) -> bytes:
        for state in _SESSIONS:
            self._sessions.labels(state).set(sessions[state])
        return generate_latest(self.registry)


class Measured:
    """Counts every request and how long it took, by the route it found."""

    def __init__(self, app: ASGIApp, measures: Measures) -> None:
        self._app = app
        self._measures = measures

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began = time.monotonic()
        status = 500

        async def noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, noted)
        finally:
            route = getattr(scope.get("route"), "path", "none")
            self._measures.answered(route, scope["method"], status, time.monotonic() - began)
