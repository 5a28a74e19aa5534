"""What modules made by `deltasoap generate --python` need at run time.

Such a module has a class for each complex type, and a client for each port type. The clients here
convert arguments of these classes to what `Client.service` takes, and responses and the details of
faults to instances of them. A class names its type as `__deltasoap__`, `{namespace}local`, or the
empty string for a type without a name; the values of such a type are converted by the annotations
of the class that contains it.
"""

from __future__ import annotations

import dataclasses
import enum
import sys
import types
import typing
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

from deltasoap.exceptions import Fault

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from deltasoap.client import AsyncClient, Client

    Int8List: TypeAlias = npt.NDArray[np.int8] | list[int]
    Int16List: TypeAlias = npt.NDArray[np.int16] | list[int]
    Int32List: TypeAlias = npt.NDArray[np.int32] | list[int]
    Int64List: TypeAlias = npt.NDArray[np.int64] | list[int]
    UInt8List: TypeAlias = npt.NDArray[np.uint8] | list[int]
    UInt16List: TypeAlias = npt.NDArray[np.uint16] | list[int]
    UInt32List: TypeAlias = npt.NDArray[np.uint32] | list[int]
    UInt64List: TypeAlias = npt.NDArray[np.uint64] | list[int]
    Float32List: TypeAlias = npt.NDArray[np.float32] | list[float]
    Float64List: TypeAlias = npt.NDArray[np.float64] | list[float]
else:
    Int8List = Int16List = Int32List = Int64List = list[int]
    UInt8List = UInt16List = UInt32List = UInt64List = list[int]
    Float32List = Float64List = list[float]

__all__ = ["AsyncServiceClient", "Headers", "Reply", "ServiceClient", "classes", "typed", "untyped"]

Headers: TypeAlias = "Sequence[Any] | Mapping[str, Any]"
"""Header blocks: a list, or a dict by the names that the WSDL declares."""

_Body = TypeVar("_Body")
_Type = TypeVar("_Type")


@dataclasses.dataclass
class Reply(Generic[_Body]):
    """A response for which the WSDL declares header blocks."""

    header: Any
    body: _Body


class _ServiceClient:
    """What clients of both kinds share."""

    __deltasoap__ = ""
    __deltasoap_port__: tuple[str, str] | None = None

    client: Any
    service: Any

    def _open(self, client: Any, address: str | None) -> None:
        self.client = client
        if address is not None:
            self.service = client.create_service(self.__deltasoap__, address)
        elif self.__deltasoap_port__ is not None:
            self.service = client.bind(*self.__deltasoap_port__)
        else:
            raise ValueError(
                f"The WSDL has no port for the binding {self.__deltasoap__}: "
                f"give its address, as in {type(self).__name__}(wsdl, address=...)"
            )

    def _prepared(
        self, arguments: Mapping[str, Any] | tuple[Any, ...], headers: Headers | None
    ) -> tuple[list[Any], dict[str, Any]]:
        """The positional and the named arguments of a call."""
        named: dict[str, Any] = {}
        if headers is not None:
            named["_soapheaders"] = untyped(headers, self.client)
        if isinstance(arguments, tuple):
            return [untyped(value, self.client) for value in arguments], named
        given = {name: value for name, value in arguments.items() if value is not None}
        return [], {name: untyped(value, self.client) for name, value in given.items()} | named

    def _raised(self, fault: Fault, faults: Iterable[type[Fault]]) -> Fault | None:
        """The exception for a fault with a detail that the WSDL declares."""
        by_name = {each.__dict__["__deltasoap__"]: each for each in faults}
        detail = fault.detail
        for element in () if detail is None or isinstance(detail, (str, bytes)) else detail:
            exception = by_name.get(getattr(element, "tag", None))
            if exception is None:
                continue
            try:
                value = self.client.wsdl.types.deserialize(element)
            except LookupError:
                # A detail of a type, for which no element is declared.
                return None
            value = typed(value, _hints(exception)["detail"])
            return exception(fault.message, fault.code, fault.actor, value, fault.subcodes)
        return None


class ServiceClient(_ServiceClient):
    """The base of generated clients.

    :param wsdl: the WSDL that the module was generated for, or a client of it
    :param address: where the service is, if not where the WSDL says
    :param options: further arguments of `deltasoap.Client`
    """

    def __init__(self, wsdl: str | Client, *, address: str | None = None, **options: Any) -> None:
        if isinstance(wsdl, str):
            from deltasoap import Client

            wsdl = Client(wsdl, **options)
        self._open(wsdl, address)

    def _call(
        self,
        operation: str,
        arguments: Mapping[str, Any] | tuple[Any, ...],
        returns: Any,
        faults: tuple[type[Fault], ...],
        headers: Headers | None,
    ) -> Any:
        args, kwargs = self._prepared(arguments, headers)
        try:
            value = self.service[operation](*args, **kwargs)
        except Fault as fault:
            raised = self._raised(fault, faults)
            if raised is None:
                raise
            raise raised from fault
        return typed(value, returns)


