#!/usr/bin/env python3
"""An ACP agent that asks what it is told to: acp_agent.py

The text of a prompt is the JSON of a permission request without its session. What was answered is in the prompt's own
result, beside its stop reason. It ends with status 7 when the prompt is `quit`.
"""
import json
import sys

prompts = {}


def say(message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def asked(message):
    params = message["params"]
    text = params["prompt"][0]["text"]
    if text == "quit":
        sys.exit(7)
    request = f"p-{message['id']}"
    prompts[request] = message["id"]
    question = {"sessionId": params["sessionId"], **json.loads(text)}
    say({"id": request, "method": "session/request_permission", "params": question})


def main():
    for line in sys.stdin:
        message = json.loads(line)
        method = message.get("method")
        if method == "initialize":
            info = {"name": "acme-agent", "version": "1"}
            say({"id": message["id"], "result": {"protocolVersion": 1, "agentInfo": info}})
        elif method == "session/new":
            say({"id": message["id"], "result": {"sessionId": "s-1"}})
        elif method == "session/prompt":
            asked(message)
        elif method is None and message["id"] in prompts:
            answer = {"stopReason": "end_turn", "answered": message["result"]}
            say({"id": prompts.pop(message["id"]), "result": answer})


if __name__ == "__main__":
    main()
