"""Simple values as text and back, for the types that the engine does not convert by itself.

``READ`` and ``WRITE`` are the engine's tables: by the local name of a built-in type of XML Schema,
a function from the text of a message to a value, and one from a value to its text. They are what
the types in :mod:`deltasoap.xsd` use, too.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any


class Mark:
    """A value that stands for something that no value can be."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return self._name

    def __copy__(self) -> Mark:
        return self

    def __deepcopy__(self, memo: object) -> Mark:
        return self

    def __bool__(self) -> bool:
        return False


NIL = Mark("Nil")
"""Writes ``xsi:nil``."""

SKIP = Mark("SkipValue")
"""Writes nothing, not even an element that is required."""

_DATE = re.compile(r"(-?\d{4,})-(\d\d)-(\d\d)(Z|[-+]\d\d:?\d\d)?")
_TIME = re.compile(r"(\d\d):(\d\d):(\d\d)(?:\.(\d+))?(Z|[-+]\d\d:?\d\d)?")
_MIDNIGHT = datetime.timedelta(days=1)


def zone(text: str | None) -> datetime.tzinfo | None:
    """Return the zone of a text: ``Z``, ``+01:00``, or none."""
    if not text:
        return None
    if text == "Z":
        return datetime.timezone.utc
    minutes = int(text[1:3]) * 60 + int(text[-2:])
    return datetime.timezone(datetime.timedelta(minutes=-minutes if text[0] == "-" else minutes))


def zone_text(value: datetime.tzinfo | None) -> str:
    """Return the text of a zone."""
    if value is None:
        return ""
    offset = value.utcoffset(None)
    if offset is None:
        return ""
    minutes = int(offset.total_seconds()) // 60
    if minutes == 0:
        return "Z"
    return f"{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02}:{abs(minutes) % 60:02}"


def _clock(match: re.Match[str]) -> tuple[int, int, int, int, datetime.tzinfo | None]:
    hour, minute, second, fraction, offset = match.groups()
    microsecond = int((fraction or "0")[:6].ljust(6, "0"))
    return int(hour), int(minute), int(second), microsecond, zone(offset)


def read_date(text: str) -> datetime.date:
    """Read an ``xsd:date``; its zone, if it has one, is left out."""
    match = _DATE.fullmatch(text.strip())
    if not match:
        raise ValueError(f"{text!r} is no date")
    return datetime.date(int(match[1]), int(match[2]), int(match[3]))


def read_time(text: str) -> datetime.time:
    """Read an ``xsd:time``; digits after the microseconds are left out."""
    match = _TIME.fullmatch(text.strip())
    if not match:
        raise ValueError(f"{text!r} is no time")
    hour, minute, second, microsecond, tz = _clock(match)
    return datetime.time(hour % 24, minute, second, microsecond, tz)


def read_datetime(text: str) -> datetime.datetime:
    """Read an ``xsd:dateTime``; digits after the microseconds are left out."""
    date_text, _, time_text = text.strip().replace(" ", "T", 1).partition("T")
    date, clock = _DATE.fullmatch(date_text), _TIME.fullmatch(time_text or "00:00:00")
    if not date or not clock:
        raise ValueError(f"{text!r} is no date and time")
    hour, minute, second, microsecond, tz = _clock(clock)
    day = datetime.datetime(
        int(date[1]), int(date[2]), int(date[3]), hour % 24, minute, second, microsecond, tz
    )
    return day + _MIDNIGHT if hour == 24 else day


def read_duration(text: str) -> Any:
    """Read an ``xsd:duration``: a ``timedelta``, or an ``isodate.Duration`` if it has months."""
    match = re.fullmatch(
        r"(-?)P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)D)?(?:T(-?)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?",
        text.strip(),
    )
    if not match:
        raise ValueError(f"{text!r} is no duration")
    sign, years, months, days, inner, hours, minutes, seconds = match.groups()
    whole, _, fraction = (seconds or "0").partition(".")
    rest = datetime.timedelta(
        days=int(days or 0),
        hours=int(hours or 0),
        minutes=int(minutes or 0),
        seconds=int(whole),
        microseconds=int(fraction[:6].ljust(6, "0")),
    )
    is_negative = bool(sign) != bool(inner)
    if years or months:
        import isodate

        value = isodate.Duration(years=int(years or 0), months=int(months or 0)) + rest
        return -value if is_negative else value
    return -rest if is_negative else rest


def _parts(pattern: str) -> Callable[[str], tuple[Any, ...]]:
    compiled = re.compile(pattern + r"(Z|[-+]\d\d:?\d\d)?")

    def read(text: str) -> tuple[Any, ...]:
        match = compiled.fullmatch(text.strip())
        if not match:
            raise ValueError(f"{text!r} is no such part of a date")
        *numbers, offset = match.groups()
        return (*(int(number) for number in numbers), zone(offset))

    return read


def _write_parts(form: str) -> Callable[[Any], str]:
    def write(value: Any) -> str:
        if isinstance(value, str):
            return value
        *numbers, tz = value
        return form.format(*numbers) + zone_text(tz)

    return write


