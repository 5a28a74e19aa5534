"""Calls every operation of testdata/wsdl/bench.wsdl with zeep, over SOAP 1.1 and SOAP 1.2.

    client.py URL TLS-URL CA-FILE

The WSDL is loaded from URL?wsdl. Prints one JSON object per test; tests/interop/README.md documents it. The exit status only
indicates whether all tests were run.

The tests know the service only from its WSDL and the comment at its top.
"""

import ctypes
import gzip
import json
import math
import os
import random
import sys
import time
from datetime import date, datetime, timezone
from decimal import Decimal

import requests
from lxml import etree
from zeep import Client, Settings, xsd
from zeep.exceptions import Fault
from zeep.transports import Transport

TYPES_NS = "urn:bench"
ENVELOPE = {
    "1.1": "http://schemas.xmlsoap.org/soap/envelope/",
    "1.2": "http://www.w3.org/2003/05/soap-envelope",
}
CONTENT_TYPE = {"1.1": "text/xml; charset=utf-8", "1.2": "application/soap+xml; charset=utf-8"}
CALLER_IS_TO_BLAME = {"1.1": "Client", "1.2": "Sender"}
FAULT_CODES = {"1.1": {"Client", "Server"}, "1.2": {"Sender", "Receiver"}}
PORT = {"1.1": "Soap11", "1.2": "Soap12"}

TESTS = []


def test(feature):
    """Registers a test: called with an Endpoint, it raises if something is wrong."""

    def register(function):
        TESTS.append((feature, function.__name__.replace("_", " "), function))
        return function

    return register


class Lacking(Exception):
    """Records what zeep does not offer, and why."""


def lacks(feature, name, reason):
    def skip(_):
        raise Lacking(reason)

    TESTS.append((feature, name, skip))


class Endpoint:
    """One port of the service."""

    def __init__(self, url, soap, transport=None):
        self.url = url
        self.soap = soap
        # lxml refuses large documents unless told otherwise.
        self.client = Client(url + "?wsdl", transport=transport, settings=Settings(xml_huge_tree=True))
        self.service = self.client.bind("Bench", PORT[soap])

    def over(self, transport):
        """Returns the same service over another transport."""
        return Endpoint(self.url, self.soap, transport)

    def call(self, operation, *args, **kwargs):
        return self.service[operation](*args, **kwargs)

    def type(self, name):
        return self.client.get_type("{%s}%s" % (TYPES_NS, name))

    def post(self, body):
        """Sends a body that zeep would not write; returns the HTTP status and the response envelope."""
        envelope = '<e:Envelope xmlns:e="%s"><e:Body>%s</e:Body></e:Envelope>' % (ENVELOPE[self.soap], body)
        headers = {"Content-Type": CONTENT_TYPE[self.soap]}
        if self.soap == "1.1":
            headers["SOAPAction"] = '""'
        response = requests.post(self.url, data=envelope.encode(), headers=headers, timeout=60)
        return response.status_code, etree.fromstring(response.content)


# --- comparing


def expect(actual, expected, what="value"):
    if actual != expected:
        raise AssertionError("%s: expected %s, got %s" % (what, shorten(expected), shorten(actual)))


def shorten(value):
    text = repr(value)
    return text if len(text) <= 160 else text[:157] + "..."


def expect_items(actual, expected, key=lambda item: item):
    """Compares lists and reports the first different item. zeep returns None for no items."""
    actual = [key(item) for item in actual or []]
    expect(len(actual), len(expected), "number of items")
    for index, (got, wanted) in enumerate(zip(actual, expected)):
        expect(got, key(wanted), "item %d" % index)


def bits(value):
    """Converts a float so that equality distinguishes -0.0 from 0.0 and NaN equals NaN."""
    return "NaN" if math.isnan(value) else value.hex()


def text_or_empty(value):
    """zeep returns None for an empty string element."""
    return value or ""


def mio(value):
    return (value["x"], value["y"], bits(value["v"]))


# --- arrays

RANDOM = random.Random(20240229)


def some_int(width):
    return RANDOM.randrange(-(2 ** (width - 1)), 2 ** (width - 1))


def some_double():
    return RANDOM.uniform(-1, 1) * 10.0 ** RANDOM.randint(-300, 300)


