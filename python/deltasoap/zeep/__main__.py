"""`python -m deltasoap.zeep service.wsdl` prints what a WSDL describes."""

from __future__ import annotations

import argparse
import logging
from urllib.parse import urlsplit

from deltasoap.zeep.cache import SqliteCache
from deltasoap.zeep.client import Client
from deltasoap.zeep.settings import Settings
from deltasoap.zeep.transports import Transport


def parse_arguments(args: list[str] | None = None) -> argparse.Namespace:
    """The options of the command line."""
    parser = argparse.ArgumentParser(description="Print what a WSDL describes")
    parser.add_argument("wsdl_file", help="path or URL of the WSDL")
    parser.add_argument("--cache", action="store_true", help="keep loaded documents")
    parser.add_argument("--no-verify", action="store_true", help="accept any certificate")
    parser.add_argument("--verbose", action="store_true", help="log what happens")
    parser.add_argument("--profile", help="write a profile of the import to this file")
    parser.add_argument("--no-strict", action="store_true", help="repair malformed documents")
    return parser.parse_args(args)


def main(args: argparse.Namespace) -> None:
    """Import the WSDL and print it."""
    import requests

    if args.verbose:
        logging.basicConfig(level=logging.DEBUG, format="%(name)20s: %(message)s")
    session = requests.Session()
    session.verify = not args.no_verify
    url = urlsplit(args.wsdl_file)
    if url.username or url.password:
        session.auth = (url.username or "", url.password or "")
    transport = Transport(cache=SqliteCache() if args.cache else None, session=session)
    settings = Settings(strict=not args.no_strict)
    if args.profile:
        import cProfile

        with cProfile.Profile() as profile:
            client = Client(args.wsdl_file, transport=transport, settings=settings)
        profile.dump_stats(args.profile)
    else:
        client = Client(args.wsdl_file, transport=transport, settings=settings)
    client.wsdl.dump()


if __name__ == "__main__":
    main(parse_arguments())
