"""Exceptions that no pattern knows are placed by type, words and place."""

from __future__ import annotations

import pytest

from diagnose.api import load_catalogue
from diagnose.reason.kind import category_of
from tests.conftest import Diagnose
from tests.read.reading import tracebacks_of

HEAD = "Traceback (most recent call last):\n"
TORCH = "/opt/venv/lib/python3.11/site-packages/torch"


def placed(said: str, *frames: tuple[str, str, str]) -> str:
    """Place an exception, raised in frames of file, function and code."""
    lines = "".join(f'  File "{file}", line 7, in {function}\n    {code}\n' for file, function, code in frames)
    (unit,) = tracebacks_of(f"{HEAD}{lines}{said}\n")
    return category_of(unit, load_catalogue().placement)


MAIN = ("/workspace/train.py", "main", "run()")


@pytest.mark.parametrize(
    ("said", "category"),
    [
        ("acme.ProxyError: no way out", "network"),
        ("acme.errors.ResourceExhaustedError: frob", "gpu-memory"),
        ("acme.FrobRuntimeError: DEADLINE_EXCEEDED: Deadline Exceeded", "network"),
        ("acme.FrobError: RESOURCE_EXHAUSTED: Attempting to reserve 9.8G at the bottom of memory", "gpu-memory"),
        ("acme.FrobError: the driver version is insufficient for the runtime", "environment"),
        ("RuntimeError: please install flash-frob to use this kernel", "environment"),
        ("ValueError: frob requires accelerate >= 0.20", "environment"),
        ("RuntimeError: Max retries exceeded with url: /api", "network"),
        ("RuntimeError: the loss is nan at step 3", "numerical"),
        ("Exception: cublasFrob ran into an error", "cuda-error"),
        ("OSError: The paging file is too small", "host-memory"),
        ("ValueError: Unknown optimizer type frob", "config"),
        ("AssertionError: --frob and --bar are mutually exclusive", "config"),
        ("ValueError: didn't find ['y.txt'] in ['__key__', 'x.pyd']", "data"),
        ("ValueError: Can't read templates/frob.json", "storage"),
        ("ValueError: can't open out/step-5/model.safetensors: it does not exist", "checkpoint"),
        ("RuntimeError: shapes of the two frobs differ, one option is to pad", "code"),
        ("NotImplementedError: the operator doesn't exist, see https://example.org/fixes for the reasons", "code"),
        ("RuntimeError: frob", "code"),
        ("httpx.FrobError: frob", "network"),
        ("botocore.exceptions.FrobError: frob", "storage"),
        ("OSError: [Errno 101] Network is unreachable", "network"),
        ("OSError: [Errno 110] Connection timed out: '/lustre/frob'", "storage"),
        ("OSError: [Errno 8] Exec format error", "environment"),
        ("acme.HubError: 404 Not Found for url", "config"),
        ("acme.HubError: Private storage limit reached", "storage"),
        ("AttributeError: the dataset has no attribute frob", "code"),
    ],
)
def test_by_type_and_words(said: str, category: str) -> None:
    """The type counts first where it is telling, then what the words are about; shapes are the program's."""
    assert placed(said, MAIN) == category


@pytest.mark.parametrize(
    ("file", "function", "category"),
    [
        ("/workspace/megatron/training/arguments.py", "check", "config"),
        ("/workspace/lib/data/blend.py", "blend", "data"),
        ("/data/lin/train.py", "main", "code"),
        (f"{TORCH}/utils/checkpoint.py", "checkpoint", "code"),
        ("/workspace/dist_checkpointing/core.py", "load", "checkpoint"),
        (f"{TORCH}/_inductor/lowering.py", "lower", "compile"),
        (f"{TORCH}/nn/parallel/data_parallel.py", "forward", "code"),
        ("C:\\lib\\site-packages\\datasets\\load.py", "load", "data"),
    ],
)
def test_by_place(file: str, function: str, category: str) -> None:
    """Whose code raised it counts; recomputation is no checkpoint, and a folder at the root says nothing."""
    assert placed("RuntimeError: frob", MAIN, (file, function, "go()")) == category


