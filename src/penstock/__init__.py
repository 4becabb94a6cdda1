"""Every message, webhook and database change becomes exactly one durable, leased, audited job in PostgreSQL."""

from penstock.client import Client
from penstock.jobs import Job, PermanentError, Snooze, job

__all__ = ["Client", "Job", "PermanentError", "Snooze", "job"]
