"""Usage: train.py LR MOMENTUM. Minimises a function in a few steps, alone or with the other processes of its trial.

It stands for a program that trains, and needs nothing but Python. With several processes, each has a part
of the gradient; they meet at MASTER_ADDR and MASTER_PORT, as programs of PyTorch do.
"""

import json
import os
import socket
import sys
import time

RANK = int(os.environ.get("RANK", 0))
WORLD = int(os.environ.get("WORLD_SIZE", 1))
STEPS = 10


def others():
    """Connections to the other processes; of rank 0 to all, of the others to rank 0."""
    if WORLD == 1:
        return []
    port = int(os.environ["MASTER_PORT"])
    if RANK > 0:
        return [connected((os.environ["MASTER_ADDR"], port))]
    with socket.create_server(("", port), backlog=WORLD) as server:
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
    lr, momentum = float(sys.argv[1]), float(sys.argv[2])
    print(f"rank {RANK} of {WORLD} on {socket.gethostname()}", file=sys.stderr, flush=True)
    peers = others()
    x, speed = 4.0, 0.0
    for _ in range(STEPS):
        gradient = total(peers, 2 * x / WORLD)
        speed = momentum * speed - lr * gradient
        x += speed
        if RANK == 0:
            print(json.dumps({"loss": x * x}), flush=True)


main()
