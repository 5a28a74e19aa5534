"""Parses documents with libxml2: reads a line with a length, then that many bytes; answers with the tree as a line of JSON."""

import json
import sys

from lxml import etree

PARSER = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=True, remove_comments=True, remove_pis=True)


def tree(element):
    children = [element.text] if element.text else []
    for child in element:
        children.append(tree(child))
        if child.tail:
            children.append(child.tail)
    return {"name": element.tag, "attributes": sorted(element.attrib.items()), "children": children}


while line := sys.stdin.buffer.readline():
    document = sys.stdin.buffer.read(int(line))
    try:
        answer = tree(etree.fromstring(document, PARSER))
    except etree.XMLSyntaxError as error:
        answer = {"error": str(error)}
    print(json.dumps(answer), flush=True)
