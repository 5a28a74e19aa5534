"""Fetches every case of the service /types from our server with zeep, and sends it back to be checked.

    cases.py TYPES-URL ENCODED-URL

Prints one JSON object per test; tests/interop/README.md documents it.
"""

import json
import sys

from zeep import Client, Settings
from zeep.exceptions import Fault

PORT = {"1.1": "Soap11", "1.2": "Soap12"}

# What zeep does not offer, and why: features, or single tests of one.
EMPTY = "empty and nil elements both become None"
FLOATS = "special floats are written in Python's way: inf, nan"
LACKS = {
    "literal primitives/infinity": FLOATS,
    "literal primitives/negative infinity": FLOATS,
    "literal primitives/not a number": FLOATS,
    "literal primitives/an early time": "years before 1000 are written with fewer than four digits",
    "literal primitives/empty texts": EMPTY,
    "literal primitives/a qualified name": "names are text: the declaration of the prefix is not kept",
    "literal nil/all is nil": EMPTY,
    "literal nil/an empty text": EMPTY,
    "literal nil/a nil struct": EMPTY,
    "literal choice/the last branch": "a branch with the value 0 is taken to be missing",
    "literal lists/empty arrays": EMPTY,
    "literal lists/nil items": "nil items of an array are left out",
    "literal lists/empty arrays in an array": EMPTY,
}


class Tests:
    def __init__(self, soap, url):
        self.soap = soap
        self.client = Client(url + "?wsdl", settings=Settings(xml_huge_tree=True))
        self.service = self.client.bind("Types", PORT[soap])

    def run(self):
        for case in self.service["cases"]():
            feature, kind, name = case["feature"], case["kind"], case["name"]
            self.test(feature, name, lambda: self.check(kind, name))
        self.test("headers", "a header block", lambda: self.trace(True))
        self.test("headers", "no header block", lambda: self.trace(False))
        for code in ["quota", "<a & b> 漢字"]:
            self.test("faults", "a typed fault, code " + code, lambda: self.fail(code))

    def check(self, kind, name):
        value = self.service["sample" + kind](case=name)
        problem = self.service["check" + kind](case=name, value=value)
        expect(problem or "", "")

    def trace(self, sends):
        fields = dict(id="abc <1>", hops=41)
        block = self.client.get_element("{urn:types}Trace")(**fields)
        answer = self.service["trace"](_soapheaders=[block] if sends else [])
        header = getattr(answer, "header", None)
        trace = header and (getattr(header, "Trace", None) or getattr(header, "header", None))
        expect((trace.id, trace.hops) if trace else None, ("abc <1>", 42) if sends else None)

    def fail(self, code):
        try:
            self.service["fail"](code=code)
        except Fault as fault:
            texts = {element.tag: element.text for element in fault.detail[0]}
            expect((texts["code"], texts["limit"]), (code, str(len(code))))
            return
        raise AssertionError("expected a fault, got a response")

    def test(self, feature, name, run):
        feature = "literal " + feature
        skipped = LACKS.get(feature) or LACKS.get(feature + "/" + name)
        detail = ""
        try:
            if not skipped:
                run()
        except Exception as error:
            detail = "%s: %s" % (type(error).__name__, error)
        line = dict(soap=self.soap, feature=feature, test=name, ok=not detail, detail=detail[:600])
        if skipped:
            line["skipped"] = skipped
        print(json.dumps(line, ensure_ascii=False), flush=True)


def expect(actual, expected):
    if actual != expected:
        raise AssertionError("expected %r, got %r" % (expected, actual))


for soap in PORT:
    # zeep tries to download the schema of SOAP encoding, which is unavailable, so /encoded is left
    # out.
    Tests(soap, sys.argv[1]).run()
