"""pandas, which only dataframes need."""

from __future__ import annotations

from typing import Any


def library() -> Any:
    """pandas; ImportError says what to do where it is not installed."""
    try:
        import pandas
    except ImportError:
        raise ImportError("dataframes need pandas: run  pip install pandas") from None
    return pandas
