"""Validates the OpenAPI documents of WSDLs with openapi-spec-validator and Redocly CLI.

Each WSDL of the folders is given to `deltasoap gateway WSDL --openapi`. Those that cannot be
imported without the network, or have no operation that can be called, are counted and left out.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from openapi_spec_validator import OpenAPIV31SpecValidator

# Seconds for one WSDL.
TIME = 120
# Documents that Redocly validates in one go.
BATCH = 50


def document(deltasoap, wsdl):
    """Returns the document of a WSDL; None if there is none."""
    command = [deltasoap, "gateway", wsdl, "--offline", "--openapi"]
    made = subprocess.run(command, capture_output=True, timeout=TIME, check=False)
    return json.loads(made.stdout) if made.returncode == 0 else None


def errors(deltasoap, wsdl, file):
    """Writes the document of a WSDL; returns its errors, or None if there is no document."""
    made = document(deltasoap, wsdl)
    if made is None:
        return None
    file.write_text(json.dumps(made))
    found = OpenAPIV31SpecValidator(made).iter_errors()
    return [f"{'/'.join(map(str, error.absolute_path))}: {error.message[:300]}" for error in found]


def lint(redocly, files):
    """Returns what Redocly says of documents with errors."""
    said = ""
    for begin in range(0, len(files), BATCH):
        command = ["node", redocly, "lint", "--extends=spec", *files[begin : begin + BATCH]]
        made = subprocess.run(command, capture_output=True, text=True, timeout=TIME * BATCH, check=False)
        if made.returncode != 0:
            said += made.stdout + made.stderr
    return said


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--deltasoap", required=True, help="the command")
    parser.add_argument("--redocly", required=True, help="the script of Redocly CLI")
    parser.add_argument("folders", nargs="+", type=Path)
    arguments = parser.parse_args()
    wsdls = sorted(path for folder in arguments.folders for path in folder.rglob("*.wsdl"))
    valid, without, invalid = 0, 0, 0
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        files = [Path(folder, f"{number}.json") for number in range(len(wsdls))]
        checked = pool.map(lambda pair: errors(arguments.deltasoap, *pair), zip(wsdls, files))
        for wsdl, found in zip(wsdls, checked):
            if found is None:
                without += 1
            elif found:
                invalid += 1
                print(f"{wsdl}: {len(found)} errors", *found[:5], sep="\n  ")
            else:
                valid += 1
        said = lint(arguments.redocly, [file for file in files if file.exists()])
    print(f"{valid} valid documents, {invalid} invalid ones, {without} WSDLs without a document")
    print(said or "Redocly has no errors")
    return 1 if invalid or not valid or said else 0


if __name__ == "__main__":
    sys.exit(main())
