"""The table of 004's "Write Permissions Summary", twice: as it is written, and as the grants really are.

The written one is parsed from Markdown. The real one is read off the grants at run time: every public name on what a
loop holds is an act on one or more rows, and a name that stands in no row is an error. So a wrong cell fails, and so
does a Reader that has learnt to write.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from tests.house.repository import ROOT

WRITTEN: Final = Path(__file__).with_name("write_permissions.md")
SPECS: Final = ROOT.parent / "shared" / "specs"

Table = Mapping[str, Mapping[str, str]]
LOOPS: Final = ("Action Loop", "Explore Loop", "Reflection Loop")

STATUS: Final = "goals (status: todo/working/done)"
PERPETUAL: Final = "goals (status: perpetual)"
WEIGHT: Final = "goals (weight/existence)"
GOALS: Final = (STATUS, PERPETUAL, WEIGHT)

# What a grant holds -> each public name on it -> the rows it touches, and how.
ACTS: Final[Mapping[str, Mapping[str, tuple[Sequence[str], str]]]] = {
    "soul": {"read": (["soul.md"], "read"), "rewrite": (["soul.md"], "write")},
    "values": {
        **dict.fromkeys(("all", "active", "problems"), (["values.json"], "read")),
        **dict.fromkeys(("add", "reweight", "retire", "restore"), (["values.json"], "write")),
    },
    "goals": {
        **dict.fromkeys(("all", "active", "problems"), (GOALS, "read")),
        "open": ([STATUS], "read"),
        "perpetual": ([PERPETUAL], "read"),
        **dict.fromkeys(("start", "finish"), ([STATUS], "write")),
        "restate": ([STATUS, PERPETUAL], "write"),
        "revise": ([STATUS, PERPETUAL, WEIGHT], "write"),
        "reweight": ([WEIGHT], "write"),
        "add": ([PERPETUAL, WEIGHT], "write"),
    },
    "skills": {
        "all": (["skills"], "read"),
        "invocable": (["skills"], "invoke"),
        "create": (["skills"], "write"),
    },
    "memory": {
        **dict.fromkeys(("recent", "all", "on", "unreadable"), (["memory"], "read")),
        "remember": (["memory"], "write"),
    },
}
# design.md 4: DECIDE opens a goal for a missing skill. The one act of a loop that the table does not have.
EXCEPTIONS: Final = {("Action Loop", "goals", "open_skill_gap")}
# What the table does not speak of: asking a person, counting outcomes, and what skills say of themselves.
BESIDE: Final = {"Action Loop": {"inbox", "outcomes", "skill_help"}}


def parsed(markdown: str) -> dict[str, dict[str, str]]:
    """The table: row -> loop -> cell. Fails when it is not there or has another shape."""
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in _table_lines(markdown)]
    head, _rule, *body = rows
    assert head == ["File", *LOOPS]
    return {row[0]: dict(zip(LOOPS, row[1:], strict=True)) for row in body}


def written() -> dict[str, dict[str, str]]:
    return parsed(WRITTEN.read_text(encoding="utf-8"))


def specification() -> Path | None:
    """004 itself, when it lies beside the project."""
    return next(iter(sorted(SPECS.glob("004*.txt"))), None)


def acts(cell: str) -> frozenset[str]:
    """A cell as acts. Who may write skills may invoke them: 004, ACT, "Invoke a skill"."""
    stated = frozenset(re.sub(r"\(.*?\)", "", cell).replace(" ", "").split("+"))
    return stated | {"invoke"} if "create skill" in cell else stated


def real(grants: Mapping[str, object]) -> dict[str, dict[str, frozenset[str]]]:
    """What each loop's grant can really do: row -> loop -> acts. Fails on a name that no row knows."""
    found: dict[str, dict[str, frozenset[str]]] = {}
    for loop, grant in grants.items():
        holds = public(grant)
        assert holds == set(ACTS) | BESIDE.get(loop, set()), f"the grant of the {loop} holds {sorted(holds)}"
        for held, known in ACTS.items():
            for name in public(getattr(grant, held)):
                if (loop, held, name) in EXCEPTIONS:
                    continue
                assert name in known, f"{held}.{name} of the {loop} stands in no row of the table"
                rows, act = known[name]
                for row in rows:
                    cells = found.setdefault(row, {})
                    cells[loop] = cells.get(loop, frozenset()) | {act}
    return found


def disagreements(table: Table, grants: Mapping[str, object]) -> list[str]:
    """Each cell where the table and the grants differ."""
    there = real(grants)
    return [
        f"{row}, {loop}: the table says {sorted(acts(cell))}, the grant can {sorted(there[row][loop])}"
        for row, cells in table.items()
        for loop, cell in cells.items()
        if acts(cell) != there[row][loop]
    ] + [f"{row} is missing in the table" for row in there if row not in table]


def public(held: object) -> set[str]:
    return {name for name in dir(held) if not name.startswith("_")}


def _table_lines(markdown: str) -> list[str]:
    lines = [line.strip() for line in markdown.splitlines()]
    start = next(number for number, line in enumerate(lines) if line.startswith("| File |"))
    end = next((number for number in range(start, len(lines)) if not lines[number].startswith("|")), len(lines))
    return lines[start:end]
