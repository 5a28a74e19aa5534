"""The functions of a service, as the engine calls them.

The engine passes the value of the body's element, and gets the value of the response's. Here the
former becomes keyword arguments, and what the function returns the latter.
"""

from __future__ import annotations

import inspect
import keyword
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, is_dataclass
from typing import Any

from deltasoap.context import Context
from deltasoap.exceptions import Fault

__all__ = ["Handler", "Parameters", "explained", "python_name"]

#: A header block or an entry of a detail: the name of a declared element, or None, and its value.
Named = tuple[str | None, Any]

_CODES = ("Client", "Server", "Sender", "Receiver", "MustUnderstand", "VersionMismatch")


def python_name(name: str) -> str:
    """The name of a parameter for a value: keywords get an underscore, as do other characters."""
    name = "".join(each if each.isidentifier() or each.isdigit() else "_" for each in name)
    if keyword.iskeyword(name) or name[:1].isdigit():
        return f"{name}_"
    return name


class Parameters:
    """The parameters of a function: which values it takes, and where it takes its context."""

    def __init__(self, function: Callable[..., Any], names: Iterable[str] | None = None) -> None:
        self.function = function
        self.context: str | None = None
        self.values: dict[str, inspect.Parameter] = {}
        self.takes_any = False
        known = {python_name(name) for name in names or ()}
        for name, each in inspect.signature(function).parameters.items():
            if each.kind is each.VAR_KEYWORD:
                self.takes_any = True
            elif each.kind in (each.VAR_POSITIONAL, each.POSITIONAL_ONLY):
                raise TypeError(
                    f"{self.shown}() takes {name!r} by position: values are passed by their names"
                )
            elif _is_context(each) and name not in known:
                self.context = name
            else:
                self.values[name] = each

    @property
    def shown(self) -> str:
        """The name of the function, for errors."""
        return str(getattr(self.function, "__qualname__", self.function))

    def check(self, operation: str, names: list[str]) -> None:
        """Refuse a function whose parameters are not the values of its operation."""
        known = {python_name(name): name for name in names}
        for name in known:
            if name not in self.values and not self.takes_any:
                raise TypeError(
                    f"{self.shown}() has no parameter {name!r}, which the operation {operation} "
                    f"passes; it passes {', '.join(known) or 'nothing'}"
                )
        for name, each in self.values.items():
            if name not in known and each.default is each.empty:
                raise TypeError(
                    f"{self.shown}() has a parameter {name!r}, which the operation {operation} "
                    f"does not pass; it passes {', '.join(known) or 'nothing'}"
                )

    def bind(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """The keyword arguments for some values; absent ones are left to the defaults."""
        bound = {}
        for name, value in values.items():
            name = python_name(name)
            each = self.values.get(name)
            if value is None and each is not None and each.default is not each.empty:
                continue
            bound[name] = value
        return bound


def _is_context(parameter: inspect.Parameter) -> bool:
    annotation = parameter.annotation
    if isinstance(annotation, str):
        return annotation.rpartition(".")[2] == "Context" or parameter.name == "context"
    return annotation is Context or (
        parameter.name == "context" and annotation in (parameter.empty, Any)
    )


@dataclass
class Handler:
    """A function that answers an operation."""

    parameters: Parameters
    #: From the value of the request's element to the keyword arguments.
    arguments: Callable[[Any], dict[str, Any]]
    #: From what the function returns to the value of the response's element.
    result: Callable[[Any], Any]
    #: Classes of exceptions, and the elements that they are in the detail of a fault.
    faults: dict[type[BaseException], str] = field(default_factory=dict)
    #: From an exception of these classes to the value of its element.
    detail: Callable[[Any], Any] = lambda error: error
    #: From header blocks and exceptions in Python to values, in the same way.
    header: Callable[[Any], Any] = lambda value: value
    has_columns: bool = False

    @property
    def is_async(self) -> bool:
        """Whether the function returns an awaitable."""
        function = inspect.unwrap(self.parameters.function)
        call = getattr(function, "__call__", None)  # noqa: B004
        return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(call)

    def invoke(self) -> Callable[[Any, dict[str, Any] | None], Any]:
        """What the engine calls: with the request's value, and what is known about the request."""
        function, parameter = self.parameters.function, self.parameters.context

        def bound(
            value: Any, known: dict[str, Any] | None
        ) -> tuple[dict[str, Any], Context | None]:
            arguments = self.arguments(value)
            context = Context(known) if known is not None else None
            if parameter is not None:
                arguments[parameter] = context
            return arguments, context

        def call(value: Any, known: dict[str, Any] | None) -> Any:
            arguments, context = bound(value, known)
            return self._returned(function(**arguments), context)

        async def call_async(value: Any, known: dict[str, Any] | None) -> Any:
            arguments, context = bound(value, known)
            return self._returned(await function(**arguments), context)

        return call_async if self.is_async else call

    def _returned(self, result: Any, context: Context | None) -> Any:
        headers = [] if context is None else context._added
        attached = [] if context is None else context._attached
        return (
            self.result(result),
            [(name, self.header(value)) for name, value in headers],
            attached,
        )

    def entries(self, error: BaseException) -> list[Named] | None:
        """The detail for an exception of a declared class; None for others."""
        for each in type(error).__mro__:
            if each in self.faults:
                return [(self.faults[each], self.detail(error))]
        return None


#: The parts of a fault: reason, code, actor, subcodes, entries of the detail.
Explained = tuple[str, str | None, str | None, list[str], list[Named]]


def explained(error: BaseException, handler: Handler | None) -> Explained | None:
    """The fault that an exception stands for; None if clients should not know more about it."""
    entries = handler.entries(error) if handler is not None else None
    if entries is not None:
        return _reason(error), "Server", None, [], entries
    if not isinstance(error, Fault):
        return None
    subcodes = [str(each) for each in error.subcodes or ()]
    return (
        error.message or "",
        _code(error.code),
        error.actor,
        subcodes,
        list(_detail(error.detail)),
    )


def _reason(error: BaseException) -> str:
    """The text of an exception; that of a dataclass would be the tuple of its fields."""
    has_text = type(error).__str__ is not BaseException.__str__ or not is_dataclass(error)
    return (str(error) if has_text else "") or type(error).__name__


def _code(code: str | None) -> str | None:
    if code is None or code.startswith("{"):
        return code
    _, colon, local = code.partition(":")
    return local if colon and local.split(".")[0] in _CODES else code


def _detail(detail: Any) -> Iterable[Named]:
    if detail is None:
        return
    if isinstance(detail, Mapping):
        yield from detail.items()
    elif isinstance(detail, (list, tuple)):
        for each in detail:
            yield from _detail(each)
    elif isinstance(detail, str) and not detail.lstrip().startswith("<"):
        yield None, _text_element(detail)
    elif is_dataclass(detail):
        yield type(detail).__name__, detail
    else:
        yield None, detail


def _text_element(text: str) -> Any:
    from xml.etree import ElementTree

    element = ElementTree.Element("message")
    element.text = text
    return element