class AsyncServiceClient(_ServiceClient):
    """The base of generated clients for asyncio.

    :param wsdl: the WSDL that the module was generated for, or an asynchronous client of it
    :param address: where the service is, if not where the WSDL says
    :param options: further arguments of `deltasoap.AsyncClient`
    """

    def __init__(
        self, wsdl: str | AsyncClient, *, address: str | None = None, **options: Any
    ) -> None:
        if isinstance(wsdl, str):
            from deltasoap import AsyncClient

            wsdl = AsyncClient(wsdl, **options)
        self._open(wsdl, address)

    async def _call(
        self,
        operation: str,
        arguments: Mapping[str, Any] | tuple[Any, ...],
        returns: Any,
        faults: tuple[type[Fault], ...],
        headers: Headers | None,
    ) -> Any:
        args, kwargs = self._prepared(arguments, headers)
        try:
            value = await self.service[operation](*args, **kwargs)
        except Fault as fault:
            raised = self._raised(fault, faults)
            if raised is None:
                raise
            raise raised from fault
        return typed(value, returns)


def classes(module: types.ModuleType) -> dict[str, type]:
    """The classes of a generated module by the names of their types, `{namespace}local`."""
    found = {}
    for value in vars(module).values():
        if isinstance(value, type) and _is_class(value):
            name = vars(value).get("__deltasoap__")
            if name:
                found[name] = value
    return found


def untyped(value: Any, client: Any) -> Any:
    """What a client takes in place of instances of generated classes, in lists and dicts too."""
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, Mapping):
        return {name: untyped(item, client) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [untyped(item, client) for item in value]
    if not _is_class(type(value)):
        return value
    values: dict[str, Any] = {}
    for field in _fields(type(value)):
        item = getattr(value, field.attribute)
        if item is not None and not (isinstance(item, list) and not item):
            values[field.name] = untyped(item, client)
    own = vars(type(value))
    if own.get("__deltasoap__"):
        return client.get_type(own["__deltasoap__"])(**values)
    if own.get("__deltasoap_element__"):
        return client.get_element(own["__deltasoap_element__"])(**values)
    return values


def typed(value: Any, to: Any) -> Any:
    """A value of a client as an instance of what an annotation names.

    A value of a derived type becomes an instance of that type's class. Rows become a list of
    instances: to keep columns, use `client.service` instead of the methods of a generated client.
    An element with nothing in it is an instance without values, if the annotation is a class: in
    lists, and where it is required. What fits nowhere is returned as it is: an unknown value of an
    enumeration, or an array of numbers where a list is expected.
    """
    return _Reader({}).read(value, to)


class _Reader:
    """Makes instances, each once: values can contain themselves."""

    def __init__(self, made: dict[int, Any]) -> None:
        self._made = made

    def read(self, value: Any, to: Any, copies: bool = False) -> Any:
        """The value as the type `to`. With `copies`, arrays become lists."""
        if value is None or to is None or to is Any:
            is_empty = value is None and isinstance(to, type) and _is_class(to)
            return _empty(to) if is_empty else None if to is None else value
        origin, arguments = typing.get_origin(to), typing.get_args(to)
        if origin in (typing.Union, types.UnionType):
            return self._one_of(value, arguments, copies)
        if origin is list:
            return self._list(value, arguments[0], copies)
        if origin is Reply:
            return Reply(value.header, self.read(value.body, arguments[0], copies))
        if not isinstance(to, type):
            return value
        if issubclass(to, enum.Enum):
            return _enumerated(value, to)
        if typing.is_typeddict(to):
            return self._dictionary(value, to, copies)
        return self._instance(value, to) if _is_class(to) else value

    def _one_of(self, value: Any, to: tuple[Any, ...], copies: bool) -> Any:
        options = [each for each in to if each is not type(None)]
        if len(options) == 1:
            return self.read(value, options[0], copies)
        for option in options:
            if _fits(value, option):
                return self.read(value, option, copies)
        return value

    def _list(self, value: Any, item: Any, copies: bool) -> Any:
        if hasattr(value, "dtype") and hasattr(value, "tolist"):
            if value.dtype.names is None:
                is_time = value.dtype.kind in "mM"
                if is_time:
                    return value.astype(value.dtype.kind + "8[us]").tolist()
                return value.tolist() if copies else value
        elif hasattr(value, "to_list"):
            value = value.to_list()
        elif isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Iterable):
            return value
        return [self.read(each, item, copies) for each in value]

    def _dictionary(self, value: Any, to: type, copies: bool) -> Any:
        if not isinstance(value, Mapping) and not hasattr(value, "__values__"):
            return value
        hints = _hints(to)
        return {name: self.read(value[name], hints.get(name, Any), copies) for name in value}

    def _instance(self, value: Any, to: type) -> Any:
        if not isinstance(value, Mapping) and not hasattr(value, "__values__"):
            return value
        if id(value) in self._made:
            return self._made[id(value)][0]
        to = _class_of(value, to)
        if not dataclasses.is_dataclass(to):
            return self._model(value, to)
        instance = to.__new__(to)
        # The value is kept, so that no other gets its address.
        self._made[id(value)] = (instance, value)
        for field in _fields(to):
            item = self.read(_item(value, field.name), field.hint)
            setattr(instance, field.attribute, field.default() if item is None else item)
        return instance

    def _model(self, value: Any, to: Any) -> Any:
        values = {
            field.attribute: self.read(_item(value, field.name), field.hint, copies=True)
            for field in _fields(to)
        }
        return to.model_validate({key: item for key, item in values.items() if item is not None})


