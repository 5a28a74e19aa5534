"""spyne as a peer of the benchmark: reading requests and writing responses as its server does, and the server itself."""

import math
import socket
import threading
from importlib.metadata import version

from cheroot import wsgi as wsgi_server
from cheroot.ssl.builtin import BuiltinSSLAdapter
from spyne import Application, ByteArray, ComplexModel, Double, Integer32, MethodContext, ServiceBase, Unicode, rpc
from spyne.protocol.soap import Soap11
from spyne.server import ServerBase
from spyne.server.wsgi import WsgiApplication
from waitress.server import create_server

import protocol

BENCH = "urn:bench"
# Maximum size of a request in bytes; the default of 2 MiB is less than large arrays need.
MOST_BYTES = 1 << 30
# Elements inside an operation's element have no namespace.
LOCAL = {"sub_ns": ""}
INT, DOUBLE, STRING = Integer32(**LOCAL), Double(**LOCAL), Unicode(**LOCAL)


class Mio(ComplexModel):
    __namespace__ = BENCH
    _type_info = [("x", INT), ("y", INT), ("v", DOUBLE)]


class Event(ComplexModel):
    __namespace__ = BENCH
    _type_info = [("id", INT), ("value", DOUBLE), ("message", STRING)]


def many(type):
    return type.customize(max_occurs="unbounded", **LOCAL)


ITEMS = {"Ints": many(Integer32), "Doubles": many(Double), "Strings": many(Unicode), "Mios": many(Mio), "Events": many(Event)}
DATA = ByteArray.customize(**LOCAL)


def echo(context, item):
    return item or []


def count(context, item):
    return len(item or [])


def octets(context, data):
    return sum(map(len, data or []))


def made(make):
    return lambda context, count: [make(i + 1) for i in range(count)]


MADE = {
    "Ints": lambda i: i,
    "Doubles": math.sqrt,
    "Strings": lambda i: f"Message #{i}".ljust(100, "."),
    "Mios": lambda i: Mio(x=i, y=i, v=math.sqrt(i)),
    "Events": lambda i: Event(id=i, value=math.sqrt(i), message=f"Message #{i}"),
}


def method(function, name, argument, returns, variable, response=None):
    """Returns a method of a service: its message's element, and the one in its response."""
    code = {"item": lambda ctx, item: function(ctx, item), "data": lambda ctx, data: function(ctx, data), "count": lambda ctx, count: function(ctx, count)}
    field, type = argument
    body = code[field]
    body.__name__ = name
    return rpc(type, _returns=returns, _out_variable_name=variable, _out_message_name=response or f"{name}Response")(body)


def service():
    """The operations of the WSDL."""
    def echo_void(ctx):
        pass

    echo_void.__name__ = "echoVoid"
    methods = {"echoVoid": rpc(_out_message_name="echoVoidResponse")(echo_void)}
    for name, item in ITEMS.items():
        methods[f"echo{name}"] = method(echo, f"echo{name}", ("item", item), item, "item")
        methods[f"send{name}"] = method(count, f"send{name}", ("item", item), INT, "count")
        methods[f"receive{name}"] = method(made(MADE[name]), f"receive{name}", ("count", INT), item, "item")
    methods["echoBase64"] = method(lambda ctx, data: data, "echoBase64", ("data", DATA), DATA, "data")
    methods["sendBase64"] = method(octets, "sendBase64", ("data", DATA), INT, "count")
    methods["receiveBase64"] = method(lambda ctx, count: [bytes(i % 256 for i in range(count))], "receiveBase64", ("count", INT), DATA, "data")
    return type("Service", (ServiceBase,), methods)


def writer():
    """Operations whose responses are the messages to write."""
    methods = {f"make{name}": method(echo, f"make{name}", ("item", item), item, "item", f"send{name}") for name, item in ITEMS.items()}
    methods["makeBase64"] = method(lambda ctx, data: data, "makeBase64", ("data", DATA), DATA, "data", "sendBase64")
    return type("Writer", (ServiceBase,), methods)


def application(service):
    return Application([service], BENCH, name=service.__name__, in_protocol=Soap11(huge_tree=True), out_protocol=Soap11(huge_tree=True))


class Spyne:
    name = "spyne"
    has_composites = False
    version = version("spyne")
    calls = []
    transports = ["tls"]

    def __init__(self):
        self.service = service()
        self.application = application(self.service)
        self.reader, self.writer = ServerBase(self.application), ServerBase(application(writer()))
        self.operations = sorted(self.service.public_methods)

    def decode(self, kind, message):
        """Does what spyne's servers do with a request between the transport and the method."""
        context = MethodContext(self.reader, MethodContext.SERVER)
        context.in_string = [message]
        context, = self.reader.generate_contexts(context)
        if not context.in_error:
            self.reader.get_in_object(context)
        if context.in_error:
            raise context.in_error
        if context.descriptor.name != protocol.OPERATIONS[kind]:
            raise ValueError(f"{context.descriptor.name} is another operation")
        return READ.get(kind, list)(context.in_object[0] or [])

    def encode(self, kind, values):
        """Does what spyne's servers do with a method's result, up to the transport."""
        context = MethodContext(self.writer, MethodContext.SERVER)
        context.method_request_string = "{%s}%s" % (BENCH, protocol.OPERATIONS[kind].replace("send", "make"))
        context, = context.in_protocol.generate_method_contexts(context)
        context.out_object = [WRITTEN.get(kind, list)(values)]
        self.writer.get_out_string(context)
        return b"".join(context.out_string)

    def serve(self, connections, transport):
        """waitress does not support TLS; cheroot does."""
        wsgi = WsgiApplication(self.application, max_content_length=MOST_BYTES)
        # Concurrent requests share Python's one running thread: more than a few threads only add
        # cost.
        if transport.is_tls:
            server = wsgi_server.Server(("127.0.0.1", 0), wsgi, numthreads=4, timeout=3600)
            server.ssl_adapter = BuiltinSSLAdapter(f"{transport.folder}/certificate.pem", f"{transport.folder}/key.pem")
            server.keep_alive_conn_limit = connections + 100
            server.prepare()
            threading.Thread(target=server.serve, daemon=True).start()
            return server.bind_addr[1]
        listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
        server = create_server(wsgi, sockets=[listener], threads=4, connection_limit=connections + 100, channel_timeout=3600)
        threading.Thread(target=server.run, daemon=True).start()
        return listener.getsockname()[1]


READ = {
    "structs": lambda items: [(item.x, item.y, item.v) for item in items],
    "events": lambda items: [(item.id, item.value, item.message) for item in items],
    "base64": lambda pieces: b"".join(pieces),
    "doubles64": lambda pieces: protocol.doubles_of(b"".join(pieces)),
}

WRITTEN = {
    "structs": lambda values: [Mio(x=x, y=y, v=v) for x, y, v in values],
    "events": lambda values: [Event(id=id, value=value, message=message) for id, value, message in values],
    "base64": lambda octets: [octets],
    "doubles64": lambda doubles: [doubles.tobytes()],
}

if __name__ == "__main__":
    protocol.main(Spyne())
