"""What a complex type contains: elements, groups of them, wildcards and attributes.

The classes serve two purposes: a user builds types of them, and those of a WSDL are shown as them.
They name the fields of values, sort the arguments of a call into fields, and print signatures.
XML is written and read by the engine (see `codec`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

from deltasoap.exceptions import ValidationError
from deltasoap.xsd.const import Nil, NotSet
from deltasoap.xsd.names import Numbered, Unique, as_name, create_prefixed_name
from deltasoap.xsd.values import CompoundValue

if TYPE_CHECKING:
    from lxml import etree

__all__ = [
    "All",
    "Any_",
    "AnyAttribute",
    "Attribute",
    "AttributeGroup",
    "Choice",
    "Element",
    "Group",
    "Sequence",
]

Occurs = int | str


class Given:
    """The named arguments of a call, and which of them no element took yet."""

    def __init__(self, values: Any, free: Iterable[str] | None = None) -> None:
        self.values = values
        self.free = set(values if free is None else free)

    def take(self, name: str) -> Any:
        """An argument, which is then taken."""
        self.free.remove(name)
        return self.values[name]

    def trial(self) -> Given:
        """A copy, to see what an option of a choice would take."""
        return Given(self.values, self.free)

    def accept(self, trial: Given) -> None:
        """Take what a trial took."""
        self.free &= trial.free


class Base:
    """What stands in the content of a complex type."""

    name: str | None = None
    attr_name: str | None = None
    min_occurs: int = 1
    max_occurs: Occurs = 1

    @property
    def accepts_multiple(self) -> bool:
        """Whether its value is a list."""
        return self.max_occurs != 1

    @property
    def is_optional(self) -> bool:
        """Whether it may be missing."""
        return self.min_occurs == 0

    @property
    def default_value(self) -> Any:
        """The value of a field that no argument sets."""
        return None

    def bind(self, given: Given, name: str | None) -> dict[str, Any]:
        """The fields that arguments set; `name` is the field's own, if it has one."""
        if name is None or name not in given.free:
            return {}
        return {name: given.take(name)}

    def score(self, value: Any) -> int:
        """How many elements of it a value has; 0 if it does not fit."""
        return 1

    def resolve(self) -> Any:
        """Itself: names resolve when they are used."""
        return self

    def signature(self, schema: Any = None, standalone: bool = True) -> str:
        """Names and types of the fields, for people."""
        return ""


class Any_(Base):
    """A wildcard, `xsd:any`: an `AnyObject` or an element of lxml; read as a known element's value.

    :param process_contents: "skip" leaves elements as they are
    :param restrict: the type of what it takes
    """

    def __init__(
        self,
        max_occurs: Occurs = 1,
        min_occurs: int = 1,
        process_contents: str = "strict",
        restrict: Any = None,
    ) -> None:
        self.max_occurs = max_occurs
        self.min_occurs = min_occurs
        self.process_contents = process_contents
        self.restrict = restrict

    def __call__(self, any_object: Any) -> Any:
        return any_object

    def __repr__(self) -> str:
        return f"<Any(name={self.name!r})>"

    def accept(self, value: Any) -> bool:
        """Anything fits."""
        return True

    def signature(self, schema: Any = None, standalone: bool = True) -> str:
        """`ANY`, or the name of the type."""
        text = self.restrict.name if self.restrict is not None else "ANY"
        return f"{text}[]" if self.accepts_multiple else str(text)


Any_.__name__ = Any_.__qualname__ = "Any"


class AnyAttribute(Base):
    """A wildcard for attributes: a dict of names and texts."""

    qname = None

    def __init__(self, process_contents: str = "strict") -> None:
        self.process_contents = process_contents

    def signature(self, schema: Any = None, standalone: bool = True) -> str:
        """`{}`."""
        return "{}"


