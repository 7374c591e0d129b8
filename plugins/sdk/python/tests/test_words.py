"""What the program says, and what becomes of it in Python: the texts are those of the program's source."""

import collections
import re
from pathlib import Path
from typing import Sequence

import pytest

from tunehost import _words
from tunehost.tune import _host

ROOT = Path(__file__).resolve().parents[4]

#: For each entry of the table: where the program has the text, its parts there in their order, what fills the gaps, and
#: the text in Python. A gap is a verb of a format, or " + NAME + ".
TEXTS = [
    ("host/storage/usable.go", ["%w; where that is meant to be, add --trust-dir"], ["it is shared"], "it is shared"),
    (
        "host/prepare/changes.go",
        ["this is another experiment than the one in its directory: begin it beside that one with --resume never, or give "
         "it another --name"],
        [],
        "this is another experiment than the one in its directory: give it another name",
    ),
    (
        "host/local/offer/claiming.go",
        ["both may get slower; --resources cpu=N gives each its part, --share turns this warning off"],
        [],
        "both may get slower; tunehost.tune.cluster.init(num_cpus=N) gives each its part",
    ),
    (
        "host/local/offer/claiming.go",
        ["start again when that has ended, or let this experiment wait for it (wait_for_resources: true), give each "
         "experiment its own GPUs (CUDA_VISIBLE_DEVICES), or share them (--share)"],
        [],
        "start again when that has ended, or give each experiment its own GPUs (CUDA_VISIBLE_DEVICES)",
    ),
    (
        "host/local/offer/claiming.go",
        ["are used by other experiments and left to them: %s; --share uses them too"],
        ["a"],
        "are used by other experiments and left to them: a",
    ),
    (
        "host/local/offer/offer.go",
        ["ask for less, or let trials wait for more with wait_for_resources: true"],
        [],
        "ask for less",
    ),
    (
        "host/plugin/find/finder.go",
        ["; looked in %s%s", " (does not exist)"],
        ["/d/tune/plugins (does not exist), /plugins", ""],
        "; looked in /plugins",
    ),
    ("host/prepare/changes.go", ["; --extend takes it"], [], ""),
    ("host/prepare/changes.go", ["; --extend takes it where every trial so far could have run in it"], [], ""),
    ("host/prepare/changes.go", ["; --extend takes it when no trial is left to the old one"], [], ""),
    ("host/prepare/changes.go", ["; --extend does not take it: "], [], ""),
    ("host/storage/usable.go", ["%w; choose another with --storage"], ["no"], "no; choose another storage"),
    ("host/storage/storage.go", ["%w; choose another with --storage"], ["no"], "no; choose another storage"),
    (
        "host/view/novalue.go",
        ['no trial has a finite last value of " + metric + "; see --scope min, max or mean'],
        ["loss"],
        'no trial has a finite last value of loss; see scope="min", "max" or "mean"',
    ),
    (
        "host/plugin/supervise.go",
        ["%s failed %d times %s, and is given up; the last time: %v", "at the same call"],
        ['scheduler "fifo"', "3", "at the same call", 'scheduler "/d/tune/stopper": scheduler "/d/tune/stopper" failed in '
         "Decide: ValueError: mine"],
        "the stopper failed 3 times at the same call, and is given up; the last time: ValueError: mine",
    ),
    (
        "host/plugin/supervise.go",
        ["%s failed %d times %s, and is given up; the last time: %v", "within \" + failureWindow.String()"],
        ['searcher "/d/tune/searcher"', "3", "within 1m0s", 'searcher "/d/tune/searcher" failed in Suggest: KeyError: 1'],
        "the searcher failed 3 times within 1m0s, and is given up; the last time: KeyError: 1",
    ),
    (
        "host/opening/limits.go",
        ["%s %q has not answered %s for %s; %s (deadlines.%s)", "Describe since its start"],
        ["trainable", '"/d/tune/plugin"', "Describe since its start", "1m", "then", "load"],
        'the process of the trainable has not answered for 1m; then: deadlines={"load": SECONDS} of tune.RunConfig gives it '
        "another time",
    ),
    (
        "host/plugin/process/failure.go",
        ["was not ready within %s of its start"],
        ["1m"],
        'the process of the searcher was not ready within 1m of its start: the machine is busy, or imports take long; '
        'deadlines={"start": SECONDS} of tune.RunConfig gives it another time',
    ),
    (
        "core/causetext.go",
        ["for ever: a searcher that has no more points must say EXHAUSTED; mend it, or choose another"],
        [],
        'the searcher says "not yet" although the experiment would wait for ever: suggest must return Searcher.FINISHED '
        "where it has no more points",
    ),
]
#: What the program says where the text is only a part.
BEFORE = {
    "host/plugin/process/failure.go": 'searcher "/d/tune/searcher" ',
    "core/causetext.go": 'searcher /d/tune/searcher says "not yet" although the experiment would wait ',
}


