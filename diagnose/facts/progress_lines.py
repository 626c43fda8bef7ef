"""Reads one progress line of a training loop: which iteration, and its numbers.

Sources: Megatron-LM `training_log` (0.5 to 0.20), Megatron Bridge `training_log`, NeMo 2 ProgressPrinter, DeepSpeed
`_report_progress`, Hugging Face Trainer, tqdm and Lightning bars, torchtitan, and what hand-written loops print.
"""

from __future__ import annotations

import re
from types import MappingProxyType

from diagnose.classes import dataclass, field
from diagnose.lazy import Lazy

NUMBER = r"[-+]?(?:\d{1,20}(?:\.\d{0,20})?|\.\d{1,20})(?:[eE][-+]?\d{1,3})?|[-+]?(?:nan|inf)(?:inity)?"
_NAMES = MappingProxyType(
    {
        "elapsed time per iteration (ms)": "ms",
        "throughput per gpu (tflop/s/gpu)": "tflops",
        "tflops_per_gpu": "tflops",
        "tflops": "tflops",
        "lm loss": "loss",
        "loss": "loss",
        "train_loss": "loss",
        "reduced_train_loss": "loss",
        "eval_loss": "loss",
        "lm loss value": "loss",
        "grad norm": "grad_norm",
        "grad_norm": "grad_norm",
        "params norm": "params_norm",
        "loss scale": "loss_scale",
        "loss_scale": "loss_scale",
        "learning rate": "lr",
        "learning_rate": "lr",
        "lr": "lr",
        "global batch size": "global_batch_size",
        "global_batch_size": "global_batch_size",
        "consumed samples": "consumed",
        "consumed_samples": "consumed",
        "number of skipped iterations": "skipped",
        "skipped": "skipped",
        "number of nan iterations": "nan",
        "mfu": "mfu",
        "epoch": "epoch",
        "samples/sec": "samples_per_second",
        "tps": "tokens_per_second",
    }
)
_SECONDS = MappingProxyType({"train_step_timing in s": 1000.0, "iter time (s)": 1000.0, "time": 1.0})
MEGATRON = Lazy(r"(?<![\w.])iteration +(\d{1,15})/ *(\d{1,15}) *\|(.*)", re.IGNORECASE)
STEP_TIME = Lazy(r"Step Time : ([\d.]{1,20})s GPU utilization: ([\d.]{1,20}|nan)(?:MODEL_)?TFLOP/s/GPU")
_DEEPSPEED = Lazy(rf"\bsteps: (\d{{1,15}}) loss: ({NUMBER}) iter time \(s\): ({NUMBER})(?: samples/sec: ({NUMBER}))?")
_DEEPSPEED_STEP = Lazy(r"\bstep=(\d{1,15}), skipped=(\d{1,15}), lr=")
_GLOBAL_STEP = Lazy(rf"/global_step=(\d{{1,15}}), RunningAvgSamplesPerSec=({NUMBER})")
_DICT = Lazy(r"\{('[^{}]{1,4000})\}")
_DICT_ITEM = Lazy(rf"'([A-Za-z_][\w/]{{0,60}})': '?({NUMBER}|True|False)\b", re.IGNORECASE)
_BAR = Lazy(r"^(.{0,200}?)(?:\d{1,3}%)?\|[^|]{0,400}\| *(\d{1,12})/(\d{1,12}) \[([^\]]{0,400})")
_BAR_OWNER = Lazy(r"epoch|train|step|iter|loss|^\W*$", re.IGNORECASE)
_BAR_STRANGER = Lazy(r"valid|sanity|eval|test|predict|load|download|map|filter|token|generat|shard", re.IGNORECASE)
_RATE = Lazy(r"([\d.]{1,20})(it/s|s/it)")
_BAR_LOSS = Lazy(r"loss=\d")
# Ultralytics: `1/100 2.10G 0.8945 0.5678 16 640: 100%`, then the bar of the epoch's batches.
_DETECTOR = Lazy(r"\s{0,40}(\d{1,6})/\d{1,6}\s{1,20}[\d.]{1,12}[GMK]?\s[^%]{5,200}\s\d{1,3}%[^/]{1,300}?(\d{1,9})/\d")
# OLMo, Composer, NeMo RL and verl: a header with the step, its numbers on the same line (verl) or on the next ones.
_HEADED = Lazy(
    r"\[(?:step|batch)=(\d{1,15})/(\d{1,15})[,\]]|===== Step (\d{1,15})/(\d{1,15}) ====="
    r"|\bstep:(\d{1,15}) - ([a-z_-]{1,40})/|\bProcessed (\d{1,15}) documents \("
)
_STEP = Lazy(
    r"(?<![\w/.])(?:global[ _-]?step|train[ _-]?step|step|iteration|iter|batch)s?(?:\(train\))?"
    r"\W{0,4}?[ :=#\[]{0,3}(\d{1,15})"
    r"(?:[/ ]{1,3}(?:of )?(\d{1,15}))?(?!\.\d)",
    re.IGNORECASE,
)
_EPOCH = Lazy(r"(?<![\w/.])epoch(?:\(train\))?\W{0,4}?(\d{1,9}(?:\.\d{1,6})?)", re.IGNORECASE)
# Keras, timm and others: `102/102 [====] - 19s - loss: 0.69`, `Train: 0 [ 50/1251 (4%)] Loss: 6.9`.
_OUT_OF = Lazy(r"(?<![\w./:-])(\d{1,12})/ ?(?:\d{1,12}|Unknown)(?![\w./:-])")
_LOSS = Lazy(
    rf"(?<![\w/])(?:(?:train|lm|total|avg|running)[ _-]?)?loss['\"]?[ :=]{{1,3}}['\"]?({NUMBER})", re.IGNORECASE
)
_EXTRA = Lazy(
    rf"(?<!\w)(grad[_ ]norm|lr|learning[_ ]rate|tflops|mfu|tps|loss[_ ]scale)[ :=]{{1,3}}({NUMBER})", re.IGNORECASE
)
_EVALUATION = Lazy(r"validation|\beval|\bval[_ ]|\btest[_ ]", re.IGNORECASE, needs=("val", "test"))


