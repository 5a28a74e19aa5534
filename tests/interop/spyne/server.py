"""Serves testdata/wsdl/bench.wsdl with spyne.

    server.py CERTIFICATE-FILE KEY-FILE

Prints a line `listening on URL` for HTTP and one for HTTPS, and serves until it is killed.
"""

import math
import sys
import threading
from collections import Counter

from cheroot import wsgi
from cheroot.ssl.builtin import BuiltinSSLAdapter
from spyne import (
    Application,
    Boolean,
    ByteArray,
    ComplexModel,
    Date,
    DateTime,
    Decimal,
    Double,
    Enum,
    Fault,
    Float,
    Integer32,
    Integer64,
    ServiceBase,
    Unicode,
    XmlAttribute,
    rpc,
)
from spyne.protocol.soap import Soap11, Soap12
from spyne.const.http import HTTP_202
from spyne.server.wsgi import WsgiApplication

BENCH = "urn:bench"
# Maximum size of a request in bytes; the default of 2 MiB is less than large arrays need.
MOST_BYTES = 1 << 30
# Elements inside an operation's element have no namespace.
LOCAL = {"sub_ns": ""}
REQUIRED = {"min_occurs": 1, "nillable": False, **LOCAL}
INT, TEXT, DATA = (kind(**REQUIRED) for kind in (Integer32, Unicode, ByteArray))
ABSENT = {"min_occurs": 0, "nillable": False, **LOCAL}


class Mio(ComplexModel):
    __namespace__ = BENCH
    _type_info = [("x", INT), ("y", INT), ("v", Double(**REQUIRED))]


class Address(ComplexModel):
    __namespace__ = BENCH
    _type_info = [("street", TEXT), ("city", TEXT), ("zip", Unicode(**ABSENT))]


class Person(ComplexModel):
    __namespace__ = BENCH
    _type_info = [
        ("name", TEXT),
        ("nickname", Unicode(**ABSENT)),
        ("score", Double(min_occurs=1, nillable=True, **LOCAL)),
        ("born", Date(min_occurs=0, nillable=True, **LOCAL)),
        ("role", Enum("admin", "member", "guest", type_name="Role").customize(**REQUIRED)),
        ("address", Address.customize(**ABSENT)),
        ("tag", Unicode(max_occurs="unbounded", **ABSENT)),
        ("id", XmlAttribute(Integer64, use="required")),
        ("active", XmlAttribute(Boolean)),
    ]


class Trace(ComplexModel):
    """A header block."""

    __namespace__ = BENCH
    _type_info = [("id", TEXT), ("hops", INT)]


ITEMS = {
    "Booleans": Boolean,
    "Ints": Integer32,
    "Longs": Integer64,
    "Floats": Float,
    "Doubles": Double,
    "Decimals": Decimal,
    "DateTimes": DateTime,
    "Strings": Unicode,
    "Mios": Mio,
}
TOPICS = Counter()


def method(name, arguments, result=None, **options):
    """Makes a function an operation: its parameters and its result are in elements of their own."""

    def decorate(function):
        function.__name__ = name
        if result:
            options.update(_returns=result[1], _out_variable_name=result[0])
        return rpc(*arguments, _out_message_name=f"{name}Response", **options)(function)

    return decorate


def lists():
    """Returns a service with the operations of lists."""
    methods = {}
    for kind, item in ITEMS.items():
        items = item.customize(max_occurs="unbounded", **ABSENT)
        methods[f"echo{kind}"] = method(f"echo{kind}", [items], ("item", items))(lambda ctx, item: item or [])
        methods[f"send{kind}"] = method(f"send{kind}", [items], ("count", INT))(lambda ctx, item: len(item or []))
    return type("Lists", (ServiceBase,), methods)


class Others(ServiceBase):
    @rpc(_out_message_name="echoVoidResponse")
    def echoVoid(ctx):
        pass

    @rpc(DATA, _returns=DATA, _out_variable_name="data", _out_message_name="echoBase64Response")
    def echoBase64(ctx, data):
        # What is empty is decoded as None, which would be nil.
        return data or [b""]

    @rpc(DATA, _returns=INT, _out_variable_name="count", _out_message_name="sendBase64Response")
    def sendBase64(ctx, data):
        return octets(data)

    @rpc(Person.customize(**REQUIRED), _returns=Person.customize(**REQUIRED), _out_variable_name="person", _out_message_name="echoStructResponse")
    def echoStruct(ctx, person):
        return person

    @rpc(_in_header=(Trace,), _out_header=(Trace,), _out_message_name="traceResponse")
    def trace(ctx):
        received = ctx.in_header
        if received is not None:
            ctx.out_header = Trace(id=received.id, hops=received.hops + 1)

    @rpc(TEXT, DATA, _returns=(TEXT, DATA), _out_variable_names=("name", "data"), _out_message_name="echoAttachmentResponse")
    def echoAttachment(ctx, name, data):
        return name, data

    @rpc(TEXT, DATA, _returns=INT, _out_variable_name="count", _out_message_name="sendAttachmentResponse")
    def sendAttachment(ctx, name, data):
        return octets(data)

    @rpc(TEXT, _is_async=True)
    def notify(ctx, topic):
        TOPICS[topic] += 1
        ctx.transport.resp_code = HTTP_202

    @rpc(TEXT, _returns=INT, _out_variable_name="count", _out_message_name="notifiedResponse")
    def notified(ctx, topic):
        return TOPICS[topic]

    @rpc(TEXT, _out_message_name="failResponse")
    def fail(ctx, code):
        detail = {f"{{{BENCH}}}BenchFault": {"code": code, "limit": str(len(code))}}
        raise Fault("Server", "this operation always fails", detail=detail)


def say_nothing(ctx):
    """One-way operations are answered with a status alone."""
    if ctx.descriptor and ctx.descriptor.is_async:
        ctx.out_string = [b""]


def octets(data):
    return sum(map(len, data or []))


def decimal(cls, value, **others):
    """Decimals have no exponents in XML Schema."""
    return f"{value:f}"


def floating(cls, value, **others):
    """Special numbers have the names of XML Schema, not Python's."""
    if math.isfinite(value):
        return repr(value)
    return "NaN" if math.isnan(value) else "INF" if value > 0 else "-INF"


def protocol(kind):
    made = kind(huge_tree=True)
    made._to_unicode_handlers |= {Float: floating, Double: floating, Decimal: decimal}
    return made


def application(kind):
    made = Application([lists(), Others], BENCH, name="Bench", in_protocol=protocol(kind), out_protocol=protocol(kind))
    served = WsgiApplication(made, max_content_length=MOST_BYTES)
    served.event_manager.add_listener("wsgi_return", say_nothing)
    return served


def by_version():
    """spyne has one version of SOAP per application: the media type of the request selects it."""
    soap_11, soap_12 = application(Soap11), application(Soap12)

    def dispatch(environment, start_response):
        is_12 = "soap+xml" in environment.get("CONTENT_TYPE", "")
        return (soap_12 if is_12 else soap_11)(environment, start_response)

    return dispatch


def main():
    certificate, key = sys.argv[1:]
    served = by_version()
    for scheme in ("http", "https"):
        server = wsgi.Server(("127.0.0.1", 0), served, timeout=3600)
        if scheme == "https":
            server.ssl_adapter = BuiltinSSLAdapter(certificate, key)
        server.prepare()
        threading.Thread(target=server.serve).start()
        print(f"listening on {scheme}://localhost:{server.bind_addr[1]}/bench", flush=True)


if __name__ == "__main__":
    main()
