// Makes a form for each operation of the OpenAPI document, and calls it.
"use strict";

const element = (name, attributes = {}, ...children) => {
  const made = Object.assign(document.createElement(name), attributes);
  made.append(...children);
  return made;
};

let described = {};
const follow = (node) => {
  for (let depth = 0; node && node.$ref && depth < 16; depth++) {
    node = node.$ref.slice(2).split("/").reduce((at, key) => at && at[key], described);
  }
  return node || {};
};

// Schemas are shown with what they refer to, to this depth.
const shown = (schema, depth = 4) => {
  if (Array.isArray(schema)) return schema.map((item) => shown(item, depth));
  if (!schema || typeof schema !== "object") return schema;
  if (schema.$ref && depth > 0) return shown({ ...follow(schema), title: schema.$ref.split("/").pop() }, depth - 1);
  return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, shown(value, depth)]));
};

const schemaView = (title, schema) => {
  const text = element("pre");
  const view = element("details", {}, element("summary", { textContent: title }), text);
  view.addEventListener("toggle", () => { text.textContent = text.textContent || JSON.stringify(shown(schema), null, 2); });
  return view;
};

const inputsOf = (parameters) => {
  const inputs = parameters.map(follow).map((parameter) => [parameter, element("input", {
    type: "text", required: Boolean(parameter.required), title: parameter.description || "",
  })]);
  const rows = inputs.map(([parameter, input]) => element("tr", {},
    element("td", { textContent: `${parameter.name}${parameter.required ? " *" : ""}` }),
    element("td", {}, input), element("td", { textContent: parameter.description || "" })));
  return [inputs, element("table", {}, ...rows)];
};

// Relative to the page, since the gateway may be below a path of another server.
const urlOf = (path, inputs) => {
  const query = new URLSearchParams();
  let filled = path;
  for (const [parameter, input] of inputs) {
    if (parameter.in === "path") filled = filled.replace(`{${parameter.name}}`, encodeURIComponent(input.value));
    if (parameter.in === "query" && input.value !== "") {
      const isList = follow(parameter.schema).type === "array";
      (isList ? input.value.split(",") : [input.value]).forEach((value) => query.append(parameter.name, value));
    }
  }
  const text = query.toString();
  return "." + filled + (text ? `?${text}` : "");
};

const indented = (text) => {
  try {
    // Numbers keep their digits only as long as they are doubles; others are shown as sent.
    const isExact = !/[0-9.]{16,}/.test(text);
    return isExact ? JSON.stringify(JSON.parse(text), null, 2) : text;
  } catch {
    return text;
  }
};

const call = async (method, path, inputs, body, output, status) => {
  const headers = {};
  if (body) headers["Content-Type"] = "application/json";
  const authorization = document.getElementById("authorization").value;
  if (authorization) headers.Authorization = authorization;
  for (const [parameter, input] of inputs) {
    if (parameter.in === "header" && input.value !== "") headers[parameter.name] = input.value;
  }
  const start = performance.now();
  status.textContent = "…";
  status.className = "";
  try {
    const response = await fetch(urlOf(path, inputs), { method, headers, body: body ? body.value : undefined });
    const text = await response.text();
    status.textContent = `${response.status}, ${Math.round(performance.now() - start)} ms`;
    status.className = response.ok ? "" : "failed";
    output.textContent = indented(text);
  } catch (error) {
    status.textContent = "no answer";
    status.className = "failed";
    output.textContent = String(error);
  }
};

const operationView = (method, path, operation) => {
  const content = ((operation.requestBody || {}).content || {})["application/json"];
  const body = content && element("textarea", { spellcheck: false });
  if (body) body.value = JSON.stringify(content.example === undefined ? {} : content.example, null, 2);
  const [inputs, table] = inputsOf(operation.parameters || []);
  const [output, status] = [element("pre"), element("span")];
  const button = element("button", { type: "button", textContent: "Call" });
  button.addEventListener("click", () => call(method, path, inputs, body, output, status));
  const response = (((operation.responses || {})["200"] || {}).content || {})["application/json"];
  const parts = [element("p", { textContent: operation.description || "" })];
  if (inputs.length) parts.push(table);
  if (content) parts.push(body, schemaView("Request", content.schema));
  if (response) parts.push(schemaView("Response", response.schema));
  parts.push(element("p", {}, button, " ", status), output);
  const name = element("summary", {}, element("span", { className: "method", textContent: method }), path);
  return element("details", { className: "operation" }, name, ...parts);
};

const start = async () => {
  described = await (await fetch("openapi.json")).json();
  document.title = described.info.title;
  document.getElementById("title").textContent = described.info.title;
  document.getElementById("description").textContent = described.info.description || "";
  const views = [];
  for (const [path, methods] of Object.entries(described.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      views.push([path.toLowerCase(), operationView(method.toUpperCase(), path, operation)]);
    }
  }
  document.getElementById("operations").replaceChildren(...views.map(([, view]) => view));
  document.getElementById("filter").addEventListener("input", ({ target }) => {
    for (const [path, view] of views) view.hidden = !path.includes(target.value.toLowerCase());
  });
};

start().catch((error) => { document.getElementById("operations").textContent = String(error); });
