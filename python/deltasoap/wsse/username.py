"""UsernameToken Profile 1.1."""

from __future__ import annotations

import base64
import datetime
import hashlib
import os
from typing import TYPE_CHECKING, Any

from deltasoap import ns
from deltasoap.wsse.utils import get_security_header, get_timestamp

if TYPE_CHECKING:
    from lxml import etree

_OASIS = "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-"


class UsernameToken:
    """A user's name, with the password in plain text or as a digest.

    :param use_digest: send the digest of the password, a nonce and a time
    :param password_digest: the digest, if it is already known
    :param nonce: text to use as the nonce, instead of a random one
    :param created: the time of the token, instead of now
    :param timestamp_token: a `wsu:Timestamp` to add to the header
    :param zulu_timestamp: write times with `Z`
    :param hash_password: hash the password before it goes into the digest
    """

    username_token_profile_ns = f"{_OASIS}username-token-profile-1.0"
    soap_message_secutity_ns = f"{_OASIS}soap-message-security-1.0"

    def __init__(
        self,
        username: str,
        password: str | bytes | None = None,
        password_digest: str | None = None,
        use_digest: bool = False,
        nonce: str | None = None,
        created: datetime.datetime | None = None,
        timestamp_token: etree._Element | None = None,
        zulu_timestamp: bool | None = None,
        hash_password: bool | None = None,
    ) -> None:
        self.username = username
        self.password = password
        self.password_digest = password_digest
        self.use_digest = use_digest
        self.nonce = nonce
        self.created = created
        self.timestamp_token = timestamp_token
        self.zulu_timestamp = zulu_timestamp
        self.hash_password = hash_password

    def apply(self, envelope: etree._Element, headers: Any) -> tuple[etree._Element, Any]:
        """Add the token to a request. A token that the WSDL's headers made is completed."""
        security = get_security_header(envelope)
        token = security.find(f"{{{ns.WSSE}}}UsernameToken")
        if token is None:
            token = _add(security, ns.WSSE, "UsernameToken")
        if self.timestamp_token is not None:
            security.append(self.timestamp_token)
        _add(token, ns.WSSE, "Username", self.username)
        if self.password is not None or self.password_digest is not None:
            self._add_password(token)
        return envelope, headers

    def verify(self, envelope: etree._Element) -> None:
        """Answers carry no token: nothing to check."""

    def _add_password(self, token: etree._Element) -> None:
        profile = self.username_token_profile_ns
        if not self.use_digest:
            text = self.password.decode() if isinstance(self.password, bytes) else self.password
            _add(token, ns.WSSE, "Password", text, Type=f"{profile}#PasswordText")
            return
        nonce = self.nonce.encode("utf-8") if self.nonce else os.urandom(16)
        created = get_timestamp(self.created, self.zulu_timestamp)
        digest = self.password_digest or self._digest(nonce, created)
        _add(token, ns.WSSE, "Password", digest, Type=f"{profile}#PasswordDigest")
        encoding = f"{self.soap_message_secutity_ns}#Base64Binary"
        _add(token, ns.WSSE, "Nonce", base64.b64encode(nonce).decode(), EncodingType=encoding)
        _add(token, ns.WSU, "Created", created)

    def _digest(self, nonce: bytes, created: str) -> str:
        password = self.password or b""
        secret = password.encode("utf-8") if isinstance(password, str) else password
        if self.hash_password:
            secret = hashlib.sha1(secret).digest()
        # The profile fixes SHA-1.
        return base64.b64encode(hashlib.sha1(nonce + created.encode() + secret).digest()).decode()


def _add(
    parent: etree._Element, namespace: str, name: str, text: str | None = None, **attributes: str
) -> etree._Element:
    from lxml import etree

    prefix = "wsu" if namespace == ns.WSU else "wsse"
    # A prefix that is declared already is used again.
    nsmap = None if namespace in parent.nsmap.values() else {prefix: namespace}
    child = etree.SubElement(parent, f"{{{namespace}}}{name}", attributes, nsmap)
    child.text = text
    return child
