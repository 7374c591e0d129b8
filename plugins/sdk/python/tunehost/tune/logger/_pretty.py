"""Results as text, in YAML as Ray prints them."""

from __future__ import annotations

import importlib.util
import json
import re
from typing import Any, Collection, Iterator, Mapping, Optional

_LONG = 3  #: longer lists are in one line
_WIDTH = 80
_PLAIN = re.compile(r"[A-Za-z_./(][^\x00-\x1f\x7f:#\[\]{}&*!|>'\"%@`\\]*")
_WORDS = re.compile(r"(?i:true|false|yes|no|on|off|null|[yn])|[-+.]?[0-9.][-+0-9_.eE:]*|[-+]?\.(inf|nan)|~|=|<<")


def pretty_print(result: Mapping[str, Any], exclude: Optional[Collection[str]] = None) -> str:
    """A result as text in YAML: sorted, without its config, without values that are None, and without those in
    exclude."""
    hidden = {"config", "hist_stats", *(exclude or ())}
    shown = {k: v for k, v in result.items() if v is not None and k not in hidden}
    cleaned = json.loads(json.dumps(shown, default=_plain))
    if importlib.util.find_spec("yaml"):
        return _by_library(cleaned)
    return "".join(_mapping(cleaned, "")) if cleaned else "{}\n"


def _by_library(values: Any) -> str:
    """The text that the library PyYAML makes, where it is installed."""
    import yaml

    class Dumper(yaml.SafeDumper):  # type: ignore[misc, unused-ignore]
        def represent_sequence(self, tag: str, sequence: Any, flow_style: Optional[bool] = None) -> Any:
            return super().represent_sequence(tag, sequence, flow_style=True if len(sequence) > _LONG else flow_style)

    return str(yaml.dump(values, Dumper=Dumper, default_flow_style=False))


def _plain(value: Any) -> Any:
    """What JSON does not have: arrays as lists, numbers of other libraries as numbers, and the rest as text."""
    for method in ("tolist", "item"):
        if hasattr(value, method) and type(value).__module__.split(".")[0] == "numpy":
            return getattr(value, method)()
    return str(value)


def _mapping(values: Mapping[str, Any], indent: str) -> Iterator[str]:
    for key in sorted(values):
        value = values[key]
        name = f"{indent}{_scalar(key)}:"
        if isinstance(value, dict) and value:
            yield f"{name}\n"
            yield from _mapping(value, indent + "  ")
        elif isinstance(value, list) and 0 < len(value) <= _LONG:
            yield f"{name}\n"
            yield from _sequence(value, indent)
        else:
            yield _folded(f"{name} {_flow(value)}", indent)


def _sequence(values: Any, indent: str) -> Iterator[str]:
    for value in values:
        if isinstance(value, dict) and value:
            inner = "".join(_mapping(value, indent + "  "))
            yield f"{indent}- {inner[len(indent) + 2 :]}"
        elif isinstance(value, list) and 0 < len(value) <= _LONG:
            inner = "".join(_sequence(value, indent + "  "))
            yield f"{indent}- {inner[len(indent) + 2 :]}"
        else:
            yield _folded(f"{indent}- {_flow(value)}", indent)


def _flow(value: Any) -> str:
    """A value in one line."""
    if isinstance(value, list):
        return "[" + ", ".join(_quoted(_flow(v)) for v in value) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_scalar(k)}: {_flow(value[k])}" for k in sorted(value)) + "}"
    return _scalar(value)


def _quoted(text: str) -> str:
    """A text in a list: one with a comma has quotes there."""
    plain = "," in text and text[:1] not in "[{'\""
    return f"'{text}'" if plain else text


def _folded(line: str, indent: str) -> str:
    """A line that is broken after commas beyond the width of a page, if it is a list or a dict."""
    if not line.endswith(("]", "}")):
        return line + "\n"
    done, rest = "", line
    while True:
        at = rest.find(", ", _WIDTH)
        if at < 0:
            return f"{done}{rest}\n"
        done, rest = f"{done}{rest[: at + 1]}\n", f"{indent}  {rest[at + 2 :]}"


def _scalar(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return _float(value)
    plain = _PLAIN.fullmatch(value) and not _WORDS.fullmatch(value) and value == value.strip()
    if plain:
        return str(value)
    printable = value.isprintable() and value.isascii()
    return "'" + value.replace("'", "''") + "'" if printable else json.dumps(value)


def _float(value: float) -> str:
    if value != value:
        return ".nan"
    if value in (float("inf"), float("-inf")):
        return ".inf" if value > 0 else "-.inf"
    text = repr(value).lower()
    return text.replace("e", ".0e", 1) if "." not in text and "e" in text else text
