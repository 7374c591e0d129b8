"""Messages of the program in the words of Python: arguments in the place of positions in a file that the user has not
written, and of options of the command line."""

from __future__ import annotations

import re
from typing import Callable, Mapping, Tuple, Union

# Patterns are compiled where they are used: a run without a message uses none.
_PLACE = r"^(?:.*/tune/experiment\.yaml|stdin):(\d+):(\d+): (.*)$"
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
    r"no trial has reported a value of .* yet|no trial has reported finite values of all objectives yet|"
    r"all \d+ results of .* were NaN|the only result of .* was NaN|none of the \d+ results of .* was finite|"
    r"no suggestion has a finite mean of .* over its runs yet"
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
    key = _key_in_json(file, column) if file.startswith("{") else _key_in_yaml(file, number)
    name = arguments.get(key, key)
    return what if not name or what.startswith(("unknown key", f"{name}: ", f"{key}: ")) else f"{name}: {what}"


def _key_in_yaml(file: str, number: int) -> str:
    """The key at the top to which a line belongs."""
    for line in reversed(file.splitlines()[:number]):
        if line[:1].isalpha():
            return line.partition(":")[0]
    return ""


def _key_in_json(file: str, column: int) -> str:
    """The key at the top to which a column of one line belongs."""
    depth, key = 0, ""
    for token in re.finditer(_JSON, file):
        if token.start() >= column:
            break
        text = token[0]
        if text in "{[":
            depth += 1
        elif text in "}]":
            depth -= 1
        elif depth == 1 and file[token.end() :].lstrip().startswith(":"):
            key = text[1:-1]
    return key
