"""Gemini CLI. With `--approval-mode yolo` it runs everything by itself, so what does not run stopped at our no."""
import json

EVENTS = ("BeforeTool", "AfterTool")


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


def answer(desk, approval):
    if "out1.txt" in json.dumps(approval["subjects"]):
        desk.deny(approval, "Not the second.")
    else:
        desk.approve(approval)


def calls_at_once_get_their_own_answers(ground):
    """Three hooks wait at the same time; the second is denied."""
    with ground.desk() as desk:
        desk.answer_all(lambda approval: answer(desk, approval))
        summary = ground.run("parallel", EVENTS)
        assert sorted(desk.states()) == ["consumed", "consumed", "denied"], desk.states()
        assert "Not the second." in json.dumps(summary["told_model"]), summary["told_model"]


CHECKS = [
    an_approved_call_runs,
    a_denied_call_does_not_run_and_the_model_is_told_why,
    without_a_gate_nothing_runs,
    calls_at_once_get_their_own_answers,
]
