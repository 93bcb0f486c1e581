"""What values and goals have in common: a name, a weight within 0 to 1, and problems that a person's hand can leave."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from lumen.errors import Refused
from lumen.json_value import Json
from lumen.record.strict_json import is_number

NAME_LIMIT: Final = 500


@dataclass(frozen=True, slots=True)
class Problem:
    """An entry that cannot be used as it stands. Loops refuse to start; reading goes on."""

    file: str
    line: int
    text: str
    field: str = ""

    @classmethod
    def of(cls, field: str, text: str) -> "Problem":
        """A problem whose place is not known yet."""
        return cls("", 0, text, field)

    def __str__(self) -> str:
        return f"{self.file}, line {self.line}: {self.text}"


def checked_name(name: str) -> str:
    """A name to be stored. Raises Refused."""
    name = name.strip()
    if not name or len(name) > NAME_LIMIT or not name.isprintable():
        raise Refused(f"A name is one line of 1 to {NAME_LIMIT} printable characters, not {name[:40]!r}.")
    return name


def checked_weight(weight: object) -> float:
    """A weight to be stored. Raises Refused."""
    if not is_number(weight) or not 0 <= weight <= 1:
        raise Refused(f"A weight is a number from 0 to 1, not {weight!r}.")
    return float(weight)


def weight_problem(name: str, weight: Json) -> Problem | None:
    if is_number(weight) and 0 <= weight <= 1:
        return None
    return Problem.of("weight", f"{name}: weight is {weight!r}, not a number from 0 to 1: correct it there")


def fields_of(entry: Json) -> Mapping[str, Json]:
    return entry if isinstance(entry, Mapping) else {}
