// What both servers share: a service in both versions of SOAP under one path.

import soap from "soap";
import { deserializers } from "./values.js";

export const NIL = { attributes: { "xmlns:xsi": "http://www.w3.org/2001/XMLSchema-instance", "xsi:nil": "true" } };

/** Mounts a service in both versions. `service(version)` has its parts, `traced` its header blocks, `options` go to node-soap. */
export function mount(server, path, { wsdl, service, traced, options }) {
  for (const [version, suffix] of [["1.1", ""], ["1.2", "/1.2"]]) {
    const mounted = soap.listen(server, {
      path: path + suffix,
      services: service(version),
      xml: wsdl,
      forceSoap12Headers: version === "1.2",
      handleNilAsNull: true,
      customDeserializer: deserializers,
      ...options,
    });
    // It takes this option for clients alone.
    mounted.wsdl.options.preserveWhitespace = true;
    mounted.addSoapHeader(traced);
  }
}

/** node-soap answers in one version a path: that of the request is told by its media type. */
export function dispatchByVersion(server) {
  const emit = server.emit.bind(server);
  server.emit = (event, request, ...others) => {
    if (event === "request" && /soap\+xml/.test(request.headers["content-type"])) request.url += "/1.2";
    return emit(event, request, ...others);
  };
}

/** Listens at a free port, and says so. */
export function listen(server, scheme, path) {
  dispatchByVersion(server);
  server.listen(0, "127.0.0.1", () => console.log(`listening on ${scheme}://localhost:${server.address().port}${path}`));
}

/** A fault with a typed detail. A colon in front of a name keeps node-soap from giving it the envelope's prefix. */
export function fault(version, namespace, name, code) {
  const attributes = { "xmlns:b": namespace };
  const detail = { [`b:${name}`]: { attributes, ":code": code, ":limit": [...code].length } };
  const reason = "this operation always fails";
  if (version === "1.1") return { faultcode: "soap:Server", faultstring: reason, detail, statusCode: 500 };
  const text = { attributes: { "xml:lang": "en" }, $value: reason };
  return { Code: { Value: "soap:Receiver" }, Reason: { Text: text }, Detail: detail, statusCode: 500 };
}

/** The header block of a response to trace, by the namespace of it. */
export function tracing(namespace) {
  return (method, _request, headers) => {
    const trace = headers?.Trace;
    if (method !== "trace" || !trace) return "";
    const attributes = { "xmlns:b": namespace };
    return { "b:Trace": { attributes, ":id": trace.id, ":hops": Number(trace.hops) + 1 } };
  };
}
