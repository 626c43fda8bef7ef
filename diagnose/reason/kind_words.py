"""What types, words and places of exceptions that no pattern knows say of their kind."""

from __future__ import annotations

import re
from collections.abc import Sequence

from diagnose.lazy import Lazy

LIBRARY = Lazy(r"[/\\](?:site-packages|dist-packages)[/\\]|/lib/python\d|^<(?!string)|/opt/conda/lib/|/usr/lib/")
INNERMOST = 5  # frames that decide; the outer ones are the same in every failure


def _table(rows: Sequence[tuple[str, Sequence[str]]], flags: int = 0) -> tuple[tuple[str, Lazy], ...]:
    return tuple((category, Lazy("|".join(parts), flags)) for category, parts in rows)


# Types that say it by themselves, whatever the words.
SURE = {
    "ModuleNotFoundError": "environment",
    "ImportError": "environment",
    "PackageNotFoundError": "environment",
    "DistributionNotFound": "environment",
    "VersionConflict": "environment",
    "JSONDecodeError": "data",
    "UnicodeDecodeError": "data",
    "UnidentifiedImageError": "data",
    "DecompressionBombError": "data",
    "ParserError": "data",
    "EmptyDataError": "data",
    "ArrowInvalid": "data",
    "ArrowTypeError": "data",
    "CastError": "data",
    "DatasetGenerationError": "data",
    "DatasetGenerationCastError": "data",
    "DataFilesNotFoundError": "data",
    "DatasetNotFoundError": "data",
    "MemoryError": "host-memory",
    "OutOfMemoryError": "gpu-memory",
    "ResourceExhaustedError": "gpu-memory",
    "DistBackendError": "collective",
    "DistStoreError": "collective",
    "CheckpointException": "checkpoint",
    "CheckpointError": "checkpoint",
    "CheckpointingException": "checkpoint",
    "UnpicklingError": "checkpoint",
    "SafetensorError": "checkpoint",
    "ArgumentError": "config",
    "ArgumentTypeError": "config",
    "MisconfigurationException": "config",
    "ValidationError": "config",
    "ConfigAttributeError": "config",
    "ConfigKeyError": "config",
    "ConfigCompositionException": "config",
    "MissingMandatoryValue": "config",
    "MissingConfigException": "config",
    "InterpolationKeyError": "config",
    "InstantiationException": "config",
    "HFValidationError": "config",
    "StrictDataclassFieldValidationError": "config",
    "UsageError": "config",
    "NoSuchOption": "config",
    "BadParameter": "config",
    "MissingParameter": "config",
    "BackendCompilerFailed": "compile",
    "InductorError": "compile",
    "CompilationError": "compile",
    "CompileError": "compile",
    "CppCompileError": "compile",
    "TorchRuntimeError": "compile",
    "FloatingPointError": "numerical",
    "GatedRepoError": "environment",
    "RepositoryNotFoundError": "config",
    "RevisionNotFoundError": "config",
    "EntryNotFoundError": "config",
    "MaxRetryError": "network",
    "NewConnectionError": "network",
    "ProxyError": "network",
    "SSLError": "network",
    "ReadTimeout": "network",
    "ReadTimeoutError": "network",
    "ConnectTimeout": "network",
    "ChunkedEncodingError": "network",
    "RemoteDisconnected": "network",
    "gaierror": "network",
    "URLError": "network",
    "ConnectionError": "network",
    "ConnectionRefusedError": "network",
    "ConnectionResetError": "network",
    "ConnectionAbortedError": "network",
    "ClientConnectorError": "network",
    "ServerDisconnectedError": "network",
    "HfHubHTTPError": "network",
    "NoCredentialsError": "storage",
    "NoSuchBucket": "storage",
    "NoSuchKey": "storage",
}
# Packages that speak of one thing only, by the first parts of the type's name.
PACKAGES = (
    ("network", ("httpx.", "httpcore.", "urllib3.", "requests.", "aiohttp.", "ssl.", "http.client.", "grpc.", "etcd")),
    ("storage", ("azure.", "botocore.", "boto3.", "google.api_core.", "google.cloud.storage", "s3fs.", "gcsfs.")),
    ("data", ("pyarrow.", "pandas.", "datasets.", "webdataset.", "PIL.", "tarfile.", "zipfile.", "jinja2.")),
    ("config", ("omegaconf.", "hydra.", "pydantic", "jsonargparse.", "click.", "typer.", "yaml.")),
    ("compile", ("torch._dynamo.", "torch._inductor.", "triton.")),
    ("checkpoint", ("safetensors",)),
)
# What the numbers of the system's errors speak of; all others may be a file's.
NUMBER = Lazy(r"\[(?:Errno|WinError) (\d{1,5})\]")
NUMBERS = {
    **dict.fromkeys(("32", "99", "100", "101", "103", "104", "110", "111", "112", "113", "-2", "-3"), "network"),
    **dict.fromkeys(("8", "26"), "environment"),
    **dict.fromkeys(("23", "24"), "node"),
    "12": "host-memory",
}
QUOTED_PATH = Lazy(r"['\"][^'\"\s]*/[^'\"]*['\"]")
# Types that count where neither words nor frames say more.
WEAK = {
    "EOFError": "data",
    "OSError": "storage",
    "IOError": "storage",
    "FileNotFoundError": "storage",
    "FileExistsError": "storage",
    "NotADirectoryError": "storage",
    "PermissionError": "storage",
    "IsADirectoryError": "storage",
    "ClientError": "storage",
    "BotoCoreError": "storage",
    "HTTPError": "network",
    "TimeoutError": "network",
    "BrokenPipeError": "network",
}

