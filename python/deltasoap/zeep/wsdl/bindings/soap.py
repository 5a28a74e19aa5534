"""Bindings of SOAP."""

from deltasoap.wsdl.bindings import Soap11Binding
from deltasoap.wsdl.bindings import Soap12Binding
from deltasoap.wsdl.bindings import SoapBinding
from deltasoap.wsdl.bindings import SoapOperation

__all__ = [
    "Soap11Binding",
    "Soap12Binding",
    "SoapBinding",
    "SoapOperation",
]