def some_float():
    """Returns a float with few digits, which is exact in 32 bits and in decimal."""
    return RANDOM.randint(-(2**20), 2**20) / 16


def some_text():
    return "".join(RANDOM.choice("abc xyz<>&\"'äß漢🦀") for _ in range(RANDOM.randint(1, 40))).strip() or "x"


def some_instant():
    return datetime.fromtimestamp(RANDOM.randint(0, 2**31), timezone.utc)


ARRAYS = {
    "Booleans": (lambda: RANDOM.random() < 0.5, lambda item: item),
    "Ints": (lambda: some_int(32), lambda item: item),
    "Longs": (lambda: some_int(64), lambda item: item),
    # The shortest text of a float parses to a different double: only the float is significant.
    "Floats": (some_float, lambda item: bits(to_single(item))),
    "Doubles": (some_double, bits),
    "Decimals": (lambda: Decimal(some_int(64)).scaleb(-RANDOM.randint(0, 12)), lambda item: item),
    "DateTimes": (some_instant, lambda item: item),
    "Strings": (some_text, text_or_empty),
    "Mios": (lambda: {"x": some_int(32), "y": some_int(32), "v": some_double()}, mio),
}
SENDABLE = ("Ints", "Doubles", "Strings", "Mios")
SIZES = (0, 1, 1000)


def register_array(name, size):
    make, key = ARRAYS[name]

    def echo(endpoint):
        items = [make() for _ in range(size)]
        expect_items(endpoint.call("echo" + name, item=items), items, key)

    def send(endpoint):
        expect(endpoint.call("send" + name, item=[make() for _ in range(size)]), size, "count")

    TESTS.append(("arrays", "echo%s, %d items" % (name, size), echo))
    if name in SENDABLE:
        TESTS.append(("arrays", "send%s, %d items" % (name, size), send))


for array in ARRAYS:
    for array_size in SIZES:
        register_array(array, array_size)
register_array("Ints", 100_000)


def register_base64(size):
    data = bytes(RANDOM.randrange(256) for _ in range(size))

    def echo(endpoint):
        expect(endpoint.call("echoBase64", data=data) or b"", data)

    def send(endpoint):
        expect(endpoint.call("sendBase64", data=data), size, "count")

    TESTS.append(("arrays", "echoBase64, %d octets" % size, echo))
    TESTS.append(("arrays", "sendBase64, %d octets" % size, send))


for octets in (0, 1, 2, 3, 1000):
    register_base64(octets)


@test("arrays")
def echoVoid(endpoint):
    expect(endpoint.call("echoVoid"), None)


# --- extreme values


@test("values")
def ints_at_the_limits(endpoint):
    items = [-(2**31), -1, 0, 1, 2**31 - 1]
    expect_items(endpoint.call("echoInts", item=items), items)


@test("values")
def longs_at_the_limits(endpoint):
    items = [-(2**63), -1, 0, 1, 2**63 - 1]
    expect_items(endpoint.call("echoLongs", item=items), items)


@test("values")
def special_doubles(endpoint):
    # As text, because zeep would write Python's inf and nan.
    sent = ["INF", "-INF", "NaN", "-0", "5E-324", "2.2250738585072011E-308", "1.7976931348623157E308"]
    expect_items(endpoint.call("echoDoubles", item=sent), [float(text) for text in sent], bits)


@test("values")
def special_floats(endpoint):
    # No NaN: zeep writes it in upper case, which is not an xsd:float.
    sent = ["INF", "-INF", "-0", "1.5E-39", "3.4028235E38"]
    received = endpoint.call("echoFloats", item=sent)
    expect_items(received, [to_single(float(text)) for text in sent], lambda item: bits(to_single(item)))


def to_single(value):
    return ctypes.c_float(value).value


@test("values")
def long_decimals(endpoint):
    items = [Decimal("0"), Decimal("-0.5"), Decimal("123456789012345678.123456789012345678"), Decimal("1E+17")]
    expect_items(endpoint.call("echoDecimals", item=items), items)


