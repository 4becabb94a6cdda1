"""Credentials by alias: out of a private file, and never shown."""

import pickle
import traceback
from pathlib import Path

import pytest

from penstock.credentials import read_credentials
from penstock.errors import CredentialError

SECRET = "hunter2-very-secret"
FILE = f"""\
nats_main: {{ servers: ["nats://a:4222", "nats://b:4222"], user: penstock, password: {SECRET} }}
kafka_edge:
  bootstrap_servers: broker:9092
  options: {{ sasl.jaas.config: {SECRET} }}
"""


def _file(folder: Path, text: str, mode: int = 0o600) -> Path:
    path = folder / "credentials.yaml"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    path.chmod(mode)
    return path


@pytest.mark.parametrize("mode", [0o600, 0o400])
def test_a_private_file_gives_each_alias_its_values(tmp_path: Path, mode: int) -> None:
    credentials = read_credentials(_file(tmp_path, FILE, mode))
    assert credentials.aliases() == ("kafka_edge", "nats_main")
    assert "nats_main" in credentials
    assert dict(credentials.get("nats_main")) == {
        "servers": ["nats://a:4222", "nats://b:4222"],
        "user": "penstock",
        "password": SECRET,
    }
    assert credentials.get("kafka_edge")["options"]["sasl.jaas.config"] == SECRET


def test_values_are_text_exactly_as_they_are_written(tmp_path: Path) -> None:
    path = _file(tmp_path, "a: {p: 0123, q: 1e5, r: yes, s: ~, t: 2024-01-01, u: null}\n")
    assert dict(read_credentials(path).get("a")) == {
        "p": "0123",
        "q": "1e5",
        "r": "yes",
        "s": "~",
        "t": "2024-01-01",
        "u": "null",
    }


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o660, 0o700, 0o666])
def test_a_file_that_others_may_read_is_refused_with_the_command_that_helps(tmp_path: Path, mode: int) -> None:
    path = _file(tmp_path, FILE, mode)
    with pytest.raises(CredentialError) as raised:
        read_credentials(path)
    assert f"have the mode {mode:03o}" in str(raised.value)
    assert str(raised.value).endswith(f"chmod 600 {path}")


def test_an_unknown_alias_is_named_with_the_file_and_without_a_value(tmp_path: Path) -> None:
    path = _file(tmp_path, FILE)
    with pytest.raises(CredentialError) as raised:
        read_credentials(path).get("nats_other")
    assert str(raised.value) == f"{path} has no credential nats_other: add it there, or use another alias"


def test_without_a_file_every_alias_is_unknown_and_the_setting_is_named() -> None:
    with pytest.raises(CredentialError, match="no credential nats_main: PENSTOCK_CREDENTIALS is not set"):
        read_credentials(None).get("nats_main")


def test_an_empty_file_has_no_credentials(tmp_path: Path) -> None:
    assert read_credentials(_file(tmp_path, "# none yet\n")).aliases() == ()


def test_nothing_shows_a_value(tmp_path: Path) -> None:
    credentials = read_credentials(_file(tmp_path, FILE))
    shown = [repr(credentials), str(credentials), f"{credentials!r}"]
    shown += [repr(credentials.get(alias)) for alias in credentials.aliases()]
    shown += [repr(credentials.get("kafka_edge")["options"])]
    assert not [one for one in shown if SECRET in one]
    assert "password=…" in repr(credentials.get("nats_main"))


def test_a_credential_can_be_sent_to_another_process_of_ours(tmp_path: Path) -> None:
    credential = read_credentials(_file(tmp_path, FILE)).get("nats_main")
    assert dict(pickle.loads(pickle.dumps(credential))) == dict(credential)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"a: {SECRET}\n", ": a: expected a mapping of aliases"),
        (f"a: [{SECRET}]\n", ": a: expected a mapping of aliases"),
        (f"{SECRET}\n", ": expected a mapping of aliases"),
        (f"? [{SECRET}]\n: {{b: c}}\n", ": expected a mapping of aliases"),
        (f"a: {{? [{SECRET}] : c}}\n", ": a: expected a mapping of aliases"),
        ("a: {}\n", ": a: expected a mapping of aliases"),
        (f"a:\n  p: {SECRET}\n  p: {SECRET}\n", ":3: a key stands there twice"),
        (f"a:\n  p: '{SECRET}\n", ": this is not YAML"),
        (f"a:\n\tp: {SECRET}\n", ":2: this is not YAML"),
        (f"a: {{p: {SECRET}\x01}}\n", ": this is not YAML"),
        (f"a: {{p: {SECRET}\udcff}}\n", " is not UTF-8"),
        ("[" * 600, ": this is not YAML"),
        (f"# {SECRET}\n" * 60_000, " is larger than 1,048,576 bytes"),
    ],
)
def test_a_file_of_another_shape_is_refused_without_a_word_of_it(tmp_path: Path, text: str, words: str) -> None:
    path = _file(tmp_path, text)
    with pytest.raises(CredentialError) as raised:
        read_credentials(path)
    assert words in str(raised.value)
    # a traceback shows what an error came from too
    assert SECRET not in "".join(traceback.format_exception(raised.value))


def test_a_missing_file_and_a_folder_are_named(tmp_path: Path) -> None:
    with pytest.raises(CredentialError, match=r"gone\.yaml cannot be read: No such file or directory"):
        read_credentials(tmp_path / "gone.yaml")
    with pytest.raises(CredentialError, match="cannot be read: Is a directory"):
        read_credentials(tmp_path)
