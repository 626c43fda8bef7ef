"""The manifests are what the documentation says they are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from diagnose.deliver.k8s.workload import KINDS
from diagnose.deliver.notify.settings import read_notifiers
from diagnose.deliver.serve.settings import read_serve
from diagnose.deliver.settings import parse_settings

FOLDER = Path(__file__).parents[3] / "deploy" / "kubernetes"


def _objects(name: str) -> list[dict[str, Any]]:
    return [each for each in yaml.safe_load_all((FOLDER / name).read_text()) if each]


def test_the_role_reads_what_is_needed_and_no_more() -> None:
    """No verb writes, no secret is read, and every kind that is followed may be listed."""
    (role,) = [each for each in _objects("watch.yaml") if each["kind"] == "ClusterRole"]
    allowed = {
        (group, resource, verb)
        for rule in role["rules"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }
    kinds = {(kind.path.split("/")[2], kind.plural, "list") for kind in KINDS}
    pods = {("", "pods", "list"), ("", "pods", "watch"), ("", "pods/log", "get"), ("", "events", "list")}
    assert allowed == kinds | pods


@pytest.mark.parametrize("name", ["watch.yaml", "serve.yaml"])
def test_containers_can_do_little(name: str) -> None:
    """Every container runs as a user, without capabilities, on a read-only file system."""
    (deployment,) = [each for each in _objects(name) if each["kind"] == "Deployment"]
    pod = deployment["spec"]["template"]["spec"]
    assert pod["securityContext"]["runAsNonRoot"]
    for container in pod["containers"]:
        assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
        assert container["securityContext"]["readOnlyRootFilesystem"]


@pytest.mark.parametrize("name", ["watch.yaml", "serve.yaml"])
def test_the_settings_are_valid(name: str) -> None:
    """The configuration in the manifests has no mistake."""
    (settings,) = [each for each in _objects(name) if each["kind"] == "ConfigMap"]
    found = parse_settings("diagnose.yaml", settings["data"]["diagnose.yaml"].encode())
    known = {"CHAT_URL": "slack://a/b/c", "DIAGNOSE_TOKEN": "0123456789abcdef"}
    assert not found.troubles
    assert not read_notifiers(found.notify.entries, known)[1]
    assert not read_serve(found.serve, environment=known)[1]
