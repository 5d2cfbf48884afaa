"""Gemini CLI. With `--approval-mode yolo` it runs everything by itself, so what does not run stopped at our no."""
from .common import EDITED, EVERY, SEVERAL, Ways

WAYS = Ways(events=("BeforeTool", "AfterTool"), held="sleep180-timeout600")
CHECKS = [*EVERY, EDITED, *SEVERAL]
