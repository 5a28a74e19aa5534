"""Services as objects whose methods are operations."""

from __future__ import annotations

import copy
from collections.abc import ItemsView, Iterable, Iterator
from typing import Any


class OperationProxy:
    """An operation that can be called."""

    def __init__(self, service_proxy: ServiceProxy, operation_name: str) -> None:
        self._proxy = service_proxy
        self._op_name = operation_name

    @property
    def __doc__(self) -> str:  # type: ignore[override]
        return str(self._proxy._binding.get(self._op_name))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Send a request with these arguments and return the value of the response."""
        return self._proxy._binding.send(*self._call(args, kwargs))

    def _call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        headers = self._merge_soap_headers(kwargs.get("_soapheaders"))
        if headers:
            kwargs["_soapheaders"] = headers
        proxy = self._proxy
        return (proxy._client, proxy._binding_options, self._op_name, args, kwargs)

    def _merge_soap_headers(self, headers: Any) -> Any:
        defaults = self._proxy._client._default_soapheaders
        if not defaults or not headers:
            return defaults or headers
        if type(defaults) is not type(headers):
            raise ValueError(
                "Incompatible soapheaders definition: the default ones are "
                f"a {type(defaults).__name__}, those of the call a {type(headers).__name__}"
            )
        merged = copy.deepcopy(defaults)
        if isinstance(headers, list):
            merged.extend(headers)
        else:
            merged.update(headers)
        return merged


class AsyncOperationProxy(OperationProxy):
    """An operation that can be awaited."""

    async def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Send a request with these arguments and return the value of the response."""
        return await self._proxy._binding.send_async(*self._call(args, kwargs))


class ServiceProxy:
    """The operations of a binding at an address, as attributes and items."""

    _operation_class: type[OperationProxy] = OperationProxy

    def __init__(self, client: Any, binding: Any, **binding_options: Any) -> None:
        self._client = client
        self._binding = binding
        self._binding_options = binding_options
        self._operations = {name: self._operation_class(self, name) for name in binding.all()}

    def __getattr__(self, key: str) -> OperationProxy:
        if key.startswith("__"):
            raise AttributeError(key)
        return self[key]

    def __getitem__(self, key: str) -> OperationProxy:
        try:
            return self._operations[key]
        except KeyError:
            raise AttributeError(
                f"Service has no operation {key!r}{remedy(key, self._operations)}"
            ) from None

    def __iter__(self) -> Iterator[tuple[str, OperationProxy]]:
        items: ItemsView[str, OperationProxy] = self._operations.items()
        return iter(items)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._operations]


class AsyncServiceProxy(ServiceProxy):
    """A service whose operations are awaited."""

    _operation_class = AsyncOperationProxy


def remedy(name: str, names: Iterable[str]) -> str:
    """Which names there are: the most similar one, or all."""
    from difflib import get_close_matches

    near = get_close_matches(name, names, 1)
    return f". Did you mean {near[0]!r}?" if near else f"; it has {', '.join(sorted(names))}"
