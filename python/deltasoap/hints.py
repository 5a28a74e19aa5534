"""Type hints as types of XML Schema, with the conversion of their values both ways."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import keyword
import types
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

__all__ = ["Enumeration", "Member", "Structure", "Types"]

#: Types of XML Schema for those of Python.
_SIMPLE: dict[Any, str] = {
    bool: "xsd:boolean",
    int: "xsd:long",
    float: "xsd:double",
    str: "xsd:string",
    bytes: "xsd:base64Binary",
    decimal.Decimal: "xsd:decimal",
    datetime.datetime: "xsd:dateTime",
    datetime.date: "xsd:date",
    datetime.time: "xsd:time",
    datetime.timedelta: "xsd:duration",
}

#: Other types that `Annotated[int, "xsd:int"]` may choose.
_CHOICES: dict[Any, frozenset[str]] = {
    int: frozenset(
        "xsd:byte xsd:short xsd:int xsd:long xsd:integer xsd:unsignedByte xsd:unsignedShort "
        "xsd:unsignedInt xsd:unsignedLong xsd:positiveInteger xsd:nonNegativeInteger "
        "xsd:negativeInteger xsd:nonPositiveInteger".split()
    ),
    float: frozenset(["xsd:float", "xsd:double"]),
    str: frozenset(
        "xsd:string xsd:normalizedString xsd:token xsd:anyURI xsd:language xsd:NCName".split()
    ),
    bytes: frozenset(["xsd:base64Binary", "xsd:hexBinary"]),
}

#: Types of XML Schema for those of NumPy's arrays.
_ARRAYS = {
    "bool": "xsd:boolean",
    "float64": "xsd:double",
    "float32": "xsd:float",
    "int64": "xsd:long",
    "int32": "xsd:int",
    "int16": "xsd:short",
    "int8": "xsd:byte",
    "uint64": "xsd:unsignedLong",
    "uint32": "xsd:unsignedInt",
    "uint16": "xsd:unsignedShort",
    "uint8": "xsd:unsignedByte",
    "datetime64": "xsd:dateTime",
}

_Convert = Callable[[Any], Any]


@dataclass
class Member:
    """An element: a parameter, a field of a dataclass, or a result."""

    name: str
    python: str
    type: str
    read: _Convert
    write: _Convert
    is_optional: bool = False
    is_list: bool = False
    is_nillable: bool = False
    is_array: bool = False
    structure: Structure | None = None

    def is_absent(self, value: Any) -> bool:
        """Whether a value that was read was not in the message; a list without items is not."""
        return len(value) == 0 if self.is_list else value is None


@dataclass
class Enumeration:
    """An enumeration as a simple type."""

    name: str
    base: str
    members: list[enum.Enum]


@dataclass
class Structure:
    """A dataclass as a complex type."""

    name: str
    made: Any
    members: list[Member] = field(default_factory=list)
    defaults: set[str] = field(default_factory=set)

    def _from_engine(self, values: dict[str, Any]) -> Any:
        """An instance of the fields that the engine read."""
        arguments = {}
        for member in self.members:
            found = member.read(values.get(member.name))
            if not member.is_absent(found) or member.python not in self.defaults:
                arguments[member.python] = found
        return self.made(**arguments)

    def write(self, value: Any) -> Any:
        """The fields by the names of their elements; other objects as they are."""
        if not isinstance(value, self.made):
            return value
        return {each.name: each.write(getattr(value, each.python)) for each in self.members}


class Types:
    """The types of an interface: dataclasses and enumerations by their classes."""

    def __init__(self) -> None:
        self.structures: dict[Any, Structure] = {}
        self.enumerations: dict[Any, Enumeration] = {}

    def member(self, name: str, python: str, hint: Any, place: str, has_default: bool) -> Member:
        """The element for a hint.

        Raises:
            TypeError: if the hint has no XML type.
        """
        hint, is_optional = _without_none(hint, place)
        item = _item(hint, place)
        if item is not None:
            return self._list(name, python, item, place)
        dtype = _dtype(hint, place)
        if dtype is not None:
            return _array(name, python, dtype)
        kind, read, write, structure = self._scalar(hint, place)
        is_absent = is_optional or has_default
        return Member(
            name,
            python,
            kind,
            read=_text if _is_text(hint) and not is_absent else _unless_none(read),
            write=_unless_none(write),
            is_optional=is_absent,
            structure=structure,
        )

    def _list(self, name: str, python: str, hint: Any, place: str) -> Member:
        hint, is_nillable = _without_none(hint, place)
        if _item(hint, place) is not None or _dtype(hint, place) is not None:
            raise TypeError(
                f"{place}: lists of lists have no XML type; make a dataclass of the inner"
            )
        kind, read, write, structure = self._scalar(hint, place)
        if _is_text(hint) and not is_nillable:
            read = _text
        elif is_nillable:
            read, write = _unless_none(read), _unless_none(write)
        return Member(
            name,
            python,
            kind,
            read=lambda items: [read(each) for each in _plain(items)],
            write=lambda items: items if write is _same else _written(items, write),
            is_list=True,
            is_nillable=is_nillable,
            structure=structure,
        )

    def _scalar(self, hint: Any, place: str) -> tuple[str, _Convert, _Convert, Structure | None]:
        """The type of a value that is no list, and its conversions."""
        if get_origin(hint) is Annotated:
            base, *notes = get_args(hint)
            named = next((each for each in notes if str(each).startswith("xsd:")), None)
            if named is None:
                return self._scalar(base, place)
            choices = _CHOICES.get(base, frozenset())
            if named not in choices:
                raise TypeError(
                    f"{place}: {named} is no type for {_shown(base)}; there is "
                    f"{', '.join(sorted(choices)) or 'none'}"
                )
            return named, _same, _same, None
        if isinstance(hint, type) and hint in _SIMPLE:
            return _SIMPLE[hint], _same, _same, None
        if isinstance(hint, type) and issubclass(hint, enum.Enum):
            enumeration = self.enumeration(hint, place)
            return f"tns:{enumeration.name}", hint, _value_of, None
        if isinstance(hint, type) and dataclasses.is_dataclass(hint):
            structure = self.structure(hint, place)
            return f"tns:{structure.name}", _same, structure.write, structure
        raise TypeError(
            f"{place}: {_shown(hint)} has no XML type; there are types for bool, int, float, str, "
            "bytes, Decimal, datetime, date, time, timedelta, enumerations, dataclasses, lists of "
            "these, and arrays of NumPy (NDArray[np.float64])"
        )

    def structure(self, made: Any, place: str) -> Structure:
        """The type of a dataclass."""
        if made in self.structures:
            return self.structures[made]
        if not dataclasses.is_dataclass(made):
            raise TypeError(f"{place}: it has to be a dataclass, which its XML type is made from")
        structure = Structure(self._free(made, place), made)
        # Hints are read first, so that a class whose hints are not defined yet is read again.
        hints = get_type_hints(made, include_extras=True)
        self.structures[made] = structure
        try:
            self._fields(structure, hints)
        except (NameError, TypeError):
            del self.structures[made]
            raise
        return structure

    def _fields(self, structure: Structure, hints: dict[str, Any]) -> None:
        missing = dataclasses.MISSING
        for each in dataclasses.fields(structure.made):
            if not each.init:
                continue
            has_default = each.default is not missing or each.default_factory is not missing
            if has_default:
                structure.defaults.add(each.name)
            is_escaped = each.name.endswith("_") and keyword.iskeyword(each.name[:-1])
            name = each.name[:-1] if is_escaped else each.name
            place = f"{structure.made.__qualname__}.{each.name}"
            member = self.member(name, each.name, hints[each.name], place, has_default)
            structure.members.append(member)

    def enumeration(self, made: type[enum.Enum], place: str) -> Enumeration:
        """The type of an enumeration."""
        if made in self.enumerations:
            return self.enumerations[made]
        members = list(made)
        kinds = {type(each.value) for each in members}
        bases = [(str, "xsd:string"), (int, "xsd:long")]
        base = next((base for kind, base in bases if kinds == {kind}), None)
        if base is None:
            raise TypeError(
                f"{place}: the values of {made.__qualname__} have to be all str or all int"
            )
        self.enumerations[made] = Enumeration(self._free(made, place), base, members)
        return self.enumerations[made]

    def _free(self, made: Any, place: str) -> str:
        """The name of a class, which no other one may have."""
        name: str = made.__name__
        for other in (*self.structures, *self.enumerations):
            if other.__name__ == name:
                raise TypeError(
                    f"{place}: {made.__module__}.{made.__qualname__} and "
                    f"{other.__module__}.{other.__qualname__} have one name; rename one of them"
                )
        return name

    def has_arrays(self, member: Member, seen: frozenset[int] = frozenset()) -> bool:
        """Whether an element is, or has within it, an array of NumPy."""
        structure = member.structure
        if structure is None or id(structure) in seen:
            return member.is_array
        return any(self.has_arrays(each, seen | {id(structure)}) for each in structure.members)


def _without_none(hint: Any, place: str) -> tuple[Any, bool]:
    """A hint without `| None`, and whether it had it."""
    if get_origin(hint) not in (Union, types.UnionType):
        return hint, False
    others = [each for each in get_args(hint) if each is not type(None)]
    if len(others) != 1:
        raise TypeError(
            f"{place}: {_shown(hint)} has no XML type; only `| None` can be a second one"
        )
    return others[0], len(others) < len(get_args(hint))


def _item(hint: Any, place: str) -> Any:
    """The hint of a list's items; None if it is no list."""
    origin = get_origin(hint)
    if hint is list or hint is tuple or origin is tuple and get_args(hint)[1:] != (Ellipsis,):
        raise TypeError(f"{place}: say what the items of the list are: list[str]")
    if origin in (list, tuple, Sequence, Iterable):
        return get_args(hint)[0]
    return None


