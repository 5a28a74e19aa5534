// Serves testdata/wsdl/bench.wsdl with node-soap.
//
//     node server.js WSDL-FILE CERTIFICATE-FILE KEY-FILE
//
// Prints a line `listening on URL` for HTTP and one for HTTPS, and serves until it is killed.

import { readFileSync } from "node:fs";
import http from "node:http";
import https from "node:https";
import { fault, listen, mount, NIL, tracing } from "./serving.js";
import { floating } from "./values.js";

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
      throw { Fault: fault(version, NAMESPACE, "BenchFault", code) };
    },
  };
}

/** node-soap's server would write null with an undeclared prefix. */
function nils(value) {
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, field === null ? NIL : field]));
}

function service(version) {
  const parts = operations(version);
  return { Bench: { Soap11: parts, Soap12: parts } };
}

function serve(server, scheme) {
  const settings = { wsdl, service, traced: tracing(NAMESPACE) };
  const oneWay = { responseCode: 202 };
  mount(server, "/bench", { ...settings, options: { oneWay } });
  mount(server, "/bench/length", { ...settings, options: { oneWay, enableChunkedEncoding: false } });
  listen(server, scheme, "/bench");
}

serve(http.createServer(), "http");
serve(https.createServer({ cert: readFileSync(certificateFile), key: readFileSync(keyFile) }), "https");
