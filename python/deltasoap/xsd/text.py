"""Types built in Python as the text of schemas, which the engine loads like any other.

Each complex type becomes a named type of the namespace that most of its elements have. A local
element of another namespace stands in a group of a schema for that one, since a schema declares
local elements of its own namespace only.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from deltasoap import ns
from deltasoap.xsd.names import quoteattr
from deltasoap.xsd.particles import (
    All,
    Any_,
    AnyAttribute,
    Attribute,
    Choice,
    Element,
    Group,
    OrderIndicator,
)
from deltasoap.xsd.sources import Sources
from deltasoap.xsd.types import AnySimpleType, ComplexType, ListType, UnionType
from deltasoap.xsd.views import Views, reaching


def compiled(xsd_type: ComplexType) -> tuple[Views, str]:
    """The views of a contract that has a type built in Python, and the type's name in it.

    Who uses the contract keeps the views: without them its values are dicts.
    """
    writer = Writer()
    name = writer.complex(xsd_type)
    texts = [*writer.documents(), reaching([name])]
    if writer.base is not None:
        return Views(writer.base.sources.extended(texts), writer.base.sources), name
    sources = Sources(texts, None, None)
    return Views(sources.contract(), sources), name


class Writer:
    """The schemas of some types: one for each namespace."""

    def __init__(self) -> None:
        self.base: Any = None
        self._parts: dict[str, list[str]] = {}
        self._names: dict[int, str] = {}
        self._kept: list[Any] = []
        self._groups = 0

    def documents(self) -> list[str]:
        """The texts of the schemas."""
        return [self._document(namespace) for namespace in self._parts]

    def _document(self, namespace: str) -> str:
        prefixes = "".join(
            f" xmlns:{_prefix(index)}={quoteattr(each)}"
            for index, each in enumerate(self._parts)
            if each
        )
        imports = "".join(
            f"<xs:import namespace={quoteattr(each)}/>" if each else "<xs:import/>"
            for each in self._parts
            if each != namespace
        )
        target = f" targetNamespace={quoteattr(namespace)}" if namespace else ""
        body = "".join(self._parts[namespace])
        return (
            f"<xs:schema xmlns:xs={quoteattr(ns.XSD)}{prefixes}{target}>{imports}{body}</xs:schema>"
        )

    def complex(self, xsd_type: ComplexType) -> str:
        """The name under which a complex type is declared."""
        if id(xsd_type) in self._names:
            return self._names[id(xsd_type)]
        views = getattr(xsd_type, "_views", None)
        if views is not None:
            return self._known(xsd_type, views)
        namespace = xsd_type.qname.namespace if xsd_type.qname is not None else None
        namespace = namespace or _common_namespace(xsd_type)
        local = f"{xsd_type.name or 'Type'}.{len(self._names) + 1}"
        name = f"{{{namespace}}}{local}" if namespace else local
        self._names[id(xsd_type)] = name
        self._kept.append(xsd_type)
        parts = self._parts.setdefault(namespace, [])
        content = self._content(xsd_type, namespace)
        parts.append(f"<xs:complexType name={quoteattr(local)}>{content}</xs:complexType>")
        return name

    def _known(self, xsd_type: ComplexType, views: Views) -> str:
        if self.base is not None and self.base is not views:
            raise TypeError("a type built in Python can use types of one WSDL only")
        if not xsd_type.is_global or xsd_type.qname is None:
            raise TypeError("a type built in Python can use types of a WSDL that have a name only")
        self.base = views
        name = xsd_type.qname.text
        self._parts.setdefault(_namespace(name), [])
        return str(name)

    def _content(self, xsd_type: ComplexType, namespace: str) -> str:
        content = xsd_type._element
        attributes = "".join(
            self._attribute(each, namespace) for each in xsd_type._attributes_unwrapped
        )
        if isinstance(content, Element):
            base = self._type_attribute(content.type, "base")
            extension = f"<xs:extension {base}>{attributes}</xs:extension>"
            return f"<xs:simpleContent>{extension}</xs:simpleContent>"
        text = self._particle(content, namespace) if content is not None else ""
        if isinstance(content, OrderIndicator):
            attributes += "".join(
                self._attribute(each, namespace) for each in content if isinstance(each, Attribute)
            )
        return text + attributes

    def _particle(self, part: Any, namespace: str) -> str:
        occurs = f' minOccurs="{part.min_occurs}" maxOccurs="{part.max_occurs}"'
        if isinstance(part, Any_):
            process = part.process_contents if part.process_contents == "skip" else "lax"
            return f'<xs:any processContents="{process}"{occurs}/>'
        if isinstance(part, Attribute):
            return ""
        if isinstance(part, Element):
            return self._element(part, namespace, occurs)
        if isinstance(part, Group):
            return f"<xs:sequence{occurs}>{self._particle(part.child, namespace)}</xs:sequence>"
        kind = (
            "choice" if isinstance(part, Choice) else "all" if isinstance(part, All) else "sequence"
        )
        inner = "".join(self._particle(each, namespace) for each in part)
        return f"<xs:{kind}{occurs}>{inner}</xs:{kind}>"

    def _element(self, element: Element, namespace: str, occurs: str) -> str:
        own = element.qname.namespace or ""
        if own and own != namespace:
            return self._foreign(element, own)
        form = "qualified" if own else "unqualified"
        text = f'<xs:element name={quoteattr(element.name)} form="{form}"{occurs}'
        if element.nillable:
            text += ' nillable="true"'
        return f"{text} {self._typed(element.type, 'xs:element')}"

    def _foreign(self, element: Element, namespace: str) -> str:
        self._groups += 1
        local = f"group.{self._groups}"
        parts = self._parts.setdefault(namespace, [])
        occurs = f' minOccurs="{element.min_occurs}" maxOccurs="{element.max_occurs}"'
        inner = self._element(element, namespace, occurs)
        parts.append(f'<xs:group name="{local}"><xs:sequence>{inner}</xs:sequence></xs:group>')
        return f'<xs:group ref="{self._qname(f"{{{namespace}}}{local}")}"/>'

    def _attribute(self, attribute: Any, namespace: str) -> str:
        if isinstance(attribute, AnyAttribute):
            return '<xs:anyAttribute processContents="lax"/>'
        own = attribute.qname.namespace or ""
        if own and own != namespace:
            return self._foreign_attribute(attribute, own)
        use = ' use="required"' if attribute.required else ""
        form = "qualified" if own else "unqualified"
        start = f'<xs:attribute name={quoteattr(attribute.name)} form="{form}"{use} '
        return start + self._typed(attribute.type, "xs:attribute")

    def _foreign_attribute(self, attribute: Attribute, namespace: str) -> str:
        self._groups += 1
        local = f"attributes.{self._groups}"
        inner = self._attribute(attribute, namespace)
        parts = self._parts.setdefault(namespace, [])
        parts.append(f'<xs:attributeGroup name="{local}">{inner}</xs:attributeGroup>')
        return f'<xs:attributeGroup ref="{self._qname(f"{{{namespace}}}{local}")}"/>'

    def _typed(self, xsd_type: Any, tag: str) -> str:
        """The rest of a declaration: its type, by name or inside it."""
        if isinstance(xsd_type, ListType):
            item = self._type_attribute(xsd_type.item_type, "itemType")
            return f"><xs:simpleType><xs:list {item}/></xs:simpleType></{tag}>"
        if isinstance(xsd_type, UnionType):
            members = " ".join(self._type_name(each) for each in xsd_type.item_types)
            return f'><xs:simpleType><xs:union memberTypes="{members}"/></xs:simpleType></{tag}>'
        return f"{self._type_attribute(xsd_type, 'type')}/>"

    def _type_attribute(self, xsd_type: Any, attribute: str) -> str:
        return f"{attribute}={quoteattr(self._type_name(xsd_type))}"

    def _type_name(self, xsd_type: Any) -> str:
        if isinstance(xsd_type, ComplexType):
            return self._qname(self.complex(xsd_type))
        # A simple type derived further is written as the one of XSD that it derives from.
        is_simple = isinstance(xsd_type, AnySimpleType)
        return f"xs:{type(xsd_type)._name if is_simple else 'anyType'}"

    def _qname(self, name: str) -> str:
        namespace = _namespace(name)
        local = name.rpartition("}")[2]
        if not namespace:
            return local
        self._parts.setdefault(namespace, [])
        return f"{_prefix(list(self._parts).index(namespace))}:{local}"


def _common_namespace(xsd_type: ComplexType) -> str:
    counted: Counter[str] = Counter()
    for _, part in xsd_type.elements:
        if isinstance(part, Element) and part.qname.namespace:
            counted[part.qname.namespace] += 1
    return counted.most_common(1)[0][0] if counted else ""


def _namespace(name: str) -> str:
    return name[1:].partition("}")[0] if name.startswith("{") else ""


def _prefix(index: int) -> str:
    return f"n{index}"
