"""Other implementations of WS-Security for `deltasoap-security-test`: zeep, xmlsec (which is libxmlsec1) and signxml.

    oracle.py check FOLDER    verifies the messages of FOLDER/ours.tsv
    oracle.py sign FOLDER     writes messages, and FOLDER/theirs.tsv

Both lists have a line for each message: its name and that of its key, separated by a tab. A message is in NAME.xml, a key in KEY.pem with
its certificate in KEY.crt, or a secret in KEY.secret. `check` prints the name, the tool, and `valid`, `lacking` if the
tool lacks the algorithm, or the reason why the message is not valid.
"""

import pathlib
import sys

import signxml
import xmlsec
from lxml import etree
from zeep.wsse import signature as zeep_signature
from zeep.wsse import username as zeep_username
from zeep.wsse import utils as zeep_utils

SOAP_11 = "http://schemas.xmlsoap.org/soap/envelope/"
SOAP_12 = "http://www.w3.org/2003/05/soap-envelope"
DS = "http://www.w3.org/2000/09/xmldsig#"
DSIG_MORE = "http://www.w3.org/2001/04/xmldsig-more#"
DSIG_2007 = "http://www.w3.org/2007/05/xmldsig-more#"
XMLENC = "http://www.w3.org/2001/04/xmlenc#"
EXCLUSIVE = "http://www.w3.org/2001/10/xml-exc-c14n#"
INCLUSIVE = "http://www.w3.org/TR/2001/REC-xml-c14n-20010315"
INCLUSIVE_11 = "http://www.w3.org/2006/12/xml-c14n11"
WSS = "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-"
WSSE = WSS + "wssecurity-secext-1.0.xsd"
WSU = WSS + "wssecurity-utility-1.0.xsd"
X509 = WSS + "x509-token-profile-1.0#X509v3"
BASE64 = WSS + "soap-message-security-1.0#Base64Binary"
NAMES = {"ds": DS, "wsse": WSSE, "wsu": WSU}


def read_key(folder, name, verify):
    secret = folder / f"{name}.secret"
    if secret.exists():
        return xmlsec.Key.from_binary_data(xmlsec.KeyData.HMAC, secret.read_bytes())
    if verify:
        return xmlsec.Key.from_memory((folder / f"{name}.crt").read_bytes(), xmlsec.KeyFormat.CERT_PEM)
    key = xmlsec.Key.from_memory((folder / f"{name}.pem").read_bytes(), xmlsec.KeyFormat.PEM)
    key.load_cert_from_memory((folder / f"{name}.crt").read_bytes(), xmlsec.KeyFormat.PEM)
    return key


def context(document, key):
    found = xmlsec.SignatureContext()
    found.key = key
    for element in document.iter(etree.Element):
        if element.get(f"{{{WSU}}}Id"):
            found.register_id(element, "Id", WSU)
    return found


def check_xmlsec(document, folder, key):
    context(document, read_key(folder, key, True)).verify(document.find(".//ds:Signature", NAMES))


def check_zeep(document, folder, key):
    zeep_signature._verify_envelope_with_key(document, read_key(folder, key, True))


def check_signxml(document, folder, key):
    secret = folder / f"{key}.secret"
    expected = signxml.SignatureConfiguration(require_x509=not secret.exists(), expect_references=True)
    if secret.exists():
        arguments = {"hmac_key": secret.read_bytes()}
    else:
        arguments = {"x509_cert": (folder / f"{key}.crt").read_bytes()}
    signxml.XMLVerifier().verify(etree.tostring(document), expect_config=expected, **arguments)


def lacks(tool, key):
    """Returns true if a tool lacks the algorithm of a key: signxml has no Ed25519, libxmlsec1 only since 1.3.11."""
    return key == "ed25519" and (tool == "signxml" or xmlsec.get_libxmlsec_version() < (1, 3, 11))


def check(folder):
    tools = {"xmlsec": check_xmlsec, "zeep": check_zeep, "signxml": check_signxml}
    for line in (folder / "ours.tsv").read_text().splitlines():
        name, key = line.split("\t")
        for tool, verify in tools.items():
            if lacks(tool, key):
                print(name, tool, "lacking", sep="\t")
                continue
            document = etree.parse(folder / f"{name}.xml").getroot()
            try:
                verify(document, folder, key)
                result = "valid"
            except Exception as error:  # Each tool has its own kinds of errors.
                result = f"{type(error).__name__}: {error}".replace("\n", " ")
            print(name, tool, result, sep="\t")


