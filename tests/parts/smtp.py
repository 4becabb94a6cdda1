"""A real SMTP server that keeps what it is given, and refuses what a test tells it to."""

import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session

from tests.parts.certificates import Certificates
from tests.parts.processes import free_ports


class PostOffice:
    """`says` maps a command (mail, rcpt, data) or a recipient to the reply it gets instead of being accepted."""

    def __init__(self, says: Mapping[str, str]) -> None:
        self.says = dict(says)
        self.mails: list[EmailMessage] = []
        self.envelopes: list[Envelope] = []
        self.logins: list[tuple[bytes, bytes]] = []
        self.was_encrypted: list[bool] = []
        (self.port,) = free_ports(1)

    async def handle_MAIL(  # noqa: N802
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        envelope.mail_from = address
        return self.says.get("mail", "250 OK")

    async def handle_RCPT(  # noqa: N802
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        reply = self.says.get(address) or self.says.get("rcpt")
        if reply is None:
            envelope.rcpt_tos.append(address)
        return reply or "250 OK"

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:  # noqa: N802
        if "data" in self.says:
            return self.says["data"]
        assert isinstance(envelope.content, bytes)
        mail = message_from_bytes(envelope.content, policy=policy.default)
        assert isinstance(mail, EmailMessage)
        self.mails.append(mail)
        self.envelopes.append(envelope)
        self.was_encrypted.append(session.ssl is not None)
        return "250 OK"

    async def handle_QUIT(self, server: SMTP, session: Session, envelope: Envelope) -> str:  # noqa: N802
        return self.says.get("quit", "221 Bye")

    def authenticate(self, server: SMTP, session: Session, envelope: Envelope, kind: str, given: Any) -> AuthResult:
        assert isinstance(given, LoginPassword)
        self.logins.append((given.login, given.password))
        return AuthResult(success=given.password == b"s3cr3t", handled=False)


@contextmanager
def post_office(
    says: Mapping[str, str] | None = None, *, certificates: Certificates | None = None
) -> Iterator[PostOffice]:
    """Listens on a free port; with certificates it offers STARTTLS, and wants a login."""
    office = PostOffice(says or {})
    options: dict[str, Any] = {}
    if certificates is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificates.certificate, certificates.key)
        options = {"tls_context": context, "auth_required": True, "authenticator": office.authenticate}
    controller = Controller(office, hostname="127.0.0.1", port=office.port, enable_SMTPUTF8=False, **options)
    controller.start()
    try:
        yield office
    finally:
        controller.stop()