def write_date(value: Any) -> str:
    """Return the text of a date."""
    return value if isinstance(value, str) else f"{value.year:04}-{value.month:02}-{value.day:02}"


def write_moment(value: Any) -> str:
    """Return the text of a time, or of a date and time."""
    text: str = value if isinstance(value, str) else value.isoformat()
    return text[:-6] + "Z" if text.endswith("+00:00") else text


def write_datetime(value: Any) -> str:
    """Return the text of a date and time; a date alone is its midnight."""
    if isinstance(value, datetime.date) and not isinstance(value, datetime.datetime):
        return write_date(value) + "T00:00:00"
    return write_moment(value)


def write_duration(value: Any) -> str:
    """Return the text of a ``timedelta`` or an ``isodate.Duration``."""
    if isinstance(value, str):
        return value
    if not isinstance(value, datetime.timedelta):
        import isodate

        return str(isodate.duration_isoformat(value))
    sign = "-" if value < datetime.timedelta(0) else ""
    value = abs(value)
    clock = ""
    hours, rest = divmod(value.seconds, 3600)
    minutes, seconds = divmod(rest, 60)
    if hours:
        clock += f"{hours}H"
    if minutes:
        clock += f"{minutes}M"
    if seconds or value.microseconds:
        fraction = f".{value.microseconds:06}".rstrip("0") if value.microseconds else ""
        clock += f"{seconds}{fraction}S"
    days = f"{value.days}D" if value.days else ""
    if not days and not clock:
        return "P0D"
    return f"{sign}P{days}{'T' + clock if clock else ''}"


def native(value: Any) -> Any:
    """Return a scalar of NumPy as an object of Python."""
    if value.dtype.kind in "mM":
        # Nanoseconds would become numbers.
        value = value.astype(f"{value.dtype.kind}8[us]") if not _has_days(value) else value
    return value.item()


def _has_days(value: Any) -> bool:
    return str(value.dtype) == "datetime64[D]"


def write_boolean(value: Any) -> str:
    """Return the text of a boolean; texts other than ``false`` and ``0`` are true."""
    return "true" if value and value not in ("false", "0") else "false"


def write_decimal(value: Any) -> str:
    """Return the text of a decimal, without an exponent."""
    if isinstance(value, Decimal):
        return f"{value:f}"
    if isinstance(value, float):
        return f"{Decimal(repr(value)):f}"
    return str(value)


def write_float(value: Any) -> str:
    """Return the text of a floating point number."""
    text = str(value)
    return {"inf": "INF", "-inf": "-INF", "nan": "NaN"}.get(text, text)


def write_string(value: Any) -> str:
    """Return the text of a string."""
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, (list, dict, set, tuple)):
        raise ValueError("The String type doesn't accept collections as value")
    return "" if value is None else str(value)


def write_base64(value: Any) -> str:
    """Return bytes in base64; a text is taken as base64 already."""
    import base64

    return value if isinstance(value, str) else base64.b64encode(bytes(value)).decode()


def write_hex(value: Any) -> str:
    """Return bytes in hexadecimal; a text is taken as it is."""
    return value if isinstance(value, str) else bytes(value).hex().upper()


def write_any(value: Any) -> str:
    """Return the text of a value whose type nobody says."""
    if isinstance(value, bool):
        return write_boolean(value)
    if isinstance(value, (datetime.date, datetime.time)):
        return write_moment(value)
    if isinstance(value, datetime.timedelta):
        return write_duration(value)
    if isinstance(value, Decimal):
        return write_decimal(value)
    return write_float(value) if isinstance(value, float) else write_string(value)


READ: dict[str, Callable[[str], Any]] = {
    "date": read_date,
    "time": read_time,
    "dateTime": read_datetime,
    "duration": read_duration,
    "gYear": _parts(r"(-?\d{4,})"),
    "gYearMonth": _parts(r"(-?\d{4,})-(\d\d)"),
    "gMonth": _parts(r"--(\d\d)"),
    "gMonthDay": _parts(r"--(\d\d)-(\d\d)"),
    "gDay": _parts(r"---(\d\d)"),
    "integer": int,
    "nonNegativeInteger": int,
    "positiveInteger": int,
    "nonPositiveInteger": int,
    "negativeInteger": int,
    "decimal": Decimal,
}

WRITE: dict[str, Callable[[Any], str]] = {
    "string": write_string,
    "boolean": write_boolean,
    "decimal": write_decimal,
    "float": write_float,
    "double": write_float,
    "date": write_date,
    "time": write_moment,
    "dateTime": write_datetime,
    "duration": write_duration,
    "gYear": _write_parts("{:04}"),
    "gYearMonth": _write_parts("{:04}-{:02}"),
    "gMonth": _write_parts("--{:02}"),
    "gMonthDay": _write_parts("--{:02}-{:02}"),
    "gDay": _write_parts("---{:02}"),
    "base64Binary": write_base64,
    "hexBinary": write_hex,
}
