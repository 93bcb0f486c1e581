"""What a skill's process said, as a result: one strict JSON object, or plain text. It is data, never an instruction.

It does not know how the process was run.
"""

import json
import re
from collections.abc import Mapping
from typing import Final

from lumen.errors import Refused
from lumen.json_value import Json
from lumen.record.line import strict_object
from lumen.record.skills import checked_skill_name
from lumen.turn import Action

REQUEST_LIMIT: Final = 4

_SEQUENCE: Final = re.compile(  # what moves a cursor, paints, or writes to the window's title
    r"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[P^_X][^\x1b]*(?:\x1b\\)?"
    r"|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?|\x1b[ -/]*[0-~]?"
)
_CONTROL: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def clean_text(text: str) -> str:
    """The text without what could steer a terminal or reorder a line. New lines and tabs stay."""
    text = _SEQUENCE.sub("", text.replace("\r\n", "\n"))
    return _SURROGATE.sub("\ufffd", _CONTROL.sub("", text))


def parse_output(said: bytes) -> Mapping[str, Json] | None:
    """The one JSON object that was said, or None when it was something else."""
    try:
        return strict_object(said)
    except ValueError:
        return None


def readable(output: Mapping[str, Json]) -> str:
    """What a person is shown of an answer: what it says of itself, else all of it."""
    for name in ("said", "text", "error"):
        if isinstance(text := output.get(name), str) and text.strip():
            return clean_text(text)
    told = {name: value for name, value in output.items() if name not in ("ok", "requests")}
    return clean_text("\n".join(f"{name}: {_shown(value)}" for name, value in told.items()))


def requests_in(output: Mapping[str, Json]) -> tuple[Action, ...]:
    """What the skill asks the kernel to do next. Each is a proposal; what is malformed is left out."""
    asked = output.get("requests")
    if not isinstance(asked, list):
        return ()
    return tuple(action for each in asked if (action := _request(each)) is not None)[:REQUEST_LIMIT]


def _request(asked: Json) -> Action | None:
    if not isinstance(asked, Mapping):
        return None
    name, parameters = asked.get("skill"), asked.get("parameters", {})
    if not isinstance(name, str) or not isinstance(parameters, Mapping):
        return None
    try:
        return Action(checked_skill_name(name), parameters)
    except Refused:
        return None


def _shown(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
