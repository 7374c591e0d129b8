"""The actor that holds a bundle of a lease on its node, and runs the agent there.

It is sent to the nodes by value: it uses Ray and the standard library alone.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import zlib
from typing import Any, Dict, List, Optional, Tuple

# How long the actor outlives its agent: so long can the executor ask how it ended. Then the lease is
# given back, also if there is no host any more.
LAST_WORDS_S = 30.0
_PDEATHSIG = 1


def key_of(sha256: str) -> bytes:
    """The key of a program in the cluster's key-value store."""
    return f"tunehost-agent-{sha256}".encode()


NAMESPACE = b"tunehost"


def environment(inherited: Dict[str, str]) -> Dict[str, str]:
    """The environment of an agent: the worker's, without anything of Ray's, such as its token: trials are not
    part of the cluster."""
    return {name: value for name, value in inherited.items() if not name.startswith(("RAY_", "TUNEHOST_"))}


def _sum(path: str) -> str:
    try:
        with open(path, "rb") as f:
            return hashlib.sha256(f.read()).hexdigest()
    except OSError:
        return ""


def program(path: str, sha256: str) -> str:
    """The path of the program on this node; it is fetched if it is not there yet."""
    if os.access(path, os.X_OK) and _sum(path) == sha256:
        return path
    folder = os.path.join(tempfile.gettempdir(), f"tunehost-agents-{os.getuid()}")
    os.makedirs(folder, mode=0o700, exist_ok=True)
    info = os.lstat(folder)
    if info.st_uid != os.getuid() or info.st_mode & 0o077:
        raise RuntimeError(f"{folder} must belong to the user that runs Ray, and be closed to others")
    kept = os.path.join(folder, sha256)
    if _sum(kept) == sha256:
        return kept
    from ray.experimental.internal_kv import _internal_kv_get

    content = _internal_kv_get(key_of(sha256), namespace=NAMESPACE)
    if content is None:
        raise RuntimeError("the cluster does not have the program of the agent any more")
    handle, new = tempfile.mkstemp(dir=folder)
    with os.fdopen(handle, "wb") as f:
        f.write(zlib.decompress(content))
    if _sum(new) != sha256:
        os.unlink(new)
        raise RuntimeError("the program of the agent arrived damaged")
    os.chmod(new, 0o700)
    os.replace(new, kept)
    return kept


class Bundle:
    """One bundle of a lease. agent is (path, sha256, secret), or None: then it only holds its place."""

    def __init__(self, lease: str, index: int, agent: Optional[Tuple[str, str, str]], gpus: float) -> None:
        self.lease, self.gpus = lease, gpus
        self.ended = threading.Event()
        self.status: Optional[int] = None
        self.last = ""
        if agent:
            path, sha256, secret = agent
            env = {**environment(dict(os.environ)), "TUNEHOST_AGENT": secret, "TUNEHOST_AGENT_BUNDLE": str(index)}
            started = threading.Event()
            failed: List[BaseException] = []
            command = [program(path, sha256), "agent"]
            threading.Thread(target=self._run, args=(command, env, started, failed), daemon=True).start()
            started.wait()
            if failed:
                raise failed[0]

    def _run(self, command: List[str], env: Dict[str, str], started: threading.Event, failed: List[BaseException]) -> None:
        """Runs the agent. This thread lives as long: the agent is killed when the thread that started it ends, and
        so when the actor is."""
        libc = ctypes.CDLL(None)
        try:
            process = subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True,
                                       preexec_fn=lambda: libc.prctl(_PDEATHSIG, signal.SIGKILL))
        except BaseException as e:
            failed.append(e)
            return
        finally:
            started.set()
        assert process.stderr
        for line in process.stderr:
            text = line.decode(errors="replace").strip()
            self.last = text or self.last
            print(f"{self.lease}: {text}", file=sys.stderr, flush=True)
        self.status = process.wait()
        self.ended.set()
        time.sleep(LAST_WORDS_S)
        self._give_back()

    def _give_back(self) -> None:
        import ray
        from ray.util import get_current_placement_group, remove_placement_group

        group = get_current_placement_group()
        if group is not None:
            remove_placement_group(group)
        ray.kill(ray.get_runtime_context().current_actor)

    def place(self) -> Tuple[str, List[str]]:
        """The node's id, and the bundle's GPUs."""
        import ray

        visible = os.environ.get("CUDA_VISIBLE_DEVICES", "")
        devices = [d for d in visible.split(",") if d] if self.gpus else []
        return ray.get_runtime_context().get_node_id(), devices

    def wait(self) -> str:
        """Waits until the agent has ended, and says how."""
        self.ended.wait()
        how = f"its agent ended with status {self.status}"
        if self.status is not None and self.status < 0:
            how = f"its agent was killed by signal {-self.status}" + (" (out of memory?)" if self.status == -signal.SIGKILL else "")
        return f"{how}: {self.last[-300:]}" if self.last else how


def actor_options(resources: Dict[str, float]) -> Dict[str, Any]:
    """Options of the actor that uses up a bundle with these resources."""
    others = {name: amount for name, amount in resources.items() if name not in ("CPU", "GPU", "memory")}
    options: Dict[str, Any] = {"num_cpus": resources.get("CPU", 0), "num_gpus": resources.get("GPU", 0)}
    if resources.get("memory"):
        options["memory"] = resources["memory"]
    if others:
        options["resources"] = others
    return options
