"""Claude Code. Its `-p` denies by itself where nobody can be asked, so what runs ran on our yes; in the scenarios with
`-allowed` it would run by itself, so what does not run stopped at our no."""
import json

from .common import EDITED, EVERY, SEVERAL, Ways, deny_only, slow

WAYS = Ways(free="deny-allowed")


def a_call_of_a_sub_agent_is_asked_for_too(ground):
    """The sub-agent is allowed, and what it wants is denied: its client would have run that by itself."""
    with ground.desk() as desk:
        deny_only(desk, lambda approval: approval["tool"] == "Bash", "Not by a sub-agent.")
        summary = ground.run("sub-agent")
        assert summary["wrote"] is None, summary["files"]
        approvals = desk.ask("approvals.list")["items"]
        states = {item["tool"]: item["state"] for item in approvals}
        assert states == {"Agent": "consumed", "Bash": "denied"}, states
        assert len({item["session"] for item in approvals}) == 1, approvals


@slow
def an_answer_in_its_own_prompt_takes_ours_back(ground):
    """Only its permission request asks us; while that waits, its own prompt is answered with yes in the terminal."""
    with ground.desk() as desk:
        summary = ground.run("tui-permslow", ("PermissionRequest", "PostToolUse"))
        assert summary["wrote"] == "hi", json.dumps(summary)
        assert desk.states() == ["cancelled"], desk.states()


CHECKS = [*EVERY, EDITED, a_call_of_a_sub_agent_is_asked_for_too, *SEVERAL, an_answer_in_its_own_prompt_takes_ours_back]
