"""Types: what values are made of, checked against and printed as.

`ComplexType`, `ListType` and `UnionType` are built by users and shown for those of a WSDL;
the simple types that XSD defines are in `builtins`.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from deltasoap import ns
from deltasoap._columns import is_numbers, is_table
from deltasoap.exceptions import ValidationError
from deltasoap.xsd.const import Nil, NotSet, SkipValue
from deltasoap.xsd.names import Numbered, create_prefixed_name
from deltasoap.xsd.particles import (
    Any_,
    Element,
    Given,
    Sequence,
    flat_attributes,
)
from deltasoap.xsd.values import AnyObject, ArrayValue, CompoundValue, value_class

if TYPE_CHECKING:
    from lxml import etree

__all__ = ["AnySimpleType", "AnyType", "ComplexType", "ListType", "Type", "UnionType"]

_ARRAY_TYPE = f"{{{ns.SOAP_ENC_11}}}arrayType"


class Type:
    """The base of types."""

    is_complex: ClassVar[bool] = False
    name: str | None

    def __init__(self, qname: etree.QName | None = None, is_global: bool = False) -> None:
        self.qname = qname
        self.name = qname.localname if qname is not None else None
        self.is_global = is_global

    @property
    def accepted_types(self) -> list[type]:
        """The classes of values."""
        return []

    @property
    def __deltasoap__(self) -> str | None:
        """The name by which the engine knows the type."""
        return self.qname.text if self.qname is not None and self.is_global else None

    @property
    def attributes(self) -> list[tuple[str, Any]]:
        """The attributes with the names of their fields."""
        return []

    def get_prefixed_name(self, schema: Any) -> str | None:
        """Its name with a prefix."""
        return create_prefixed_name(self.qname, schema)

    def coerce(self, value: Any) -> Any:
        """A value as it is kept in a field."""
        return value

    def validate(self, value: Any, required: bool = False) -> None:
        """Reject what is not a value of the type."""

    def accept(self, value: Any) -> bool:
        """Whether a value fits."""
        raise NotImplementedError

    def parsexml(self, xml: Any, schema: Any = None) -> Any:
        """The value of a document."""
        raise NotImplementedError

    def parse_xmlelement(
        self,
        xmlelement: etree._Element,
        schema: Any = None,
        allow_none: bool = True,
        context: Any = None,
        schema_type: Any = None,
    ) -> Any:
        """The value of an element of lxml."""
        raise NotImplementedError(f"{type(self).__name__}.parse_xmlelement() is not implemented")

    def render(
        self, node: etree._Element, value: Any, xsd_type: Any = None, render_path: Any = None
    ) -> None:
        """Write a value into an element of lxml."""
        raise NotImplementedError(f"{type(self).__name__}.render() is not implemented")

    def resolve(self) -> Any:
        """The type itself: names resolve when they are used."""
        raise NotImplementedError(f"{type(self).__name__}.resolve() is not implemented")

    def signature(self, schema: Any = None, standalone: bool = True) -> str:
        """Its name, or what is in it, for people."""
        return ""


class AnyType(Type):
    """`xsd:anyType`: any value; an `AnyObject` says its type."""

    _name: ClassVar[str] = "anyType"

    def __init__(self, qname: etree.QName | None = None, is_global: bool = False) -> None:
        super().__init__(qname, is_global)

    @property
    def _default_qname(self) -> etree.QName:
        from deltasoap.xsd.const import xsd_ns

        return xsd_ns(self._name)

    def __call__(self, value: Any = None) -> Any:
        return value or ""

    def render(
        self, node: etree._Element, value: Any, xsd_type: Any = None, render_path: Any = None
    ) -> None:
        """Write a value, and its type as `xsi:type` if it says one."""
        from deltasoap.xsd import codec

        if not isinstance(value, AnyObject):
            node.text = self.xmlvalue(value)
        elif value.xsd_type is None:
            codec.set_nil(node)
        else:
            value.xsd_type.render(node, value.value, None, render_path)
            codec.set_type(node, value.xsd_type.qname)

    def parse_xmlelement(
        self,
        xmlelement: etree._Element,
        schema: Any = None,
        allow_none: bool = True,
        context: Any = None,
        schema_type: Any = None,
    ) -> Any:
        """A value of the type that `xsi:type` names, else the children or the text."""
        from deltasoap.xsd import codec

        if codec.is_nil(xmlelement):
            return None
        children = list(xmlelement)
        named = codec.named_type(xmlelement, schema)
        if named is not None and type(named) is not AnyType:
            return named.parse_xmlelement(xmlelement, schema, context=context)
        return children if children else xmlelement.text

    def resolve(self) -> Any:
        """Itself."""
        return self

    def xmlvalue(self, value: Any) -> Any:
        """The text of a value by its class."""
        from deltasoap.xsd import builtins

        kinds = (
            builtins.String,
            builtins.Boolean,
            builtins.Decimal,
            builtins.DateTime,
            builtins.Date,
            builtins.Time,
        )
        for kind in kinds:
            if isinstance(value, tuple(kind.accepted_types)):
                return kind().xmlvalue(value)
        return str(value)

    def pythonvalue(self, value: Any, schema: Any = None) -> Any:
        """The text itself."""
        return value

    def signature(self, schema: Any = None, standalone: bool = True) -> str:
        """`xsd:anyType`."""
        return "xsd:anyType"


class AnySimpleType(AnyType):
    """The base of types whose values are texts."""

    _name = "anySimpleType"

    def __init__(self, qname: etree.QName | None = None, is_global: bool = False) -> None:
        super().__init__(qname if qname is not None else self._default_qname, is_global)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        count = len(args) + len(kwargs)
        if count != 1:
            raise TypeError(
                f"{type(self).__name__}() takes exactly 1 argument ({count} given). "
                "Simple types expect only a single value argument"
            )
        if kwargs and "value" not in kwargs:
            raise TypeError(
                f"{type(self).__name__}() got an unexpected keyword argument "
                f"{next(iter(kwargs))!r}. Simple types expect only a single value argument"
            )
        return self.xmlvalue(args[0] if args else kwargs["value"])

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((type(self), self.qname))

    def __str__(self) -> str:
        return f"{type(self).__name__}(value)"

    def parse_xmlelement(
        self,
        xmlelement: etree._Element,
        schema: Any = None,
        allow_none: bool = True,
        context: Any = None,
        schema_type: Any = None,
    ) -> Any:
        """The value of the text; None if it is not one of the type."""
        from deltasoap.xsd import codec

        named = codec.named_type(xmlelement, schema)
        if named is not None and named.is_complex:
            return named.parse_xmlelement(xmlelement, schema, context=context)
        if xmlelement.text is None:
            return None
        try:
            return (named or self).pythonvalue(xmlelement.text)
        except (TypeError, ValueError):
            codec.logger.warning("%r is not an %s", xmlelement.text, self, exc_info=True)
            return None

    def render(
        self, node: etree._Element, value: Any, xsd_type: Any = None, render_path: Any = None
    ) -> None:
        """Write the text of a value."""
        from lxml import etree

        from deltasoap.xsd import codec

        if value is Nil:
            codec.set_nil(node)
        else:
            node.text = value if isinstance(value, etree.CDATA) else self.xmlvalue(value)

    def validate(self, value: Any, required: bool = False) -> None:
        """Reject a missing value."""
        if required and (value is None or value is NotSet):
            raise ValidationError("Value is required")

    def signature(self, schema: Any = None, standalone: bool = True) -> str:
        """Its name."""
        return self.get_prefixed_name(schema) or ""


class ListType(AnySimpleType):
    """Values of one type, separated by spaces."""

    def __init__(self, item_type: Any) -> None:
        self.item_type = item_type
        super().__init__()

    def __call__(self, value: Any) -> Any:  # type: ignore[override]
        return value

    def xmlvalue(self, value: Any) -> str:
        """The texts of the items."""
        return " ".join(str(self.item_type.xmlvalue(item)) for item in value)

    def pythonvalue(self, value: Any, schema: Any = None) -> list[Any]:
        """The values of the words."""
        return [self.item_type.pythonvalue(word) for word in (value or "").split()]

    def signature(self, schema: Any = None, standalone: bool = True) -> str:
        """The type of the items."""
        return f"{self.item_type.signature(schema)}[]"


class UnionType(AnySimpleType):
    """A value of one of several types; if they differ, its text."""

    def __init__(self, item_types: list[Any]) -> None:
        self.item_types = item_types
        super().__init__()

    @cached_property
    def item_class(self) -> Any:
        """What all the types are, if that is more than "simple"."""
        shared: type | None = None
        for levels in zip(*(type(item).__mro__[::-1] for item in self.item_types), strict=False):
            if len(set(levels)) > 1:
                break
            shared = levels[0]
        is_known = shared is not None and issubclass(shared, AnySimpleType)
        return (
            shared if is_known and "_name" in vars(shared) and shared is not AnySimpleType else None
        )

    def xmlvalue(self, value: Any) -> Any:
        """The text of a value."""
        return self.item_class().xmlvalue(value) if self.item_class else value

    def pythonvalue(self, value: Any, schema: Any = None) -> Any:
        """The value of a text."""
        return self.item_class().pythonvalue(value) if self.item_class else value

    def signature(self, schema: Any = None, standalone: bool = True) -> str:
        """Nothing: there is no one type to name."""
        return ""


class ComplexType(AnyType):
    """Elements and attributes. Calling it makes a value.

    :param element: a sequence, choice, all or group, or a list of elements
    :param attributes: the attributes
    """

    is_complex = True

    def __init__(
        self,
        element: Any = None,
        attributes: Iterable[Any] | None = None,
        restriction: Any = None,
        extension: Any = None,
        qname: Any = None,
        is_global: bool = False,
    ) -> None:
        super().__init__(qname, is_global)
        self._element = Sequence(element) if type(element) is list else element
        self._attributes = list(attributes or [])
        self._restriction = restriction
        self._extension = extension
        # Where the engine knows the type: its contract and its reference there.
        self._known: tuple[Any, Any] | None = None
        self._kept_views: Any = None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        made = self._array_class if self._array_type else self._value_class
        return made(*args, **kwargs)

    def __str__(self) -> str:
        return f"{type(self).__name__}({self.signature()})"

    def __deepcopy__(self, memo: dict[int, Any]) -> ComplexType:
        return self

    @property
    def accepted_types(self) -> list[type]:
        """The class of its values."""
        return [self._value_class]

    @cached_property
    def _value_class(self) -> type:
        return value_class(CompoundValue, self.name or "ComplexType", self)

    @cached_property
    def _array_class(self) -> Any:
        return value_class(ArrayValue, self.name or "ComplexType", self)

    @property
    def _array_type(self) -> Any:
        for each in self._attributes:
            if each.qname is not None and each.qname.text == _ARRAY_TYPE:
                return each
        return None

    @cached_property
    def _attributes_unwrapped(self) -> list[Any]:
        return flat_attributes(self._attributes)

    @cached_property
    def elements_nested(self) -> list[tuple[str, Any]]:
        """The content under the name that it has if it may occur more than once."""
        content = self._element
        if content is None:
            return []
        if self._array_type and not isinstance(content, Element) and self._array_type.array_type:
            item = self._array_type.array_type
            content = Sequence([Any_(max_occurs="unbounded", restrict=item)])
        return [("_value_1", content)]

    @cached_property
    def elements(self) -> list[tuple[str, Any]]:
        """The fields of elements with their names."""
        found: list[tuple[str, Any]] = []
        for _, part in self.elements_nested:
            found += (
                [(part.attr_name or part.name, part)]
                if isinstance(part, Element)
                else part.elements
            )
        return found

    @cached_property
    def attributes(self) -> list[tuple[str, Any]]:
        """The fields of attributes with their names."""
        taken = {name for name, _ in self.elements}
        numbered = Numbered("_attr_")
        found = []
        for each in self._attributes_unwrapped:
            name = numbered.next() if each.name is None else each.name
            found.append((f"attr__{name}" if name in taken else name, each))
        return found

    def values_of(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """The fields for the arguments of a call, with defaults for the others."""
        values: dict[str, Any] = {}
        for name, part in self.elements_nested:
            default = part.default_value
            values.update(default if isinstance(default, dict) else {name: default})
        values.update((name, each.default_value) for name, each in self.attributes)
        values.update(self.bind(args, kwargs))
        return values

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """The fields that the arguments of a call set."""
        values = self._positional(args) if args else {}
        given = Given(kwargs)
        for name, part in self.elements_nested:
            bound = part.bind(given, name if part.accepts_multiple else _own_name(part))
            values.update((key, value) for key, value in bound.items() if key not in values)
        for name, _ in self.attributes:
            if name in given.free:
                values[name] = given.take(name)
        if "_raw_elements" in given.free and kwargs["_raw_elements"]:
            values["_raw_elements"] = given.take("_raw_elements")
        if given.free:
            raise TypeError(
                f"{self.qname or 'ComplexType'}() got an unexpected keyword argument "
                f"{sorted(given.free)[0]!r}. Signature: `{self.signature(standalone=False)}`"
            )
        return values

    def _positional(self, args: tuple[Any, ...]) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for _, part in self.elements_nested:
            if isinstance(part, Element):
                values[part.attr_name or part.name] = args[0]
            else:
                values.update(part.arguments(args))
        rest = args[len(values) :]
        values.update(
            (name, value) for (name, _), value in zip(self.attributes, rest, strict=False)
        )
        if len(args) > len(values):
            raise TypeError(
                f"__init__() takes at most {len(values)} positional arguments ({len(args)} given)"
            )
        return values

    def coerce(self, value: Any) -> Any:
        """A dict or a single value as a value of this type; lists item by item."""
        if value is None or value is Nil or value is SkipValue:
            return value
        if isinstance(value, (CompoundValue, ArrayValue)):
            return value
        if self._array_type:
            return self._array_class._of_numbers(value) if is_numbers(value) else self._made(value)
        if is_table(value):
            # The engine takes it as it is.
            return value
        if isinstance(value, list):
            return [self.coerce(item) for item in value]
        return self._made(value)

    def _made(self, value: Any) -> Any:
        return self(**value) if isinstance(value, dict) else self(value)

    def parse_xmlelement(
        self,
        xmlelement: etree._Element,
        schema: Any = None,
        allow_none: bool = True,
        context: Any = None,
        schema_type: Any = None,
    ) -> Any:
        """The value of an element of lxml."""
        from deltasoap.xsd import codec

        named = codec.named_type(xmlelement, schema)
        if named is not None and named.is_complex and named.qname != self.qname:
            return named.parse_xmlelement(xmlelement, schema, allow_none, context)
        if not self.elements and not self.attributes:
            return None
        return codec.decode(self, xmlelement, schema)

    def render(
        self, node: etree._Element, value: Any, xsd_type: Any = None, render_path: Any = None
    ) -> None:
        """Write a value into an element of lxml; `xsd_type` is named as `xsi:type`."""
        from deltasoap.xsd import codec

        if self.elements_nested or self.attributes:
            codec.encode(self, node, value, render_path)
        if xsd_type is not None and xsd_type.qname is not None:
            codec.set_type(node, xsd_type.qname)

    def signature(self, schema: Any = None, standalone: bool = True) -> str:
        """The fields; with `standalone`, the name around them."""
        fields = [part.signature(schema, standalone=False) for _, part in self.elements_nested]
        fields += [
            f"{name}: {each.signature(schema, standalone=False)}" for name, each in self.attributes
        ]
        text = ", ".join(fields)
        return f"{self.get_prefixed_name(schema)}({text})" if standalone else text


def _own_name(part: Any) -> str | None:
    return part.attr_name if isinstance(part, Element) else None
