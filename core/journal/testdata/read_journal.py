#!/usr/bin/env python3
"""Reads journals, written only from the package comment of core/journal, to verify that comment.

For each directory it prints the name, the number of events, a digest of them, and how the journal ends.
"""
import hashlib, os, re, struct, sys

TABLE = []
for n in range(256):
    for _ in range(8):
        n = n >> 1 ^ (0x82F63B78 if n & 1 else 0)
    TABLE.append(n)


def crc32c(data, crc=0):
    crc ^= 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ TABLE[(crc ^ byte) & 255]
    return crc ^ 0xFFFFFFFF


def frame_header(data, at, seed):
    head = data[at:at + 40]
    if len(head) < 40 or head[:4] != b"\xf5TJF" or struct.unpack_from("<I", head, 4)[0] != crc32c(head[8:], seed):
        return None
    names = ("crc", "payload_crc", "size", "count", "flags", "first", "durable")
    return dict(zip(names, struct.unpack_from("<IIIIIQQ", head, 4)))


def split(payload):
    records, at = [], 0
    while at < len(payload):
        size = shift = 0
        while True:
            size |= (payload[at] & 127) << shift
            at, shift = at + 1, shift + 7
            if payload[at - 1] < 128:
                break
        records.append(payload[at:at + size])
        at += size
    return records


def read(path):
    """Returns the events and how the journal ends."""
    events, link, run, names = [], 0, None, sorted(n for n in os.listdir(path) if re.fullmatch(r"\d{20}\.tj", n))
    for i, name in enumerate(names):
        data = open(os.path.join(path, name), "rb").read()
        last, first = i == len(names) - 1, len(events) + 1
        if int(name[:20]) != first:
            return events, f"damaged {name} 0"
        if len(data) < 64 or data[:8] != b"TUNEJRNL" or struct.unpack_from("<I", data, 60)[0] != crc32c(data[:60]):
            return events, f"damaged {name} header"
        version, _, its_link = struct.unpack_from("<HHI", data, 8)
        if version != 1:
            return events, f"newer {name}"
        run = run or data[16:32]
        if data[16:32] != run or struct.unpack_from("<Q", data, 32)[0] != first or its_link != link:
            return events, f"damaged {name} header"
        seed, at, closed = crc32c(run), 64, False
        while last or len(events) + 1 < int(names[i + 1][:20]):
            head = frame_header(data, at, seed)
            payload = data[at + 40:at + 40 + head["size"]] if head else b""
            if not head or len(payload) < head["size"] or head["first"] != len(events) + 1 or head["payload_crc"] != crc32c(payload):
                break
            if head["flags"] & 1:
                closed = True
                break
            events += split(payload)
            at, link = at + 40 + len(payload), head["crc"]
        if not last and (len(events) + 1 != int(names[i + 1][:20]) or len(data) - at > 40):
            return events, f"damaged {name} {at}"
    if closed and len(data) - at == 40:
        return events, "clean"
    later = [h["durable"] for h in (frame_header(data, n, seed) for n in range(at, len(data))) if h]
    if max(later, default=0) > len(events) + 1:
        return events, f"damaged {name} {at}"
    return events, f"cut {name} {at}" if at < len(data) else "unclean"


for directory in sys.argv[1:]:
    records, end = read(directory)
    digest = hashlib.sha256()
    for number, record in enumerate(records, 1):
        digest.update(struct.pack("<QQ", number, len(record)) + record)
    print(directory, len(records), digest.hexdigest()[:24], end)
