"""A table that notebooks show as HTML, and everything else as text."""

from __future__ import annotations

from typing import Any, Dict, List, Sequence


class Table:
    """Lines, a table whose first row has the headings, and further lines."""

    def __init__(self, head: Sequence[str], rows: Sequence[Sequence[str]], tail: Sequence[str] = ()) -> None:
        self._head, self._rows, self._tail = list(head), [list(row) for row in rows], list(tail)

    def text(self) -> str:
        """Everything in lines, with columns of equal width."""
        widths = [max(map(len, column)) for column in zip(*self._rows)]
        table = ["  ".join(cell.ljust(w) for cell, w in zip(row, widths)).rstrip() for row in self._rows]
        return "\n".join([*self._head, *table, *self._tail])

    def html(self) -> str:
        """The same in HTML; what trials have reported is text there, never markup."""
        headings, *rows = self._rows
        parts = ["<table><thead>", _row("th", headings), "</thead><tbody>", *(_row("td", row) for row in rows),
                 "</tbody></table>"]
        return "".join([*_lines(self._head), *parts, *_lines(self._tail)])

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Dict[str, str]:
        return {"text/plain": self.text(), "text/html": self.html()}


def _row(tag: str, cells: Sequence[str]) -> str:
    from html import escape

    return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"


def _lines(lines: Sequence[str]) -> List[str]:
    from html import escape

    return [f"<div>{escape(line)}</div>" for line in lines]