class Element(Base):
    """An element with a name and a type.

    :param name: `{namespace}local`, or a QName
    :param type_: what it contains
    :param max_occurs: a number, or "unbounded"
    :param attr_name: the name of its field, if another than the element's
    """

    name: str

    def __init__(
        self,
        name: Any,
        type_: Any = None,
        min_occurs: int = 1,
        max_occurs: Occurs = 1,
        nillable: bool = False,
        default: Any = None,
        is_global: bool = False,
        attr_name: str | None = None,
    ) -> None:
        if name is None:
            raise ValueError("an element needs a name")
        self.qname = as_name(name)
        self.name = self.qname.localname
        self._type = type_
        self.min_occurs = min_occurs
        self.max_occurs = max_occurs
        self.nillable = nillable
        self.default = default
        self.is_global = is_global
        self.attr_name = attr_name or self.name

    @property
    def type(self) -> Any:
        """What the element contains. Types of a WSDL are looked up when they are asked for."""
        if isinstance(self._type, Pending):
            self._type = self._type.look_up()
        return self._type

    @type.setter
    def type(self, value: Any) -> None:
        self._type = value

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        value = self.type(*args, **kwargs)
        if isinstance(value, CompoundValue):
            value._xsd_elm = self
        return value

    def __str__(self) -> str:
        if self.type is None:
            return f"{self.name}()"
        return f"{self.name}({self.type.qname if self.type.is_global else self.type.signature()})"

    def __repr__(self) -> str:
        return f"<{type(self).__name__}(name={self.name!r}, type={self.type!r})>"

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return False
        own, others = dict(vars(self)), dict(vars(other))
        own["_type"], others["_type"] = self.type, other.type
        return own == others

    def __hash__(self) -> int:
        return hash((type(self), self.qname))

    @property
    def default_value(self) -> Any:
        """An empty list, None, or the default that the schema gives a required element."""
        if self.accepts_multiple:
            return []
        return None if self.is_optional else self.default

    def clone(self, name: Any = None, min_occurs: int = 1, max_occurs: Occurs = 1) -> Element:
        """The same element under another name, or that often."""
        import copy

        made = copy.copy(self)
        if name:
            made.qname = as_name(name)
            made.name = made.attr_name = made.qname.localname
        made.min_occurs = min_occurs
        made.max_occurs = max_occurs
        return made

    def get_prefixed_name(self, schema: Any) -> str | None:
        """Its name with a prefix."""
        return create_prefixed_name(self.qname, schema)

    def bind(self, given: Given, name: str | None) -> dict[str, Any]:
        """The field, as a value of the type."""
        name = name or self.attr_name
        if name is None or name not in given.free:
            return {}
        return {name: self.type.coerce(given.take(name))}

    def parse(
        self, xmlelement: etree._Element, schema: Any, allow_none: bool = False, context: Any = None
    ) -> Any:
        """The value of an element of lxml."""
        return self.type.parse_xmlelement(
            xmlelement, schema, allow_none=allow_none, context=context, schema_type=self.type
        )

    def render(self, parent: etree._Element, value: Any, render_path: Any = None) -> None:
        """Add the element, or one for each item of a list, to a parent of lxml."""
        path = list(render_path) if render_path else [self.qname.localname]
        self.validate(value, path)
        is_list = self.accepts_multiple and isinstance(value, list)
        for item in value if is_list else [value]:
            self._render_item(parent, item, path)

    def _render_item(self, parent: etree._Element, value: Any, path: list[Any]) -> None:
        from lxml import etree

        from deltasoap.xsd.codec import set_nil

        is_missing = value is None or value is NotSet
        if is_missing and self.is_optional:
            return
        node = etree.SubElement(parent, self.qname)
        if value is Nil or (is_missing and self.nillable):
            set_nil(node)
        elif not is_missing:
            own = getattr(value, "_xsd_type", None)
            if own is None or _is_same(own, self.type):
                self.type.render(node, value, None, path)
            else:
                own.render(node, value, own, path)

    def validate(self, value: Any, render_path: Any = None) -> None:
        """Reject a number of values that the element does not allow."""
        if self.accepts_multiple and isinstance(value, list):
            self._validate_count(len(value), render_path)
            for item in value:
                self._validate_item(item, render_path)
            return
        is_missing = value is None or value is NotSet
        if is_missing and not self.is_optional and not self.nillable:
            raise ValidationError(f"Missing element {self.name}", path=render_path)
        self._validate_item(value, render_path)

    def _validate_count(self, count: int, path: Any) -> None:
        if count < self.min_occurs:
            raise ValidationError(
                f"Expected at least {self.min_occurs} items (minOccurs check) {count} items found.",
                path=path,
            )
        if isinstance(self.max_occurs, int) and count > self.max_occurs:
            raise ValidationError(
                f"Expected at most {self.max_occurs} items (maxOccurs check) {count} items found.",
                path=path,
            )

    def _validate_item(self, value: Any, path: Any) -> None:
        if value is None or value is NotSet:
            return
        try:
            self.type.validate(value, required=True)
        except ValidationError as error:
            text = f"The element {self.qname} is not valid: {error.message}"
            raise ValidationError(text, path=path) from error

    def signature(self, schema: Any = None, standalone: bool = True) -> str:
        """The type; with `standalone`, the element's name around it."""
        if self.type is None:
            # The body of a message that has header blocks only.
            text = "None"
        elif self.type.is_global or (not standalone and self.is_global):
            text = self.type.get_prefixed_name(schema)
        else:
            text = self.type.signature(schema, standalone=False)
            if not standalone and self.type.is_complex:
                text = f"{{{text}}}"
        if standalone:
            text = f"{self.get_prefixed_name(schema)}({text})"
        return f"{text}[]" if self.accepts_multiple else str(text)


