"""email against a real SMTP server, willing and unwilling."""

import socket
from pathlib import Path
from typing import Any

import pytest

from penstock.jobs import PermanentError
from penstock.worker.tools import email
from tests.parts.certificates import Certificates, make_certificates
from tests.parts.processes import free_ports
from tests.parts.smtp import PostOffice, post_office
from tests.tools.calling import Caller, a_job

MAIL = {
    "auth": "mail",
    "from": "Care <care@shop.example>",
    "to": ["ann@example.com"],
    "subject": "Your order 7",
    "text": "Grüße\n.\nshop",
}


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return make_certificates(tmp_path_factory.mktemp("certificates"))


def _send(caller: Caller, office: PostOffice, **settings: Any) -> Any:
    caller.credentials(f"mail: {{host: 127.0.0.1, port: {office.port}}}")
    return email.run(caller({**MAIL, **settings}, job=a_job(42)))


def test_a_mail_arrives_as_the_step_says(caller: Caller) -> None:
    more = {"cc": [["bob@example.com", "Cem Ö <cem@example.com>"]], "reply_to": "help@shop.example"}
    with post_office() as office:
        result = _send(caller, office, **more, subject="Größe €", headers={"X-Order": 7})
        (mail,), (envelope,) = office.mails, office.envelopes
    assert result == {"message_id": "<penstock-42@shop.example>", "refused": {}}
    assert (envelope.mail_from, envelope.rcpt_tos) == (
        "care@shop.example",
        ["ann@example.com", "bob@example.com", "cem@example.com"],
    )
    assert mail.get_content().replace("\r\n", "\n") == "Grüße\n.\nshop\n"
    told = {name: str(mail[name]) for name in ("From", "To", "Cc", "Reply-To", "Subject", "X-Order", "Message-ID")}
    assert told == {
        "From": "Care <care@shop.example>",
        "To": "ann@example.com",
        "Cc": "bob@example.com, Cem Ö <cem@example.com>",
        "Reply-To": "help@shop.example",
        "Subject": "Größe €",
        "X-Order": "7",
        "Message-ID": "<penstock-42@shop.example>",
    }


def test_a_retry_is_known_by_its_message_id(caller: Caller) -> None:
    with post_office() as office:
        assert _send(caller, office) == _send(caller, office)


def test_a_password_travels_encrypted_only(caller: Caller, certificates: Certificates) -> None:
    login = "host: 127.0.0.1, username: ann, password: s3cr3t"
    with post_office(certificates=certificates) as office:
        caller.credentials(f"mail: {{{login}, port: {office.port}, ca_file: '{certificates.ca}'}}")
        email.run(caller(MAIL))
        assert (office.was_encrypted, office.logins) == ([True], [(b"ann", b"s3cr3t")])
    with post_office() as plain:
        caller.credentials(f"mail: {{{login}, port: {plain.port}}}")
        with pytest.raises(PermanentError, match="STARTTLS"):
            email.run(caller(MAIL))
        assert (plain.mails, plain.logins) == ([], [])


def test_a_server_that_is_not_who_it_says_gets_nothing(caller: Caller, certificates: Certificates) -> None:
    with post_office(certificates=certificates) as office:
        caller.credentials(f"mail: {{host: 127.0.0.1, username: ann, password: s3cr3t, port: {office.port}}}")
        with pytest.raises(email.NotSent, match="CERTIFICATE_VERIFY_FAILED"):
            email.run(caller(MAIL))
        assert office.logins == []


def test_a_wrong_password_is_final_and_not_shown(caller: Caller, certificates: Certificates) -> None:
    with post_office(certificates=certificates) as office:
        for password in ("wr0ng", "wrøng"):
            login = f"host: 127.0.0.1, username: ann, password: {password}, port: {office.port}"
            caller.credentials(f"mail: {{{login}, ca_file: '{certificates.ca}'}}")
            with pytest.raises(PermanentError) as caught:
                email.run(caller(MAIL))
            assert "wr" not in str(caught.value)


@pytest.mark.parametrize("command", ["mail", "rcpt", "data"])
def test_a_refusal_is_final_if_the_server_says_so(caller: Caller, command: str) -> None:
    with (
        post_office({command: "451 4.3.0 try later"}) as office,
        pytest.raises(email.NotSent, match=r"451\b.*later"),
    ):
        _send(caller, office)
    with post_office({command: "554 5.7.1 never"}) as office, pytest.raises(PermanentError, match=r"554\b.*never"):
        _send(caller, office)


