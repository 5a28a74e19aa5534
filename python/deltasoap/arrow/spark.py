"""Spark: `decode(frame, ...)`, over `DataFrame.mapInArrow`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from deltasoap.arrow import Decoder

__all__ = ["decode"]


def decode(frame: Any, wsdl: Any, operation: str, **options: Any) -> Any:
    """Decode a data frame of Spark.

    The options are those of `deltasoap.arrow.Decoder`. Executors get the compiled WSDL with the
    plan.
    """
    import pyarrow as pa
    from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema

    decode_batch = Decoder(wsdl, operation, **options)
    made = pa.schema(decode_batch.schema(to_arrow_schema(frame.schema)))
    wanted = pa.schema([field.with_type(_signed(field.type)) for field in made])

    def decoded(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            yield from pa.table(decode_batch(batch)).cast(wanted).to_batches()

    return frame.mapInArrow(decoded, from_arrow_schema(wanted))


def _signed(given: Any) -> Any:
    """Return the type without unsigned numbers, which Spark does not have."""
    import pyarrow as pa

    wider = {
        pa.uint8(): pa.int16(),
        pa.uint16(): pa.int32(),
        pa.uint32(): pa.int64(),
        pa.uint64(): pa.decimal128(20, 0),
    }
    if pa.types.is_struct(given):
        fields = [given.field(place) for place in range(given.num_fields)]
        return pa.struct([field.with_type(_signed(field.type)) for field in fields])
    if pa.types.is_list(given):
        return pa.list_(given.value_field.with_type(_signed(given.value_type)))
    return wider.get(given, given)
