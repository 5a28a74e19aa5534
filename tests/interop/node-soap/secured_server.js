// Serves services that require WS-Security with node-soap. It has hooks that check messages, and
// leaves to them how: the hooks here verify digests with its own function, and signatures with
// xml-crypto.
//
//     node secured_server.js WSDL KEYS
//
// Prints a line `listening on URL`, and serves until it is killed. The last part of the path says
// what is required: /users, /signed or /tokens.

import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import http from "node:http";
import soap from "soap";
import { listen, mount } from "./serving.js";
import { verify } from "./signatures.js";

const [wsdlFile, folder] = process.argv.slice(2);
const wsdl = readFileSync(wsdlFile, "utf8");
const certificate = readFileSync(`${folder}/client.pem`, "utf8");

const USER = "ada";
const PASSWORD = "pass & word";

/** Returns the user, whose password must be right. */
function userOf(security) {
  const { Username, Password, Nonce, Created } = security?.UsernameToken ?? {};
  const isDigest = Password?.attributes?.Type?.endsWith("#PasswordDigest");
  const expected = isDigest ? soap.passwordDigest(textOf(Nonce), textOf(Created), PASSWORD) : PASSWORD;
  if (textOf(Username) !== USER || textOf(Password) !== expected) throw new Error("a wrong user or password");
  return USER;
}

const textOf = (element) => element?.$value ?? element;

/** Returns the subject of the certificate that signed the message. */
function signerOf(xml, ...signed) {
  verify(xml, certificate, ...signed);
  return new X509Certificate(certificate).subject;
}

/** What each service requires: a function that returns the sender, or throws. */
const requirements = {
  users: (security) => userOf(security),
  signed: (_, xml) => signerOf(xml),
  tokens: (security, xml) => (signerOf(xml, "UsernameToken"), userOf(security)),
};

/** Returns the parts of the service. */
function service() {
  const transfer = ({ amount, note }, _done, _headers, request) => ({ from: request.sender, amount, note });
  return { Bank: { BankSoap11: { transfer }, BankSoap12: { transfer } } };
}

const server = http.createServer();
for (const [name, check] of Object.entries(requirements)) {
  for (const mounted of mount(server, `/secured/${name}`, { wsdl, service, options: {} })) {
    mounted.log = (kind, xml, request) => {
      if (kind === "received") request.xml = xml;
    };
    mounted.authenticate = (security, _done, request) => {
      try {
        request.sender = check(security, request.xml);
        return true;
      } catch (error) {
        console.error(error.message);
        return false;
      }
    };
  }
}
listen(server, "http", "/secured");
