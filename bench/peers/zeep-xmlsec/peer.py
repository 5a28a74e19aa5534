"""zeep's WS-Security, which is xmlsec over lxml's trees: signs and verifies body and timestamp.

Speaks the part of ../PROTOCOL.md that `deltasoap-bench security` needs. What is prepared begins with the certificate
and the key in PEM, then there is the message.
"""

import copy
import os
import sys
import tempfile
import time
from datetime import datetime, timedelta, timezone
from importlib.metadata import version

import protocol
import xmlsec
from lxml import etree
from zeep import ns
from zeep.wsse import utils
from zeep.wsse.signature import BinarySignature, verify_envelope

COPIES = 16
PARSER = etree.XMLParser(huge_tree=True, resolve_entities=False)


class Sign:
    """Signs a tree; that of the message is copied before."""

    def __init__(self, identity, message):
        self.length = len(message)
        self.envelope = etree.fromstring(message, PARSER)
        methods = {"signature_method": xmlsec.Transform.RSA_SHA256, "digest_method": xmlsec.Transform.SHA256}
        self.signature = BinarySignature(identity, identity, **methods)

    def once(self):
        self.signed = copy.deepcopy(self.envelope)
        start = time.perf_counter_ns()
        now = datetime.now(timezone.utc)
        created, expires = (time.strftime("%Y-%m-%dT%H:%M:%SZ") for time in (now, now + timedelta(days=1)))
        stamp = utils.WSU("Timestamp", utils.WSU("Created", created), utils.WSU("Expires", expires))
        utils.get_security_header(self.signed).append(stamp)
        self.signature.apply(self.signed, {})
        return time.perf_counter_ns() - start

    def output(self):
        return etree.tostring(self.signed)


class Verify:
    """Parses a message, and verifies it. The time of the timestamp is not looked at."""

    def __init__(self, identity, message):
        self.length, self.identity = len(message), identity
        # A full slice would be the same object.
        self.messages = [bytes(bytearray(message)) for _ in range(COPIES)]
        self.next = 0

    def once(self):
        self.next = (self.next + 1) % COPIES
        start = time.perf_counter_ns()
        envelope = etree.fromstring(self.messages[self.next], PARSER)
        verify_envelope(envelope, self.identity)
        elapsed = time.perf_counter_ns() - start
        signed = {reference.get("URI") for reference in envelope.iter(f"{{{ns.DS}}}Reference")}
        for element in (envelope.find(f"{{{ns.SOAP_ENV_11}}}Body"), envelope.find(f".//{{{ns.WSU}}}Timestamp")):
            if "#" + element.get(f"{{{ns.WSU}}}Id") not in signed:
                raise ValueError(f"{element.tag} is not signed")
        return elapsed


class Peer(protocol.Peer):
    def __init__(self, requests, answers, identity):
        super().__init__(None, requests, answers)
        self.identity = identity

    def answer(self, words):
        match words:
            case ["hello"]:
                versions = f"{version('zeep')} with xmlsec {version('xmlsec')}"
                return {"peer": "zeep", "version": versions, "workloads": ["sign", "verify"]}
            case ["prepare", workload, _, length]:
                return self.prepare(workload, self.requests.read(int(length)))
            case ["run", count]:
                return {"ns": [self.prepared.once() for _ in range(int(count))], "checksum": ""}
            case ["output"]:
                output = self.prepared.output()
                return b"%d\n" % len(output) + output
        raise ValueError(f"this peer does not know {words}")

    def prepare(self, workload, data):
        self.prepared = None
        begin = data.index(b"<")
        with open(self.identity, "wb") as file:
            file.write(data[:begin])
        prepared = {"sign": Sign, "verify": Verify}[workload](self.identity, data[begin:])
        prepared.once()
        self.prepared = prepared
        return {"ok": True, "checksum": "", "bytes": prepared.length}


if __name__ == "__main__":
    # The output of a library is not an answer.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    with tempfile.TemporaryDirectory() as folder:
        Peer(sys.stdin.buffer, answers, os.path.join(folder, "identity.pem")).run()
