"""Tells people of failures: one message a failure, to every notifier of diagnose.yaml."""

from __future__ import annotations

from diagnose.deliver.notify.send import deliver, repay

__all__ = ["deliver", "repay"]
