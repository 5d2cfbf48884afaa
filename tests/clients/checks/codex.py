"""Codex. `codex exec` runs everything by itself here, so what does not run stopped at our no, and a hook that said
nothing it understands would be seen at once. Its own questions come over the app server only."""
import json

from .common import EDITED, EVERY, SEVERAL, Ways, deny_only, slow

WAYS = Ways()
WITH_ITS_OWN_QUESTION = ("PreToolUse", "PermissionRequest", "PostToolUse")


def a_patch_is_shown_and_denied(ground):
    with ground.desk() as desk:
        desk.answer_next(lambda approval: desk.deny(approval, "No new files."))
        summary = ground.run("patch")
        assert summary["wrote"] is None, summary["files"]
        [approval] = desk.ask("approvals.list")["items"]
        assert approval["tool"] == "apply_patch" and "out.txt" in json.dumps(approval["subjects"]), approval


def a_yes_settles_its_own_question_too(ground):
    """The app server would be told no; that the call runs is our yes at its own question, which the person gave once."""
    with ground.desk() as desk:
        desk.answer_all(desk.approve)
        summary = ground.run("app-permreq-allow", WITH_ITS_OWN_QUESTION)
        assert summary["wrote"] == "hi", summary["told_model"]
        assert desk.states() == ["consumed"], desk.states()


@slow
def a_call_of_a_sub_agent_is_asked_for_too(ground):
    with ground.desk() as desk:
        deny_only(desk, lambda approval: "out.txt" in json.dumps(approval["subjects"]), "Not by a sub-agent.")
        summary = ground.run("sub-agent")
        assert summary["wrote"] is None, summary["files"]
        assert desk.states().count("denied") == 1, desk.ask("approvals.list")["items"]


CHECKS = [*EVERY, EDITED, a_call_of_a_sub_agent_is_asked_for_too, *SEVERAL, a_patch_is_shown_and_denied, a_yes_settles_its_own_question_too]