def _dtype(hint: Any, place: str) -> str | None:
    """The name of the items' type of a NumPy array; None if it is none."""
    origin = get_origin(hint) or hint
    if getattr(origin, "__module__", "") != "numpy" or getattr(origin, "__name__", "") != "ndarray":
        return None
    arguments = get_args(hint)
    scalar = get_args(arguments[1])[0] if len(arguments) == 2 and get_args(arguments[1]) else None
    name = getattr(scalar, "__name__", "").rstrip("_")
    if name not in _ARRAYS:
        raise TypeError(
            f"{place}: {_shown(hint)} has no XML type; there are arrays of {', '.join(_ARRAYS)}"
        )
    return name


def _array(name: str, python: str, dtype: str) -> Member:
    def read(value: Any) -> Any:
        import numpy as np

        wanted = "datetime64[us]" if dtype == "datetime64" else dtype
        return np.asarray([] if value is None else value, dtype=wanted)

    return Member(name, python, _ARRAYS[dtype], read, _same, is_list=True, is_array=True)


def _shown(hint: Any) -> str:
    return hint.__qualname__ if isinstance(hint, type) else str(hint)


def _is_text(hint: Any) -> bool:
    return (get_args(hint)[0] if get_origin(hint) is Annotated else hint) is str


def _same(value: Any) -> Any:
    return value


def _text(value: Any) -> Any:
    # The engine has no empty texts.
    return "" if value is None else value


def _value_of(value: Any) -> Any:
    return value.value if isinstance(value, enum.Enum) else value


def _unless_none(convert: _Convert) -> _Convert:
    if convert is _same:
        return _same
    return lambda value: None if value is None else convert(value)


def _plain(items: Any) -> Any:
    """The items of a list, also of one that arrived as a column."""
    if items is None:
        return []
    return items.tolist() if hasattr(items, "tolist") else items


def _written(items: Any, write: _Convert) -> Any:
    is_one = items is None or isinstance(items, (str, bytes)) or not isinstance(items, Iterable)
    return items if is_one else [write(each) for each in items]
