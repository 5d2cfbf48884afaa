// The built window on a local port, with the headers that the app's own protocol gives it.
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../dist/", import.meta.url));
const types = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml" };
/** The policy of tauri.conf.json, without the app's own channel. */
const csp = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; frame-src 'none'; form-action 'none'; base-uri 'none'";

export async function serve() {
  const server = createServer((request, response) => {
    const path = normalize((request.url ?? "/").split("?")[0]).replace(/^\/+/, "") || "index.html";
    readFile(join(root, path)).then(
      (body) => response.writeHead(200, { "content-type": types[extname(path)] ?? "application/octet-stream", "content-security-policy": csp }).end(body),
      () => response.writeHead(404).end(),
    );
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  return { url: `http://127.0.0.1:${server.address().port}/`, close: () => server.close() };
}
