"""The words that make a parameter of a map in the space of an experiment file, and are no names in it."""

from typing import Any, Dict, Optional

FORMS = {
    "uniform",
    "loguniform",
    "int",
    "normal",
    "choice",
    "ordinal",
    "grid",
    "sample",
    "value",
    "when",
    "step",
    "log",
    "was",
}

_MODIFIERS = {"step", "log", "when"}
_KINDS = FORMS - _MODIFIERS - {"value", "was"}


def form_of(value: Dict[str, Any]) -> Optional[str]:
    """The form of the parameter that the host sees in a map; None: it is a group."""
    for form in _KINDS & value.keys():
        what = value[form]
        if isinstance(what, (list, str)) or not isinstance(what, dict) and value.keys() <= {form} | _MODIFIERS:
            return form
    return None


def has_form(value: Any) -> bool:
    """Whether the host sees a parameter in a value of JSON."""
    if isinstance(value, list):
        return any(map(has_form, value))
    return isinstance(value, dict) and (form_of(value) is not None or any(map(has_form, value.values())))
