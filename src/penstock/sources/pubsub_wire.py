"""The connection to Pub/Sub: Google's client without its retries, and its errors in our words."""

import os
from collections.abc import Callable, Mapping
from typing import Any, Concatenate, ParamSpec, TypeVar

from google.api_core import exceptions as said
from google.api_core import gapic_v1
from google.auth.exceptions import GoogleAuthError
from google.pubsub_v1 import types
from google.pubsub_v1.services.subscriber import SubscriberClient
from google.pubsub_v1.services.subscriber.transports import SubscriberGrpcTransport

from penstock.errors import SourceError, SourceMissing, SourceRefused, SourceUnavailable, SourceUnfit
from penstock.sources.pubsub_credential import PubsubCredential
from penstock.sources.pubsub_facts import create_command

P = ParamSpec("P")
T = TypeVar("T")

ANSWER_S = 10.0
_NO_LOGIN = "Getting metadata from plugin failed"
_TLS = ("certificate", "ssl_", "tls")


class Wire:
    """One channel, made when first needed, and again after a loss or a fork."""

    def __init__(self, credential: Mapping[str, Any], subscription: str) -> None:
        self._credential = PubsubCredential.read(credential)
        self._subscription = subscription
        self.name = self._credential.endpoint
        self._client: SubscriberClient | None = None
        self._process = os.getpid()

    def call(self, work: Callable[Concatenate[SubscriberClient, P], T], *args: P.args, **more: P.kwargs) -> T:
        """Run this with the client; what goes wrong comes out as a SourceError."""
        try:
            return work(self._connected(), *args, **more)
        except SourceError:
            raise
        except (said.GoogleAPICallError, said.RetryError, GoogleAuthError) as error:
            explained = self.explained(error)
            if isinstance(explained, SourceUnavailable):
                # the next call need not wait until the old channel tries again
                self.close()
            raise explained from error

    def close(self) -> None:
        client, self._client = self._client, None
        if client is not None and self._process == os.getpid():
            client.transport.close()

    def explained(self, error: Exception) -> SourceError:
        text = str(getattr(error, "message", None) or error).strip().rstrip(".") or type(error).__name__
        at = f"Pub/Sub at {self.name}"
        if isinstance(error, said.NotFound):
            return SourceMissing(
                f"There is no subscription {self._subscription} at {self.name}. "
                f"Run: {create_command(self._subscription)}"
            )
        if isinstance(error, (said.Unauthenticated, said.Forbidden, GoogleAuthError)) or _NO_LOGIN in text:
            return SourceRefused(
                f"{at} refused the credential: {text}. Correct it in the file of credentials, and see that it has the "
                "roles roles/pubsub.subscriber and roles/pubsub.viewer on the subscription; with restore_mark also "
                "roles/pubsub.editor, for its labels are written."
            )
        if isinstance(error, said.ResourceExhausted):
            return SourceUnavailable(f"{at} takes no more requests for now: {text}. Raise the project's quota.")
        if isinstance(error, (said.InvalidArgument, said.FailedPrecondition)):
            return SourceUnfit(f"{at} cannot do this for {self._subscription}: {text}.")
        if any(word in text.lower() for word in _TLS):
            return SourceRefused(
                f"{at} and this credential do not agree on TLS: {text}. "
                "Correct endpoint and ca_file in the file of credentials."
            )
        return SourceUnavailable(f"{at} does not answer: {text}. See that the server runs.")

    def _connected(self) -> SubscriberClient:
        # a fork takes the channel along, but not the threads that serve it
        if self._client is None or self._process != os.getpid():
            self._process = os.getpid()
            self._client = SubscriberClient(transport=SubscriberGrpcTransport(channel=self._credential.channel()))
        return self._client


def pull(client: SubscriberClient, request: types.PullRequest, timeout_s: float) -> types.PullResponse:
    """As the client does it, without its warning to whoever wants to be answered at once.

    Such an answer may be empty though messages wait, which only makes a fetch end early. A pull that waits ends when
    the server likes, or is broken off, and then what it was about to bring comes to nobody.
    """
    call = gapic_v1.method.wrap_method(client.transport.pull)
    routed = gapic_v1.routing_header.to_grpc_metadata((("subscription", request.subscription),))
    answer: types.PullResponse = call(request, timeout=timeout_s, metadata=(routed,))
    return answer