@dataclasses.dataclass(frozen=True)
class _Field:
    """A value of a class: its attribute, its name in the WSDL, its annotation."""

    attribute: str
    name: str
    hint: Any

    def default(self) -> Any:
        """What stands for an absent value."""
        return [] if typing.get_origin(self.hint) is list else None


def _is_class(of: type) -> bool:
    is_data = dataclasses.is_dataclass(of) or hasattr(of, "model_fields")
    return is_data and "__deltasoap__" in vars(of)


def _fields(of: Any) -> tuple[_Field, ...]:
    return _known_fields(of)


@cache
def _known_fields(of: Any) -> tuple[_Field, ...]:
    hints = _hints(of)
    if dataclasses.is_dataclass(of):
        named = {each.name: each.metadata.get("name", each.name) for each in dataclasses.fields(of)}
    else:
        models: dict[str, Any] = of.model_fields
        named = {name: each.serialization_alias or name for name, each in models.items()}
    return tuple(_Field(attribute, name, hints[attribute]) for attribute, name in named.items())


def _hints(of: Any) -> dict[str, Any]:
    return _known_hints(of)


_known_hints = cache(typing.get_type_hints)


@cache
def _classes_in(module: str) -> dict[str, type]:
    return classes(sys.modules[module]) if module in sys.modules else {}


def _own_class(value: Any, to: type) -> type | None:
    """The class of a value's own type, if the module of the expected one has it."""
    qname = getattr(getattr(value, "_xsd_type", None), "qname", None)
    return _classes_in(to.__module__).get(getattr(qname, "text", ""))


def _class_of(value: Any, to: type) -> type:
    """The class of a value's own type, if it is derived from the expected one."""
    own = _own_class(value, to)
    return own if own is not None and issubclass(own, to) else to


def _item(value: Any, name: str) -> Any:
    """A value of a value by its name; None if it is absent."""
    return value[name] if name in value else None


def _empty(to: Any) -> Any:
    """An instance for an element with nothing in it, which clients have as None."""
    if hasattr(to, "model_validate"):
        return to.model_validate({})
    instance = to.__new__(to)
    for field in _fields(to):
        setattr(instance, field.attribute, field.default())
    return instance


def _enumerated(value: Any, to: type[_Type]) -> Any:
    try:
        return to(value)  # type: ignore[call-arg]
    except ValueError:
        return value


def _fits(value: Any, to: Any) -> bool:
    """Whether a value can be of a member of a union."""
    if to is Any:
        return True
    origin = typing.get_origin(to)
    if origin is list:
        is_one = isinstance(value, (str, bytes, Mapping)) or hasattr(value, "__values__")
        return isinstance(value, Iterable) and not is_one
    if not isinstance(to, type):
        return isinstance(value, origin) if isinstance(origin, type) else False
    if issubclass(to, enum.Enum):
        return isinstance(_enumerated(value, to), to)
    if _is_class(to) or typing.is_typeddict(to):
        return _is_of_class(value, to)
    return isinstance(value, to)


def _is_of_class(value: Any, to: type) -> bool:
    """Whether a value of a complex type can be an instance of a class."""
    if isinstance(value, Mapping):
        return True
    if not hasattr(value, "__values__"):
        return False
    own = _own_class(value, to)
    return own is None or issubclass(own, to)
