"""Keys and certificates, through the package `cryptography`."""

from __future__ import annotations

from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.serialization import Encoding, load_pem_private_key
from cryptography.x509 import load_pem_x509_certificate


def load_key(pem: bytes, password: bytes | None) -> rsa.RSAPrivateKey:
    """The RSA key in a PEM text, which may have certificates, too."""
    key = load_pem_private_key(_section(pem, b"PRIVATE KEY"), password)
    if not isinstance(key, rsa.RSAPrivateKey):
        raise ValueError("messages are signed with RSA keys only")
    return key


def sign(key: rsa.RSAPrivateKey, data: bytes, digest: str) -> bytes:
    """The signature of data (PKCS #1 v1.5)."""
    return key.sign(data, padding.PKCS1v15(), _hash(digest))


def is_signed(certificate: bytes, signature: bytes, data: bytes, digest: str) -> bool:
    """Whether a signature over data was made with the key of a certificate."""
    key = load_pem_x509_certificate(_section(certificate, b"CERTIFICATE")).public_key()
    if not isinstance(key, rsa.RSAPublicKey):
        raise ValueError("messages are verified with certificates of RSA keys only")
    try:
        key.verify(signature, data, padding.PKCS1v15(), _hash(digest))
    except InvalidSignature:
        return False
    return True


def describe(certificate: bytes) -> tuple[str, int, bytes]:
    """The issuer, the serial number and the DER form of a certificate."""
    found = load_pem_x509_certificate(_section(certificate, b"CERTIFICATE"))
    return found.issuer.rfc4514_string(), found.serial_number, found.public_bytes(Encoding.DER)


def _section(pem: bytes, label: bytes) -> bytes:
    """The first section of a PEM text whose label ends so."""
    data = pem.encode() if isinstance(pem, str) else pem
    lines = data.splitlines(keepends=True)
    start = next(
        (n for n, line in enumerate(lines) if line.strip().endswith(label + b"-----")), None
    )
    if start is None:
        raise ValueError(f"the PEM text has no {label.decode()}")
    end = next(n for n, line in enumerate(lines) if n > start and line.startswith(b"-----END"))
    return b"".join(lines[start : end + 1])


def _hash(name: str) -> Any:
    return getattr(hashes, name)()
