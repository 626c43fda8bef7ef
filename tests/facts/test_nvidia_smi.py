"""GPU tables."""

from __future__ import annotations

from typing import Any


def test_table_and_list(log: Any) -> None:
    """Model and size come from the table; a device list gives the model."""
    facts = log(
        "| NVIDIA-SMI 570.124.06             Driver Version: 570.124.06     CUDA Version: 12.8     |\n"
        "|   0  NVIDIA H100 80GB HBM3          On  |   00000000:1B:00.0 Off |                    0 |\n"
        "| N/A   41C    P0            640W /  700W |   80012MiB /  81559MiB |    100%      Default |\n"
    ).facts()
    assert facts["run.gpu_model"] == "NVIDIA H100 80GB HBM3"
    assert facts["run.gpu_memory"] == 81559 * 2**20
    assert facts["version.driver"] == "570.124.06"
    assert log("GPU 0: NVIDIA A100-SXM4-80GB (UUID: GPU-1)\n").facts()["run.gpu_model"] == "NVIDIA A100-SXM4-80GB"
