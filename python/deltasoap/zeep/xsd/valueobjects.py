"""Values."""

from __future__ import annotations

from typing import Any

from deltasoap.xsd.values import AnyObject, ArrayValue, CompoundValue

__all__ = ["AnyObject", "ArrayValue", "CompoundValue"]


def _process_signature(
    xsd_type: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> dict[str, Any]:
    return xsd_type.bind(args, kwargs)  # type: ignore[no-any-return]
