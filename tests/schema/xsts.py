"""Measures how far `deltasoap validate` agrees with the W3C XML Schema test suite, for XSD 1.0.

Runs the instance tests whose schema we can read. If the suite and we disagree, the package xmlschema decides: if it agrees with us, the
test is listed as disputed and does not count.
"""

import argparse
import collections
import json
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

import xmlschema
from lxml import etree

TS = "http://www.w3.org/XML/2004/xml-schema-test-suite/"
XLINK = "{http://www.w3.org/1999/xlink}href"


def ts(local):
    return f"{{{TS}}}{local}"


def main():
    arguments = parse()
    groups = [group for path in sets(arguments) for group in groups_of(path)]
    groups.extend(nist(arguments))
    counts, disputes = collections.Counter(), []
    with ThreadPoolExecutor(arguments.jobs) as pool:
        for group, verdicts in zip(groups, pool.map(lambda group: ours(arguments, group), groups)):
            judge(group, verdicts, counts, disputes)
    report(counts, disputes, arguments)


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--deltasoap", required=True)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--goal", type=float, default=99.0)
    parser.add_argument("--only", default="")
    parser.add_argument("--list")
    parser.add_argument("suite")
    return parser.parse_args()


def sets(arguments):
    """Returns the test sets of the suite that exist."""
    root = etree.parse(os.path.join(arguments.suite, "suite.xml")).getroot()
    paths = [os.path.join(arguments.suite, at.get(XLINK)) for at in root.iter(ts("testSetRef"))]
    return [path for path in paths if arguments.only in path and os.path.isfile(path)]


def is_for_1_0(element):
    """Returns whether a test is for XSD 1.0; tests without a version are for both."""
    version = element.get("version")
    return version is None or "1.0" in version.split()


def groups_of(path):
    root = etree.parse(path).getroot()
    if not is_for_1_0(root):
        return
    for group in root.iter(ts("testGroup")):
        schema = group.find(ts("schemaTest"))
        if schema is None or not is_for_1_0(group) or expected(schema) != "valid":
            continue
        documents = [located(path, at) for at in schema.findall(ts("schemaDocument"))]
        tests = []
        for test in group.findall(ts("instanceTest")):
            verdict = expected(test) if is_for_1_0(test) else None
            status = test.find(ts("current"))
            is_disputed = status is not None and status.get("status") in ("disputed-test", "disputed-spec")
            if verdict in ("valid", "invalid") and not is_disputed:
                tests.append((test.get("name"), located(path, test.find(ts("instanceDocument"))), verdict))
        if documents and tests:
            yield {"set": os.path.basename(path), "group": group.get("name"), "documents": documents, "tests": tests}


def located(path, element):
    return os.path.normpath(os.path.join(os.path.dirname(path), element.get(XLINK)))


def expected(test):
    """Returns the verdict for XSD 1.0."""
    for at in test.findall(ts("expected")):
        if is_for_1_0(at):
            return at.get("validity")
    return None


def nist(arguments):
    """Returns the tests of NIST by their file names, for copies of the suite without their list: `SV-IV` is a valid instance of a valid schema."""
    path = os.path.join(arguments.suite, "nistMeta/NISTXMLSchemaDatatypes.testSet")
    if os.path.isfile(path) or arguments.only not in path:
        return
    for base, _, names in sorted(os.walk(os.path.join(arguments.suite, "nistData"))):
        for name in sorted(name for name in names if name.endswith(".xsd")):
            stem = name[:-4].removeprefix("NISTSchema-SV-IV-")
            pattern = re.compile(rf"NISTXML-SV-I([VI])-{re.escape(stem)}-\d+\.xml")
            found = sorted((match.group(), match.group(1)) for match in map(pattern.fullmatch, names) if match)
            tests = [(test, os.path.join(base, test), "valid" if verdict == "V" else "invalid") for test, verdict in found]
            if tests:
                yield {"set": "NIST", "group": name[:-4], "documents": [os.path.join(base, name)], "tests": tests}


