// Reads the virtual machines of vcsim through the gateway, with types that openapi-typescript makes from its document.
//
//     node client.js GATEWAY-URL MACHINES
//
// MACHINES is the number of each host and cluster. Fails unless all is as expected: the compiler checks it against the document, and
// the program what is answered.

import { deepStrictEqual, equal, notEqual, ok } from "node:assert/strict";
import createClient, { type Middleware } from "openapi-fetch";
import type { components, paths } from "./vim.js";

type Schemas = components["schemas"];
type Reference = Schemas["ManagedObjectReference"];

const [baseUrl = "", machines = ""] = process.argv.slice(2);
const cookies = new Map<string, string>();

/** The session is a cookie, and fetch keeps none. */
const session: Middleware = {
  onRequest({ request }) {
    if (cookies.size > 0) request.headers.set("Cookie", [...cookies].map((cookie) => cookie.join("=")).join("; "));
    return request;
  },
  onResponse({ response }) {
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]*)=([^;]*)/.exec(cookie) ?? [];
      cookies.set(name, value);
    }
  },
};

const client = createClient<paths>({ baseUrl });
client.use(session);

/** Returns what is answered, unless it is a problem. */
function answered<T>({ data, error }: { data?: T; error?: unknown }): T {
  ok(data, `expected an answer, got ${JSON.stringify(error)}`);
  return data;
}

function reference(kind: string): Reference {
  return { "@type": kind, $: kind };
}

/** Selects properties of the machines in a view. The step into the view is of a derived type. */
function selection(view: Reference, properties: string[]): Schemas["PropertyFilterSpec"] {
  const intoView: Schemas["TypedTraversalSpec"] = { $type: "TraversalSpec", type: "ContainerView", path: "view" };
  return {
    propSet: [{ type: "VirtualMachine", pathSet: properties }],
    objectSet: [{ obj: view, skip: true, selectSet: [intoView] }],
  };
}

/** Returns the names that vcsim gives its machines. */
function expectedNames(count: number): string[] {
  const names = ["DC0_H0_VM", "DC0_C0_RP0_VM"].flatMap((name) => Array.from({ length: count }, (_, n) => name + n));
  return names.sort();
}

const { returnval: content } = answered(
  await client.POST("/operations/RetrieveServiceContent", { body: { _this: reference("ServiceInstance") } }),
);
const { sessionManager, viewManager, propertyCollector, rootFolder } = content;
ok(sessionManager && viewManager);
equal(sessionManager["@type"], "SessionManager");

const view = { _this: viewManager, container: rootFolder, type: ["VirtualMachine"], recursive: true };
const stranger = await client.POST("/operations/CreateContainerView", { body: view });
equal(stranger.error?.type, "urn:deltasoap:problem:fault", "a view without a session");
ok(stranger.error.fault?.detail, "the fault has a detail");

const login = await client.POST("/operations/Login", { body: { _this: sessionManager, userName: "user", password: "pass" } });
equal(answered(login).returnval.userName, "user");
notEqual(cookies.size, 0, "a cookie");

const created = answered(await client.POST("/operations/CreateContainerView", { body: view })).returnval;
const specSet = [selection(created, ["name", "config.hardware.numCPU"])];
const retrieve = { _this: propertyCollector, specSet, options: {} };
const found = answered(await client.POST("/operations/RetrievePropertiesEx", { body: retrieve })).returnval?.objects ?? [];
const properties = found.map(({ propSet = [] }) => Object.fromEntries(propSet.map(({ name, val }) => [name, val])));
const values = (name: string) => properties.map((each) => (each[name] as { $: unknown } | undefined)?.$);
deepStrictEqual(values("name").sort(), expectedNames(Number(machines)));
deepStrictEqual([...new Set(values("config.hardware.numCPU"))], [1]);
deepStrictEqual([...new Set(found.map(({ obj }) => obj["@type"]))], ["VirtualMachine"]);

answered(await client.POST("/operations/DestroyView", { body: { _this: created } }));
answered(await client.POST("/operations/Logout", { body: { _this: sessionManager } }));
const late = await client.POST("/operations/RetrievePropertiesEx", { body: retrieve });
equal(late.error?.type, "urn:deltasoap:problem:fault", "properties after the session");
console.log(`TypeScript: ${found.length} virtual machines of ${content.about.fullName}`);
