// Shows the OpenAPI document next to this page, with forms that call the gateway.
"use strict";

// More operations are folded: large WSDLs have hundreds.
const MOST_LISTED = 100;

// Filters operations by their paths; without this, the filter is for tags, which are ports here.
const byPath = (tags, phrase) => {
  const isFound = (operation) => operation.get("path").toLowerCase().includes(phrase.toLowerCase());
  return tags.map((tag) => tag.update("operations", (all) => all.filter(isFound)))
    .filter((tag) => tag.get("operations").size > 0);
};

const show = (described) => {
  document.title = described.info.title;
  // The gateway may be below a path of another server, which the document does not know.
  described.servers = [{ url: new URL(".", location.href).pathname.replace(/\/$/, "") || "/" }];
  SwaggerUIBundle({
    spec: described,
    dom_id: "#page",
    deepLinking: true,
    docExpansion: Object.keys(described.paths).length > MOST_LISTED ? "none" : "list",
    defaultModelsExpandDepth: -1,
    filter: true,
    plugins: [{ fn: { opsFilter: byPath } }],
    tryItOutEnabled: true,
    displayRequestDuration: true,
    // The validator is a site elsewhere.
    validatorUrl: "none",
  });
};

fetch("openapi.json").then((answer) => answer.json()).then(show)
  .catch((error) => { document.getElementById("page").textContent = String(error); });
