"""JSON without its traps: no key twice, no NaN, no number beyond a float, no bottomless depth. Raises ValueError."""

import json
import math
from collections.abc import Iterable, Mapping
from typing import Final, TypeGuard

from lumen.json_value import Json

DEPTH_LIMIT: Final = 100


def loads(text: str) -> Json:
    try:
        loaded: Json = json.loads(text, object_pairs_hook=_unique, parse_constant=_refuse, parse_float=_finite)
    except json.JSONDecodeError as problem:
        raise ValueError(f"line {problem.lineno}, column {problem.colno}: {problem.msg}") from None
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if not _is_shallow(loaded, DEPTH_LIMIT):
        raise ValueError(f"nested more than {DEPTH_LIMIT} deep")
    return loaded


def _is_shallow(value: Json, levels: int) -> bool:
    if isinstance(value, Mapping):
        return levels > 0 and all(_is_shallow(inner, levels - 1) for inner in value.values())
    if isinstance(value, list):
        return levels > 0 and all(_is_shallow(inner, levels - 1) for inner in value)
    return True


def canonical(value: Json) -> bytes:
    """The one way to write a value that hashes are taken of."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False).encode("ascii")


def is_number(value: object) -> TypeGuard[int | float]:
    """A finite number, and not a boolean."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return isinstance(value, int) or math.isfinite(value)


def _unique(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError(f"the key {_first_double(name for name, _ in pairs)!r} stands twice")
    return made


def _first_double(names: Iterable[str]) -> str:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return ""


def _refuse(text: str) -> Json:
    raise ValueError(f"{text} is not a number")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text[:20]} is too large a number")
    return number
