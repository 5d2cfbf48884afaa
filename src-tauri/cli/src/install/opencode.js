// Placet asks before every tool call. Written by `placet install opencode`, taken out by `placet uninstall opencode`.
import { spawn } from "node:child_process"

const BEFORE = "@BEFORE@"
const AFTER = "@AFTER@"

// Runs a hook and gives what it said. It is never an exception: what fails is no yes.
function hook(command, payload, directory) {
  return new Promise((resolve) => {
    const child = spawn("/bin/sh", ["-c", command], { cwd: directory, stdio: ["pipe", "pipe", "ignore"] })
    let said = ""
    child.on("error", (error) => resolve({ code: -1, said: String(error) }))
    child.stdout.on("data", (chunk) => (said += chunk))
    child.on("close", (code) => resolve({ code, said }))
    child.stdin.on("error", () => {})
    child.stdin.end(JSON.stringify(payload))
  })
}

export const Placet = async ({ directory }) => ({
  "tool.execute.before": async (input, output) => {
    const { code, said } = await hook(BEFORE, { input, output: { args: output.args } }, directory)
    let answer = null
    try {
      answer = JSON.parse(said)
    } catch {}
    if (code !== 0 || answer === null || answer.decision !== "allow") {
      throw new Error(answer?.reason || "Placet's hook did not answer, so the call is denied.")
    }
    if (answer.args) {
      for (const key of Object.keys(output.args)) delete output.args[key]
      Object.assign(output.args, answer.args)
    }
  },
  "tool.execute.after": async (input, output) => {
    await hook(AFTER, { input, output: { output: output.output } }, directory)
  },
})
