"""Every error Penstock raises on purpose.

PenstockError
├── SettingsError            a setting or command-line value that cannot be used
├── SpecError                a catalog file that cannot be used
├── TemplateFailed           a template of a playbook that has no value
├── ResultsTooLarge          results that a step's templates name, and a worker does not hold
├── CredentialError          a credential that cannot be had, or a file of them that cannot be used
├── EmbeddedPostgresError    the embedded server could not be started, stopped or found
├── EmbeddedNatsError        the same for the embedded NATS server
├── JarsMissing              Spark's connector could not be fetched
├── SourceError              a source of messages that cannot be used
│   ├── SourceUnavailable    no answer from it; it may come back
│   ├── SourceMissing        the topic, stream or consumer is not there
│   ├── SourceRefused        the credential does not open it
│   ├── OutOfTurn            an acknowledgement that must wait for another
│   └── SourceUnfit          it is set up in a way that would lose or repeat messages
├── DataLoss                 the source no longer holds what the ledger expects
├── NotActive                a runtime for a subscription that is not to be read
├── DocumentUnfit            a document that MARK/CUT cannot take
├── StageFailed              a stage of MARK/CUT that could not do, or could not prove, what it is for
├── DatabaseUnavailable      no answer from PostgreSQL
│   └── ServerUnavailable    or from the API that stands before it
├── TokenRefused             the API does not take the token
├── Busy                     an open transaction elsewhere holds what this needs
├── WorkerBroken             a worker that could not go on, and ended itself
├── SparkEnded               the JVM of a runtime has ended under it
├── QueryFailed              a streaming query has ended by itself
├── NotTaken                 a runtime does not want a batch that Spark hands over
├── SchemaError              the database's schema and this code do not fit
│   ├── SchemaMissing        never migrated
│   └── SchemaNewer          migrated by a later version
└── Refused                  PostgreSQL refused the request; nothing was changed (one SQLSTATE each, below)
    ├── UnknownExecutor      ├── ExecutorRefused      ├── ExecutorNotGranted
    ├── UnknownPool          ├── ActorRefused         ├── NotAllowed
    ├── ForbiddenPayload     ├── PayloadTooLarge      ├── BadText
    ├── BadRequest           ├── BadSchedule          ├── BadConfig
    ├── IllegalMove          ├── UnknownJob           ├── UnknownDeadLetter
    ├── UnknownEventDomain   ├── UnknownEventType     ├── UnknownPlaybook
    ├── UnknownSubscription  ├── NotInThisVersion     ├── RuntimeReplaced
    ├── SubscriptionHeld     ├── StagingLost          ├── SourceChanged
    ├── StillUnfit           ├── LogRestored          ├── BadTemplate
    ├── NotReviewed          ├── RouteNotLive         └── UnknownToken
"""

from collections.abc import Mapping, Sequence


class PenstockError(Exception):
    """Root of the tree. The message says what happened, to what, and what to do now."""


class SettingsError(PenstockError):
    pass


class NotTaken(PenstockError):
    """The runtime does not want a batch that Spark hands over, or is gone."""


class QueryFailed(PenstockError):
    """A streaming query has ended by itself; the text is the line that says why, with the class of the error."""


class SparkEnded(PenstockError):
    pass


class SpecError(PenstockError):
    """Every problem of a catalog file: `problems` holds (line, path, what is wrong), the message a line for each."""

    def __init__(self, shown: Sequence[str], problems: Sequence[tuple[int | None, str, str]] = ()) -> None:
        super().__init__("\n".join(shown))
        self.problems = tuple(problems)


class TemplateFailed(PenstockError):
    """A template that has no value here: a name without one, a type that does not fit, something out of bounds."""


class ResultsTooLarge(PenstockError):
    """Results that are more than one step may read, by step in bytes."""

    def __init__(self, sizes: Mapping[str, int], most: int) -> None:
        said = " and ".join(f"{step} are {size:,}" for step, size in sizes.items())
        super().__init__(
            f"the results of {said} bytes, and the templates of one step may read {most:,}"
            " (execution.results.max_bytes): keep large results elsewhere and return their addresses, of a loop read"
            " only its count, or raise that setting"
        )


class CredentialError(PenstockError):
    pass


class EmbeddedPostgresError(PenstockError):
    pass


class EmbeddedNatsError(PenstockError):
    pass


class JarsMissing(PenstockError):
    pass


class SourceError(PenstockError):
    pass


class SourceUnavailable(SourceError):
    pass


class SourceMissing(SourceError):
    pass


class SourceRefused(SourceError):
    pass


class OutOfTurn(SourceError):
    """Messages before this one are not acknowledged yet, and the source can only go over them in order."""


