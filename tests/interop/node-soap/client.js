// Calls every operation of testdata/wsdl/bench.wsdl with node-soap, over SOAP 1.1 and SOAP 1.2.
//
//     node client.js URL TLS-URL CA-FILE
//
// Prints one JSON object per test; tests/interop/README.md documents it.

import { readFileSync } from "node:fs";
import { Readable } from "node:stream";
import { isDeepStrictEqual } from "node:util";
import { setTimeout as sleep } from "node:timers/promises";
import soap from "soap";
import { deserializers, floating } from "./values.js";

const NAMESPACE = "urn:bench";
const [url, tlsUrl, caFile] = process.argv.slice(2);

const tests = [];

/** Registers a test: called with an endpoint, it throws if something is wrong. */
function test(feature, name, run) {
  tests.push({ feature, name, run });
}

/** Registers a feature that node-soap does not have. */
function lacks(feature, name, reason) {
  tests.push({ feature, name, reason });
}

class Endpoint {
  constructor(version, client) {
    this.version = version;
    this.client = client;
    this.port = version === "1.1" ? client.Bench.Soap11 : client.Bench.Soap12;
  }

  static async open(version, options = {}) {
    const forceSoap12Headers = version === "1.2";
    const settings = { forceSoap12Headers, preserveWhitespace: true, customDeserializer: deserializers };
    const client = await soap.createClientAsync(url + "?wsdl", { ...settings, handleNilAsNull: true, ...options });
    return new Endpoint(version, client);
  }

  /** The response's value, its header, and the parts that came with it. */
  exchange(operation, value, options = {}) {
    return new Promise((resolve, reject) => {
      const done = (error, result, _raw, header, _request, parts) =>
        error ? reject(error) : resolve({ result, header, parts });
      this.port[operation](value, done, options);
    });
  }

  async call(operation, value, options) {
    return (await this.exchange(operation, value, options)).result;
  }
}

// --- comparing

function expect(actual, expected, what = "value") {
  if (!isDeepStrictEqual(actual, expected)) {
    throw new Error(`${what}: expected ${shortened(expected)}, got ${shortened(actual)}`);
  }
}

function shortened(value) {
  const text = JSON.stringify(value) ?? String(value);
  return text.length <= 160 ? text : text.slice(0, 157) + "...";
}

// --- arrays

/** A pseudo-random integer, by multiplication with a large prime. */
const int = (n) => Math.imul(n, 1_000_000_007);
const double = (n) => (int(n) / 7) * 10 ** ((n % 40) - 20);
const same = (value) => value;

/** The instant, independent of its form. */
const instant = (text) => new Date(text).getTime();

/** The significant digits. */
const decimal = (text) => text.replace(/^(-?\d+)(?:\.(\d*?))?0*$/, (_, whole, part) => (part ? `${whole}.${part}` : whole));

// For each type: how to create the n-th value, to send it, and to compare it.
const arrays = {
  Booleans: { make: (n) => n % 3 === 0, write: same, key: same },
  Ints: { make: int, write: same, key: same },
  Longs: { make: (n) => String(BigInt(int(n)) * 65_537n), write: same, key: same },
  Floats: { make: (n) => int(n % 1000) % 65_536 / 16, write: floating, key: Math.fround },
  Doubles: { make: double, write: floating, key: same },
  Decimals: { make: (n) => `${int(n)}.${n % 10}`, write: same, key: decimal },
  DateTimes: { make: (n) => new Date(int(n) * 1000).toISOString(), write: same, key: instant },
  Strings: { make: (n) => `<item> & "${n}" äß漢🦀`, write: same, key: same },
  Mios: {
    make: (n) => ({ x: int(n), y: -n || 0, v: double(n) }),
    write: ({ x, y, v }) => ({ x, y, v: floating(v) }),
    key: same,
  },
};

/** The items of a response; without items there is no list. */
function items(result) {
  return result?.item ?? [];
}

async function echo(endpoint, name, values, options) {
  const { write, key } = arrays[name];
  const result = await endpoint.call("echo" + name, { item: values.map(write) }, options);
  expect(items(result).map(key), values.map(key), "items");
}

