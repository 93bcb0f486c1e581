"""What replaced what: a memory that begins like a correction stands above the older one it is about.

The link is known for sure when the agent's own reply of that time is among the memories, since it names both ids.
Otherwise a correction and an older memory belong together when they share enough content words. Two plain statements
that say nearly the same also conflict, and the newer one stands. Nothing is deleted: the older one is shown
as corrected.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from lumen.questions import MemoryView
from lumen.substrate.acts import ActReader
from lumen.substrate.ranking import Ranked

SHARED_FLOOR: Final = 0.34  # of the words of the shorter one
SAME_STATEMENT: Final = 0.5  # of the words of both
_ID: Final = re.compile(r"\[([^\[\]\s]+)\]")


class Corrections:
    def __init__(self, acts: ActReader, reply_begins: str) -> None:
        """`reply_begins` is how a reply to a correction starts when it is stored."""
        self._acts = acts
        self._reply_begins = reply_begins

    def standing(self, ranked: Sequence[Ranked], memories: Sequence[MemoryView]) -> tuple[list[Ranked], dict[str, str]]:
        """The memories with every corrected one behind its correction, and old id -> new id of what was replaced."""
        known = self._known(memories)
        replaced: dict[str, str] = {}
        for newer in ranked:
            for older in ranked:
                if newer.memory.timestamp > older.memory.timestamp and self._replaces(newer, older, known):
                    current = replaced.get(older.memory.id)
                    replaced[older.memory.id] = _newest(current, newer.memory.id, ranked)
        return _lifted(ranked, replaced), replaced

    def _replaces(self, newer: Ranked, older: Ranked, known: Mapping[str, str]) -> bool:
        if older.memory.id in known:
            return known[older.memory.id] == newer.memory.id
        if newer.memory.situation != older.memory.situation:
            return False
        shared = len(newer.stems & older.stems)
        if self._acts.looks_like_a_correction(newer.memory.description):
            return shared >= SHARED_FLOOR * max(1, min(len(newer.stems), len(older.stems)))
        return False

    def _known(self, memories: Sequence[MemoryView]) -> dict[str, str]:
        """Old id -> new id, from replies that name both."""
        by_short = {memory.short_id: memory.id for memory in memories}
        found: dict[str, str] = {}
        for memory in sorted(memories, key=lambda each: each.timestamp):
            if memory.situation != "reply" or not memory.description.startswith(self._reply_begins):
                continue
            ids = [by_short[short] for short in _ID.findall(memory.description) if short in by_short]
            if len(ids) > 1:
                found[ids[1]] = ids[0]
        return found


def conflicting(first: Ranked, others: Sequence[Ranked]) -> Ranked:
    """`first`, or the newest statement by the same person that says nearly the same."""
    same = [
        each
        for each in others
        if each.memory.situation == first.memory.situation
        and each.is_close
        and len(each.stems & first.stems) >= SAME_STATEMENT * max(1, len(each.stems | first.stems))
    ]
    return max([first, *same], key=lambda each: (each.memory.timestamp, each is first))


def _newest(one: str | None, other: str, ranked: Sequence[Ranked]) -> str:
    times = {each.memory.id: each.memory.timestamp for each in ranked}
    return other if one is None or times[other] >= times[one] else one


def _lifted(ranked: Sequence[Ranked], replaced: Mapping[str, str]) -> list[Ranked]:
    """A correction takes the place of the best memory it replaced when that stands higher."""
    by_id = {each.memory.id: each for each in ranked}
    order: dict[str, Ranked] = {}
    for each in ranked:
        newest = each.memory.id
        seen = {newest}
        while newest in replaced and replaced[newest] not in seen:
            newest = replaced[newest]
            seen.add(newest)
        order.setdefault(newest, by_id[newest])
        order.setdefault(each.memory.id, each)
    return list(order.values())
