"""Values of SOAP encoding that several places of a message share, also within themselves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import deltasoap

WSDL = """\
<definitions xmlns="http://schemas.xmlsoap.org/wsdl/" xmlns:t="urn:nodes"
    xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/" xmlns:xs="http://www.w3.org/2001/XMLSchema"
    targetNamespace="urn:nodes" name="Nodes">
  <types><xs:schema targetNamespace="urn:nodes">
    <xs:complexType name="Node"><xs:sequence>
      <xs:element name="name" type="xs:string"/>
      <xs:element name="first" type="t:Node" nillable="true"/>
      <xs:element name="second" type="t:Node" nillable="true"/>
    </xs:sequence></xs:complexType>
  </xs:schema></types>
  <message name="Get"/><message name="Got"><part name="node" type="t:Node"/></message>
  <portType name="Nodes"><operation name="get">
    <input message="t:Get"/><output message="t:Got"/>
  </operation></portType>
  <binding name="Nodes" type="t:Nodes">
    <soap:binding style="rpc" transport="http://schemas.xmlsoap.org/soap/http"/>
    <operation name="get"><soap:operation soapAction=""/>
      <input><soap:body use="encoded" namespace="urn:nodes"
        encodingStyle="http://schemas.xmlsoap.org/soap/encoding/"/></input>
      <output><soap:body use="encoded" namespace="urn:nodes"
        encodingStyle="http://schemas.xmlsoap.org/soap/encoding/"/></output>
    </operation>
  </binding>
  <service name="Nodes"><port name="Nodes" binding="t:Nodes">
    <soap:address location="http://127.0.0.1:9/"/>
  </port></service>
</definitions>
"""

ENVELOPE = """\
<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body
    s:encodingStyle="http://schemas.xmlsoap.org/soap/encoding/" xmlns:t="urn:nodes">
  <t:getResponse><node href="#n0"/></t:getResponse>{nodes}</s:Body></s:Envelope>
"""


class Answering(deltasoap.HttpTransport):
    """A transport that always has the same answer."""

    def __init__(self, nodes: str) -> None:
        super().__init__()
        self.nodes = nodes

    def post(self, address: str, message: Any, headers: Any) -> Any:
        from deltasoap.http import HttpResponse

        body = ENVELOPE.format(nodes=self.nodes).encode()
        return HttpResponse(200, [("content-type", "text/xml; charset=utf-8")], body)


def node(name: str, first: str | None, second: str | None) -> str:
    nil = 'xmlns:i="http://www.w3.org/2001/XMLSchema-instance" i:nil="true"'
    parts = [f'href="#{each}"' if each else nil for each in (first, second)]
    return f'<n id="{name}"><name>{name}</name><first {parts[0]}/><second {parts[1]}/></n>'


@pytest.fixture
def wsdl(tmp_path: Path) -> str:
    path = tmp_path / "nodes.wsdl"
    path.write_text(WSDL)
    return str(path)


def get(wsdl: str, nodes: str) -> Any:
    return deltasoap.Client(wsdl, transport=Answering(nodes)).service.get()


def test_a_value_of_several_places_is_one_object(wsdl: str) -> None:
    value = get(wsdl, node("n0", "n1", "n1") + node("n1", None, None))
    assert value.first is value.second
    assert (value.name, value.first.name, value.first.first) == ("n0", "n1", None)


def test_a_value_within_itself_ends_there(wsdl: str) -> None:
    value = get(wsdl, node("n0", "n1", "n0") + node("n1", "n0", "n1"))
    assert (value.name, value.first.name) == ("n0", "n1")
    assert value.second is None
    assert value.first.first is None
    assert value.first.second is None


def test_each_value_is_converted_once(wsdl: str) -> None:
    # Without sharing, these would be 2 ** 60 objects.
    nodes = [node(f"n{each}", f"n{each + 1}", f"n{each + 1}") for each in range(60)]
    value = get(wsdl, "".join(nodes) + node("n60", None, None))
    for each in range(60):
        assert value.first is value.second
        value = value.first
        assert value.name == f"n{each + 1}"
