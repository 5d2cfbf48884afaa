"""Real MCP servers under real MCP clients, over stdio; no model takes part.

MCP_WRAP puts an approving proxy before every server. What the client printed is in stdout.txt.
"""
from kit.definition import Client, Scenario

MODULES = "@APPS@/mcp/node_modules/@modelcontextprotocol"
INSPECTOR = ["@NODE@", f"{MODULES}/inspector/clients/launcher/build/index.js", "--cli"]
PYTHON = "@APPS@/mcp-python/bin/python"
FILES = ["@NODE@", f"{MODULES}/server-filesystem/dist/index.js", "@WORKSPACE@"]
EVERYTHING = ["@NODE@", f"{MODULES}/server-everything/dist/index.js"]
GIT = [PYTHON, "-m", "mcp_server_git", "--repository", "@WORKSPACE@"]
OUT = "@WORKSPACE@/out.txt"


def wrapped(server):
    return ["sh", "-c", 'exec @MCP_WRAP@ "$@"', "sh", *server]


def inspector(server, prints, *arguments, wrote=None):
    command = [*INSPECTOR, *wrapped(server), "--method", *arguments]
    return Scenario(wrote=wrote, prints=prints, command=command)


def tool_call(server, prints, name, wrote=None, **arguments):
    words = [word for key, value in arguments.items() for word in ("--tool-arg", f"{key}={value}")]
    return inspector(server, prints, "tools/call", "--tool-name", name, *words, wrote=wrote)


def conformance(scenario):
    """The official suite's test of clients, which starts a server and watches what it is sent."""
    command = "@NODE@ @DRIVERS@/mcp_conformance.mjs @APPS@/mcp @MCP_WRAP@"
    suite = ["@NODE@", f"{MODULES}/conformance/dist/index.js", "client", "--scenario", scenario]
    return Scenario(wrote=None, command=[*suite, "--command", command, "--verbose"])


SCENARIOS = {
    "files-list": inspector(FILES, "write_file", "tools/list"),
    "files-read": tool_call(FILES, "a file to read", "read_text_file", path="@WORKSPACE@/a.md"),
    "files-write": tool_call(
        FILES, "Successfully wrote", "write_file", path=OUT, content="written", wrote="written"
    ),
    "everything-list": inspector(EVERYTHING, "echo", "tools/list"),
    "git-list": inspector(GIT, "git_status", "tools/list"),
    "git-status": tool_call(GIT, "a.md", "git_status", repo_path="@WORKSPACE@"),
    "conformance-initialize": conformance("initialize"),
    "conformance-tools-call": conformance("tools_call"),
    "sdk-python": Scenario(
        wrote="written",
        prints="Successfully wrote",
        command=[PYTHON, "@DRIVERS@/mcp_sdk_client.py", OUT, *wrapped(FILES)],
    ),
    "sdk-typescript": Scenario(
        wrote=None,
        prints="Echo: hi",
        command=["@NODE@", "@DRIVERS@/mcp_sdk_client.mjs", "@APPS@/mcp", *wrapped(EVERYTHING)],
    ),
}

CLIENT = Client(
    command=[], scenarios=SCENARIOS, files={"@WORKSPACE@/a.md": "a file to read\n"}
)
