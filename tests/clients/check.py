#!/usr/bin/env python3
"""Real agent clients with Placet between them and their tools: check.py --placet PROGRAM [CLIENT…]

Each client is installed in its pinned version, talks to a scripted model on loopback that wants one tool call, and asks
`placet hook` before it. A supervised gate waits behind the hook, and we answer in the person's place. What counts is
what is on the disk afterwards and what the model was told. The last line is `N passed, N failed, N skipped`.
"""
import sys

sys.dont_write_bytecode = True

import argparse
import subprocess
import tempfile
import time
import traceback
from pathlib import Path

from kit.desk import Desk
from kit.place import SOURCE, Hook
from kit.runner import CannotRun, run
from kit.table import Table, put_into

CHECKS = {
    "claude-code": "checks.claude_code",
    "codex": "checks.codex",
    "gemini-cli": "checks.gemini_cli",
    "qwen-code": "checks.qwen_code",
    "copilot": "checks.copilot",
    "opencode": "checks.opencode",
    "mcp": "checks.mcp",
}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--placet", required=True, type=Path)
    parser.add_argument("--or-skip", action="store_true", help="a client that cannot be installed is no failure")
    parser.add_argument("--quick", action="store_true", help="without the checks that take long")
    parser.add_argument("--docs", type=Path, help="the page whose table is to hold the results")
    parser.add_argument("--only", default="", help="checks whose name holds these words")
    parser.add_argument("client", nargs="*")
    options = parser.parse_args()
    if unknown := [name for name in options.client if name not in CHECKS]:
        parser.error(f"no checks for {', '.join(unknown)}; there are: {', '.join(CHECKS)}")
    tally = {"passed": 0, "failed": 0, "skipped": 0}
    table = Table()
    for client in options.client or CHECKS:
        installed = subprocess.run([SOURCE / "install.sh", client])
        if installed.returncode:
            print(f"{client}: could not be installed")
            tally["skipped" if options.or_skip else "failed"] += 1
            continue
        table.begin(client)
        module = module_of(client)
        for check in module.CHECKS:
            if options.quick and hasattr(check, "slow") or options.only not in name_of(check):
                continue
            result = outcome(check, client, module.WAYS, options.placet.resolve())
            table.note(client, name_of(check), result)
            tally[result] += 1
    # Servers have nothing in common with clients, and so a table of their own.
    clients = [client for client in CHECKS if client != "mcp"]
    text = table.markdown(clients, all_checks()) + "\n" + table.markdown(["mcp"], all_checks())
    if not options.quick:
        print("\n" + text)
    if options.docs:
        put_into(options.docs, text)
    print(", ".join(f"{count} {name}" for name, count in tally.items()))
    return 1 if tally["failed"] else 0


def module_of(client):
    return __import__(CHECKS[client], fromlist=["CHECKS"])


def all_checks():
    """The names of the checks of all clients, in order."""
    return list(dict.fromkeys(name_of(check) for client in CHECKS for check in module_of(client).CHECKS))


def name_of(check):
    return check.__name__.replace("_", " ")


def outcome(check, client, ways, placet):
    name = f"{client}: {name_of(check)}"
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="placet-") as folder:
        try:
            check(Ground(client, ways, placet, Path(folder)))
        except CannotRun as error:
            print(f"{name}: FAILED, {error}", flush=True)
            return "failed"
        except Exception:
            traceback.print_exc()
            print(f"{name}: FAILED", flush=True)
            return "failed"
    print(f"{name}: passed ({time.monotonic() - started:.1f} s)", flush=True)
    return "passed"


class Ground:
    """One client, one gate and their folders, for one check."""

    def __init__(self, client: str, ways, placet: Path, folder: Path):
        self.client = client
        self.ways = ways
        self.folder = folder
        self.placet = placet
        self.flags = ["--data-dir", str(folder / "data"), "--config-dir", str(folder / "config")]
        (folder / "config").mkdir()
        self.policy(timeout="5m")

    def policy(self, timeout: str):
        """Asks about everything; a question waits so long. For gates that are opened from now on."""
        (self.folder / "config/policy.toml").write_text(f'default = "ask"\ntimeout = "{timeout}"\n')

    def desk(self) -> Desk:
        """Opens a gate with us at its desk."""
        return Desk([str(self.placet), "serve", "--supervise", *self.flags])

    def run_behind_the_proxy(self, scenario: str) -> dict:
        """Runs it with `placet mcp` before its MCP servers."""
        words = [str(self.placet), "mcp", *self.flags, "--"]
        return run(self.client, scenario, Hook(), mcp_wrap=" ".join(words))

    def run(self, scenario: str, events=(), meanwhile=None) -> dict:
        """Runs the client with our hook for these events, by default its own, and says what came of it.

        `meanwhile` is called with the client's process while it runs.
        """
        words = [str(self.placet), "hook", self.client, "--event", "{event}", "--client-timeout-ms", "600000"]
        hook = Hook(" ".join(words + self.flags), events or self.ways.events)
        return run(self.client, scenario, hook, meanwhile=meanwhile)


if __name__ == "__main__":
    sys.exit(main())
