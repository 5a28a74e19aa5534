"""XML signatures over elements of lxml: the body of an envelope and its timestamp.

lxml canonicalizes (exclusive C14N), `cryptography` signs and verifies. What a message claims about
algorithms is only accepted from short lists; a reference must name exactly one element, and the
body must be one of those that are signed: otherwise a signature over something else in the message
would pass for one over its content.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from typing import TYPE_CHECKING, Any

from deltasoap import ns
from deltasoap.envelope import detect_soap_env
from deltasoap.exceptions import SignatureVerificationFailed
from deltasoap.wsse.utils import ensure_id, get_security_header, get_unique_id

if TYPE_CHECKING:
    from lxml import etree

RSA_SHA1 = f"{ns.DS}rsa-sha1"
SHA1 = f"{ns.DS}sha1"
_MORE = "http://www.w3.org/2001/04/xmldsig-more#"
_ENC = "http://www.w3.org/2001/04/xmlenc#"
_C14N = "http://www.w3.org/TR/2001/REC-xml-c14n-20010315"
_EXC_C14N = "http://www.w3.org/2001/10/xml-exc-c14n#"
_OASIS = "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-"
_X509 = f"{_OASIS}x509-token-profile-1.0#X509v3"
_BASE64 = f"{_OASIS}soap-message-security-1.0#Base64Binary"
_ID = f"{{{ns.WSU}}}Id"

#: The names in hashlib, and of classes in `cryptography`, by the URIs of the algorithms.
SIGNATURES = {
    RSA_SHA1: "SHA1",
    f"{_MORE}rsa-sha256": "SHA256",
    f"{_MORE}rsa-sha384": "SHA384",
    f"{_MORE}rsa-sha512": "SHA512",
}
DIGESTS = {
    SHA1: "sha1",
    f"{_ENC}sha256": "sha256",
    f"{_MORE}sha384": "sha384",
    f"{_ENC}sha512": "sha512",
}


def sign(
    envelope: etree._Element,
    key: bytes,
    certificate: bytes,
    password: bytes | None,
    signature_method: str = RSA_SHA1,
    digest_method: str = SHA1,
    binary_token: bool = False,
) -> None:
    """Sign the body and the timestamp of an envelope, in place."""
    private = _crypto().load_key(key, password)
    security = get_security_header(envelope)
    signature = _new(None, "Signature")
    security.insert(0, signature)
    info = _new(signature, "SignedInfo")
    _new(info, "CanonicalizationMethod", Algorithm=_EXC_C14N)
    _new(info, "SignatureMethod", Algorithm=_known(signature_method, SIGNATURES))
    for target in _to_sign(envelope, security):
        _add_reference(info, target, digest_method)
    value = _crypto().sign(private, _canonical(info), SIGNATURES[signature_method])
    _new(signature, "SignatureValue").text = base64.b64encode(value).decode()
    _add_key(signature, security, certificate, binary_token)


def verify(envelope: etree._Element, certificate: bytes) -> None:
    """Check the signature of an envelope; raises SignatureVerificationFailed."""
    signature = envelope.find(
        f"{_soap(envelope, 'Header')}/{{{ns.WSSE}}}Security/{_ds('Signature')}"
    )
    if signature is None:
        raise SignatureVerificationFailed("The message is not signed")
    info = _one(signature, "SignedInfo")
    how = _one(info, "SignatureMethod").get("Algorithm", "")
    value = base64.b64decode(_one(signature, "SignatureValue").text or "")
    data = _canonical(info, _one(info, "CanonicalizationMethod"))
    if not _crypto().is_signed(certificate, value, data, _accepted(how, SIGNATURES)):
        raise SignatureVerificationFailed("The signature is not one of this certificate")
    signed = [_checked(envelope, reference) for reference in info.findall(_ds("Reference"))]
    body = envelope.find(_soap(envelope, "Body"))
    if body is None or not any(each is body or each is envelope for each in signed):
        raise SignatureVerificationFailed("The signature does not cover the body of the message")


def _to_sign(envelope: etree._Element, security: etree._Element) -> list[etree._Element]:
    found = [envelope.find(_soap(envelope, "Body")), security.find(f"{{{ns.WSU}}}Timestamp")]
    return [each for each in found if each is not None]


def _add_reference(info: etree._Element, target: etree._Element, digest_method: str) -> None:
    digest = hashlib.new(_known(digest_method, DIGESTS) and DIGESTS[digest_method])
    reference = _new(info, "Reference", URI=f"#{ensure_id(target)}")
    _new(_new(reference, "Transforms"), "Transform", Algorithm=_EXC_C14N)
    _new(reference, "DigestMethod", Algorithm=digest_method)
    digest.update(_canonical(target))
    _new(reference, "DigestValue").text = base64.b64encode(digest.digest()).decode()


def _add_key(
    signature: etree._Element, security: etree._Element, certificate: bytes, binary_token: bool
) -> None:
    from lxml import etree

    info = _new(signature, "KeyInfo")
    token = etree.SubElement(info, f"{{{ns.WSSE}}}SecurityTokenReference", nsmap={"wsse": ns.WSSE})
    issuer, serial, der = _crypto().describe(certificate)
    text = base64.b64encode(der).decode()
    if not binary_token:
        data = _new(token, "X509Data")
        named = _new(data, "X509IssuerSerial")
        _new(named, "X509IssuerName").text = issuer
        _new(named, "X509SerialNumber").text = str(serial)
        _new(data, "X509Certificate").text = text
        return
    identifier = get_unique_id()
    reference = {"URI": f"#{identifier}", "ValueType": _X509}
    etree.SubElement(token, f"{{{ns.WSSE}}}Reference", reference)
    binary = etree.Element(f"{{{ns.WSSE}}}BinarySecurityToken", nsmap={"wsse": ns.WSSE})
    binary.set("ValueType", _X509)
    binary.set("EncodingType", _BASE64)
    binary.set(_ID, identifier)
    binary.text = text
    security.insert(1, binary)


def _checked(envelope: etree._Element, reference: etree._Element) -> etree._Element:
    """The element of a reference, after its digest was compared."""
    target = _target(envelope, reference.get("URI", ""))
    transforms = reference.findall(f"{_ds('Transforms')}/{_ds('Transform')}")
    if len(transforms) != 1:
        raise SignatureVerificationFailed("A reference needs exactly one transform, exclusive C14N")
    method = _one(reference, "DigestMethod").get("Algorithm", "")
    digest = hashlib.new(_accepted(method, DIGESTS), _canonical(target, transforms[0])).digest()
    expected = base64.b64decode(_one(reference, "DigestValue").text or "")
    if not hmac.compare_digest(digest, expected):
        raise SignatureVerificationFailed(f"{target.tag!s} was changed after it was signed")
    return target


def _target(envelope: etree._Element, uri: str) -> etree._Element:
    name = uri[1:] if uri.startswith("#") else ""
    found = [
        each for each in envelope.iter("*") if name and name in (each.get(_ID), each.get("Id"))
    ]
    if len(found) != 1:
        raise SignatureVerificationFailed(f"{uri!r} names {len(found)} elements instead of one")
    return found[0]


def _canonical(node: etree._Element, method: etree._Element | None = None) -> bytes:
    from lxml import etree

    algorithm = method.get("Algorithm", "") if method is not None else _EXC_C14N
    if algorithm not in (_EXC_C14N, _C14N):
        raise SignatureVerificationFailed(f"{algorithm!r} is no canonicalization that is accepted")
    listed = method.find(f"{{{_EXC_C14N}}}InclusiveNamespaces") if method is not None else None
    prefixes = listed.get("PrefixList", "").split() if listed is not None else None
    canonical: bytes = etree.tostring(
        node,
        method="c14n",
        exclusive=algorithm == _EXC_C14N,
        with_comments=False,
        inclusive_ns_prefixes=prefixes,
    )
    return canonical


def _known(method: str, methods: dict[str, str]) -> str:
    if method not in methods:
        raise ValueError(f"{method!r} is not supported; use one of {', '.join(methods)}")
    return method


def _accepted(method: str, methods: dict[str, str]) -> str:
    if method not in methods:
        raise SignatureVerificationFailed(f"{method!r} is no algorithm that is accepted")
    return methods[method]


def _one(parent: etree._Element, name: str) -> etree._Element:
    found = parent.find(_ds(name))
    if found is None:
        raise SignatureVerificationFailed(f"The signature has no {name}")
    return found


def _new(parent: etree._Element | None, name: str, **attributes: str) -> etree._Element:
    from lxml import etree

    nsmap = {"ds": ns.DS}
    if parent is None:
        return etree.Element(_ds(name), attributes, nsmap)
    return etree.SubElement(parent, _ds(name), attributes, nsmap)


def _ds(name: str) -> str:
    return f"{{{ns.DS}}}{name}"


def _soap(envelope: etree._Element, name: str) -> str:
    return f"{{{detect_soap_env(envelope)}}}{name}"


def _crypto() -> Any:
    try:
        from deltasoap.wsse import crypto
    except ImportError as error:
        raise ImportError("Signatures need cryptography: install deltasoap[signatures]") from error
    return crypto
