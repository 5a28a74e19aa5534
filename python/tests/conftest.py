"""What all tests have in common."""

from __future__ import annotations

import signal

# A shell lets programs in the background ignore interrupts, and Python keeps it so.
signal.signal(signal.SIGINT, signal.default_int_handler)
