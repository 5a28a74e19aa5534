"""The types that XML Schema itself defines, with their texts as Python values and back.

Inside messages the engine converts; these methods serve single values, and whoever asks a type.
"""

from __future__ import annotations

import base64
import datetime
import re
from decimal import Decimal as _Decimal
from typing import TYPE_CHECKING, Any, ClassVar

from deltasoap._scalars import READ, WRITE
from deltasoap.xsd.const import xsd_ns
from deltasoap.xsd.types import AnySimpleType, AnyType

if TYPE_CHECKING:
    from lxml import etree

__all__ = [
    "AnySimpleType",
    "AnyType",
    "AnyURI",
    "Base64Binary",
    "Boolean",
    "Byte",
    "Date",
    "DateTime",
    "Decimal",
    "Double",
    "Duration",
    "Entities",
    "Entity",
    "Float",
    "HexBinary",
    "ID",
    "IDREF",
    "IDREFS",
    "Int",
    "Integer",
    "Language",
    "Long",
    "NCName",
    "Name",
    "NegativeInteger",
    "NmToken",
    "NmTokens",
    "NonNegativeInteger",
    "NonPositiveInteger",
    "NormalizedString",
    "Notation",
    "PositiveInteger",
    "QName",
    "Short",
    "String",
    "Time",
    "Token",
    "UnsignedByte",
    "UnsignedInt",
    "UnsignedLong",
    "UnsignedShort",
    "gDay",
    "gMonth",
    "gMonthDay",
    "gYear",
    "gYearMonth",
]


class ParseError(ValueError):
    """A text is not one of the type."""


class BuiltinType(AnySimpleType):
    """The base of the types with a name of their own in XSD."""

    #: What is done with white space before a text is read: "preserve", "replace" or "collapse".
    _whitespace: ClassVar[str] = "preserve"

    def __init__(self, qname: etree.QName | None = None, is_global: bool = False) -> None:
        super().__init__(qname, is_global=True)

    def xmlvalue(self, value: Any) -> Any:
        """The text of a value."""
        if isinstance(value, (list, dict, set)):
            raise ValueError(f"The {type(self).__name__} type doesn't accept collections as value")
        return self._write(value)

    def pythonvalue(self, value: Any, schema: Any = None) -> Any:
        """The value of a text."""
        if self._whitespace != "preserve" and isinstance(value, str):
            value = re.sub(r"[\t\r\n]", " ", value)
            if self._whitespace == "collapse":
                value = value.strip(" ")
        return self._read(value)

    def _write(self, value: Any) -> Any:
        write = WRITE.get(self._name)
        return value if write is None else write(value)

    def _read(self, text: Any) -> Any:
        read = READ.get(self._name)
        if read is None:
            return text
        try:
            return read(text)
        except (ValueError, ArithmeticError) as error:
            raise ParseError(f"{text!r} is not an xsd:{self._name}") from error


class String(BuiltinType):
    """Any text."""

    _name = "string"
    accepted_types = [str]

    def _write(self, value: Any) -> str:
        return WRITE["string"](value)


class Boolean(BuiltinType):
    """True or False."""

    _name = "boolean"
    _whitespace = "collapse"
    accepted_types = [bool]

    def _read(self, text: str) -> bool:
        return text in ("true", "1")


class Decimal(BuiltinType):
    """Decimal numbers of any length."""

    _name = "decimal"
    _whitespace = "collapse"
    accepted_types = [_Decimal, float, str]


class Float(BuiltinType):
    """Numbers of 32 bits, as Python's float."""

    _name = "float"
    _whitespace = "collapse"
    accepted_types = [float, _Decimal, str]

    def _read(self, text: str) -> float:
        return float(text)


class Double(BuiltinType):
    """Numbers of 64 bits."""

    _name = "double"
    _whitespace = "collapse"
    accepted_types = [_Decimal, float, str]

    def _read(self, text: str) -> float:
        return float(text)


class Duration(BuiltinType):
    """Spans of time: `timedelta`, or `isodate.Duration` if there are months or years."""

    _name = "duration"
    _whitespace = "collapse"

    @property
    def accepted_types(self) -> list[type]:
        """The classes of values."""
        import isodate

        return [isodate.Duration, datetime.timedelta, str]

    def _write(self, value: Any) -> str:
        # A text is written in its shortest form.
        return WRITE["duration"](self._read(value) if isinstance(value, str) else value)


class DateTime(BuiltinType):
    """Moments; a date alone is its midnight."""

    _name = "dateTime"
    _whitespace = "collapse"
    accepted_types = [datetime.datetime, str]


class Time(BuiltinType):
    """Times of the day."""

    _name = "time"
    _whitespace = "collapse"
    accepted_types = [datetime.time, str]


class Date(BuiltinType):
    """Days; a zone is dropped, since `datetime.date` has none."""

    _name = "date"
    _whitespace = "collapse"
    accepted_types = [datetime.date, str]


