"""GitHub Copilot CLI with `--allow-all-tools`, which runs everything by itself. It does not say which call a hook is
about."""
from .common import EDITED, EVERY, Ways, two_sessions_in_one_workspace_are_told_apart

WAYS = Ways(events=("preToolUse", "postToolUse"), held="sleep180-timeout600")
CHECKS = [*EVERY, EDITED, two_sessions_in_one_workspace_are_told_apart]
