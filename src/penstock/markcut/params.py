"""What a run of MARK/CUT is told, checked once at the beginning of every stage."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from penstock.errors import SettingsError
from penstock.markcut.marks import LEAST_BYTES, MOST_BYTES

MIB = 1024 * 1024
_RUN = r"^[A-Za-z0-9][A-Za-z0-9_.:/-]{0,199}$"


class Params(BaseModel):
    """Every stage takes all of them, and uses what it needs; numbers may come as text, as templates make them."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    run: Annotated[str, Field(pattern=_RUN)]
    # copy_to_staging: one of the two
    folder: str | None = None
    files: tuple[str, ...] = ()
    # stands before every document's name
    collection: str = ""
    suffixes: tuple[str, ...] = (".md", ".markdown", ".txt", ".text")
    max_document_bytes: Annotated[int, Field(ge=1, le=256 * MIB)] = 64 * MIB
    max_documents: Annotated[int, Field(ge=1, le=1_000_000)] = 100_000
    # mark
    max_bytes: Annotated[int, Field(ge=LEAST_BYTES, le=MOST_BYTES)] = 4000
    # all: into how many tasks the work is divided; 0: two per core that Spark has
    tasks: Annotated[int, Field(ge=0, le=10_000)] = 0
    # export
    out: str | None = None
    format: Literal["jsonl", "parquet"] = "jsonl"

    @field_validator("files", mode="before")
    @classmethod
    def _listed(cls, files: Any) -> Any:
        return (files,) if isinstance(files, str) and files else files or ()

    @field_validator("folder", "out", mode="before")
    @classmethod
    def _given(cls, value: Any) -> Any:
        # a template whose input was left out makes an empty text
        return value or None

    @model_validator(mode="after")
    def _one_place(self) -> Self:
        if self.folder is not None and self.files:
            raise ValueError("give folder or files, not both")
        return self


def read_params(given: Mapping[str, Any]) -> Params:
    """The parameters, or which of them is wrong."""
    try:
        return Params.model_validate(dict(given))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        said = first["msg"].removeprefix("Value error, ")
        raise SettingsError(f"MARK/CUT: {where}: {said}" if where else f"MARK/CUT: {said}") from error