def source(file: str) -> str:
    """A file of the program, with texts of several lines in one piece."""
    return re.sub(r'"\s*\+\s*"', "", (ROOT / file).read_text(encoding="utf-8"))


def said(text: str, filling: Sequence[str]) -> str:
    """A text with its gaps filled."""
    gaps = iter(filling)
    return re.sub(r'%[a-z]|" \+ \w+ \+ "', lambda _: next(gaps), text)


@pytest.mark.parametrize("file, parts, filling, python", TEXTS)
def test_advice_is_that_of_the_program(file: str, parts: Sequence[str], filling: Sequence[str], python: str) -> None:
    text = source(file)
    for part in parts:
        assert part in text, f"{file} says something else now: change tunehost/_words.py with it"
    assert _words.advised(BEFORE.get(file, "") + said(parts[0], filling)) == python


def test_all_advice_is_looked_at() -> None:
    texts = [BEFORE.get(file, "") + said(parts[0], filling) for file, parts, filling, _ in TEXTS]
    unused = [pattern for pattern, _ in _words._ADVISED if not any(re.search(pattern, text) for text in texts)]
    assert unused == []


NO_VALUE = [
    ("host/view/novalue.go", '"no trial has reported a value of " + metric'),
    ("host/view/novalue.go", '"the only result of " + metric + " was NaN"'),
    ("host/view/novalue.go", '"all %d results of %s were NaN"'),
    ("host/view/novalue.go", '"none of the %d results of %s was finite"'),
    ("host/view/novalue.go", '"no suggestion has a finite mean of " + metric + " over its runs"'),
    ("cmd/tunehost/best.go", '"%s: no trial has reported finite values of all objectives"'),
]


@pytest.mark.parametrize("file, text", NO_VALUE)
def test_no_value_is_known(file: str, text: str) -> None:
    assert text in source(file), f"{file} says something else now: change tunehost/_words.py with it"
    assert _words.has_no_value(said(text.strip('"'), ["3", "loss"] if text.count("%") == 2 else ["loss"]))


def test_other_errors_are_told() -> None:
    assert not _words.has_no_value('no trial has reported a metric "nope"')
    assert not _words.has_no_value("no trial has a finite last value of loss; see --scope min, max or mean")


def test_that_experiments_share_the_cpus_is_said_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not at each fit in each cell of a notebook."""
    monkeypatch.setattr(_host, "_told", set())
    said = [
        _host._without(
            f"warning: this machine has {cpus} CPUs, and this experiment may use 2 while experiment {other} uses up to 2: "
            "both may get slower; --resources cpu=N gives each its part, --share turns this warning off\n",
            [],
            collections.deque(),
        )
        for cpus, other in ((2, "a"), (2, "b"), (2, "a"), (4, "a"))
    ]
    assert [bool(text) for text in said] == [True, False, False, True]
