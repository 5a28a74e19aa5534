"""Writes the schemas of a WSDL to files that validators accept, with all references resolved.

Embedded schemas become separate files. Each document refers to the files that it imports and includes; a namespace with several
documents gets a file that includes them. Documents may use a namespace that they do not import, as toolkits allow.
"""

import copy
import os
import urllib.parse

from lxml import etree

XSD = "http://www.w3.org/2001/XMLSchema"
WSDL = "http://schemas.xmlsoap.org/wsdl/"
PARTS = "urn:deltasoap:parts"


def xsd(local):
    return f"{{{XSD}}}{local}"


def wsdl(local):
    return f"{{{WSDL}}}{local}"


def alone(schema):
    """Returns an embedded schema as a document, with all namespaces in scope."""
    root = etree.Element(schema.tag, schema.attrib, nsmap=schema.nsmap)
    root.extend(copy.deepcopy(schema))
    return root


class Schemas:
    """The documents of a WSDL, to be written to a folder."""

    def __init__(self, path, builtin):
        self.builtin = builtin
        self.definitions = []
        # Root elements by path or number, with the dependencies of each.
        self.documents = {}
        # Top-level documents by namespace.
        self.tops = {}
        self.missing = []
        self._wsdl(os.path.abspath(path), set())
        self._known()

    def _parse(self, path):
        parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=True)
        return etree.parse(path, parser).getroot()

    def _wsdl(self, path, seen):
        if path in seen:
            return
        seen.add(path)
        root = self._parse(path)
        if root.tag == xsd("schema"):
            self._top(path, root, path)
            return
        self.definitions.append(root)
        for number, schema in enumerate(root.findall(f"{wsdl('types')}/{xsd('schema')}")):
            self._top(f"{path}#{number}", alone(schema), path)
        for at in root.findall(wsdl("import")):
            location = self._locate(path, at.get("location"))
            if location is None:
                self.missing.append(at.get("location"))
            else:
                self._wsdl(location, seen)

    def _locate(self, base, location):
        if not location:
            return None
        location = location.strip()
        for candidate in (location, urllib.parse.unquote(location)):
            if "://" not in candidate:
                path = os.path.normpath(os.path.join(os.path.dirname(base), candidate))
                if os.path.isfile(path):
                    return path
        return None

    def _top(self, key, root, base):
        namespace = root.get("targetNamespace") or ""
        if key not in self.tops.setdefault(namespace, []):
            self.tops[namespace].append(key)
        self._document(key, root, base)

    def _document(self, key, root, base):
        if key in self.documents:
            return
        self.documents[key] = root
        for at in root.iterchildren(xsd("import"), xsd("include"), xsd("redefine")):
            location = at.get("schemaLocation")
            path = self._locate(base, location)
            if at.tag == xsd("import"):
                if path is not None:
                    inner = self._parse(path)
                    if inner.tag == xsd("schema"):
                        self._top(path, inner, path)
                    else:
                        self._wsdl(path, set())
                at.set("schemaLocation", "?")
            elif path is None:
                self.missing.append(location)
                root.remove(at)
            else:
                at.set("schemaLocation", "?" + path)
                self._document(path, self._parse(path), path)

    def _known(self):
        """Adds well-known namespaces that are used without a document."""
        ahead = list(self.documents.values()) + self.definitions
        while ahead:
            used = set()
            root = ahead.pop()
            for element in root.iter(etree.Element):
                used.update(element.nsmap.values())
                if element.tag == xsd("import"):
                    used.add(element.get("namespace"))
            if "xml:" in etree.tostring(root, encoding="unicode"):
                used.add("http://www.w3.org/XML/1998/namespace")
            for namespace in sorted(name for name in used if name):
                if namespace in self.builtin and namespace not in self.tops:
                    path = self.builtin[namespace]
                    inner = self._parse(path)
                    self._top(path, inner, path)
                    ahead.append(inner)

    def write(self, folder, parts):
        """Writes all documents, and one that imports all; `parts` are elements to declare there: name, type, nillable."""
        names = {key: f"d{number}.xsd" for number, key in enumerate(self.documents)}
        files = {}
        included = self._included()
        for number, (namespace, keys) in enumerate(self.tops.items()):
            keys = [key for key in keys if not (key in included and len(keys) > 1)] or keys
            if len(keys) == 1:
                files[namespace] = names[keys[0]]
                continue
            files[namespace] = f"n{number}.xsd"
            around = etree.Element(xsd("schema"), nsmap={"xs": XSD})
            if namespace:
                around.set("targetNamespace", namespace)
            for key in keys:
                etree.SubElement(around, xsd("include"), schemaLocation=names[key])
            self._save(folder, files[namespace], around)
        for key, root in self.documents.items():
            self._save(folder, names[key], self._resolved(root, names, files))
        main = etree.Element(xsd("schema"), nsmap={"xs": XSD}, targetNamespace=PARTS)
        for namespace, file in files.items():
            at = etree.SubElement(main, xsd("import"), schemaLocation=file)
            if namespace:
                at.set("namespace", namespace)
        for name, (namespace, local), nillable in parts:
            nsmap = {"t": namespace} if namespace else {}
            element = etree.SubElement(main, xsd("element"), nsmap=nsmap, name=name)
            element.set("type", f"t:{local}" if namespace else local)
            if nillable:
                element.set("nillable", "true")
        self._save(folder, "main.xsd", main)
        return os.path.join(folder, "main.xsd")

    def _included(self):
        at = (at for root in self.documents.values() for at in root.iterchildren(xsd("include"), xsd("redefine")))
        return {it.get("schemaLocation", "")[1:] for it in at}

    def _resolved(self, root, names, files):
        root = copy.deepcopy(root)
        own = root.get("targetNamespace") or ""
        for at in list(root.iterchildren(xsd("import"))):
            root.remove(at)
        for at in root.iterchildren(xsd("include"), xsd("redefine")):
            at.set("schemaLocation", names[at.get("schemaLocation")[1:]])
        for namespace, file in files.items():
            if namespace != own:
                at = etree.Element(xsd("import"), schemaLocation=file)
                if namespace:
                    at.set("namespace", namespace)
                root.insert(0, at)
        return root

    def _save(self, folder, name, root):
        with open(os.path.join(folder, name), "wb") as file:
            file.write(etree.tostring(root, xml_declaration=True, encoding="UTF-8"))