class Pending:
    """A type of a contract that is not looked up yet."""

    def __init__(self, look_up: Any) -> None:
        self.look_up = look_up

    def __deepcopy__(self, memo: dict[int, Any]) -> Pending:
        return self


class Attribute(Element):
    """An attribute with a name and a simple type."""

    def __init__(
        self, name: Any, type_: Any = None, required: bool = False, default: Any = None
    ) -> None:
        super().__init__(name=name, type_=type_, default=default)
        self.required = required
        self.array_type: Any = None

    def parse(self, value: Any, *_: Any, **__: Any) -> Any:  # type: ignore[override]
        """The value of a text; None if it is not one of the type."""
        try:
            return self.type.pythonvalue(value)
        except (TypeError, ValueError):
            return None

    def render(self, parent: etree._Element, value: Any, render_path: Any = None) -> None:
        """Set the attribute of an element."""
        if not self.required and (value is None or value is NotSet):
            return
        self.validate(value, render_path)
        parent.set(self.qname, self.type.xmlvalue(value))

    def validate(self, value: Any, render_path: Any = None) -> None:
        """Reject a missing value of a required attribute."""
        try:
            self.type.validate(value, required=self.required)
        except ValidationError as error:
            text = f"The attribute {self.qname} is not valid: {error.message}"
            raise ValidationError(text, path=render_path) from error


class AttributeGroup:
    """Attributes under a common name."""

    type = None
    is_global = True

    def __init__(self, name: Any, attributes: list[Any]) -> None:
        self.qname = as_name(name)
        self.name = self.qname.localname
        self._attributes = attributes

    @property
    def attributes(self) -> list[Any]:
        """The attributes, with those of inner groups."""
        return flat_attributes(self._attributes)

    def resolve(self) -> AttributeGroup:
        """Itself: names resolve when they are used."""
        return self

    def signature(self, schema: Any = None, standalone: bool = True) -> str:
        """The types of the attributes."""
        return ", ".join(each.signature(schema) for each in self.attributes)


def flat_attributes(attributes: Iterable[Any]) -> list[Any]:
    """Attributes with groups replaced by what is in them."""
    found: list[Any] = []
    for each in attributes:
        found += each.attributes if isinstance(each, AttributeGroup) else [each]
    return found


