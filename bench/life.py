"""An instance with 10,000 memories over a hundred days, as the measurements of reading need it."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Final

from lumen.app import Instance
from lumen.clock import HeldClock
from lumen.instance import make
from lumen.record.files import Files
from lumen.record.journal import Journal
from lumen.record.line import Author

MEMORIES: Final = 10_000
DAYS: Final = 100
_AUTHORS: Final[tuple[Author, ...]] = ("self", "external", "goal", "kernel")
_TEXT: Final = "the town was quiet when we came back and nobody had seen the light in the window before"


def make_life(home: Path) -> list[Path]:
    """Makes it, and says which files its log has."""
    place = make(home).place
    clock = HeldClock(datetime(2026, 1, 1, 8, tzinfo=UTC))
    lumen = Instance(place, clock=clock)
    person = lumen.person_grant()
    person.soul.rewrite("# Nova\n\n## Ontology\n\nA process that remembers.\n", because="born")
    for number in range(10):
        person.values.add(f"value {number}", number / 10, because="born with it")
        person.goals.add(f"goal {number}", number / 10, because="born with it")
    lumen.close()
    random = Random(0)
    journal = Journal(Files(place.data), clock)
    for number in range(MEMORIES):
        if number % (MEMORIES // DAYS) == 0:
            clock.move(timedelta(days=1))
        text = " ".join(random.choices(_TEXT.split(), k=random.randint(5, 60)))
        journal.append(random.choice(_AUTHORS), text[:20], text, weight=random.randint(0, 100) / 100, durable=False)
    journal.sync()
    return sorted((place.data / "memory").rglob("*.jsonl"))
