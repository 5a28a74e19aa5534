"""Compares `deltasoap.zeep` with zeep over the WSDLs and messages of a corpus.

    python tests/parity.py [FOLDER...] [--messages FOLDER...] [--operations COUNT]

For each WSDL that zeep imports without a network, operations are sampled. The values of the sampled
request go through `create_message` of both, and the envelopes must be equal by C14N. The sampled
response, and each recorded message that is one, is read by both, and `serialize_object` must be
equal. What differs must stand in `parity_known.txt` with a reason.

Whole floating point numbers are `1.0` in zeep's messages and `1` in ours; these texts count as
equal.
"""

from __future__ import annotations

import argparse
import logging
import math
import os
import re
import sys
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import zeep
import zeep.helpers
from lxml import etree

import deltasoap.zeep

TESTDATA = Path(__file__).parents[2] / "testdata"
KNOWN = Path(__file__).with_name("parity_known.txt")
BODIES = tuple(
    f"{{{each}}}Body"
    for each in (
        "http://schemas.xmlsoap.org/soap/envelope/",
        "http://www.w3.org/2003/05/soap-envelope",
    )
)
#: What each call has anew; and the address, for which zeep always takes that of the default port.
VARYING = re.compile(rb"urn:uuid:[-0-9a-f]{36}|(?<=<wsa:To>)[^<]*")
WHOLE = re.compile(rb"(?<=[>\"])(-?\d+)\.0(?=[<\"])")


@dataclass
class Outcome:
    """What was compared: how often both agreed, and where they did not."""

    equal: Counter[str] = field(default_factory=Counter)
    differences: dict[str, str] = field(default_factory=dict)
    #: What zeep itself refuses, so that there is nothing to compare.
    refused: Counter[str] = field(default_factory=Counter)

    def share(self) -> float:
        """The share of comparisons that were equal."""
        equal = sum(self.equal.values())
        return equal / max(1, equal + len(self.differences))


class Offline:
    """Adds to a transport that it loads files alone."""

    def load(self, url: str) -> Any:
        """Load a file."""
        if url.startswith(("http://", "https://")):
            raise OSError(f"no network: {url}")
        return super().load(url)  # type: ignore[misc]


class TheirTransport(Offline, zeep.Transport):
    """zeep's, without a network."""


class OurTransport(Offline, deltasoap.zeep.Transport):
    """Ours, without a network."""


class Reply:
    """What a transport returns."""

    status_code = 200
    encoding = "utf-8"

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.headers = {"Content-Type": "text/xml; charset=utf-8"}


@dataclass
class Pair:
    """One operation in both clients."""

    name: str
    theirs: zeep.Client
    ours: Any
    services: tuple[Any, Any]
    operation: str

    def created(self, kwargs: dict[str, Any], args: tuple[Any, ...]) -> Iterator[bytes]:
        """The envelopes of a request, zeep's first."""
        for client, service in zip((self.theirs, self.ours), self.services, strict=True):
            message = client.create_message(service, self.operation, *args, **kwargs)
            canonical = VARYING.sub(b"", etree.tostring(message, method="c14n"))
            yield WHOLE.sub(rb"\1", canonical)

    def read(self, content: bytes) -> Iterator[Any]:
        """The values of a response, zeep's first."""
        helpers = (zeep.helpers, deltasoap.zeep.helpers)
        clients = zip((self.theirs, self.ours), self.services, helpers, strict=True)
        for client, service, helper in clients:
            binding = service._binding
            value = binding.process_reply(client, binding.get(self.operation), Reply(content))
            yield helper.serialize_object(value, dict)


