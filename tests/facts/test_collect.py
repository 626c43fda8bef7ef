"""What collecting keeps to, whatever the reader."""

from __future__ import annotations

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
