"""Minimises a function, alone or with other processes, each of which has a part of the gradient.

It stands for a program that trains on a GPU: it needs nothing but Python, and refuses to run
where it was not given one.
"""

import json
import os
import socket
import sys
import time

TOGETHER = "GANG_PORT" in os.environ  # started by gang.sh
RANK = int(os.environ["SLURM_PROCID"]) if TOGETHER else 0
WORLD = int(os.environ["SLURM_NTASKS"]) if TOGETHER else 1
STEPS = 20


def others():
    """Connections to the other processes; of rank 0 to all, of the others to rank 0."""
    if WORLD == 1:
        return []
    address = (os.environ["SLURM_LAUNCH_NODE_IPADDR"], int(os.environ["GANG_PORT"]))
    if RANK > 0:
        return [connected(address)]
    with socket.create_server(("", address[1]), backlog=WORLD) as server:
        return [server.accept()[0].makefile("rw") for _ in range(1, WORLD)]


def connected(address, tries=300):
    """A connection to rank 0, which may start a little later."""
    for left in reversed(range(tries)):
        try:
            return socket.create_connection(address, timeout=60).makefile("rw")
        except OSError:
            if left == 0:
                raise
            time.sleep(0.1)


def total(peers, part):
    """The sum of what all processes have, in all of them."""
    if RANK > 0:
        print(part, file=peers[0], flush=True)
        return float(peers[0].readline())
    whole = part + sum(float(p.readline()) for p in peers)
    for p in peers:
        print(whole, file=p, flush=True)
    return whole


def main():
    with open(os.environ["TUNEHOST_PARAMS"]) as f:
        params = json.load(f)
    gpus = os.environ.get("CUDA_VISIBLE_DEVICES", "")
    print(f"rank {RANK} of {WORLD} on {os.environ.get('SLURMD_NODENAME')} with GPU {gpus}", file=sys.stderr, flush=True)
    if gpus == "":
        sys.exit("there is no GPU: CUDA_VISIBLE_DEVICES is empty")
    peers = others()
    x, speed = 4.0, 0.0
    for _ in range(STEPS):
        gradient = total(peers, 2 * x / WORLD)
        speed = params["momentum"] * speed - params["lr"] * gradient
        x += speed
        if RANK == 0:
            print(json.dumps({"loss": x * x}), flush=True)


main()
