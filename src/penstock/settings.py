"""Settings, read once at the edge and passed down."""

import re
from pathlib import Path
from typing import Annotated, Self

from pydantic import Field, ValidationError, field_validator, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from penstock.errors import SettingsError

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,62}")


class Settings(BaseSettings):
    """What the environment says; every variable is `PENSTOCK_` and the field's name in capitals."""

    model_config = SettingsConfigDict(env_prefix="PENSTOCK_", env_ignore_empty=True, extra="ignore")

    database_url: str | None = None
    home: Annotated[Path, Field(validate_default=True)] = Path("~/.penstock")
    # which database of the embedded server; made when it is first used
    database: str = "postgres"
    # a YAML file of aliases; read_credentials says what it must be like
    credentials: Path | None = None
    # where a runtime answers Prometheus; nowhere without a port
    metrics_port: Annotated[int | None, Field(ge=1, le=65535)] = None
    metrics_host: str = "127.0.0.1"

    @property
    def data_folder(self) -> Path:
        """Where the embedded PostgreSQL keeps its files."""
        return self.home.expanduser().absolute() / "postgres"

    @field_validator("database")
    @classmethod
    def _a_name(cls, name: str) -> str:
        if not _NAME.fullmatch(name):
            raise ValueError(
                f"{name!r} cannot be a database's name: use letters, digits, _ and -, at most 63, a letter or _ first"
            )
        return name

    @model_validator(mode="after")
    def _one_database(self) -> Self:
        if self.database_url is not None and "database" in self.model_fields_set:
            raise ValueError(
                "PENSTOCK_DATABASE names a database of the embedded server, and PENSTOCK_DATABASE_URL another server: "
                "unset one of them"
            )
        return self


def read_settings() -> Settings:
    """Read the environment, or say which variable is wrong."""
    try:
        return Settings()
    except ValidationError as error:
        first = error.errors()[0]
        said = first["msg"].removeprefix("Value error, ")
        if not first["loc"]:
            raise SettingsError(said) from error
        name = "PENSTOCK_" + "_".join(str(part) for part in first["loc"]).upper()
        raise SettingsError(f"{name}: {said}") from error
