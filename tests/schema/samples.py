"""Validates samples of WSDLs with libxml2 and with the package xmlschema.

Takes operations of each WSDL, has `deltasoap template --xml` write a request and a response of each, and validates the content of the
body against the WSDL's schemas. Bodies in SOAP encoding are counted separately: by their nature they are not valid against a schema.
"""

import argparse
import collections
import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor

import xmlschema
from lxml import etree

from schemas import PARTS, XSD, Schemas, wsdl

SOAP = ("http://schemas.xmlsoap.org/soap/envelope/", "http://www.w3.org/2003/05/soap-envelope")
VALIDATORS = ("libxml2", "xmlschema")


def main():
    arguments = parse()
    wsdls = sorted(found(arguments.folder))
    tasks = [(arguments, path) for path in wsdls]
    counts = collections.Counter()
    failures = []
    with ProcessPoolExecutor(arguments.jobs) as pool:
        for path, result in zip(wsdls, pool.map(checked, tasks, chunksize=1)):
            counts.update(result["counts"])
            failures.extend(result["failures"])
    report(counts, failures, arguments)


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--deltasoap", required=True)
    parser.add_argument("--builtin", required=True)
    parser.add_argument("--operations", type=int, default=2)
    parser.add_argument("--validators", default=",".join(VALIDATORS))
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--goal", type=float, default=99.5)
    parser.add_argument("--failures")
    parser.add_argument("folder", nargs="+")
    return parser.parse_args()


def found(folders):
    for folder in folders:
        if os.path.isfile(folder):
            yield folder
        for base, _, names in os.walk(folder):
            yield from (os.path.join(base, name) for name in names if name.endswith(".wsdl"))


def deltasoap(arguments, *words):
    command = [arguments.deltasoap, *words]
    done = subprocess.run(command, capture_output=True, timeout=120, stdin=subprocess.DEVNULL)
    return done.returncode, done.stdout, done.stderr.decode(errors="replace")


def checked(task):
    arguments, path = task
    counts, failures = collections.Counter(), []
    try:
        one_wsdl(arguments, path, counts, failures)
    except subprocess.TimeoutExpired:
        counts["WSDLs: out of time"] += 1
    except etree.XMLSyntaxError:
        counts["WSDLs: not well-formed"] += 1
    return {"counts": counts, "failures": failures}


def one_wsdl(arguments, path, counts, failures):
    access = ["--offline", "--root", root_of(arguments, path)]
    _, out, _ = deltasoap(arguments, "list", "--json", *access, path)
    if not out:
        counts["WSDLs: not importable"] += 1
        return
    counts["WSDLs"] += 1
    names = list(dict.fromkeys(it["full_name"] for it in json.loads(out)["operations"]))
    messages = [message for name in spread(names, arguments.operations) for message in samples(arguments, access, path, name)]
    if not messages:
        counts["WSDLs: no operation to sample"] += 1
        return
    schemas = Schemas(path, builtin(arguments.builtin))
    if schemas.missing:
        counts["WSDLs: documents missing"] += 1
        return
    bodies, parts = [], []
    for name, direction, envelope in messages:
        body = next(it for it in envelope if it.tag in (f"{{{soap}}}Body" for soap in SOAP))
        if is_encoded(body):
            counts["messages: SOAP encoding"] += 1
            continue
        try:
            bodies.append((name, direction, entries(schemas, body, name, direction, parts)))
        except Undeclared as error:
            counts["messages: of elements that no schema declares"] += 1
            failures.append({"wsdl": path, "validator": "", "operation": name, "direction": direction, "undeclared": str(error)})
    if bodies:
        with tempfile.TemporaryDirectory() as folder:
            validated(arguments, path, schemas.write(folder, parts), bodies, counts, failures)


def root_of(arguments, path):
    folders = [folder for folder in arguments.folder if os.path.isdir(folder) and path.startswith(folder)]
    return folders[0] if folders else os.path.dirname(os.path.abspath(path))


def builtin(folder):
    files = (os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".xsd"))
    found = {etree.parse(file).getroot().get("targetNamespace"): file for file in files}
    return {name: file for name, file in found.items() if name != XSD}


