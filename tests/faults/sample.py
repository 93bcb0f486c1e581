"""A small instance to be ill-treated: a soul, two values, a goal of last year, some memories, one of them in a blob.

Its log ends in the year before the commands run, so that the next line has to make a folder and a file.
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from lumen import instance
from lumen.app import Instance
from lumen.clock import HeldClock

SECRET = "the secret that will be forgotten"


@dataclass(frozen=True)
class Sample:
    home: Path
    secret: str  # the id of the memory that holds SECRET
    large_secret: str  # and of one that holds it in a blob


def make_sample(home: Path) -> Sample:
    place = instance.make(home).place
    lumen = Instance(place, clock=HeldClock(datetime(2024, 12, 31, 23, 59, tzinfo=UTC)))
    person = lumen.person_grant()
    person.soul.rewrite("# Nova\n\nOntology: a test\n", because="to have one")
    person.values.add("care", 0.5, because="to have one")
    person.values.add("truth", 0.7, because="to have another")
    person.goals.add("finish the house", 0.4, because="to have one")
    secret = person.memory.remember("external", "chat", SECRET)
    large_secret = person.memory.remember("external", "chat", SECRET + " in a blob" + "." * 70_000)
    person.memory.remember("self", "afterwards", "something to keep")
    lumen.close()
    return Sample(place.home, secret.id, large_secret.id)
