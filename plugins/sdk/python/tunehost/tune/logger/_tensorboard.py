"""Writes TensorBoard's event files: records of protocol buffers with checksums."""

from __future__ import annotations

import os
import socket
import struct
import time
from typing import List, Mapping


def _table() -> List[int]:
    found = []
    for n in range(256):
        for _ in range(8):
            n = n >> 1 ^ (0x82F63B78 if n & 1 else 0)
        found.append(n)
    return found


_CRC = _table()


def checksum(data: bytes) -> int:
    """The masked CRC-32C of TensorFlow's record files."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = _CRC[(crc ^ byte) & 0xFF] ^ crc >> 8
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def _varint(n: int) -> bytes:
    out = bytearray()
    while n > 0x7F:
        out.append(n & 0x7F | 0x80)
        n >>= 7
    out.append(n)
    return bytes(out)


def _bytes(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(value)) + value


def _event(wall: float, step: int, rest: bytes) -> bytes:
    return b"\x09" + struct.pack("<d", wall) + b"\x10" + _varint(step) + rest


class Scalars:
    """A new file in a directory."""

    def __init__(self, dir: str) -> None:
        name = f"events.out.tfevents.{time.time():.6f}.{socket.gethostname()}.{os.getpid()}"
        self._file = open(os.path.join(dir, name), "ab")
        self._write(_event(time.time(), 0, _bytes(3, b"brain.Event:2")))

    def add(self, values: Mapping[str, float], step: int, wall: float) -> None:
        """Writes the values of one step."""
        summary = b"".join(
            _bytes(1, _bytes(1, name.encode()) + b"\x15" + struct.pack("<f", _single(value)))
            for name, value in values.items()
        )
        self._write(_event(wall, step, _bytes(5, summary)))

    def _write(self, record: bytes) -> None:
        length = struct.pack("<Q", len(record))
        sums = struct.pack("<I", checksum(length)), struct.pack("<I", checksum(record))
        self._file.write(length + sums[0] + record + sums[1])
        self._file.flush()

    def close(self) -> None:
        """Ends the file."""
        self._file.close()


def _single(value: float) -> float:
    """A value as a float of 32 bits has it: too large ones are infinite."""
    try:
        struct.pack("<f", value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")
    return value
