"""Small things for values."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from deltasoap import helpers
from deltasoap.helpers import Nil, create_xml_soap_map, guess_xsd_type

__all__ = ["Nil", "create_xml_soap_map", "guess_xsd_type", "serialize_object"]


def serialize_object(obj: Any, target_cls: Any = OrderedDict) -> Any:
    """A value as dicts and lists; `target_cls` is the class of the dicts."""
    return helpers.serialize_object(obj, target_cls)