def test_who_is_refused_is_told_when_others_are_not(caller: Caller) -> None:
    with post_office({"bob@example.com": "550 5.1.1 no such user"}) as office:
        result = _send(caller, office, to=["ann@example.com", "bob@example.com"])
        assert result["refused"] == {"bob@example.com": "550 5.1.1 no such user"}
        assert office.envelopes[0].rcpt_tos == ["ann@example.com"]


def test_one_who_may_be_accepted_later_is_worth_another_try(caller: Caller) -> None:
    says = {"ann@example.com": "450 4.2.1 mailbox busy", "bob@example.com": "550 5.1.1 no such user"}
    with post_office(says) as office, pytest.raises(email.NotSent, match="mailbox busy"):
        _send(caller, office, to=["ann@example.com", "bob@example.com"])


def test_a_rude_goodbye_does_not_send_it_again(caller: Caller) -> None:
    with post_office({"quit": "451 go away"}) as office:
        assert _send(caller, office)["refused"] == {}


def test_a_server_that_is_not_there_is_tried_again(caller: Caller) -> None:
    (port,) = free_ports(1)
    caller.credentials(f"mail: {{host: 127.0.0.1, port: {port}}}")
    with pytest.raises(email.NotSent, match="refused"):
        email.run(caller(MAIL))


def test_a_server_that_says_nothing_is_given_up_with_the_jobs_time(caller: Caller) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        caller.credentials(f"mail: {{host: 127.0.0.1, port: {silent.getsockname()[1]}}}")
        with pytest.raises(email.NotSent, match="timed out"):
            email.run(caller(MAIL, job=a_job(timeout_s=0.3)))


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"subject": "hello\r\nBcc: eve@example.com"}, "subject"),
        ({"subject": "hello\u2028Bcc: eve@example.com"}, "cannot be written|subject"),
        ({"to": ["ann@example.com\nBcc: eve@example.com"]}, "to is not one address"),
        ({"to": ["ann@example.com, eve@example.com"]}, "to is not one address"),
        ({"to": ["ann@example.com> <eve"]}, "to is not one address"),
        ({"to": ["Ann"]}, "to is not one address"),
        ({"to": [None]}, "to is not one address"),
        ({"to": [[]]}, "to is empty"),
        ({"to": [["ann@example.com"] * 101]}, "101 addresses"),
        ({"from": "care"}, "from is not one address"),
        ({"reply_to": "a@b, c@d"}, "reply_to is not one address"),
        ({"headers": {"X-A": "b\nBcc: eve@example.com"}}, r"headers\.X-A"),
        ({"headers": {"bcc": "eve@example.com"}}, "not one a step can set"),
        ({"headers": {"X-A: b\nBcc": "eve@example.com"}}, "not one a step can set"),
        ({"headers": {"Content-Type": "text/html"}}, "not one a step can set"),
        ({"text": "\ud800"}, "cannot be written"),
        ({"auth": "other"}, "no credential other"),
    ],
)
def test_what_would_not_be_the_mail_that_was_meant_is_not_sent(
    caller: Caller, settings: dict[str, Any], says: str
) -> None:
    with post_office() as office, pytest.raises(PermanentError, match=says):
        _send(caller, office, **settings)
    assert office.mails == []


@pytest.mark.parametrize(
    "credential", ["{port: 25}", "{host: a, tls: ssl}", "{host: a, port: x}", "{host: a, port: '99999'}"]
)
def test_a_credential_that_cannot_be_used_says_what_it_needs(caller: Caller, credential: str) -> None:
    caller.credentials(f"mail: {credential}")
    with pytest.raises(PermanentError, match="needs a host"):
        email.run(caller(MAIL))


def test_an_authority_that_is_no_file_is_named(caller: Caller, tmp_path: Path) -> None:
    caller.credentials(f"mail: {{host: 127.0.0.1, tls: tls, ca_file: '{tmp_path / 'none.pem'}'}}")
    with pytest.raises(PermanentError, match="ca_file"):
        email.run(caller(MAIL))
