"""The types and elements of a contract as objects of this package.

Nothing is read twice: each view is made from the engine's description when it is first asked for.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from deltasoap import ns
from deltasoap._classes import Classes
from deltasoap.exceptions import LookupError, NamespaceError, ValidationError
from deltasoap.xsd import builtins
from deltasoap.xsd.names import as_name, quoteattr
from deltasoap.xsd.particles import (
    All,
    Any_,
    AnyAttribute,
    Attribute,
    Base,
    Choice,
    Element,
    Group,
    Pending,
    Sequence,
)
from deltasoap.xsd.types import ComplexType, ListType, UnionType
from deltasoap.xsd.values import CompoundValue, value_class

if TYPE_CHECKING:
    from deltasoap.xsd.sources import Sources

_XSD = f"{{{ns.XSD}}}"
_SCHEMA = f"{{{ns.XSD}}}schema"
_GROUPS = {"sequence": Sequence, "choice": Choice, "all": All}


class Views:
    """What a contract describes, by names and references."""

    def __init__(self, contract: Any, sources: Sources | None = None) -> None:
        self.contract = contract
        self.sources = sources
        self._types: dict[Any, Any] = {}
        self._elements: dict[str, Element] = {}
        self._classes = Classes(self._class)
        contract.set_classes(self._classes)

    def type(self, ref: Any, owner: str | None = None) -> Any:
        """A type; one without a name goes by that of the element or attribute that owns it."""
        if isinstance(ref, str) and ref.startswith(_XSD):
            return builtins.builtin(ref[len(_XSD) :])
        found = self._types.get(ref)
        if found is None:
            description = self.contract.type(ref)
            make = self._complex if description["kind"] == "complex" else self._simple
            found = self._types.setdefault(ref, make(ref, description, owner))
        elif found.qname is None and owner is not None:
            found.qname = as_name(owner)
            found.name = found.qname.localname
        return found

    def element(self, name: str) -> Element:
        """A global element."""
        found = self._elements.get(name)
        if found is None:
            description = self.contract.element(name)
            found = self._elements.setdefault(name, self._element(description, is_global=True))
        return found

    def home(self, ref: Any) -> tuple[Any, Any]:
        """The contract that writes and reads a type, and its reference there."""
        if self._is_reached(self.contract, ref) or self.sources is None:
            return self.contract, ref
        if self.contract.type(ref).get("abstract"):
            raise ValidationError(
                f"The type {ref} is abstract: pass a value of a type that is derived from it"
            )
        return self._extended.contract, ref

    @staticmethod
    def _is_reached(contract: Any, ref: Any) -> bool:
        try:
            contract.value_names(ref)
        except ValueError:
            return False
        return True

    @cached_property
    def _extended(self) -> Views:
        """The views of a contract with an element for each type that has none."""
        names = [
            each for each in self.contract.type_names if not self._is_reached(self.contract, each)
        ]
        assert self.sources is not None
        return Views(self.sources.extended([reaching(names)]), self.sources)

    def attribute(self, name: str) -> Attribute:
        """A global attribute."""
        return self._attribute(self.contract.attribute(name))

    def _attribute(self, description: dict[str, Any]) -> Attribute:
        name = description["name"]
        return Attribute(
            name,
            self._pending(description["type"], name),
            required=description["required"],
            default=description.get("fixed") or description.get("default"),
        )

    def _class(self, ref: Any, name: str, names: list[str]) -> Any:
        if ref is None:
            return _Fields
        xsd_type = self.type(ref)
        return xsd_type._array_class if xsd_type._array_type else xsd_type._value_class

    def _pending(self, ref: Any, owner: str) -> Pending:
        return Pending(lambda: self.type(ref, owner))

    def _element(
        self, description: dict[str, Any], is_global: bool, namespace: str | None = None
    ) -> Element:
        name = description["name"]
        default = description.get("fixed") or description.get("default")
        # A type without a name belongs to the namespace of its schema, if its element has none.
        owner = f"{{{namespace}}}{name}" if namespace and not name.startswith("{") else name
        return Element(
            name,
            self._pending(description["type"], owner),
            nillable=description["nillable"],
            default=default,
            is_global=is_global,
        )

    def _complex(self, ref: Any, description: dict[str, Any], owner: str | None) -> ComplexType:
        made = _ViewedComplex(self, ref, description)
        name = description["name"] or owner
        made.qname = as_name(name) if name else None
        made.name = made.qname.localname if made.qname is not None else None
        made.is_global = description["name"] is not None
        return made

    def content(self, description: dict[str, Any], namespace: str | None) -> Any:
        """The content of a complex type, after that of the type that it extends."""
        base = self._base(description)
        if description.get("text") is not None:
            text = self.type(description["text"])
            inherited = text._element if text.is_complex else Element("_value_1", text)
            return inherited
        particle = description.get("content")
        own = self._particle(particle, namespace) if particle is not None else None
        inherited = base._element if base is not None else None
        if description["derivation"] == "restriction" or inherited is None:
            return own if own is not None else inherited
        return _joined(inherited, own)

    def _base(self, description: dict[str, Any]) -> Any:
        ref = description.get("base")
        base = self.type(ref) if ref is not None else None
        return base if base is not None and base.is_complex else None

    def attributes(self, description: dict[str, Any]) -> list[Any]:
        """The attributes of a complex type, after those of the type that it is derived from."""
        base = self._base(description)
        inherited = base._attributes if base is not None else []
        both = [*inherited, *self._own_attributes(description)]
        return list({_key(each): each for each in both}.values())

    def _own_attributes(self, description: dict[str, Any]) -> list[Any]:
        found: list[Any] = []
        found += [self._attribute(each) for each in description["attributes"]]
        array = description.get("array")
        if array is not None:
            found = [each for each in found if each.qname.text != _ARRAY_TYPE]
            found.append(self._array_attribute(array))
        if description.get("any_attribute"):
            found.append(AnyAttribute())
        return found

    def _array_attribute(self, array: dict[str, Any]) -> Attribute:
        made = Attribute(_ARRAY_TYPE, builtins.String())
        made.array_type = _Item(self, array["item"]) if array.get("item") is not None else None
        return made

    def _particle(self, description: dict[str, Any], namespace: str | None) -> Any:
        kind = description["kind"]
        maximum = "unbounded" if description["max"] is None else description["max"]
        if kind == "any":
            return Any_(
                min_occurs=description["min"],
                max_occurs=maximum,
                process_contents=description.get("process", "strict"),
            )
        if kind == "element":
            if description["name"] == _SCHEMA:
                return SchemaElement()
            is_ref = description.get("is_ref", False)
            made = self._element(description, is_ref, namespace)
            made.min_occurs, made.max_occurs = description["min"], maximum
            return made
        parts = [self._particle(each, namespace) for each in description["items"]]
        if kind == "choice":
            # No option is required before one is chosen.
            for each in parts:
                each.min_occurs = 0 if isinstance(each, Element) else each.min_occurs
        if kind == "group":
            return Group(description["name"], parts[0], maximum, description["min"])
        return _GROUPS[kind](parts, min_occurs=description["min"], max_occurs=maximum)

    def _simple(self, ref: Any, description: dict[str, Any], owner: str | None) -> Any:
        variety = description["variety"]
        if variety == "list":
            return ListType(self.type(description["item"]))
        if variety == "union":
            return UnionType([self.type(member) for member in description["members"]])
        base = builtins.BUILTINS.get(description["builtin"], builtins.String)
        name = description["name"] or owner
        qname = as_name(name) if name else None
        title = qname.localname if qname is not None else base.__name__
        made = type(title, (base,), {"__module__": "deltasoap.objects"})
        return made(qname)


_ARRAY_TYPE = f"{{{ns.SOAP_ENC_11}}}arrayType"


class _ViewedComplex(ComplexType):
    """A complex type of a contract, whose parts are made when they are asked for."""

    def __init__(self, views: Views, ref: Any, description: dict[str, Any]) -> None:
        super().__init__()
        del self._element, self._attributes, self._known
        self._views = views
        self._ref = ref
        self._description = description

    def __getattr__(self, name: str) -> Any:
        # Called for what is not set yet, which is the content and the attributes.
        if name == "_element":
            namespace = self.qname.namespace if self.qname is not None else None
            self._element = self._views.content(self._description, namespace)
            return self._element
        if name == "_attributes":
            self._attributes = self._views.attributes(self._description)
            return self._attributes
        if name == "_known":
            self._known = self._views.home(self._ref)
            return self._known
        raise AttributeError(name)

    @cached_property
    def _value_class(self) -> type:
        has_schema = any(isinstance(part, SchemaElement) for _, part in self.elements)
        base = InlineSchemaValue if has_schema else CompoundValue
        return value_class(base, self.name or "ComplexType", self)


class _Fields:
    """The values of what has no type of its own, such as the wrapper of a message of rpc style."""

    @staticmethod
    def _from_engine(values: dict[str, Any]) -> dict[str, Any]:
        return values


def _joined(base: Any, own: Any) -> Any:
    """The content of an extension: the parts of both in one sequence."""
    if own is None:
        return base
    return Sequence([*_parts(base), *_parts(own)])


def _parts(content: Any) -> list[Any]:
    is_flat = isinstance(content, (Sequence, All)) and not content.accepts_multiple
    return list(content) if is_flat else [content]


def _key(attribute: Any) -> str:
    return attribute.qname.text if attribute.qname is not None else "##any"


def reaching(names: list[str]) -> str:
    """A schema with an element for each of these types."""
    namespaces = list(dict.fromkeys(as_name(each).namespace or "" for each in names))
    prefixes = {each: f"n{index}:" if each else "" for index, each in enumerate(namespaces)}
    declared = "".join(
        f" xmlns:{prefixes[each][:-1]}={quoteattr(each)}" for each in namespaces if each
    )
    imports = "".join(
        f"<xs:import namespace={quoteattr(each)}/>" if each else "<xs:import/>"
        for each in namespaces
    )
    elements = ""
    for index, each in enumerate(names):
        name = as_name(each)
        kind = quoteattr(f"{prefixes[name.namespace or '']}{name.localname}")
        elements += f'<xs:element name="type.{index}" type={kind}/>'
    start = (
        f'<xs:schema xmlns:xs={quoteattr(ns.XSD)} targetNamespace="urn:deltasoap:types"{declared}>'
    )
    return f"{start}{imports}{elements}</xs:schema>"


class SchemaElement(Base):
    """`xsd:schema` as an element of messages: its value is a `Schema`."""

    name = "schema"
    attr_name = "schema"
    qname = property(lambda self: as_name(_SCHEMA))

    def parse(
        self, xmlelement: Any, schema: Any, allow_none: bool = False, context: Any = None
    ) -> Any:
        """The schema in a message."""
        from deltasoap.xsd.schema import Schema

        return Schema(xmlelement, getattr(schema, "_transport", None))


class InlineSchemaValue(CompoundValue):
    """A value with a schema in it, which the rest of it follows: the data sets of .NET."""

    @classmethod
    def _from_engine(cls, values: dict[str, Any]) -> Any:
        children = values.get("schema")
        if isinstance(children, list) and children:
            from deltasoap.xsd.schema import Schema

            schema = Schema(children[0].getparent())
            values = {name: _by_schema(value, schema) for name, value in values.items()}
            values["schema"] = schema
        return super()._from_engine(values)


def _by_schema(value: Any, schema: Any) -> Any:
    """The value of an element, or of its first child, if the schema declares it."""
    from lxml import etree

    if not isinstance(value, etree._Element):
        return value
    for node in (value, *value[:1]):
        try:
            return schema.deserialize(node)
        except (LookupError, NamespaceError):
            continue
    return value


class _Item:
    """The type of an array's items, as its attribute shows it."""

    def __init__(self, views: Views, ref: Any) -> None:
        self._views = views
        self._ref = ref

    @property
    def name(self) -> str | None:
        """The name of the type."""
        return self._views.type(self._ref).name  # type: ignore[no-any-return]