@pytest.mark.parametrize(
    ("said", "file", "code", "category"),
    [
        ("acme.SaveError: Error while serializing: No space left on device (os error 28)", "io", "save()", "storage"),
        ("SafetensorError: I/O error: Disk quota exceeded (os error 122)", "safetensors/torch", "save()", "storage"),
        ("RuntimeError: FROB error: no kernel image is available", "ops", "frob()", "environment"),
        ("RuntimeError: NCCL Error 3: unhandled frob", "nccl", "frob()", "collective"),
        ("CalledProcessError: Command '['ninja', '-v']' returned non-zero exit status 1.", "run", "raise", "compile"),
        ("CalledProcessError: Command 'ssh node1 hostname' returned non-zero", "run", "raise", "network"),
        ("TypeError: frob() got an unexpected keyword argument 'a'", "ops", "frob(a=1)", "environment"),
        ("AttributeError: module 'acme' has no attribute 'frob'", "ops", "acme.frob", "environment"),
        ("TypeError: hparams must be a dictionary", "saving", "raise TypeError(", "config"),
        ("TypeError: hparams must be a dictionary", "saving", "frob(hparams)", "code"),
        ("RuntimeError: only full models can be frobbed", "frob", "raise RuntimeError(", "config"),
        ("RuntimeError: only full models can be frobbed", "frob", "_C.frob()", "code"),
        ("AssertionError: MPI world size 8 does not match torch world size 4", "comm", "assert a == b, \\", "config"),
        ("NotImplementedError: WG_BACKEND now just has ray mode.", "worker", "raise NotImplementedError(", "config"),
        ("ValueError: frob>=5 is required, but you have 4", "sp", "raise ValueError(", "environment"),
        ("ValueError: Require guidance scale >1 to frob", "sp", "raise ValueError(", "config"),
        ("OSError: [Errno 24] Too many open files: '/data/x'", "reader", "open(x)", "node"),
    ],
)
def test_what_libraries_say(said: str, file: str, code: str, category: str) -> None:
    """A full disk counts whatever the type; what Python code raises on purpose is a check, what native code is not."""
    assert placed(said, MAIN, (f"/opt/venv/lib/python3.11/site-packages/acme/{file}.py", "run", code)) == category


def test_a_program_that_is_not_there() -> None:
    """What subprocess does not find is a program, not a file of the job's."""
    child = ("/usr/lib/python3.11/subprocess.py", "_execute_child", "raise child_exception_type(")
    assert placed("FileNotFoundError: [Errno 2] No such file or directory: 'avconv'", MAIN, child) == "environment"


def test_in_a_layer() -> None:
    """Where layers compute, only words on settings count: tokens are tensors there."""
    layer = ("/workspace/megatron/core/transformer/moe/router.py", "forward", "raise")
    assert placed("AssertionError: tokens must share storage with the input", layer) == "code"
    assert placed("ValueError: frob must be set with --moe-frob", layer) == "config"


@pytest.mark.parametrize(
    ("code", "category"),
    [
        ('truth = item.non_tensor_batch["reward_model"]', "data"),
        ('width = cfg.model["width"]', "config"),
        ("self.gain = h['gain']  # focal loss", "config"),
        ("lr = hyp['lr0']", "config"),
        ("column = h[number]", "code"),
        ('weight = state_dict["lm_head.weight"]', "checkpoint"),
        ("kind = MODEL_KINDS[name]", "config"),
        ("layout = DATASET_CONFIGS[name]", "data"),
        ('seen = index["a"]', "code"),
    ],
)
def test_by_what_was_looked_into(code: str, category: str) -> None:
    """A key that is not there is missing in what the line looked into."""
    assert placed("KeyError: 'a'", ("/workspace/train.py", "main", code)) == category


def test_while_a_library_is_imported() -> None:
    """What falls over in a library's module or class body, while it is imported, does not fit the others."""
    said = "AttributeError: type object 'Mesh' has no attribute 'Mesh'"
    module = (f"{TORCH}/parallel.py", "<module>", "class Parallel:")
    assert placed(said, MAIN, module, (f"{TORCH}/parallel.py", "Parallel", "mesh: Mesh.Mesh = None")) == "environment"
    assert placed(said, MAIN, (f"{TORCH}/parallel.py", "<module>", "mesh = Mesh.Mesh")) == "environment"
    assert placed(said, MAIN, (f"{TORCH}/parallel.py", "run", "mesh = Mesh.Mesh")) == "code"


def test_where_checkpoints_are_loaded_or_saved() -> None:
    """A function whose name ends in loading or saving a checkpoint speaks of checkpoints, whatever stands before."""
    assert placed("ValueError: frob", MAIN, ("/workspace/net.py", "acme_load_checkpoint", "frob()")) == "checkpoint"


