// Echoes every kind of testdata/wsdl/types.wsdl with node-soap.
//
//     node values_server.js WSDL-FILE
//
// Prints a line `listening on URL`, and serves until it is killed.

import { readFileSync } from "node:fs";
import http from "node:http";
import { fault, listen, mount, NIL, tracing } from "./serving.js";
import { keeping, written } from "./values.js";

const NAMESPACE = "urn:types";
const wsdl = readFileSync(process.argv[2], "utf8");
const kinds = [...new Set([...wsdl.matchAll(/wsdl:operation name="echo(\w+)"/g)].map(([, kind]) => kind))];

/** node-soap's server would write null with an undeclared prefix. */
function withNils(value) {
  if (value === null) return NIL;
  if (Array.isArray(value)) return value.map(withNils);
  if (typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, withNils(part)]));
}

function service(version) {
  const operations = Object.fromEntries(kinds.map((kind) => ["echo" + kind, ({ value }) => ({ value: withNils(written(value)) })]));
  operations.trace = () => ({});
  operations.fail = ({ code }) => {
    throw { Fault: fault(version, NAMESPACE, "Failure", code) };
  };
  return { Types: { Soap11: operations, Soap12: operations } };
}

const server = http.createServer();
mount(server, "/types", { wsdl, service, traced: tracing(NAMESPACE), options: { customDeserializer: keeping } });
listen(server, "http", "/types");