def envelope(soap):
    """Returns a message with everything that canonicalization changes, and a security header with a timestamp."""
    source = f"""<?xml version="1.0"?>
<s:Envelope xmlns:s="{soap}" xmlns:unused="urn:unused" xmlns:t="urn:types" xml:lang="en"><!-- 1 --><s:Header/>
  <s:Body><!-- 2 -->
    <transfer xmlns="urn:bank" b='2'  a="&#9;&lt;&quot;'"  t:c="t:x"><to xml:lang="de">Ada &amp; &lt;Bob&gt;&#13;</to><amount xml:space="preserve"> 0.1 </amount><m><t:e><f/><!-- 4 --></t:e></m><![CDATA[<&]]></transfer>
  </s:Body>
</s:Envelope>"""
    document = etree.fromstring(source.encode())
    security = zeep_utils.get_security_header(document)
    security.append(zeep_utils.WSU.Timestamp(*timestamp()))
    return document


def timestamp():
    import datetime

    now = datetime.datetime.now(datetime.timezone.utc)
    later = now + datetime.timedelta(minutes=5)
    return zeep_utils.WSU.Created(f"{now:%Y-%m-%dT%H:%M:%SZ}"), zeep_utils.WSU.Expires(f"{later:%Y-%m-%dT%H:%M:%SZ}")


METHODS = {
    "rsa": [
        DSIG_MORE + "rsa-sha256",
        DSIG_MORE + "rsa-sha384",
        DSIG_MORE + "rsa-sha512",
        DSIG_2007 + "sha256-rsa-MGF1",
        DSIG_2007 + "sha384-rsa-MGF1",
        DSIG_2007 + "sha512-rsa-MGF1",
    ],
    "p256": [DSIG_MORE + "ecdsa-sha256"],
    "p384": [DSIG_MORE + "ecdsa-sha384"],
    "secret": [DSIG_MORE + "hmac-sha256"],
}
DIGESTS = [XMLENC + "sha256", DSIG_MORE + "sha384", XMLENC + "sha512"]
TRANSFORMS = [
    (EXCLUSIVE, None),
    (EXCLUSIVE, "t #default unused"),
    (EXCLUSIVE + "WithComments", None),
    (INCLUSIVE, None),
    (INCLUSIVE + "#WithComments", None),
    (INCLUSIVE_11, None),
    (None, None),
]


def transform(method, prefixes):
    if method is None:
        return ""
    listed = f'<c:InclusiveNamespaces xmlns:c="{EXCLUSIVE}" PrefixList="{prefixes}"/>' if prefixes else ""
    return f'<ds:Transforms><ds:Transform Algorithm="{method}">{listed}</ds:Transform></ds:Transforms>'


def key_info(folder, key, kind):
    """Returns the content of KeyInfo, and a token that it refers to."""
    if kind == "name":
        return f"<ds:KeyName>{key}</ds:KeyName>", ""
    pem = (folder / f"{key}.crt").read_text()
    der = "".join(line for line in pem.splitlines() if "-----" not in line)
    if kind == "token":
        token = f'<wsse:BinarySecurityToken xmlns:wsse="{WSSE}" xmlns:wsu="{WSU}" wsu:Id="token" ValueType="{X509}" EncodingType="{BASE64}">{der}</wsse:BinarySecurityToken>'
        return f'<wsse:SecurityTokenReference xmlns:wsse="{WSSE}"><wsse:Reference URI="#token" ValueType="{X509}"/></wsse:SecurityTokenReference>', token
    data = f"<ds:X509Data><ds:X509Certificate>{der}</ds:X509Certificate></ds:X509Data>"
    if kind == "data":
        return data, ""
    return f'<wsse:SecurityTokenReference xmlns:wsse="{WSSE}">{data}</wsse:SecurityTokenReference>', ""


