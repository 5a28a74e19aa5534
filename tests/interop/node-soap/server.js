// Serves testdata/wsdl/bench.wsdl with node-soap.
//
//     node server.js WSDL-FILE CERTIFICATE-FILE KEY-FILE
//
// Prints a line `listening on URL` for HTTP and one for HTTPS, and serves until it is killed.

import { readFileSync } from "node:fs";
import http from "node:http";
import https from "node:https";
import soap from "soap";
import { deserializers, floating } from "./values.js";

const NAMESPACE = "urn:bench";
const [wsdlFile, certificateFile, keyFile] = process.argv.slice(2);
const wsdl = readFileSync(wsdlFile, "utf8");

const items = (request) => request?.item ?? [];
const echo = (request) => ({ item: items(request) });
const echoFloating = (request) => ({ item: items(request).map(floating) });
const count = (request) => ({ count: items(request).length });
const octets = (request) => ({ count: Buffer.from(request.data ?? "", "base64").length });
const topics = new Map();

function operations(version) {
  return {
    echoVoid: () => ({}),
    echoBooleans: echo,
    echoInts: echo,
    echoLongs: echo,
    echoFloats: echoFloating,
    echoDoubles: echoFloating,
    echoDecimals: echo,
    echoDateTimes: echo,
    echoStrings: echo,
    echoMios: (request) => ({ item: items(request).map(({ x, y, v }) => ({ x, y, v: floating(v) })) }),
    echoBase64: ({ data }) => ({ data: data ?? "" }),
    echoStruct: ({ person }) => ({ person: { ...person, ...nils(person) } }),
    sendInts: count,
    sendDoubles: count,
    sendStrings: count,
    sendMios: count,
    sendBase64: octets,
    trace: () => ({}),
    echoAttachment: ({ name, data }) => ({ name, data }),
    sendAttachment: octets,
    notify: ({ topic }) => void topics.set(topic, (topics.get(topic) ?? 0) + 1),
    notified: ({ topic }) => ({ count: topics.get(topic) ?? 0 }),
    fail: ({ code }) => {
      throw { Fault: benchFault(version, { code, limit: [...code].length }) };
    },
  };
}

const NIL = { attributes: { "xmlns:xsi": "http://www.w3.org/2001/XMLSchema-instance", "xsi:nil": "true" } };

/** A server's null would be written with a prefix that it does not declare. */
function nils(value) {
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, field === null ? NIL : field]));
}

/** A colon in front of a name keeps node-soap from giving it the envelope's prefix. */
function benchFault(version, { code, limit }) {
  const detail = { "b:BenchFault": { attributes: { "xmlns:b": NAMESPACE }, ":code": code, ":limit": limit } };
  const reason = "this operation always fails";
  if (version === "1.1") return { faultcode: "soap:Server", faultstring: reason, detail, statusCode: 500 };
  const text = { attributes: { "xml:lang": "en" }, $value: reason };
  return { Code: { Value: "soap:Receiver" }, Reason: { Text: text }, Detail: detail, statusCode: 500 };
}

/** The header block of a response to trace. */
function traced(method, _request, headers) {
  const trace = headers?.Trace;
  if (method !== "trace" || !trace) return "";
  const attributes = { "xmlns:b": NAMESPACE };
  return { "b:Trace": { attributes, ":id": trace.id, ":hops": Number(trace.hops) + 1 } };
}

/** Mounts the service in one version under a path. */
function mount(server, path, version, options) {
  const service = operations(version);
  const mounted = soap.listen(server, {
    path,
    services: { Bench: { Soap11: service, Soap12: service } },
    xml: wsdl,
    forceSoap12Headers: version === "1.2",
    preserveWhitespace: true,
    handleNilAsNull: true,
    customDeserializer: deserializers,
    oneWay: { responseCode: 202 },
    ...options,
  });
  mounted.addSoapHeader(traced);
}

/** node-soap answers in one version a path: that of the request is told by its media type. */
function dispatchByVersion(server) {
  const emit = server.emit.bind(server);
  server.emit = (event, request, ...others) => {
    if (event === "request" && /soap\+xml/.test(request.headers["content-type"])) request.url += "/1.2";
    return emit(event, request, ...others);
  };
}

function serve(server, scheme) {
  for (const [path, options] of [["/bench", {}], ["/bench/length", { enableChunkedEncoding: false }]]) {
    mount(server, path, "1.1", options);
    mount(server, path + "/1.2", "1.2", options);
  }
  dispatchByVersion(server);
  server.listen(0, "127.0.0.1", () => console.log(`listening on ${scheme}://localhost:${server.address().port}/bench`));
}

serve(http.createServer(), "http");
serve(https.createServer({ cert: readFileSync(certificateFile), key: readFileSync(keyFile) }), "https");
