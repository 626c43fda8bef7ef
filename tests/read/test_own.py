"""What this program prints into a job's output is not read back as the job's words."""

from __future__ import annotations

from diagnose.read.own import is_own, marked
from tests.conftest import Diagnose
from tests.reason.words import OUT_OF_MEMORY, step, traceback


def test_every_line_is_marked() -> None:
    """The mark stands before every line, and is found behind a launcher's prefix too."""
    assert marked("a\n\nb\n") == "diagnose| a\ndiagnose|\ndiagnose| b"
    assert all(is_own(line) for line in marked("a\n\nb").split("\n"))
    assert is_own("[default0]:diagnose| a")
    assert not is_own("diagnose said so")


def test_a_report_in_the_log_is_no_evidence(diagnose_logs: Diagnose) -> None:
    """Neither the error that a report quotes nor the lines to paste count."""
    report = marked(f"train.log:3  {OUT_OF_MEMORY}\n  export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True\n")
    diagnosis = diagnose_logs({"train.log": f"{step(1)}{report}\n{traceback(OUT_OF_MEMORY)}"})
    assert diagnosis.root_cause is not None
    assert not is_own(diagnosis.root_cause.evidence[0].text)
    assert "PYTORCH_CUDA_ALLOC_CONF" not in diagnosis.run.environment
    assert not any(is_own(each.first.text) for each in diagnosis.fallout)