def ours(arguments, group):
    """Returns our verdict for each instance: valid, invalid, or why there is none."""
    with tempfile.TemporaryDirectory() as folder:
        schema = whole(group["documents"], folder)
        command = [arguments.deltasoap, "validate", "--json", "--offline", "--root", "/", schema]
        instances = [test[1] for test in group["tests"]]
        try:
            done = subprocess.run(command + instances, capture_output=True, timeout=60, check=False)
        except subprocess.TimeoutExpired:
            return ["timeout"] * len(instances)
    if done.returncode not in (0, 1) or b"panicked" in done.stderr:
        return ["crash: " + done.stderr.decode(errors="replace")[:300]] * len(instances)
    findings = collections.defaultdict(list)
    for line in done.stdout.decode(errors="replace").splitlines():
        finding = json.loads(line)
        findings[finding["file"]].append(finding["message"])
    if done.returncode == 1 and not findings:
        return ["schema: " + done.stderr.decode(errors="replace").strip().splitlines()[0][:300]] * len(instances)
    return ["invalid: " + findings[path][0] if path in findings else "valid" for path in instances]


def whole(documents, folder):
    """Returns one document that contains all of them."""
    if len(documents) == 1:
        return documents[0]
    main = etree.Element("{http://www.w3.org/2001/XMLSchema}schema")
    for document in documents:
        namespace = etree.parse(document).getroot().get("targetNamespace")
        local = "import" if namespace else "include"
        at = etree.SubElement(main, f"{{http://www.w3.org/2001/XMLSchema}}{local}", schemaLocation=document)
        if namespace:
            at.set("namespace", namespace)
    path = os.path.join(folder, "whole.xsd")
    etree.ElementTree(main).write(path)
    return path


def judge(group, verdicts, counts, disputes):
    other = None
    for (name, path, wanted), verdict in zip(group["tests"], verdicts):
        kind = verdict.split(":")[0]
        if kind == "schema":
            counts["not judged: schemas that we do not read"] += 1
            disputes.append({"set": group["set"], "test": name, "path": path, "suite": wanted, "ours": verdict, "kind": "schema"})
        elif "DOCTYPE" in verdict or "document type" in verdict:
            counts["not judged: documents with a DOCTYPE, which SOAP forbids"] += 1
        elif kind == wanted:
            counts["agreed"] += 1
        else:
            other = other or Other(group["documents"])
            third = other.verdict(path)
            is_ours = third == kind
            counts["disputed: xmlschema agrees with us" if is_ours else "disagreed"] += 1
            entry = {"set": group["set"], "test": name, "path": path, "suite": wanted, "ours": verdict, "xmlschema": third}
            disputes.append(entry | {"kind": "disputed" if is_ours else "wrong"})


class Other:
    """The verdicts of xmlschema."""

    def __init__(self, documents):
        self.schema = None
        try:
            self.schema = xmlschema.XMLSchema10(documents, allow="local", use_fallback=False)
        except Exception:  # It raises many types of errors.
            pass

    def verdict(self, path):
        if self.schema is None:
            return "no verdict"
        try:
            return "valid" if self.schema.is_valid(path, use_location_hints=False) else "invalid"
        except Exception:
            return "no verdict"


def report(counts, disputes, arguments):
    for name in sorted(counts):
        print(f"{counts[name]:8}  {name}")
    for entry in disputes:
        if entry["kind"] != "schema":
            third = f"xmlschema {entry['xmlschema']}"
            print(f"{entry['kind']}: {entry['set']} {entry['test']}: suite {entry['suite']}, {third}, ours {entry['ours']}")
    if arguments.list:
        with open(arguments.list, "w", encoding="utf-8") as file:
            json.dump(disputes, file, indent=1)
    agreed, wrong = counts["agreed"], counts["disagreed"]
    share = 100 * agreed / max(agreed + wrong, 1)
    print(f"{agreed} of {agreed + wrong} verdicts agree with the suite, {share:.2f} %")
    sys.exit(0 if share >= arguments.goal else 1)


if __name__ == "__main__":
    main()
