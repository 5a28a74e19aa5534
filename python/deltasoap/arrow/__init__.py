"""Columns of SOAP messages as columns of their values, by Arrow.

    import deltasoap.arrow

    orders = deltasoap.arrow.decode(batch, "shop.wsdl", "Order", column="body")
    table = pyarrow.table(orders)  # polars.DataFrame(orders), nanoarrow.Array(orders)

The input is whatever has the Arrow PyCapsule interface: record batches, tables, data frames. The
columns of the result depend on the WSDL alone, and are those of `deltasoap archive --nested`. Rows
keep their order and number. A message that cannot be decoded is a row of nulls, and the column
``_error`` says why: its reason, the path in the message, and the offset in bytes.

A `Decoder` can be pickled: it takes the compiled WSDL along, so workers need no file. The modules
`ray`, `dask` and `spark` here apply one to the data of these engines.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Iterable
from typing import Any

from deltasoap._engine import BatchDecoder, Contract, RecordBatches

__all__ = ["Decoder", "RecordBatches", "decode", "schema"]

_Options = tuple[tuple[str, Any], ...]
_Key = tuple[bytes, str, str, _Options]

_CONTRACTS = 16
"""Maximum number of WSDLs that a process keeps."""

_DECODERS = 32
"""Maximum number of decoders whose memory of senders a process keeps."""


class Decoder:
    """Decodes the messages of an operation. Several threads may use one at once.

    Args:
        wsdl: a path, a URL, the text of a WSDL, or what has loaded one, such as a `Client`.
        operation: the operation's name, with its port if several have it. For a schema without
            operations, the name of an element.
        direction: ``"request"`` or ``"response"``.
        column: the column of messages: binary or text. A message is an envelope, or an HTTP
            message, a MIME package or any of these in gzip.
        keep: columns of the input that are in the result as well, before those of the message.
        sender: a column of senders, such as hosts. A message is compared with the last ones of its
            sender, which makes decoding faster, and never changes the result.
        tolerance: ``"strict"``, ``"unknown"`` (skips elements that the WSDL does not have), or
            ``"any_order"``.
        errors: ``"column"`` for a column of errors, or ``"raise"``.
        error_column: the name of the column of errors.
        limit_message: maximum number of bytes of a message, also after decompression.
        limit_senders: maximum number of senders that are remembered.
        limit_kept: maximum number of bytes that are remembered of them.

    Raises:
        KeyError: if there is no such operation.
        ValueError: if two columns of the result have the same name.
    """

    def __init__(
        self,
        wsdl: Any,
        operation: str,
        *,
        direction: str = "request",
        column: str = "body",
        keep: Iterable[str] = (),
        sender: str | None = None,
        tolerance: str = "unknown",
        errors: str = "column",
        error_column: str = "_error",
        limit_message: int = 64 << 20,
        limit_senders: int = 256,
        limit_kept: int = 64 << 20,
    ) -> None:
        options = {
            "column": column,
            "keep": tuple(keep),
            "sender": sender,
            "tolerance": tolerance,
            "errors": errors,
            "error_column": error_column,
            "limit_message": limit_message,
            "limit_senders": limit_senders,
            "limit_kept": limit_kept,
        }
        self._key: _Key = (_compiled(wsdl), operation, direction, tuple(options.items()))
        self._engine = _decoder(*self._key)

    @property
    def columns(self) -> list[str]:
        """The names of the columns that are read."""
        options = dict(self._key[3])
        names = [options["column"], options["sender"], *options["keep"]]
        return list(dict.fromkeys(name for name in names if name is not None))

    def __call__(self, data: object) -> RecordBatches:
        """Decode a table, or a single column.

        Raises:
            KeyError: if a column is missing.
            TypeError: if a column is neither binary nor text, or the data is not of Arrow.
            deltasoap.exceptions.XMLParseError: for the first message that cannot be decoded, with
                ``errors="raise"``.
        """
        return self._engine.decode(data)

    def schema(self, data: object = None) -> RecordBatches:
        """Return a result without rows, for its schema: ``pyarrow.schema(decoder.schema())``.

        Args:
            data: the schema of the input, which has the types of the columns that are kept.
        """
        return self._engine.schema(data)

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, self._key


def decode(data: object, wsdl: Any, operation: str, **options: Any) -> RecordBatches:
    """Decode a table, or a column, of the messages of an operation: see `Decoder`."""
    return Decoder(wsdl, operation, **options)(data)


def schema(wsdl: Any, operation: str, direction: str = "request", **options: Any) -> RecordBatches:
    """Return the schema of the messages of an operation, as a result without rows."""
    return Decoder(wsdl, operation, direction=direction, **options).schema()


def _restored(*key: Any) -> Decoder:
    decoder = Decoder.__new__(Decoder)
    decoder._key = key
    decoder._engine = _decoder(*key)
    return decoder


@functools.lru_cache(_DECODERS)
def _decoder(compiled: bytes, operation: str, direction: str, options: _Options) -> BatchDecoder:
    return BatchDecoder(_contract(compiled), operation, direction, **dict(options))


@functools.lru_cache(_CONTRACTS)
def _contract(compiled: bytes) -> Contract:
    return Contract.parse(compiled)


def _compiled(wsdl: Any) -> bytes:
    """Return the compiled form of a WSDL, which is the same for the same documents."""
    # A client, a document, a contract.
    loaded = getattr(getattr(wsdl, "wsdl", wsdl), "contract", wsdl)
    if isinstance(loaded, Contract):
        return loaded.compile()
    if isinstance(wsdl, bytes):
        return _of_text(wsdl)
    if isinstance(wsdl, str) and wsdl.lstrip("\ufeff \t\r\n").startswith("<"):
        return _of_text(wsdl.encode())
    location = os.fspath(wsdl)
    try:
        about = os.stat(location)
    except OSError:
        return _of_location(location, None)
    return _of_location(os.path.abspath(location), (about.st_mtime_ns, about.st_size))


@functools.lru_cache(_CONTRACTS)
def _of_text(document: bytes) -> bytes:
    return Contract.parse(document).compile()


@functools.lru_cache(_CONTRACTS)
def _of_location(location: str, version: tuple[int, int] | None) -> bytes:
    """Import a WSDL. A file is imported again after it has changed, not after its imports have."""
    return Contract.load(location).compile()
