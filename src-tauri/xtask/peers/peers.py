"""What others take to ask, be answered and go on, all of it on the disk: peers.py PEER FOLDER SECONDS ASKERS

Prints one line of JSON: {"cycles", "seconds", "p99_ms"}. A cycle is: the question is written, then the answer, then the
asker has read the answer and gone on, each as the peer itself does it, in this process, without any socket or window.
"""
import json
import sys
import threading
import time
import uuid
from pathlib import Path


def floor(folder):
    """Raw SQLite, a commit for the question, one for the answer, one for its being taken."""
    import sqlite3

    connection = sqlite3.connect(folder / "floor.db", check_same_thread=False, isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("CREATE TABLE IF NOT EXISTS asked (id TEXT PRIMARY KEY, call TEXT, state TEXT)")
    lock = threading.Lock()

    def execute(sql, *values):
        with lock:
            connection.execute(sql, values)

    def cycle(_asker):
        number = str(uuid.uuid4())
        execute("INSERT INTO asked VALUES (?, ?, 'pending')", number, '{"command": "echo hi"}')
        execute("UPDATE asked SET state = 'approved' WHERE id = ?", number)
        execute("UPDATE asked SET state = 'consumed' WHERE id = ?", number)

    return cycle


def langgraph(folder):
    """A graph of one node that interrupts and is resumed, with the SQLite checkpointer."""
    import sqlite3
    from typing import TypedDict

    from langgraph.checkpoint.sqlite import SqliteSaver
    from langgraph.graph import END, START, StateGraph
    from langgraph.types import Command, interrupt

    class State(TypedDict):
        answer: str

    def ask(_state):
        return {"answer": interrupt({"command": "echo hi"})}

    connection = sqlite3.connect(folder / "langgraph.db", check_same_thread=False)
    graph = StateGraph(State).add_node("ask", ask).add_edge(START, "ask").add_edge("ask", END)
    graph = graph.compile(checkpointer=SqliteSaver(connection))

    def cycle(_asker):
        config = {"configurable": {"thread_id": str(uuid.uuid4())}}
        graph.invoke({"answer": ""}, config)
        assert graph.invoke(Command(resume="approved"), config)["answer"] == "approved"

    return cycle


def tollgate(folder):
    """Its SQLite store of approvals. The answer is read at once; its own waiting polls every half second."""
    import asyncio

    from tollgate.backends.sqlite_store import SQLiteApprovalStore
    from tollgate.types import AgentContext, ApprovalOutcome, Effect, Intent, ToolRequest

    store = SQLiteApprovalStore(folder / "tollgate.db")
    agent = AgentContext(agent_id="bench", version="1", owner="bench")
    intent = Intent(action="run", reason="bench")
    call = ToolRequest(
        tool="bash", action="run", resource_type="command", effect=Effect.WRITE, params={"command": "echo hi"}
    )
    lock = threading.Lock()
    loops = threading.local()

    async def once():
        digest = str(uuid.uuid4())
        number = await store.create_request(agent, intent, call, digest, "bench", time.time() + 600)
        await store.set_decision(number, ApprovalOutcome.APPROVED, "bench", time.time(), digest)
        assert (await store.get_request(number))["outcome"] == ApprovalOutcome.APPROVED.value

    def cycle(_asker):
        # One connection for all threads, as the store has it; without a lock it mixes their transactions.
        loop = getattr(loops, "loop", None) or asyncio.new_event_loop()
        loops.loop = loop
        with lock:
            loop.run_until_complete(once())

    return cycle


def agno(folder):
    """Its SQLite database of approvals."""
    from agno.db.sqlite import SqliteDb

    database = SqliteDb(db_file=str(folder / "agno.db"))
    lock = threading.Lock()

    def cycle(_asker):
        number = str(uuid.uuid4())
        asked = {
            "id": number, "run_id": number, "session_id": "bench", "status": "pending", "source_type": "agent",
            "pause_type": "confirmation", "tool_name": "bash", "tool_args": {"command": "echo hi"}, "created_at": int(time.time()),
        }
        # Its writers get "database is locked" from one another.
        with lock:
            database.create_approval(asked)
        with lock:
            database.update_approval(number, expected_status="pending", status="approved")
        assert database.get_approval(number)["status"] == "approved"

    return cycle


def run(cycle, seconds: float, askers: int) -> dict:
    cycle(0)
    taken, failures = [], []
    end = time.perf_counter() + seconds

    def ask(asker):
        try:
            while time.perf_counter() < end:
                began = time.perf_counter()
                cycle(asker)
                taken.append(time.perf_counter() - began)
        except Exception as error:
            failures.append(error)

    began = time.perf_counter()
    threads = [threading.Thread(target=ask, args=(asker,)) for asker in range(askers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    lasted = time.perf_counter() - began
    if failures:
        raise failures[0]
    taken.sort()
    return {"cycles": len(taken), "seconds": lasted, "p99_ms": taken[int(len(taken) * 0.99)] * 1e3}


def main():
    name, folder, seconds, askers = sys.argv[1:]
    peer = {"floor": floor, "langgraph": langgraph, "tollgate": tollgate, "agno": agno}[name]
    print(json.dumps(run(peer(Path(folder)), float(seconds), int(askers))))


main()