@dataclass(frozen=True, slots=True)
class Progress:
    """What one progress line says."""

    kind: str  # iteration | eval
    number: int | None  # iteration, step or, where nothing else is printed, None
    metrics: dict[str, float] = field(default_factory=dict)


def read_progress(body: str) -> Progress | None:
    """Read one line, prefixes and stamps allowed; None where it is no progress line.

    A Megatron line that has no loss although no iteration was skipped has `loss_missing` 1: that is how a NaN loss is
    printed there (a loss of zero too, up to Core 0.16).
    """
    if "train_runtime" in body and "'loss'" not in body:
        return None
    for read in (_megatron, _step_time, _deepspeed, _dictionary, _bar, _detector, _generic, _headed):
        found = read(body)
        if found:
            return found
    return None


def _megatron(body: str) -> Progress | None:
    found = MEGATRON.search(body)
    if not found:
        return None
    metrics: dict[str, float] = {"total": float(found[2])}
    losses = False
    for item in found[3].split("|"):
        name, colon, value = item.rpartition(":")
        if not colon:
            name, _, value = item.strip().rpartition(" ")
        number = _number(value)
        if number is None:
            continue
        name = name.strip().lower()
        losses = losses or ("loss" in name and "scale" not in name)
        if name in _NAMES:
            metrics[_NAMES[name]] = number
        elif name in _SECONDS:
            metrics["ms"] = number * _SECONDS[name]
    if _EVALUATION.search(body[: found.start()]):
        return Progress("eval", int(found[1]), metrics)
    if not losses and "consumed" in metrics and not metrics.get("skipped"):
        metrics["loss_missing"] = 1.0
    return Progress("iteration", int(found[1]), metrics)


def _step_time(body: str) -> Progress | None:
    found = STEP_TIME.search(body)
    seconds, tflops = (_number(found[1]), _number(found[2])) if found else (None, None)
    if seconds is None or tflops is None:
        return None
    return Progress("iteration", None, {"ms": seconds * 1000, "tflops": tflops})


