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
    NumPy code, and those of its mask; ``None`` if it is no array, or one that NumPy cannot hold
    without a loss.

    Raises:
        ValueError: if a number does not fit into the type.
    """
    if not is_sequence(value) or _needs_objects(value):
        return None
    import numpy as np

    mask = None
    if isinstance(value, np.ma.MaskedArray):
        mask = np.ma.getmaskarray(value)
        value = value.filled(value.dtype.type(0) if value.dtype.kind != "M" else 0)
    given = np.asarray(value)
    wanted = np.dtype(code)
    if (
        given.ndim != 1
        or given.dtype.kind not in "biufM"
        or (given.dtype.kind == "M") != (wanted.kind == "M")
    ):
        return None
    if given.dtype.kind == "M" and np.isnat(given).any():
        gone = np.isnat(given)
        mask = gone if mask is None else mask | gone
        given = np.where(gone, np.datetime64(0, "us"), given)
    given = given.astype(wanted) if wanted.kind == "M" else _converted(given, wanted)
    hidden = mask.tobytes() if mask is not None and mask.any() else None
    return np.ascontiguousarray(given).tobytes(), hidden


def is_sequence(value: Any) -> bool:
    """Whether an object is an array of NumPy, Arrow, pandas or polars, of one dimension."""
    is_array = hasattr(value, "__array__") or hasattr(value, "__array_interface__")
    return is_array and len(getattr(value, "shape", (0,))) == 1


def items(value: Any) -> list[Any]:
    """Return the items of such an array as objects of Python; ``None`` where there is none."""
    if hasattr(value, "isna"):
        if _is_plain(value):
            return list(value.tolist())
        gone = value.isna()
        return [None if no else item for item, no in zip(value.tolist(), gone, strict=True)]
    to_list = getattr(value, "to_pylist", None) or getattr(value, "to_list", None)
    if to_list is not None:
        return list(to_list())
    import numpy as np

    given = np.ma.asarray(value) if isinstance(value, np.ma.MaskedArray) else np.asarray(value)
    # Python has microseconds; days become dates.
    if given.dtype.kind == "M" and np.datetime_data(given.dtype)[0] in ("ns", "ps", "fs", "as"):
        given = given.astype("datetime64[us]")
    return list(given.tolist())


def _needs_objects(value: Any) -> bool:
    """Whether an array of NumPy would lose nulls or zones of another library's array."""
    if hasattr(value, "isna"):
        return not _is_plain(value)
    count = getattr(value, "null_count", 0)
    if count() if callable(count) else count:
        return True
    zone = getattr(getattr(value, "type", None), "tz", None)
    return bool(zone or getattr(getattr(value, "dtype", None), "time_zone", None))


def _is_plain(series: Any) -> bool:
    """Whether a series of pandas is an array of NumPy, whose NaN is a number."""
    import numpy as np

    is_array = isinstance(series.dtype, np.dtype)
    return is_array and (series.dtype.kind in "biuf" or not series.isna().any())


def _converted(given: Any, wanted: Any) -> Any:
    """Return an array of another type; numbers are compared with its limits first."""
    import numpy as np

    if given.dtype == wanted:
        return given
    if wanted.kind == "f" and given.dtype.kind in "iuf":
        with np.errstate(over="ignore"):
            converted = given.astype(wanted)
        if (np.isinf(converted) & np.isfinite(given)).any():
            raise ValueError(f"a number does not fit into {wanted}")
        return converted
    if wanted.kind not in "iu" or given.dtype.kind not in "iu":
        if not np.can_cast(given.dtype, wanted, "safe"):
            raise ValueError(f"numbers of {given.dtype} do not fit into {wanted}")
        return given.astype(wanted)
    limits = np.iinfo(wanted)
    if given.size and (int(given.min()) < limits.min or int(given.max()) > limits.max):
        raise ValueError(f"a number does not fit into {wanted}")
    return given.astype(wanted)


def columns(value: Any) -> dict[str, Any] | None:
    """Return the columns of a table by their names: of a structured array, a DataFrame, an Arrow
    table or record batch, or any object of the Arrow PyCapsule interface; ``None`` for others."""
    names = getattr(getattr(value, "dtype", None), "names", None)
    if names:
        return {name: value[name] for name in names}
    if hasattr(value, "iloc") and hasattr(value, "columns"):
        return {str(name): value[name] for name in value.columns}
    if hasattr(value, "get_columns"):
        return {column.name: column for column in value.get_columns()}
    if is_sequence(value) or not (
        hasattr(value, "__arrow_c_array__") or hasattr(value, "__arrow_c_stream__")
    ):
        return None
    import pyarrow as pa

    table = pa.table(value)
    return {name: table[name] for name in table.column_names}


def rows(value: Any) -> list[dict[str, Any]] | None:
    """Return the rows of such a table as dicts; ``None`` for other objects."""
    found = columns(value)
    if found is None:
        return None
    listed = [items(column) if is_sequence(column) else list(column) for column in found.values()]
    return [dict(zip(found, row, strict=True)) for row in zip(*listed, strict=True)]
