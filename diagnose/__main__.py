"""Lets `python -m diagnose` run the command."""

from __future__ import annotations

from diagnose.commands import main

if __name__ == "__main__":
    main()