def sign_xmlsec(folder, soap, key, method, digest, canonicalization, transforms, kind):
    document = envelope(soap)
    security = document.find(".//wsse:Security", NAMES)
    body = document.find(f"{{{soap}}}Body")
    body.set(f"{{{WSU}}}Id", "body")
    security.find("wsu:Timestamp", NAMES).set(f"{{{WSU}}}Id", "time")
    # Inherits attributes of the elements around it, and not those of `to`.
    body.find(".//{urn:types}e").set(f"{{{WSU}}}Id", "inner")
    content, token = key_info(folder, key, kind)
    if token:
        security.append(etree.fromstring(token))
    references = "".join(
        f'<ds:Reference URI="#{name}">{transform(*transforms)}<ds:DigestMethod Algorithm="{digest}"/><ds:DigestValue/></ds:Reference>'
        for name in ("body", "inner", "time")
    )
    template = f"""<ds:Signature xmlns:ds="{DS}"><ds:SignedInfo>
<ds:CanonicalizationMethod Algorithm="{canonicalization}"/><!-- 3 --><ds:SignatureMethod Algorithm="{method}"/>
{references}</ds:SignedInfo><ds:SignatureValue/><ds:KeyInfo/></ds:Signature>"""
    signature = etree.fromstring(template)
    security.append(signature)
    context(document, read_key(folder, key, False)).sign(signature)
    signature.find("ds:KeyInfo", NAMES).append(etree.fromstring(f'<x xmlns:ds="{DS}">{content}</x>')[0])
    return document


def sign_zeep(folder, soap, key, method, binary):
    document = envelope(soap)
    kind = zeep_signature.BinarySignature if binary else zeep_signature.Signature
    names = folder / f"{key}.pem", folder / f"{key}.crt"
    transforms = {"rsa-sha256": xmlsec.Transform.RSA_SHA256, "ecdsa-sha256": xmlsec.Transform.ECDSA_SHA256}
    kind(*names, signature_method=transforms[method], digest_method=xmlsec.Transform.SHA256).apply(document, {})
    return document


def user_zeep(soap, digest):
    document = envelope(soap)
    token = zeep_username.UsernameToken("ada", "pass & word", use_digest=digest)
    token.apply(document, {})
    return document


def messages(folder):
    """Returns names, keys and messages; `user` stands for no key."""
    for version, soap in (("11", SOAP_11), ("12", SOAP_12)):
        for key, methods in METHODS.items():
            for method in methods:
                kinds = ["name"] if key == "secret" else ["token", "data", "reference"]
                for number, kind in enumerate(kinds):
                    digest = DIGESTS[(number + len(method)) % len(DIGESTS)]
                    name = f"xmlsec-{version}-{key}-{method.split('#')[1]}-{kind}"
                    yield name, key, sign_xmlsec(folder, soap, key, method, digest, EXCLUSIVE, TRANSFORMS[0], kind)
        for number, transforms in enumerate(TRANSFORMS):
            for canonicalization in (EXCLUSIVE, EXCLUSIVE + "WithComments", INCLUSIVE, INCLUSIVE + "#WithComments", INCLUSIVE_11):
                name = f"xmlsec-{version}-transform-{number}-{canonicalization.split('/')[-1].replace('#', '')}"
                method = METHODS["rsa"][0]
                yield name, "rsa", sign_xmlsec(folder, soap, "rsa", method, DIGESTS[0], canonicalization, transforms, "token")
        for key, method in (("rsa", "rsa-sha256"), ("p256", "ecdsa-sha256")):
            for binary in (False, True):
                name = f"zeep-{version}-{key}-{'binary' if binary else 'data'}"
                yield name, key, sign_zeep(folder, soap, key, method, binary)
        for digest in (False, True):
            yield f"zeep-{version}-user-{'digest' if digest else 'text'}", "user", user_zeep(soap, digest)


def sign(folder):
    lines = []
    for name, key, document in messages(folder):
        (folder / f"{name}.xml").write_bytes(etree.tostring(document, encoding="utf-8", xml_declaration=True))
        lines.append(f"{name}\t{key}\n")
    (folder / "theirs.tsv").write_text("".join(lines))


def main():
    _, task, folder = sys.argv
    {"check": check, "sign": sign}[task](pathlib.Path(folder))


main()
