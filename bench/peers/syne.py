#!/usr/bin/env python3
"""MOBSTER and Hyper-Tune of Syne Tune 0.13, the last version that has them, for the benchmark's driver (--mf).

usage: syne.py mobster|hypertune

Both with their defaults, stopping trials, rungs from 1 by a factor of 3. Needs
`pip install 'syne-tune[gpsearchers]==0.13.0'`.
"""
import datetime
import logging
import os
import sys
import warnings

os.environ.setdefault("OMP_NUM_THREADS", "1")
warnings.filterwarnings("ignore")
logging.disable(logging.CRITICAL)

from lines import configuration, headers, receive, send  # noqa: E402
from syne_tune.backend.trial_status import Trial  # noqa: E402
from syne_tune.config_space import choice, lograndint, loguniform, randint, uniform  # noqa: E402
from syne_tune.optimizer.baselines import MOBSTER, HyperTune  # noqa: E402

METHODS = {"mobster": MOBSTER, "hypertune": HyperTune}


def domain(p):
    if p["type"] == "cat":
        return choice(p["choices"])
    kinds = {"float": (uniform, loguniform), "int": (randint, lograndint)}
    return kinds[p["type"]][bool(p.get("log"))](p["low"], p["high"])


def run(header, method):
    params, most = header["space"]["params"], header["fidelity"]["max"]
    scheduler = method({p["name"]: domain(p) for p in params}, metric="value", mode="min", resource_attr="epoch",
                       max_t=most, grace_period=1, reduction_factor=3, type="stopping",
                       random_seed=header["seed"], search_options={"debug_log": False})
    live = {}
    while True:
        message = receive()
        if message.get("done"):
            return
        if message["event"] == "free":
            number = len(live)
            suggestion = scheduler.suggest(number)
            live[str(number)] = Trial(number, suggestion.config, datetime.datetime.now())
            scheduler.on_trial_add(live[str(number)])
            send({"ask": configuration(params, suggestion.config), "id": str(number)})
            continue
        trial, result = live[message["id"]], {"value": message["value"], "epoch": message["resource"]}
        decision = scheduler.on_trial_result(trial, result)
        if message["event"] == "complete":
            scheduler.on_trial_complete(trial, result)
            send({"do": "ok"})
        elif decision == "CONTINUE":
            send({"do": "continue"})
        else:
            scheduler.on_trial_remove(trial)
            send({"do": "stop"})


for h in headers():
    run(h, METHODS[sys.argv[1]])