const many = (size, make) => Array.from({ length: size }, (_, n) => make(n));

for (const name of Object.keys(arrays)) {
  for (const size of [0, 1, 100]) {
    const values = many(size, arrays[name].make);
    test("arrays", `echo${name}, ${size} items`, (endpoint) => echo(endpoint, name, values));
    if (["Ints", "Doubles", "Strings", "Mios"].includes(name)) {
      test("arrays", `send${name}, ${size} items`, async (endpoint) => {
        const result = await endpoint.call("send" + name, { item: values.map(arrays[name].write) });
        expect(result.count, size, "count");
      });
    }
  }
}

for (const size of [0, 1, 2, 3, 1000]) {
  test("arrays", `base64, ${size} octets`, async (endpoint) => {
    const data = octets(size).toString("base64");
    expect((await endpoint.call("echoBase64", { data }))?.data ?? "", data, "data");
    expect((await endpoint.call("sendBase64", { data })).count, size, "count");
  });
}

function octets(size) {
  return Buffer.from(many(size, (n) => (n * 7 + Math.floor(n / 256)) % 256));
}

test("arrays", "echoVoid", async (endpoint) => {
  await endpoint.call("echoVoid", {});
});

// --- extreme values

const LONG = 2n ** 63n;
const edges = {
  "ints at the limits": ["Ints", [-(2 ** 31), -1, 0, 1, 2 ** 31 - 1]],
  "longs at the limits": ["Longs", [-LONG, -1n, 0n, 1n, LONG - 1n].map(String)],
  "special doubles": ["Doubles", [Infinity, -Infinity, NaN, -0, 5e-324, 2.2250738585072014e-308, Number.MAX_VALUE]],
  "special floats": ["Floats", [Infinity, -Infinity, NaN, -0, 1.5e-39, 3.4028234663852886e38].map(Math.fround)],
  "long decimals": ["Decimals", ["0", "-0.5", "123456789012345678.123456789012345678"]],
  "instants": ["DateTimes", ["2024-02-29T23:59:59.5Z", "2001-10-26T21:32:52+02:00", "1969-12-31T23:59:59Z"]],
  // No "<![CDATA[...]]>": node-soap takes a string with this prefix for XML, and sends it
  // unchanged.
  "strings with markup": ["Strings", ["<item>", "a & b", "]]>", "\"'", "&amp;", "<!-- -->"]],
  "strings with unicode": ["Strings", ["äöüß", "漢字かな", "🦀🧼", "e\u0301", "\ud7ff\ue000\ufffd\u{10ffff}", "\u0085\u2028"]],
  "strings with white space": ["Strings", [" leading", "trailing ", "  two  spaces  ", "a\tb", "a\nb", " "]],
  "empty strings among others": ["Strings", ["", "a", "", "", "b", ""]],
  "a long string": ["Strings", ["0123456789<&".repeat(10_000)]],
};
for (const [name, [array, values]] of Object.entries(edges)) {
  test("values", name, (endpoint) => echo(endpoint, array, values));
}

// --- similar messages

const ROUNDS = 20;

test("similar", "doubles, one changed a message", async (endpoint) => {
  const values = many(500, double);
  for (let round = 0; round < ROUNDS; round++) {
    values[round * 23] = double(round + 1000);
    await echo(endpoint, "Doubles", values);
  }
});

test("similar", "strings that grow and shrink", async (endpoint) => {
  const values = many(100, (n) => `string ${n}`);
  for (let round = 0; round < ROUNDS; round++) {
    values[round * 3] = "& long ".repeat(round % 5) + "end";
    await echo(endpoint, "Strings", values);
  }
});

test("similar", "structs inserted and removed", async (endpoint) => {
  const values = many(200, arrays.Mios.make);
  for (let round = 0; round < ROUNDS; round++) {
    if (round % 2 === 0) values.splice(round * 5, 0, arrays.Mios.make(round + 1000));
    else values.splice(round, 1);
    await echo(endpoint, "Mios", values);
  }
});

// --- structs