# What the words name whatever the type: a full disk under any writer, a GPU's own fault under any call.
ABOVE_TYPES = _table((
    ("storage", (
        r"\bno space left\b|\bdisk quota exceeded\b|\bstale (?:nfs )?file handle\b|\bStorageFull\b|"
        r"\bread-only file system\b|\b(?:read|write)\(\): fd \d+ failed|\bfile write failed\b",
    )),
    ("gpu-hardware", (r"\buncorrectable (?:ecc|nvlink)\b|\bfallen off the bus\b|\bGPU is lost\b",)),
    ("environment", (
        r"\bno kernel image\b|\binvalid device function\b|\bkernel image is invalid\b|\bInvalidImage\b|"
        r"\bsystem not yet initialized\b|\bforward compatibility was attempted\b|\bINVALID_IMAGE\b",
        r"\bversion [`'\"]?(?:GLIBC|GLIBCXX|CXXABI)|\bsymbol \S{1,120} (?:version \S{1,80} )?not (?:defined|found)\b",
    )),
    ("config", (r"\binvalid device ordinal\b",)),
), re.IGNORECASE)  # fmt: skip
# What the words name beyond doubt: counts before the place.
PLAIN_WORDS = _table((
    ("gpu-memory", (r"\b(?:cuda|hip|gpu|device|vram)\b.{0,80}out of memory", r"not enough (?:gpu|vram|cuda) memory",
        r"\bresource[_ ]exhausted\b.{0,80}\b(?:memory|hbm|allocate|reserve)\b",
        r"_STATUS_ALLOC_FAILED\b|\bOUT_OF_RESOURCES\b|\bKV cache\b.{0,200}\bgpu_memory")),
    ("host-memory", (
        r"(?:cannot|unable to|failed to|can't) allocate (?:host )?memory",
        r"not enough (?:ram|memory)\b",
        r"paging file is too small",
        r"\bkilled by signal: (?:Killed|Bus error)|\bmemory cgroup out of memory\b",
    )),
    ("network", (r"\bremote process exited or there was a network error\b|\bnccl error\b.{0,120}\bunhandled system error\b",)),
    ("config", (r"\bnccl error\b.{0,120}\binvalid usage\b",)),
    ("collective", (
        r"\b(?:nccl|rccl|hccl) error\b|\bcommunicator was aborted\b|\bwatchdog caught collective\b|\boneccl\b|\bdeepep error: timeout\b",
    )),
    ("environment", (
        r"\bdoes(?:n't| not) have \w{1,20} built in\b|\brequires? \w{1,20} extensions\b|"
        r"\bdriver (?:version )?(?:is )?(?:insufficient|too old)\b",
    )),
    ("cuda-error", (
        r"\bcu(?:blas|dnn|solver|sparse|fft)\w*\b",
        r"\b(?:cuda|hip|npu function|cuda runtime) error\b|\billegal memory access\b",
    )),
    ("environment", (
        r"\b(?:not|n't) (?:been )?(?:compiled|built) with\b|\bcuda setup failed\b",
        r"\bno (?:supported |nvidia |cuda[- ]capable |cuda |hip |rocm |amd )?(?:gpus?|accelerators?|devices?|drivers?)"
        r"(?: backend)?(?: (?:is|are|was|were))? (?:found|available|detected|on your)\b|\bno nvidia driver\b",
        r"\b[A-Za-z][\w.-]{1,40}(?:>=|==|<=)v?\d+\.\d|(?:>=|<=|==|<|>) ?v?\d+\.\d+\.\d|\bversions? (?:(?:>=|<=|==|<|>) ?)?v?\d+\.\d",
        r"\b(?:without|needs?|requires?) (?:te|transformer[ -]?engine|apex|triton|cuda|nvcc)\b(?! (?:error|graph|out))",
        r"\b(?:te|transformer[ -]?engine|apex|numpy|bitsandbytes|triton|cuda|nccl|deepspeed)\b.{0,40}\bnot (?:available|present|installed)\b",
        r"\bbinary incompatib\w+|\bremoved in (?:the )?\w+ v?\d|\bcustom (?:c\+\+|cuda) (?:ops?|extensions?)\b|\bcuda arch\b|\bsm_?\d\d\b",
        r"\b(?:nvcc|CUDA_HOME|CUDA_PATH)\b.{0,60}\b(?:not|missing|unset)\b|\bversion\b.{0,60}\bdoes not match\b",
        r"\bcould not run '[^']{1,80}' with arguments from the '\w{1,40}' backend\b",
        r"\b(?:backend|package|library|extension|plugin)s? (?:is|are) required\b|^\w{2,30} (?:is |are )?required (?:to|for)\b",
        r"\b(?:pip|pip3|conda|mamba|apt|apt-get|uv) (?:install|add)\b",
        r"\b(?:is|are|was|were) (?:not|n't) (?:installed|importable|built|compiled)\b",
        r"\b(?:isn't|aren't) installed\b",
        r"\b(?:compiled|built) (?:without|with(?:out)? (?:a )?different|against)\b",
        r"\bplease (?:re)?(?:install|build|upgrade|update|downgrade)\b",
        r"\brequires? (?:the )?[\w.\[\]-]{1,40} (?:to be installed|package|library|module)\b",
        r"\b(?:to be|must be|should be|have|has|need|needs) installed\b",
        r"\brequires? (?:at least )?(?:[\w-]{1,30} ){0,3}(?:version )?(?:>=|<=|==|~=|>|<) ?v?\d",
        r"\b(?:versions?|releases?) of \S{1,40} .{0,60}(?:required|incompatible|not (?:supported|"
        r"compatible)|too old|mismatch)",
        r"\b(?:incompatible|mismatch(?:ed|ing)?|unsupported) (?:\S{1,30} )?versions?\b|"
        r"\bversions? (?:mismatch|conflict)",
        r"\b(?:cuda|gpu|device|hardware) (?:device )?(?:is )?(?:not available|unavailable|not found)\b",
        r"\bcompute capability\b|\b(?:ampere|hopper|turing|volta)\b.{0,60}\b(?:or newer|required|only)",
        r"\bnot supported (?:on|by) (?:this|your|the (?:current|given)) (?:platform|system|device|gpu|"
        r"hardware|machine|os)\b",
        r"\b(?:undefined symbol|cannot open shared object|no module named|cannot import name|DLL load failed)\b",
        r"\bapi[_ -]?key\b|\b(?:not logged in|log ?in first|access token)\b",
        r"\bcommand not found\b|\bexecutable (?:not found|could not be found)\b",
    )),
    ("environment", (r"\b40[13]\b.{0,20}(?:client error|unauthori[sz]ed|forbidden)|client error '40[13]",)),
    ("config", (r"\b404\b.{0,20}(?:client error|not found)|client error '404",)),
    ("storage", (
        r"\bno space left\b|\b(?:disk )?quota exceeded\b|\bstorage limit\b|\bdisk (?:is )?full\b|\bnot enough disk\b",
    )),
    ("network", (
        r"\bbroken pipe\b|\baddress already in use\b|\bEADDRINUSE\b|\bsocket timeout\b|\bhost not found\b",
        r"\bunable to find address\b|\bconnect\(\) timed out\b|\berror communicating with\b|\bCAS service error\b",
        r"\bmax retries exceeded\b|\bname resolution\b|\bgetaddrinfo\b|\bno route to host\b",
        r"\bconnection (?:was )?(?:refused|reset|aborted|timed out|error|closed|broken)\b",
        r"\b(?:failed|unable|couldn't|could not|cannot|can't) (?:to )?(?:connect|reach|resolve|establish)\b",
        r"\bdeadline[_ ]exceeded\b",
        r"\bread timed out\b|\btimed? ?out (?:while )?(?:connecting|downloading)\b|"
        r"\b50[0234] (?:server error|internal|bad gateway|service)",
    )),
    ("numerical", (
        r"\b(?:loss|gradients?|grad(?:ient)?[ _]norm|logits|outputs?|weights?|values?) (?:is|are|was|"
        r"were|has|have|contains?|became|becomes?|went) .{0,20}\b(?:nan|inf|infinite|non-?finite)\b",
        r"\b(?:nan|inf|non-?finite)s? (?:loss|gradients?|values?|detected|found|encountered|or)\b|"
        r"(?<![\w/.'\"-])nan(?![\w/'\"-])|\bisnan\b|\bisfinite\b|\bfound (?:nan|inf)\b|\bloss scale already at minimum\b",
    )),
    ("collective", (r"\bgloo\b",)),
    ("checkpoint", (
        r"\berror\(s\) in loading state_dict\b|\bsize mismatch for \S{1,120}: copying\b|\bweights only load failed\b",
        r"\bshared tensors\b|\bsave a non[- ]contiguous\b|\btrying to set a tensor of shape\b|\bcheckpoint ?value\b|"
        r"\bcheckpoint being loaded\b|\bin the checkpoint\b|\bloaded state dict\b|\binvalid load key\b|\bmagic number\b",
    )),
    ("config", (
        r"\b(?:must|should) (?:be )?(?:evenly )?(?:divisible|divide)\b|\bnot (?:evenly )?divisi?ble\b|"
        r"\bbatch related parameters\b|\bhas no revision\b|\binvalid repo_id\b",
    )),
    ("data", (
        r"\b(?:pad(?:ding)? token|chat[_ ]template|BuilderConfig|num_samples=0|class (?:values|labels?)|label (?:values|class))\b",
        r"\bequal size\b.{0,60}\bentry \d|\blist of batch\b|\bdefault_collate\b|\bText(?:Encode)?Input\b|"
        r"\bexpected sequence of length \d|\bunable to create tensor\b|\bcouldn't find a dataset\b",
    )),
    ("compile", (r"\berror (?:building|compiling)\b|\bfailed to compile\b|\bcompil(?:ation|e) (?:failed|error)\b|\bptxas\b|\bnvrtc\b",)),
    ("storage", (r"\baccess ?denied\b|\bdefault credentials\b",)),
    ("code", (r"\btrying to backward through the graph a second time\b|\bplease report a bug to\b",)),
), re.IGNORECASE)  # fmt: skip

