"""The command `deltasoap`: the same as the program of the name, in this process."""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command with these arguments, by default those of the process.

    Returns the exit code: 0 success, 1 the command failed, 2 wrong arguments, 3 the service
    answered with a fault, 4 it did not answer.
    """
    try:
        from deltasoap._engine import command
    except ImportError:
        print("this build of deltasoap has no command: its feature is off", file=sys.stderr)
        return 1
    return command(list(sys.argv[1:] if arguments is None else arguments))


def run() -> int:
    """Run the command as a process of its own: Ctrl-C ends it at once, without a traceback."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return main()


if __name__ == "__main__":
    sys.exit(run())
