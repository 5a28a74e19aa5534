"""Runs a program of zeep with `deltasoap.zeep`: only its imports are changed. What it leaves out for zeep is marked so.

    as_zeep.py PROGRAM ARGUMENTS...
"""

import json
import re
import sys
from pathlib import Path

IMPORT = re.compile(r"^(\s*)from zeep(\.\w+)? import ", re.MULTILINE)


def main():
    """Run the program as Python would."""
    del sys.argv[0]
    program = sys.argv[0]
    source = IMPORT.sub(r"\1from deltasoap.zeep\2 import ", Path(program).read_text(encoding="utf-8"))
    names = {"__name__": "__main__", "__doc__": "see the program", "__file__": program, "print": relay}
    exec(compile(source, program, "exec"), names)


def relay(line, **options):
    """Print a result; the reasons of the program are those of zeep."""
    result = json.loads(line)
    if result.get("skipped"):
        result["skipped"] = f"zeep's program leaves it out: {result['skipped']}"
    print(json.dumps(result), **options)


if __name__ == "__main__":
    main()
