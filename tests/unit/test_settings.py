"""Settings say which variable is wrong."""

from pathlib import Path

import pytest

from penstock.errors import SettingsError
from penstock.settings import read_settings


@pytest.fixture(autouse=True)
def _no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (
        "PENSTOCK_DATABASE_URL",
        "PENSTOCK_DATABASE",
        "PENSTOCK_HOME",
        "PENSTOCK_CREDENTIALS",
        "PENSTOCK_METRICS_PORT",
    ):
        monkeypatch.delenv(name, raising=False)


def test_without_any_variable_it_is_the_embedded_server_in_the_home_folder() -> None:
    settings = read_settings()
    assert settings.database_url is None
    assert settings.data_folder == Path.home() / ".penstock" / "postgres"


def test_an_empty_variable_is_an_unset_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PENSTOCK_DATABASE_URL", "")
    monkeypatch.setenv("PENSTOCK_DATABASE", "demo")
    assert (read_settings().database_url, read_settings().database) == (None, "demo")


def test_the_file_of_credentials_is_unset_or_a_path(monkeypatch: pytest.MonkeyPatch) -> None:
    assert read_settings().credentials is None
    monkeypatch.setenv("PENSTOCK_CREDENTIALS", "/etc/penstock/credentials.yaml")
    assert read_settings().credentials == Path("/etc/penstock/credentials.yaml")


def test_a_database_of_the_embedded_server_and_another_server_contradict_each_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PENSTOCK_DATABASE_URL", "postgresql://host/shop")
    monkeypatch.setenv("PENSTOCK_DATABASE", "demo")
    with pytest.raises(SettingsError, match="unset one of them"):
        read_settings()


def test_a_bad_database_name_is_refused_with_the_variables_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PENSTOCK_DATABASE", "a b")
    with pytest.raises(SettingsError, match="PENSTOCK_DATABASE: 'a b' cannot be a database's name: use letters"):
        read_settings()


def test_metrics_are_served_nowhere_unless_a_port_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    assert read_settings().metrics_port is None
    monkeypatch.setenv("PENSTOCK_METRICS_PORT", "9464")
    assert (read_settings().metrics_port, read_settings().metrics_host) == (9464, "127.0.0.1")


@pytest.mark.parametrize("port", ["0", "65536", "http"])
def test_a_port_that_cannot_be_is_refused_with_the_variables_name(monkeypatch: pytest.MonkeyPatch, port: str) -> None:
    monkeypatch.setenv("PENSTOCK_METRICS_PORT", port)
    with pytest.raises(SettingsError, match="PENSTOCK_METRICS_PORT: Input should be"):
        read_settings()
