"""`python -m diagnose` is the command."""

from __future__ import annotations

import sys

from diagnose.commands import main

sys.exit(main())
