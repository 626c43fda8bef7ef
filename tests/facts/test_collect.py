"""What collecting keeps to, whatever the reader."""

from __future__ import annotations

import gc
from pathlib import Path

from diagnose.facts.collect import Probe, collect
from diagnose.facts.run import Facts
from diagnose.read import Source

LOG = """\
+ export NCCL_IB_DISABLE=0
node-1:17:17 [0] NCCL INFO NCCL_IB_DISABLE set by environment to 0.
restarting without InfiniBand
+ export NCCL_IB_DISABLE=1
"""


def test_later_observation_wins(tmp_path: Path, probe: Probe) -> None:
    """Observations stand in the order of their lines, whichever reader made them: the later one is what holds."""
    path = tmp_path / "train.log"
    path.write_text(LOG)
    for brief in (False, True):
        record = collect(Source(str(path)), probe, brief=brief)
        lines = [seen.evidence.line for seen in record.observations if seen.evidence is not None]
        assert lines == [1, 2, 4]
        assert str(Facts(record.observations).value("env.NCCL_IB_DISABLE")) == "1"


def test_nothing_collected_knows_itself(probe: Probe, tmp_path: Path) -> None:
    """What one source took is free again at once: thousands of files are read by one process."""
    path = tmp_path / "train.log"
    path.write_text(
        "step 1\n" * 50 + 'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\nKeyError: 1\n'
    )
    source = Source(str(path))
    collect(source, probe)
    gc.collect()
    gc.disable()
    try:
        collect(source, probe)
        assert gc.collect() == 0
    finally:
        gc.enable()
