"""Texts of XSD's own types as Python values and back."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

import pytest

from deltasoap import xsd
from deltasoap.xsd.builtins import BUILTINS, ParseError, builtin

UTC = datetime.timezone.utc


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (xsd.Boolean, " true\n", True),
        (xsd.Boolean, "0", False),
        (xsd.Decimal, "0.10", Decimal("0.10")),
        (xsd.Integer, "12345678901234567890", 12345678901234567890),
        (xsd.Double, "-INF", float("-inf")),
        (xsd.DateTime, "2024-02-29T24:00:00Z", datetime.datetime(2024, 3, 1, tzinfo=UTC)),
        (
            xsd.DateTime,
            "2024-02-29T01:02:03.1234567",
            datetime.datetime(2024, 2, 29, 1, 2, 3, 123456),
        ),
        (xsd.Date, "2024-02-29+02:00", datetime.date(2024, 2, 29)),
        (
            xsd.Time,
            "10:00:00-00:30",
            datetime.time(10, tzinfo=datetime.timezone(-datetime.timedelta(minutes=30))),
        ),
        (xsd.gMonthDay, "--02-29Z", (2, 29, UTC)),
        (xsd.Token, " a\tb ", "a b"),
        (xsd.Base64Binary, "aGk=", b"hi"),
        (xsd.Duration, "PT-5M", datetime.timedelta(minutes=-5)),
    ],
)
def test_reading(kind: Any, text: str, value: Any) -> None:
    assert kind().pythonvalue(text) == value


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        (xsd.Boolean, "false", "false"),
        (xsd.Decimal, Decimal("1E+3"), "1000"),
        (xsd.Double, float("inf"), "INF"),
        (xsd.Double, float("nan"), "NaN"),
        (xsd.DateTime, datetime.datetime(2024, 1, 1, tzinfo=UTC), "2024-01-01T00:00:00Z"),
        (xsd.gYear, (2024, UTC), "2024Z"),
        (xsd.String, b"x", "x"),
        (xsd.String, None, ""),
        (xsd.Duration, datetime.timedelta(days=1), "P1D"),
    ],
)
def test_writing(kind: Any, value: Any, text: str) -> None:
    assert kind().xmlvalue(value) == text


@pytest.mark.parametrize(
    ("kind", "text"),
    [(xsd.DateTime, "yesterday"), (xsd.Date, "-2001-10-26"), (xsd.gMonth, "12")],
)
def test_a_text_of_another_type_is_an_error(kind: Any, text: str) -> None:
    with pytest.raises(ParseError, match=f"'{text}' is not an xsd:{kind._name}"):
        kind().pythonvalue(text)


def test_collections_are_no_single_values() -> None:
    with pytest.raises(ValueError, match="doesn't accept collections"):
        xsd.String().xmlvalue(["a"])


def test_every_type_of_xsd_has_a_class() -> None:
    assert len(BUILTINS) == 46
    assert builtin("unsignedShort").signature() == "xsd:unsignedShort"
    assert isinstance(builtin("dateTimeStamp"), xsd.String)


def test_lists_and_unions() -> None:
    assert xsd.ListType(xsd.Int()).pythonvalue("1 2") == [1, 2]
    assert xsd.ListType(xsd.Int()).xmlvalue([1, 2]) == "1 2"
    assert xsd.UnionType([xsd.Int(), xsd.Long()]).pythonvalue("5") == 5
    assert xsd.UnionType([xsd.Int(), xsd.String()]).pythonvalue("5") == "5"
