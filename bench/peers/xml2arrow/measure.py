"""How fast xml2arrow turns the messages of a stream into Arrow record batches.

    measure.py DIRECTORY STREAM

DIRECTORY has what `throughput --export` writes. All columns are compared with the JSON of the messages before
the time counts. Prints the megabytes of messages in a second of processor time: the fastest of some rounds.
"""

import json
import pathlib
import sys
import tempfile
import time

import xml2arrow

ROUNDS = 7
ROUND_BYTES = 24 << 20

TAXES = "/Envelope/Body/Submit/Invoice/Taxes"


def field(name, path, kind):
    return f"      - {{name: {name}, xml_path: {path}/{name}, data_type: {kind}, nullable: true}}"


INVOICE = [
    ("Kind", "Int32"),
    ("DocumentType", "Int32"),
    ("DocumentNumber", "Int64"),
    ("From", "Int64"),
    ("To", "Int64"),
    ("Date", "Utf8"),
    ("Total", "Float64"),
    ("Net", "Float64"),
    ("Exempt", "Float64"),
    ("Due", "Utf8"),
    ("Currency", "Utf8"),
    ("Rate", "Float64"),
]
TAX = [("Id", "Int32"), ("Base", "Float64"), ("Amount", "Float64")]


def table(name, path, levels, fields):
    return "\n".join(
        [f"  - name: {name}", f"    xml_path: {path}", f"    levels: [{', '.join(levels)}]", "    fields:", *fields]
    )


CONFIGURATIONS = {
    "doubles": [
        table(
            "items",
            "/Envelope/Body/Doubles",
            [],
            [field("item", "/Envelope/Body/Doubles", "Float64")],
        )
    ],
    "invoices": [
        table(
            "invoices",
            "/Envelope/Body/Submit",
            [],
            # It has a row for every child of the element, not only for invoices.
            [field("Token", "/Envelope/Body/Submit", "Utf8"), field("Count", "/Envelope/Body/Submit", "Int32")]
            + [field(name, "/Envelope/Body/Submit/Invoice", kind) for name, kind in INVOICE],
        ),
        table("taxes", TAXES, [], [field(name, TAXES + "/Tax", kind) for name, kind in TAX]),
    ],
}


def expected(stream, message):
    """Returns the tables of a message by its JSON."""
    if stream == "doubles":
        return {"items": {"item": message["item"]}}
    invoices = message["Invoice"]
    taxes = [tax for invoice in invoices for tax in invoice["Taxes"]["Tax"]]
    return {
        "invoices": {"Token": [message["Token"]], "Count": [message["Count"]]}
        | {name: [invoice[name] for invoice in invoices] for name, _ in INVOICE},
        "taxes": {name: [tax[name] for tax in taxes] for name, _ in TAX},
    }


def filled(columns):
    """Returns the columns without nulls: in these messages no element is missing."""
    return {name: [value for value in column if value is not None] for name, column in columns.items()}


def check(stream, parser, messages, lines):
    values = 0
    for message, line in zip(messages, lines, strict=True):
        found = {name: filled(batch.to_pydict()) for name, batch in parser.parse(message).items()}
        wanted = expected(stream, json.loads(line))
        if found != wanted:
            sys.exit(f"{stream}: xml2arrow has other values: {str(found)[:300]} instead of {str(wanted)[:300]}")
        values += sum(len(column) for columns in wanted.values() for column in columns.values())
    return values


def read(path):
    content = path.read_bytes()
    messages, at = [], 0
    while at < len(content):
        end = at + 4 + int.from_bytes(content[at : at + 4], "little")
        messages.append(content[at + 4 : end])
        at = end
    return messages


def main():
    folder, stream = pathlib.Path(sys.argv[1]), sys.argv[2]
    messages = read(folder / f"{stream}.messages")
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write("tables:\n" + "\n".join(CONFIGURATIONS[stream]) + "\n")
        file.flush()
        parser = xml2arrow.XmlToArrowParser(file.name)
    lines = (folder / f"{stream}.jsonl").read_text().splitlines()
    values = check(stream, parser, messages, lines)
    if values < len(messages):
        sys.exit(f"{stream}: only {values} values were compared")
    size = sum(map(len, messages))
    repeats = -(-ROUND_BYTES // size)
    best = float("inf")
    for _ in range(ROUNDS):
        begin = time.thread_time()
        for _ in range(repeats):
            for message in messages:
                parser.parse(message)
        best = min(best, time.thread_time() - begin)
    print(f"{size * repeats / best / 1e6:.1f}")


main()