@test("values")
def instants(endpoint):
    items = [
        datetime(2024, 2, 29, 23, 59, 59, tzinfo=timezone.utc),
        datetime(1969, 12, 31, 23, 59, 59, 999999, tzinfo=timezone.utc),
        datetime(2001, 10, 26, 21, 32, 52, 126790),
        datetime.fromisoformat("2001-10-26T21:32:52+02:00"),
    ]
    received = endpoint.call("echoDateTimes", item=items)
    expect_items(received, items)
    expect([item.tzinfo is None for item in received], [item.tzinfo is None for item in items], "has no zone")


@test("values")
def strings_with_markup(endpoint):
    items = ["<item>", "a & b", "]]>", "\"'", "&amp;", "<!-- -->", "<![CDATA[x]]>"]
    expect_items(endpoint.call("echoStrings", item=items), items)


@test("values")
def strings_with_unicode(endpoint):
    items = ["äöüß", "漢字かな", "🦀🧼", "e\u0301", "\u200f\u05d0", "\ud7ff\ue000\ufffd\U0010ffff", "\u0085\u2028"]
    expect_items(endpoint.call("echoStrings", item=items), items)


@test("values")
def strings_with_white_space(endpoint):
    items = [" leading", "trailing ", "  two  spaces  ", "a\tb", "a\nb", "a\rb", "a\r\nb", " ", "\n"]
    expect_items(endpoint.call("echoStrings", item=items), items)


@test("values")
def empty_strings_among_others(endpoint):
    items = ["", "a", "", "", "b", ""]
    expect_items(endpoint.call("echoStrings", item=items), items, text_or_empty)


@test("values")
def a_long_string(endpoint):
    text = "0123456789<&" * 100_000
    expect_items(endpoint.call("echoStrings", item=[text]), [text])


# --- similar messages

ROUNDS = 20


@test("similar")
def doubles_of_which_one_changes_a_message(endpoint):
    items = [some_double() for _ in range(500)]
    for number in range(ROUNDS):
        items[number * 23] = some_double()
        expect_items(endpoint.call("echoDoubles", item=items), items, bits)


@test("similar")
def strings_that_grow_and_shrink(endpoint):
    items = ["string %d" % n for n in range(100)]
    for number in range(ROUNDS):
        items[number * 3] = "& long " * (number % 5) + "end"
        expect_items(endpoint.call("echoStrings", item=items), items)


@test("similar")
def structs_inserted_and_removed(endpoint):
    make, key = ARRAYS["Mios"]
    items = [make() for _ in range(200)]
    for number in range(ROUNDS):
        if number % 2 == 0:
            items.insert(number * 5, make())
        else:
            del items[number]
        expect_items(endpoint.call("echoMios", item=items), items, key)


# --- structs

PERSON_FIELDS = ("name", "nickname", "score", "born", "role", "tag", "id", "active")


def echo_person(endpoint, **fields):
    """Echoes a person and compares it field by field; returns the echo."""
    received = endpoint.call("echoStruct", person=endpoint.type("Person")(**fields))
    for field in PERSON_FIELDS:
        expect(plain(received[field]), plain(fields.get(field)), field)
    address = fields.get("address") or {}
    for field in ("street", "city", "zip"):
        got = received["address"][field] if received["address"] is not None else None
        expect(got, address.get(field), "address." + field)
    return received


def plain(value):
    """zeep's objects do not distinguish no value, nil and no items."""
    return None if value is xsd.Nil or value == [] else value


@test("structs")
def struct_with_everything(endpoint):
    echo_person(
        endpoint, name="Ada <&> Lovelace", nickname="ada", score=0.1, born=date(1815, 12, 10), role="admin",
        address={"street": "St. James's Square 12", "city": "London", "zip": "SW1Y"}, tag=["a", "b", "c"],
        id=2**62, active=True,
    )


@test("structs")
def struct_with_only_what_is_required(endpoint):
    echo_person(endpoint, name="x", score=1.5, role="guest", id=-1)


@test("structs")
def struct_with_an_optional_inside_a_nested_one_missing(endpoint):
    echo_person(endpoint, name="x", score=0.0, role="member", address={"street": "s", "city": "c"}, id=1, active=False)


@test("structs")
def struct_with_nil(endpoint):
    echo_person(endpoint, name="x", score=xsd.Nil, born=xsd.Nil, role="member", id=1)


