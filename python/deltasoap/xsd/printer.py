"""How values are printed: one field a line."""

from __future__ import annotations

from typing import Any


class PrettyPrinter:
    """Formats dicts, lists and values of complex types over several lines."""

    def pformat(self, obj: Any) -> str:
        """The text of a value."""
        return _format(obj, 0, frozenset())


def _format(obj: Any, depth: int, around: frozenset[int]) -> str:
    from deltasoap.xsd.values import CompoundValue

    if id(obj) in around:
        return "..."
    around |= {id(obj)}
    if isinstance(obj, CompoundValue):
        obj = obj.__values__
    if isinstance(obj, dict):
        fields = [f"'{name}': {_format(value, depth + 1, around)}" for name, value in obj.items()]
        return _block("{", fields, "}", depth, "{\n}")
    if isinstance(obj, list):
        return _block("[", [_format(value, depth + 1, around) for value in obj], "]", depth, "[]")
    return repr(obj).replace("\n", "\n" + " " * 4 * depth)


def _block(start: str, lines: list[str], end: str, depth: int, empty: str) -> str:
    if not lines:
        return empty
    inner = " " * 4 * (depth + 1)
    body = ",\n".join(inner + line for line in lines)
    return f"{start}\n{body}\n{' ' * 4 * depth}{end}"
