"""Runs libxml2's canonicalization for `deltasoap-xml-test`.

Reads batches of documents from standard input and writes one answer for each document. A batch is the number of documents, then each
as its length and its bytes, the number of an element in document order (from 0), and the length and the bytes of a list of prefixes,
separated by spaces. An answer is 0 if libxml2 refuses the document, or 1 and the canonical forms: of the document, then of the element,
each inclusive, exclusive, exclusive with the prefixes, and inclusive 1.1, each without and with comments. A form is its length and its
bytes; the length is FFFFFFFF if there is none. All numbers have 32 bits, little-endian.

lxml canonicalizes only whole documents in full, so this uses the library itself: an element is a document subset.
"""

import ctypes
import ctypes.util
import struct
import sys

lib = ctypes.CDLL(ctypes.util.find_library("xml2") or "libxml2.so.2")
pointer, text, number = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int
visible = ctypes.CFUNCTYPE(number, pointer, pointer, pointer)


def function(name, result, *arguments):
    found = getattr(lib, name)
    found.restype, found.argtypes = result, arguments
    return found


read_memory = function("xmlReadMemory", pointer, text, number, text, text, number)
free_document = function("xmlFreeDoc", None, pointer)
root_of = function("xmlDocGetRootElement", pointer, pointer)
first_child = function("xmlFirstElementChild", pointer, pointer)
next_sibling = function("xmlNextElementSibling", pointer, pointer)
dump = function("xmlC14NDocDumpMemory", number, pointer, pointer, number, pointer, number, ctypes.POINTER(pointer))
execute = function("xmlC14NExecute", number, pointer, visible, pointer, number, pointer, number, pointer)
create_buffer = function("xmlBufferCreate", pointer)
free_buffer = function("xmlBufferFree", None, pointer)
create_output = function("xmlOutputBufferCreateBuffer", pointer, pointer, pointer)
close_output = function("xmlOutputBufferClose", number, pointer)
buffer_content = function("xmlBufferContent", pointer, pointer)
buffer_length = function("xmlBufferLength", number, pointer)

# Errors are no news here: their results are answers.
silent = ctypes.CFUNCTYPE(None, pointer, pointer)(lambda data, error: None)
function("xmlSetStructuredErrorFunc", None, pointer, pointer)(None, ctypes.cast(silent, pointer))

# Without entities, `&` in a namespace would become `&#38;`.
ENTITIES, NO_ERROR, NO_WARNING, NO_NETWORK, HUGE = 1 << 1, 1 << 5, 1 << 6, 1 << 11, 1 << 19
OPTIONS = ENTITIES | NO_ERROR | NO_WARNING | NO_NETWORK | HUGE
INCLUSIVE, EXCLUSIVE, INCLUSIVE_11 = range(3)


def elements(node):
    """Returns an element and those in it, in document order."""
    found, pending = [], [node]
    while pending:
        node = pending.pop()
        found.append(node)
        children = []
        child = first_child(node)
        while child:
            children.append(child)
            child = next_sibling(child)
        pending.extend(reversed(children))
    return found


def form(document, is_visible, mode, prefixes, comments):
    buffer = create_buffer()
    output = create_output(buffer, None)
    result = execute(document, is_visible, None, mode, prefixes, comments, output)
    closed = close_output(output)
    content = ctypes.string_at(buffer_content(buffer), buffer_length(buffer)) if result >= 0 and closed >= 0 else None
    free_buffer(buffer)
    return content


def forms(source, index, prefixes):
    document = read_memory(source, len(source), None, None, OPTIONS)
    if not document:
        return None
    try:
        listed = (text * (len(prefixes) + 1))(*prefixes, None)
        inside = set(elements(elements(root_of(document))[index]))
        scopes = [
            visible(lambda data, node, parent: 1),
            visible(lambda data, node, parent: node in inside or parent in inside),
        ]
        kinds = [(INCLUSIVE, None), (EXCLUSIVE, None), (EXCLUSIVE, listed), (INCLUSIVE_11, None)]
        return [
            form(document, scope, mode, prefixes, comments)
            for scope in scopes
            for mode, prefixes in kinds
            for comments in (0, 1)
        ]
    finally:
        free_document(document)


def read_number():
    return struct.unpack("<I", sys.stdin.buffer.read(4))[0]


def read_bytes():
    return sys.stdin.buffer.read(read_number())


def main():
    version = text.in_dll(lib, "xmlParserVersion").value.decode()
    print(f"libxml2 {version} for canonical forms", file=sys.stderr, flush=True)
    while count := sys.stdin.buffer.read(4):
        cases = [(read_bytes(), read_number(), read_bytes().split()) for _ in range(*struct.unpack("<I", count))]
        for case in cases:
            found = forms(*case)
            parts = [struct.pack("<I", found is not None)]
            for one in found or []:
                parts.append(struct.pack("<I", 0xFFFFFFFF if one is None else len(one)))
                parts.append(one or b"")
            sys.stdout.buffer.write(b"".join(parts))
        sys.stdout.buffer.flush()


main()
