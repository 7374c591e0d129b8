"""Helpers for trainables and searchers."""

from __future__ import annotations

import os
import subprocess
import time
from typing import Any, Dict, List, Optional, Union

__all__ = ["validate_warmstart", "wait_for_gpu"]


def wait_for_gpu(
    gpu_id: Union[None, int, str] = None,
    target_util: float = 0.01,
    retry: int = 20,
    delay_s: int = 5,
    gpu_memory_limit: Optional[float] = None,
) -> bool:
    """Waits until at most the part target_util of a GPU's memory is used, and returns True. gpu_id is its number or its
    UUID, by default the trial's first one. It looks retry times, delay_s seconds apart. gpu_memory_limit is not used,
    as in Ray. RuntimeError: there is no GPU, or its memory was not freed; ValueError: there is none with this id."""
    wanted = _trials_own() if gpu_id is None else str(gpu_id)
    for _ in range(int(retry)):
        used = _used()
        if wanted not in used:
            raise ValueError(f"there is no GPU {wanted}; there are {', '.join(used)}")
        if used[wanted] <= target_util:
            return True
        time.sleep(delay_s)
    raise RuntimeError("GPU memory was not freed.")


def _trials_own() -> str:
    first = os.environ.get("CUDA_VISIBLE_DEVICES", "").partition(",")[0]
    if not first:
        raise RuntimeError('the trial has no GPU: write tune.with_resources(train, {"gpu": 1})')
    return first


def _used() -> Dict[str, float]:
    """The part of each GPU's memory that is used, by its number and by its UUID."""
    query = ["nvidia-smi", "--query-gpu=index,uuid,memory.used,memory.total", "--format=csv,noheader,nounits"]
    try:
        out = subprocess.run(query, check=True, capture_output=True, text=True).stdout
    except (OSError, subprocess.CalledProcessError) as e:
        raise RuntimeError(f"the GPUs cannot be asked: {e}") from e
    found = {}
    for line in out.splitlines():
        index, uuid, used, total = (field.strip() for field in line.split(","))
        found[index] = found[uuid] = float(used) / float(total)
    return found


def validate_warmstart(
    parameter_names: List[str],
    points_to_evaluate: Any,
    evaluated_rewards: Any,
    validate_point_name_lengths: bool = True,
) -> None:
    """Checks what a Searcher begins with. TypeError: the points are no list of dicts or lists, or the rewards no list;
    ValueError: a point has another number of parameters, or there are not as many rewards as points."""
    if not points_to_evaluate:
        return
    if not isinstance(points_to_evaluate, list):
        raise TypeError(f"points_to_evaluate is a {type(points_to_evaluate).__name__}: expected a list")
    for point in points_to_evaluate:
        if not isinstance(point, (dict, list)):
            raise TypeError(f"points_to_evaluate has {point!r:.60}: expected lists or dicts")
        if validate_point_name_lengths and len(point) != len(parameter_names):
            raise ValueError(f"the point {point!r:.60} has not as many parameters as {parameter_names!r:.60}")
    if not evaluated_rewards:
        return
    if not isinstance(evaluated_rewards, list):
        raise TypeError(f"evaluated_rewards is a {type(evaluated_rewards).__name__}: expected a list")
    if len(evaluated_rewards) != len(points_to_evaluate):
        raise ValueError(f"there are {len(evaluated_rewards)} rewards for {len(points_to_evaluate)} points")
