#!/usr/bin/env python3
"""Converts the tables of the search-quality benchmark to the format of `tunehost simulate`.

usage: convert.py PROBLEMS OUT

PROBLEMS is the folder with manifest.json and a folder for each table. For each table with
learning curves, OUT gets NAME.jsonl.gz, the curves, and NAME.yaml, an experiment on them. Only
Python's standard library is needed.
"""
import array
import gzip
import json
import os
import sys


def floats(path):
    with gzip.open(path) as f:
        return array.array("f", f.read()).tolist()


def parameter(p):
    if p["type"] == "cat":
        form = {"choice": p["choices"]}
    elif p["type"] == "int":
        form = {"int": [p["low"], p["high"]]}
        if p["log"]:
            form["log"] = True
    else:
        form = {"loguniform" if p["log"] else "uniform": [p["low"], p["high"]]}
    if "when" in p:
        form["when"] = "%s in %s" % (p["when"]["param"], json.dumps(p["when"]["in"]))
    return form


def lines(problem, folder):
    knn, length = problem["knn"], problem["table"]["resources"]
    yield {"table": 1, "neighbours": knn["k"], "epsilon": knn["eps"],
           "average": "log" if knn["average"] == "log" else "mean", "weights": knn["weights"]}
    with gzip.open(os.path.join(folder, "configs.json.gz")) as f:
        configs = json.load(f)
    curves, costs = floats(os.path.join(folder, "curves.f32.gz")), floats(os.path.join(folder, "cost.f32.gz"))
    for i, row in enumerate(configs["rows"]):
        params = {name: value for name, value in zip(configs["columns"], row) if value is not None}
        yield {"params": params, "metrics": {problem["metric"]: curves[i * length:(i + 1) * length]}, "seconds": costs[i]}


def experiment(problem):
    return {"version": 1, "name": problem["id"], "seed": 1, "objective": {"metric": problem["metric"], "mode": "min"},
            "space": {p["name"]: parameter(p) for p in problem["space"]["params"]},
            "searcher": "random", "scheduler": {"plugin": "asha", "max": problem["table"]["resources"]}, "trials": 200}


def main(problems, out):
    os.makedirs(out, exist_ok=True)
    with open(os.path.join(problems, "manifest.json")) as f:
        manifest = json.load(f)
    for problem in manifest["problems"]:
        if problem["kind"] != "table" or problem["table"]["resources"] < 2:
            continue
        name = os.path.join(out, problem["id"])
        with gzip.open(name + ".jsonl.gz", "wt") as f:
            f.writelines(json.dumps(line) + "\n" for line in lines(problem, os.path.join(problems, problem["dir"])))
        with open(name + ".yaml", "w") as f:
            json.dump(experiment(problem), f, indent=1)  # JSON is YAML
            f.write("\n")
        print(name)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
