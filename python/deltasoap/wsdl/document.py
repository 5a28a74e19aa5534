"""The WSDL of a client, with all documents that it imports."""

from __future__ import annotations

import logging
import os
import re
import warnings
from functools import cached_property
from typing import IO, TYPE_CHECKING, Any

from deltasoap import ns
from deltasoap._loading import Progress
from deltasoap.exceptions import XMLSyntaxError
from deltasoap.loader import is_relative_path, parse_xml
from deltasoap.settings import Settings
from deltasoap.wsdl.bindings import BINDINGS, Binding
from deltasoap.wsdl.definitions import (
    AbstractMessage,
    AbstractOperation,
    MessagePart,
    Port,
    PortType,
    Service,
)
from deltasoap.wsdl.http import bindings_in, ports_in
from deltasoap.wsdl.utils import url_http_to_https
from deltasoap.xsd.names import as_name
from deltasoap.xsd.schema import Schema
from deltasoap.xsd.sources import Sources, checked
from deltasoap.xsd.views import Views

if TYPE_CHECKING:
    from lxml import etree

logger = logging.getLogger("deltasoap.wsdl")


class Document:
    """A WSDL.

    :param location: a URL, a path, or an open file
    :param transport: loads the documents; without one, the engine does
    :param base: where relative imports of an open file start from
    """

    def __init__(
        self,
        location: str | IO[Any],
        transport: Any,
        base: str | None = None,
        settings: Settings | None = None,
    ) -> None:
        self.settings = settings or Settings()
        self.transport = transport
        self.location = base
        if isinstance(location, str):
            is_relative = is_relative_path(location)
            self.location = os.path.abspath(location) if is_relative else location
        with Progress(self.settings.progress) as progress:
            source = self._source(location, progress)
            self._sources = Sources(source, self.location, self.transport, self.settings)
            self.contract = self._sources.contract(progress)
        self._views = Views(self.contract, self._sources)
        self.types = Schema._over(self._views, self.settings, self.location)
        self.types._transport = transport

    def _source(self, location: str | IO[Any], progress: Progress) -> bytes:
        """The text of the WSDL; none if the engine loads it."""
        if not isinstance(location, str):
            content = location.read()
        elif self.transport is not None:
            progress(self.location or "")
            content = self.transport.load(self.location)
        else:
            return b""
        _refuse_page(content, self.location)
        return checked(content, self.transport, self.settings)

    @cached_property
    def _http_documents(self) -> list[etree._Element]:
        """The documents that may have bindings of HTTP, which the engine passes over."""
        found = [each for each in self._sources.documents if ns.HTTP.encode() in each]
        return [parse_xml(each, self.transport) for each in found]

    def __repr__(self) -> str:
        return f"<WSDL(location={self.location!r})>"

    @cached_property
    def _definitions(self) -> dict[str, Any]:
        return dict(self.contract.definitions)

    @cached_property
    def messages(self) -> dict[str, AbstractMessage]:
        """The messages by their full names."""
        found = {}
        for each in self._definitions["messages"]:
            try:
                parts = {part["name"]: self._part(part) for part in each["parts"]}
            except KeyError as error:
                warnings.warn(
                    f"The wsdl:message {each['name']!r} has an invalid part: {error}", stacklevel=2
                )
                continue
            found[each["name"]] = AbstractMessage(as_name(each["name"]), parts)
        return found

    def _part(self, part: dict[str, Any]) -> MessagePart:
        element, kind = part["element"], part["type"]
        return MessagePart(
            self._views.element(element) if element is not None else None,
            self._views.type(kind) if kind is not None else None,
        )

    @cached_property
    def port_types(self) -> dict[str, PortType]:
        """The port types by their full names."""
        found = {}
        for each in self._definitions["port_types"]:
            usable = [one for one in each["operations"] if self._has_messages(one)]
            operations = {one["name"]: self._operation(one) for one in usable}
            found[each["name"]] = PortType(as_name(each["name"]), operations)
        return found

    def _has_messages(self, described: dict[str, Any]) -> bool:
        """Whether the messages of an operation are known; as in zeep, there is none otherwise."""
        parameters = [described["request"], described["response"]]
        return all(each["message"] in self.messages for each in parameters if each is not None)

    def _operation(self, described: dict[str, Any]) -> AbstractOperation:
        request, response = described["request"], described["response"]
        return AbstractOperation(
            described["name"],
            self._message(request),
            self._message(response),
            {
                each["name"]: self.messages[each["message"]]
                for each in described["faults"]
                if each["message"] in self.messages
            },
            wsa_action=request["action"] if request is not None else None,
        )

    def _message(self, parameter: dict[str, Any] | None) -> AbstractMessage | None:
        return self.messages.get(parameter["message"]) if parameter is not None else None

    @cached_property
    def bindings(self) -> dict[str, Binding]:
        """The bindings by their full names."""
        found: dict[str, Binding] = {}
        for each in self._definitions["bindings"]:
            kind = BINDINGS.get(each["soap"])
            if kind is not None:
                found[each["name"]] = kind.of(self, each)
        for root in self._http_documents:
            found.update((each.name.text, each) for each in bindings_in(root, self))
        return found

    @cached_property
    def services(self) -> dict[str, Service]:
        """The services by their names."""
        found = {}
        for each in self._definitions["services"]:
            name = as_name(each["name"]).localname
            ports = [self._port(port) for port in each["ports"] if port["binding"] in self.bindings]
            found[name] = Service(name, {port.name: port for port in ports})
        for root in self._http_documents:
            for service, port, binding, address in ports_in(root):
                if binding in self.bindings:
                    described = {"name": port, "binding": binding, "address": address}
                    into = found.setdefault(service, Service(service, {}))
                    into.ports[port] = self._port(described)
        return found

    def _port(self, described: dict[str, Any]) -> Port:
        address = described["address"]
        is_secure = (self.location or "").startswith("https")
        if address and self.settings.force_https and is_secure:
            forced = url_http_to_https(address)
            if forced != address:
                logger.warning("Forcing soap:address location to HTTPS")
            address = forced
        binding = self.bindings[described["binding"]]
        return Port(described["name"], binding, {"address": address})

    def dump(self) -> None:
        """Print all elements, types, bindings and operations."""
        print("\n".join(self._lines()))

    def _lines(self) -> list[str]:
        types = self.types
        lines = ["", "Prefixes:"]
        lines += [f"     {prefix}: {each}" for prefix, each in types.prefix_map.items()]
        elements = sorted(types.elements, key=lambda each: each.qname.text)
        lines += ["", "Global elements:", *(f"     {each.signature(types)}" for each in elements)]
        kinds = sorted(types.types, key=lambda each: each.qname.text if each.qname else "")
        lines += ["", "Global types:", *(f"     {each.signature(types)}" for each in kinds)]
        bindings = sorted(map(str, self.bindings.values()))
        lines += ["", "Bindings:", *(f"     {each}" for each in bindings), ""]
        for service in self.services.values():
            lines.append(str(service))
            for port in service.ports.values():
                operations = sorted(port.binding.all().values(), key=lambda each: each.name)
                lines += [f"     {port}", "         Operations:"]
                lines += [f"            {each}" for each in operations]
                lines.append("")
        return lines


def _refuse_page(content: str | bytes, location: str | None) -> None:
    """Raise an error for a page of HTML, which services show to those without a login."""
    start = content[:200].encode() if isinstance(content, str) else content[:200]
    if re.match(rb"\s*<(!doctype\s+)?html\b", start, re.IGNORECASE):
        text = (
            f"{location or 'the document'} is a page of HTML, no WSDL: check the URL (is `?wsdl` "
        )
        raise XMLSyntaxError(f"{text}missing?), and whether it needs a login", content=content)
