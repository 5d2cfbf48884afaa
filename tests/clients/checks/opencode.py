"""opencode with the plugin that `placet install opencode` writes; its own permissions allow everything."""
from .common import EDITED, EVERY, Ways, two_sessions_in_one_workspace_are_told_apart

WAYS = Ways(events=("tool.execute.before", "tool.execute.after"))
CHECKS = [*EVERY, EDITED, two_sessions_in_one_workspace_are_told_apart]
