"""The version of the installed package."""

from __future__ import annotations

from importlib import metadata

try:
    __version__ = metadata.version("deltasoap")
except metadata.PackageNotFoundError:  # a source tree without an installed package
    __version__ = "0"