@test("structs")
def nil_and_absent_stay_apart(endpoint):
    # zeep's objects do not distinguish them, but the response's XML does.
    person = endpoint.type("Person")
    with endpoint.client.settings(raw_response=True):
        nil = endpoint.call("echoStruct", person=person(name="x", score=xsd.Nil, born=xsd.Nil, role="guest", id=1))
        absent = endpoint.call("echoStruct", person=person(name="x", score=1.0, role="guest", id=1))
    expect(nil_flags(nil.content, "score"), ["true"], "nil score")
    expect(nil_flags(nil.content, "born"), ["true"], "nil born")
    expect(nil_flags(absent.content, "score"), [None], "given score")
    expect(nil_flags(absent.content, "born"), [], "absent born")


def nil_flags(content, name):
    """Returns xsi:nil of every element with that name, with 1 as true."""
    flags = [e.get("{http://www.w3.org/2001/XMLSchema-instance}nil") for e in etree.fromstring(content).iter(name)]
    return ["true" if flag == "1" else flag for flag in flags]


# --- faults


def local_name(code):
    return code.rsplit(":", 1)[-1]


def register_fault(code):
    def fail(endpoint):
        try:
            endpoint.call("fail", code=code)
        except Fault as fault:
            check_bench_fault(endpoint, fault, code)
        else:
            raise AssertionError("expected a fault, got a response")

    TESTS.append(("faults", "typed fault, code %r" % code, fail))


def check_bench_fault(endpoint, fault, code):
    if local_name(fault.code) not in FAULT_CODES[endpoint.soap]:
        raise AssertionError("fault code %r" % fault.code)
    if not fault.message:
        raise AssertionError("the fault has no text")
    element = endpoint.client.get_element("{%s}BenchFault" % TYPES_NS)
    entries = [entry for entry in fault.detail if entry.tag == element.qname]
    expect(len(entries), 1, "BenchFault entries in the detail")
    detail = element.parse(entries[0], endpoint.client.wsdl.types)
    expect(text_or_empty(detail.code), code, "code")
    expect(detail.limit, len(code), "limit")


for fault_code in ("quota", "<a & b>", "漢字🦀", ""):
    register_fault(fault_code)


def expect_callers_fault(endpoint, body):
    status, envelope = endpoint.post(body)
    namespace = {"e": ENVELOPE[endpoint.soap]}
    path = "e:Body/e:Fault/faultcode" if endpoint.soap == "1.1" else "e:Body/e:Fault/e:Code/e:Value"
    code = envelope.findtext(path, namespaces=namespace)
    if code is None:
        raise AssertionError("no fault in %s" % shorten(etree.tostring(envelope)))
    expect(local_name(code.strip()), CALLER_IS_TO_BLAME[endpoint.soap], "fault code")
    # SOAP 1.1 over HTTP, section 6.2: always 500. SOAP 1.2 part 2, section 7.5.2.2: 400 for Sender.
    expect(status, 500 if endpoint.soap == "1.1" else 400, "HTTP status")


@test("faults")
def an_unknown_operation(endpoint):
    expect_callers_fault(endpoint, '<b:noSuchOperation xmlns:b="urn:bench"/>')


@test("faults")
def a_known_operation_in_another_namespace(endpoint):
    expect_callers_fault(endpoint, '<b:echoInts xmlns:b="urn:other"><item>1</item></b:echoInts>')


@test("faults")
def a_value_that_is_no_int(endpoint):
    expect_callers_fault(endpoint, '<b:echoInts xmlns:b="urn:bench"><item>one</item></b:echoInts>')


@test("faults")
def an_enumeration_value_that_does_not_exist(endpoint):
    expect_callers_fault(
        endpoint,
        '<b:echoStruct xmlns:b="urn:bench"><person id="1"><name>x</name><score>1</score><role>king</role></person>'
        "</b:echoStruct>",
    )


# --- header blocks


def trace_block(endpoint, hops, mandatory):
    block = etree.Element("{%s}Trace" % TYPES_NS)
    etree.SubElement(block, "id").text = "<a> & ä"
    etree.SubElement(block, "hops").text = str(hops)
    if mandatory:
        block.set("{%s}mustUnderstand" % ENVELOPE[endpoint.soap], "1")
    return block


