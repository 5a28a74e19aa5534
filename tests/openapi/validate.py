"""Validates the OpenAPI documents of WSDLs with openapi-spec-validator.

Each WSDL of the folders is given to `deltasoap gateway WSDL --openapi`. Those that cannot be
imported without the network, or have no operation that can be called, are counted and left out.
"""

import argparse
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from openapi_spec_validator import OpenAPIV31SpecValidator

# Seconds for one WSDL.
TIME = 120


def document(deltasoap, wsdl):
    """Returns the document of a WSDL; None if there is none."""
    command = [deltasoap, "gateway", wsdl, "--offline", "--openapi"]
    made = subprocess.run(command, capture_output=True, timeout=TIME, check=False)
    return json.loads(made.stdout) if made.returncode == 0 else None


def errors(deltasoap, wsdl):
    """Returns the errors in the document of a WSDL; None if there is no document."""
    made = document(deltasoap, wsdl)
    if made is None:
        return None
    found = OpenAPIV31SpecValidator(made).iter_errors()
    return [f"{'/'.join(map(str, error.absolute_path))}: {error.message[:300]}" for error in found]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--deltasoap", required=True, help="the command")
    parser.add_argument("folders", nargs="+", type=Path)
    arguments = parser.parse_args()
    wsdls = sorted(path for folder in arguments.folders for path in folder.rglob("*.wsdl"))
    valid, without, invalid = 0, 0, 0
    with ThreadPoolExecutor(2) as pool:
        for wsdl, found in zip(wsdls, pool.map(lambda wsdl: errors(arguments.deltasoap, wsdl), wsdls)):
            if found is None:
                without += 1
            elif found:
                invalid += 1
                print(f"{wsdl}: {len(found)} errors", *found[:5], sep="\n  ")
            else:
                valid += 1
    print(f"{valid} valid documents, {invalid} invalid ones, {without} WSDLs without a document")
    return 1 if invalid or not valid else 0


if __name__ == "__main__":
    sys.exit(main())
