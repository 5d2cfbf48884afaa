"""The table of what was seen with which client: kept between runs, printed, and put into the documentation."""
from __future__ import annotations

import json
from pathlib import Path

from .place import APPS, CLIENTS_DIR

KEPT = CLIENTS_DIR / "results.json"
BEGIN = "<!-- seen by `cargo xtask test-clients`: begin -->\n"
END = "<!-- seen by `cargo xtask test-clients`: end -->\n"
NOT_TRIED = "–"


class Table:
    """Results by client and check. A new result takes the place of an older one, unless the client is another version."""

    def __init__(self):
        try:
            self.kept = json.loads(KEPT.read_text())
        except (OSError, ValueError):
            self.kept = {}

    def begin(self, client: str):
        version = version_of(client)
        if self.kept.get(client, {}).get("version") != version:
            self.kept[client] = {"version": version, "checks": {}}

    def note(self, client: str, check: str, result: str):
        self.kept[client]["checks"][check] = result
        KEPT.write_text(json.dumps(self.kept, indent=1))

    def markdown(self, clients: list, checks: list) -> str:
        """A row for each check, a column for each client."""
        clients = [client for client in clients if client in self.kept]
        heads = [f"{client} {self.kept[client]['version']}" for client in clients]
        rows = ["| | " + " | ".join(heads) + " |", "| --- |" + " --- |" * len(clients)]
        for check in checks:
            results = [self.kept[client]["checks"].get(check, NOT_TRIED) for client in clients]
            if set(results) != {NOT_TRIED}:
                rows.append(f"| {check} | " + " | ".join(results) + " |")
        return "\n".join(rows) + "\n"


def version_of(client: str) -> str:
    """As install.sh notes it: the version of the client's first package."""
    first = (APPS / client / ".installed").read_text().split()[0]
    return first.replace("==", "@").rpartition("@")[2]


def put_into(page: Path, table: str):
    text = page.read_text()
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    page.write_text(f"{before}{BEGIN}\n{table}\n{END}{after}")
