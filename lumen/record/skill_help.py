"""What each skill says of itself, kept under the hash of its content. Derived: deleted, the skills are asked again."""

import re
from typing import Final

from lumen.record.record import Record

_HASH: Final = re.compile(r"[0-9a-f]{64}", re.ASCII)


class SkillHelp:
    def __init__(self, record: Record) -> None:
        self._record = record

    def known(self, sha256: str) -> str | None:
        raw = self._record.files.read(_name(sha256)) if _HASH.fullmatch(sha256) else None
        return None if raw is None else raw.decode("utf-8", "replace")

    def keep(self, sha256: str, text: str) -> None:
        if _HASH.fullmatch(sha256):
            self._record.files.note(_name(sha256), text.encode("utf-8", "replace"))


def _name(sha256: str) -> str:
    return f"index/help/{sha256}.txt"
