"""Settings, read once at the edge and passed down."""

from pathlib import Path
from typing import Annotated

from pydantic import Field, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from penstock.errors import SettingsError


class Settings(BaseSettings):
    """What the environment says; every variable is `PENSTOCK_` and the field's name in capitals."""

    model_config = SettingsConfigDict(env_prefix="PENSTOCK_", extra="ignore")

    database_url: str | None = None
    home: Annotated[Path, Field(validate_default=True)] = Path("~/.penstock")

    @property
    def data_folder(self) -> Path:
        """Where the embedded PostgreSQL keeps its files."""
        return self.home.expanduser().absolute() / "postgres"


def read_settings() -> Settings:
    """Read the environment, or say which variable is wrong."""
    try:
        return Settings()
    except ValidationError as error:
        first = error.errors()[0]
        name = "PENSTOCK_" + "_".join(str(part) for part in first["loc"]).upper()
        raise SettingsError(f"{name}: {first['msg']}") from error
