"""What a user can tune, for a client or for the block of a `with` statement."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Settings:
    """Options of a client; calling them sets some for a block, in this thread alone.

    with client.settings(raw_response=True):
        response = client.service.Quote("DE0001")
    """

    #: Reject what the schema does not allow. False: repair malformed XML, keep unknown elements.
    strict: bool = True
    #: Return the HTTP response of a call instead of the value in it.
    raw_response: bool = False
    #: Call services over HTTPS if the WSDL came over HTTPS.
    force_https: bool = True
    #: Headers for every HTTP request.
    extra_http_headers: Mapping[str, str] | None = None
    #: Accept very deep documents and very long texts.
    xml_huge_tree: bool = False
    #: Reject a DOCTYPE.
    forbid_dtd: bool = False
    #: Reject declarations of entities.
    forbid_entities: bool = True
    #: Load nothing over HTTP but the WSDL itself: none of its imports and includes.
    forbid_external: bool = False
    #: Accept the elements of a sequence in any order.
    xsd_ignore_sequence_order: bool = False
    #: Show the documents of a WSDL while they are loaded from the network: True for a bar of tqdm,
    #: if that is installed and standard error is a terminal; or a function that is called with each
    #: URL.
    progress: bool | Callable[[str], object] = False

    _overrides: threading.local = field(
        default_factory=threading.local, init=False, repr=False, compare=False
    )

    @contextmanager
    def __call__(self, **options: Any) -> Iterator[Settings]:
        """Set options for a block, in this thread."""
        unknown = next((name for name in options if name not in _OPTIONS), None)
        if unknown is not None:
            raise AttributeError(f"Settings has no option {unknown!r}; it has {sorted(_OPTIONS)}")
        overrides = object.__getattribute__(self, "_overrides").__dict__
        before = dict(overrides)
        overrides.update(options)
        try:
            yield self
        finally:
            overrides.clear()
            overrides.update(before)

    def __getattribute__(self, name: str) -> Any:
        if name in _OPTIONS:
            overrides = object.__getattribute__(self, "_overrides").__dict__
            if name in overrides:
                return overrides[name]
        return object.__getattribute__(self, name)


_OPTIONS = frozenset(name for name in Settings.__dataclass_fields__ if name != "_overrides")
