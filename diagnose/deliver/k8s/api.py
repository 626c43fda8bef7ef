"""Reads the Kubernetes API as plain JSON; the official client finds the cluster and the credentials."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from urllib.parse import quote, urlencode

from diagnose.typed import Any

_TIMEOUT = 30.0  # seconds of one answer
_LARGEST = 64 * 1024 * 1024  # bytes of one answer
_PAGE = 500  # objects of one answer
_PAGES = 40


class KubernetesError(Exception):
    """The cluster does not answer, or refuses; `status` is the HTTP status, 0 where there was no answer."""

    def __init__(self, message: str, status: int = 0) -> None:
        super().__init__(message)
        self.status = status


def connect(kubeconfig: str | None = None, context: str | None = None) -> Any:
    """Find the cluster: a kubeconfig, or, inside a pod, its service account; raises KubernetesError.

    Arguments: the file (default: $KUBECONFIG, ~/.kube/config) and the context in it.
    """
    from importlib import import_module

    try:
        # It has no types of its own in all versions.
        client: Any = import_module("kubernetes.client")
        config: Any = import_module("kubernetes.config")
    except ImportError:
        raise KubernetesError("the Kubernetes client is not installed; pip install 'train-diagnose[k8s]'") from None
    try:
        if kubeconfig is None and context is None:
            try:
                config.load_incluster_config()
                return client.ApiClient()
            except config.ConfigException:
                pass
        return config.new_client_from_config(kubeconfig, context)
    except (config.ConfigException, OSError, ValueError) as error:
        raise KubernetesError(f"no cluster is configured: {error}") from error


class Cluster:
    """The calls that are needed, and no others: all of them read."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def items(self, path: str, **query: str) -> list[dict[str, Any]]:
        """List objects, page by page; raises KubernetesError."""
        found: list[dict[str, Any]] = []
        more = ""
        for _ in range(_PAGES):
            asked = {**query, "limit": str(_PAGE), **({"continue": more} if more else {})}
            page = self._json(path, asked)
            found += [item for item in page.get("items") or [] if isinstance(item, dict)]
            more = (page.get("metadata") or {}).get("continue") or ""
            if not more:
                break
        return found

    def text(self, path: str, **query: str) -> bytes:
        """Read a log; raises KubernetesError."""
        return self._bytes(path, query)

    def watch(self, path: str, seconds: float, **query: str) -> Iterator[dict[str, Any]]:
        """Follow objects for `seconds`; yields what the API sends, raises KubernetesError."""
        import urllib3

        asked = {**query, "watch": "true", "timeoutSeconds": str(max(1, int(seconds)))}
        answer = self._open(path, asked, seconds + _TIMEOUT)
        rest = b""
        try:
            for block in answer.stream(64 * 1024):
                *lines, rest = (rest + block).split(b"\n")
                for line in lines:
                    if line.strip():
                        yield _object(line, path)
                if len(rest) > _LARGEST:
                    raise KubernetesError(f"{path}: an event is too large")
        except urllib3.exceptions.HTTPError as error:
            raise KubernetesError(f"the cluster stopped answering: {type(error).__name__}") from error
        finally:
            answer.close()

    def _json(self, path: str, query: Mapping[str, str]) -> dict[str, Any]:
        return _object(self._bytes(path, query), path)

    def _bytes(self, path: str, query: Mapping[str, str]) -> bytes:
        import urllib3

        answer = self._open(path, query, _TIMEOUT)
        try:
            data: bytes = answer.read(_LARGEST + 1)
        except urllib3.exceptions.HTTPError as error:
            raise KubernetesError(f"the cluster stopped answering: {type(error).__name__}") from error
        finally:
            answer.close()
        return data[:_LARGEST]

    def _open(self, path: str, query: Mapping[str, str], timeout: float) -> Any:
        import urllib3

        settings = self._client.configuration
        headers = {"Accept": "application/json, */*"}
        token = settings.get_api_key_with_prefix("BearerToken", "authorization")
        if token:
            headers["Authorization"] = token
        url = f"{settings.host}{quote(path)}" + (f"?{urlencode(query)}" if query else "")
        try:
            # The pool holds the certificates, and is the same in all versions of the client.
            answer = self._client.rest_client.pool_manager.request(
                "GET",
                url,
                headers=headers,
                preload_content=False,
                timeout=urllib3.Timeout(connect=10.0, read=timeout),
                retries=False,
                redirect=False,
            )
        except urllib3.exceptions.HTTPError as error:
            raise KubernetesError(f"the cluster cannot be reached: {type(error).__name__}") from error
        if answer.status != 200:
            words = _message(answer.read(4096))
            answer.close()
            raise KubernetesError(f"{path}: {answer.status} {words}".strip(), answer.status)
        return answer


def _object(data: bytes, path: str) -> dict[str, Any]:
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        raise KubernetesError(f"{path}: the answer is no JSON") from None
    if not isinstance(found, dict):
        raise KubernetesError(f"{path}: the answer is no object")
    return found


def _message(data: bytes) -> str:
    try:
        return str(json.loads(data)["message"])[:300]
    except (ValueError, KeyError, TypeError):
        return ""
