// Asks Placet whether a command may run, and runs it if so: ask.ts [SOCKET]
import { execFileSync } from "node:child_process";
import { connect } from "node:net";
import { userInfo } from "node:os";
import { createInterface } from "node:readline";

const gate = connect(process.argv[2] ?? `${userInfo().homedir}/.local/share/placet/run/gate.sock`);
const lines = createInterface({ input: gate })[Symbol.asyncIterator]();

async function ask(id: number, method: string, params: object): Promise<any> {
  gate.write(JSON.stringify({ jsonrpc: "2.0", id, method, params }) + "\n");
  for (let line = await lines.next(); !line.done; line = await lines.next()) {
    const reply = JSON.parse(line.value);
    if (reply.id === id && reply.result) return reply.result; // what has no id is a notification
    if (reply.error) throw new Error(reply.error.message);
  }
  throw new Error("the gate hung up, and no answer is no yes");
}

await ask(1, "hello", { protocol: 1, client: "example", version: "1" });
const { session } = await ask(2, "session.start", { agent: "example", workspace: process.cwd() });
const call = { tool: "Bash", input: { command: "echo from-typescript" }, cwd: process.cwd() };
const answer = await ask(3, "call.check", { session, ...call }); // as long as a person takes
gate.end();
if (answer.decision !== "allow") throw new Error(answer.reason);
execFileSync("bash", ["-c", call.input.command], { stdio: "inherit" });
