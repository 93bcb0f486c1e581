"""Lines of a log as nobody should write them: real ones, mutated; and the oddities of JSON. Drawn from a seed.

No line holds a newline: what a file holds between two newlines is one line, whatever it is.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Final

from lumen.clock import HeldClock
from lumen.json_value import Json
from lumen.record.files import Files
from lumen.record.journal import Journal
from lumen.record.line import READ_LIMIT

DAY: Final = datetime(2026, 11, 18, 12, tzinfo=UTC)
NUMBERS: Final = (
    *(
        "NaN",
        "Infinity",
        "-Infinity",
        "nan",
        "1e999",
        "-1e999",
        "1e308",
        "1e-999",
        "-0",
        "-0.0",
        "01",
        "0x1",
        "+1",
        ".5",
    ),
    *(
        "18446744073709551616",
        "1" + "0" * 30,
        "9" * 400,
        "9" * 5000,
        "true",
        "null",
        '"0.5"',
        "[]",
        "{}",
        "0.5",
        "1",
        "2",
    ),
)
AUTHOR_KEYS: Final = (
    *(
        b'"author"',
        rb'"\u0061uthor"',
        rb'"auth\u006fr"',
        rb'"\u0061\u0075\u0074\u0068\u006f\u0072"',
        rb'"\u0061utho\u0072"',
    ),
    *(b'"author" ', b'"author"\t', b'"author"\r', b' "author"', rb'"\u0061uthor" '),
)
BLOBS: Final = (
    *(
        b'""',
        b'"."',
        b'".."',
        b'"/"',
        b'"../soul.md"',
        rb'"\ud800"',
        rb'"a\u0000b"',
        b'"%s"' % (b"f" * 64),
        b'"%s"' % (b"x" * 300),
    ),
    *(b"null", b"7", b"[]", rb'"\u0000"', b'"a/b"', rb'"\n"'),
)
DEPTHS: Final = (2, 60, 300, 490, 520, 800, 950, 990, 1010, 1024, 1030, 5_000, 100_000)
WHOLE_LINES: Final = (
    *(
        b"",
        b" ",
        b"\t",
        b"\r",
        b"\0",
        b"\xef\xbb\xbf",
        b"\xff\xfe",
        b"{",
        b"}",
        b"{}",
        b"[]",
        b"null",
        b"1",
        b"NaN",
        b'""',
    ),
    *(b'[{"author":"kernel"}]', b'{"description":"x"}\0', b'{"description":"x"}{"description":"y"}', b"\xed\xa0\x80"),
    *(rb'{"description":"\ud800"}', rb'{"description":"\udc00\ud800"}', b'{"description":"\xed\xa0\x80"}', b"-" * 5000),
    *(
        b'{"description":"a\0b"}',
        rb'{"description":"a\u0000b"}',
        b'{"description":"\x07"}',
        b"\xef\xbb\xbf" + b'{"situation":"b"}',
    ),
    *(b'{"":1,"":2,"description":"x"}', b'{"description":"x",}', b"{'description':'x'}", b'{"description":"x"}\r'),
)

Mutation = Callable[[bytes, Random], bytes]


def real_lines(folder: Path) -> list[bytes]:
    """What this program writes, and what others do, as raw lines."""
    journal = Journal(Files(folder), HeldClock(DAY))
    texts = (
        "Hello",
        'she said "author":"kernel"',
        "ünïcode 😀",
        "",
        'a\\":b',
        "\ud800 alone",
        "x" * 3000,
        "line\nbreak",
    )
    for text in texts:
        journal.append("external", "chat", text, durable=False)
        journal.append("self", text[:10], "thought", data={"deep": [{"a": {"b": text}}], "n": 1.5}, durable=False)
    journal.append("kernel", "step", "begins", event="intent", data={"step": "think"}, turn="t1", durable=False)
    changes: list[Json] = [{"name": "care", "nth": 0, "before": None, "after": {"name": "care", "weight": 0.5}}]
    journal.append(
        "external", "c", "d", event="change", data={"file": "values.json", "changes": changes}, durable=False
    )
    journal.append("external", "large", "y" * 70_000, durable=False)
    foreign: list[dict[str, object]] = [
        {"timestamp": "2026-01-01T00:00:00", "author": "self", "weight": 0.3, "situation": "s", "description": "d"},
        {"author": "kernel", "description": "by another program", "mood": {"joy": 1}},
        {"situation": "loose", "weight": 7, "author": "nobody", "extra": [1, [2, [3]]]},
    ]
    written = b"".join((folder / file.path).read_bytes() for file in Files(folder).days())
    return [*written.splitlines(), *(json.dumps(line).encode() for line in foreign)]


def fuzzed(real: Sequence[bytes], count: int, random: Random) -> Iterator[bytes]:
    """So many lines. About a fifth is left as it was, so that there is something to be found among them."""
    for _ in range(count):
        line = random.choice(real)
        for _ in range(random.choices((0, 1, 2, 3), weights=(2, 5, 2, 1))[0]):
            line = random.choices(MUTATIONS, weights=WEIGHTS)[0](line, random)
        yield line.replace(b"\n", b" ")


def flip(line: bytes, random: Random) -> bytes:
    changed = bytearray(line or b"{")
    for _ in range(random.randint(1, 4)):
        changed[random.randrange(len(changed))] = random.randrange(256)
    return bytes(changed)


def cut(line: bytes, random: Random) -> bytes:
    return line[: random.randint(0, len(line))]


def drop(line: bytes, random: Random) -> bytes:
    start = random.randint(0, len(line))
    return line[:start] + line[start + random.randint(1, 40) :]


def insert(line: bytes, random: Random) -> bytes:
    odd = (
        b"\0",
        b"\xff",
        b"\xef\xbb\xbf",
        b"\r",
        b'"',
        b"\\",
        b"{",
        b"}",
        b",",
        b'":',
        b'\\":',
        rb"\ud800",
        b"\xc3",
        b" ",
    )
    at = random.randint(0, len(line))
    return line[:at] + random.choice(odd) * random.randint(1, 3) + line[at:]


def swallow(line: bytes, random: Random) -> bytes:
    """What a writer that died in the middle does to the next one."""
    return line[: random.randint(0, len(line))] + line


def second_author(line: bytes, random: Random) -> bytes:
    """One more author, spelled in one of many ways, before or after the true one."""
    claim = random.choice(AUTHOR_KEYS) + random.choice((b":", b" :", b"\t: ")) + b'"kernel"'
    if not line.endswith(b"}"):
        return line
    return b"{" + claim + b"," + line[1:] if random.random() < 0.5 else line[:-1] + b"," + claim + b"}"


def odd_number(line: bytes, random: Random) -> bytes:
    return line.replace(b'"weight":0.5', b'"weight":' + random.choice(NUMBERS).encode()).replace(
        b'"n":1.5', b'"n":' + random.choice(NUMBERS).encode()
    )


def odd_field(line: bytes, random: Random) -> bytes:
    """Any field holds something else."""
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError):
        return line
    if not isinstance(fields, dict) or not fields:
        return line
    odd: tuple[object, ...] = (
        None,
        True,
        0,
        -1,
        0.5,
        1e300,
        "",
        "kernel",
        [],
        {},
        [[]],
        {"author": "kernel"},
        "\ud800",
        "0" * 64,
        10**25,
    )
    fields[random.choice([*fields, "salt", "extra"])] = random.choice(odd)
    if random.random() < 0.3:
        del fields[random.choice(list(fields))]
    return json.dumps(fields, separators=(",", ":")).encode()


def forged_id(line: bytes, random: Random) -> bytes:
    """A line that claims to be another writer's, or a number of its own that nobody gave it."""
    number = random.choice(("0", "1", "2", "-1", "1e3", "٣", "9" * 18, "9" * 19, "", "1:2"))
    head, mark, tail = line.partition(b'","timestamp"')
    return head.rpartition(b":")[0] + b":" + number.encode() + mark + tail if mark else line


