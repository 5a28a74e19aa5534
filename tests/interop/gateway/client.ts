// Calls services through the gateway, with types that openapi-typescript makes from its document.
//
//     node client.js GATEWAY-URL
//
// The gateway has the service of testdata/wsdl/bench.wsdl over SOAP 1.1 at /soap11, and over SOAP 1.2 at /soap12. Prints one
// JSON object per test; tests/interop/README.md documents it. What the document promises is checked by the compiler, too.

import { isDeepStrictEqual } from "node:util";
import createClient, { type Client } from "openapi-fetch";
import type { components, paths } from "./bench.js";

type Person = components["schemas"]["Person"];
type Endpoint = { soap: string; url: string; client: Client<paths> };
type Test = { feature: string; name: string; run: (endpoint: Endpoint) => Promise<void> };

const tests: Test[] = [];

function test(feature: string, name: string, run: Test["run"]): void {
  tests.push({ feature, name: `TypeScript: ${name}`, run });
}

function expect(actual: unknown, expected: unknown): void {
  if (!isDeepStrictEqual(actual, expected)) {
    throw new Error(`expected ${JSON.stringify(expected)}, got ${JSON.stringify(actual)}`);
  }
}

const ADA: Person = {
  "@id": 1, "@active": true, name: "Ada & co <1>", nickname: "", score: null, born: "2000-02-29", role: "admin",
  address: { street: "Österweg 5", city: "Zürich" }, tag: ["a", "", " b "],
};

test("json structs", "a struct with everything", async ({ client }) => {
  const { data } = await client.POST("/operations/echoStruct", { body: { person: ADA } });
  expect(data, { person: ADA });
});

test("json structs", "a struct with only what is required", async ({ client }) => {
  const person: Person = { "@id": -1, name: "", score: 0.5, role: "guest" };
  const { data } = await client.POST("/operations/echoStruct", { body: { person } });
  expect(data, { person });
});

test("json arrays", "1000 structs", async ({ client }) => {
  const item = Array.from({ length: 1000 }, (_, n) => ({ x: n, y: 1 - n, v: n / 8 }));
  const { data } = await client.POST("/operations/echoMios", { body: { item } });
  expect(data?.item, item);
});

test("json arrays", "none", async ({ client }) => {
  const { data } = await client.POST("/operations/echoInts", { body: {} });
  expect(data?.item ?? [], []);
});

test("json values", "floats at the edge", async ({ client }) => {
  const item = [0, 5e-324, 1.7976931348623157e308, -0.1, "INF", "-INF", "NaN"];
  const { data } = await client.POST("/operations/echoDoubles", { body: { item } });
  expect(data?.item, item);
});

test("json values", "longs and decimals keep their digits", async ({ client }) => {
  const longs = ["9223372036854775807", "-9223372036854775808"];
  const echoed = await client.POST("/operations/echoLongs", { body: { item: longs } });
  expect(echoed.data?.item, longs);
  const decimals = ["123456789012345678901234567.125", "0.1"];
  const { data } = await client.POST("/operations/echoDecimals", { body: { item: decimals } });
  expect(data?.item?.map(String), decimals);
});

test("json values", "markup and characters of all planes", async ({ client }) => {
  const item = ["<a>&amp;</a>", "\u{1F9FC} \u00e9 \u0416", "line\nfeed\ttab", "\"quoted\""];
  const { data } = await client.POST("/operations/echoStrings", { body: { item } });
  expect(data?.item, item);
});

test("json faults", "a typed fault is a problem", async ({ client }) => {
  const { error, response } = await client.POST("/operations/fail", { body: { code: "x<1>" } });
  expect(response.status >= 400 && response.headers.get("content-type"), "application/problem+json");
  if (!error || !("fault" in error) || !error.fault) throw new Error("no fault");
  const detail = (error.fault.detail as { BenchFault?: { code?: string } }).BenchFault;
  expect(detail?.code, "x<1>");
});

test("json faults", "a request that does not fit is refused, with its place", async ({ client }) => {
  const item = [1, "two"] as unknown as number[];
  const { error, response } = await client.POST("/operations/echoInts", { body: { item } });
  expect([response.status, error?.pointer], [422, "/item/1"]);
});

test("json lines", "a list in lines", async ({ url }) => {
  const item = Array.from({ length: 5000 }, (_, n) => n);
  const headers = { "Content-Type": "application/json", Accept: "application/jsonl" };
  const answer = await fetch(`${url}/operations/echoInts`, { method: "POST", headers, body: JSON.stringify({ item }) });
  expect(answer.headers.get("content-type"), "application/jsonl");
  expect((await answer.text()).trim().split("\n").map((line) => JSON.parse(line)), item);
});

test("json lines", "a list sent in lines", async ({ url }) => {
  const item = Array.from({ length: 5000 }, (_, n) => n);
  const body = ["{}", ...item.map(String)].join("\n");
  const headers = { "Content-Type": "application/jsonl" };
  const answer = await fetch(`${url}/operations/echoInts`, { method: "POST", headers, body });
  expect(((await answer.json()) as { item: number[] }).item, item);
});

test("json lines", "a line that does not fit is refused, with its number", async ({ url }) => {
  const body = ["{}", ...Array.from({ length: 5000 }, (_, n) => String(n)), '"two"'].join("\n");
  const headers = { "Content-Type": "application/jsonl" };
  const answer = await fetch(`${url}/operations/echoInts`, { method: "POST", headers, body });
  const { line, pointer } = (await answer.json()) as { line: number; pointer: string };
  expect([answer.status, line, pointer], [422, 5002, "/item/5000"]);
});

test("json one-way", "notifications arrive", async ({ soap, client }) => {
  const topic = `TypeScript over ${soap}, ${process.pid}`;
  for (let n = 0; n < 3; n++) {
    const { response } = await client.POST("/operations/notify", { body: { topic } });
    expect(response.status, 202);
  }
  let count = 0;
  for (let n = 0; n < 50 && count !== 3; n++) {
    count = (await client.POST("/operations/notified", { body: { topic } })).data?.count ?? 0;
    if (count !== 3) await new Promise((done) => setTimeout(done, 100));
  }
  expect(count, 3);
});

for (const [soap, path] of [["1.1", "/soap11"], ["1.2", "/soap12"]] as const) {
  const url = process.argv[2] + path;
  const endpoint = { soap, url, client: createClient<paths>({ baseUrl: url }) };
  for (const { feature, name, run } of tests) {
    const line = { soap, feature, test: name, ok: true, detail: "" };
    try {
      await run(endpoint);
    } catch (error) {
      Object.assign(line, { ok: false, detail: String(error instanceof Error ? error.message : error).slice(0, 300) });
    }
    process.stdout.write(JSON.stringify(line) + "\n");
  }
}