const required = { name: "Ada <&> Lovelace", score: 1.5, role: "guest" };
const full = {
  name: "Ada <&> Lovelace", nickname: "ada", score: 0.1, born: "1815-12-10", role: "admin",
  address: { street: "St. James's Square 12", city: "London", zip: "SW1Y" }, tag: ["a", "b", "c"],
};
const persons = {
  "everything": [full, { id: "4611686018427387904", active: "true" }],
  "only what is required": [required, { id: "-1" }],
  "an optional one inside a nested one missing": [
    { ...required, address: { street: "s", city: "c" } }, { id: "1", active: "false" },
  ],
  "empty strings": [{ name: "", nickname: "", score: 1, role: "guest" }, { id: "1" }],
  "nil values": [{ ...full, score: null, born: null }, { id: "1" }],
};
for (const [name, [fields, attributes]] of Object.entries(persons)) {
  test("structs", name, async (endpoint) => {
    const result = await endpoint.call("echoStruct", { person: { attributes, ...fields } });
    expect(result.person, { attributes, ...fields }, "person");
  });
}

// --- faults

const CODES = { "1.1": /(^|:)(Client|Server)$/, "1.2": /(^|:)(Sender|Receiver)$/ };

async function faultOf(running) {
  try {
    await running;
  } catch (error) {
    const fault = error.root?.Envelope?.Body?.Fault;
    if (fault) return fault;
    throw error;
  }
  throw new Error("expected a fault, got a response");
}

for (const code of ["quota", "<a & b>", "漢字🦀"]) {
  test("faults", `typed fault, code ${JSON.stringify(code)}`, async (endpoint) => {
    const fault = await faultOf(endpoint.call("fail", { code }));
    const kind = endpoint.version === "1.1" ? fault.faultcode : fault.Code.Value;
    if (!CODES[endpoint.version].test(kind.$value ?? kind)) throw new Error(`fault code ${kind}`);
    const detail = (fault.detail ?? fault.Detail).BenchFault;
    // node-soap looks up the types of the body's content, but not of a detail's.
    expect([detail.code, Number(detail.limit)], [code, [...code].length], "detail");
  });
}

test("faults", "a value that is no int", async (endpoint) => {
  const fault = await faultOf(endpoint.call("echoInts", { item: ["one"] }));
  const kind = endpoint.version === "1.1" ? fault.faultcode : fault.Code.Value;
  if (!/(Client|Sender)$/.test(kind)) throw new Error(`fault code ${kind}`);
});

// --- headers

for (const mandatory of [false, true]) {
  test("headers", mandatory ? "a mandatory header block" : "a header block both ways", async (endpoint) => {
    for (let hops = 0; hops < 3; hops++) {
      endpoint.client.clearSoapHeaders();
      endpoint.client.addSoapHeader({ "b:Trace": { attributes: traceAttributes(mandatory), id: "<a> & ä", hops } });
      const { header } = await endpoint.exchange("trace", {}).finally(() => endpoint.client.clearSoapHeaders());
      expect([header.Trace.id, Number(header.Trace.hops)], ["<a> & ä", hops + 1], "header");
    }
  });
}

function traceAttributes(mandatory) {
  return { "xmlns:b": NAMESPACE, ...(mandatory && { "soap:mustUnderstand": "1" }) };
}

// --- the wire

lacks("utf-16", "requests in UTF-16", "requests are always in UTF-8");

/** Sends bodies without announcing their length. */
class ChunkingHttpClient extends soap.HttpClient {
  buildRequest(...parameters) {
    const request = super.buildRequest(...parameters);
    if (request.method === "POST") {
      delete request.headers["Content-Length"];
      request.data = Readable.from(pieces(Buffer.from(request.data)));
      request.maxRedirects = 0;
    }
    return request;
  }
}

function* pieces(bytes) {
  for (let at = 0; at < bytes.length; at += 1000) yield bytes.subarray(at, at + 1000);
}

test("chunked", "chunked requests", async ({ version }) => {
  const endpoint = await Endpoint.open(version, { httpClient: new ChunkingHttpClient() });
  for (let round = 0; round < 5; round++) {
    await echo(endpoint, "Doubles", many(1000, (n) => double(n + (n % 100 === 0 ? round : 0))));
  }
});

