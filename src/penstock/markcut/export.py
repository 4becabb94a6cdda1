"""The pieces of a run as files: JSON lines or Parquet, written by the executors."""

import base64
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession

from penstock.errors import SettingsError, StageFailed
from penstock.kernel import pieces
from penstock.kernel.pieces import PieceRow
from penstock.markcut.params import read_params
from penstock.markcut.tasks import Item, chunks, divided, own_database, spark_errors
from penstock.model import Json

_COMMON = [
    ("document", pa.string()),
    ("position", pa.int32()),
    ("address", pa.string()),
    ("sha256", pa.string()),
    ("size_bytes", pa.int32()),
]
# of a piece that is no text JSON gets the bytes in base64
_SCHEMAS = {
    "jsonl": pa.schema([*_COMMON, ("text", pa.string()), ("base64", pa.string())]),
    "parquet": pa.schema([*_COMMON, ("bytes", pa.binary())]),
}
_DDL = {
    "jsonl": "document string, position int, address string, sha256 string, size_bytes int, text string, base64 string",
    "parquet": "document string, position int, address string, sha256 string, size_bytes int, bytes binary",
}
_EARLIER = re.compile(r"part-.*|_SUCCESS|\..*\.crc")
_ROWS = 1000


def export(spark: SparkSession, params: Mapping[str, Any]) -> Json:
    """Write the pieces of the documents that this run was the last to cut into the folder `out`, in their order."""
    told = read_params(params)
    if told.out is None:
        raise SettingsError("MARK/CUT: out: say into which folder the pieces are to be written")
    _check_out(told.out)
    with own_database() as connection:
        found = pieces.documents_of(connection, told.run)
    if not found:
        raise StageFailed(f"export: the run {told.run} has cut no document, or others have cut them since")
    items = [Item(name, size) for name, size, _ in found]
    frame = divided(spark, items, told.tasks).mapInArrow(_Rows(told.format), _DDL[told.format])
    writer = frame.write.mode("overwrite")
    with spark_errors("export"):
        writer.parquet(told.out) if told.format == "parquet" else writer.json(told.out)
    return {"documents": len(found), "pieces": sum(count for _, _, count in found), "out": told.out}


class _Rows:
    """What each task makes of its documents: a row for each piece."""

    def __init__(self, kind: str) -> None:
        self._kind = kind

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        todo = chunks(batches)
        first = next(todo, None)
        if first is None:
            return
        with own_database() as connection:
            for chunk in _with(first, todo):
                for item in sorted(chunk, key=lambda one: one.name):
                    rows = [self._row(item.name, one) for one in pieces.pieces_of(connection, item.name)]
                    for begin in range(0, len(rows), _ROWS):
                        yield pa.RecordBatch.from_pylist(rows[begin : begin + _ROWS], _SCHEMAS[self._kind])

    def _row(self, document: str, piece: PieceRow) -> Json:
        row = {
            "document": document,
            "position": piece.position,
            "address": piece.address,
            "sha256": piece.sha256.hex(),
            "size_bytes": len(piece.bytes),
        }
        return row | ({"bytes": piece.bytes} if self._kind == "parquet" else _readable(piece.bytes))


def _readable(content: bytes) -> dict[str, str]:
    try:
        return {"text": content.decode()}
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(content).decode()}


def _with(first: list[Item], rest: Iterator[list[Item]]) -> Iterator[list[Item]]:
    yield first
    yield from rest


def _check_out(out: str) -> None:
    """Spark empties the folder it writes into: it must be new, or empty, or hold nothing but an earlier export."""
    if "://" in out or not os.path.exists(out):
        return
    if not os.path.isdir(out):
        raise SettingsError(f"MARK/CUT: out: {out} is not a folder")
    others = sorted(name for name in os.listdir(out) if not _EARLIER.fullmatch(name))
    if others:
        raise SettingsError(
            f"MARK/CUT: out: {out} holds {others[0]}, which is no export: choose a folder that is empty or not there"
        )
