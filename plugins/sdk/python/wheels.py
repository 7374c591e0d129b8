"""Builds the wheels of tunehost-hpo: one for each platform, with the program in it, and the source distribution.

    python wheels.py DIR                     # all platforms, cross-compiled by Go without C
    python wheels.py DIR --binary FILE       # one, for this machine, with a program that exists

Run by `make wheels`.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import os
import platform
import shutil
import struct
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Dict, List, NamedTuple

HERE = Path(__file__).resolve().parent
SOURCES = ("pyproject.toml", "README.md", "tunehost")
MAX_BYTES = 25_000_000
TAGS = "s3"  #: clients that the program has, and the default build has not


class Target(NamedTuple):
    """A platform."""

    os: str  #: as Go calls it
    arch: str
    tag: str  #: as wheels call it


# A program without C runs on every Linux, with glibc or musl; Go 1.26 needs macOS 12. The program does not build for
# Windows.
TARGETS = [
    Target("linux", "amd64", "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64"),
    Target("linux", "arm64", "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64"),
    Target("darwin", "amd64", "macosx_12_0_x86_64"),
    Target("darwin", "arm64", "macosx_12_0_arm64"),
]
_ARCHS = {"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64"}


def main() -> None:
    """Builds what the command line says."""
    parser = argparse.ArgumentParser(description="Builds the wheels of tunehost-hpo.")
    parser.add_argument("dir", type=Path, help="where the wheels go")
    parser.add_argument("--binary", type=Path, help="the program for this machine, instead of building all")
    arguments = parser.parse_args()
    arguments.dir.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        pure = built(Path(temporary), sdist=None if arguments.binary else arguments.dir)
        targets = [this_machine()] if arguments.binary else TARGETS
        for target in targets:
            program = arguments.binary or compiled(target, Path(temporary), version(pure))
            if target.os == "linux" and not static(program):
                sys.exit(f"{program} needs libraries of this system: build it with CGO_ENABLED=0")
            wheel = packed(pure, target, program, arguments.dir)
            print(f"{wheel}  {wheel.stat().st_size / 1e6:.1f} MB")
            if wheel.stat().st_size > MAX_BYTES:
                sys.exit(f"{wheel} is larger than {MAX_BYTES / 1e6:.0f} MB")


def this_machine() -> Target:
    """The platform of this machine."""
    name, arch = platform.system().lower(), _ARCHS.get(platform.machine().lower(), "")
    for target in TARGETS:
        if (target.os, target.arch) == (name, arch):
            return target
    sys.exit(f"there are no wheels for {platform.system()} on {platform.machine()}")


def built(dir: Path, sdist: "Path | None") -> Path:
    """The wheel without a program, of a copy of the sources: setuptools builds in their folder."""
    source = dir / "source"
    source.mkdir()
    for name in SOURCES:
        copy = shutil.copytree if (HERE / name).is_dir() else shutil.copy2
        copy(HERE / name, source / name)
    hooks = "import sys; from setuptools import build_meta as b; getattr(b, sys.argv[1])(sys.argv[2])"
    asked = {"build_wheel": dir / "pure"}
    if sdist:
        asked["build_sdist"] = sdist.resolve()
    for hook, out in asked.items():
        out.mkdir(exist_ok=True)
        done = subprocess.run(
            [sys.executable, "-c", hooks, hook, str(out)],
            cwd=source,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        if done.returncode:
            sys.exit(f"{done.stdout}\n{hook} failed; it needs setuptools 70.1 or newer")
    (wheel,) = (dir / "pure").glob("*.whl")
    return wheel


def version(wheel: Path) -> str:
    """The version in the name of a wheel."""
    return wheel.name.split("-")[1]


def compiled(target: Target, dir: Path, version: str) -> Path:
    """The program for a platform: stripped, and without C."""
    program = dir / f"{target.os}-{target.arch}" / "tunehost"
    linker = f"-s -w -X github.com/tunehost/tunehost/host/plugin/lockfile.release={version}"
    subprocess.run(
        ["go", "build", "-trimpath", "-tags", TAGS, "-ldflags", linker, "-o", str(program), "./cmd/tunehost"],
        check=True,
        cwd=HERE.parents[2],
        env={**os.environ, "CGO_ENABLED": "0", "GOOS": target.os, "GOARCH": target.arch},
    )
    return program


def static(program: Path) -> bool:
    """Whether a program of Linux needs no loader and no library: no segment of its ELF file names a loader."""
    interpreter = 3
    with open(program, "rb") as f:
        head = f.read(64)
        (at,) = struct.unpack_from("<Q", head, 32)
        size, count = struct.unpack_from("<HH", head, 54)
        f.seek(at)
        segments = f.read(size * count)
    return all(struct.unpack_from("<I", segments, size * i)[0] != interpreter for i in range(count))


def packed(pure: Path, target: Target, program: Path, out: Path) -> Path:
    """The wheel of a platform: the files of the pure one, and the program among the scripts."""
    name = pure.name.replace("-any.whl", f"-{target.tag}.whl")
    project = "-".join(pure.name.split("-")[:2])
    files: Dict[str, bytes] = {}
    with zipfile.ZipFile(pure) as z:
        for entry in z.namelist():
            files[entry] = z.read(entry)
    info = f"{project}.dist-info"
    files[f"{info}/WHEEL"] = _tagged(files[f"{info}/WHEEL"].decode(), target.tag).encode()
    del files[f"{info}/RECORD"]
    script = f"{project}.data/scripts/tunehost"
    files[script] = program.read_bytes()
    files[f"{info}/RECORD"] = _record(files, f"{info}/RECORD").encode()
    with zipfile.ZipFile(out / name, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as z:
        for entry, content in files.items():
            made = zipfile.ZipInfo(entry, (2020, 1, 1, 0, 0, 0))  # the same sources give the same wheel
            made.external_attr = (0o100755 if entry == script else 0o100644) << 16
            made.compress_type = zipfile.ZIP_DEFLATED
            z.writestr(made, content)
    return out / name


def _tagged(text: str, tags: str) -> str:
    """The file WHEEL of a wheel that is for some platforms only."""
    lines: List[str] = [
        line for line in text.splitlines() if line and not line.startswith(("Tag:", "Root-Is-Purelib:"))
    ]
    lines += ["Root-Is-Purelib: false", *(f"Tag: py3-none-{tag}" for tag in tags.split("."))]
    return "\n".join(lines) + "\n"


def _record(files: Dict[str, bytes], own: str) -> str:
    """The file RECORD: the checksum and size of each file."""
    lines = []
    for name, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        lines.append(f"{name},sha256={digest},{len(content)}\n")
    return "".join(lines) + f"{own},,\n"


if __name__ == "__main__":
    main()
