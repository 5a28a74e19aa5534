"""Bindings."""

from deltasoap.wsdl.bindings import Soap11Binding, Soap12Binding, SoapBinding, SoapOperation
from deltasoap.wsdl.http import HttpGetBinding, HttpPostBinding

__all__ = [
    "HttpGetBinding",
    "HttpPostBinding",
    "Soap11Binding",
    "Soap12Binding",
    "SoapBinding",
    "SoapOperation",
]