def trace(endpoint, mandatory):
    for hops in range(3):
        answer = endpoint.call("trace", _soapheaders=[trace_block(endpoint, hops, mandatory)])
        block = answer.header.header
        expect((block.id, block.hops), ("<a> & ä", hops + 1), "block")


@test("headers")
def a_header_block_both_ways(endpoint):
    trace(endpoint, False)


@test("headers")
def a_mandatory_header_block(endpoint):
    trace(endpoint, True)


# --- the wire: zeep uses a replaceable transport


def some_calls(endpoint):
    items = [some_double() for _ in range(1000)]
    for number in range(5):
        items[number * 100] = some_double()
        expect_items(endpoint.call("echoDoubles", item=items), items, bits)


class Utf16Transport(Transport):
    def post_xml(self, address, envelope, headers):
        message = etree.tostring(envelope, encoding="utf-16", xml_declaration=True)
        media = headers["Content-Type"].replace("utf-8", "utf-16")
        return self.post(address, message, {**headers, "Content-Type": media})


@test("utf-16")
def requests_in_utf_16(endpoint):
    endpoint = endpoint.over(Utf16Transport())
    some_calls(endpoint)
    for number in range(5):
        items = ["äß漢字🦀 <%d>" % (number if n == 20 else n) for n in range(50)]
        expect_items(endpoint.call("echoStrings", item=items), items)


class ChunkingTransport(Transport):
    def post(self, address, message, headers):
        return super().post(address, (message[n : n + 1000] for n in range(0, len(message), 1000)), headers)


@test("chunked")
def chunked_requests(endpoint):
    # zeep cannot log an unknown message, so logging is off.
    some_calls(endpoint.over(ChunkingTransport()))


@test("length")
def requests_with_content_length(endpoint):
    some_calls(endpoint)


class GzipTransport(Transport):
    def post(self, address, message, headers):
        response = super().post(address, gzip.compress(message), {**headers, "Content-Encoding": "gzip"})
        expect(response.headers.get("Content-Encoding"), "gzip", "content coding of the response")
        return response


@test("gzip")
def gzip_both_ways(endpoint):
    some_calls(endpoint.over(GzipTransport()))


def trusting(ca_file):
    session = requests.Session()
    # Otherwise a bundle from the environment overrides ours.
    session.trust_env = False
    session.verify = ca_file
    return Transport(session=session)


@test("tls")
def calls_over_tls(endpoint):
    some_calls(Endpoint(TLS_URL, endpoint.soap, trusting(CA_FILE)))


@test("tls")
def an_unknown_authority_is_refused(endpoint):
    try:
        Endpoint(TLS_URL, endpoint.soap)
    except requests.exceptions.SSLError:
        return
    raise AssertionError("a certificate of an untrusted authority was accepted")


# --- attachments and one-way messages

lacks("mtom", "echoAttachment as a part", "packages of parts are decoded, but never sent")


@test("mtom")
def echoAttachment_as_text(endpoint):
    answer = endpoint.call("echoAttachment", name="a & b", data=b"\x00\x01" * 5000)
    expect((answer.name, answer.data), ("a & b", b"\x00\x01" * 5000))


@test("one-way")
def notifications_arrive(endpoint):
    topic = "zeep over %s, %d" % (endpoint.soap, os.getpid())
    for _ in range(3):
        endpoint.call("notify", topic=topic)
    for _ in range(50):
        count = endpoint.call("notified", topic=topic)
        if count == 3:
            return
        time.sleep(0.1)
    expect(count, 3, "count")


# --- running


def run(endpoint, feature, name, function):
    line = {"soap": endpoint.soap, "feature": feature, "test": name, "ok": True, "detail": ""}
    try:
        function(endpoint)
    except Lacking as lacking:
        line["skipped"] = str(lacking)
    except Exception as error:  # any error fails the test
        line.update(ok=False, detail="%s: %s" % (type(error).__name__, shorten(str(error))))
    print(json.dumps(line), flush=True)


def main(url):
    for soap in PORT:
        endpoint = Endpoint(url, soap)
        for feature, name, function in TESTS:
            run(endpoint, feature, name, function)


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    TLS_URL, CA_FILE = sys.argv[2:]
    main(sys.argv[1])
