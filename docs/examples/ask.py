"""Asks Placet whether a command may run, and runs it if so: ask.py [SOCKET]"""
import json, os, pathlib, socket, subprocess, sys

DEFAULT = pathlib.Path.home() / ".local/share/placet/run/gate.sock"
gate = socket.socket(socket.AF_UNIX)
gate.connect(sys.argv[1] if len(sys.argv) > 1 else str(DEFAULT))
lines = gate.makefile("rw", encoding="utf-8")

def ask(number, method, **params):
    message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
    print(json.dumps(message), file=lines, flush=True)
    replies = (json.loads(line) for line in lines)
    # What has no id is a notification. An error has no result, and so ends this program: no answer is no yes.
    return next(reply for reply in replies if reply.get("id") == number)["result"]

ask(1, "hello", protocol=1, client="example", version="1")
session = ask(2, "session.start", agent="example", workspace=os.getcwd())["session"]
call = {"tool": "Bash", "input": {"command": "echo from-python"}, "cwd": os.getcwd()}
answer = ask(3, "call.check", session=session, **call)  # as long as a person takes
if answer["decision"] != "allow":
    sys.exit(answer["reason"])
subprocess.run(["bash", "-c", call["input"]["command"]], check=True)
