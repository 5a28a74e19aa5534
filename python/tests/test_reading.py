"""How messages are read that follow their schema, more or less, and how values are written."""

from __future__ import annotations

import datetime
from typing import Any

import pytest
from lxml import etree

from deltasoap import exceptions, ns, xsd
from deltasoap.settings import Settings

SCHEMA = """
<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:t="urn:t" targetNamespace="urn:t"
    elementFormDefault="qualified">
  <xs:element name="row" type="t:Row"/>
  <xs:element name="note" type="xs:string"/>
  <xs:complexType name="Row">
    <xs:sequence>
      <xs:element name="number" type="xs:int"/>
      <xs:element name="day" type="xs:date"/>
      <xs:element name="words" type="t:Words" minOccurs="0"/>
      <xs:element name="inner" type="t:Inner" minOccurs="0"/>
      <xs:element name="any" type="xs:anyType" minOccurs="0"/>
    </xs:sequence>
    <xs:attribute name="id" type="xs:int" use="required"/>
    <xs:attribute name="codes" type="t:Codes"/>
  </xs:complexType>
  <xs:complexType name="Long">
    <xs:complexContent>
      <xs:extension base="t:Row">
        <xs:sequence><xs:element name="more" type="xs:string" minOccurs="0"/></xs:sequence>
      </xs:extension>
    </xs:complexContent>
  </xs:complexType>
  <xs:complexType name="Inner">
    <xs:sequence><xs:element name="text" type="xs:string" minOccurs="0"/></xs:sequence>
  </xs:complexType>
  <xs:complexType name="Nothing" abstract="true">
    <xs:sequence><xs:element name="x" type="xs:int"/></xs:sequence>
  </xs:complexType>
  <xs:simpleType name="Words"><xs:list itemType="xs:string"/></xs:simpleType>
  <xs:simpleType name="Codes"><xs:list itemType="xs:int"/></xs:simpleType>
  <xs:element name="box">
    <xs:complexType>
      <xs:sequence>
        <xs:any processContents="lax" minOccurs="0" maxOccurs="unbounded"/>
      </xs:sequence>
      <xs:anyAttribute/>
    </xs:complexType>
  </xs:element>
  <xs:element name="table">
    <xs:complexType>
      <xs:sequence><xs:element ref="xs:schema"/><xs:any/></xs:sequence>
    </xs:complexType>
  </xs:element>
</xs:schema>
"""


def schema(**settings: Any) -> xsd.Schema:
    """The schema under these settings."""
    return xsd.Schema(etree.fromstring(SCHEMA), settings=Settings(**settings))


def read(text: str, **settings: Any) -> Any:
    """The value of a row."""
    made = schema(**settings)
    node = etree.fromstring(f'<row xmlns="urn:t" xmlns:x="{xsi}" {text}</row>')
    return made.get_element("ns0:row").parse(node, made)


xsi = "http://www.w3.org/2001/XMLSchema-instance"
FULL = 'id="1"><number>5</number><day>2024-02-29</day>'


def test_a_row_that_follows_the_schema() -> None:
    row = read(f"codes='1 2' {FULL}<words>a b</words><inner><text/></inner>")
    assert (row.number, row.day, row.id) == (5, datetime.date(2024, 2, 29), 1)
    assert row.codes == [1, 2] and row.words == ["a", "b"]
    # As in zeep, an element without text is None, and so is one without anything.
    assert row.inner.text is None
    assert read(f"{FULL}<inner/>").inner is None


def test_what_is_missing_or_no_value_is_none() -> None:
    row = read("><number/>")
    assert (row.number, row.day, row.id) == (None, None, None)
    assert read('id="x"><number>many</number><day>0000-00-00</day>').day is None


def test_elements_of_no_namespace_count_as_those_of_the_schema() -> None:
    assert read('id="1"><number xmlns="">5</number><day>2024-02-29</day>').number == 5


