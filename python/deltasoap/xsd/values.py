"""Values of complex types: objects with a field for each element and attribute."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from reprlib import recursive_repr
from typing import Any, ClassVar

from deltasoap._columns import is_numbers
from deltasoap.xsd.printer import PrettyPrinter

__all__ = ["AnyObject", "ArrayValue", "CompoundValue"]

_OWN = ("_xsd_type", "_xsd_elm")


class AnyObject:
    """A value together with its element or type, for a place where the schema allows anything.

    :param xsd_object: the element (for `xsd:any`) or the type (for `xsd:anyType`); None is nil
    """

    def __init__(self, xsd_object: Any, value: Any) -> None:
        self.xsd_obj = xsd_object
        self.value = value

    @property
    def xsd_type(self) -> Any:
        """What was given as the type."""
        return self.xsd_obj

    @property
    def xsd_elm(self) -> Any:
        """What was given as the element."""
        return self.xsd_obj

    def __repr__(self) -> str:
        return f"<{type(self).__name__}(type={self.xsd_obj!r}, value={self.value!r})>"

    @property
    def __deltasoap__(self) -> str | None:
        """The name of the type, for the engine."""
        return getattr(self.xsd_obj, "__deltasoap__", None)

    def to_document(self) -> bytes:
        """The element that stands for the value."""
        from deltasoap.xsd import codec

        return codec.any_document(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> AnyObject:
        return type(self)(self.xsd_obj, copy.deepcopy(self.value, memo))


class CompoundValue:
    """A value of a complex type. Fields are attributes and items: `v.name` is `v["name"]`.

    Each type has a class of its own, which is made of arguments: `client.get_type("ns0:User")`.
    """

    _xsd_type: ClassVar[Any] = None
    __values__: dict[str, Any]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        xsd_type = type(self)._xsd_type
        values = xsd_type.values_of(args, kwargs) if xsd_type is not None else {}
        object.__setattr__(self, "__values__", values)

    @classmethod
    def _from_engine(cls, values: dict[str, Any]) -> Any:
        """A value whose fields the engine read."""
        made = cls.__new__(cls)
        object.__setattr__(made, "__values__", values)
        return made

    def to_document(self) -> bytes:
        """The element that stands for the value, where anything may stand."""
        from deltasoap.xsd import codec

        return codec.any_document(self)

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("__") and name != "_xsd_elm":
            try:
                return self.__values__[name]
            except KeyError:
                pass
        raise AttributeError(f"{type(self).__name__} instance has no attribute {name!r}")

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _OWN or name.startswith("__"):
            object.__setattr__(self, name, value)
        else:
            self.__values__[name] = value

    def __getitem__(self, name: str) -> Any:
        return self.__values__[name]

    def __setitem__(self, name: str, value: Any) -> None:
        self.__values__[name] = value

    def __delitem__(self, name: str) -> None:
        del self.__values__[name]

    def __contains__(self, name: object) -> bool:
        return name in self.__values__

    def __iter__(self) -> Iterator[str]:
        return iter(self.__values__)

    def __len__(self) -> int:
        return len(self.__values__)

    def __dir__(self) -> list[str]:
        return list(self.__values__)

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return False
        return _are_equal(self.__values__, other.__values__)

    __hash__ = None  # type: ignore[assignment]

    @recursive_repr("...")
    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={value!r}" for name, value in self.__values__.items())
        return f"{type(self).__name__}({fields})"

    def __str__(self) -> str:
        return PrettyPrinter().pformat(self)

    def __copy__(self) -> CompoundValue:
        made = type(self)._from_engine(dict(self.__values__))
        if "_xsd_elm" in vars(self):
            made._xsd_elm = self._xsd_elm
        return made  # type: ignore[no-any-return]

    def __deepcopy__(self, memo: dict[int, Any]) -> CompoundValue:
        made = copy.copy(self)
        # Known before its fields are copied, which can contain it.
        memo[id(self)] = made
        made.__values__.update(copy.deepcopy(self.__values__, memo))
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        # Types do not go into pickles: what comes back has the fields, and no type.
        return (_unpickle_compound_value, (type(self).__name__, self.__values__))

    def __json__(self) -> dict[str, Any]:
        return self.__values__


def _are_equal(one: Any, other: Any) -> bool:
    """Whether two fields are equal. Arrays are compared as wholes."""
    if one is other:
        return True
    if hasattr(one, "__array__") or hasattr(other, "__array__"):
        from deltasoap._columns import are_equal

        return are_equal(one, other)
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_are_equal(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_are_equal, one, other))
    return bool(one == other)


def value_class(base: type, name: str, xsd_type: Any) -> type:
    """The class of the values of a type."""
    known = getattr(xsd_type, "__deltasoap__", None)
    fields = {"_xsd_type": xsd_type, "__module__": "deltasoap.objects", "__deltasoap__": known}
    return type(name, (base,), fields)


def _unpickle_compound_value(name: str, values: dict[str, Any]) -> CompoundValue:
    made: CompoundValue = value_class(CompoundValue, name, None)._from_engine(values)  # type: ignore[attr-defined]
    return made


class ArrayValue(list):  # type: ignore[type-arg]
    """A value of an array of SOAP encoding: a list."""

    _xsd_type: ClassVar[Any] = None

    @classmethod
    def _from_engine(cls, values: dict[str, Any]) -> Any:
        items = next(iter(values.values()), None)
        if is_numbers(items):
            return cls._of_numbers(items)
        return cls([] if items is None else items)

    @classmethod
    def _of_numbers(cls, array: Any) -> Any:
        """An array of NumPy that knows its type, as the lists do."""
        from deltasoap._columns import plain

        array, kind = plain(array)
        name = f"_{kind.__name__}"
        # Kept by this class, so that it goes with the types of its WSDL.
        if name not in vars(cls):
            setattr(cls, name, _numbers_class(cls, kind))
        return array.view(getattr(cls, name))

    @classmethod
    def from_value_object(cls, obj: CompoundValue) -> Any:
        """The items of a value whose only field is the list."""
        return cls._from_engine(obj.__values__)

    def as_value_object(self) -> CompoundValue:
        """The value whose only field is this list."""
        made = value_class(CompoundValue, type(self).__name__, self._xsd_type)
        return made(list(self))  # type: ignore[no-any-return]


class _Numbers:
    """What arrays of NumPy have that stand for arrays of SOAP encoding."""

    _xsd_type: ClassVar[Any] = None
    _plain: ClassVar[Any] = None

    def as_value_object(self) -> CompoundValue:
        """The value whose only field is the list of these numbers."""
        made = value_class(CompoundValue, type(self).__name__, self._xsd_type)
        return made(self.tolist())  # type: ignore[attr-defined, no-any-return]

    def __reduce__(self) -> Any:
        # Copies and pickles are arrays without the type.
        return self.view(self._plain).__reduce__()  # type: ignore[attr-defined]

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return self.copy()  # type: ignore[attr-defined]


def _numbers_class(array_class: type[ArrayValue], plain: Any) -> Any:
    made = value_class(_Numbers, array_class.__name__, array_class._xsd_type)
    return type(made.__name__, (made, plain), {"__module__": made.__module__, "_plain": plain})
