"""Namespaces."""

from deltasoap.ns import DS
from deltasoap.ns import HTTP
from deltasoap.ns import MIME
from deltasoap.ns import NAMESPACE_TO_PREFIX
from deltasoap.ns import SOAP_11
from deltasoap.ns import SOAP_12
from deltasoap.ns import SOAP_ENV_11
from deltasoap.ns import SOAP_ENV_12
from deltasoap.ns import WSA
from deltasoap.ns import WSDL
from deltasoap.ns import WSSE
from deltasoap.ns import WSU
from deltasoap.ns import XSD
from deltasoap.ns import XSI

__all__ = [
    "DS",
    "HTTP",
    "MIME",
    "NAMESPACE_TO_PREFIX",
    "SOAP_11",
    "SOAP_12",
    "SOAP_ENV_11",
    "SOAP_ENV_12",
    "WSA",
    "WSDL",
    "WSSE",
    "WSU",
    "XSD",
    "XSI",
]