class OrderIndicator(Base, list):  # type: ignore[type-arg]
    """A list of elements, wildcards and groups."""

    def __init__(
        self,
        elements: Iterable[Any] | None = None,
        min_occurs: int = 1,
        max_occurs: Occurs = 1,
    ) -> None:
        super().__init__(elements or [])
        self.min_occurs = min_occurs
        self.max_occurs = max_occurs

    def __repr__(self) -> str:
        return f"<{type(self).__name__}({list.__repr__(self)})>"

    def __hash__(self) -> int:  # type: ignore[override]
        return id(self)

    def clone(
        self, name: Any = None, min_occurs: int = 1, max_occurs: Occurs = 1
    ) -> OrderIndicator:
        """The same content, that often."""
        return type(self)(list(self), min_occurs=min_occurs, max_occurs=max_occurs)

    @cached_property
    def elements_nested(self) -> list[tuple[str | None, Any]]:
        """The parts with the names of their fields; None for a group whose fields are its own."""
        numbered, unique = Numbered(), Unique()
        named: list[tuple[str | None, Any]] = []
        for part in self:
            if isinstance(part, Any_) or (_is_group(part) and part.accepts_multiple):
                named.append((numbered.next(), part))
            elif _is_group(part):
                for inner, _ in part.elements:
                    unique.name(inner)
                named.append((None, part))
            else:
                named.append((unique.name(part.attr_name), part))
        return named

    @cached_property
    def elements(self) -> list[tuple[str, Any]]:
        """All fields with their names, those of inner groups too."""
        found: list[tuple[str, Any]] = []
        for name, part in self.elements_nested:
            found += part.elements if name is None else [(name, part)]
        return found

    @property
    def default_value(self) -> dict[str, Any]:
        """The defaults of all fields."""
        values = {name: part.default_value for name, part in self.elements}
        return {"_value_1": values} if self.accepts_multiple else values

    def arguments(self, values: tuple[Any, ...]) -> dict[str, Any]:
        """The fields for positional arguments."""
        if any(isinstance(part, Choice) for part in self):
            raise TypeError("Choice elements only work with keyword arguments")
        return {
            name: _coerced(part, value)
            for (name, part), value in zip(self.elements, values, strict=False)
        }

    def bind(self, given: Given, name: str | None) -> dict[str, Any]:
        """The fields of all parts, or a list of dicts if the group may occur more than once."""
        if self.accepts_multiple:
            if name is None or name not in given.free:
                return {}
            return {name: [self._bind_item(item) for item in self._items(given.take(name))]}
        values: dict[str, Any] = {}
        for own, part in self.elements_nested:
            values.update(part.bind(given, own))
        return values

    def _items(self, value: Any) -> Iterator[Any]:
        items = value if isinstance(value, list) else [value]
        limit = len(items) if isinstance(self.max_occurs, str) else self.max_occurs
        return iter(items[:limit])

    def _bind_item(self, item: Any) -> dict[str, Any]:
        if not hasattr(item, "keys") and not isinstance(item, CompoundValue):
            raise TypeError("A list of dicts is expected for unbounded Sequences")
        given = Given(item)
        values: dict[str, Any] = {}
        for name, part in self.elements:
            values.update(part.bind(given, name))
        if given.free:
            name = sorted(given.free)[0]
            raise TypeError(f"{self!r}() got an unexpected keyword argument {name!r}.")
        return values

    def score(self, value: Any) -> int:
        """The most elements that one value, or one item of a list, has."""
        items = value if self.accepts_multiple else [value]
        return max(map(self._score_item, items), default=0)

    def _score_item(self, item: Any) -> int:
        return sum(
            int(_has(item, part.name)) if isinstance(part, Element) else part.score(item)
            for _, part in self.elements_nested
        )

    def signature(self, schema: Any = None, standalone: bool = True) -> str:
        """Names and types of the fields; brackets around those that occur more than once."""
        text = ", ".join(_field(name, part, schema) for name, part in self.elements_nested)
        return f"[{text}]" if self.accepts_multiple else text


class All(OrderIndicator):
    """Elements in any order."""

    def __init__(
        self,
        elements: Iterable[Any] | None = None,
        min_occurs: int = 1,
        max_occurs: Occurs = 1,
        consume_other: bool = False,
    ) -> None:
        super().__init__(elements, min_occurs, max_occurs)
        self._consume_other = consume_other


class Sequence(OrderIndicator):
    """Elements in their order."""


class Choice(OrderIndicator):
    """One of several elements or groups."""

    @property
    def is_optional(self) -> bool:
        """No option is required before one is chosen."""
        return True

    @property
    def default_value(self) -> dict[str, Any]:
        """Nothing is chosen."""
        return {}

    def arguments(self, values: tuple[Any, ...]) -> dict[str, Any]:
        """A choice takes names."""
        if values:
            raise TypeError("Choice elements only work with keyword arguments")
        return {}

    def bind(self, given: Given, name: str | None) -> dict[str, Any]:
        """The fields of the option that arguments name; a list of them if it may repeat."""
        if not self.accepts_multiple:
            return self._bind_option(given)
        if name is None or name not in given.free:
            return {}
        items = given.take(name) or []
        return {name: [self._pick(item, name) for item in _as_items(items)]}

    def _bind_option(self, given: Given) -> dict[str, Any]:
        chosen: dict[str, Any] = {}
        is_chosen = False
        for name, option in self.elements_nested:
            trial = given.trial()
            values = option.bind(trial, name)
            has_value = any(map(_is_value, values.values()))
            if not values or (is_chosen and has_value):
                continue
            given.accept(trial)
            chosen.update(values)
            is_chosen = is_chosen or has_value
        if not is_chosen:
            return {}
        return {**chosen, **{name: None for name, _ in self.elements if name not in chosen}}

    def _pick(self, item: Any, name: str) -> Any:
        for option in self:
            if isinstance(option, Any_):
                return item
            if isinstance(option, Element):
                if option.name in item:
                    return {option.name: item[option.name]}
                continue
            inner = item[name] if _has(item, name) else item
            if option.score(inner):
                return inner
        raise TypeError(
            f"No complete xsd:Sequence found for the xsd:Choice {name!r}.\n"
            f"The signature is: {self.signature()}"
        )

    def score(self, value: Any) -> int:
        """The best score of an option."""
        return max((self._score_option(*each, value) for each in self.elements_nested), default=0)

    def _score_option(self, name: str | None, option: Any, value: Any) -> int:
        if not isinstance(option, Element):
            return int(option.score(value))
        items = value if self.accepts_multiple else [value]
        return int(all(_has(item, name) for item in items))

    def signature(self, schema: Any = None, standalone: bool = True) -> str:
        """The options, one pair of braces each."""
        options = [f"{{{_field(name, option, schema)}}}" for name, option in self.elements_nested]
        text = f"({' | '.join(options)})"
        return f"{text}[]" if self.accepts_multiple else text


