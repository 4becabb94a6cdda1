"""email: a step that sends one mail of plain text over SMTP. A retry sends the same Message-ID."""

import re
import smtplib
import ssl
from collections.abc import Iterator, Mapping
from contextlib import suppress
from email.errors import MessageError
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import formatdate
from typing import Any, NoReturn

from penstock.catalog import names
from penstock.catalog.values import Unfit
from penstock.jobs import PermanentError
from penstock.model import Json
from penstock.worker.tools import lookups
from penstock.worker.tools.contract import Call

_TIMEOUT_S = 30.0
_PORTS = {"tls": 465, "starttls": 587, "none": 25}
_MOST = 100
_NAME = re.compile(r"[A-Za-z0-9-]{1,76}")
_OURS = re.compile(
    "(?i)from|to|cc|bcc|subject|date|message-id|reply-to|sender|received|return-path|(resent|content|mime)-.*"
)


class NotSent(Exception):
    """The server could not take it now: another try may help."""


def run(call: Call) -> Json:
    """Send it; its Message-ID, and the recipients the server refused, each with the reason."""
    credential = lookups.credential(call, "email")
    message, recipients = _message(call)
    where = f"email: {call.settings['auth']}"
    try:
        refused = _sent(_connected(credential, where, call.job.timeout_s), message, recipients)
    except smtplib.SMTPRecipientsRefused as error:
        _undelivered(where, error.recipients)
    except smtplib.SMTPNotSupportedError as error:
        raise PermanentError(f"{where}: the server cannot do what this mail or credential needs: {error}") from error
    except smtplib.SMTPResponseException as error:
        said = f"{where}: the server answered {error.smtp_code}: {_words(error.smtp_error)}"
        raise (PermanentError if error.smtp_code >= 500 else NotSent)(said) from error
    except UnicodeError:
        # its text would show a part of the password
        raise PermanentError(f"{where}: the username, the password or an address cannot be sent as it is") from None
    except (smtplib.SMTPException, OSError) as error:
        raise NotSent(f"{where}: {type(error).__name__}: {error}") from error
    return {"message_id": message["Message-ID"], "refused": {one: _reply(reply) for one, reply in refused.items()}}


def _sent(server: smtplib.SMTP, message: EmailMessage, recipients: list[str]) -> Mapping[str, tuple[int, bytes]]:
    try:
        return server.send_message(message, to_addrs=recipients)
    finally:
        # once it is taken, how the server says goodbye must not have it sent again
        with suppress(smtplib.SMTPException, OSError):
            server.quit()
        server.close()


def _message(call: Call) -> tuple[EmailMessage, list[str]]:
    settings = call.settings
    sender = _address("from", settings["from"])
    to, cc = (list(_addresses(key, settings.get(key))) for key in ("to", "cc"))
    if not to:
        raise PermanentError("email: to is empty: whom does the mail go to?")
    message = EmailMessage(policy=SMTP)
    fields: dict[str, Any] = {
        "From": sender,
        "To": to,
        "Cc": cc,
        "Reply-To": _address("reply_to", settings["reply_to"]) if "reply_to" in settings else None,
        "Subject": _line("subject", settings["subject"]),
        "Date": formatdate(),
        "Message-ID": f"<penstock-{call.key}@{sender.domain}>",
        **_headers(settings.get("headers") or {}),
    }
    try:
        for name, value in fields.items():
            if value:
                message[name] = value
        message.set_content(str(settings["text"]))
    except (ValueError, MessageError) as error:
        raise PermanentError(f"email: the mail cannot be written: {error}") from error
    return message, [one.addr_spec for one in (*to, *cc)]


def _headers(given: Mapping[str, Any]) -> dict[str, str]:
    for name in given:
        if not _NAME.fullmatch(name) or _OURS.fullmatch(name):
            raise PermanentError(f"email: the header {name} is not one a step can set")
    return {name: _line(f"headers.{name}", value) for name, value in given.items()}


def _line(key: str, value: Any) -> str:
    """On one line: a line break would begin another header, or the text."""
    try:
        return names.header_value(names.scalar_text(value))
    except Unfit:
        raise PermanentError(f"email: {key} is not text on one line, of at most 4,000 characters") from None


def _addresses(key: str, value: Any) -> Iterator[Address]:
    """A template may have given a list in the place of one."""
    flat = [one for some in value or () for one in (some if isinstance(some, list) else [some])]
    if len(flat) > _MOST:
        raise PermanentError(f"email: {key} has {len(flat)} addresses, and may have {_MOST}")
    return (_address(key, one) for one in flat)


def _address(key: str, value: Any) -> Address:
    """One address and no more: `a@example.com, b@example.com` are two."""
    try:
        holder = EmailMessage(policy=SMTP)
        holder["To"] = names.mailbox(value)
        (found,) = holder["To"].addresses
        if holder["To"].defects or not found.username or not found.domain:
            raise ValueError
    except (Unfit, ValueError, IndexError, MessageError):
        raise PermanentError(f"email: {key} is not one address such as care@example.com") from None
    return Address(found.display_name, found.username, found.domain)


def _connected(credential: Mapping[str, Any], where: str, timeout_s: float | None) -> smtplib.SMTP:
    """A session that is encrypted if the credential says so, or has a password; never less than it says."""
    host, password = credential.get("host"), credential.get("password")
    tls = credential.get("tls") or ("starttls" if password else "none")
    port = str(credential.get("port") or _PORTS.get(tls, ""))
    if not isinstance(host, str) or tls not in _PORTS or not (port.isdecimal() and int(port) < 65_536):
        raise PermanentError(
            f"{where}: the credential needs a host, and if you like a port, tls (starttls, tls or none), "
            "username and password"
        )
    patience_s = _TIMEOUT_S if timeout_s is None else min(_TIMEOUT_S, timeout_s)
    context = None if tls == "none" else _context(credential, where)
    if tls == "tls":
        server: smtplib.SMTP = smtplib.SMTP_SSL(host, int(port), timeout=patience_s, context=context)
    else:
        server = smtplib.SMTP(host, int(port), timeout=patience_s)
    try:
        if tls == "starttls":
            server.starttls(context=context)
        if password:
            server.login(str(credential.get("username") or ""), str(password))
    except BaseException:
        server.close()
        raise
    return server


def _context(credential: Mapping[str, Any], where: str) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=credential.get("ca_file"))
    except OSError as error:
        raise PermanentError(f"{where}: the ca_file of the credential cannot be used: {error.strerror}") from error


def _undelivered(where: str, recipients: Mapping[str, tuple[int, bytes]]) -> NoReturn:
    """Nobody was accepted. One who may be later is worth another try."""
    said = "; ".join(f"{one}: {_reply(reply)}" for one, reply in recipients.items())
    is_final = all(code >= 500 for code, _ in recipients.values())
    raise (PermanentError if is_final else NotSent)(f"{where}: every recipient was refused: {said}")


def _reply(reply: tuple[int, bytes]) -> str:
    return f"{reply[0]} {_words(reply[1])}"


def _words(said: bytes | str) -> str:
    text = said.decode("utf-8", "replace") if isinstance(said, bytes) else said
    return " ".join(text.split())[:500]
