"""Real MCP servers behind `placet mcp`, driven by the inspector and by the official SDKs. No model takes part."""
from kit.place import CLIENTS_DIR

from .common import Ways

WAYS = Ways()


def printed(summary) -> str:
    return summary["stdout_tail"]


def the_lists_of_real_servers_pass_unasked(ground):
    with ground.desk() as desk:
        for scenario, tool in (("files-list", "write_file"), ("everything-list", "echo"), ("git-list", "git_status")):
            summary = ground.run_behind_the_proxy(scenario)
            assert summary["status"] == 0 and tool in whole_output(ground, scenario), (scenario, summary)
        assert desk.states() == [], desk.states()


def an_approved_call_of_the_file_server_runs(ground):
    with ground.desk() as desk:
        desk.answer_next(desk.approve)
        summary = ground.run_behind_the_proxy("files-write")
        assert summary["wrote"] == "written", summary
        [approval] = desk.ask("approvals.list")["items"]
        assert approval["state"] == "consumed" and approval["tool"].endswith("__write_file"), approval


def a_denied_call_does_not_reach_the_file_server(ground):
    with ground.desk() as desk:
        desk.answer_next(lambda approval: desk.deny(approval, "Not this file."))
        summary = ground.run_behind_the_proxy("files-write")
        assert summary["wrote"] is None, summary
        assert "BLOCKED" in printed(summary) and "Not this file." in printed(summary), summary


def without_a_gate_no_server_is_called(ground):
    summary = ground.run_behind_the_proxy("files-write")
    assert summary["wrote"] is None, summary
    assert "BLOCKED" in printed(summary), summary


def an_approved_call_of_the_git_server_runs(ground):
    with ground.desk() as desk:
        desk.answer_next(desk.approve)
        summary = ground.run_behind_the_proxy("git-status")
        assert "a.md" in printed(summary), summary
        assert desk.states() == ["consumed"], desk.states()


def the_python_sdk_calls_after_a_yes(ground):
    with ground.desk() as desk:
        desk.answer_next(desk.approve)
        summary = ground.run_behind_the_proxy("sdk-python")
        assert summary["wrote"] == "written" and "Successfully wrote" in printed(summary), summary
        assert desk.states() == ["consumed"], desk.states()


def the_typescript_sdk_calls_after_a_yes(ground):
    with ground.desk() as desk:
        desk.answer_next(desk.approve)
        summary = ground.run_behind_the_proxy("sdk-typescript")
        assert "Echo: hi" in printed(summary), summary
        assert desk.states() == ["consumed"], desk.states()


def the_official_conformance_of_clients_holds(ground):
    """The parts that do not need a client to speak HTTP or OAuth itself."""
    with ground.desk() as desk:
        desk.answer_all(desk.approve)
        for scenario in ("conformance-initialize", "conformance-tools-call"):
            summary = ground.run_behind_the_proxy(scenario)
            assert summary["status"] == 0, summary
        assert desk.states() == ["consumed"], "the one call that the suite wants was asked for"


def whole_output(ground, scenario) -> str:
    return (CLIENTS_DIR / "captures" / ground.client / scenario / "stdout.txt").read_text()


CHECKS = [
    the_lists_of_real_servers_pass_unasked,
    an_approved_call_of_the_file_server_runs,
    a_denied_call_does_not_reach_the_file_server,
    without_a_gate_no_server_is_called,
    an_approved_call_of_the_git_server_runs,
    the_python_sdk_calls_after_a_yes,
    the_typescript_sdk_calls_after_a_yes,
    the_official_conformance_of_clients_holds,
]
