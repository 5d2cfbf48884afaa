"""Claude Code. Its `-p` denies by itself where nobody can be asked, so what runs ran on our yes; in the scenarios with
`-allowed` it would run by itself, so what does not run stopped at our no."""
import json


def an_approved_call_runs(ground):
    with ground.desk() as desk:
        desk.answer_next(desk.approve)
        summary = ground.run("none")
        assert summary["wrote"] == "hi", summary["told_model"]
        assert desk.states() == ["consumed"], desk.states()
        assert len(desk.facts_of("call_ran")) == 1, "what was run is written down"


def a_denied_call_does_not_run_and_the_model_is_told_why(ground):
    with ground.desk() as desk:
        desk.answer_next(lambda approval: desk.deny(approval, "Use the test folder instead."))
        summary = ground.run("deny-allowed")
        assert summary["wrote"] is None, summary["files"]
        assert "Use the test folder instead." in json.dumps(summary["told_model"]), summary["told_model"]
        assert desk.states() == ["denied"], desk.states()


def without_a_gate_nothing_runs(ground):
    summary = ground.run("deny-allowed")
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
    summary = ground.run("none")
    with second[0] as after:
        assert summary["wrote"] == "hi", summary["told_model"]
        assert after.states() == ["consumed"], "asked once, answered once"


CHECKS = [
    an_approved_call_runs,
    a_denied_call_does_not_run_and_the_model_is_told_why,
    without_a_gate_nothing_runs,
    a_call_that_waits_survives_a_crash_of_the_gate,
]
