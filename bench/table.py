"""One table for everything that was measured."""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

from bench.measure import Cost


@dataclass(frozen=True, slots=True)
class Row:
    """What was measured, and against what. The ratio is of CPU time; wall time stands beside it where it matters."""

    measured: str
    cost: Cost
    against: str
    yardstick: Cost
    each: int = 1  # how many entries the costs are of
    at_most: float | None = None
    shows_wall: bool = False

    @property
    def times(self) -> float:
        return self.cost.cpu / self.yardstick.cpu

    @property
    def verdict(self) -> str:
        if self.at_most is None:
            return ""
        return "met" if self.times <= self.at_most else "not met"


def show(rows: Sequence[Row]) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("measured", "CPU", "against", "its CPU", "ratio", "target", "", "wall", "its wall", "ratio"):
        table.add_column(column, justify="left" if column in ("measured", "against", "") else "right", no_wrap=True)
    for row in rows:
        wall = (
            (_time(row.cost.wall / row.each), _time(row.yardstick.wall / row.each), _ratio(row))
            if row.shows_wall
            else ()
        )
        table.add_row(
            row.measured,
            _time(row.cost.cpu / row.each),
            row.against,
            _time(row.yardstick.cpu / row.each),
            f"{row.times:.2f} x",
            "" if row.at_most is None else f"<= {row.at_most:g} x",
            row.verdict,
            *wall,
        )
    Console(width=200, highlight=False).print(table)


def _ratio(row: Row) -> str:
    return f"{row.cost.wall / row.yardstick.wall:.2f} x"


def _time(seconds: float) -> str:
    return f"{seconds * 1e3:.1f} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.1f} us"