# Whose code raised it says what kind of thing is wrong, never which. The first that fits the innermost frames decides.
PLACES = _table((
    ("config", (
        r"/arguments\.py", r"transformer_config\.py", r"model_parallel_config\.py", r"argparse\.py",
        r"/config(?:s|uration)?(?:/|\.py|_\w+\.py)",
        r"_config\.py",
        r"/(?:omegaconf|hydra|jsonargparse|simple_parsing|tyro)/",
        r"/hf_argparser\.py", r"/training_args\w*\.py", r"/(?:hparams|hparser|args_schema|options)\w*\.py",
        r" in (?:validate_args|__post_init__|finalize|parse_args|parse_args_into_dataclasses|"
        r"check_config|validate_config\w*|_verify_args)$",
    )),
    ("checkpoint", (
        r"(?<!utils/)(?<!utils\\)\bcheckpoint\w*\.py",
        r"(?<!_)checkpoint/",
        r"/dist_checkpointing/",
        r"serialization\.py",
        r"/safetensors/", r"state_dict\w*\.py",
        r" in (?:load_state_dict|\w*load_checkpoint\w*|\w*save_checkpoint\w*|load_pretrained\w*|"
        r"_?resume\w*|save_pretrained)$",
    )),
    ("data", (
        r"(?<=[\w.-])/data(?:sets?|loaders?)?/(?:[^/\s]+/){0,2}[^/\s]+\.py\b",
        r"data(?:set|loader|_loader|_utils|module)?s?\.py", r"dataset\w*\.py", r"data_(?!parallel)\w+\.py",
        r"/loader\.py",
        r"/(?:webdataset|wids|litdata|streaming)/",
        r"/PIL/",
        r"/(?:pyarrow|datasets|pandas|librosa|decord)/",
        r"tokeniz\w*",
        r"collat\w+",
        r"chat_template\w*",
        r"/(?:jinja2|template)/",
        r"/processing_\w+\.py",
        r"/image_processing_\w+\.py",
        r" in (?:__getitem__|collate\w*|_?read_\w+|_?tokenize\w*|load_batch|next_batch|get_batch\w*|"
        r"_?preprocess\w*|apply_chat_template|encode\w*)$",
    )),
    ("collective", (r"distributed_c10d\.py", r"/distributed/(?:rendezvous|run|elastic)")),
    ("compile", (
        r"/torch/(?:_dynamo|_inductor|_functorch|_higher_order_ops|fx/passes)/|/torchinductor/",
        r"/triton/(?:compiler|runtime|language|backends)/",
        r"/cpp_extension\.py",
    )),
    ("network", (
        r"/(?:wandb|mlflow|neptune|comet_ml|requests|urllib3|httpx|httpcore|aiohttp|grpc)/",
        r"/urllib/request\.py",
    )),
))  # fmt: skip
# Checkpointing of activations has nothing to do with checkpoints; an import is placed by who asks for it.
NO_PLACE = Lazy(
    r"/torch/utils/checkpoint\.py|/activation_checkpointing/|/importlib/|/jax/_src/|<frozen |in checkpoint$"
)