def main() -> int:
    """Compare, print, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="*", type=Path, default=[TESTDATA / "wsdl"])
    parser.add_argument("--messages", nargs="*", type=Path, default=[TESTDATA / "messages"])
    parser.add_argument("--operations", type=int, default=10, help="how many of each binding")
    options = parser.parse_args()
    outcome = compare(options.folders, options.messages, options.operations, show=print)
    known = known_differences()
    for name, text in outcome.differences.items():
        print(f"{'known' if name in known else 'DIFFERS'}: {name}: {text}")
    print(f"equal: {dict(outcome.equal)}, zeep refuses: {dict(outcome.refused)}")
    print(f"{outcome.share():.2%} of {sum(outcome.equal.values()) + len(outcome.differences)}")
    return int(bool(set(outcome.differences) - set(known)))


def known_differences() -> dict[str, str]:
    """Differences with their reasons."""
    lines = KNOWN.read_text(encoding="utf-8").splitlines()
    pairs = (line.split("  ", 1) for line in lines if line and not line.startswith("#"))
    return {name: reason for name, reason in pairs}


def compare(
    folders: list[Path], messages: list[Path], operations: int, show: Any = lambda text: None
) -> Outcome:
    """Compare both over all WSDLs in some folders, and the recorded messages in others."""
    outcome, recorded = Outcome(), _recorded(messages)
    with _quietly():
        for folder in folders:
            for path in sorted(folder.rglob("*.wsdl")):
                name = path.relative_to(folder).as_posix()
                show(name)
                _compare_wsdl(path, name, recorded, operations, outcome)
    return outcome


@contextmanager
def _quietly() -> Iterator[None]:
    """Both warn of flaws in WSDLs."""
    logging.disable(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(logging.NOTSET)


def _recorded(folders: list[Path]) -> dict[str, list[tuple[str, bytes]]]:
    """Recorded messages by the names of the elements in their bodies."""
    found = defaultdict(list)
    for folder in folders:
        for path in sorted(folder.rglob("*.xml")):
            content = path.read_bytes()
            child = _body_of(content)
            if child is not None:
                found[child.tag].append((path.relative_to(folder).as_posix(), content))
    return found


def _body_of(content: bytes) -> Any:
    try:
        root = etree.fromstring(content)
    except etree.XMLSyntaxError:
        return None
    body = next((each for each in root.iterchildren("*") if each.tag in BODIES), None)
    return next(body.iterchildren("*"), None) if body is not None else None


def _compare_wsdl(
    path: Path, name: str, recorded: dict[str, Any], operations: int, outcome: Outcome
) -> None:
    try:
        theirs = zeep.Client(str(path), transport=TheirTransport())
        services = [
            (service, port, theirs.bind(service, port))
            for service, each in theirs.wsdl.services.items()
            for port in each.ports
        ]
    except Exception:  # whatever zeep cannot import is not compared
        outcome.refused["WSDLs"] += 1
        return
    try:
        ours = deltasoap.zeep.Client(str(path), transport=OurTransport())
        for service, port, bound_by_them in services:
            bound = (bound_by_them, ours.bind(service, port))
            for operation in list(bound[0]._binding.all())[:operations]:
                label = f"{name}#{port}.{operation}"
                pair = Pair(label, theirs, ours, bound, operation)
                _compare_operation(pair, recorded, outcome)
    except Exception as error:
        outcome.differences[name] = _shown(error)
    else:
        outcome.equal["imports"] += 1


def _compare_operation(pair: Pair, recorded: dict[str, Any], outcome: Outcome) -> None:
    theirs, ours = (service._binding for service in pair.services)
    if type(theirs).__name__.startswith("Http"):
        return
    engine = pair.ours.wsdl.contract.operation(str(ours.name), pair.operation)
    request, response = engine.sample_envelopes
    if request is not None:
        _compare_request(pair, _body_of(request), outcome)
    replies = [] if response is None else [("sample", response)]
    if engine.response is not None:
        replies += recorded.get(engine.response[0], [])
    for source, reply in replies:
        key = f"{pair.name} response {source}" if source != "sample" else f"{pair.name} response"
        kind = "samples" if source == "sample" else "recorded"
        _compared(key, kind, lambda reply=reply: pair.read(reply), outcome)


def _compare_request(pair: Pair, child: Any, outcome: Outcome) -> None:
    """Write the values that zeep reads in a request again."""
    if child is None:
        args, kwargs = (), {}
    else:
        message = pair.services[0]._binding.get(pair.operation).input
        try:
            value = message.body.parse(child, pair.theirs.wsdl.types)
        except Exception:
            outcome.refused["requests"] += 1
            return
        plain = zeep.helpers.serialize_object(value, dict)
        args, kwargs = ((), plain) if isinstance(plain, dict) else ((plain,), {})
        args = () if plain is None else args
    _compared(f"{pair.name} request", "requests", lambda: pair.created(kwargs, args), outcome)


def _compared(key: str, kind: str, both: Any, outcome: Outcome) -> None:
    results = both()
    try:
        expected = plain(next(results))
    except Exception:  # whatever zeep refuses is not compared
        outcome.refused[kind] += 1
        return
    try:
        found = plain(next(results))
    except Exception as error:
        outcome.differences[key] = _shown(error)
        return
    if expected == found:
        outcome.equal[kind] += 1
    else:
        outcome.differences[key] = _first_difference(expected, found)


def plain(value: Any) -> Any:
    """A value whose comparison does not depend on the toolkit's classes."""
    if isinstance(value, dict):
        return {str(name): plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, etree._Element):
        return etree.tostring(value, method="c14n", exclusive=True)
    if isinstance(value, float) and math.isnan(value):
        return "NaN"
    if hasattr(value, "text") and type(value).__name__ == "QName":
        return str(value)
    return value


def _shown(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:300]


def _first_difference(expected: Any, found: Any, path: str = "") -> str:
    """Where two values differ first."""
    if isinstance(expected, dict) and isinstance(found, dict) and expected.keys() == found.keys():
        for name, value in expected.items():
            if value != found[name]:
                return _first_difference(value, found[name], f"{path}.{name}")
    if isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        for at, (one, other) in enumerate(zip(expected, found, strict=True)):
            if one != other:
                return _first_difference(one, other, f"{path}[{at}]")
    if isinstance(expected, bytes) and isinstance(found, bytes):
        same = len(os.path.commonprefix([expected, found]))
        start = max(0, same - 60)
        return f"{expected[start : same + 100]!r}, not {found[start : same + 100]!r}"
    return f"{path}: {str(expected)[:150]!r}, not {str(found)[:150]!r}"


if __name__ == "__main__":
    sys.exit(main())
