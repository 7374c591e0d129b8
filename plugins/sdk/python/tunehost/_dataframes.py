"""pandas, which only dataframes need."""

from __future__ import annotations

from typing import Any, Dict, List, Sequence

_LARGEST = 2**63


def library() -> Any:
    """pandas; ImportError says what to do where it is not installed."""
    try:
        import pandas
    except ImportError:
        raise ImportError("dataframes need pandas: run  pip install pandas") from None
    return pandas


def frame(rows: List[Dict[str, Any]], first: Sequence[str] = ()) -> Any:
    """A pandas.DataFrame, which has the first columns without any rows, too. Integers stay integers where some rows
    have none: pandas alone makes floats of them."""
    pandas = library()
    made = pandas.DataFrame(rows) if rows else pandas.DataFrame(columns=list(first))
    for name in made.columns if made.isna().to_numpy().any() else ():
        values = [row.get(name) for row in rows]
        if _integers(values):
            made[name] = pandas.array(values, dtype="Int64")
    return made


def _integers(values: List[Any]) -> bool:
    """Whether there are integers, others than pandas has anyway, and nothing else."""
    found = [v for v in values if v is not None]
    return 0 < len(found) < len(values) and all(type(v) is int and -_LARGEST <= v < _LARGEST for v in found)
