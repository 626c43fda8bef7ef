"""Slurm: what it says of a job, where the job's logs lie, and the hooks that announce a failure."""

from __future__ import annotations
