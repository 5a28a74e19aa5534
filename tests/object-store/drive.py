"""Reads captures with `deltasoap archive` from a server of S3 (moto), and compares the tables with those of files.

    drive.py --deltasoap PROGRAM CAPTURES WSDL

CAPTURES is a directory, which is copied to a bucket.
"""

import argparse
import http.client
import http.server
import json
import logging
import os
import pathlib
import subprocess
import tempfile
import threading

import boto3
import pyarrow.parquet
from moto.server import ThreadedMotoServer

BUCKET = "captures"
DAY = f"s3://{BUCKET}/day"
# Parts of a few messages each.
CHUNK = ("--json", "--chunk", "2000")


def expect(actual, expected):
    if actual != expected:
        raise AssertionError(f"expected {expected!r}, got {actual!r}")


def tables(folder, captures):
    """The rows of each table; places and senders are relative to the captures."""

    def relative(value):
        return value.removeprefix(str(captures)) if isinstance(value, str) else value

    rows = {}
    for part in sorted(folder.rglob("*.parquet")):
        of_part = pyarrow.parquet.ParquetFile(part).read().to_pylist()
        of_table = rows.setdefault(part.parent.name, [])
        of_table.extend({name: relative(value) for name, value in row.items()} for row in of_part)
    return rows


def contents(folder):
    """The content of all files of an archive."""
    files = {path.relative_to(folder): path for path in sorted(folder.rglob("*")) if path.is_file()}
    return {name: path.read_bytes() for name, path in files.items()}


class Busy(http.server.ThreadingHTTPServer):
    """Passes requests on to a server, and answers 503 after some objects."""

    def __init__(self, address, objects):
        super().__init__(("127.0.0.1", 0), Passing)
        self.address, self.left, self.refused = address, objects, 0
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def is_busy(self, method, path):
        is_object = method == "GET" and path.startswith(f"/{BUCKET}/") and "list-type" not in path
        self.left -= is_object
        busy = is_object and self.left < 0
        self.refused += busy
        return busy


class Passing(http.server.BaseHTTPRequestHandler):
    """A request that is passed on."""

    def do_GET(self):
        if self.server.is_busy(self.command, self.path):
            self.send_response(503)
            self.send_header("Content-Length", "0")
            return self.end_headers()
        connection = http.client.HTTPConnection(*self.server.address)
        connection.request(self.command, self.path, headers=dict(self.headers))
        response = connection.getresponse()
        content = response.read()
        self.send_response(response.status)
        for name, value in response.getheaders():
            if name.lower() not in ("connection", "date", "server", "transfer-encoding"):
                self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    do_HEAD = do_GET

    def log_message(self, *_):
        pass


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--deltasoap", required=True)
    parser.add_argument("captures", type=pathlib.Path)
    parser.add_argument("wsdl")
    arguments = parser.parse_args()
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    address = server.get_host_and_port()
    credentials = {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_REGION": "us-east-1"}
    # What is not for the store must not reach it.
    others = {"TOKEN": "x", "ENDPOINT": "http://127.0.0.1:1", "REGION": "x", "TIMEOUT": "1ms"}
    client = boto3.client(
        "s3",
        endpoint_url="http://{}:{}".format(*address),
        region_name="us-east-1",
        aws_access_key_id="key",
        aws_secret_access_key="secret",
    )
    client.create_bucket(Bucket=BUCKET)
    for path in sorted(arguments.captures.iterdir()):
        client.upload_file(str(path), BUCKET, f"day/{path.name}")
    # More than one piece, and more than one page of a listing.
    large = b"".join(b'{"body": "<x/>", "padding": "%s"}\n' % (b"x" * 1000) for _ in range(20_000))
    client.put_object(Bucket=BUCKET, Key="large/log.jsonl", Body=large)
    for number in range(1100):
        client.put_object(Bucket=BUCKET, Key=f"many/{number}.xml", Body=b"<x/>")
    client.put_object(Bucket=BUCKET, Key="other/old.zip", Body=b"PK")

    def archive(captures, output, *options, at=address):
        endpoint = {"AWS_ENDPOINT": "http://{}:{}".format(*at), "AWS_ALLOW_HTTP": "true"}
        environment = {**os.environ, **others, **credentials, **endpoint}
        command = [arguments.deltasoap, "archive", "--wsdl", arguments.wsdl, captures, "-o", output, *options]
        return subprocess.run(list(map(str, command)), env=environment, capture_output=True, text=True)

    def expect_failure(run, text):
        if run.returncode != 1 or text not in run.stderr:
            raise AssertionError(run.stdout + run.stderr)

    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        of_files = archive(arguments.captures, folder / "files", *CHUNK)
        of_objects = archive(DAY, folder / "objects", *CHUNK)
        expect((of_files.returncode, of_objects.returncode), (0, 0))
        summaries = [{**json.loads(run.stdout), "output": None} for run in (of_files, of_objects)]
        expect(summaries[1], summaries[0])
        expect(tables(folder / "objects", DAY), tables(folder / "files", arguments.captures))
        again = archive(DAY, folder / "objects", *CHUNK)
        expect(json.loads(again.stdout)["continued"], True)

        # A server that fails ends the run, and the next one continues it.
        busy = Busy(address, objects=2)
        expect_failure(archive(DAY, folder / "busy", *CHUNK, at=busy.server_address), "cannot be read to its end")
        expect((busy.refused > 0, json.loads((folder / "busy/archive.json").read_text())["is_done"]), (True, False))
        rest = archive(DAY, folder / "busy", *CHUNK)
        expect((rest.returncode, json.loads(rest.stdout)["continued"]), (0, True))
        expect(contents(folder / "busy"), contents(folder / "objects"))

        expect_failure(archive(f"s3://{BUCKET}/large", folder / "large"), "none of 20000 messages")
        expect_failure(archive(f"s3://{BUCKET}/many", folder / "many"), "none of 1100 messages")
        expect_failure(archive("s3://no-such-bucket/day", folder / "none"), "no-such-bucket")
        skipped = archive(f"s3://{BUCKET}/other", folder / "skipped")
        expect_failure(skipped, "1 files skipped (a zip archive in an object store")
        expect_failure(skipped, f"no captures in s3://{BUCKET}/other: name")
        expect_failure(archive("file:///tmp", folder / "none"), "file:///tmp is no object store that can be read")
        hidden = archive("s3://key:hidden@captures/day?hidden", folder / "none")
        expect_failure(hidden, "credentials are those of the environment")
        written = archive(arguments.captures, "s3://key:hidden@captures/tables?hidden")
        expect_failure(written, "s3://captures/tables is an object store: write the tables to a directory")
        for run in (hidden, written):
            expect("hidden" in run.stderr, False)
    server.stop()
    print("archive: the captures of a bucket are those of a directory")


if __name__ == "__main__":
    main()
