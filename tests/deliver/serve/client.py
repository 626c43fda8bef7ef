"""Starlette's test client, whichever HTTP library it likes today."""

from __future__ import annotations

import warnings

with warnings.catch_warnings():
    # It names another library that it would rather have; both work.
    warnings.simplefilter("ignore")
    from starlette.testclient import TestClient

__all__ = ["TestClient"]
