// A gateway as one writes it with fastify and node-soap: POST /operations/NAME, JSON in and out.
//
//     node node_gateway.js WSDL ENDPOINT
//
// Prints the URL that it listens on.

import Fastify from "fastify";
import soap from "soap";

const [wsdl, endpoint] = process.argv.slice(2);
const client = await soap.createClientAsync(wsdl, { endpoint });
const server = Fastify({ bodyLimit: 100_000_000 });
server.post("/operations/:name", async (request, reply) => {
  const call = client[`${request.params.name}Async`];
  if (!call) return reply.code(404).send({ title: "unknown operation" });
  try {
    const [result] = await call.call(client, request.body);
    return result ?? {};
  } catch (error) {
    return reply.code(500).send({ title: String(error.message) });
  }
});
await server.listen({ host: "127.0.0.1", port: 0 });
const { port } = server.server.address();
console.log(`listening on http://127.0.0.1:${port}/`);
