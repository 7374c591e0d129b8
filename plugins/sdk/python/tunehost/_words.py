"""Messages of the program in the words of Python: arguments in the place of positions in a file that the user has not
written, and of options of the command line."""

from __future__ import annotations

import itertools
import json
import re
from typing import Callable, List, Mapping, Tuple, Union

from ._forms import FORMS

# Patterns are compiled where they are used: a run without a message uses none.
_PLACE = r"^(?!warning: )(?:.*/tune/experiment\.yaml|stdin):(\d+):(\d+): (.*)$"
_JSON = r'[{}\[\]]|"(?:[^"\\]|\\.)*"'

#: A process of this package: its folder beside the experiment.
_OURS = r'(?:trainable|scheduler|searcher|reporter) "\S*/tune/(\w+)"'
_MORE = "of tune.RunConfig gives it another time"


def _late(found: "re.Match[str]") -> str:
    """A process of this package that has not answered for a while."""
    who, waited, then, call = found.groups()
    return f'{_process(who)} has not answered for {waited}; {then}: deadlines={{"{call}": SECONDS}} {_MORE}'


def _unready(found: "re.Match[str]") -> str:
    """A process of this package that took too long to begin."""
    who, limit = found.groups()
    return (
        f"{_process(who)} was not ready within {limit} of its start: the machine is busy, or imports take long; "
        f'deadlines={{"start": SECONDS}} {_MORE}'
    )


def _given_up(found: "re.Match[str]") -> str:
    """A process of this package whose object raises an exception again and again: whatever works beside it, it is that
    which has failed."""
    failed, who = found.groups()
    return f"the {who} {failed}"


def _process(folder: str) -> str:
    return f"the process of the {'trainable' if folder == 'plugin' else folder}"


_Words = Union[str, Callable[["re.Match[str]"], str]]

#: What the program advises, and what that is here.
_ADVISED: Tuple[Tuple[str, _Words], ...] = (
    (r"; where that is meant to be, add --trust-dir", ""),
    (r": begin it beside that one with --resume never, or give it another --name", ": give it another name"),
    (
        r"--resources cpu=N gives each its part, --share turns this warning off",
        "tunehost.tune.cluster.init(num_cpus=N) gives each its part",
    ),
    (
        r", or let this experiment wait for it \(wait_for_resources: true\), (give .*?), or share them \(--share\)",
        r", or \1",
    ),
    (r"; --share uses them too", ""),
    (r"; --extend takes it(?: where every trial so far could have run in it| when no trial is left to the old one)?", ""),
    (r"; --extend does not take it: .*", ""),
    (r", or let trials wait for more with wait_for_resources: true", ""),
    (r"looked in \S*/tune/plugins(?: \(does not exist\))?, ", "looked in "),
    (r"choose another with --storage", "choose another storage"),
    (r"; see --scope min, max or mean", '; see scope="min", "max" or "mean"'),
    (
        r'(?:scheduler|searcher) "[^"]*" (failed \d+ times (?:within \S+|at the same call), and is given up; the last time: )'
        rf'(?:scheduler "[^"]*": )?{_OURS} failed in \w+: ',
        _given_up,
    ),
    (
        r"searcher .*/tune/searcher( says .* would wait for ever: ).* must say EXHAUSTED; mend it, or choose another",
        r"the searcher\1suggest must return Searcher.FINISHED where it has no more points",
    ),
    (rf"{_OURS} has not answered \w+(?: since its start)? for (\S+); (.*?) \(deadlines\.(\w+)\)", _late),
    (rf"{_OURS} was not ready within (\S+) of its start", _unready),
)


def is_error(line: str) -> bool:
    """Whether a line of the program's standard error says why it ends: an exception has it then."""
    return line.startswith("tunehost: ") or re.match(_PLACE, line.rstrip("\n")) is not None


_CRASH = r"(?m)^(?:fatal error|panic|runtime): .*"
_NO_ROOM = r"failed to reserve|cannot allocate memory|out of memory|failed to create new OS thread"


def unexplained(said: str, status: int) -> str:
    """Why the program has ended that has not said so in its own way; said is what it wrote to its standard error."""
    crash = re.search(_CRASH, said)
    last = crash[0] if crash else next((line for line in reversed(said.splitlines()) if line.strip()), "")
    advice = ": it needs more memory or address space than there is; see ulimit -a" if re.search(_NO_ROOM, last) else ""
    return f"tunehost ended with status {status}" + (f" ({last.strip()})" if last else "") + advice


_NO_VALUE = re.compile(
    r"no trial has reported a value of |no trial has reported finite values of all objectives|"
    r"all \d+ results of .* were NaN|the only result of .* was NaN|none of the \d+ results of .* was finite|"
    r"no suggestion has a finite mean of .* over its runs"
)


def has_no_value(message: str) -> bool:
    """Whether the program says that there is no best trial, because no result counts."""
    return _NO_VALUE.search(message) is not None


_WARNED = r"(?m)^(warning: )(?:\S.*/tune/experiment\.yaml|stdin):\d+:\d+: "


def advised(text: str) -> str:
    """A text with the advice for Python. Warnings do not have their places in a file that the user has not written."""
    text = re.sub(_WARNED, r"\1", text)
    for pattern, words in _ADVISED:
        text = re.sub(pattern, words, text)
    return text


def refused(text: str, file: str, arguments: Mapping[str, str]) -> str:
    """Refusals, one a line, with the arguments that they are about. file is the experiment file that was refused, and
    arguments are the names of its keys in Python, where these are others."""
    return "\n".join(_refused(line, file, arguments) for line in advised(text).splitlines())


def _refused(line: str, file: str, arguments: Mapping[str, str]) -> str:
    found = re.match(_PLACE, line)
    if not found:
        return line
    number, column, what = int(found[1]), int(found[2]), found[3]
    key, *inner = _keys_in_json(file, column, []) if file.startswith("{") else _keys_in_yaml(file, number, column)
    name, parameter = arguments.get(key, key), _parameter(inner) if key == "space" else ""
    if not name or what.startswith(("unknown key", f"{name}: ", f"{key}: ")):
        return what
    return f"{name}: {what}" if not parameter or what.startswith((f"{parameter} ", f"{parameter}: ")) else (
        f"{name}: {parameter}: {what}"
    )


def _parameter(keys: List[str]) -> str:
    """The name of the parameter to which keys in the space belong."""
    return "/".join(itertools.takewhile(lambda key: key and key not in FORMS, keys))


def _keys_in_yaml(file: str, number: int, column: int) -> List[str]:
    """The keys around a place: that at the top to which its line belongs, and those in the line."""
    lines = file.splitlines()[:number]
    for line in reversed(lines):
        if line[:1].isalpha():
            return [line.partition(":")[0], *([] if line is lines[-1] else _keys_in_json(lines[-1], column, [""]))]
    return [""]


def _keys_in_json(text: str, column: int, keys: List[str]) -> List[str]:
    """The keys around a column of one line, which is within so many; "" in a list, and before the first."""
    for token in re.finditer(_JSON, text):
        if token.start() >= column:
            break
        if token[0] in "{[":
            keys.append("")
        elif token[0] in "}]":
            keys.pop()
        elif text[token.end() :].lstrip().startswith(":"):
            keys[-1] = json.loads(token[0])
    return keys or [""]
