// Verifies signatures with xml-crypto, the library with which node-soap makes them.

import { SignedXml } from "xml-crypto";

/** Throws unless body, timestamp and `others` are signed with the key of a certificate. */
export function verify(xml, certificate, ...others) {
  const signature = /<ds:Signature[ >].*<\/ds:Signature>/s.exec(xml)?.[0];
  if (!signature) throw new Error("no signature");
  const signed = new SignedXml({ publicCert: certificate });
  signed.loadSignature(signature);
  if (!signed.checkSignature(xml)) throw new Error("a digest does not match");
  const names = signed.getSignedReferences().map((element) => /^<(?:\w+:)?(\w+)/.exec(element)?.[1]);
  for (const name of ["Body", "Timestamp", ...others]) {
    if (!names.includes(name)) throw new Error(`only these are signed: ${names}`);
  }
}
