"""`deltasoap.zeep` writes and reads what zeep does, by the WSDLs and messages of the repository."""

from __future__ import annotations

import parity


def test_messages_and_values_are_those_of_zeep() -> None:
    outcome = parity.compare([parity.TESTDATA / "wsdl"], [parity.TESTDATA / "messages"], 3)
    known = parity.known_differences()
    news = {name: text for name, text in outcome.differences.items() if name not in known}
    assert not news
    assert outcome.share() >= 0.98
    assert all(outcome.equal[kind] > 0 for kind in ("imports", "requests", "samples", "recorded"))
