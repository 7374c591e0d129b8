"""Writes TensorBoard's event files: records of protocol buffers with checksums."""

from __future__ import annotations

import os
import struct
import time
from typing import Any, List, Mapping


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
        import socket

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

    def add_parameters(self, parameters: Mapping[str, Any], metrics: Mapping[str, float]) -> None:
        """Writes parameters, the metrics that belong to them, and that the trial has ended, for the page of
        parameters."""
        wall = time.time()
        infos = b"".join(_bytes(4, _bytes(1, name.encode()) + b"\x20" + _kind(v)) for name, v in parameters.items())
        scalars = b"".join(_bytes(5, _bytes(1, _bytes(2, name.encode()))) for name in metrics)
        values = b"".join(
            _bytes(1, _bytes(1, name.encode()) + _bytes(2, _value(value))) for name, value in parameters.items()
        )
        plugins = (
            ("_hparams_/experiment", _bytes(2, infos + scalars)),
            ("_hparams_/session_start_info", _bytes(3, values + b"\x29" + struct.pack("<d", wall))),
            ("_hparams_/session_end_info", _bytes(4, b"\x08\x01\x11" + struct.pack("<d", wall))),
        )
        for tag, content in plugins:
            metadata = _bytes(1, _bytes(1, b"hparams") + _bytes(2, content))
            self._write(_event(wall, 0, _bytes(5, _bytes(1, _bytes(1, tag.encode()) + _bytes(9, metadata)))))

    def _write(self, record: bytes) -> None:
        length = struct.pack("<Q", len(record))
        sums = struct.pack("<I", checksum(length)), struct.pack("<I", checksum(record))
        self._file.write(length + sums[0] + record + sums[1])
        self._file.flush()

    def close(self) -> None:
        """Ends the file."""
        self._file.close()


def _kind(value: Any) -> bytes:
    """The type of a parameter: text, truth value or number."""
    return b"\x01" if isinstance(value, str) else b"\x02" if isinstance(value, bool) else b"\x03"


def _value(value: Any) -> bytes:
    """A value as google.protobuf.Value."""
    if isinstance(value, str):
        return _bytes(3, value.encode())
    if isinstance(value, bool):
        return b"\x20" + _varint(int(value))
    return b"\x11" + struct.pack("<d", float(value))


def _single(value: float) -> float:
    """A value as a float of 32 bits has it: too large ones are infinite."""
    try:
        struct.pack("<f", value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")
    return value
