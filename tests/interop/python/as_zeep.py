"""Runs a program of zeep with `deltasoap.zeep`: only its imports are changed.

    as_zeep.py PROGRAM ARGUMENTS...
"""

import re
import sys
from pathlib import Path

IMPORT = re.compile(r"^(\s*)from zeep(\.\w+)? import ", re.MULTILINE)


def main():
    """Run the program as Python would."""
    del sys.argv[0]
    program = sys.argv[0]
    source = IMPORT.sub(r"\1from deltasoap.zeep\2 import ", Path(program).read_text(encoding="utf-8"))
    exec(compile(source, program, "exec"), {"__name__": "__main__", "__doc__": "see the program", "__file__": program})


if __name__ == "__main__":
    main()
