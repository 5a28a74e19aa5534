// The operations over node-soap's server.

import { readFileSync } from "node:fs";
import http from "node:http";
import https from "node:https";
import { join } from "node:path";
import soap from "soap";
import { floating, options, string } from "./toolkit.js";

const items = (request) => request?.item ?? [];
const echo = (request) => ({ item: items(request) });
const receive = (item) => ({ count }) => ({ item: Array.from({ length: count }, (_, i) => item(i + 1)) });
const count = (request) => ({ count: items(request).length });

const service = {
  echoVoid: () => ({}),
  echoInts: echo,
  echoDoubles: (request) => ({ item: items(request).map(floating) }),
  echoStrings: (request) => ({ item: items(request).map(string) }),
  echoMios: (request) => ({ item: items(request).map(({ x, y, v }) => ({ x, y, v: floating(v) })) }),
  echoEvents: (request) => ({ item: items(request).map(({ id, value, message }) => ({ id, value: floating(value), message: string(message) })) }),
  echoBase64: ({ data }) => ({ data: data ?? "" }),
  sendInts: count,
  sendDoubles: count,
  sendStrings: count,
  sendMios: count,
  sendEvents: count,
  sendBase64: ({ data }) => ({ count: Buffer.from(data ?? "", "base64").length }),
  receiveInts: receive((i) => i),
  receiveDoubles: receive((i) => Math.sqrt(i)),
  receiveStrings: receive((i) => `Message #${i}`.padEnd(100, ".")),
  receiveMios: receive((i) => ({ x: i, y: i, v: Math.sqrt(i) })),
  receiveEvents: receive((i) => ({ id: i, value: Math.sqrt(i), message: `Message #${i}` })),
  receiveBase64: ({ count }) => ({ data: Buffer.from(Uint8Array.from({ length: count }, (_, i) => i)).toString("base64") }),
};

export const operations = Object.keys(service);

/**
 * Starts the server; returns its port. Compressed requests are always accepted; answers are not
 * compressed.
 */
export function serve(wsdl, { isTls, folder }) {
  const file = (name) => readFileSync(join(folder, name));
  const server = isTls ? https.createServer({ cert: file("certificate.pem"), key: file("key.pem") }) : http.createServer();
  server.keepAliveTimeout = 3_600_000;
  const xml = readFileSync(wsdl, "utf8");
  const { wsdl: description } = soap.listen(server, { path: "/bench", services: { Suite: { Suite: service } }, xml, enableChunkedEncoding: false, ...options });
  // The client passes this option on to the WSDL, the server does not.
  description.options.preserveWhitespace = options.preserveWhitespace;
  return new Promise((resolve, reject) => {
    server.on("error", reject);
    server.listen(0, "127.0.0.1", () => resolve(server.address().port));
  });
}
