// Calls our services that require WS-Security with node-soap. Signatures of responses are verified
// with xml-crypto: node-soap itself verifies none.
//
//     node secured.js URL KEYS
//
// Prints one JSON object per test; tests/interop/README.md documents it.

import { readFileSync } from "node:fs";
import soap from "soap";
import { verify } from "./signatures.js";

const [url, folder] = process.argv.slice(2);
const read = (file) => readFileSync(`${folder}/${file}`, "utf8");

const USER = "ada";
const PASSWORD = "pass & word";
const EXCLUSIVE = ["http://www.w3.org/2001/10/xml-exc-c14n#"];

const byText = (password = PASSWORD) => new soap.WSSecurity(USER, password);
const byDigest = (password = PASSWORD, options) =>
  new soap.WSSecurity(USER, password, { passwordType: "PasswordDigest", ...options });
const byKey = (name, options) => new soap.WSSecurityCert(read(`${name}.key`), read(`${name}.pem`), "", options);

/** Signs also the token of a user, which has no timestamp of its own. */
function byBoth() {
  const additionalReferences = ["wsse:UsernameToken", "wsse:BinarySecurityToken"];
  return new soap.WSSecurityPlusCert(byDigest(PASSWORD, { hasTimeStamp: false }), byKey("client", { additionalReferences }));
}

class Peer {
  constructor(version) {
    this.version = version;
  }

  /** Returns the client of one of the services. */
  async client(path, security) {
    const settings = { forceSoap12Headers: this.version === "1.2", preserveWhitespace: true };
    const client = await soap.createClientAsync(`${url}/${path}?wsdl`, settings);
    client.setSecurity(security);
    return client;
  }

  call(client, transfer, postProcess = (xml) => xml) {
    const port = client.Bank[this.version === "1.1" ? "BankSoap11" : "BankSoap12"];
    return new Promise((resolve, reject) => {
      const done = (error, result, response) => (error ? reject(error) : resolve({ ...result, response }));
      port.transfer(transfer, done, { postProcess });
    });
  }

  async accepts(path, security, from) {
    const client = await this.client(path, security);
    for (const [times, amount] of [[1, 150], [2, 250], [2, 123456789], [3000, 250]]) {
      const note = '<Ada> & "Ä", 漢🦀\t'.repeat(times);
      const receipt = await this.call(client, { to: "Bob", amount, note });
      expect(receipt.from, from);
      expect(receipt.note, note);
      expect(Number(receipt.amount), amount);
    }
  }

  async refuses(path, security, code, postProcess) {
    const client = await this.client(path, security);
    await refused(this.call(client, { to: "Bob", amount: 250 }, postProcess), code);
  }

  /** The same bytes are accepted once. */
  async refusesAgain(path, security) {
    const client = await this.client(path, security);
    let first;
    const repeat = (xml) => (first ??= xml);
    await this.call(client, { to: "Bob", amount: 250 }, repeat);
    await refused(this.call(client, { to: "Bob", amount: 250 }, repeat), "MessageExpired");
  }

  /** Our response is signed, which xml-crypto finds if it is not changed. */
  async signsResponses() {
    const client = await this.client("signed", byKey("client"));
    const { response } = await this.call(client, { to: "Bob", amount: 250, note: "Bob & Ä" });
    verify(response, read("server.pem"));
    const changed = response.replace(">250<", ">950<");
    expect(changed !== response, true);
    for (const [message, key] of [[changed, "server"], [response, "client"]]) {
      let isValid = true;
      try {
        verify(message, read(`${key}.pem`));
      } catch {
        isValid = false;
      }
      expect(isValid, false);
    }
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

  /** Notes what node-soap does not have. */
  lacks(feature, name, reason) {
    console.log(JSON.stringify({ soap: this.version, feature, test: name, ok: true, detail: "", skipped: reason }));
  }
}

/** Throws unless a call fails with a fault, whose code or subcode is this. */
async function refused(running, code) {
  try {
    await running;
  } catch (error) {
    const fault = error.root?.Envelope?.Body?.Fault;
    if (!fault) throw error;
    if (!JSON.stringify(fault).includes(code)) throw new Error(`expected ${code}, got ${JSON.stringify(fault)}`);
    return;
  }
  throw new Error("expected a fault, got a response");
}

function expect(actual, expected) {
  if (actual !== expected) {
    throw new Error(`expected ${String(expected).slice(0, 100)}, got ${String(actual).slice(0, 100)}`);
  }
}

const change = (from, to) => (xml) => {
  if (!xml.includes(from)) throw new Error(`the message lacks ${from}`);
  return xml.replace(from, to);
};

for (const version of ["1.1", "1.2"]) {
  const peer = new Peer(version);
  const users = (name, run) => peer.test("security user", name, run);
  await users("passwords as text", () => peer.accepts("users", byText(), USER));
  await users("passwords as digests", () => peer.accepts("users", byDigest(), USER));
  await users("a wrong password is refused", () => peer.refuses("users", byText("guess"), "FailedAuthentication"));
  await users("a wrong digest is refused", () => peer.refuses("users", byDigest("guess"), "FailedAuthentication"));
  await users("a replayed request is refused", () => peer.refusesAgain("users", byDigest()));

  const signatures = (name, run) => peer.test("security signed", name, run);
  const wsu = { signerOptions: { idMode: "wssecurity" }, signatureTransformations: EXCLUSIVE };
  await signatures("signed requests", () => peer.accepts("signed", byKey("client"), "CN=client"));
  await signatures("signed requests with wsu:Id", () => peer.accepts("signed", byKey("client", wsu), "CN=client"));
  await signatures("signed user names", () => peer.accepts("tokens", byBoth(), USER));
  peer.lacks("security signed", "WSSecurityCertWithToken", "the signature refers to an id that is not in the message");
  await signatures("a changed user name is refused", () =>
    peer.refuses("tokens", byBoth(), "Failed", change(">ada<", ">bob<")));
  await signatures("a changed request is refused", () =>
    peer.refuses("signed", byKey("client"), "FailedCheck", change(">250<", ">950<")));
  await signatures("a request of a stranger is refused", () =>
    peer.refuses("signed", byKey("stranger"), "InvalidSecurityToken"));
  await signatures("a replayed request is refused", () => peer.refusesAgain("signed", byKey("client")));
  await signatures("signed responses, verified with xml-crypto", () => peer.signsResponses());
}
