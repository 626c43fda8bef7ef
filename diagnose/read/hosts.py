"""Tells host names from other words that carry a number."""

from __future__ import annotations

import re

from diagnose.lazy import Lazy

_HOST = Lazy(r"[a-z](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z][a-z0-9-]*)*", re.ASCII)
_ADDRESS = Lazy(r"\d{1,3}(?:\.\d{1,3}){3}", re.ASCII)
_STEM = Lazy(r"[a-z]+", re.ASCII)

# Words that programs count with: `step-100: …`, `bf16: …`, `slurmstepd-node-5: …` are not hosts.
_COUNTED_WORDS = """
adam alpha arg args attempt axis batch beta bf bin block book bucket build cell chapter checkpoint chunk
ckpt clang class col column conv core cp cu cuda cudnn cycle device dim dp dtype elastic embedding ep epoch
error example exp experiment expert f fc figure file float fn fold fp frame func gcc gcp gen gfx glm global
gpt group h head hidden id idx index input int item iter iteration job jobs key l layer lib line llama ln
local loss lr m md microbatch mistral mixtral mlp model module norm note opt output p page param part
partition pass path pg phase phi pid pip pipeline point pos pp process python q query qwen rank ranks
replica result round row run runs s sample section seed seq sha shard slurmctld slurmd slurmdbd slurmstepd
split srun stage step table task tensor test thread time timeout token top torch tp train trial tuple type
uint utf v val value var vec version w warning weight x y z
"""
# Network interfaces and disks, which the kernel names in the same way: `eno1: NIC Link is Down`.
_DEVICES = frozenset(("bond", "eno", "enp", "ens", "eth", "ib", "ibp", "ibs", "lo", "mlx", "nvme", "roce", "veth"))
_COUNTED = frozenset(_COUNTED_WORDS.split()) | _DEVICES


def is_host(name: str) -> bool:
    """Is this a host name, as launchers print it before each line: lower case, with a number, or an IPv4 address?"""
    if len(name) > 63 or not name:
        return False
    if name[0].isdigit():
        return _ADDRESS.fullmatch(name) is not None
    if not _HOST.fullmatch(name):
        return False
    first = name.partition(".")[0]
    stem = _STEM.match(first)
    digits = sum(map(str.isdigit, first))
    if not digits or stem is None or stem[0] in _COUNTED:
        return False
    return digits > 1 or "-" in first or len(stem[0]) > 1
