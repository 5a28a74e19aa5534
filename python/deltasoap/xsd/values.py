"""Values of complex types: objects with a field for each element and attribute."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any, ClassVar

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
        return self.__values__ == other.__values__

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={value!r}" for name, value in self.__values__.items())
        return f"{type(self).__name__}({fields})"

    def __str__(self) -> str:
        return PrettyPrinter().pformat(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> CompoundValue:
        made = type(self)._from_engine(copy.deepcopy(self.__values__, memo))
        if "_xsd_elm" in vars(self):
            made._xsd_elm = self._xsd_elm
        return made  # type: ignore[no-any-return]

    def __reduce__(self) -> tuple[Any, ...]:
        # Types do not go into pickles: what comes back has the fields, and no type.
        return (_unpickle_compound_value, (type(self).__name__, self.__values__))

    def __json__(self) -> dict[str, Any]:
        return self.__values__


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
    def _from_engine(cls, values: dict[str, Any]) -> ArrayValue:
        return cls(next(iter(values.values()), None) or [])

    @classmethod
    def from_value_object(cls, obj: CompoundValue) -> ArrayValue:
        """The items of a value whose only field is the list."""
        return cls._from_engine(obj.__values__)

    def as_value_object(self) -> CompoundValue:
        """The value whose only field is this list."""
        made = value_class(CompoundValue, type(self).__name__, self._xsd_type)
        return made(list(self))  # type: ignore[no-any-return]
