"""Dask: data frames, and whatever applies a function to Arrow tables (bags, delayed, futures)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from deltasoap.arrow import Decoder

__all__ = ["decode", "decoder"]


class decoder:
    """A function from Arrow tables to Arrow tables, for `bag.map`, `delayed` and `client.map`.

    The options are those of `deltasoap.arrow.Decoder`. Workers get the compiled WSDL with it.
    """

    def __init__(
        self, wsdl: Any, operation: str, *, keep: Iterable[str] = (), **options: Any
    ) -> None:
        self._keep = list(keep)
        self._decode = Decoder(wsdl, operation, keep=self._keep, **options)
        # A data frame keeps its own columns, with their types.
        self._messages = Decoder(wsdl, operation, **options)

    def __call__(self, table: Any) -> Any:
        """Decode a table or record batch of pyarrow."""
        import pyarrow as pa

        return pa.table(self._decode(table))

    def frame(self, frame: Any) -> Any:
        """Decode a data frame of pandas. Columns of messages are of Arrow's types."""
        import pandas as pd
        import pyarrow as pa

        read = pa.Table.from_pandas(frame[self._messages.columns], preserve_index=False)
        decoded = pa.table(self._messages(read)).to_pandas(types_mapper=pd.ArrowDtype)
        decoded.index = frame.index
        return pd.concat([frame[self._keep], decoded], axis=1)

    def meta(self, frame: Any) -> Any:
        """Return the result for a data frame without rows."""
        return self.frame(frame.iloc[:0])


def decode(frame: Any, wsdl: Any, operation: str, **options: Any) -> Any:
    """Decode a data frame of Dask, partition by partition."""
    decode_frame = decoder(wsdl, operation, **options)
    return frame.map_partitions(decode_frame.frame, meta=decode_frame.meta(frame._meta))
