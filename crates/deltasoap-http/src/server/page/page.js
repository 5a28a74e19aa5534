"use strict";
// The form: a sample of the chosen operation, which is edited and sent to the page's origin, and
// the response. All external content is inserted into the page as text, never as markup.
(() => {
  const SHOWN = 256 * 1024;
  const SOAP11 = "http://schemas.xmlsoap.org/soap/envelope/";
  const SOAP12 = "http://www.w3.org/2003/05/soap-envelope";
  const at = (id) => document.getElementById(id);
  const [form, operation, version, request, response, send] =
    ["form", "operation", "version", "request", "response", "send"].map(at);
  const url = location.pathname;

  const make = (name, className, text) => {
    const element = document.createElement(name);
    if (className) element.className = className;
    if (text !== undefined) element.textContent = text;
    return element;
  };

  // The HTTP headers of a request. SOAP 1.1 has a separate header for the action, SOAP 1.2 a
  // parameter of the media type.
  const headersOf = (version, action) => {
    const quoted = `"${action.replace(/[\\"]/g, "\\$&")}"`;
    if (version === "1.1") return { "Content-Type": "text/xml; charset=utf-8", "SOAPAction": quoted };
    return { "Content-Type": "application/soap+xml; charset=utf-8" + (action && `; action=${quoted}`) };
  };
  const headers = () => headersOf(version.value, operation.selectedOptions[0].dataset.action);

  const parse = (text) => {
    const parsed = new DOMParser().parseFromString(text, "application/xml");
    return parsed.getElementsByTagName("parsererror").length ? null : parsed;
  };

  // Writes a document with one element per line. Text is unchanged, so elements that contain text
  // stay on one line.
  const indent = (node, depth, write) => {
    const line = (depth) => write("\n" + "  ".repeat(depth));
    const escaped = (text) => text.replace(/&/g, "&amp;").replace(new RegExp("<", "g"), "&lt;").replace(/>/g, "&gt;");
    if (node.nodeType === Node.TEXT_NODE || node.nodeType === Node.CDATA_SECTION_NODE) return write(escaped(node.data));
    if (node.nodeType === Node.COMMENT_NODE) return write("<" + `!--${node.data}-->`, "comment");
    if (node.nodeType !== Node.ELEMENT_NODE) return;
    write("<");
    write(node.nodeName, "tag");
    for (const { name, value } of node.attributes) {
      write(" ");
      write(name, "name");
      write("=");
      write(`"${escaped(value).replace(/"/g, "&quot;")}"`, "value");
    }
    const children = [...node.childNodes];
    if (!children.length) return write("/>");
    write(">");
    const isText = (child) => child.nodeType === Node.TEXT_NODE && child.data.trim() || child.nodeType === Node.CDATA_SECTION_NODE;
    const isMixed = children.some(isText) || children.every((child) => child.nodeType === Node.TEXT_NODE);
    for (const child of children) {
      if (!isMixed && child.nodeType === Node.TEXT_NODE) continue;
      if (!isMixed) line(depth + 1);
      indent(child, depth + 1, write);
    }
    if (!isMixed) line(depth);
    write("<" + "/");
    write(node.nodeName, "tag");
    write(">");
  };

  const indented = (parsed) => {
    let text = "";
    for (const node of parsed.childNodes) {
      if (text) text += "\n";
      indent(node, 0, (piece) => { text += piece; });
    }
    return text;
  };

  const coloured = (parsed) => {
    const pre = make("pre");
    for (const node of parsed.childNodes) {
      if (pre.childNodes.length) pre.append("\n");
      indent(node, 0, (piece, kind) => pre.append(kind ? make("span", kind, piece) : piece));
    }
    return pre;
  };

  // Returns the content of a fault, as pairs of a term and text; null if the document contains
  // none.
  const faultOf = (parsed) => {
    for (const namespace of [SOAP11, SOAP12]) {
      const fault = parsed.getElementsByTagNameNS(namespace, "Fault")[0];
      if (!fault) continue;
      const text = (...path) => {
        const step = (node, name) => node && [...node.children].find((child) => child.localName === name);
        const found = path.reduce(step, fault);
        return found ? found.textContent.trim() : "";
      };
      const detail = [...fault.children].find((child) => child.localName.toLowerCase() === "detail");
      const entries = detail ? [...detail.children].map((entry) => indented({ childNodes: [entry] })).join("\n") : "";
      const said = namespace === SOAP11
        ? [["Code", text("faultcode")], ["Reason", text("faultstring")], ["Actor", text("faultactor")]]
        : [["Code", text("Code", "Value")], ["Subcode", text("Code", "Subcode", "Value")],
          ["Reason", text("Reason", "Text")], ["Node", text("Node")], ["Role", text("Role")]];
      return [...said, ["Detail", entries]].filter(([, value]) => value);
    }
    return null;
  };

  const faultBox = (said) => {
    const box = make("div", "fault");
    box.setAttribute("role", "alert");
    const list = make("dl");
    for (const [term, value] of said) {
      const pair = make("div");
      const shown = make("dd");
      shown.append(term === "Detail" ? make("code", "", value) : value);
      pair.append(make("dt", "", term), shown);
      list.append(pair);
    }
    box.append(make("h3", "", "Fault"), list);
    return box;
  };

  const scrolled = (pre) => {
    pre.tabIndex = 0;
    pre.setAttribute("role", "region");
    pre.setAttribute("aria-label", "Body of the response");
    return pre;
  };

  const show = (answer, text, facts) => {
    const parts = [make("p", answer.ok ? "status good" : "status bad", facts)];
    const media = answer.headers.get("content-type");
    if (media) parts.push(make("p", "note", media));
    const parsed = text.length <= SHOWN && /xml/.test(media || "") ? parse(text) : null;
    const fault = parsed && faultOf(parsed);
    if (fault) parts.push(faultBox(fault));
    if (!text) parts.push(make("p", "note", answer.status === 202 ? "Accepted: the operation is one-way." : "No body."));
    else if (parsed) parts.push(scrolled(coloured(parsed)));
    else parts.push(scrolled(make("pre", "", text.slice(0, SHOWN))));
    if (text.length > SHOWN) parts.push(make("p", "note", `The first ${SHOWN} characters of ${text.length}.`));
    response.replaceChildren(...parts);
  };

  // Shows only the last requested sample, whatever the order of arrival. Until then nothing can be
  // edited, since edits would be lost.
  let asked = 0;
  const sample = async () => {
    const ticket = ++asked;
    const { dataset } = operation.selectedOptions[0];
    const query = version.value === "1.1" ? dataset.soap11 : dataset.soap12;
    at("headers").textContent = Object.entries(headers()).map(([name, value]) => `${name}: ${value}`).join(" \u00B7 ");
    request.readOnly = true;
    const [text, note] = await fetched(`${url}?${query}`);
    if (ticket !== asked) return;
    request.value = text;
    request.placeholder = note;
    request.readOnly = false;
  };

  // Returns the indented document, or nothing and the reason.
  const fetched = async (query) => {
    try {
      const answer = await fetch(query);
      const text = await answer.text();
      if (!answer.ok) return ["", text];
      const parsed = parse(text);
      return [parsed ? indented(parsed) : text, ""];
    } catch (error) {
      return ["", `No sample: ${error.message}`];
    }
  };

  const exchange = async () => {
    const body = new TextEncoder().encode(request.value);
    send.disabled = true;
    const begin = performance.now();
    try {
      const answer = await fetch(url, { method: "POST", headers: headers(), body, redirect: "error" });
      const bytes = await answer.arrayBuffer();
      const time = (performance.now() - begin).toFixed(1);
      const facts = `HTTP ${answer.status} ${answer.statusText} \u00B7 ${time} ms \u00B7 ` +
        `${body.length} bytes sent \u00B7 ${bytes.byteLength} bytes received`;
      show(answer, new TextDecoder().decode(bytes), facts);
    } catch (error) {
      response.replaceChildren(make("p", "status bad", `No response: ${error.message}`));
    } finally {
      send.disabled = false;
    }
  };

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    exchange();
  });
  request.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
  });
  for (const element of [operation, version]) element.addEventListener("change", sample);
  at("reset").addEventListener("click", sample);
  for (const button of document.querySelectorAll(".try")) {
    button.hidden = false;
    button.setAttribute("aria-label", `Try ${button.dataset.operation}`);
    button.addEventListener("click", () => {
      operation.value = button.dataset.operation;
      sample();
      at("try").scrollIntoView();
      operation.focus({ preventScroll: true });
    });
  }
  if (operation.options.length) {
    form.hidden = false;
    sample();
  }
})();
