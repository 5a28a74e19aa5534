"""Runs a session with our TR-069 server as CwmpClient's device: CwmpClient determines the messages and their order.

Two errors are corrected, since no server could accept the messages otherwise: the root element of its envelopes is in no namespace (SOAP
1.1, section 4, requires that of SOAP), and they are sent as text/plain (TR-069, section 3.4.1, requires text/xml). Everything else is
unchanged: elements in another order and namespace than in the schema, and some missing, which our server accepts.
"""

import asyncio
import functools
import json
import sys
from urllib.parse import urlsplit, urlunsplit

import aiohttp
from CwmpClient.nodes import BaseNode
from CwmpClient.plugins import tr069


def in_soap(todom):
    """Returns the document with its root element in the namespace of SOAP."""

    def mended(self):
        parts = todom(self)
        parts.document.renameNode(parts.document.documentElement, tr069.SOAPNS, "soap:Envelope")
        return parts

    return mended


class Recorded:
    """Records our server's answers, and how the device handled them."""

    def __init__(self):
        self.statuses, self.methods = [], []

    async def next_request(self, app, session, status, text):
        self.statuses.append(status)
        async for method in CWMP_NEXT_REQUEST(app, session, status, text):
            self.methods.append(method.method)
            yield method


CWMP_NEXT_REQUEST = tr069.get_next_request


class App:
    def __init__(self):
        self.root = BaseNode()


async def session(url):
    app, recorded = App(), Recorded()
    tr069.get_next_request = recorded.next_request
    await tr069.loader(app.root)
    app.root["Device"]["ManagementServer"]["URL"].set(url)
    await tr069.start(app)
    return recorded


def result(test, wrong):
    line = {"soap": "1.1", "feature": "sessions", "test": test, "ok": not wrong, "detail": wrong}
    print(json.dumps(line), file=OUTPUT, flush=True)


OUTPUT = sys.stdout


def main():
    # aiohttp does not store cookies of hosts that are IP addresses.
    url = urlsplit(sys.argv[1])
    url = urlunsplit(url._replace(netloc=f"localhost:{url.port}"))
    tr069.Tr69Request.todom = in_soap(tr069.Tr69Request.todom)
    tr069.aiohttp.ClientSession = functools.partial(aiohttp.ClientSession, headers={"Content-Type": "text/xml"})
    sys.stdout = sys.stderr
    for number in range(3):
        recorded = asyncio.run(session(url))
        expected = ["GetParameterNames", "GetParameterValues"]
        wrong = "" if recorded.methods == expected else f"asked for {recorded.methods}, statuses {recorded.statuses}"
        result(f"session {number}: the requests of the server are answered", wrong)
        end = recorded.statuses[-1] if recorded.statuses else None
        result(f"session {number}: it ends with 204", "" if end == 204 else f"ends with {end}")


main()
