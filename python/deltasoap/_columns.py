"""NumPy arrays of the engine's columns, and columns of arguments.

NumPy is imported with the first column. Without NumPy, columns are lists.
"""

from __future__ import annotations

from typing import Any


def array(view: Any, may_be_nil: bool) -> Any:
    """Return an array that reads the memory of a column; a masked one if items can be nil."""
    try:
        import numpy as np
    except ImportError:
        return view.to_list()
    if view.is_moments:
        values = np.asarray(view.microseconds()).view("datetime64[us]")
    else:
        values = np.asarray(view)
    if may_be_nil:
        return np.ma.MaskedArray(values, mask=np.asarray(view.mask))
    return values


def plain(value: Any) -> tuple[Any, Any]:
    """Return what has numbers as an array, and NumPy's own class of it."""
    import numpy as np

    is_masked = isinstance(value, np.ma.MaskedArray)
    return np.asanyarray(value), np.ma.MaskedArray if is_masked else np.ndarray


def are_equal(one: Any, other: Any) -> bool:
    """Return whether two values, of which one is an array, have equal items; masked ones are."""
    import numpy as np

    if np.ma.isMaskedArray(one) or np.ma.isMaskedArray(other):
        one, other = np.ma.asarray(one), np.ma.asarray(other)
        return bool(one.shape == other.shape and one.tolist() == other.tolist())
    return bool(np.array_equal(one, other))


def is_table(value: Any) -> bool:
    """Return whether a value has columns: a structured array, or what Arrow reads."""
    if hasattr(value, "__arrow_c_array__") or hasattr(value, "__arrow_c_stream__"):
        return True
    return bool(getattr(getattr(value, "dtype", None), "names", None))


def is_numbers(value: Any) -> bool:
    """Return whether a value is an array of numbers, booleans or moments."""
    kind = getattr(getattr(value, "dtype", None), "kind", "O")
    return kind in "biufM" and getattr(value, "ndim", 0) > 0


def structured(rows: Any) -> Any:
    """Return the rows of a list as a structured array; strings are objects in it."""
    import numpy as np

    names = rows.keys()
    columns = [rows[name] for name in names]
    types = [getattr(column, "dtype", np.dtype(object)) for column in columns]
    masks = any(isinstance(column, np.ma.MaskedArray) for column in columns)
    made = (np.ma.empty if masks else np.empty)(
        len(rows), dtype=list(zip(names, types, strict=True))
    )
    for name, column in zip(names, columns, strict=True):
        made[name] = column if hasattr(column, "dtype") else column.to_list()
    return made


def numbers(value: Any, code: str) -> tuple[bytes, bytes | None] | None:
    """Return the bytes of an array of numbers in the machine's order, converted to a type by its
    NumPy code, and those of its mask; ``None`` if it is no array.

    Raises:
        ValueError: if a number does not fit into the type.
    """
    if not hasattr(value, "__array__") and not hasattr(value, "__array_interface__"):
        return None
    import numpy as np

    mask = None
    if isinstance(value, np.ma.MaskedArray):
        mask = np.ma.getmaskarray(value).tobytes() if value.mask is not np.ma.nomask else None
        value = value.filled(0)
    given = np.asarray(value)
    if given.ndim != 1 or given.dtype.kind not in "biufM":
        return None
    wanted = np.dtype(code)
    if given.dtype.kind == "M":
        if code != "datetime64[us]":
            return None
        return given.astype(wanted).tobytes(), mask
    if given.dtype != wanted:
        given = _converted(given, wanted)
    return np.ascontiguousarray(given).tobytes(), mask


def _converted(given: Any, wanted: Any) -> Any:
    """Return an array of another type; integers are compared with its limits first."""
    import numpy as np

    if wanted.kind == "f":
        return given.astype(wanted, casting="same_kind")
    if wanted.kind not in "iu" or given.dtype.kind not in "iu":
        return given.astype(wanted, casting="safe")
    limits = np.iinfo(wanted)
    if given.size and (int(given.min()) < limits.min or int(given.max()) > limits.max):
        raise ValueError(f"a number does not fit into {wanted}")
    return given.astype(wanted)


def columns(value: Any) -> dict[str, Any] | None:
    """Return the columns of a table by their names: of a structured array, a DataFrame, an Arrow
    table or record batch, or any object of the Arrow PyCapsule interface; ``None`` for others."""
    dtype = getattr(value, "dtype", None)
    names = getattr(dtype, "names", None)
    if names:
        return {name: value[name] for name in names}
    if hasattr(value, "__arrow_c_array__") or hasattr(value, "__arrow_c_stream__"):
        import pyarrow as pa

        table = pa.table(value)
        return {name: _arrow_column(table[name]) for name in table.column_names}
    return None


def _arrow_column(column: Any) -> Any:
    import pyarrow as pa

    kind = column.type
    is_number = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)
    # NumPy has no zones.
    is_plain = is_number or (pa.types.is_timestamp(kind) and kind.tz is None)
    if is_plain and not column.null_count:
        return column.to_numpy()
    return column.to_pylist()
