"""Measures decoding from Python: one core, beside xml2arrow, and two workers of Dask beside one.

Every output is checked before its time counts. Rounds alternate. Times of one core are CPU times of
the process; those of workers are times on the clock, with each worker pinned to a core.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

sys.path.insert(0, str(Path(__file__).parents[1]))

import streams

import deltasoap.arrow

ROUNDS = 7

_SUBMIT = "/messages/Submit"
_PEER_TABLES: dict[str, tuple[str, list[str], dict[str, str]]] = {
    "submit": ("/messages", [], {}),
    "invoice": (
        _SUBMIT,
        ["submit"],
        {
            "auth/token": "Utf8",
            "auth/issuer": "Int64",
            "count": "UInt32",
            "invoice/@ref": "Utf8",
            "invoice/concept": "UInt8",
            "invoice/document": "UInt64",
            "invoice/number": "Int64",
            "invoice/date": "Utf8",
            "invoice/sent": "Utf8",
            "invoice/total": "Float64",
            "invoice/net": "Float64",
            "invoice/currency": "Utf8",
            "invoice/remark": "Utf8",
        },
    ),
    "tax": (
        f"{_SUBMIT}/invoice/taxes",
        ["submit", "invoice"],
        {f"invoice/taxes/tax/{name}": "Float64" for name in ("id", "base", "amount")},
    ),
}


def peer_config() -> str:
    """The tables as xml2arrow describes them; its file is YAML, of which JSON is a part."""
    tables = [
        {
            "name": name,
            "xml_path": path,
            "levels": levels,
            "fields": [
                {
                    "name": field.rpartition("/")[2].lstrip("@"),
                    "xml_path": f"{_SUBMIT}/{field}",
                    "data_type": kind,
                    "nullable": True,
                }
                for field, kind in fields.items()
            ],
        }
        for name, (path, levels, fields) in _PEER_TABLES.items()
    ]
    return json.dumps({"tables": tables})


def cpu_seconds(work: Callable[[], Any]) -> float:
    """The CPU time of the process that some work takes."""
    begin = time.process_time()
    work()
    return time.process_time() - begin


def compared(works: dict[str, Callable[[], Any]]) -> dict[str, list[float]]:
    """The times of several works, in alternating rounds."""
    times: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(ROUNDS):
        for name, work in works.items():
            times[name].append(cpu_seconds(work))
    return times


def shown(name: str, size: int, times: list[float]) -> None:
    """Print the rates of some work."""
    best, middle = size / min(times) / 1e6, size / statistics.median(times) / 1e6
    print(f"{name:<52} {middle:8.0f} MB/s (median), {best:.0f} (best)", flush=True)


def one_core() -> None:
    """Streams that resemble each other, and those that do not, on one core."""
    routers = streams.informs(4000)
    cases = {
        "invoices": (streams.invoices(4000), None, streams.INVOICES, "Submit", "request"),
        "routers": ([each for _, each in routers], None, streams.TR069, "Inform", "request"),
        "routers, by sender": (
            [each for _, each in routers],
            [sender for sender, _ in routers],
            streams.TR069,
            "Inform",
            "request",
        ),
        "vSphere, responses": (
            streams.vsphere("response") * 4,
            None,
            streams.VSPHERE,
            "Fetch",
            "response",
        ),
    }
    for name, (messages, senders, wsdl, operation, direction) in cases.items():
        columns = {"body": pa.array(messages, pa.binary())}
        if senders:
            columns["host"] = pa.array(senders)
        batch = pa.record_batch(columns)
        decode = deltasoap.arrow.Decoder(
            wsdl, operation, direction=direction, sender="host" if senders else None
        )
        rows = pa.record_batch(decode(batch))
        assert rows["_error"].null_count == len(messages)
        for place in range(0, len(messages), 97):
            streams.assert_same(
                messages[place], rows.slice(place, 1).drop_columns(["_error"]).to_pylist()[0]
            )
        times = compared({name: lambda decode=decode, batch=batch: decode(batch)})
        shown(name, sum(map(len, messages)), times[name])


def beside_xml2arrow(folder: Path) -> None:
    """The same messages as one document, of which xml2arrow makes tables."""
    from xml2arrow import XmlToArrowParser

    messages = streams.invoices(4000)
    bodies = [each[each.index(b"<Submit") : each.index(b"</soap:Body>")] for each in messages]
    document = b"<messages>" + b"".join(bodies) + b"</messages>"
    config = folder / "peer.yaml"
    config.write_text(peer_config())
    parser = XmlToArrowParser(str(config))
    decode = deltasoap.arrow.Decoder(streams.INVOICES, "Submit")
    batch = pa.record_batch({"body": pa.array(messages, pa.binary())})
    theirs = parser.parse(document)
    # Every child of a message is a row there, also those that are no invoice.
    rows = theirs["invoice"]
    ours = {name: pa.table(each) for name, each in decode(batch).flatten().items()}
    for column in ("token", "issuer", "count"):
        mine = ours[""][column if column == "count" else f"auth.{column}"].to_pylist()
        assert mine == rows.filter(pc.is_valid(rows[column]))[column].to_pylist(), column
    rows = rows.filter(pc.is_valid(rows["number"]))
    for column in ("ref", "concept", "document", "number", "total", "net", "currency"):
        mine = ours["invoice"]["@ref" if column == "ref" else column].to_pylist()
        assert mine == rows[column].to_pylist(), column
    for column in ("id", "base", "amount"):
        mine = ours["invoice.taxes.tax"][column].to_pylist()
        assert mine == theirs["tax"][column].to_pylist(), column
    times = compared(
        {
            "ours, plain tables": lambda: decode(batch).flatten(),
            "xml2arrow, one document": lambda: parser.parse(document),
        }
    )
    # Of both: the messages with their envelopes.
    for name, of_name in times.items():
        shown(name, sum(map(len, messages)), of_name)
    ratio = statistics.median(times["xml2arrow, one document"])
    ratio /= statistics.median(times["ours, plain tables"])
    print(f"the same messages take xml2arrow {ratio:.2f} times as long", flush=True)


def decoded_rows(part: tuple[int, int], decode: Any) -> tuple[int, int, float]:
    """Decode a part on a worker: rows, the sum of a column, CPU seconds."""
    batch = pa.record_batch({"body": pa.array(worker_messages(part[1]), pa.binary())})
    begin = time.process_time()
    table = pa.table(decode(batch))
    for _ in range(REPEATED - 1):
        table = pa.table(decode(batch))
    used = time.process_time() - begin
    return table.num_rows, sum(table["count"].to_pylist()), used


REPEATED = 40
_MESSAGES: dict[int, list[bytes]] = {}


def worker_messages(seed: int) -> list[bytes]:
    """Messages that a worker makes once."""
    return _MESSAGES.setdefault(seed, streams.invoices(1000, seed))


def pin(cores: list[int], dask_worker: Any) -> None:
    """Let each worker have a core of its own. Dask fills in the worker."""
    os.sched_setaffinity(0, {cores[int(dask_worker.name) % len(cores)]})


def two_workers() -> None:
    """Two workers of Dask beside one, each on a core of its own."""
    from distributed import Client, LocalCluster

    cores = sorted(os.sched_getaffinity(0))[:2]
    decode = deltasoap.arrow.Decoder(streams.INVOICES, "Submit")
    parts = [(number, number % 2) for number in range(8)]
    clients = {}
    for count in (1, 2):
        cluster = LocalCluster(n_workers=count, threads_per_worker=1, dashboard_address=":0")
        clients[count] = Client(cluster)
        clients[count].run(pin, cores=cores)
        clients[count].run(lambda: (worker_messages(0), worker_messages(1), None)[2])
    expected = None
    speedups, used = [], {1: [], 2: []}
    for _ in range(ROUNDS):
        times = {}
        for count, client in clients.items():
            begin = time.perf_counter()
            found = client.gather(client.map(decoded_rows, parts, decode=decode, pure=False))
            times[count] = time.perf_counter() - begin
            sums = [each[:2] for each in found]
            expected = expected or sums
            assert sums == expected
            used[count].append(sum(each[2] for each in found))
        speedups.append(times[1] / times[2])
    for client in clients.values():
        client.shutdown()
    rounded = ", ".join(f"{each:.2f}" for each in sorted(speedups))
    print(f"two workers beside one, by the clock: {rounded}")
    cpu = statistics.median(used[1]) / statistics.median(used[2])
    print(f"CPU time of one worker by that of both, for the same messages: {cpu:.2f}")


if __name__ == "__main__":
    import tempfile

    print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores", flush=True)
    one_core()
    with tempfile.TemporaryDirectory() as folder:
        beside_xml2arrow(Path(folder))
    two_workers()
