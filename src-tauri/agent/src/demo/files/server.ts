import { createServer } from "node:http";
import { limits, withinLimits } from "./limits.ts";
import { place, find } from "./orders.ts";

// TODO: answer 503 while the migrations run
export const server = createServer(async (request, response) => {
  const { pathname } = new URL(request.url ?? "/", "http://localhost");
  if (!withinLimits(request.socket.remoteAddress ?? "")) {
    response.writeHead(429, { "retry-after": "60" }).end();
    return;
  }
  if (request.method === "POST" && pathname === "/orders") {
    const order = await place(await json(request));
    response.writeHead(201, { location: `/orders/${order.id}` }).end(JSON.stringify(order));
    return;
  }
  const order = await find(pathname.split("/").at(-1) ?? "");
  response.writeHead(order ? 200 : 404).end(order ? JSON.stringify(order) : "");
});

async function json(request: AsyncIterable<Buffer>) {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part);
  return JSON.parse(Buffer.concat(parts).toString("utf8"));
}

server.listen(Number(process.env.PORT ?? 8080), () => console.log("limits:", limits));