def spread(names, count):
    """Returns `count` of the names, spread over the WSDL."""
    if len(names) <= count:
        return names
    return [names[number * len(names) // count] for number in range(count)]


def samples(arguments, access, path, name):
    for direction, options in (("request", []), ("response", ["--response"])):
        status, out, _ = deltasoap(arguments, "template", "--xml", *options, *access, path, name)
        if status == 0:
            yield name, direction, etree.fromstring(out)


def known():
    """Returns the samples that cannot be valid, from `known.txt`."""
    with open(os.path.join(os.path.dirname(__file__), "known.txt"), encoding="utf-8") as file:
        lines = (line.rstrip("\n").split("\t") for line in file if not line.startswith("#"))
        return [tuple(line) for line in lines]


def reason(path, operation):
    """Returns why a sample of the operation cannot be valid, or None if it can."""
    name = operation.rsplit(".", 1)[-1]
    return next((why for piece, own, why in known() if piece in path and own in ("*", name)), None)


def is_encoded(body):
    """Returns whether a body is in SOAP encoding: it has `encodingStyle` on the body or the operation."""
    styles = [value for element in (body, *body) for name, value in element.attrib.items() if name.endswith("}encodingStyle")]
    return any("encoding" in style for style in styles)


def entries(schemas, body, name, direction, parts):
    """Returns what is validated of a body: each element, and for rpc each part, which gets an element in the driver's namespace."""
    types = rpc_parts(schemas, name, direction)
    result = []
    for entry in body:
        if types is None:
            if not is_declared(schemas, entry.tag):
                raise Undeclared(entry.tag)
            result.append(entry)
            continue
        for accessor in entry:
            type_name = types.get(accessor.tag)
            if type_name is None:
                result.append(accessor)
                continue
            part = f"p{len(parts)}"
            parts.append((part, type_name, False))
            accessor.tag = f"{{{PARTS}}}{part}"
            result.append(accessor)
    return result


def is_declared(schemas, tag):
    name = etree.QName(tag)
    own = [root for root in schemas.documents.values() if root.get("targetNamespace") in (None, name.namespace)]
    return any(root.find(f"{{{XSD}}}element[@name='{name.localname}']") is not None for root in own)


def binding_name(schemas, name):
    """Returns the binding of `Service.Port.Operation`, or the name in `Binding.Operation`."""
    front = name.rsplit(".", 1)[0]
    for root in schemas.definitions:
        for service in root.findall(wsdl("service")):
            for port in service.findall(wsdl("port")):
                if front == f"{service.get('name')}.{port.get('name')}":
                    return port.get("binding").rpartition(":")[2]
    return front


def rpc_parts(schemas, name, direction):
    """Returns the types of an rpc operation's parts by their names, or None for document style."""
    style, operation, own_binding = None, name.rsplit(".", 1)[-1], binding_name(schemas, name)
    for root in schemas.definitions:
        bindings = (it for it in root.findall(wsdl("binding")) if it.get("name") == own_binding)
        for binding in bindings:
            own = soap_attribute(binding, "binding", "style") or "document"
            for at in binding.findall(wsdl("operation")):
                if at.get("name") == operation and style != "rpc":
                    style = soap_attribute(at, "operation", "style") or own
    if style != "rpc":
        return None
    kind = "input" if direction == "request" else "output"
    types = {}
    for root in schemas.definitions:
        for at in root.findall(f"{wsdl('portType')}/{wsdl('operation')}"):
            parameter = at.find(wsdl(kind)) if at.get("name") == operation else None
            if parameter is not None:
                types.update(message_types(schemas, resolved(parameter, parameter.get("message"))))
    return types


def soap_attribute(element, local, attribute):
    for child in element:
        if isinstance(child.tag, str) and child.tag.endswith(f"/soap/}}{local}") or str(child.tag).endswith(f"/soap12/}}{local}"):
            return child.get(attribute)
    return None


def message_types(schemas, name):
    for root in schemas.definitions:
        for message in root.findall(wsdl("message")):
            if (root.get("targetNamespace") or "", message.get("name")) == name:
                parts = (part for part in message.findall(wsdl("part")) if part.get("type"))
                return {part.get("name"): resolved(part, part.get("type")) for part in parts}
    return {}


def resolved(element, text):
    prefix, _, local = text.strip().rpartition(":")
    return element.nsmap.get(prefix or None) or "", local


def validated(arguments, path, main, bodies, counts, failures):
    for validator in arguments.validators.split(","):
        try:
            check = CHECKS[validator](main)
        except Refused as error:
            counts[f"{validator}: WSDLs whose schema it refuses"] += 1
            counts[f"{validator}: messages of schemas that it refuses"] += len(bodies)
            failures.append({"wsdl": path, "validator": validator, "schema": str(error)})
            continue
        for name, direction, elements in bodies:
            faults = [fault for element in elements for fault in [check(element)] if fault]
            why = reason(path, name) if faults else None
            counts[f"{validator}: {'cannot be valid' if why else 'not valid' if faults else 'valid'}"] += 1
            if why:
                print(f"{validator}: {path} {name} {direction} cannot be valid: {why}")
            elif faults:
                failures.append({"wsdl": path, "validator": validator, "operation": name, "direction": direction, "fault": faults[0]})


class Undeclared(Exception):
    """The WSDL refers to an element that no schema declares."""


class Refused(Exception):
    """The validator refuses the schema."""


def libxml2(main):
    try:
        schema = etree.XMLSchema(etree.parse(main))
    except etree.XMLSchemaParseError as error:
        raise Refused(str(error)) from error

    def check(element):
        document = etree.fromstring(etree.tostring(element, with_tail=False))
        return None if schema.validate(document) else str(schema.error_log.last_error)

    return check


def by_xmlschema(main):
    try:
        schema = xmlschema.XMLSchema10(main, allow="local", use_fallback=False)
    except Exception as error:  # It raises many types of errors, some of them unintended.
        raise Refused(str(error).strip().splitlines()[0] if str(error).strip() else repr(error)) from error

    def check(element):
        document = etree.fromstring(etree.tostring(element, with_tail=False))
        try:
            fault = next(schema.iter_errors(document, use_location_hints=False), None)
        except RecursionError:
            return "recursion error"
        return None if fault is None else f"{fault.path}: {fault.reason}"

    return check


CHECKS = {"libxml2": libxml2, "xmlschema": by_xmlschema}


def report(counts, failures, arguments):
    for name in sorted(counts):
        print(f"{counts[name]:8}  {name}")
    if arguments.failures:
        with open(arguments.failures, "w", encoding="utf-8") as file:
            json.dump(failures, file, indent=1)
    is_reached = True
    for validator in arguments.validators.split(","):
        valid, wrong = counts[f"{validator}: valid"], counts[f"{validator}: not valid"]
        share = 100 * valid / max(valid + wrong, 1)
        is_reached &= share >= arguments.goal
        print(f"{validator}: {valid} of {valid + wrong} messages are valid, {share:.2f} %")
    for failure in failures:
        if "fault" in failure:
            print(f"{failure['validator']}: {failure['wsdl']} {failure['operation']} {failure['direction']}: {failure['fault']}")
    sys.exit(0 if is_reached else 1)


if __name__ == "__main__":
    main()
