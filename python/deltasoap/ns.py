"""The namespaces of the specifications that SOAP builds on."""

from __future__ import annotations

SOAP_11 = "http://schemas.xmlsoap.org/wsdl/soap/"
SOAP_12 = "http://schemas.xmlsoap.org/wsdl/soap12/"
SOAP_ENV_11 = "http://schemas.xmlsoap.org/soap/envelope/"
SOAP_ENV_12 = "http://www.w3.org/2003/05/soap-envelope"
SOAP_ENC_11 = "http://schemas.xmlsoap.org/soap/encoding/"

XML = "http://www.w3.org/XML/1998/namespace"
XSD = "http://www.w3.org/2001/XMLSchema"
XSI = "http://www.w3.org/2001/XMLSchema-instance"

WSDL = "http://schemas.xmlsoap.org/wsdl/"
HTTP = "http://schemas.xmlsoap.org/wsdl/http/"
MIME = "http://schemas.xmlsoap.org/wsdl/mime/"

WSA = "http://www.w3.org/2005/08/addressing"
XOP = "http://www.w3.org/2004/08/xop/include"

DS = "http://www.w3.org/2000/09/xmldsig#"
_WSS = "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-"
WSSE = f"{_WSS}wssecurity-secext-1.0.xsd"
WSU = f"{_WSS}wssecurity-utility-1.0.xsd"

NAMESPACE_TO_PREFIX = {XSD: "xsd"}
