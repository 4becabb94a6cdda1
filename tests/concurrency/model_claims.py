"""The statements that choose for themselves: claims, beats, and what the clock drives."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from itertools import groupby
from operator import itemgetter
from typing import Any

from tests.concurrency.model_calls import Call, Rows
from tests.concurrency.model_queue import FRESH, HELD, Difference, Executor, Job, Key, Rule, Tag
from tests.concurrency.model_view import View

ANY: frozenset[Tag] = frozenset({("any", "")})
Pick = tuple[Job, Rule]


@dataclass(frozen=True)
class Claim(Call):
    """Exact, unless a candidate's row is somebody else's or the claim has waited for its rule: then legal."""

    executor: Executor
    limit: int
    kinds: tuple[str, ...] | None = None
    pools: tuple[str, ...] | None = None
    incarnation: str | None = None
    start: bool = False
    suspects: bool = True

    def sql(self) -> tuple[str, list[Any]]:
        text = (
            "select job_id, lease_token, attempt, started, suspect, job_kind, priority"
            " from penstock.fn_job_claim(%s, %s, %s::text[], %s::text[], %s::uuid, %s, %s)"
        )
        kinds = None if self.kinds is None else list(self.kinds)
        pools = None if self.pools is None else list(self.pools)
        return text, [self.executor.executor_id, self.limit, kinds, pools, self.incarnation, self.start, self.suspects]

    def waits(self, view: View) -> frozenset[Tag]:
        rules = {rule for _, rule in self._allowed(view) if rule.max_parallel is not None}
        return frozenset(("rule", rule.rule) for rule in rules)

    def may_wait(self, view: View) -> frozenset[Tag]:
        """Jobs that fall due bring in other rules when it looks again."""
        return frozenset(("rule", rule.rule) for rule in self.executor.rules if rule.max_parallel is not None)

    def holds(self, view: View) -> frozenset[Tag]:
        return self.may_wait(view) | ANY

    def apply(self, view: View, rows: Rows) -> None:
        view.frame.leftovers |= self.may_wait(view)
        if not view.late:
            view.frame.locks |= self.waits(view)
        if list(rows) != sorted(rows, key=lambda row: (-row[6], row[0])):
            raise Difference(f"{self}: the answer is not in claim order: {rows}")
        # a claim that comes back short looks twice; each look draws one token or, from a single run, one per priority
        passes = [list(group) for _, group in groupby(sorted(rows, key=itemgetter(1)), key=itemgetter(1))]
        if not any(rule.enabled for rule in self.executor.rules):
            self._expect([], rows)
            return
        taken = self._first_pass(view, passes)
        if taken < self.limit:
            moved = view.sweep() + view.promote_due(self.limit)
            taken += self._second_pass(view, passes, self.limit - taken, moved)
        if passes:
            raise Difference(f"{self}: {taken} jobs were to be had, and {passes} came beside them")

    def _first_pass(self, view: View, passes: list[list[tuple[Any, ...]]]) -> int:
        picks, sure = self._picks(view, self.limit)
        found: list[tuple[Any, ...]] = []
        if sure:
            while passes and len(found) < len(picks):
                found += passes.pop(0)
            self._expect(picks, found)
        elif not view.first_look_in_vain:
            while passes and self._illegal(view, [*found, *passes[0]], self.limit) is None:
                found += passes.pop(0)
        self._take(view, found)
        return len(found)

    def _second_pass(self, view: View, passes: list[list[tuple[Any, ...]]], limit: int, moved: int) -> int:
        picks, sure = self._picks(view, limit)
        found = [row for group in passes for row in group]
        passes.clear()
        if sure and not view.either:
            self._expect(picks if moved else [], found)
        else:
            illegal = self._illegal(view, found, limit)
            if illegal is not None:
                raise Difference(illegal)
        self._take(view, found)
        return len(found)

    def _candidates(self, view: View) -> list[Pick]:
        return [(job, rule) for job, rule in self._allowed(view) if self.suspects or job.reaped == 0]

    def _allowed(self, view: View) -> list[Pick]:
        found = []
        for job in view.jobs():
            rule = self.executor.decides(job)
            if (
                job.status == "ready"
                and job.executor == self.executor.executor_kind
                and rule is not None
                and (rule.enabled and job.priority >= rule.priority_floor)
                and (self.kinds is None or job.kind in self.kinds)
                and (self.pools is None or job.pool in self.pools)
            ):
                found.append((job, rule))
        return sorted(found, key=lambda pick: (-pick[0].priority, pick[0].job_id))

    def _rooms(self, view: View) -> dict[int, int]:
        held = Counter(job.rule for job in view.jobs() if job.status in HELD)
        return {
            rule.rule: self.limit if rule.max_parallel is None else rule.max_parallel - held[rule.rule]
            for rule in self.executor.rules
        }

    def _picks(self, view: View, limit: int) -> tuple[list[Pick], bool]:
        """What the claim takes, and whether it may take nothing else."""
        rooms = self._rooms(view)
        picks: list[Pick] = []
        skipped = [pick for pick in self._candidates(view) if view.skips(pick[0])]
        for job, rule in self._candidates(view):
            if len(picks) < limit and rooms[rule.rule] > 0 and not view.skips(job):
                rooms[rule.rule] -= 1
                picks.append((job, rule))
        # a limited rule, and a claim that finds many locked rows, look at so many rows and no further
        sure = not any(rule.max_parallel for _, rule in skipped) and len(skipped) < limit * 7 and not view.late
        return picks, sure

    def _expect(self, picks: list[Pick], rows: Rows) -> None:
        wanted = [job.job_id for job, _ in picks]
        if [row[0] for row in rows] != wanted:
            raise Difference(f"{self}: should take {wanted}, took {rows}")

    def _illegal(self, view: View, rows: Rows, limit: int) -> str | None:
        rooms = self._rooms(view)
        candidates = {job.job_id: (job, rule) for job, rule in self._candidates(view)}
        if len(rows) > limit or [row[0] for row in rows] != [
            job for job in candidates if job in {row[0] for row in rows}
        ]:
            return f"{self}: took {rows}, which are not of {list(candidates)} in this order, at most {limit}"
        for row in rows:
            job, rule = candidates[row[0]]
            rooms[rule.rule] -= 1
            if view.skips(job) or rooms[rule.rule] < 0:
                return f"{self}: took {row}, which it may not: {job}"
        return None

    def _take(self, view: View, rows: Rows) -> None:
        candidates = {job.job_id: (job, rule) for job, rule in self._candidates(view)}
        for job_id, token, attempt, started, suspect, kind, priority in rows:
            job, rule = candidates[job_id]
            starts = self.start and job.reaped == 0 and job.attempt + 1 < job.last_attempt
            wanted = (job.attempt + 1, starts, job.reaped > 0, job.kind, job.priority)
            if (attempt, started, suspect, kind, priority) != wanted:
                raise Difference(f"{self}: job {job_id} should come as {wanted}: {rows}")
            view.token(job, token)
            view.put(
                replace(
                    job,
                    status="running" if starts else "leased",
                    attempt=attempt,
                    token=token,
                    lease="long",
                    overdue=False,
                    incarnation=self.incarnation or FRESH,
                    rule=rule.rule,
                )
            )


@dataclass(frozen=True)
class Beat(Call):
    """Extends the leases of one incarnation that have less than half left: of all its jobs, or of those it names."""

    executor: Executor
    incarnation: str
    pairs: tuple[tuple[int, int], ...] | None

    def sql(self) -> tuple[str, list[Any]]:
        text = "select job_id, reason from penstock.fn_job_heartbeat(%s, %s::uuid, %s::bigint[], %s::bigint[])"
        if self.pairs is None:
            return text, [self.executor.executor_id, self.incarnation, None, None]
        jobs, tokens = [job_id for job_id, _ in self.pairs], [token for _, token in self.pairs]
        return text, [self.executor.executor_id, self.incarnation, jobs, tokens]

    def waits(self, view: View) -> frozenset[Tag]:
        return frozenset({("beat", self.incarnation)})

    def apply(self, view: View, rows: Rows) -> None:
        view.lock(("beat", self.incarnation))
        rules = {rule.rule for rule in self.executor.rules}
        for job in view.jobs():
            mine = job.status in HELD and job.incarnation == self.incarnation and job.rule in rules
            named = self.pairs is None or (job.job_id, job.token) in self.pairs
            if mine and named and job.lease != "long" and not job.overdue and not view.skips(job):
                longer = replace(job, lease="long")
                if view.late:
                    view.put_perhaps(longer)
                else:
                    view.put(longer)
        wanted = []
        for job_id, token in self.pairs or ():
            held = view.job(job_id)
            if held is None or not held.held_under(token):
                wanted.append((job_id, "lost"))
            elif held.cancel_requested:
                wanted.append((job_id, "cancelled"))
        if sorted(wanted) != sorted(rows):
            raise Difference(f"{self}: should be told {wanted}, was told {rows}")


@dataclass(frozen=True)
class Reap(Call):
    def sql(self) -> tuple[str, list[Any]]:
        return "select penstock.leases_reap()", []

    def apply(self, view: View, rows: Rows) -> None:
        _count(self, rows, view.reap())


@dataclass(frozen=True)
class Promote(Call):
    limit: int

    def sql(self) -> tuple[str, list[Any]]:
        return "select penstock.promote_due(%s)", [self.limit]

    def apply(self, view: View, rows: Rows) -> None:
        _count(self, rows, view.promote_due(self.limit))


@dataclass(frozen=True)
class Sweep(Call):
    def sql(self) -> tuple[str, list[Any]]:
        return "select penstock.lanes_sweep(200)", []

    def apply(self, view: View, rows: Rows) -> None:
        became = view.sweep()
        if not view.either:
            _count(self, rows, became)


@dataclass(frozen=True)
class Tick(Call):
    def sql(self) -> tuple[str, list[Any]]:
        return "select penstock.fn_queue_tick()", []

    def apply(self, view: View, rows: Rows) -> None:
        report = rows[0][0]
        if view.model.holders(("tick", ""), view.session):
            if "skipped" not in report:
                raise Difference(f"a tick ran beside another: {report}")
            return
        broken = {part: did for part, did in report.items() if not did["ok"]}
        if broken:
            raise Difference(f"parts of the tick failed: {broken}")
        view.lock(("tick", ""))
        # it looks after incarnations that hold leases and have never beaten
        view.frame.leftovers |= {("beat", job.incarnation) for job in view.jobs() if job.status in HELD}
        view.promote_due(5000)
        view.reap()
        view.sweep()
        for row in list(view.rows.values()):
            free = not view.model.holders(row.tag, view.session)
            if isinstance(row, Key) and row.expired and not row.swept and free:
                view.put(replace(row, swept=True))


def _count(call: Call, rows: Rows, wanted: int) -> None:
    if [row[0] for row in rows] != [wanted]:
        raise Difference(f"{call}: should have moved {wanted}, says {rows}")
