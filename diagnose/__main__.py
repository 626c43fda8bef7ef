"""Lets `python -m diagnose` run the command."""

from __future__ import annotations

import sys

from diagnose.commands import entry

if __name__ == "__main__":
    sys.exit(entry())
