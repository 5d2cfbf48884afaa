"""opencode: no command hooks. The plugin that `placet install opencode` writes calls one at every tool call.

The recording hook answers as `placet hook opencode` does: {"decision": "allow" | "deny", "reason", "args"}.
"""
from kit.definition import (
    ANY, PROMPT, Client, Scenario, call, json_output, say, slowly, three_calls, twice_at_once,
)
from kit.place import SOURCE

OPENCODE = "@APPS@/opencode/node_modules/opencode-linux-x64/bin/opencode"
SETTINGS = "@WORKSPACE@/opencode.json"
PLUGIN_PACKAGE = "@APPS@/opencode-plugin"
PLUGIN = (SOURCE.parent.parent / "src-tauri/cli/src/install/opencode.js").read_text()
for word, event in (("@BEFORE@", "tool.execute.before"), ("@AFTER@", "tool.execute.after")):
    PLUGIN = PLUGIN.replace(word, f"@HOOK:{event}@")


def settings(permission):
    return {
        "autoupdate": False,
        "share": "disabled",
        "model": "fake/fake-model",
        "small_model": "fake/fake-model",
        "permission": {"bash": permission, "edit": permission},
        "provider": {
            "fake": {
                "npm": "@ai-sdk/openai-compatible",
                "name": "fake",
                "options": {"baseURL": "http://127.0.0.1:@PORT@/v1", "apiKey": "dummy"},
                "models": {
                    "fake-model": {
                        "name": "fake-model",
                        "tool_call": True,
                        "limit": {"context": 128000, "output": 8000},
                    }
                },
            }
        },
    }


def before(**fields):
    return {"tool.execute.before": json_output(**fields)}


CHANGED = {"command": "echo CHANGED > @WORKSPACE@/out.txt", "description": "changed"}
COMMAND = [OPENCODE, "run", "--format", "json", PROMPT]
SCENARIOS = {
    # Without an answer the plugin denies.
    "none": Scenario(wrote=None, told="did not answer"),
    "allow": Scenario(before(decision="allow")),
    "deny": Scenario(before(decision="deny", reason="DENIED-BY-TEST: not on main"), None),
    "exit1": Scenario({"tool.execute.before": {"exit": 1, "stderr": "trace"}}, None, "did not answer"),
    "modified": Scenario(before(decision="allow", args=CHANGED), "CHANGED"),
    "sleep180": Scenario(slowly(180, before(decision="allow")), limit_s=260),
    "parallel": Scenario(
        slowly(3, before(decision="allow")), ANY, script=three_calls("bash", description="x")
    ),
    "write": Scenario(
        before(decision="allow"),
        "hello from write",
        script=[
            call("write", filePath="@WORKSPACE@/out.txt", content="hi from write\n"),
            call("edit", filePath="@WORKSPACE@/out.txt", oldString="hi", newString="hello"),
            say("written"),
        ],
    ),
    "twice-at-once": twice_at_once(COMMAND),
}

CLIENT = Client(
    command=COMMAND,
    env={
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
        "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
        "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
    },
    files={SETTINGS: settings("allow")},
    hook_files={"@WORKSPACE@/.opencode/plugin/placet.js": PLUGIN},
    # Otherwise opencode fetches the package from the network into each fresh folder.
    copies=[
        (PLUGIN_PACKAGE, "@WORKSPACE@/.opencode"),
        (PLUGIN_PACKAGE, "@HOME@/.config/opencode"),
    ],
    gate_events=("tool.execute.before",),
    script=[
        call("bash", command="echo hi > @WORKSPACE@/out.txt", description="write a file"),
        say("All done."),
    ],
    scenarios=SCENARIOS,
)
