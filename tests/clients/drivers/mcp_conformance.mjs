// What MCP's conformance suite takes for a client: mcp_conformance.mjs APP_FOLDER PROXY_COMMAND… URL
// The suite's server speaks HTTP and the proxy stdio, so this client calls the server's tools through the proxy, behind
// which this same file, as `bridge`, carries every message on to the URL as it is.
import { createRequire } from "node:module"
import process from "node:process"

const [app, ...words] = process.argv.slice(2)
const require = createRequire(`${app}/package.json`)
const load = (name) => import(require.resolve(`@modelcontextprotocol/sdk/${name}.js`))
const { StreamableHTTPClientTransport } = await load("client/streamableHttp")

if (words[0] === "bridge") await bridge(words[1])
else await client(words.slice(0, -1), words.at(-1))

async function bridge(url) {
  const { StdioServerTransport } = await load("server/stdio")
  const near = new StdioServerTransport()
  const far = new StreamableHTTPClientTransport(new URL(url))
  near.onmessage = (message) => far.send(message).catch(() => process.exit(1))
  far.onmessage = (message) => {
    // An HTTP client names the agreed version in a header from then on.
    if (message.result?.protocolVersion) far.setProtocolVersion(message.result.protocolVersion)
    near.send(message)
  }
  near.onclose = () => far.close()
  await far.start()
  await near.start()
}

async function client(proxy, url) {
  const { Client } = await load("client/index")
  const { StdioClientTransport } = await load("client/stdio")
  const [command, ...args] = [...proxy, process.execPath, process.argv[1], app, "bridge", url]
  const client = new Client({ name: "conformance", version: "0" }, { capabilities: {} })
  await client.connect(new StdioClientTransport({ command, args, stderr: "inherit" }))
  const { tools } = await client.listTools()
  const numbers = tools.find((tool) => tool.name === "add_numbers")
  if (numbers) console.log(JSON.stringify(await client.callTool({ name: numbers.name, arguments: { a: 5, b: 3 } })))
  await client.close()
}