# What the words of an error that somebody raised on purpose are about: counts where no place tells.
TELLING_WORDS = _table((
    ("config", (
        r"(?<![\w-])--[a-z][\w-]+",
        r"\b(?:arguments?|options?|flags?|hyper-?parameters?|settings?|config(?:uration|s|ured)?|yaml)\b",
        r"\b(?:must|should|has to|have to|needs to|need to) (?:not )?be (?:one of|set|specified|"
        r"either|provided|given|enabled|disabled|equal|divisible|used|positive|non-?negative|greater|"
        r"less|larger|smaller|at least|at most|between|in\b|a multiple|true|false|>|<|=)",
        r"\bdivisible by\b|\bmultiple of\b|\bmutually exclusive\b|\bat the same time\b|"
        r"\bsimultaneously\b|\btogether with\b|\bin combination with\b",
        r"\b(?:cannot|can not|can't|should not|must not) be (?:used|set|specified|enabled|combined|both)\b",
        r"\bonly (?:supports?|supported|works?|available|allowed|one of|implemented)\b|\b(?:is|"
        r"are) not (?:yet )?(?:supported|implemented|allowed|compatible|recogni[sz]ed|a valid)\b|"
        r"\b(?:not|un)supported\b|\b(?:doesn't|does not|don't|do not) support\b|\bunrecogni[sz]ed\b",
        r"\b(?:unknown|invalid|unexpected|wrong|illegal) (?:\w+ ){0,2}(?:type|name|model|optimi[sz]er|"
        r"scheduler|strategy|method|mode|value|choice|option|backend|task|stage|format|loss|precision|"
        r"dtype|device)\b",
        r"\b(?:expected|available|possible|valid|supported|allowed) (?:one of|options?|choices|values|"
        r"types?|names?|modes?|models?|keys)\b|\bchoose (?:from|one of|between)\b",
        r"\bplease (?:set|specify|provide|pass|choose|select|enable|disable|use|check|define|"
        r"make sure|ensure|increase|decrease|reduce)\b|\byou (?:must|need to|have to|should) (?:set|"
        r"specify|provide|pass|use|define)\b",
        r"`\w+ ?=|\b\w+_\w+=\w+",
    )),
    ("checkpoint", (
        r"\bcheckpoints?\b|\bstate[_ ]dict\b|\bsafetensors\b|\.(?:pt|pth|ckpt|bin|safetensors)\b|"
        r"\bpytorch_model\b|\bresum(?:e|ing)\b",)),
    ("data", (
        r"\bdata ?sets?\b|\bdata ?loaders?\b|\b(?:training|train|eval|test|input) data\b|\bsamples?\b|"
        r"\bcolumns?\b|\blabels?\b|\brows?\b|\brecords?\b|\bcorpus\b|\bshards?\b|\bannotations?\b",
        r"\btoken(?:s|i[sz]er|i[sz]ed|_ids)?\b|\bvocab\w*\b|\bpadding\b|\btruncat\w+|"
        r"\bchat[_ ]template\b|\bconversations?\b|\bprompts?\b|\bspecial tokens?\b",
        r"\.(?:jsonl?|csv|tsv|parquet|arrow|tar|npy|npz|lmdb|h5|hdf5|idx|wav|mp4|jpe?g|png)\b|"
        r"\bimages?\b|\baudio\b|\bvideos?\b|\bdecod(?:e|ing)\b|\butf-?8\b|__key__",
    )),
), re.IGNORECASE)  # fmt: skip
# How a check that somebody wrote speaks where it refuses what it was asked for.
REFUSALS = ("AssertionError", "ValueError", "NotImplementedError", "Exception")
REFUSED = Lazy(
    r"(?i)\b(?:must|should|needs?|requires? (?!grad)|requires?d|cannot|can ?not|can't|can only|only|disable|enabled?|"
    r"incompatible|not compatible|deprecated|no longer|at (?:most|least)|conflicting|both|is set but|does(?:n't| not) work|"
    r"not support(?:ed)?|no support|invalid|unknown|must equal|greater than|less than|smaller than|larger than|"
    r"not enough)\b"
)
# What only a program does wrong, however the refusal speaks.
MISUSED = Lazy(
    r"(?i)\brequires_grad\b|\.grad\b|\bbackward(?:\(|\b)|\bin-?place\b|\bautograd\b|\bprocess group\b|\bcurrent state\b|"
    r"<class '|\bpassed\b|\bcalled\b|\bnesting\b|\bmeta device\b|\breplay"
)
# A file that a name points at: which kind of file it is counts more than that it is not there.
ABSENT = Lazy(
    r"(?i)(?:no such file|does ?n[o']t exist|not found|cannot (?:open|read|find)|can'?t (?:open|"
    r"read|find)|unable to (?:open|read|find)|missing)\b"
)
ABSENT_FILES = _table((
    ("checkpoint", (r"checkpoint|ckpt|\.(?:pt|pth|bin|safetensors)\b|pretrained|weights",)),
    ("config", (r"\.(?:ya?ml|toml|cfg|ini)\b|config",)),
    ("data", (
        r"\bdata|/(?:train|val|valid|test|eval|corpus|images?|audio)\w*[/.]",
        r"\.(?:jsonl|csv|tsv|parquet|arrow|tar|npy|npz|lmdb|h5|hdf5|idx|wav|mp4|jpe?g|png)\b",
    )),
), re.IGNORECASE)  # fmt: skip
LINKS = Lazy(r"\bhttps?://\S+")
PATH = Lazy(r"[\w.~-]*/[\w./~-]+|\b[\w-]+\.(?:json|ya?ml|toml|txt|cfg|ini)\b")
SHAPES = Lazy(r"(?i)\b(?:shapes?|dimensions?|dims?|sizes?|tensors?|dtypes?|broadcast|rank \d tensor|mat1)\b")
GENERATED = Lazy(r"/torchinductor_\w+/")  # code that a compiler wrote: what it is given is the program's
# What an assertion without words asks for stands on its line.
ASSERTED = _table((
    ("storage", (r"assert .{0,80}\b(?:exists|isfile|isdir|is_file|is_dir)\(",)),
    ("numerical", (r"assert .{0,80}\b(?:isnan|isinf|isfinite|nan|inf)\b",)),
    ("environment", (r"assert .{0,80}\b(?:cuda\.is_available|is_available|__version__|find_spec)\b",)),
    ("config", (
        r"assert .{0,60}\b(?:self\.)?(?:_?args|cfg|conf|config|opts?|options|hparams?|h?params|flags|"
        r"FLAGS)\b[.\[]|assert .{0,120} % ",)),
    ("data", (r"assert .{0,80}\b(?:dataset|tokenizer|samples?|labels?|images?|input_ids|vocab\w*|examples?)\b",)),
))  # fmt: skip
# A key or index that is not there: what it was looked for in stands on the line that looked.
LOOKUPS = ("KeyError", "IndexError")
LOOKED_IN = _table((
    ("data", (r"\btarget -?\d+ is out of bounds\b",)),
    ("config", (
        r"\b\w*(?:cfg|conf|config|args|opts?|options|hparams?|settings|environ|kwargs)\b(?:\.\w+(?:\(\))?)*\[",
        r"\b(?:\w*config_dict|cfg_dict|hyps?|hps|hyp_params)\[|\bh\[['\"]",
        r"\bregistry\b",
    )),
    ("checkpoint", (r"\b\w*(?:state_dict|checkpoint|ckpt|weights|state|sd)\b(?:\.\w+)*\[",)),
    ("data", (
        r"\b\w*(?:data|dataset|datasets|sample|samples|example|examples|batch|row|item|record|feature|features|entry|line|ann"
        r"|anns|annotation|annotations|conversation|message|messages|conv|turn|df|frame|meta|label|labels|tensor_batch|inputs)"
        r"\b(?:\.\w+)*\[",
    )),
), re.IGNORECASE)  # fmt: skip
BARE_WORDS = Lazy(
    r"unexpected keyword argument|positional arguments?\b|has no attribute|is not (?:callable|subscriptable|defined)"
)
MISFITS = Lazy(r"^\S{1,200}\(\) got an unexpected keyword argument|^module [`'\"]?[\w.]{1,120}[`'\"]? has no attribute")
ENVIRONMENT_KEY = Lazy(r"/os\.py in __getitem__$")
# A command that ended badly: what it was for.
COMMANDS = _table((
    ("network", (r"^\W*(?:ssh|scp|rsync|pdsh|ping|curl|wget)\b",)),
    ("environment", (r"\b(?:pip3?|conda|apt|apt-get|nvidia-smi|uv|nvcc', '--version|which)\b",)),
    ("compile", (r"\b(?:ninja|nvcc|gcc|g\+\+|clang|c\+\+|cmake|make|ptxas|hipcc|ld)\b",)),
    ("storage", (r"\b(?:gsutil|aws|s5cmd|azcopy|rclone|cp|mv|tar|mount|gcloud storage)\b",)),
))  # fmt: skip
OF_CODE = ("AttributeError", "NameError", "TypeError", "UnboundLocalError", "ZeroDivisionError")
TABLES = Lazy(r"\b_?[A-Z][A-Z0-9_]{3,}\[")  # a constant that lists what a release knows
# Where layers compute, words like tokens or labels are the names of tensors.
MODEL = Lazy(
    r"/(?:transformer|moe|layers?|modules|ops|kernels?|attention)/|/modeling_\w+\.py|/models?/\w+/model\w*\.py"
)
