"""Objects that sign requests and verify responses.

The body and, if there is one, the timestamp are signed. Algorithms are given by their URIs;
constants of xmlsec, which scripts for zeep pass, are understood too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from deltasoap.wsse import xmldsig

if TYPE_CHECKING:
    from lxml import etree


class MemorySignature:
    """Signs requests with a key and verifies responses with a certificate, both in PEM.

    :param password: the password of the key
    :param signature_method: RSA with SHA-1 unless given, as older services expect
    :param digest_method: SHA-1 unless given
    """

    _binary_token = False

    def __init__(
        self,
        key_data: bytes,
        cert_data: bytes,
        password: str | bytes | None = None,
        signature_method: Any = None,
        digest_method: Any = None,
    ) -> None:
        self.key_data = key_data
        self.cert_data = cert_data
        self.password = password
        self.signature_method = signature_method
        self.digest_method = digest_method

    def apply(self, envelope: etree._Element, headers: Any) -> tuple[etree._Element, Any]:
        """Sign a request."""
        _sign(
            envelope,
            self.key_data,
            self.cert_data,
            self.password,
            self.signature_method,
            self.digest_method,
            self._binary_token,
        )
        return envelope, headers

    def verify(self, envelope: etree._Element) -> etree._Element:
        """Check the signature of a response; raises SignatureVerificationFailed."""
        xmldsig.verify(envelope, self.cert_data)
        return envelope


class Signature(MemorySignature):
    """Signs and verifies with a key and a certificate in files of PEM."""

    def __init__(
        self,
        key_file: str,
        certfile: str,
        password: str | bytes | None = None,
        signature_method: Any = None,
        digest_method: Any = None,
    ) -> None:
        super().__init__(
            _read(key_file), _read(certfile), password, signature_method, digest_method
        )


class BinarySignature(Signature):
    """Signs with the certificate in a `BinarySecurityToken`, which the signature refers to."""

    _binary_token = True


def sign_envelope(
    envelope: etree._Element,
    keyfile: str,
    certfile: str,
    password: str | bytes | None = None,
    signature_method: Any = None,
    digest_method: Any = None,
) -> None:
    """Sign an envelope in place."""
    key, certificate = _read(keyfile), _read(certfile)
    _sign(envelope, key, certificate, password, signature_method, digest_method, False)


def verify_envelope(envelope: etree._Element, certfile: str) -> None:
    """Check the signature of an envelope; raises SignatureVerificationFailed."""
    xmldsig.verify(envelope, _read(certfile))


def _sign(
    envelope: etree._Element,
    key: bytes,
    certificate: bytes,
    password: str | bytes | None,
    signature_method: Any,
    digest_method: Any,
    binary_token: bool,
) -> None:
    xmldsig.sign(
        envelope,
        key,
        certificate,
        password.encode() if isinstance(password, str) else password,
        _uri(signature_method) or xmldsig.RSA_SHA1,
        _uri(digest_method) or xmldsig.SHA1,
        binary_token,
    )


def _uri(method: Any) -> str | None:
    return getattr(method, "href", method) if method is not None else None


def _read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()
