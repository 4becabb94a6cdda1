"""Who asks for jobs while the storm goes on: each request is repeated until it has an answer."""

import random
from datetime import UTC, datetime, timedelta
from threading import Event, Thread

from penstock.errors import DatabaseUnavailable
from penstock.kernel import jobs
from penstock.kernel.connection import Connection, connect
from penstock.model import Enqueued, Json
from tests.chaos.history import Request

_KINDS = ("quick", "slow", "flaky", "doomed", "laned", "limited", "due")
_WEIGHTS = (30, 3, 12, 2, 20, 18, 10)
_LANES = 5
_EVERY_S = 0.2
_RETRY_S = 0.1


class Producer(Thread):
    """Its thread enqueues at a steady rate until it is told to stop, with a key for each job."""

    def __init__(self, url: str, name: str, rate: float, seed: int) -> None:
        super().__init__(name=f"producer-{name}", daemon=True)
        self.requests: list[Request] = []
        self.lost_answers = 0
        self._url = url
        self._label = name
        self._batch = max(1, round(rate * _EVERY_S))
        self._random = random.Random(f"{seed}-{name}")
        self._stopping = Event()
        self._asked = 0
        self._connection: Connection | None = None

    def stop(self) -> None:
        self._stopping.set()

    def run(self) -> None:
        while not self._stopping.wait(_EVERY_S):
            batch = [self._request() for _ in range(self._batch)]
            for request, answer in zip(batch, self._insist(batch), strict=True):
                ends_as = "dead_lettered" if request["kind"] == "doomed" else "succeeded"
                self.requests.append(
                    Request(request["idempotency_key"], request["kind"], answer.job_id, request.get("lane"), ends_as)
                )
        if self._connection is not None:
            self._connection.close()

    def _request(self) -> Json:
        self._asked += 1
        (kind,) = self._random.choices(_KINDS, _WEIGHTS)
        request: Json = {"kind": kind, "idempotency_key": f"{self._label}-{self._asked}"}
        match kind:
            case "slow":
                request["safe_payload"] = {"seconds": self._random.uniform(0.3, 1.5)}
            case "flaky":
                request["safe_payload"] = {"failures": self._random.randint(0, 2)}
            case "doomed":
                request["max_attempts"] = 2
            case "laned":
                request["safe_payload"] = {"seconds": self._random.uniform(0.001, 0.03)}
                request["lane"] = f"{self._label}-{self._random.randrange(_LANES)}"
            case "limited":
                request["safe_payload"] = {"seconds": self._random.uniform(0.005, 0.04)}
            case "due":
                delay = timedelta(seconds=self._random.uniform(0.1, 2))
                request["process_after"] = (datetime.now(UTC) + delay).isoformat()
        return request

    def _insist(self, batch: list[Json]) -> list[Enqueued]:
        """Ask until there is an answer: whether a lost one had committed, its keys will tell."""
        while True:
            try:
                if self._connection is None:
                    self._connection = connect(self._url, application="storm producer")
                return jobs.enqueue_many(self._connection, batch)
            except DatabaseUnavailable:
                self.lost_answers += 1
                if self._connection is not None:
                    self._connection.close()
                self._connection = None
                Event().wait(_RETRY_S)
