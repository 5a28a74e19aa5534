"""Reads captures with `deltasoap archive` from a server of S3 (moto), and compares the tables with those of files.

    drive.py --deltasoap PROGRAM CAPTURES WSDL

CAPTURES is a directory, which is copied to a bucket.
"""

import argparse
import logging
import os
import pathlib
import subprocess
import tempfile

import boto3
from moto.server import ThreadedMotoServer

BUCKET = "captures"


def expect(actual, expected):
    if actual != expected:
        raise AssertionError(f"expected {expected!r}, got {actual!r}")


def tables(folder):
    """The names of all files of tables."""
    return [path.relative_to(folder) for path in sorted(folder.rglob("*.parquet"))]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--deltasoap", required=True)
    parser.add_argument("captures", type=pathlib.Path)
    parser.add_argument("wsdl")
    arguments = parser.parse_args()
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    host, port = server.get_host_and_port()
    endpoint = f"http://{host}:{port}"
    credentials = {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_REGION": "us-east-1"}
    environment = {**os.environ, **credentials, "AWS_ENDPOINT": endpoint, "AWS_ALLOW_HTTP": "true"}
    client = boto3.client(
        "s3",
        endpoint_url=endpoint,
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

    def archive(captures, output, *options):
        command = [arguments.deltasoap, "archive", "--wsdl", arguments.wsdl, captures, "-o", output, *options]
        return subprocess.run(list(map(str, command)), env=environment, capture_output=True, text=True)

    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        of_files = archive(arguments.captures, folder / "files", "--json")
        of_objects = archive(f"s3://{BUCKET}/day", folder / "objects", "--json")
        expect((of_files.returncode, of_objects.returncode), (0, 0))
        counts = [output.stdout.split('"messages":')[1].split(',"continued"')[0] for output in (of_files, of_objects)]
        expect(counts[1], counts[0])
        names = [tables(folder / name) for name in ("files", "objects")]
        expect(names[1], names[0])
        again = archive(f"s3://{BUCKET}/day", folder / "objects", "--json")
        if '"continued":true' not in again.stdout:
            raise AssertionError(again.stdout + again.stderr)
        large = archive(f"s3://{BUCKET}/large", folder / "large")
        if "none of 20000 messages" not in large.stderr:
            raise AssertionError(large.stderr)
        many = archive(f"s3://{BUCKET}/many", folder / "many")
        if "none of 1100 messages" not in many.stderr:
            raise AssertionError(many.stderr)
        none = archive("s3://no-such-bucket/day", folder / "none")
        if none.returncode != 1 or "no-such-bucket" not in none.stderr:
            raise AssertionError(none.stderr)
        written = archive(arguments.captures, "s3://captures/tables")
        if written.returncode != 1 or "is an object store: write the tables to a directory" not in written.stderr:
            raise AssertionError(written.stderr)
    server.stop()
    print("archive: the captures of a bucket are those of a directory")


if __name__ == "__main__":
    main()
