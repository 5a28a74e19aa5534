// Code shared by both servers: a service in both versions of SOAP under one path.

import soap from "soap";
import { deserializers } from "./values.js";

export const NIL = { attributes: { "xmlns:xsi": "http://www.w3.org/2001/XMLSchema-instance", "xsi:nil": "true" } };

/**
 * Mounts a service in both versions, and returns both. `service(version)` returns its parts,
 * `traced` its header blocks; `options` are those of node-soap.
 */
export function mount(server, path, { wsdl, service, traced, options }) {
  return [["1.1", ""], ["1.2", "/1.2"]].map(([version, suffix]) => {
    const mounted = soap.listen(server, {
      path: path + suffix,
      services: service(version),
      xml: wsdl,
      forceSoap12Headers: version === "1.2",
      handleNilAsNull: true,
      customDeserializer: deserializers,
      ...options,
    });
    // node-soap accepts this option only for clients.
    mounted.wsdl.options.preserveWhitespace = true;
    if (traced) mounted.addSoapHeader(traced);
    return mounted;
  });
}

/** node-soap answers in one version per path: the media type of the request selects it. */
export function dispatchByVersion(server) {
  const emit = server.emit.bind(server);
  server.emit = (event, request, ...others) => {
    if (event === "request" && /soap\+xml/.test(request.headers["content-type"])) request.url += "/1.2";
    return emit(event, request, ...others);
  };
}

/** Listens on a free port, and prints the URL. */
export function listen(server, scheme, path) {
  dispatchByVersion(server);
  server.listen(0, "127.0.0.1", () => console.log(`listening on ${scheme}://localhost:${server.address().port}${path}`));
}

/**
 * A fault with a typed detail. A colon before a name prevents node-soap from adding the envelope's
 * prefix.
 */
export function fault(version, namespace, name, code) {
  const attributes = { "xmlns:b": namespace };
  const detail = { [`b:${name}`]: { attributes, ":code": code, ":limit": [...code].length } };
  const reason = "this operation always fails";
  if (version === "1.1") return { faultcode: "soap:Server", faultstring: reason, detail, statusCode: 500 };
  const text = { attributes: { "xml:lang": "en" }, $value: reason };
  return { Code: { Value: "soap:Receiver" }, Reason: { Text: text }, Detail: detail, statusCode: 500 };
}

/** Returns the function for the header block of a response to trace, in a namespace. */
export function tracing(namespace) {
  return (method, _request, headers) => {
    const trace = headers?.Trace;
    if (method !== "trace" || !trace) return "";
    const attributes = { "xmlns:b": namespace };
    return { "b:Trace": { attributes, ":id": trace.id, ":hops": Number(trace.hops) + 1 } };
  };
}