class Group(Base):
    """A named group of elements.

    :param child: the sequence, choice or all
    """

    def __init__(self, name: Any, child: Any, max_occurs: Occurs = 1, min_occurs: int = 1) -> None:
        self.qname = as_name(name) if name is not None else None
        self.name = self.qname.localname if self.qname is not None else None
        self.child = child
        self.min_occurs = min_occurs
        self.max_occurs = max_occurs

    def __str__(self) -> str:
        return self.signature()

    def __iter__(self) -> Iterator[Any]:
        return iter(self.child)

    def clone(self, name: Any = None, min_occurs: int = 1, max_occurs: Occurs = 1) -> Group:
        """The same group, that often."""
        return Group(None, self.child, max_occurs=max_occurs, min_occurs=min_occurs)

    @property
    def elements(self) -> list[tuple[str, Any]]:
        """The fields of the group, or the one list of them."""
        return [("_value_1", self.child)] if self.accepts_multiple else self.child.elements

    @property
    def default_value(self) -> Any:
        """The defaults of all fields."""
        values = {name: part.default_value for name, part in self.elements}
        return {"_value_1": values} if self.accepts_multiple else values

    def arguments(self, values: tuple[Any, ...]) -> dict[str, Any]:
        """The fields for positional arguments."""
        return self.child.arguments(values)  # type: ignore[no-any-return]

    def bind(self, given: Given, name: str | None) -> dict[str, Any]:
        """The fields of the group, or a list of dicts if it may occur more than once."""
        inner = "_value_1" if self.child.accepts_multiple else None
        if not self.accepts_multiple:
            return self.child.bind(given, name or inner)  # type: ignore[no-any-return]
        if name is None or name not in given.free:
            return {}
        items = _as_items(given.take(name))
        limit = len(items) if isinstance(self.max_occurs, str) else self.max_occurs
        return {name: [self._bind_item(item, inner) for item in items[:limit]]}

    def _bind_item(self, item: Any, inner: str | None) -> dict[str, Any]:
        given = Given(item)
        values: dict[str, Any] = self.child.bind(given, inner)
        if given.free:
            name = sorted(given.free)[0]
            raise TypeError(f"{self}() got an unexpected keyword argument {name!r}.")
        return values

    def score(self, value: Any) -> int:
        """The score of what is in it."""
        return int(self.child.score(value))

    def signature(self, schema: Any = None, standalone: bool = True) -> str:
        """The fields; with `standalone`, the name around them."""
        fields: str = self.child.signature(schema, standalone=False)
        if not standalone:
            return fields
        return f"{create_prefixed_name(self.qname, schema)}({fields})"


def _is_same(one: Any, other: Any) -> bool:
    """Whether two types are one: named types of one name are, also from two imports."""
    is_named = one.is_global and other.is_global
    return bool(one == other or (is_named and one.qname == other.qname))


def _is_group(part: Any) -> bool:
    return isinstance(part, (OrderIndicator, Group))


def _field(name: str | None, part: Any, schema: Any) -> str:
    text: str = part.signature(schema, standalone=False)
    return text if _is_group(part) else f"{name}: {text}"


def _coerced(part: Any, value: Any) -> Any:
    return part.type.coerce(value) if isinstance(part, Element) else value


def _as_items(value: Any) -> list[Any]:
    return [value] if isinstance(value, (dict, CompoundValue)) else list(value)


def _has(item: Any, name: str | None) -> bool:
    return name in item and item[name] is not None


def _is_value(value: Any) -> bool:
    """Whether an argument chooses an option: not None, and no empty list."""
    return value is not None and not (isinstance(value, (list, dict)) and not value)
