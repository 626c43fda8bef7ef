"""Progress lines of every framework."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diagnose.facts.progress_lines import read_progress

MEGATRON = (
    " [2026-07-10 05:46:31.627699] iteration       20/      20 | consumed samples:          320 | elapsed time per "
    "iteration (ms): 744.0 | throughput per GPU (TFLOP/s/GPU): 709.9 | learning rate: 3.000000E-04 | global batch size:"
    "    16 |{loss} loss scale: 1.0 | grad norm: 2.939 | params norm: 812.551 | "
    "number of skipped iterations:   {skipped} | number of nan iterations:   0 |"
)


def test_megatron_line() -> None:
    """All numbers of a Megatron-LM line are named."""
    found = read_progress(MEGATRON.format(loss=" lm loss: 1.020935E+00 |", skipped=0))
    assert found is not None
    assert (found.kind, found.number) == ("iteration", 20)
    assert found.metrics == {
        "total": 20,
        "consumed": 320,
        "ms": 744.0,
        "tflops": 709.9,
        "lr": 3e-4,
        "global_batch_size": 16,
        "loss": 1.020935,
        "loss_scale": 1.0,
        "grad_norm": 2.939,
        "params_norm": 812.551,
        "skipped": 0,
        "nan": 0,
    }


def test_a_vanished_loss_is_the_nan_signature() -> None:
    """A line without loss and without skipped iterations had a NaN loss; fp16 skips had not."""
    missing = read_progress(MEGATRON.format(loss="", skipped=0))
    skipped = read_progress(MEGATRON.format(loss="", skipped=1))
    assert missing is not None
    assert skipped is not None
    assert missing.metrics["loss_missing"] == 1
    assert "loss_missing" not in skipped.metrics


@pytest.mark.parametrize(
    ("line", "number", "metrics"),
    [
        ("Step Time : 3.05s GPU utilization: 704.2MODEL_TFLOP/s/GPU", None, {"ms": 3050.0, "tflops": 704.2}),
        ("Step Time : 3.05s GPU utilization: 704.2TFLOP/s/GPU", None, {"ms": 3050.0, "tflops": 704.2}),
        (
            "Training epoch 0, iteration 9/99 | lr: 1.35e-06 | global_batch_size: 32 | global_step: 9 | "
            "reduced_train_loss: 10.31 | train_step_timing in s: 3.051 | consumed_samples: 320",
            9,
            {"loss": 10.31, "ms": 3051.0, "consumed": 320, "total": 99},
        ),
        (" iteration 7/20 | loss 0.3559", 7, {"loss": 0.3559, "total": 20}),
        ("steps: 10 loss: 0.1234 iter time (s): 1.5 samples/sec: 3.4", 10, {"loss": 0.1234, "ms": 1500.0}),
        ("[2026-01-01 00:00:00,1] [INFO] [Rank 0] step=10, skipped=2, lr=[0.1], mom=[0.9]", 10, {"skipped_total": 2}),
        ("{'loss': 1.2, 'grad_norm': 0.5, 'learning_rate': 1e-05, 'epoch': 0.1}", None, {"loss": 1.2, "epoch": 0.1}),
        ("{'loss': '1.2', 'epoch': '0.1'}", None, {"loss": 1.2}),
        ("{'loss': 5.8, 'step': 3, 'loss_scale': 4294967296, 'skipped': True}", 3, {"skipped": 1.0}),
        ("Epoch 3:  50%|#####     | 12/24 [00:01<00:01,  9.90it/s, v_num=0, train_loss=1.20]", 12, {"loss": 1.2}),
        ("  5%|5         | 50/1000 [00:10<03:10,  5.00it/s]", 50, {"ms": 200.0, "total": 1000}),
        ("step 12/100 loss=0.3 grad_norm=0.1", 12, {"loss": 0.3, "total": 100, "grad_norm": 0.1}),
        ("step 0 loss 0.3384", 0, {"loss": 0.3384}),
        ("Epoch 1 step 20 | loss 2.5", 20, {"loss": 2.5, "epoch": 1}),
        ("iter 12: loss 10.9, time 1234ms, mfu -100%", 12, {"loss": 10.9}),
        ("Epoch [1/10], Step [100/600], Loss: 0.1", 100, {"loss": 0.1, "total": 600, "epoch": 1}),
        ("step:  5  loss:  7.12  grad_norm:  1.5  tps: 5,000  tflops: 95.2  mfu: 9.6%", 5, {"tflops": 95.2}),
        ("1|25|Loss: 0.75:  25%|##   | 25/100 [00:20<01:30,  1.05it/s]", 25, {"loss": 0.75, "total": 100}),
        ("102/102 [=====>....] - 19s 190ms/step - loss: 0.6812 - accuracy: 0.59", 102, {"loss": 0.6812}),
        ("Train: 0 [  50/1251 (  4%)]  Loss: 6.91 (6.95)  Time: 0.512s", 50, {"loss": 6.91}),
        (
            "  1/10   9.03G   0.0895   2.81   2.68   9   640: 100%|##| 954/954 [11:44<00:00,  1.35it/s]",
            954,
            {"epoch": 1},
        ),
        ("  1/10   2.1G   0.8945   1.23   16   640: 100% ━━━━ 954/954 1.4it/s 11:44", 954, {"epoch": 1}),
        ("mmengine - INFO - Iter(train) [  510/2046]  lr: 1.7e-04  time: 2.9  loss: 0.69", 510, {"loss": 0.69}),
        ("(TaskRunner pid=7) step:4 - global_seqlen/min:2100.0 - actor/pg_loss:0.010", 4, {}),
        ("[batch=10/1000]:", 10, {"total": 1000}),
        ("========== Step 3/100 ==========", 3, {"total": 100}),
        ("{'loss': '14.88', 'epoch': '0.007', 'train_runtime': '110.7'}", None, {"loss": 14.88}),
        ('{"epoch": 1, "loss": "14.79", "num_updates": "100"}', None, {"loss": 14.79, "epoch": 1}),
    ],
)
def test_other_frameworks(line: str, number: int | None, metrics: dict[str, float]) -> None:
    """Each form gives its number and its metrics."""
    found = read_progress(line)
    assert found is not None
    assert found.kind == "iteration"
    assert found.number == number
    assert metrics.items() <= found.metrics.items()


def test_nan_is_a_number() -> None:
    """A loss printed as NaN is kept as such."""
    found = read_progress(" iteration       11/      59 | lm loss: NAN | grad norm: nan |")
    assert found is not None
    assert math.isnan(found.metrics["loss"])


@pytest.mark.parametrize(
    "line",
    [
        "Loading checkpoint shards: 100%|##########| 4/4 [00:01<00:00, 3.2it/s]",
        "Map (num_proc=2):  11%|#         | 213/2000 [00:00<00:02, 843.39 examples/s]",
        "Sanity Checking DataLoader 0:  50%|#####     | 1/2 [00:00<00:00,  5.1it/s]",
        "{'train_runtime': 12.3, 'train_loss': 0.5, 'epoch': 3.0}",
        " validation loss at iteration 1000 | lm loss value: 2.310452E+00 | lm loss PPL: 1.007898E+01 | ",
        "saving checkpoint at iteration    1000 to /ckpt in torch_dist format",
        "Unexpected result nan on rank 7 at iteration #42 invocation #1 (message='found NaN in loss')",
    ],
)
def test_other_lines_are_no_progress(line: str) -> None:
    """Bars of other work, evaluations and messages are not iterations."""
    assert read_progress(line) is None


@settings(derandomize=True, max_examples=100)
@given(st.text(alphabet="iteraonslp{'}:|/[] 0123456789.eE=%,\\", max_size=300))
def test_any_text(text: str) -> None:
    """No text crashes."""
    read_progress(text)
    read_progress("iteration 1/2 |" + text)
    read_progress("{'loss': " + text)