class _Recurring(BuiltinType):
    """Parts of dates: tuples of numbers, and the zone or None at the end."""

    _whitespace = "collapse"
    accepted_types = [datetime.date, str]


class gYearMonth(_Recurring):
    """A month of a year: (year, month, zone)."""

    _name = "gYearMonth"


class gYear(_Recurring):
    """A year: (year, zone)."""

    _name = "gYear"


class gMonthDay(_Recurring):
    """A day of each year: (month, day, zone)."""

    _name = "gMonthDay"


class gDay(_Recurring):
    """A day of each month: (day, zone)."""

    _name = "gDay"


class gMonth(_Recurring):
    """A month of each year: (month, zone)."""

    _name = "gMonth"


class HexBinary(BuiltinType):
    """Bytes in hexadecimal digits; inside messages bytes, here the text."""

    _name = "hexBinary"
    accepted_types = [str]

    def _write(self, value: Any) -> Any:
        return value


class Base64Binary(BuiltinType):
    """Bytes; text is taken as base64 already."""

    _name = "base64Binary"
    accepted_types = [str]

    def _write(self, value: Any) -> Any:
        return value if isinstance(value, str) else base64.b64encode(value)

    def _read(self, text: str | bytes) -> bytes:
        return base64.b64decode(text)


class AnyURI(BuiltinType):
    """Addresses."""

    _name = "anyURI"
    _whitespace = "collapse"
    accepted_types = [str]


class QName(BuiltinType):
    """Names with a prefix."""

    _name = "QName"
    _whitespace = "collapse"
    accepted_types = [str]


class Notation(BuiltinType):
    """Names of notations."""

    _name = "NOTATION"
    accepted_types = [str]


class NormalizedString(String):
    """Text without line breaks and tabs."""

    _name = "normalizedString"
    _whitespace = "replace"


class Token(NormalizedString):
    """Text without white space at its ends."""

    _name = "token"
    _whitespace = "collapse"


class Language(Token):
    """Codes of languages."""

    _name = "language"


class NmToken(Token):
    """Tokens of name characters."""

    _name = "NMTOKEN"


class NmTokens(NmToken):
    """Lists of tokens, as one text."""

    _name = "NMTOKENS"


class Name(Token):
    """Names of XML."""

    _name = "Name"


class NCName(Name):
    """Names without a colon."""

    _name = "NCName"


class ID(NCName):
    """Identifiers of elements."""

    _name = "ID"


class IDREF(NCName):
    """References to identifiers."""

    _name = "IDREF"


class IDREFS(IDREF):
    """Lists of references, as one text."""

    _name = "IDREFS"


class Entity(NCName):
    """Names of entities."""

    _name = "ENTITY"


class Entities(Entity):
    """Lists of names of entities, as one text."""

    _name = "ENTITIES"


class Integer(Decimal):
    """Whole numbers of any length."""

    _name = "integer"
    accepted_types = [int, float, str]

    def _write(self, value: Any) -> str:
        return str(value)

    def _read(self, text: str) -> Any:
        return int(text)


class NonPositiveInteger(Integer):
    """Whole numbers up to 0."""

    _name = "nonPositiveInteger"


class NegativeInteger(Integer):
    """Whole numbers below 0."""

    _name = "negativeInteger"


class Long(Integer):
    """Whole numbers of 64 bits."""

    _name = "long"


class Int(Long):
    """Whole numbers of 32 bits."""

    _name = "int"


class Short(Int):
    """Whole numbers of 16 bits."""

    _name = "short"


class Byte(Short):
    """Whole numbers of 8 bits."""

    _name = "byte"


class NonNegativeInteger(Integer):
    """Whole numbers from 0."""

    _name = "nonNegativeInteger"


class UnsignedLong(NonNegativeInteger):
    """Whole numbers of 64 bits from 0."""

    _name = "unsignedLong"


class UnsignedInt(UnsignedLong):
    """Whole numbers of 32 bits from 0."""

    _name = "unsignedInt"


class UnsignedShort(UnsignedInt):
    """Whole numbers of 16 bits from 0."""

    _name = "unsignedShort"


class UnsignedByte(UnsignedShort):
    """Whole numbers of 8 bits from 0."""

    _name = "unsignedByte"


class PositiveInteger(NonNegativeInteger):
    """Whole numbers from 1."""

    _name = "positiveInteger"


def _named(base: type[AnyType]) -> dict[str, type[AnyType]]:
    found = {base._name: base} if "_name" in vars(base) else {}
    for derived in base.__subclasses__():
        if derived.__module__ == __name__:
            found.update(_named(derived))
    return found


#: The classes by their names in XSD.
BUILTINS: dict[str, type[AnyType]] = {
    "anyType": AnyType,
    "anySimpleType": AnySimpleType,
    **_named(BuiltinType),
}


def builtin(name: str) -> AnyType:
    """The type of a local name in XSD; what XSD derives further counts as text."""
    kind = BUILTINS.get(name, String)
    return kind(xsd_ns("anyType") if kind is AnyType else None, is_global=True)