def test_assertion_without_words() -> None:
    """An assertion that says nothing is placed by what its line asks for."""
    asked = ("/workspace/train.py", "main", "assert args.width is not None")
    assert placed("AssertionError", asked) == "config"
    asked = ("/workspace/train.py", "main", "assert os.path.exists(path)")
    assert placed("AssertionError", asked) == "storage"


def raised(said: str, file: str, code: str) -> str:
    """Write a log that ends with an exception."""
    return f'{HEAD}  File "{file}", line 7, in run\n    {code}\n{said}\n'


@pytest.mark.parametrize(
    ("said", "file", "code", "category", "confidence"),
    [
        ("AttributeError: 'Net' object has no attribute 'a'", "/workspace/net.py", "self.a()", "code", "medium"),
        ("AttributeError: 'Net' object has no attribute 'a'", f"{TORCH}/net.py", "self.a()", "code", "low"),
        ("KeyError: 'text'", "/workspace/net.py", 'text = sample["text"]', "data", "low"),
    ],
)
def test_python_own_types(
    diagnose_logs: Diagnose, said: str, file: str, code: str, category: str, confidence: str
) -> None:
    """Python's own errors are the code's fault where the user's code raised them; else less is said of them."""
    root = diagnose_logs({"train.log": raised(said, file, code)}).root_cause
    assert root is not None
    assert (root.pattern, root.category, root.confidence) == ("python-exception", category, confidence)


def test_ray_carries_another_exception(diagnose_logs: Diagnose) -> None:
    """What Ray's error carries is the failure, with a traceback's head above it or without."""
    said = (
        "ray.exceptions.RayTaskError(FrobError): ray::train() (pid=12842, ip=10.0.0.4)\n"
        '  File "/workspace/train.py", line 146, in train\n    build()\n'
        '  File "/workspace/frob.py", line 52, in build\n    raise FrobError("out of tune")\n'
        "acme.FrobError: out of tune\n"
    )
    for log in (said, f'{HEAD}  File "/workspace/main.py", line 3, in <module>\n    ray.get(task)\n{said}'):
        root = diagnose_logs({"train.log": log}).root_cause
        assert root is not None
        assert root.evidence[0].text == "acme.FrobError: out of tune"


def test_glued_to_a_progress_bar(diagnose_logs: Diagnose) -> None:
    """The progress bar that a traceback's head is glued to is no progress after it."""
    log = "  4%|4 | 4/100 [00:10<05:00]\n  5%|5 | 5/100 [00:18<05:26,  3.44s/it]"
    log += raised("acme.FrobError: out of tune", "/workspace/net.py", "self.a()")
    assert diagnose_logs({"train.log": log}).verdict == "unknown"


def test_cause_of_an_exception_that_is_cut_out(diagnose_logs: Diagnose) -> None:
    """Words that say an exception led to another one are no talk that shows it was handled."""
    log = raised("pyarrow.lib.ArrowInvalid: Parquet file size is 0 bytes", "/workspace/net.py", "read()")
    log = log.replace("in run", "in read_table")
    log += "\nThe above exception was the direct cause of the following exception:\n"
    log += "    dataset = load()\n              ^^^^^^\n    other = load()\n    more = load()\n"
    assert diagnose_logs({"train.log": log}).verdict == "identified"


def test_names_listed_below_the_error(diagnose_logs: Diagnose) -> None:
    """The line that names the error is shown, not one below it that only lists names."""
    said = (
        'RuntimeError: Error(s) in loading state_dict for Net:\n\tMissing key(s) in state_dict: "a.weight", "a.bias". '
    )
    root = diagnose_logs({"train.log": raised(said, f"{TORCH}/module.py", "raise")}).root_cause
    assert root is not None
    assert root.evidence[0].text.endswith("loading state_dict for Net:")
    assert root.captures["keys"].startswith('"a.weight"')


def test_critical_and_cut(diagnose_logs: Diagnose) -> None:
    """What a logger says above a traceback that the log's end cut off is the failure; carets under code are not."""
    cut = "[2026-01-31 07:33:45][engine][CRITICAL] - " + HEAD + '  File "/workspace/net.py", line 7, in run\n    go()\n'
    said = "[2026-01-31 07:33:45][engine][CRITICAL] - training crashed: the frob is out of tune\n"
    for log, shown in ((cut + "    ^^^^\n", "    go()\n"), (said + cut, said)):
        diagnosis = diagnose_logs({"train.log": log})
        assert diagnosis.verdict == "unknown"
        assert diagnosis.root_cause is not None
        assert diagnosis.root_cause.evidence[0].text == shown.rstrip("\n")
