"""Qwen Code with `--yolo`, which runs everything by itself. It ends every hook at 60 s and then runs the tool, and it
takes no changed input."""
from .common import (
    EVERY, Ways, a_change_is_refused_where_the_client_takes_none, two_sessions_in_one_workspace_are_told_apart,
)

WAYS = Ways(held="again")
CHECKS = [*EVERY, a_change_is_refused_where_the_client_takes_none, two_sessions_in_one_workspace_are_told_apart]
