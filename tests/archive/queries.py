"""Runs the SQL of the guide's page on archives with DuckDB, over tables that `deltasoap archive` writes.

    queries.py DELTASOAP

The captures are orders of a shop whose clients repeat themselves. Every block of SQL on the page must have rows.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import duckdb

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOAP = "http://schemas.xmlsoap.org/soap/envelope/"


def order(customer, items):
    item = "<item><code>A-1</code><count>2</count></item>" * items
    body = f'<Order xmlns="urn:shop"><customer>{customer}</customer>{item}</Order>'
    return f'<e:Envelope xmlns:e="{SOAP}"><e:Body>{body}</e:Body></e:Envelope>'


def captures(path):
    with open(path, "w") as file:
        for number in range(60):
            # The value of a client changes with every third message.
            message = order(f"customer {number % 4}", number // 12 + 1)
            minute = f"2026-01-02T03:{number:02}:00Z"
            line = {"body": message, "sender": f"client-{number % 4}", "time": minute}
            file.write(json.dumps(line) + "\n")


def main():
    page = (ROOT / "docs/guide/src/archives.md").read_text()
    blocks = re.findall(r"^```sql\n(.*?)^```", page, re.S | re.M)
    if len(blocks) < 2:
        sys.exit(f"only {len(blocks)} blocks of SQL on the page")
    wsdl = ROOT / "crates/deltasoap-dynamic/tests/data/shop.wsdl"
    program = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        captures("log.jsonl")
        command = [program, "archive", "--wsdl", wsdl, "log.jsonl", "-o", "tables", "--deduplicate", "--json"]
        counts = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        if (counts["messages"], counts["errors"], counts["repeated"]) != (60, 0, 40):
            sys.exit(f"unexpected counts: {counts}")
        for block in blocks:
            rows = duckdb.sql(block).fetchall()
            if not rows:
                sys.exit(f"no rows for:\n{block}")
        # Every message has its values, by itself or by the one that it repeats.
        joined = duckdb.sql(
            """select count(*), count(distinct o._id) from 'tables/messages/*.parquet' m
            join 'tables/Order.request/*.parquet' o on o._id = coalesce(m.same_as, m.id)"""
        ).fetchall()
        if joined != [(60, 20)]:
            sys.exit(f"unexpected rows: {joined}")
    print(f"{len(blocks)} blocks of SQL have rows")


main()