class SourceUnfit(SourceError):
    pass


class DataLoss(PenstockError):
    pass


class NotActive(PenstockError):
    pass


class DocumentUnfit(PenstockError):
    pass


class StageFailed(PenstockError):
    pass


class DatabaseUnavailable(PenstockError):
    pass


class ServerUnavailable(DatabaseUnavailable):
    pass


class TokenRefused(PenstockError):
    pass


class Busy(PenstockError):
    pass


class WorkerBroken(PenstockError):
    pass


class SchemaError(PenstockError):
    pass


class SchemaMissing(SchemaError):
    pass


class SchemaNewer(SchemaError):
    pass


class Refused(PenstockError):
    """PostgreSQL refused the request and nothing was changed; `about` names what it refused, where it says so."""

    sqlstate = ""

    def __init__(self, message: str, hint: str | None = None, about: str | None = None) -> None:
        super().__init__(message if hint is None else f"{message}\n{hint}")
        self.message = message
        self.hint = hint
        self.about = about


class UnknownExecutor(Refused):
    """No executor of that id is registered, or it was deregistered."""

    sqlstate = "PS001"


class ExecutorRefused(Refused):
    """The executor kind is not on the whitelist; MOT never is."""

    sqlstate = "PS002"


class UnknownPool(Refused):
    """Pools are registered before jobs name them."""

    sqlstate = "PS003"


class ActorRefused(Refused):
    """The caller spoke for an actor that is not bound to a role it holds."""

    sqlstate = "PS004"


class ExecutorNotGranted(Refused):
    """The producer may not drive that executor kind."""

    sqlstate = "PS005"


class ForbiddenPayload(Refused):
    """A payload holds a key that jobs and events never carry."""

    sqlstate = "PS006"


class PayloadTooLarge(Refused):
    """A payload, result or error is larger than its limit."""

    sqlstate = "PS007"


class BadSchedule(Refused):
    """A cron line or an interval that cannot be read, or never comes."""

    sqlstate = "PS008"


class IllegalMove(Refused):
    """The job's state does not allow that move."""

    sqlstate = "PS009"


class UnknownJob(Refused):
    """No job has that id."""

    sqlstate = "PS010"


class BadRequest(Refused):
    """A missing, unknown or out-of-range field."""

    sqlstate = "PS011"


class UnknownEventDomain(Refused):
    """Event domains are registered before jobs and events name them."""

    sqlstate = "PS012"


class UnknownEventType(Refused):
    """Event types are registered before they are emitted."""

    sqlstate = "PS013"


class UnknownDeadLetter(Refused):
    """No open dead letter has that id."""

    sqlstate = "PS014"


class BadConfig(Refused):
    """A setting in dot_config that is unknown or has a value it cannot have."""

    sqlstate = "PS015"


class UnknownPlaybook(Refused):
    """Playbooks are registered before anything names them."""

    sqlstate = "PS016"


class UnknownSubscription(Refused):
    """No subscription of that path is registered."""

    sqlstate = "PS017"


class NotInThisVersion(Refused):
    """The entry asks for something this version does not do."""

    sqlstate = "PS018"


class RuntimeReplaced(Refused):
    """Another runtime has taken the subscription: this one commits nothing any more."""

    sqlstate = "PS019"


class SubscriptionHeld(Refused):
    """Another runtime holds the subscription."""

    sqlstate = "PS020"


class StagingLost(Refused):
    """The staged rows are not those the tasks wrote; nothing was committed."""

    sqlstate = "PS021"


class SourceChanged(Refused):
    """A part of the source is not the one the ledger knows."""

    sqlstate = "PS022"


class StillUnfit(Refused):
    """The dead-lettered message or event still cannot become an execution or a job."""

    sqlstate = "PS023"


class LogRestored(Refused):
    """The event log was written by another cluster, and waits to be re-based."""

    sqlstate = "PS024"


class BadTemplate(Refused):
    """A consumer's template uses what is no field of an event."""

    sqlstate = "PS025"


class NotReviewed(Refused):
    """Nothing goes live before somebody has looked at its dry run."""

    sqlstate = "PS026"


class RouteNotLive(Refused):
    """The route of a queued delivery was switched off meanwhile; nothing was sent."""

    sqlstate = "PS027"


class UnknownToken(Refused):
    """No token of the HTTP API has that id."""

    sqlstate = "PS028"


class NotAllowed(Refused):
    """The database role lacks the right to do that."""

    sqlstate = "42501"


class BadText(Refused):
    """Text that PostgreSQL cannot store, such as U+0000."""

    sqlstate = "22P05"


BY_SQLSTATE: dict[str, type[Refused]] = {one.sqlstate: one for one in Refused.__subclasses__()}
