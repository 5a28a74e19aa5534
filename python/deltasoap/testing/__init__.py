"""Tests of programs that use SOAP services: mocks of a WSDL, and recorded answers.

With pytest, the fixtures `soap_mock` and `soap_cassette` are there once this package is installed:

    def test_an_order_is_confirmed(soap_mock):
        mock = soap_mock("shop.wsdl")
        mock.reply("Order", number=5)
        assert order(mock.wsdl, "Ada") == 5
        assert mock.requests[0].values.customer == "Ada"
"""

from __future__ import annotations

from deltasoap.testing.cassettes import Cassette, CassetteError
from deltasoap.testing.mocks import Mock, Request

__all__ = ["Cassette", "CassetteError", "Mock", "Request"]
