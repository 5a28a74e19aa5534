"""Bindings of SOAP."""

from deltasoap.wsdl.bindings import Soap11Binding, Soap12Binding, SoapBinding, SoapOperation

__all__ = [
    "Soap11Binding",
    "Soap12Binding",
    "SoapBinding",
    "SoapOperation",
]
