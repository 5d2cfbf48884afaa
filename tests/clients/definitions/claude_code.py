"""Claude Code: command and HTTP hooks in .claude/settings.json; timeouts in seconds, default 600.

Without an allow rule the normal flow of `-p` denies; `-allowed` scenarios add one, which shows
that a failing hook lets the tool run.
"""
from kit.definition import (
    ANY, BROKEN_HOOKS, PROMPT, SUB_PROMPT, Client, Scenario, broken_hooks, call, claude_output, json_output,
    mcp_server, one_after_the_other, permission_request, pre_tool, say, signalled_clients, slowly, three_calls,
    twice_at_once,
)

CLAUDE = "@APPS@/claude-code/node_modules/@anthropic-ai/claude-code-linux-x64/claude"
SETTINGS = "@WORKSPACE@/.claude/settings.json"
USER_SETTINGS = "@HOME@/.claude/settings.json"
ALLOWED = ["--allowedTools", "Bash"]
NORMAL_FLOW = "needs approval"  # what the model is told where nobody can be asked

TOOL_EVENTS = (
    "PreToolUse", "PostToolUse", "PostToolUseFailure", "PermissionRequest", "PermissionDenied"
)
OTHER_EVENTS = ("UserPromptSubmit", "Notification", "SessionStart", "SessionEnd", "Stop")


def command_hook(event, **fields):
    return {"type": "command", "command": f"@HOOK:{event}@", **fields}


def settings(**pre_tool_fields):
    hooks = {e: [{"matcher": "*", "hooks": [command_hook(e)]}] for e in TOOL_EVENTS}
    hooks |= {e: [{"hooks": [command_hook(e)]}] for e in OTHER_EVENTS}
    hooks["PreToolUse"][0]["hooks"] = [command_hook("PreToolUse", **pre_tool_fields)]
    return {"hooks": hooks}


def only_pre_tool(hook, matcher="*"):
    return {"hooks": {"PreToolUse": [{"matcher": matcher, "hooks": [hook]}]}}


def http(url="http://127.0.0.1:@PORT@/hook", **fields):
    return {SETTINGS: only_pre_tool({"type": "http", "url": url, **fields})}


BASH = [call("Bash", command="echo hi > @WORKSPACE@/out.txt", description="Write a file")]
CHANGED = {"command": "echo CHANGED > @WORKSPACE@/out.txt", "description": "changed"}
MAYBE = pre_tool("maybe")
LATE_DENY = slowly(15, pre_tool("deny", "late deny"))

DECISIONS = {
    "none": Scenario(wrote=None, told=NORMAL_FLOW),
    "allow": Scenario(pre_tool("allow", "approved by test")),
    "deny": Scenario(pre_tool("deny", "DENIED-BY-TEST: not on main"), None),
    "deny-allowed": Scenario(pre_tool("deny", "DENIED-BY-TEST"), None, arguments=ALLOWED),
    "ask": Scenario(pre_tool("ask", "ASK-REASON"), None),
    # The run ends there; its result names the deferred call.
    "defer": Scenario(
        pre_tool("defer", "DEFER-REASON"), None, told="", prints="tool_deferred"
    ),
    "allow-updated": Scenario(pre_tool("allow", updatedInput=CHANGED), "CHANGED"),
    "updated-only": Scenario(
        {"PreToolUse": claude_output("PreToolUse", updatedInput=CHANGED)}, None, NORMAL_FLOW
    ),
    "allow-context": Scenario(pre_tool("allow", additionalContext="EXTRA-CONTEXT-FROM-HOOK")),
    "legacy-block": Scenario(
        {"PreToolUse": json_output(decision="block", reason="LEGACY-REASON")}, None
    ),
    "legacy-approve": Scenario({"PreToolUse": json_output(decision="approve", reason="ok")}),
    "continue-false": Scenario(
        {"PreToolUse": json_output(**{"continue": False, "stopReason": "STOPPED-BY-TEST"})},
        None,
        NORMAL_FLOW,
    ),
    "permreq-allow": Scenario(permission_request("allow")),
    "permreq-deny": Scenario(permission_request("deny", "PERMREQ-DENIED-MSG"), None),
    "post-block": Scenario(
        pre_tool("allow")
        | {"PostToolUse": json_output(decision="block", reason="POST-BLOCK-REASON")}
    ),
    "stop-block": Scenario(
        pre_tool("allow")
        | {"Stop": json_output(decision="block", reason="STOP-BLOCKED: run tests")},
        limit_s=60,
    ),
    "user-settings-deny": Scenario(
        pre_tool("deny", "USER-SETTINGS"),
        None,
        files={
            SETTINGS: {},
            USER_SETTINGS: only_pre_tool(command_hook("PreToolUse"), "Bash|Write|Edit"),
        },
        arguments=ALLOWED,
    ),
    "two-hooks": Scenario(
        pre_tool("allow"),
        None,
        files={
            USER_SETTINGS: only_pre_tool(
                {"type": "command", "command": "echo second-denies >&2; exit 2"}
            )
        },
    ),
}

