"""One script at a time continues an experiment, and only where no host is at work."""

import datetime
import fcntl
import json
import os
import re
import threading
from pathlib import Path
from typing import Iterator

import pytest

from tunehost.tune import _holding
from tunehost.tune._holding import Hold
from tunehost.tune.error import TuneError


@pytest.fixture(autouse=True)
def experiment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "tune").mkdir()
    monkeypatch.setattr(_holding, "_SOON_S", 0.3)
    return tmp_path


@pytest.fixture
def host(experiment: Path) -> Iterator[int]:
    """The file descriptor by which a host has the experiment."""
    fd = os.open(experiment / "LOCK", os.O_RDWR | os.O_CREAT)
    fcntl.flock(fd, fcntl.LOCK_EX)
    os.pwrite(fd, b"pid 7\nstarted 2026-11-28T18:00:00Z\nhost login1\n", 0)
    yield fd
    os.close(fd)


def test_two_scripts(experiment: Path) -> None:
    with Hold() as first, Hold() as second:
        first.take(str(experiment))
        with pytest.raises(TuneError, match=rf"^\S+ is in use by process {os.getpid()} on .*Z: stop that one first$"):
            second.take(str(experiment))
        threading.Timer(0.1, first.drop).start()
        second.take(str(experiment))  # waits for the end of the first one


def test_a_forked_process_has_no_part_in_it(experiment: Path) -> None:
    """One that lives longer than the script would keep others out."""
    with Hold() as first:
        first.take(str(experiment))
        ends, goes = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(goes)
            os.read(ends, 1)
            os._exit(0)
    with Hold() as second:
        second.take(str(experiment))
    os.close(goes)
    os.waitpid(child, 0)


def test_a_host_at_work(experiment: Path, host: int) -> None:
    with Hold() as hold, Hold() as other:
        expected = "is in use by process 7 on login1 since 2026-11-28T18:00:00Z: stop that one first; `tunehost watch"
        with pytest.raises(TuneError, match=f"{expected} {experiment}`"):
            hold.take(str(experiment))
        os.truncate(host, 0)
        with pytest.raises(TuneError, match="by another process, which is just starting or leaving; try again"):
            hold.take(str(experiment))
        threading.Timer(0.1, fcntl.flock, (host, fcntl.LOCK_UN)).start()
        hold.take(str(experiment))  # its script was killed, for example
        with pytest.raises(TuneError, match=f"is in use by process {os.getpid()} "):
            other.take(str(experiment))


@pytest.mark.parametrize("offset", [0, 2])
def test_a_host_that_gives_leases_back(
    experiment: Path, host: int, offset: int, capfd: pytest.CaptureFixture[str]
) -> None:
    """It is waited for: the next of a chain of jobs may begin before the last one is over."""
    zone = datetime.timezone(datetime.timedelta(hours=offset))
    waits = (datetime.datetime.now(zone) + datetime.timedelta(seconds=999)).isoformat()[:26].replace("+", "") + "789"
    waits += f"+0{offset}:00" if offset else "Z"
    (experiment / "unreleased.json").write_text(json.dumps([{"executor": "slurm", "waits": waits}, {"executor": "b"}]))
    threading.Timer(0.6, fcntl.flock, (host, fcntl.LOCK_UN)).start()
    with Hold() as hold:
        hold.take(str(experiment))
    said = capfd.readouterr().err
    assert re.search(r"process 7 on login1, which still waits for its executor to give leases back, 99\ds more", said)


def test_a_folder_that_cannot_be_written(experiment: Path) -> None:
    (experiment / "tune").rmdir()
    with Hold() as hold, pytest.raises(FileNotFoundError):
        hold.take(str(experiment))
