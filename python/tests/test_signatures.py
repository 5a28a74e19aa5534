"""Signatures: what they cover, and what does not pass for a signed message."""

from __future__ import annotations

import copy
import datetime
from pathlib import Path

import pytest
from lxml import etree

from deltasoap import ns, wsse
from deltasoap.exceptions import SignatureVerificationFailed

pytest.importorskip("cryptography")

NAMES = {"s": ns.SOAP_ENV_11, "wsse": ns.WSSE, "wsu": ns.WSU, "ds": ns.DS}
SHA256 = "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256"


@pytest.fixture(scope="module")
def pem(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with a key, which has a password, and its certificate."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import rsa

    key = rsa.generate_private_key(65537, 2048)
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "tests")])
    start = datetime.datetime(2024, 1, 1)
    builder = x509.CertificateBuilder(name, name, key.public_key(), 7, start, start.replace(2044))
    certificate = builder.sign(key, hashes.SHA256())
    path = tmp_path_factory.mktemp("keys") / "key.pem"
    path.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.BestAvailableEncryption(b"secret"),
        )
        + certificate.public_bytes(serialization.Encoding.PEM)
    )
    return path


def envelope() -> etree._Element:
    """A message with a timestamp."""
    return etree.fromstring(
        f'<s:Envelope xmlns:s="{ns.SOAP_ENV_11}"><s:Header><w:Security xmlns:w="{ns.WSSE}">'
        f'<u:Timestamp xmlns:u="{ns.WSU}"><u:Created>2024-01-01T00:00:00Z</u:Created></u:Timestamp>'
        '</w:Security></s:Header><s:Body><pay xmlns="urn:bank">5</pay></s:Body></s:Envelope>'
    )


def signed(pem: Path) -> tuple[wsse.Signature, etree._Element]:
    """A signature's object, and a message that it signed and that travelled."""
    signature = wsse.Signature(str(pem), str(pem), "secret", SHA256)
    message, _ = signature.apply(envelope(), {})
    return signature, etree.fromstring(etree.tostring(message))


def body_of(message: etree._Element) -> etree._Element:
    """The body."""
    (body,) = message.iterfind("s:Body", NAMES)
    return body


def test_body_and_timestamp_are_signed(pem: Path) -> None:
    signature, message = signed(pem)
    assert signature.verify(message) is message
    names = {each.get("URI", "")[1:] for each in message.iterfind(".//ds:Reference", NAMES)}
    covered = {each.tag for each in message.iter("*") if each.get(f"{{{ns.WSU}}}Id") in names}
    assert covered == {f"{{{ns.SOAP_ENV_11}}}Body", f"{{{ns.WSU}}}Timestamp"}
    assert message.find(".//ds:X509SerialNumber", NAMES).text == "7"  # type: ignore[union-attr]


def test_a_binary_token_has_the_certificate(pem: Path) -> None:
    signature = wsse.BinarySignature(str(pem), str(pem), "secret")
    message, _ = signature.apply(envelope(), {})
    signature.verify(etree.fromstring(etree.tostring(message)))
    (token,) = message.iterfind(".//wsse:BinarySecurityToken", NAMES)
    (reference,) = message.iterfind(".//ds:KeyInfo//wsse:Reference", NAMES)
    assert reference.get("URI") == f"#{token.get(f'{{{ns.WSU}}}Id')}"


def test_a_changed_body_is_rejected(pem: Path) -> None:
    signature, message = signed(pem)
    body_of(message)[0].text = "5000"
    with pytest.raises(SignatureVerificationFailed, match="was changed"):
        signature.verify(message)


def test_a_signed_body_that_was_moved_away_is_rejected(pem: Path) -> None:
    signature, message = signed(pem)
    body = body_of(message)
    forged = copy.deepcopy(body)
    forged[0].text = "5000"
    del forged.attrib[f"{{{ns.WSU}}}Id"]
    message.replace(body, forged)
    etree.SubElement(message[0], "moved").append(body)
    with pytest.raises(SignatureVerificationFailed, match="does not cover the body"):
        signature.verify(message)


def test_two_elements_of_one_id_are_rejected(pem: Path) -> None:
    signature, message = signed(pem)
    identifier = body_of(message).get(f"{{{ns.WSU}}}Id") or ""
    etree.SubElement(message[0], "other").set(f"{{{ns.WSU}}}Id", identifier)
    with pytest.raises(SignatureVerificationFailed, match="names 2 elements"):
        signature.verify(message)


def test_other_algorithms_are_rejected(pem: Path) -> None:
    signature, message = signed(pem)
    (method,) = message.iterfind(".//ds:SignatureMethod", NAMES)
    method.set("Algorithm", f"{ns.DS}hmac-sha1")
    with pytest.raises(SignatureVerificationFailed, match="no algorithm that is accepted"):
        signature.verify(message)
    with pytest.raises(ValueError, match="'md5' is not supported; use one of"):
        wsse.Signature(str(pem), str(pem), "secret", digest_method="md5").apply(envelope(), {})


def test_messages_without_a_signature_are_rejected(pem: Path) -> None:
    signature, _ = signed(pem)
    with pytest.raises(SignatureVerificationFailed, match="is not signed"):
        signature.verify(envelope())


def test_xmlsec_accepts_what_is_signed(pem: Path) -> None:
    xmlsec = pytest.importorskip("xmlsec")
    _, message = signed(pem)
    (node,) = message.iterfind(".//ds:Signature", NAMES)
    context = xmlsec.SignatureContext()
    for target in message.iter(f"{{{ns.SOAP_ENV_11}}}Body", f"{{{ns.WSU}}}Timestamp"):
        context.register_id(target, "Id", ns.WSU)
    data = pem.read_bytes()
    certificate = data[data.index(b"-----BEGIN CERTIFICATE") :]
    context.key = xmlsec.Key.from_memory(certificate, xmlsec.KeyFormat.CERT_PEM, None)
    context.verify(node)