TOOLS = {
    "write": Scenario(
        pre_tool("allow"),
        "hello from write",
        script=[
            call("Write", file_path="@WORKSPACE@/out.txt", content="hi from write\n"),
            call("Edit", file_path="@WORKSPACE@/out.txt", old_string="hi", new_string="hello"),
            say("written"),
        ],
    ),
    "read-and-fetch": Scenario(
        pre_tool("deny", "DENIED-BY-TEST"),
        None,
        script=[
            call("Read", file_path="@WORKSPACE@/a.md"),
            call("WebFetch", url="http://127.0.0.1:@PORT@/page", prompt="What does it say?"),
            say("read"),
        ],
    ),
    "failing-tool": Scenario(
        pre_tool("allow"),
        None,
        told="Exit code 3",
        script=[call("Bash", command="echo no >&2; exit 3", description="Fail"), say("failed")],
    ),
    "parallel": Scenario(
        slowly(3, pre_tool("allow")), ANY, script=three_calls("Bash", description="n")
    ),
    "mcp-tool": Scenario(
        pre_tool("allow"),
        "via mcp",
        script=[
            call("mcp__fs__write_file", path="@WORKSPACE@/out.txt", content="via mcp"), say("ok")
        ],
        files={"@WORKSPACE@/mcp.json": {"mcpServers": {"fs": mcp_server()}}},
        arguments=["--mcp-config", "@WORKSPACE@/mcp.json"],
    ),
}

BROKEN = {
    **broken_hooks(
        "PreToolUse",
        blocks=set(BROKEN_HOOKS),
        told=dict.fromkeys(set(BROKEN_HOOKS) - {"exit2"}, NORMAL_FLOW),
    ),
    **broken_hooks("PreToolUse", blocks={"exit2"}, suffix="-allowed", arguments=ALLOWED),
    "bad-decision": Scenario(MAYBE, None, NORMAL_FLOW),
    "bad-decision-allowed": Scenario(MAYBE, arguments=ALLOWED),
    "missing-hook-allowed": Scenario(
        files={SETTINGS: only_pre_tool({"type": "command", "command": "/nonexistent/hook"})},
        arguments=ALLOWED,
    ),
}

SLOW = {
    "timeout5": Scenario(
        slowly(15, pre_tool("allow")), None, NORMAL_FLOW, files={SETTINGS: settings(timeout=5)}
    ),
    "timeout5-allowed": Scenario(
        LATE_DENY, files={SETTINGS: settings(timeout=5)}, arguments=ALLOWED
    ),
    "sleep180": Scenario(slowly(180, pre_tool("allow")), limit_s=300),
    "sleep700": Scenario(slowly(700, pre_tool("allow")), None, NORMAL_FLOW, limit_s=760),
    **signalled_clients("PreToolUse"),
}