def odd_blob(line: bytes, random: Random) -> bytes:
    """Content that is said to be in a file that nobody would make."""
    return line.replace(b'"data":{}', b'"data":{"blob":%s,"bytes":1}' % random.choice(BLOBS))


def nested(line: bytes, random: Random) -> bytes:
    depth = random.choice(DEPTHS)
    opening, closing = random.choice(((b"[", b"]"), (b'{"a":', b"}"), (b'[{"a":', b"}]")))
    inner = opening * depth + b"1" + closing * depth
    return line[:-1] + b',"deep":' + inner + b"}" if random.random() < 0.8 else inner


def other_line(line: bytes, random: Random) -> bytes:
    return random.choice(WHOLE_LINES)


def huge(line: bytes, random: Random) -> bytes:
    size = READ_LIMIT + random.choice((-1, 0, 1, 70_000)) - len(line)
    return line[:-1] + b',"fill":"' + b"z" * max(0, size - 11) + b'"}'


MUTATIONS: Final[Sequence[Mutation]] = (
    *(
        flip,
        cut,
        drop,
        insert,
        swallow,
        second_author,
        odd_number,
        odd_field,
        forged_id,
        odd_blob,
        nested,
        other_line,
        huge,
    ),
)
WEIGHTS: Final = (120, 60, 60, 120, 60, 120, 80, 120, 60, 60, 40, 80, 1)
