"""The line protocol of the search-quality benchmark's driver, for adapters: one JSON object a line."""
import json
import sys

_out = sys.stdout
sys.stdout = sys.stderr  # libraries that print must not disturb the protocol


def send(message):
    _out.write(json.dumps(message) + "\n")
    _out.flush()


def receive():
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    return json.loads(line)


def headers():
    """Each run begins with a header."""
    while True:
        message = receive()
        if "space" in message:
            yield message


def active(param, config):
    """Whether a parameter exists in the configuration so far; parents come first."""
    when = param.get("when")
    return not when or (when["param"] in config and config[when["param"]] in when["in"])


def configuration(params, values):
    """The configuration of the parameters that exist, with the types that they have."""
    config = {}
    for p in params:
        if not active(p, config):
            continue
        value = values[p["name"]]
        if p["type"] == "cat":
            config[p["name"]] = next(c for c in p["choices"] if c == value or str(c) == str(value))
        elif p["type"] == "int":
            config[p["name"]] = int(value)
        else:
            config[p["name"]] = min(p["high"], max(p["low"], float(value)))
    return config