HTTP = {
    "http-allow": Scenario(pre_tool("allow"), files=http()),
    "http-deny": Scenario(pre_tool("deny", "HTTP-DENIED"), None, files=http(), arguments=ALLOWED),
    "http-403-allowed": Scenario(
        {"PreToolUse": {"status": 403, "stdout": "forbidden"}}, files=http(), arguments=ALLOWED
    ),
    "http-500-allowed": Scenario(
        {"PreToolUse": {"status": 500, "stdout": "boom"}}, files=http(), arguments=ALLOWED
    ),
    "http-refused-allowed": Scenario(files=http("http://127.0.0.1:9/hook"), arguments=ALLOWED),
    "http-timeout5-allowed": Scenario(LATE_DENY, files=http(timeout=5), arguments=ALLOWED),
}


def prompt_tool(answer):
    """The headless permission prompt as a tool of an MCP server."""
    return {
        "files": {"@WORKSPACE@/mcp.json": {"mcpServers": {"appr": mcp_server(answer)}}},
        "arguments": [
            "--mcp-config", "@WORKSPACE@/mcp.json",
            "--permission-prompt-tool", "mcp__appr__approve",
        ],
    }


PROMPT_TOOL = {
    "prompt-tool-allow": Scenario(**prompt_tool("allow")),
    "prompt-tool-deny": Scenario(wrote=None, told="PROMPT-TOOL-DENIED", **prompt_tool("deny")),
}


def terminal(answers, wait_s=4, arguments=(), **fields):
    """The interactive client in tmux; screens go to LOG/screen-N.txt."""
    return Scenario(
        answers,
        command=["@PYTHON@", "@DRIVERS@/claude_tui.py", "@LOG@", str(wait_s), CLAUDE, *arguments],
        files={
            "@HOME@/.claude.json": {
                "hasCompletedOnboarding": True,
                "theme": "dark",
                "customApiKeyResponses": {"approved": ["sk-ant-dummy"], "rejected": []},
                "projects": {
                    "@WORKSPACE@": {
                        "hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True
                    }
                },
            }
        },
        **fields,
    )


TERMINAL = {
    # The prompt is answered in the terminal while the permission hook still waits.
    "tui-permslow": terminal(
        slowly(30, permission_request("allow")), arguments=["--permission-mode", "default"]
    ),
}

COMMAND = [CLAUDE, "-p", PROMPT, "--output-format", "json"]
SESSION = "6b1f3c1e-7c0e-4a8e-9d57-0f6d5a3b2c11"
SEVERAL = {
    "twice-at-once": twice_at_once(COMMAND),
    "resumed": one_after_the_other(
        [*COMMAND, "--session-id", SESSION], [*COMMAND, "--resume", SESSION], [*BASH, say("Done."), *BASH, say("Again.")]
    ),
    "sub-agent": Scenario(
        pre_tool("allow"),
        script=[
            call(
                "Agent", description="Write a file", prompt=SUB_PROMPT, subagent_type="general-purpose",
                run_in_background=False,
            ),
            say("All done."),
        ],
        sub_script=[*BASH, say("The part is done.")],
        arguments=ALLOWED,
    ),
}

CLIENT = Client(
    command=COMMAND,
    env={
        "ANTHROPIC_BASE_URL": "http://127.0.0.1:@PORT@",
        "ANTHROPIC_API_KEY": "sk-ant-dummy",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_TELEMETRY": "1",
        "DISABLE_AUTOUPDATER": "1",
    },
    hook_files={SETTINGS: settings()},
    gate_events=("PreToolUse",),
    script=BASH + [say("All done.")],
    scenarios=DECISIONS | TOOLS | BROKEN | SLOW | HTTP | PROMPT_TOOL | TERMINAL | SEVERAL,
)
