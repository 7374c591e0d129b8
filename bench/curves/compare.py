#!/usr/bin/env python3
"""How soon schedulers find good configurations, on recorded curves in virtual time.

usage: compare.py TUNEHOST PROBLEMS CURVES [SEEDS]

PROBLEMS is the folder with manifest.json, CURVES what convert.py has made of it. For
each table and scheduler: the virtual time, in full trainings, until the best value is
within 5 % and 1 % of the way from the best that is known to the median of random
points, with 4 workers; the median over SEEDS (5) seeds. Only Python's standard library is
needed.
"""
import json
import math
import os
import statistics
import subprocess
import sys

WORKERS = 4
SCHEDULERS = ["fifo", "asha", "asha promotion", "hyperband", "bohb", "median", "patience"]
SEARCHERS = ["random", "tpe"]


def scheduler(name, longest):
    if name.startswith("asha"):
        return {"plugin": "asha", "max": longest, **({"type": "promotion"} if "promotion" in name else {})}
    if name in ("hyperband", "bohb"):
        return {"plugin": name, "max": longest}
    return {"plugin": name}


def simulate(tunehost, curves, problem, searcher, name, seed):
    plugin = "bohb" if name == "bohb" and searcher == "tpe" else searcher
    done = subprocess.run(
        [tunehost, "simulate", os.path.join(curves, problem["id"] + ".yaml"), "--workers", str(WORKERS), "--json",
         "--table", os.path.join(curves, problem["id"] + ".jsonl.gz"), "--set", "seed=%d" % seed, "--set", "trials=400",
         "--set", "searcher=" + plugin, "--set", "scheduler=" + json.dumps(scheduler(name, problem["table"]["resources"]))],
        capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr)
    return json.loads(done.stdout)


def reached(run, problem, share):
    low, median = problem["mf"]["f_best_any"], problem["mf"]["f_rand_median"]
    for step in run["curve"]:
        if step["value"] <= low + share * (median - low):
            return step["elapsed_s"] * WORKERS / problem["mf"]["mean_full_cost"]
    return math.inf


def main(tunehost, problems, curves, seeds=5):
    with open(os.path.join(problems, "manifest.json")) as f:
        manifest = json.load(f)
    tables = [p for p in manifest["problems"] if p["kind"] == "table" and p["table"]["resources"] > 1]
    for share in (0.05, 0.01):
        print("\nfull trainings until within %g %%\n" % (100 * share))
        print("| searcher, scheduler | " + " | ".join(p["id"] for p in tables) + " |\n|" + "---|" * (len(tables) + 1))
        for searcher in SEARCHERS:
            for name in SCHEDULERS:
                cells = []
                for p in tables:
                    runs = [reached(simulate(tunehost, curves, p, searcher, name, seed), p, share) for seed in range(1, int(seeds) + 1)]
                    median = statistics.median(runs)
                    cells.append("–" if math.isinf(median) else "%.1f" % median)
                shown = "bohb" if name == "bohb" and searcher == "tpe" else searcher
                print("| %s, %s | %s |" % (shown, name, " | ".join(cells)), flush=True)


if __name__ == "__main__":
    if len(sys.argv) not in (4, 5):
        sys.exit(__doc__)
    main(*sys.argv[1:])