def test_unknown_elements_are_an_error_unless_settings_say_otherwise() -> None:
    with pytest.raises(exceptions.XMLParseError, match="other"):
        read(f"{FULL}<other/>")
    row = read(f"{FULL}<other/>", strict=False)
    assert [each.tag for each in row._raw_elements] == ["{urn:t}other"]


def test_another_order_is_an_error_unless_settings_say_otherwise() -> None:
    swapped = 'id="1"><day>2024-02-29</day><number>5</number>'
    with pytest.raises(exceptions.XMLParseError, match="number"):
        read(swapped)
    assert read(swapped, xsd_ignore_sequence_order=True).number == 5


def test_the_type_that_an_element_names_counts() -> None:
    row = read(f'x:type="Long" {FULL}<more>m</more>')
    assert type(row).__name__ == "Long" and row.more == "m"


def test_any_type_is_read_by_its_name_or_as_it_is() -> None:
    assert read(f'{FULL}<any x:type="xs:int" xmlns:xs="{ns.XSD}">5</any>').any == 5
    assert read(f"{FULL}<any>5</any>").any == "5"
    assert [each.tag for each in read(f"{FULL}<any><a/></any>").any] == ["{urn:t}a"]


def test_any_type_is_written_with_the_type_of_an_object() -> None:
    made = schema()
    row = made.get_element("ns0:row")
    node = etree.Element("root")
    value = row(number=1, day="2024-01-01", id=1, any=xsd.AnyObject(xsd.Int(), 5))
    row.render(node, value)
    (written,) = node.iter("{urn:t}any")
    kind = written.get(f"{{{xsi}}}type") or ""
    assert written.text == "5" and written.nsmap[kind.partition(":")[0]] == ns.XSD
    value.any = True
    node = etree.Element("root")
    row.render(node, value)
    assert node.findtext(".//{urn:t}any") == "true"


def test_wildcards_take_elements_and_give_values_of_known_ones() -> None:
    made = schema()
    box, note = made.get_element("ns0:box"), made.get_element("ns0:note")
    other = etree.fromstring('<o:other xmlns:o="urn:o" a="o:b">t</o:other>')
    value = box(_value_1=[xsd.AnyObject(note, "n"), other], _attr_1={"{urn:a}x": "y"})
    node = etree.Element("root")
    box.render(node, value)
    # The prefix in the attribute keeps its meaning.
    assert node.find(".//{urn:o}other").nsmap["o"] == "urn:o"  # type: ignore[union-attr]
    back = box.parse(node[0], made)
    assert back._value_1[0] == "n" and back._value_1[1].tag == "{urn:o}other"
    assert back._attr_1 == {"{urn:a}x": "y"}
    with pytest.raises(TypeError, match="say which element it is"):
        box.render(node, box(_value_1=[object()]))


def test_data_sets_bring_their_schema() -> None:
    made = schema()
    node = etree.fromstring(
        '<table xmlns="urn:t"><s:schema xmlns:s="http://www.w3.org/2001/XMLSchema">'
        '<s:element name="set"><s:complexType><s:sequence><s:element name="n" type="s:int"/>'
        "</s:sequence></s:complexType></s:element></s:schema>"
        '<d:diffgram xmlns:d="urn:d"><set xmlns=""><n>5</n></set></d:diffgram></table>'
    )
    table = made.get_element("ns0:table").parse(node, made)
    assert table._value_1.n == 5
    assert table.schema.get_element("set").name == "set"


def test_abstract_types_have_no_values() -> None:
    kind = schema().get_type("ns0:Nothing")
    with pytest.raises(exceptions.ValidationError, match="is abstract: pass a value of a type"):
        kind.render(etree.Element("a"), kind(x=1))


def test_errors_lead_to_their_place() -> None:
    made = schema()
    row = made.get_element("ns0:row")
    with pytest.raises(exceptions.ValidationError) as caught:
        row.render(etree.Element("a"), row(number=1, id=1))
    assert str(caught.value) == "Missing element day (row.day)"
    with pytest.raises(exceptions.ValidationError, match=r"Value is required \(row\.id\)"):
        row.render(etree.Element("a"), row(number=1, day="2024-01-01"))