test("length", "requests with Content-Length", async (endpoint) => {
  await echo(endpoint, "Doubles", many(1000, double));
});

// With Content-Length node-soap would announce the length that the body had before it was
// compressed.
test("gzip", "gzip both ways", async ({ version }) => {
  const endpoint = await Endpoint.open(version, { httpClient: new ChunkingHttpClient() });
  for (let round = 0; round < 3; round++) {
    await echo(endpoint, "Strings", [...many(1000, () => "the same again"), `round ${round}`], { forceGzip: true });
  }
});

test("tls", "calls over TLS", async ({ version }) => {
  const endpoint = await Endpoint.open(version, { endpoint: tlsUrl });
  endpoint.client.setSecurity(new soap.ClientSSLSecurity(null, null, readFileSync(caFile), {}));
  for (let round = 0; round < 3; round++) await echo(endpoint, "Doubles", many(100, (n) => double(n + round)));
});

test("tls", "an unknown authority is refused", async ({ version }) => {
  const endpoint = await Endpoint.open(version, { endpoint: tlsUrl });
  let failure;
  await endpoint.call("echoVoid", {}).catch((error) => (failure = error));
  if (!/certificate|issuer/.test(failure?.message)) throw new Error(`expected a refusal, got ${failure}`);
});

// --- attachments

function part(body) {
  const include = { attributes: { "xmlns:xop": "http://www.w3.org/2004/08/xop/include", href: "cid:data@node" } };
  const attachments = [{ mimetype: "application/octet-stream", contentId: "data@node", name: "data", body }];
  return { value: { name: "a & b", data: { "xop:Include": include } }, options: { attachments, forceMTOM: true } };
}

/** The bytes of a value, inline or in a part. */
function bytesOf(data, parts) {
  const href = data?.Include?.attributes?.href;
  if (!href) return Buffer.from(data ?? "", "base64");
  const id = `<${decodeURIComponent(href.replace(/^cid:/, ""))}>`;
  return parts.parts.find(({ headers }) => headers["content-id"] === id).body;
}

for (const size of [100, 100_000]) {
  test("mtom", `echoAttachment as a part, ${size} octets`, async ({ version }) => {
    const endpoint = await Endpoint.open(version, { parseReponseAttachments: true });
    const { value, options } = part(octets(size));
    const { result, parts } = await endpoint.exchange("echoAttachment", value, options);
    expect(result.name, "a & b", "name");
    if (!bytesOf(result.data, parts).equals(octets(size))) throw new Error("other octets came back");
  });
}

test("mtom", "echoAttachment as text", async (endpoint) => {
  const data = octets(1000).toString("base64");
  expect((await endpoint.call("echoAttachment", { name: "text", data })).data, data, "data");
});

test("mtom", "sendAttachment, 1000000 octets", async ({ version }) => {
  const endpoint = await Endpoint.open(version, { parseReponseAttachments: true });
  const { value, options } = part(Buffer.alloc(1_000_000, 7));
  expect((await endpoint.call("sendAttachment", value, options)).count, 1_000_000, "count");
});

// --- one-way

test("one-way", "notifications arrive", async (endpoint) => {
  const topic = `node-soap over ${endpoint.version}, ${process.pid}`;
  for (let n = 0; n < 3; n++) await endpoint.call("notify", { topic });
  let count = 0;
  for (let n = 0; n < 50 && count !== 3; n++) {
    ({ count } = await endpoint.call("notified", { topic }));
    if (count !== 3) await sleep(100);
  }
  expect(count, 3, "count");
});

// --- running

async function run(endpoint, { feature, name, run, reason }) {
  const line = { soap: endpoint.version, feature, test: name, ok: true, detail: "" };
  if (reason) return report({ ...line, skipped: reason });
  try {
    await run(endpoint);
    report(line);
  } catch (error) {
    report({ ...line, ok: false, detail: String(error?.message ?? error).slice(0, 300) });
  }
}

function report(line) {
  process.stdout.write(JSON.stringify(line) + "\n");
}

for (const version of ["1.1", "1.2"]) {
  const endpoint = await Endpoint.open(version);
  for (const each of tests) await run(endpoint, each);
}
