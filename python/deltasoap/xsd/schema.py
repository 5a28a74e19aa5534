"""Schemas: global elements and types by name, and the prefixes of their namespaces."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

from deltasoap import ns
from deltasoap.exceptions import LookupError, NamespaceError
from deltasoap.settings import Settings
from deltasoap.xsd import builtins
from deltasoap.xsd.names import as_name
from deltasoap.xsd.particles import Element
from deltasoap.xsd.sources import Sources
from deltasoap.xsd.views import SchemaElement, Views

if TYPE_CHECKING:
    from lxml import etree


class Schema:
    """Schema documents with all that they import.

    :param node: the root of a schema, or several; none for XSD's own types alone
    :param transport: loads what they import
    :param location: where the schema comes from, which relative imports start from
    """

    def __init__(
        self,
        node: etree._Element | list[etree._Element] | None = None,
        transport: Any = None,
        location: str | None = None,
        settings: Settings | None = None,
    ) -> None:
        self.settings = settings or Settings()
        self._transport = transport
        self._location = location
        self._target_namespace: str | None = None
        self._views: list[Views] = []
        self._prefix_map_custom: dict[str, str] = {}
        nodes = node if isinstance(node, list) else [] if node is None else [node]
        if nodes:
            self._load(nodes)

    @classmethod
    def _over(
        cls, views: Views, settings: Settings | None = None, location: str | None = None
    ) -> Schema:
        """The schema of a contract that is loaded already."""
        made = cls(settings=settings, location=location)
        made._views.append(views)
        return made

    def _load(self, nodes: list[etree._Element]) -> None:
        from lxml import etree

        self._target_namespace = nodes[0].get("targetNamespace")
        texts = [etree.tostring(each, encoding="unicode", with_tail=False) for each in nodes]
        sources = Sources(texts, self._location, self._transport, self.settings)
        self._views.append(Views(sources.contract(), sources))

    def __repr__(self) -> str:
        if self._target_namespace is None:
            return "<Schema()>"
        return f"<Schema(location={self._location!r}, tns={self._target_namespace!r})>"

    @cached_property
    def namespaces(self) -> list[str]:
        """All namespaces, XSD's own first."""
        found = [ns.XSD]
        for views in self._views:
            declared = views.sources.namespaces() if views.sources is not None else []
            for each in (*declared, *views.contract.namespaces):
                if each not in found:
                    found.append(each)
        return found

    @property
    def prefix_map(self) -> dict[str, str]:
        """Prefixes and namespaces: those that were set, then `xsd`, `ns0`, `ns1`, ..."""
        found = dict(self._prefix_map_custom)
        taken = set(found.values())
        automatic = self._automatic_prefixes().items()
        found.update((prefix, each) for prefix, each in automatic if each not in taken)
        return found

    def _automatic_prefixes(self) -> dict[str, str]:
        others = [each for each in self.namespaces if each and each != ns.XSD]
        return {"xsd": ns.XSD, **{f"ns{index}": each for index, each in enumerate(others)}}

    @property
    def is_empty(self) -> bool:
        """Whether nothing is declared but XSD's own types."""
        return not any(
            views.contract.type_names or views.contract.element_names for views in self._views
        )

    @property
    def elements(self) -> Iterator[Element]:
        """All global elements."""
        for views in self._views:
            for name in views.contract.element_names:
                yield views.element(name)

    @property
    def types(self) -> Iterator[Any]:
        """All global types."""
        for name in builtins.BUILTINS:
            yield builtins.builtin(name)
        for views in self._views:
            for name in views.contract.type_names:
                yield views.type(name)

    def get_element(self, qname: Any) -> Any:
        """A global element by its name, `{namespace}local` or `prefix:local`."""
        name = self._qname(qname)
        if name.text == f"{{{ns.XSD}}}schema":
            return SchemaElement()
        return self._find("element", name, lambda views: views.contract.element_names)

    def get_type(self, qname: Any, fail_silently: bool = False) -> Any:
        """A global type by its name, `{namespace}local` or `prefix:local`."""
        name = self._qname(qname)
        if name.namespace == ns.XSD and name.localname in builtins.BUILTINS:
            return builtins.builtin(name.localname)
        try:
            return self._find("type", name, lambda views: views.contract.type_names)
        except NamespaceError:
            if fail_silently:
                return None
            raise
        except LookupError:
            if fail_silently:
                return None
            raise

    def get_group(self, qname: Any) -> Any:
        """A global group by its name."""
        name = self._qname(qname)
        return self._find("group", name, lambda views: getattr(views.contract, "group_names", []))

    def get_attribute(self, qname: Any) -> Any:
        """A global attribute by its name."""
        name = self._qname(qname)
        for views in self._views:
            try:
                return views.attribute(name.text)
            except KeyError:
                continue
        return self._find("attribute", name, lambda views: [])

    def get_attribute_group(self, qname: Any) -> Any:
        """A global group of attributes by its name."""
        name = self._qname(qname)
        return self._find(
            "attribute_group",
            name,
            lambda views: getattr(views.contract, "attribute_group_names", []),
        )

    def _find(self, kind: str, name: etree.QName, names: Callable[[Views], list[str]]) -> Any:
        shown = kind.replace("attribute_group", "attributeGroup")
        if (name.namespace or "") not in (*self.namespaces, ""):
            raise NamespaceError(
                f"Unable to resolve {shown} {name.text}. "
                f"No schema available for the namespace {name.namespace!r}."
            )
        for views in self._views:
            if name.text in names(views):
                return getattr(views, kind)(name.text)
        known = [each for views in self._views for each in names(views)]
        siblings = [each for each in known if as_name(each).namespace == name.namespace]
        raise LookupError(
            f"No {shown} {name.localname!r} in namespace {name.namespace}. "
            f"Available are: {', '.join(siblings) or '-'}",
            qname=name,
            item_name=shown,
            location=self._location,
        )

    def set_ns_prefix(self, prefix: str, namespace: str) -> None:
        """Give a namespace a prefix, in names and in messages."""
        self._prefix_map_custom[prefix] = namespace

    def get_ns_prefix(self, prefix: str) -> str:
        """The namespace of a prefix."""
        found = self._prefix_map_custom.get(prefix) or self._automatic_prefixes().get(prefix)
        if found is None:
            raise ValueError(f"No such prefix {prefix!r}")
        return found

    def get_shorthand_for_ns(self, namespace: str) -> str:
        """The prefix of a namespace, or the namespace itself."""
        for known in (self._automatic_prefixes(), self._prefix_map_custom):
            for prefix, each in known.items():
                if each == namespace:
                    return prefix
        return "soap-env" if namespace == ns.SOAP_ENV_11 else namespace

    def merge(self, schema: Schema) -> None:
        """Add all that another schema declares."""
        self._views += [each for each in schema._views if each not in self._views]
        self.__dict__.pop("namespaces", None)

    def deserialize(self, node: etree._Element) -> Any:
        """The value of an element that the schema declares."""
        return self.get_element(node.tag).parse(node, self)

    def _qname(self, name: Any) -> etree.QName:
        if isinstance(name, str) and not name.startswith("{") and ":" in name:
            prefix, _, local = name.partition(":")
            found = self._prefix_map_custom.get(prefix) or self._automatic_prefixes().get(prefix)
            if found is None:
                raise ValueError(f"No namespace defined for the prefix {prefix!r}")
            return as_name(f"{{{found}}}{local}")
        return as_name(name)