def _deepspeed(body: str) -> Progress | None:
    found = _DEEPSPEED.search(body)
    if found:
        numbers = [_number(found[group]) for group in (2, 3, 4)]
        named = zip(("loss", "ms", "samples_per_second"), numbers, strict=True)
        metrics = {name: value * (1000 if name == "ms" else 1) for name, value in named if value is not None}
        return Progress("iteration", int(found[1]), metrics)
    found = _DEEPSPEED_STEP.search(body)
    if found:
        return Progress("iteration", int(found[1]), {"skipped_total": float(found[2])})
    found = _GLOBAL_STEP.search(body)
    rate = _number(found[2]) if found else None
    if found and rate is not None:
        return Progress("iteration", int(found[1]), {"samples_per_second": rate})
    return None


def _dictionary(body: str) -> Progress | None:
    found = _DICT.search(body) if "loss'" in body else None
    if not found:
        return None
    items = {name.lower(): _number(value) for name, value in _DICT_ITEM.findall(found[1])}
    metrics = {_NAMES[name]: value for name, value in items.items() if name in _NAMES and value is not None}
    if "loss" not in metrics:
        return None
    step = next(
        (items[name] for name in ("step", "global_step", "iteration", "iter") if items.get(name) is not None), None
    )
    return Progress("eval" if "eval_loss" in items else "iteration", None if step is None else _whole(step), metrics)


def _bar(body: str) -> Progress | None:
    found = _BAR.match(body)
    if not found:
        return None
    owner = found[1].rstrip(" :0123456789%")
    if _BAR_STRANGER.search(owner) or not _BAR_OWNER.search(owner):
        return None
    rate = _RATE.search(found[4])
    if not rate and "?" not in found[4] and not _BAR_LOSS.search(found[4]):
        return None
    metrics = {"total": float(found[3])}
    speed = _number(rate[1]) if rate else None
    if rate and speed:
        metrics["ms"] = 1000 / speed if rate[2] == "it/s" else 1000 * speed
    loss = _LOSS.search(found[4]) or _LOSS.search(found[1])
    if loss:
        metrics["loss"] = float(loss[1])
    epoch = _EPOCH.search(found[1])
    if epoch:
        metrics["epoch"] = float(epoch[1])
    return Progress("iteration", int(found[2]), metrics)


def _detector(body: str) -> Progress | None:
    found = _DETECTOR.match(body)
    return Progress("iteration", int(found[2]), {"epoch": float(found[1])}) if found else None


def _headed(body: str) -> Progress | None:
    found = _HEADED.search(body[:300])
    if not found:
        return None
    number, total = found[1] or found[3] or found[5] or found[7], found[2] or found[4]
    return Progress(
        "eval" if found[7] or (found[6] or "").startswith("val") else "iteration",
        int(number),
        {"total": float(total)} if total else {},
    )


def _generic(body: str) -> Progress | None:
    body = body[:2000]
    loss = _LOSS.search(body)
    step, epoch = (_STEP.search(body), _EPOCH.search(body)) if loss else (None, None)
    count = _OUT_OF.search(body, 0, loss.start()) if loss and not step and not epoch else None
    first = step or epoch or count
    if not loss or not first or first.start() > loss.start() + 200:
        return None
    metrics = {"loss": float(loss[1])}
    for name, value in _EXTRA.findall(body):
        metrics[_NAMES[name.lower().replace("grad norm", "grad_norm").replace("loss scale", "loss_scale")]] = float(
            value
        )
    if epoch:
        metrics["epoch"] = float(epoch[1])
    if step and step[2]:
        metrics["total"] = float(step[2])
    kind = "eval" if _EVALUATION.search(body[: loss.end()]) else "iteration"
    counted = step or count
    return Progress(kind, int(counted[1]) if counted else None, metrics)


def _number(text: str | None) -> float | None:
    text = (text or "")[:60]
    try:
        return float(text)
    except ValueError:
        text = text.strip()
        return float(text == "True") if text in {"True", "False"} else None


def _whole(number: float) -> int | None:
    return int(number) if abs(number) < 1e15 else None
