"""A supervised gate and its desk: JSON-RPC lines on the stdin and stdout of `placet serve --supervise`."""
from __future__ import annotations

import json
import subprocess
import threading
import time

ANSWER_LIMIT_S = 30
ASKED_LIMIT_S = 90


class Desk:
    def __init__(self, command: list):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.changed = threading.Condition()
        self.replies: dict = {}
        self.facts: list = []
        self.next_id = 0
        threading.Thread(target=self._hear, daemon=True).start()
        self.ask("approvals.list")

    def __enter__(self):
        return self

    def __exit__(self, *_error):
        self.process.stdin.close()
        try:
            self.process.wait(6)
        finally:
            self.process.kill()
            self.process.wait()

    def crash(self):
        """Ends the gate as a power cut would."""
        self.process.kill()
        self.process.wait()

    def ask(self, method: str, **params):
        with self.changed:
            self.next_id += 1
            number = self.next_id
            message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
            self.process.stdin.write(json.dumps(message).encode() + b"\n")
            self.process.stdin.flush()
            if not self.changed.wait_for(lambda: number in self.replies, ANSWER_LIMIT_S):
                raise TimeoutError(f"{method}: no answer within {ANSWER_LIMIT_S} s")
            reply = self.replies.pop(number)
        if "error" in reply:
            raise RuntimeError(f"{method}: {reply['error']}")
        return reply["result"]

    def answer_next(self, answer):
        """Calls `answer` with the next approval that waits, from another thread, once it is there."""
        threading.Thread(target=self._answer_next, args=(answer,), daemon=True).start()

    def _answer_next(self, answer):
        end = time.time() + ASKED_LIMIT_S
        while time.time() < end:
            if waiting := self.ask("approvals.list", state="pending")["items"]:
                return answer(waiting[0])
            time.sleep(0.05)
        print("nothing came to be answered", flush=True)

    def answer_all(self, answer):
        """Calls `answer` with each approval as it comes, from another thread, as long as the gate runs."""
        threading.Thread(target=self._answer_all, args=(answer,), daemon=True).start()

    def _answer_all(self, answer):
        answered = set()
        while self.process.poll() is None and not self.process.stdin.closed:
            for approval in self.ask("approvals.list", state="pending")["items"]:
                if approval["id"] not in answered:
                    answered.add(approval["id"])
                    answer(approval)
            time.sleep(0.05)

    def approve(self, approval, changed=None):
        """Says yes, to what the person made of it if that is given."""
        if changed is None:
            return self.ask("approvals.approve", id=approval["id"], digest=approval["digest"])
        preview = self.ask("approvals.preview", id=approval["id"], input=changed)
        return self.ask("approvals.approve", id=approval["id"], digest=preview["digest"], input=changed)

    def deny(self, approval, note: str):
        self.ask("approvals.deny", id=approval["id"], note=note)

    def wait_for_pending(self, count: int) -> list:
        """The approvals that wait, once there are so many."""
        def pending():
            waiting = self.ask("approvals.list", state="pending")["items"]
            return waiting if len(waiting) >= count else None

        return self.wait_until(pending)

    def wait_until(self, holds):
        """What `holds` gives, once it is something."""
        end = time.time() + ASKED_LIMIT_S
        while time.time() < end:
            if found := holds():
                return found
            time.sleep(0.05)
        raise TimeoutError(f"not so within {ASKED_LIMIT_S} s; the approvals are {self.states()}")

    def states(self) -> list:
        """The states of all approvals, oldest first."""
        return [item["state"] for item in self.ask("approvals.list")["items"]]

    def facts_of(self, kind: str) -> list:
        with self.changed:
            return [fact for fact in self.facts if fact["kind"] == kind]

    def _hear(self):
        for line in self.process.stdout:
            message = json.loads(line)
            with self.changed:
                if "id" in message:
                    self.replies[message["id"]] = message
                elif message.get("method") == "fact":
                    self.facts.append(message["params"])
                self.changed.notify_all()
