"""Values of complex types: making, printing, comparing and copying them."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest
from lxml import etree

from deltasoap import xsd
from deltasoap.helpers import serialize_object

URN = "{urn:example}"


@pytest.fixture
def person() -> Any:
    """A type with a list, a nested type and an attribute."""
    address = xsd.ComplexType([xsd.Element(f"{URN}street", xsd.String())], qname=_qname("Address"))
    return xsd.ComplexType(
        [
            xsd.Element(f"{URN}name", xsd.String()),
            xsd.Element(f"{URN}phone", xsd.String(), min_occurs=0, max_occurs="unbounded"),
            xsd.Element(f"{URN}address", address, min_occurs=0),
        ],
        [xsd.Attribute("id", xsd.Int())],
        qname=_qname("Person"),
    )


def _qname(local: str) -> Any:
    return etree.QName("urn:example", local)


def test_fields_are_attributes_and_items(person: Any) -> None:
    value = person("Ada", id=7)
    assert (value.name, value["id"], value.phone, value.address) == ("Ada", 7, [], None)
    value.name = "Grace"
    value["id"] = 8
    assert dict(value.__values__) == {"name": "Grace", "phone": [], "address": None, "id": 8}
    assert "name" in value and list(value) == ["name", "phone", "address", "id"]
    del value["id"]
    assert not hasattr(value, "id")


def test_dicts_become_values_of_nested_types(person: Any) -> None:
    value = person(name="Ada", address={"street": "Main"})
    assert type(value.address).__name__ == "Address"
    assert value.address.street == "Main"
    assert serialize_object(value)["address"] == {"street": "Main"}


def test_values_print_as_fields(person: Any) -> None:
    value = person(name="Ada", phone=["1", "2"], address={"street": "Main"})
    assert repr(value) == (
        "Person(name='Ada', phone=['1', '2'], address=Address(street='Main'), id=None)"
    )
    assert str(value) == (
        "{\n    'name': 'Ada',\n    'phone': [\n        '1',\n        '2'\n    ],\n"
        "    'address': {\n        'street': 'Main'\n    },\n    'id': None\n}"
    )


def test_values_are_equal_by_class_and_fields(person: Any) -> None:
    assert person(name="Ada") == person(name="Ada")
    assert person(name="Ada") != person(name="Grace")
    assert person(name="Ada") != {"name": "Ada"}


def test_copies_and_pickles_keep_the_fields(person: Any) -> None:
    value = person(name="Ada", phone=["1"])
    twin = copy.deepcopy(value)
    twin.phone.append("2")
    assert value.phone == ["1"] and type(twin) is type(value)
    loaded = pickle.loads(pickle.dumps(value))
    assert loaded.name == "Ada" and loaded.__values__ == value.__values__


def test_a_value_that_contains_itself(person: Any) -> None:
    value = person(name="Ada")
    value.address = [value]
    assert repr(value) == "Person(name='Ada', phone=[], address=[...], id=None)"
    assert "    'address': [\n        ...\n    ]," in str(value)
    copied = copy.deepcopy(value)
    assert copied.address[0] is copied and copied is not value


def test_a_copy_has_fields_of_its_own(person: Any) -> None:
    value = person(name="Ada")
    copied = copy.copy(value)
    assert copied == value
    copied.name = "Grace"
    assert value.name == "Ada"


def test_types_print_their_name_and_fields() -> None:
    schema = xsd.Schema(
        etree.fromstring(
            '<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" targetNamespace="urn:example">'
            '<xs:element name="flag"/><xs:complexType name="Flag"><xs:sequence>'
            '<xs:element name="on" type="xs:boolean"/></xs:sequence></xs:complexType></xs:schema>'
        )
    )
    assert str(schema.get_type(f"{URN}Flag")) == "Flag({urn:example}Flag(on: xsd:boolean))"


def test_markers_stay_themselves() -> None:
    for marker in (xsd.Nil, xsd.SkipValue, xsd.NotSet):
        assert copy.deepcopy(marker) is marker
    assert repr(xsd.Nil) == "Nil"


def test_an_unknown_argument_names_the_signature(person: Any) -> None:
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'nam'.*name: xsd:string"):
        person(nam="Ada")
    with pytest.raises(TypeError, match="at most 4 positional arguments"):
        person("Ada", [], None, 1, 2)


def test_a_choice_takes_one_option() -> None:
    kind = xsd.ComplexType(
        xsd.Choice([xsd.Element("a", xsd.Int()), xsd.Sequence([xsd.Element("b", xsd.Int())])])
    )
    assert kind(b=0).__values__ == {"b": 0, "a": None}
    with pytest.raises(TypeError, match="'b'"):
        kind(a=1, b=2)
    with pytest.raises(TypeError, match="only work with keyword arguments"):
        kind(1)


def test_a_choice_that_repeats_takes_dicts() -> None:
    kind = xsd.ComplexType(
        xsd.Sequence(
            [
                xsd.Choice(
                    [xsd.Element("a", xsd.Int()), xsd.Element("b", xsd.Int())],
                    max_occurs="unbounded",
                )
            ]
        )
    )
    assert kind(_value_1=[{"b": 1}, {"a": 2}])._value_1 == [{"b": 1}, {"a": 2}]
    assert kind(_value_1={"a": 2})._value_1 == [{"a": 2}]
    with pytest.raises(TypeError, match="No complete"):
        kind(_value_1=[{"c": 1}])


def test_signatures_name_fields_and_types(person: Any) -> None:
    assert person.signature() == (
        "{urn:example}Person(name: xsd:string, phone: xsd:string[], "
        "address: {street: xsd:string}, id: xsd:int)"
    )


def test_an_element_and_an_attribute_of_one_name() -> None:
    kind = xsd.ComplexType(
        [xsd.Element("id", xsd.Int()), xsd.Element("id", xsd.Int())],
        [xsd.Attribute("id", xsd.Int())],
    )
    assert list(kind(1, 2, 3)) == ["id", "id__1", "attr__id"]
