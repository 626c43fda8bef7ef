"""The labels that launchers put at the start of a line, as bytes, for those who look at very many lines."""

from __future__ import annotations

from diagnose.lazy import LazyBytes

# torchrun --tee and PyTorch's excepthook, srun -l, Open MPI.
_FORMS = rb"(?:\[[A-Za-z]+\d{1,6}\]:|\d{1,6}: |\[\d+,\d{1,7}\]<std\w+>)"
LABEL = LazyBytes(_FORMS)
# With the newline before it: a search for a literal is many times faster than one for a line's start.
LABEL_BEHIND_NEWLINE = LazyBytes(rb"\n" + _FORMS)
LONGEST = 64  # bytes
