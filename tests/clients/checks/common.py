"""What Placet promises with every client. In the scenario `free` the client would run the call by itself, so what does
not run there stopped at our no; in `plain` what runs may have needed our yes."""
import json
import os
import threading
from dataclasses import dataclass
from pathlib import Path

HELD_S = 70


@dataclass(frozen=True)
class Ways:
    """What differs between clients."""

    events: tuple = ("PreToolUse", "PostToolUse")  # those at which our hook stands
    plain: str = "none"
    free: str = "none"
    held: str = "sleep180"  # the plain one, with time for a person
    argument: str = "command"  # where the shell tool has its command
    told_of_results: bool = True


def slow(check):
    """Marks a check that has no place in the quick part."""
    check.slow = True
    return check


def an_approved_call_runs(ground):
    with ground.desk() as desk:
        desk.answer_next(desk.approve)
        summary = ground.run(ground.ways.plain)
        assert summary["wrote"] == "hi", summary["told_model"]
        assert desk.states() == ["consumed"], desk.states()
        if ground.ways.told_of_results:
            assert len(desk.facts_of("call_ran")) == 1, "what was run is written down"


def a_denied_call_does_not_run_and_the_model_is_told_why(ground):
    with ground.desk() as desk:
        desk.answer_next(lambda approval: desk.deny(approval, "Use the test folder instead."))
        summary = ground.run(ground.ways.free)
        assert summary["wrote"] is None, summary["files"]
        assert "Use the test folder instead." in json.dumps(summary["told_model"]), summary["told_model"]
        assert desk.states() == ["denied"], desk.states()


def without_a_gate_nothing_runs(ground):
    summary = ground.run(ground.ways.free)
    assert summary["wrote"] is None, summary["files"]
    assert "placet" in json.dumps(summary["told_model"]).lower(), summary["told_model"]


@slow
def nobody_answers_and_it_expires(ground):
    ground.policy(timeout="5s")
    with ground.desk() as desk:
        summary = ground.run(ground.ways.free)
        assert summary["wrote"] is None, summary["files"]
        assert desk.states() == ["expired"], desk.states()
        assert "expired" in json.dumps(summary["told_model"]) or "answer" in json.dumps(summary["told_model"])


def what_the_person_changed_is_what_runs(ground):
    def change(desk, approval):
        now = desk.ask("approvals.get", id=approval["id"])
        key = ground.ways.argument
        command = now["input"][key].replace("echo hi", "echo CHANGED")
        desk.approve(approval, {**now["input"], key: command})

    with ground.desk() as desk:
        desk.answer_next(lambda approval: change(desk, approval))
        summary = ground.run(ground.ways.plain)
        assert summary["wrote"] == "CHANGED", summary["told_model"]
        assert desk.states() == ["consumed"], desk.states()


def a_change_is_refused_where_the_client_takes_none(ground):
    refusals = []

    def change(desk, approval):
        try:
            desk.approve(approval, {ground.ways.argument: "echo CHANGED"})
        except RuntimeError as refusal:
            refusals.append(str(refusal))
        desk.approve(approval)

    with ground.desk() as desk:
        desk.answer_next(lambda approval: change(desk, approval))
        summary = ground.run(ground.ways.plain)
        assert len(refusals) == 1 and "not_editable" in refusals[0], refusals
        assert summary["wrote"] == "hi", summary["told_model"]


def deny_only(desk, is_meant, words):
    """Answers whatever is asked from now on: no, with these words, to what is meant, and yes to all else."""
    desk.answer_all(lambda approval: desk.deny(approval, words) if is_meant(approval) else desk.approve(approval))


def calls_at_once_get_their_own_answers(ground):
    """Three calls in one turn of the model, and the second is denied."""
    with ground.desk() as desk:
        deny_only(desk, lambda approval: "out1.txt" in json.dumps(approval["subjects"]), "Not the second.")
        summary = ground.run("parallel")
        assert sorted(desk.states()) == ["consumed", "consumed", "denied"], desk.states()
        assert sorted(summary["files"]) == ["out0.txt", "out2.txt"], summary["files"]
        assert "Not the second." in json.dumps(summary["told_model"]), summary["told_model"]


def a_call_whose_client_is_killed_is_taken_back(ground):
    with ground.desk() as desk:
        def kill(process):
            [approval] = desk.wait_for_pending(1)
            kill_clients(process.pid)
            desk.wait_until(lambda: desk.states() == ["cancelled"])
            return approval["id"]

        summary = ground.run(ground.ways.free, meanwhile=kill)
        assert summary["wrote"] is None, summary["files"]


def a_call_that_waits_survives_a_crash_of_the_gate(ground):
    desk = ground.desk()
    second = []

    def crash_and_come_back(_approval):
        desk.crash()
        second.append(ground.desk())
        second[0].answer_next(second[0].approve)

    desk.answer_next(crash_and_come_back)
    summary = ground.run(ground.ways.plain)
    with second[0] as after:
        assert summary["wrote"] == "hi", summary["told_model"]
        assert after.states() == ["consumed"], "asked once, answered once"


@slow
def a_call_held_for_seventy_seconds_runs(ground):
    def late(desk, approval):
        threading.Event().wait(HELD_S)
        desk.approve(approval)

    with ground.desk() as desk:
        desk.answer_next(lambda approval: late(desk, approval))
        summary = ground.run(ground.ways.held)
        assert summary["wrote"] == "hi", summary["told_model"]
        assert desk.states() == ["consumed"], "asked once, answered once"


@slow
def two_sessions_in_one_workspace_are_told_apart(ground):
    """Both want the same call at the same time; each is asked for and answered by itself."""
    with ground.desk() as desk:
        def answer(_process):
            one, other = desk.wait_for_pending(2)
            assert one["session"] != other["session"], (one, other)
            assert one["workspace"] == other["workspace"], (one, other)
            desk.deny(one, "Not this one.")
            desk.approve(other)

        ground.run("twice-at-once", meanwhile=answer)
        assert sorted(desk.states()) == ["consumed", "denied"], desk.states()


@slow
def a_session_that_comes_back_is_the_same_session(ground):
    """The agent ends and is started again under the same session id."""
    with ground.desk() as desk:
        desk.answer_all(desk.approve)
        ground.run("resumed")
        approvals = desk.ask("approvals.list")["items"]
        assert [item["state"] for item in approvals] == ["consumed"] * 2, approvals
        assert len({item["session"] for item in approvals}) == 1, approvals


def kill_clients(group: int):
    """Kills every process of a client but its hooks, and the shells that hooks are started by."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if os.getpgid(int(folder.name)) != group and os.getsid(int(folder.name)) != group:
                continue
            words = (folder / "cmdline").read_bytes().split(b"\0")
        except (OSError, ProcessLookupError):
            continue
        if b"hook" not in words and b"-c" not in words[:2]:
            os.kill(int(folder.name), 9)


EVERY = [
    an_approved_call_runs,
    a_denied_call_does_not_run_and_the_model_is_told_why,
    without_a_gate_nothing_runs,
    nobody_answers_and_it_expires,
    calls_at_once_get_their_own_answers,
    a_call_whose_client_is_killed_is_taken_back,
    a_call_that_waits_survives_a_crash_of_the_gate,
    a_call_held_for_seventy_seconds_runs,
]
EDITED = what_the_person_changed_is_what_runs
SEVERAL = [two_sessions_in_one_workspace_are_told_apart, a_session_that_comes_back_is_the_same_session]
