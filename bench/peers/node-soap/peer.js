// node-soap as a peer of the benchmark: the line protocol of ../PROTOCOL.md over stdin and stdout.
//
//     node peer.js WSDL

import { writeSync } from "node:fs";
import { createRequire } from "node:module";
import { Calls } from "./client.js";
import { memory } from "./memory.js";
import { kinds, toolkit } from "./toolkit.js";
import { operations, serve } from "./server.js";

const COPIES = 16;
const { decode, encode } = await toolkit(process.argv[2]);
const { version } = createRequire(import.meta.url)("soap/package.json");

/**
 * Reads standard input by lines and by lengths. Meanwhile the event loop continues, for the server.
 */
class Requests {
  #chunks = process.stdin[Symbol.asyncIterator]();
  #rest = Buffer.alloc(0);

  async line() {
    let end;
    while ((end = this.#rest.indexOf(10)) < 0) if (!(await this.#more())) return undefined;
    return this.#take(end + 1).toString().trimEnd();
  }

  async bytes(length) {
    const chunks = [this.#rest];
    let size = this.#rest.length;
    while (size < length) {
      const { value, done } = await this.#chunks.next();
      if (done) throw new Error("the message is cut");
      chunks.push(value);
      size += value.length;
    }
    this.#rest = Buffer.concat(chunks);
    return Buffer.from(this.#take(length));
  }

  async #more() {
    const { value, done } = await this.#chunks.next();
    if (!done) this.#rest = Buffer.concat([this.#rest, value]);
    return !done;
  }

  #take(length) {
    const taken = this.#rest.subarray(0, length);
    this.#rest = this.#rest.subarray(length);
    return taken;
  }
}

class Decode {
  constructor(kind, message) {
    this.kind = kind;
    this.messages = Array.from({ length: COPIES }, () => Buffer.from(message));
    this.next = 0;
    this.baseline = memory("VmRSS");
    this.once();
  }

  once() {
    this.values = undefined;
    this.values = decode(this.kind, this.messages[this.next++ % COPIES]);
  }

  checksum() {
    return this.kind.checksum(this.values);
  }

  get bytes() {
    return this.messages[0].length;
  }
}

class Encode {
  constructor(kind, message) {
    this.kind = kind;
    this.values = decode(kind, message);
    this.baseline = memory("VmRSS");
    this.once();
  }

  once() {
    this.output = undefined;
    this.output = encode(this.kind, this.values);
  }

  checksum() {
    return this.kind.checksum(decode(this.kind, this.output));
  }

  get bytes() {
    return this.output.length;
  }
}

const requests = new Requests();
let prepared;
let transport = { isGzip: false, isTls: false };

async function answer([request, ...words]) {
  switch (request) {
    case "hello": {
      const workloads = ["decode", "encode"].flatMap((direction) => Object.keys(kinds).map((kind) => `${direction}-${kind}`));
      return { peer: "node-soap", version, workloads, operations, calls: operations, transports: ["tls"], warm: 1500 };
    }
    case "prepare":
      return prepare(words[0], await requests.bytes(Number(words[2])));
    case "call":
      return call(words, await requests.bytes(Number(words[3])));
    case "transport":
      transport = { isGzip: words[0].startsWith("gzip"), isTls: words[0].endsWith("tls"), folder: words[1] };
      return { ok: true };
    case "run":
      return run(Number(words[0]));
    case "output":
      return prepared.output;
    case "serve":
      if (!(Number(words[0]) > 0)) throw new Error("no connections to serve");
      return { ok: true, port: await serve(process.argv[2], transport) };
  }
  throw new Error(`this peer does not know ${request}`);
}

function prepare(workload, message) {
  prepared = undefined;
  const [direction, name] = workload.split("-");
  const [kind, Work] = [kinds[name], { decode: Decode, encode: Encode }[direction]];
  if (!kind || !Work) throw new Error(`unknown workload ${workload}`);
  const work = new Work(kind, message);
  const checksum = work.checksum();
  prepared = work;
  return { ok: true, checksum, bytes: work.bytes };
}

async function call([port, operation, n], message) {
  prepared = undefined;
  const baseline = memory("VmRSS");
  const work = await Calls.open(process.argv[2], transport, { port, operation, n: Number(n), message }, decode);
  prepared = Object.assign(work, { baseline });
  return { ok: true, checksum: work.checksum(), bytes: work.bytes };
}

async function run(count) {
  memory.reset();
  const ns = [];
  while (ns.length < count) ns.push(await once());
  const peak_bytes = Math.max(0, memory("VmHWM") - prepared.baseline);
  return { ns, checksum: prepared.checksum(), peak_bytes };
}

async function once() {
  const start = process.hrtime.bigint();
  // In-process work is synchronous.
  const pending = prepared.once();
  if (pending) await pending;
  return Number(process.hrtime.bigint() - start);
}

function send(answered) {
  const isOutput = Buffer.isBuffer(answered);
  const octets = isOutput ? Buffer.concat([Buffer.from(`${answered.length}\n`), answered]) : Buffer.from(JSON.stringify(answered) + "\n");
  for (let sent = 0; sent < octets.length; ) sent += write(octets.subarray(sent));
}

/** A full pipe takes the rest later. */
function write(octets) {
  try {
    return writeSync(1, octets);
  } catch (error) {
    if (error.code === "EAGAIN") return 0;
    throw error;
  }
}

for (let line; (line = await requests.line()) !== undefined && line !== "quit"; ) {
  try {
    const answered = await answer(line.split(" "));
    if (answered === undefined) throw new Error("nothing was encoded");
    send(answered);
  } catch (error) {
    send({ ok: false, error: String(error.message).slice(0, 500) });
  }
}
process.exit(0);
