"""Drives `deltasoap mcp` with the client of the MCP's Python SDK, on pipes and over HTTP, and with the MCP Inspector.

    drive.py --deltasoap PROGRAM --inspector PROGRAM WSDL

A mock of the WSDL, which must be shop.wsdl, answers the calls.
"""

import argparse
import asyncio
import json
import subprocess
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

ORDER = {"customer": "Ada", "item": [{"code": "A-1", "count": 2}]}


class Server:
    """One of our programs, which announces its URL."""

    def __init__(self, *command):
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=sys.stderr, text=True)
        for line in self.process.stdout:
            if line.startswith("listening on "):
                self.url = line.split()[-1]
                return
        raise RuntimeError(f"{command} did not start")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


def expect(actual, expected):
    if actual != expected:
        raise AssertionError(f"expected {expected!r}, got {actual!r}")


def text(answer):
    return "".join(content.text for content in answer.content)


async def talk(read, write):
    """Finds, describes and calls an operation, as a model would."""
    async with ClientSession(read, write) as session:
        begun = await session.initialize()
        tools = (await session.list_tools()).tools
        expect(sorted(tool.name for tool in tools), ["call", "describe", "search"])
        found = await session.call_tool("search", {"query": "order"})
        if "Order" not in text(found):
            raise AssertionError(text(found))
        described = await session.call_tool("describe", {"name": "Order"})
        if "customer" not in text(described):
            raise AssertionError(text(described))
        called = await session.call_tool("call", {"operation": "Order", "request": ORDER})
        if "number" not in json.loads(text(called)):
            raise AssertionError(text(called))
        wrong = await session.call_tool("call", {"operation": "Order", "request": {"customer": 1}})
        expect(wrong.is_error, True)
        return begun


async def on_pipes(program, arguments):
    parameters = StdioServerParameters(command=program, args=["mcp", *arguments])
    async with stdio_client(parameters) as (read, write):
        await talk(read, write)


async def over_http(url):
    async with streamable_http_client(url) as streams:
        await talk(streams[0], streams[1])


def inspected(inspector, program, arguments, *request):
    """Returns what the Inspector prints of a request."""
    command = ["node", inspector, "--cli", program, "mcp", *arguments, *request]
    return json.loads(subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout)


def inspect(inspector, program, arguments):
    listed = inspected(inspector, program, arguments, "--method", "tools/list")
    expect(len(listed["tools"]), 3)
    request = ["--method", "tools/call", "--tool-name", "search", "--tool-arg", "query=order"]
    found = inspected(inspector, program, arguments, *request)
    if "Order" not in found["content"][0]["text"]:
        raise AssertionError(found)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--deltasoap", required=True, help="the command")
    parser.add_argument("--inspector", required=True, help="the script of the MCP Inspector")
    parser.add_argument("wsdl")
    given = parser.parse_args()
    program = given.deltasoap
    with Server(program, "mock", given.wsdl, "--listen", "127.0.0.1:0") as mock:
        arguments = [given.wsdl, "--endpoint", mock.url, "--allow", "Order"]
        asyncio.run(on_pipes(program, arguments))
        print("ok  Python's client on pipes")
        with Server(program, "mcp", *arguments, "--listen", "127.0.0.1:0") as server:
            asyncio.run(over_http(server.url))
        print("ok  Python's client over HTTP")
        inspect(given.inspector, program, arguments)
        print("ok  the Inspector")


if __name__ == "__main__":
    main()
