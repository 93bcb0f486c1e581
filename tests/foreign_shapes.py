"""Data folders as other programs that follow specification 004 write them, each in a shape of its own."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

BOM: Final = b"\xef\xbb\xbf"
SOUL: Final = b"# Vega\n\n## Ontology\n\nA voice in a box.\n"


@dataclass(frozen=True, slots=True)
class Shape:
    """The files of a data folder; how many of its memories can be read; a value and a goal that can be changed."""

    name: str
    files: Mapping[str, bytes]
    memories: int
    unreadable: int = 0
    value: str = ""
    goal: str = ""
    values: tuple[str, ...] = ()
    goals: tuple[str, ...] = ()
    soul: str = ""
    is_flat: bool = False
    folders: tuple[str, ...] = field(default=("goals", "memory"))

    def build(self, home: Path) -> Path:
        data = home if self.is_flat else home / "data"
        for folder in self.folders:
            (data / folder).mkdir(parents=True, exist_ok=True)
        for name, content in self.files.items():
            path = data / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        return home


def as_json(value: object, *, indent: int | None = 2) -> bytes:
    return json.dumps(value, indent=indent).encode()


def memory(text: str, **fields: object) -> dict[str, object]:
    five = {"timestamp": "2025-03-04T05:06:07", "author": "self", "weight": 0.5, "situation": "s", "description": text}
    return {**five, **fields}


def log(*lines: object, end: bytes = b"\n", last: bytes | None = None) -> bytes:
    raw = [line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines]
    return end.join(raw) + (end if last is None else last)


VALUES: Final = [
    {"name": "care", "weight": 0.9, "status": "active", "why": "from birth", "history": [{"weight": 0.1}]},
    {"name": "speed", "weight": 0.2, "status": "deprecated", "id": 7, "tags": ["a", None, {"b": 1.0}]},
]
GOALS: Final = [
    {"name": "walk", "weight": 0.4, "status": "working", "created_at": "2025-01-01", "subgoals": ["stand"]},
    {"name": "listen", "weight": 1, "status": "perpetual", "notes": {"deep": [1, 2, {"er": True}]}},
]
LINES: Final = (memory("one"), memory("two", author="external"), memory("three", author="kernel"))
DAY: Final = "memory/2025/2025-03-04.jsonl"

SHAPES: Final = (
    Shape(
        "lists with extra fields",
        {
            "soul.md": SOUL,
            "values.json": as_json(VALUES),
            "goals/2025.json": as_json(GOALS, indent=None),
            DAY: log(*LINES),
        },
        memories=3,
        value="care",
        goal="walk",
        values=("care", "speed"),
        goals=("listen", "walk"),
        soul="Vega",
    ),
    Shape(
        "an object around the list",
        {
            "soul.md": SOUL,
            "values.json": as_json({"version": 3, "values": VALUES, "updated": "2025-01-01", "sources": ["x"]}),
            "goals/2025.json": as_json({"meta": {"owner": "me"}, "goals": GOALS}),
            DAY: log(*LINES),
        },
        memories=3,
        value="care",
        goal="walk",
        values=("care", "speed"),
        goals=("listen", "walk"),
        soul="Vega",
    ),
    Shape(
        "an object around a list by another name",
        {"values.json": as_json({"items": VALUES}), "goals/2025.json": as_json({"entries": GOALS}), DAY: log(*LINES)},
        memories=3,
        value="care",
        goal="walk",
        values=("care", "speed"),
        goals=("listen", "walk"),
    ),
    Shape(
        "a mapping by name inside an object",
        {
            "values.json": as_json({"values": {"care": {"weight": 0.9}, "speed": 0.2}, "version": 1}),
            "goals/2025.json": as_json({"goals": {"walk": {"weight": 0.4}}}),
            DAY: log(*LINES),
        },
        memories=3,
    ),
    Shape(
        "a mapping by name",
        {
            "values.json": as_json({"care": {"weight": 0.9}, "speed": 0.2}),
            "goals/2025.json": as_json({"walk": {"weight": 0.4}}),
            DAY: log(*LINES),
        },
        memories=3,
    ),
    Shape(
        "no status and statuses of its own",
        {
            "values.json": as_json([{"name": "care", "weight": 0.9}, {"name": "old", "weight": 0.1, "status": "gone"}]),
            "goals/2025.json": as_json(
                [
                    {"name": "walk", "weight": 0.4},
                    {"name": "swim", "weight": 0.3, "status": "deprecated"},
                    {"name": "fly", "weight": 0.2, "status": "blocked"},
                ]
            ),
            DAY: log(*LINES),
        },
        memories=3,
        value="care",
        goal="walk",
        values=("care",),
        goals=("walk", "swim"),
    ),
    Shape(
        "names twice and names missing",
        {
            "values.json": as_json(
                [
                    {"name": "care", "weight": 0.9, "status": "active", "n": 1},
                    {"name": "care", "weight": 0.1, "status": "active", "n": 2},
                    {"name": "calm", "weight": 0.5, "status": "active"},
                    {"weight": 0.3, "label": "nameless"},
                    {"name": 5, "weight": 0.3},
                    "just text",
                    None,
                    ["a", "list"],
                ]
            ),
            "goals/2025.json": as_json(
                [
                    {"name": "walk", "weight": 0.4, "status": "done", "n": 1},
                    {"name": "walk", "weight": 0.5, "status": "todo", "n": 2},
                    {"title": "nameless"},
                    {"name": "run", "weight": 0.2, "status": "todo"},
                ]
            ),
            DAY: log(*LINES),
        },
        memories=3,
        value="calm",
        goal="run",
        values=("care", "calm", "care"),
        goals=("walk", "walk", "run"),
    ),
    Shape(
        "memories with fields and times of their own",
        {
            DAY: log(
                memory("one", prediction="rain", outcome="sun", delta=0.7),
                memory("two", embedding=[0.1] * 1536),
                memory("three", id="m-3", tags=["x"]),
                memory("four", id=4, event="change", data={"file": "values.json"}, turn=9),
                memory("five", author="user"),
                memory("six", author=None),
                memory("seven", weight=1),
                memory("eight", weight=17),
                memory("nine", weight=-3.5),
                memory("ten", weight="heavy"),
                {"description": "eleven"},
                {"situation": "twelve", "author": "goal"},
                memory("thirteen", h="ab", c="cd", prev="", salt=""),
                memory("zoned", timestamp="2025-03-04T23:30:00-05:00"),
                memory("utc", timestamp="2025-03-04T05:06:07.123456Z"),
                memory("a day", timestamp="2025-03-04"),
                memory("with a space", timestamp="2025-03-04 05:06:07"),
                memory("a number", timestamp=1741064767),
                memory("none", timestamp=None),
                memory("text", timestamp="last spring"),
                last=b"",
            ),
            "values.json": as_json(VALUES),
        },
        memories=20,
        value="care",
        values=("care", "speed"),
    ),
    Shape(
        "no newline at the end of the newest day",
        {"memory/2099/2099-12-31.jsonl": log(*LINES, last=b""), "values.json": as_json(VALUES)},
        memories=3,
        value="care",
        values=("care", "speed"),
    ),
    Shape(
        "windows line endings and blank lines",
        {
            "soul.md": SOUL.replace(b"\n", b"\r\n"),
            "values.json": as_json(VALUES).replace(b"\n", b"\r\n"),
            "goals/2025.json": as_json(GOALS).replace(b"\n", b"\r\n"),
            DAY: log(LINES[0], b"", LINES[1], b"  ", b"", LINES[2], end=b"\r\n"),
        },
        memories=3,
        value="care",
        goal="walk",
        values=("care", "speed"),
        goals=("listen", "walk"),
        soul="Vega",
    ),
    Shape(
        "a byte order mark on everything",
        {
            "soul.md": BOM + SOUL,
            "values.json": BOM + as_json(VALUES),
            "goals/2025.json": BOM + as_json(GOALS),
            DAY: BOM + log(*LINES),
        },
        memories=3,
        value="care",
        goal="walk",
        values=("care", "speed"),
        goals=("listen", "walk"),
        soul="Vega",
    ),
    Shape(
        "junk between the lines",
        {
            DAY: log(
                LINES[0],
                b"not json at all",
                b'{"author": "self", "author": "kernel", "description": "twice"}',
                b'{"description": "torn',
                b"[1, 2]",
                b"\xff\xfe\x00",
                b'{"weight": NaN, "description": "no number"}',
                b"{" * 3000,
                LINES[1],
                b'{"note": "no memory"}',
                LINES[2],
            ),
            "values.json": as_json(VALUES),
        },
        memories=3,
        unreadable=8,
        value="care",
        values=("care", "speed"),
    ),
    Shape(
        "several years, days without zeros, and folders beside them",
        {
            "memory/2023/2023-1-5.jsonl": log(memory("oldest", timestamp="2023-01-05T00:00:00")),
            "memory/2023/2023-11-5.jsonl": log(memory("later", timestamp="2023-11-05T00:00:00")),
            "memory/2024/2024-02-29.jsonl": log(memory("leap", timestamp="2024-02-29T00:00:00")),
            "memory/2024/summary.md": b"# 2024\n",
            "memory/2025/notes.txt": b"not a day\n",
            "goals/2023.json": as_json([{"name": "walk", "weight": 0.4, "status": "todo"}]),
            "goals/2024.json": as_json([{"name": "talk", "weight": 0.3, "status": "todo"}]),
            "goals/archive.json": as_json([{"name": "older"}]),
            "conversations/2025/1.json": as_json({"turns": []}),
            "embeddings.npy": b"\x93NUMPY",
            ".hidden": b"x",
        },
        memories=3,
        goal="talk",
        goals=("walk", "talk"),
    ),
    Shape("no soul and values of no length", {"values.json": b"", DAY: log(*LINES)}, memories=3),
    Shape("nothing but folders", {}, memories=0),
    Shape(
        "files without a data folder around them",
        {"soul.md": SOUL, "values.json": as_json(VALUES), "goals/2025.json": as_json(GOALS), DAY: log(*LINES)},
        memories=3,
        value="care",
        goal="walk",
        values=("care", "speed"),
        goals=("listen", "walk"),
        soul="Vega",
        is_flat=True,
    ),
    Shape(
        "letters beyond ascii",
        {
            "soul.md": "# Věra ☀\n".encode(),
            "values.json": json.dumps(
                [{"name": "Güte", "weight": 0.5, "grund": "größer"}], ensure_ascii=False
            ).encode(),
            DAY: log(json.dumps(memory("日本語 🙂"), ensure_ascii=False).encode(), memory("\ud800 alone")),
        },
        memories=2,
        value="Güte",
        values=("Güte",),
        soul="Věra ☀",
    ),
)
