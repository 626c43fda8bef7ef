"""The room for authors of patterns: skeletons from a log, expressions on trial, and what the checker looks at."""

from __future__ import annotations

from diagnose.author.review import CHECKS, Remark, review
from diagnose.author.skeleton import NoSuchLineError, Skeleton, skeleton
from diagnose.author.trial import Trial, UnreadableLogError, try_expression

__all__ = [
    "CHECKS",
    "NoSuchLineError",
    "Remark",
    "Skeleton",
    "Trial",
    "UnreadableLogError",
    "review",
    "skeleton",
    "try_expression",
]
