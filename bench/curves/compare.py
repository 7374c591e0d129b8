#!/usr/bin/env python3
"""Measures how soon schedulers find good configurations, on recorded curves in virtual time.

usage: compare.py TUNEHOST PROBLEMS CURVES [--seeds N] [--runs FILE] [--baselines FILE] [--only WORD]

PROBLEMS is the folder with manifest.json, CURVES the output of convert.py. For each table of
curves, searcher and scheduler, the result is the time, in full trainings, until the best value
is within 5 % and 1 % of the distance between the best known value and the median of random
points. 4 workers train for the time of 100 full trainings. A cell is the median over the seeds
(10), or – if half of them or more do not get there; the last column is the share of all runs
that do. --runs stores the runs for later calls; --baselines reads the runs of other tuners, one
per line, with `traj`: [time, best value, ...] from the same simulation. Only Python's standard
library is needed.
"""
import argparse
import json
import math
import os
import statistics
import subprocess
import sys

WORKERS, HORIZON = 4, 100
SHARES = (0.05, 0.01)
ENDLESS, POPULATION = 100000, 96


def schedulers(longest):
    """Name, options and number of trials of each method."""
    step = max(longest // 9, 1)
    return {
        "fifo": ({"plugin": "fifo"}, ENDLESS),
        "asha": ({"plugin": "asha", "max": longest}, ENDLESS),
        "asha, 3 brackets": ({"plugin": "asha", "max": longest, "brackets": 3}, ENDLESS),
        "asha, promotion": ({"plugin": "asha", "max": longest, "type": "promotion"}, ENDLESS),
        "pasha": ({"plugin": "pasha", "max": longest}, ENDLESS),
        "hyperband": ({"plugin": "hyperband", "max": longest}, ENDLESS),
        "bohb": ({"plugin": "bohb", "max": longest}, ENDLESS),
        "median": ({"plugin": "median"}, ENDLESS),
        "patience": ({"plugin": "patience"}, ENDLESS),
        "pbt": ({"plugin": "pbt", "max": longest, "interval": step}, ENDLESS),
        "pbt, synchronous": ({"plugin": "pbt", "max": longest, "interval": step, "sync": True}, POPULATION),
        "pb2": ({"plugin": "pb2", "max": longest, "interval": step}, ENDLESS),
# With 4 workers 4 trials are live at a time, two in each of two subpopulations.
        "mf-pbt": ({"plugin": "mf-pbt", "max": longest, "interval": step, "periods": [1, 3]}, ENDLESS),
        "mf-pbt, synchronous": ({"plugin": "mf-pbt", "max": longest, "interval": step, "periods": [1, 2, 4], "sync": True}, POPULATION),
    }


# The searchers for each scheduler, other than random and tpe: schedulers that change
# parameters themselves start with random points.
SEARCHERS = {"pbt": ["random"], "pbt, synchronous": ["random"], "pb2": ["random"],
             "mf-pbt": ["random"], "mf-pbt, synchronous": ["random"], "bohb": ["random", "bohb"]}


def simulate(tunehost, curves, problem, searcher, scheduler, trials, seed):
    horizon = HORIZON * problem["mf"]["mean_full_cost"] / WORKERS
    name = os.path.join(curves, problem["id"])
    done = subprocess.run(
        [tunehost, "simulate", name + ".yaml", "--workers", str(WORKERS), "--json", "--table", name + ".jsonl.gz",
         "--set", "seed=%d" % seed, "--set", "trials=%d" % trials, "--set", "budget=" + json.dumps({"time": "%.9fs" % horizon}),
         "--set", "searcher=" + searcher, "--set", "scheduler=" + json.dumps(scheduler)],
        capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr)
    return [[step["elapsed_s"], step["value"]] for step in json.loads(done.stdout)["curve"]]


def reached(traj, problem, share):
    """Full trainings until a run is within the share; infinite if it never is."""
    low, median = problem["mf"]["f_best_any"], problem["mf"]["f_rand_median"]
    for step in traj:
        if step[1] <= low + share * (median - low):
            trainings = step[0] * WORKERS / problem["mf"]["mean_full_cost"]
            return trainings if trainings <= HORIZON else math.inf
    return math.inf


def ours(args, tables):
    """The runs of each method on each table, simulated or read."""
    known = {}
    if args.runs and os.path.exists(args.runs):
        with open(args.runs) as f:
            for r in map(json.loads, f):
                known[r["method"], r["problem"], r["seed"]] = r["traj"]
    runs = {}
    for problem in tables:
        for name, (scheduler, trials) in schedulers(problem["table"]["resources"]).items():
            for searcher in SEARCHERS.get(name, ["random", "tpe"]):
                method = "%s, %s" % (searcher, name)
                for seed in range(1, args.seeds + 1):
                    key = (method, problem["id"], seed)
                    if args.only and args.only not in method:
                        continue
                    if key not in known:
                        known[key] = simulate(args.tunehost, args.curves, problem, searcher, scheduler, trials, seed)
                        if args.runs:
                            with open(args.runs, "a") as f:
                                f.write(json.dumps({"method": method, "problem": problem["id"], "seed": seed, "traj": known[key]}) + "\n")
                    runs.setdefault(method, {}).setdefault(problem["id"], []).append(known[key])
    return runs


def theirs(path, tables):
    ids, runs = {p["id"] for p in tables}, {}
    with open(path) as f:
        for r in map(json.loads, f):
            if r.get("mode") == "mf" and r["problem"] in ids and r.get("workers") == WORKERS:
                runs.setdefault(r["method"], {}).setdefault(r["problem"], []).append(r["traj"])
    return runs


def table(runs, tables, share):
    print("\nfull trainings until within %g %%\n" % (100 * share))
    print("| method | " + " | ".join(p["id"] for p in tables) + " | runs that got there |\n|" + "---|" * (len(tables) + 2))
    for method, by in runs.items():
        cells, there, all_runs = [], 0, 0
        for p in tables:
            times = [reached(t, p, share) for t in by.get(p["id"], [])]
            there, all_runs = there + sum(map(math.isfinite, times)), all_runs + len(times)
            middle = statistics.median(times) if times else math.nan
            cells.append("%.1f" % middle if math.isfinite(middle) else "–")
        print("| %s | %s | %d of %d |" % (method, " | ".join(cells), there, all_runs))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("tunehost", "problems", "curves"):
        p.add_argument(name)
    p.add_argument("--seeds", type=int, default=10)
    for name in ("--runs", "--baselines", "--only"):
        p.add_argument(name)
    args = p.parse_args()
    with open(os.path.join(args.problems, "manifest.json")) as f:
        tables = [p for p in json.load(f)["problems"] if p["kind"] == "table" and p["table"]["resources"] > 1]
    runs = ours(args, tables)
    if args.baselines:
        runs.update(theirs(args.baselines, tables))
    for share in SHARES:
        table(runs, tables, share)


if __name__ == "__main__":
    main()
