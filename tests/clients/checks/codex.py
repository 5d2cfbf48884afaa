"""Codex. `codex exec` runs everything by itself here, so what does not run stopped at our no, and a hook that said
nothing it understands would be seen at once. Its own questions come over the app server only."""
import json

EVENTS = ("PreToolUse", "PostToolUse")
WITH_ITS_OWN_QUESTION = ("PreToolUse", "PermissionRequest", "PostToolUse")


def an_approved_call_runs(ground):
    with ground.desk() as desk:
        desk.answer_next(desk.approve)
        summary = ground.run("none", EVENTS)
        assert summary["wrote"] == "hi", summary["told_model"]
        assert desk.states() == ["consumed"], desk.states()
        assert len(desk.facts_of("call_ran")) == 1, "what was run is written down"


def a_denied_call_does_not_run_and_the_model_is_told_why(ground):
    with ground.desk() as desk:
        desk.answer_next(lambda approval: desk.deny(approval, "Use the test folder instead."))
        summary = ground.run("none", EVENTS)
        assert summary["wrote"] is None, summary["files"]
        assert "Use the test folder instead." in json.dumps(summary["told_model"]), summary["told_model"]
        assert desk.states() == ["denied"], desk.states()


def without_a_gate_nothing_runs(ground):
    summary = ground.run("none", EVENTS)
    assert summary["wrote"] is None, summary["files"]
    assert "placet" in json.dumps(summary["told_model"]).lower(), summary["told_model"]


def a_call_that_waits_survives_a_crash_of_the_gate(ground):
    desk = ground.desk()
    second = []

    def crash_and_come_back(_approval):
        desk.crash()
        second.append(ground.desk())
        second[0].answer_next(second[0].approve)

    desk.answer_next(crash_and_come_back)
    summary = ground.run("none", EVENTS)
    with second[0] as after:
        assert summary["wrote"] == "hi", summary["told_model"]
        assert after.states() == ["consumed"], "asked once, answered once"


def a_patch_is_shown_and_denied(ground):
    with ground.desk() as desk:
        desk.answer_next(lambda approval: desk.deny(approval, "No new files."))
        summary = ground.run("patch", EVENTS)
        assert summary["wrote"] is None, summary["files"]
        [approval] = desk.ask("approvals.list")["items"]
        assert approval["tool"] == "apply_patch" and "out.txt" in json.dumps(approval["subjects"]), approval


def a_yes_settles_codexs_own_question_too(ground):
    """The app server would be told no; that the call runs is our yes at its own question."""
    with ground.desk() as desk:
        desk.answer_all(desk.approve)
        summary = ground.run("app-permreq-allow", WITH_ITS_OWN_QUESTION)
        assert summary["wrote"] == "hi", summary["told_model"]
        assert set(desk.states()) == {"consumed"}, desk.states()


CHECKS = [
    an_approved_call_runs,
    a_denied_call_does_not_run_and_the_model_is_told_why,
    without_a_gate_nothing_runs,
    a_call_that_waits_survives_a_crash_of_the_gate,
    a_patch_is_shown_and_denied,
    a_yes_settles_codexs_own_question_too,
]
