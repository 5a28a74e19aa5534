// Calls by node-soap's own client, over a persistent connection.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import http from "node:http";
import https from "node:https";
import soap from "soap";
import { Checksum } from "./checksum.js";
import { kinds, options } from "./toolkit.js";

const KINDS = { Ints: "ints", Doubles: "hard", Strings: "strings", Mios: "structs", Events: "events", Base64: "base64" };

/** What is called, sent and received. */
function described(operation, n, values) {
  const [, direction, items] = operation.match(/^(echo|send|receive)(.*)$/) ?? [];
  const kind = kinds[KINDS[items]];
  const nothing = { content: () => ({}), read: () => undefined, checksum: () => new Checksum().hex() };
  if (operation === "echoVoid") return nothing;
  if (!kind) throw new Error(`unknown operation ${operation}`);
  const { read, checksum } = kind;
  if (direction === "receive") return { content: () => ({ count: n }), read, checksum };
  // Each call converts the values, as an encode does.
  const content = () => kind.write(values(kind));
  return direction === "echo" ? { content, read, checksum } : { content, read: ({ count }) => count, checksum: checksumOf };
}

function checksumOf(count) {
  const checksum = new Checksum();
  checksum.int(count);
  return checksum.hex();
}

/** Calls of an operation with the values of a message, or with a number. */
export class Calls {
  constructor(description, call, bytes) {
    Object.assign(this, { description, call, bytes });
  }

  static async open(wsdl, { isGzip, isTls, folder }, { port, operation, n, message }, decode) {
    const endpoint = `${isTls ? "https" : "http"}://127.0.0.1:${port}/bench`;
    const client = await soap.createClientAsync(wsdl, { ...options, endpoint });
    const kept = { keepAlive: true, noDelay: true };
    const agent = isTls
      ? { httpsAgent: new https.Agent({ ...kept, ca: readFileSync(join(folder, "certificate.pem")) }) }
      : { httpAgent: new http.Agent(kept) };
    // Without the last option, the limit is 10 MiB.
    const settings = { ...agent, forever: true, forceGzip: isGzip, maxBodyLength: Infinity };
    let values;
    const description = described(operation, n, (kind) => (values ??= decode(kind, message)));
    const calls = new Calls(description, (content) => client[`${operation}Async`](content, settings), message.length);
    await calls.once();
    return calls;
  }

  async once() {
    this.values = undefined;
    const [response] = await this.call(this.description.content());
    this.values = this.description.read(response);
  }

  checksum() {
    return this.description.checksum(this.values);
  }
}
