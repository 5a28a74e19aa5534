// Calls the service /orders, whose WSDL our server makes from Rust types, with node-soap.
//
//     node coded.js ORDERS-URL SUMS-URL
//
// Prints one JSON object per test; tests/interop/README.md documents it.

import soap from "soap";
import { keeping, written } from "./values.js";

const [url] = process.argv.slice(2);

class Orders {
  constructor(version, client) {
    this.version = version;
    this.client = client;
    this.port = client.Orders[version === "1.1" ? "OrdersSoap11" : "OrdersSoap12"];
  }

  static async open(version) {
    const settings = { forceSoap12Headers: version === "1.2", preserveWhitespace: true, customDeserializer: keeping };
    return new Orders(version, await soap.createClientAsync(url + "?wsdl", settings));
  }

  call(operation, value) {
    return new Promise((resolve, reject) => {
      this.port[operation](value, (error, result, _raw, header) => (error ? reject(error) : resolve({ result, header })));
    });
  }

  async order(name) {
    const { order } = (await this.call("sampleOrder", { case: name })).result;
    expect(order.line?.length ?? 0, name === "most" ? 2 : 0);
    const { problem } = (await this.call("checkOrder", { case: name, order: written(order) })).result;
    expect(problem ?? "", "");
  }

  async reserve() {
    expect(Number((await this.call("reserve", { sku: "<a>", count: 3 })).result.left), 7);
  }

  async reserveTooMany() {
    const fault = await this.faultOf("reserve", { sku: "<a>", count: 11 });
    const detail = (fault?.detail ?? fault?.Detail)?.OutOfStock;
    expect(detail?.sku, "<a>");
    expect(Number(detail?.left), 10);
  }

  async renew() {
    this.client.addSoapHeader({ "tns:Session": { user: "Ada & co", hops: 41 } }, "", "tns", "urn:orders");
    try {
      const { result, header } = await this.call("renew", {});
      expect(result.user, "Ada & co");
      expect(Number(header?.Session?.hops), 42);
    } finally {
      this.client.clearSoapHeaders();
    }
  }

  async renewWithoutSession() {
    expect((await this.faultOf("renew", {})) !== undefined, true);
  }

  async cancel() {
    const topic = `node-soap over ${this.version}, ${process.pid}`;
    for (let n = 0; n < 3; n++) {
      await this.call("cancel", { topic });
    }
    let count;
    for (let n = 0; n < 50 && count !== 3; n++) {
      count = Number((await this.call("cancelled", { topic })).result.count);
      await new Promise((resolve) => setTimeout(resolve, count === 3 ? 0 : 100));
    }
    expect(count, 3);
  }

  /** Returns the fault of a call, which must have one. */
  async faultOf(operation, value) {
    try {
      await this.call(operation, value);
    } catch (error) {
      return error.root?.Envelope?.Body?.Fault;
    }
    throw new Error("expected a fault, got a response");
  }

  async test(feature, name, run) {
    let detail = "";
    try {
      await run();
    } catch (error) {
      detail = String(error.message).slice(0, 600) || "an error";
    }
    console.log(JSON.stringify({ soap: this.version, feature, test: name, ok: detail === "", detail }));
  }
}

function expect(actual, expected) {
  if (actual !== expected) {
    throw new Error(`expected ${expected}, got ${actual}`);
  }
}

for (const version of ["1.1", "1.2"]) {
  const orders = await Orders.open(version);
  await orders.test("coded structs", "an order with everything", () => orders.order("most"));
  await orders.test("coded structs", "an order with only what is required", () => orders.order("least"));
  await orders.test("coded faults", "no fault", () => orders.reserve());
  await orders.test("coded faults", "a typed fault", () => orders.reserveTooMany());
  await orders.test("coded headers", "a header block both ways", () => orders.renew());
  await orders.test("coded headers", "a required block is missing", () => orders.renewWithoutSession());
  await orders.test("coded one-way", "cancellations arrive", () => orders.cancel());
}
