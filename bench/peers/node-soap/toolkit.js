// Reads or writes one message as node-soap's client does.

import soap from "soap";
import { Checksum } from "./checksum.js";

/** Formats an xsd:double. */
export function floating(value) {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "INF" : "-INF";
  return Object.is(value, -0) ? "-0" : String(value);
}

function parseFloating(text) {
  const special = { INF: Infinity, "+INF": Infinity, "-INF": -Infinity, NaN: NaN };
  return text in special ? special[text] : Number(text);
}

export const options = { preserveWhitespace: true, disableCache: true, customDeserializer: { double: parseFloating } };

// An empty element is an empty object, or missing.
export const string = (value) => (typeof value === "string" ? value : "");
const sum = (add) => (values) => {
  const checksum = new Checksum();
  for (const value of values) add(checksum, value);
  return checksum.hex();
};
const octets = (content) => Buffer.from(string(content.data), "base64");

/** Doubles from their bits, little-endian like every machine that runs this. */
function doubles(octets) {
  if (octets.length % 8) throw new Error("these are no doubles");
  return new Float64Array(new Uint8Array(octets).buffer);
}

const list = (operation, add, read = (items) => items, write = (items) => items) => ({
  operation,
  read: (content) => read(content?.item ?? []),
  write: (values) => ({ item: write(values) }),
  checksum: sum(add),
});

const ints = list("sendInts", (checksum, value) => checksum.int(value));
const floats = list("sendDoubles", (checksum, value) => checksum.double(value), undefined, (items) => items.map(floating));
const strings = list("sendStrings", (checksum, value) => checksum.string(value), (items) => items.map(string));
const structs = list(
  "sendMios",
  (checksum, { x, y, v }) => (checksum.int(x), checksum.int(y), checksum.double(v)),
  undefined,
  (items) => items.map(({ x, y, v }) => ({ x, y, v: floating(v) })),
);
const events = list(
  "sendEvents",
  (checksum, { id, value, message }) => (checksum.int(id), checksum.double(value), checksum.string(message)),
  (items) => items.map(({ id, value, message }) => ({ id, value, message: string(message) })),
  (items) => items.map(({ id, value, message }) => ({ id, value: floating(value), message })),
);
const base64 = {
  operation: "sendBase64",
  read: octets,
  write: (data) => ({ data: data.toString("base64") }),
  checksum: (data) => sum((checksum, value) => checksum.octets(value))([data]),
};
const doubles64 = {
  operation: "sendBase64",
  read: (content) => doubles(octets(content)),
  write: (values) => base64.write(Buffer.from(values.buffer)),
  checksum: sum((checksum, value) => checksum.double(value)),
};

export const kinds = { ints, easy: floats, hard: floats, strings, structs, events, base64, doubles64 };

/** Receives a client's requests: this HTTP client keeps them and sends nothing. */
class Kept {
  request(_url, message) {
    this.message = message;
    return { headers: {} };
  }
}

/** Both directions of messages. */
export async function toolkit(wsdl) {
  const kept = new Kept();
  const client = await soap.createClientAsync(wsdl, { ...options, httpClient: kept });
  return {
    decode({ operation, read }, message) {
      const { Body: body } = client.wsdl.xmlToObject(message.toString());
      if (!(operation in body)) throw new Error(`not ${operation}`);
      return read(body[operation]);
    },
    encode({ operation, write }, values) {
      client[operation](write(values), () => {});
      return Buffer.from(kept.message);
    },
  };
}
