"""Types built in Python as the text of schemas."""

from __future__ import annotations

from lxml import etree

from deltasoap import xsd
from deltasoap.xsd.text import Writer


def documents(kind: xsd.ComplexType) -> tuple[str, list[etree._Element]]:
    """The name of a type and its schemas, each of which lxml accepts by itself if it can."""
    writer = Writer()
    name = writer.complex(kind)
    return name, [etree.fromstring(text) for text in writer.documents()]


def accepts(kind: xsd.ComplexType, message: str) -> bool:
    """Whether lxml's validator takes a message as an element of the type."""
    name, (schema,) = documents(kind)
    local = name.rpartition("}")[2]
    prefix = f"n0:{local}" if name.startswith("{") else local
    element = etree.SubElement(schema, "{http://www.w3.org/2001/XMLSchema}element")
    element.attrib.update({"name": "root", "type": prefix})
    return etree.XMLSchema(schema).validate(etree.fromstring(message))


def test_a_type_of_one_namespace() -> None:
    kind = xsd.ComplexType(
        [
            xsd.Element("{urn:a}q", xsd.Int(), nillable=True),
            xsd.Element("u", xsd.ListType(xsd.Int()), min_occurs=0, max_occurs=2),
            xsd.Choice(
                [xsd.Element("{urn:a}x", xsd.Date()), xsd.Element("{urn:a}y", xsd.String())]
            ),
        ],
        [xsd.Attribute("at", xsd.UnionType([xsd.Int(), xsd.String()]), required=True)],
    )
    good = '<r:root xmlns:r="urn:a" at="1"><r:q>1</r:q><u>1 2</u><r:y/></r:root>'
    assert accepts(kind, good)
    assert not accepts(kind, good.replace(' at="1"', ""))
    assert not accepts(kind, good.replace("<r:y/>", "<r:x/>"))
    assert not accepts(kind, good.replace("u>", "r:u>"))


def test_a_type_that_contains_itself() -> None:
    kind = xsd.ComplexType([xsd.Element("child", None, min_occurs=0)])
    kind._element[0].type = kind
    assert accepts(kind, "<root><child><child/></child></root>")
    assert not accepts(kind, "<root><other/></root>")


def test_elements_of_another_namespace_stand_in_groups_of_its_schema() -> None:
    kind = xsd.ComplexType(
        [
            xsd.Element("{urn:a}x", xsd.Int()),
            xsd.Element("{urn:a}y", xsd.Int()),
            xsd.Element("{urn:b}z", xsd.Int()),
        ]
    )
    name, schemas = documents(kind)
    assert name == "{urn:a}Type.1"
    targets = {each.get("targetNamespace"): each for each in schemas}
    (group,) = targets["urn:b"].iter("{*}group")
    assert [each.get("name") for each in group.iter("{*}element")] == ["z"]
    (reference,) = targets["urn:a"].iter("{*}group")
    assert (reference.get("ref") or "").partition(":")[2] == group.get("name")
    assert [each.get("namespace") for each in targets["urn:a"].iter("{*}import")] == ["urn:b"]
