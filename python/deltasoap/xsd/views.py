"""The types and elements of a contract as objects of this package.

Nothing is read twice: each view is made from the engine's description when it is first asked for.
"""

from __future__ import annotations

from typing import Any

from deltasoap import ns
from deltasoap.xsd import builtins
from deltasoap.xsd.const import Nil, SkipValue
from deltasoap.xsd.names import as_name
from deltasoap.xsd.particles import (
    All,
    Any_,
    AnyAttribute,
    Attribute,
    Choice,
    Element,
    Pending,
    Sequence,
)
from deltasoap.xsd.types import ComplexType, ListType, UnionType

_XSD = f"{{{ns.XSD}}}"
_GROUPS = {"sequence": Sequence, "choice": Choice, "all": All}


class Views:
    """What a contract describes, by names and references."""

    def __init__(self, contract: Any) -> None:
        self.contract = contract
        self._types: dict[Any, Any] = {}
        self._elements: dict[str, Element] = {}
        contract.set_classes(self._class)

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

    def _class(self, ref: Any, name: str, names: list[str]) -> Any:
        xsd_type = self.type(ref)
        return xsd_type._array_class if xsd_type._array_type else xsd_type._value_class

    def _pending(self, ref: Any, owner: str) -> Pending:
        return Pending(lambda: self.type(ref, owner))

    def _element(self, description: dict[str, Any], is_global: bool) -> Element:
        name = description["name"]
        default = description.get("fixed") or description.get("default")
        return Element(
            name,
            self._pending(description["type"], name),
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
        made._known = (self.contract, ref)
        return made

    def content(self, description: dict[str, Any]) -> Any:
        """The content of a complex type."""
        if description.get("text") is not None:
            return Element("_value_1", self.type(description["text"]))
        particle = description.get("content")
        return self._particle(particle) if particle is not None else None

    def attributes(self, description: dict[str, Any]) -> list[Any]:
        """The attributes of a complex type."""
        found: list[Any] = []
        for each in description["attributes"]:
            name = each["name"]
            made = Attribute(
                name,
                self._pending(each["type"], name),
                required=each["required"],
                default=each.get("fixed") or each.get("default"),
            )
            found.append(made)
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

    def _particle(self, description: dict[str, Any]) -> Any:
        kind = description["kind"]
        maximum = "unbounded" if description["max"] is None else description["max"]
        if kind == "any":
            return Any_(
                min_occurs=description["min"],
                max_occurs=maximum,
                process_contents=description.get("process", "strict"),
            )
        if kind == "element":
            made = self._element(description, is_global=description.get("is_ref", False))
            made.min_occurs, made.max_occurs = description["min"], maximum
            return made
        parts = [self._particle(each) for each in description["items"]]
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
        del self._element, self._attributes
        self._views = views
        self._description = description

    def __getattr__(self, name: str) -> Any:
        # Called for what is not set yet, which is the content and the attributes.
        if name == "_element":
            self._element = self._views.content(self._description)
            return self._element
        if name == "_attributes":
            self._attributes = self._views.attributes(self._description)
            return self._attributes
        raise AttributeError(name)


class _Item:
    """The type of an array's items, as its attribute shows it."""

    def __init__(self, views: Views, ref: Any) -> None:
        self._views = views
        self._ref = ref

    @property
    def name(self) -> str | None:
        """The name of the type."""
        return self._views.type(self._ref).name  # type: ignore[no-any-return]


#: The values that the engine compares by identity.
MARKERS = (Nil, SkipValue)
