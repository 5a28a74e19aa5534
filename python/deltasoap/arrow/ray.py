"""Ray Data: `dataset.map_batches(decoder(...), batch_format="pyarrow")`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from deltasoap.arrow import Decoder

__all__ = ["decoder"]


def decoder(wsdl: Any, operation: str, **options: Any) -> Callable[[Any], Any]:
    """Return a function for `Dataset.map_batches` with ``batch_format="pyarrow"``.

    The options are those of `deltasoap.arrow.Decoder`. Workers get the compiled WSDL with the
    function.
    """
    import pyarrow as pa

    decode = Decoder(wsdl, operation, **options)

    def decoded(table: Any) -> Any:
        return pa.table(decode(table))

    return decoded
