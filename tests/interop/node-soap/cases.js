// Fetches every case of the service /types from our server with node-soap, and sends it back to be
// checked.
//
//     node cases.js TYPES-URL ENCODED-URL
//
// Prints one JSON object per test; tests/interop/README.md documents it.

import soap from "soap";
import { keeping, written } from "./values.js";

const [url] = process.argv.slice(2);

/** What node-soap does not offer, and why: features, or single tests of one. */
const lacks = {
  "literal primitives/a qualified name": "names are text: the declaration of the prefix is not kept",
  "literal primitives/empty texts": "if nil is distinguished, an empty element is decoded as null",
  "literal choice/repeated branches in their order": "elements with one name become one array: their order among others is lost",
  "literal polymorphism/derived types": "types are attributes with undeclared prefixes",
  "literal polymorphism/a type derived twice": "types are attributes with undeclared prefixes",
  "literal lists/empty arrays": "if nil is distinguished, an empty element is decoded as null",
  "literal lists/nil items": "nil items of an array are written as empty items",
};

class Tests {
  constructor(version, client) {
    this.version = version;
    this.port = version === "1.1" ? client.Types.Soap11 : client.Types.Soap12;
    this.client = client;
  }

  static async open(version) {
    const settings = { forceSoap12Headers: version === "1.2", preserveWhitespace: true, customDeserializer: keeping };
    return new Tests(version, await soap.createClientAsync(url + "?wsdl", { ...settings, handleNilAsNull: true }));
  }

  call(operation, value) {
    return new Promise((resolve, reject) => {
      this.port[operation](value, (error, result, _raw, header) => (error ? reject(error) : resolve({ result, header })));
    });
  }

  async run() {
    const cases = (await this.call("cases", {})).result.case;
    for (const { feature, kind, name } of cases) {
      await this.test(feature, name, () => this.check(kind, name));
    }
    await this.test("headers", "a header block", () => this.trace(true));
    await this.test("headers", "no header block", () => this.trace(false));
    for (const code of ["quota", "<a & b> 漢字"]) {
      await this.test("faults", `a typed fault, code ${code}`, () => this.fail(code));
    }
  }

  async check(kind, name) {
    const { value } = (await this.call("sample" + kind, { case: name })).result;
    const { problem } = (await this.call("check" + kind, { case: name, value: written(value) })).result;
    expect(problem ?? "", "");
  }

  async trace(sends) {
    this.client.clearSoapHeaders();
    if (sends) {
      this.client.addSoapHeader("<Trace xmlns='urn:types'><id xmlns=''>abc</id><hops xmlns=''>41</hops></Trace>");
    }
    const { header } = await this.call("trace", {});
    this.client.clearSoapHeaders();
    expect(header?.Trace && Number(header.Trace.hops), sends ? 42 : undefined);
  }

  async fail(code) {
    let failure;
    try {
      await this.call("fail", { code });
    } catch (error) {
      const fault = error.root?.Envelope?.Body?.Fault;
      failure = (fault?.detail ?? fault?.Detail)?.Failure;
    }
    expect(failure?.code, code);
    expect(Number(failure?.limit), [...code].length);
  }

  async test(feature, name, run) {
    feature = "literal " + feature;
    const skipped = lacks[feature] ?? lacks[`${feature}/${name}`];
    let detail = "";
    try {
      if (skipped === undefined) {
        await run();
      }
    } catch (error) {
      detail = String(error.message).slice(0, 600) || "an error";
    }
    console.log(JSON.stringify({ soap: this.version, feature, test: name, ok: detail === "", detail, skipped }));
  }
}

function expect(actual, expected) {
  if (actual !== expected) {
    throw new Error(`expected ${expected}, got ${actual}`);
  }
}

for (const version of ["1.1", "1.2"]) {
  await (await Tests.open(version)).run();
}
