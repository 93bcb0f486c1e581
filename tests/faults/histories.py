"""One state machine over everything that can happen to a record, and a model of what must be true afterwards.

Two processes append, change the state, forget and run steps; each may die at any primitive of the file layer, also in
the middle of a write; the other may append in the very gap. A person edits, breaks, deletes and restores files (as an
editor or git would: a new file in the place of the old one). The clock jumps, also back.

The model holds for every entry the set of values that are allowed: one, or several where a crash leaves it open
whether a change was already logged. After settling, the file, the fold of the log and one allowed value must be the
same; every acknowledged memory is there once; what was forgotten is nowhere in the bytes; the chains verify; nothing
is left open.

One ambiguity is allowed for, as state_files.py says: a hand that restores exactly what stood before a change that a
crash left open may see that change redone.
"""

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from lumen.audit.verify import verify
from lumen.clock import HeldClock
from lumen.errors import BrokenState, Refused
from lumen.json_value import Json
from lumen.record.documents import SOUL, SOUL_KEY, VALUES, Delta, Entries, Key, read_entries
from lumen.record.files import Files
from lumen.record.fold import Fold
from lumen.record.journal import day_path
from lumen.record.kernel_journal import KernelJournal
from lumen.record.line import Line
from lumen.record.reconcile import needs_reconciling, reconcile
from lumen.record.record import Record
from lumen.record.state_files import By
from lumen.record.strict_json import canonical

NAMES = ("care", "truth", "play")
WEIGHTS = (0.0, 0.25, 0.5, 1.0)
ABSENT = b"null"
FAST = "/dev/shm"


class Crash(BaseException):
    """The process is gone. Nothing may catch it."""


@dataclass
class Fate:
    """At which primitive the process dies (and after how much of a write), or somebody else gets a turn."""

    dies_at: int | None = None
    written: float = 0.5
    gap_at: int | None = None
    in_gap: Callable[[], None] | None = None
    count: int = 0

    def meet(self) -> bool:
        """One more primitive; True when it is the last."""
        self.count += 1
        if self.count == self.gap_at and self.in_gap:
            self.in_gap()
        return self.count == self.dies_at


class MortalFiles(Files):
    """Real files, without waiting for the disk; each primitive may be the last."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.fate = Fate()

    def _write(self, fd: int, content: bytes) -> int:
        if self.fate.meet():
            super()._write(fd, content[: int(len(content) * self.fate.written)])
            raise Crash
        return super()._write(fd, content)

    def _write_at(self, fd: int, content: bytes, offset: int) -> int:
        if self.fate.meet():
            super()._write_at(fd, content[: int(len(content) * self.fate.written)], offset)
            raise Crash
        return super()._write_at(fd, content, offset)

    def _sync(self, fd: int) -> None:
        if self.fate.meet():
            raise Crash

    def _rename(self, source: Path, target: Path) -> None:
        dies = self.fate.meet()
        if not dies or self.fate.written > 0.5:
            super()._rename(source, target)
        if dies:
            raise Crash

    def _unlink(self, path: Path) -> None:
        dies = self.fate.meet()
        if not dies or self.fate.written > 0.5:
            super()._unlink(path)
        if dies:
            raise Crash

    def _sync_folder(self, folder: Path) -> None:
        return


@dataclass
class Process:
    files: MortalFiles
    record: Record


@dataclass
class Pending:
    """A change that a crash interrupted: whether it was logged is open."""

    file: str
    key: Key
    before: bytes
    after: bytes


@dataclass
class Model:
    now: dict[str, dict[Key, set[bytes]]] = field(default_factory=dict)
    logged: dict[str, dict[Key, set[bytes]]] = field(default_factory=dict)
    pending: list[Pending] = field(default_factory=list)
    acknowledged: dict[str, str] = field(default_factory=dict)
    forgotten: set[str] = field(default_factory=set)
    perhaps_forgotten: set[str] = field(default_factory=set)

    def hand_wrote(self, file: str, entries: Entries) -> None:
        keys = {*self.now.get(file, {}), *entries}
        self.now[file] = {key: {canonical(entries.get(key))} for key in keys}
        for change in self.pending:
            if change.file == file and canonical(entries.get(change.key)) == change.before:
                self.now[file].setdefault(change.key, {ABSENT}).add(change.after)

    def is_certain_to_be_known(self, file: str) -> bool:
        """Whether the log surely explains something of this file, so that it can be rebuilt."""
        return any(ABSENT not in allowed for allowed in self.logged.get(file, {}).values())


class Histories(RuleBasedStateMachine):
    files_type: type[MortalFiles] = MortalFiles

    def __init__(self) -> None:
        super().__init__()
        self.root = Path(tempfile.mkdtemp(dir=FAST if os.path.isdir(FAST) else None, prefix="lumen-histories-"))
        self.clock = HeldClock(datetime(2026, 11, 18, 12, tzinfo=UTC))
        self.model = Model()
        self.tokens = 0
        self.snapshot: dict[str, bytes] = {}

    def make_record(self, files: MortalFiles) -> Record:
        return Record(files, self.clock)

    @initialize()
    def begin(self) -> None:
        (self.root / "goals").mkdir()
        (self.root / "memory").mkdir()
        (self.root / SOUL).write_bytes(b"")
        (self.root / VALUES).write_bytes(b"[]\n")
        self.processes = [self.started(), self.started()]

    def teardown(self) -> None:
        try:
            if hasattr(self, "processes"):
                self.everything_agrees()
        finally:
            shutil.rmtree(self.root, ignore_errors=True)

    # --- what processes do ---------------------------------------------------------------------------------------

    fates = st.builds(
        Fate,
        dies_at=st.none() | st.integers(1, 14),
        written=st.sampled_from((0.0, 0.1, 0.5, 0.95, 1.0)),
        gap_at=st.none() | st.integers(1, 10),
    )
    which = st.integers(0, 1)

    @rule(
        which=which,
        fate=fates,
        author=st.sampled_from(("self", "goal", "external")),
        size=st.sampled_from((1, 1, 80_000)),
    )
    def remember(self, which: int, fate: Fate, author: str, size: int) -> None:
        text = self.token() + "x" * size

        def act(record: Record) -> None:
            line = record.journal.append("self" if author == "self" else "external", "situation", text)
            self.acknowledge(line, text)

        self.live(which, fate, act)

    @rule(
        which=which,
        fate=fates,
        file=st.sampled_from(("values", "goals")),
        name=st.sampled_from(NAMES),
        weight=st.sampled_from(WEIGHTS),
        by=st.sampled_from(("reflection", "action", "person")),
    )
    def change_entry(self, which: int, fate: Fate, file: str, name: str, weight: float, by: By) -> None:
        path = VALUES if file == "values" else f"goals/{self.clock.now().year}.json"
        key = Key(name, 0)

        def edited(before: Json) -> Json:
            fields = before if isinstance(before, dict) else {"name": name, "status": "active"}
            return {**fields, "weight": weight}

        self.change(which, fate, path, key, edited, by)

    @rule(which=which, fate=fates, size=st.sampled_from((5, 70_000)), by=st.sampled_from(("reflection", "person")))
    def rewrite_soul(self, which: int, fate: Fate, size: int, by: By) -> None:
        text = f"# Soul {self.token()}\n" + "s" * size
        self.change(which, fate, SOUL, SOUL_KEY, lambda before: text, by)

    @precondition(lambda self: any(key not in self.model.forgotten for key in self.model.acknowledged))
    @rule(which=which, fate=fates, pick=st.integers(0, 99))
    def forget(self, which: int, fate: Fate, pick: int) -> None:
        candidates = [key for key in self.model.acknowledged if key not in self.model.forgotten]
        identity = candidates[pick % len(candidates)]
        if identity in self.model.perhaps_forgotten:
            return
        self.model.perhaps_forgotten.add(identity)

        def act(record: Record) -> None:
            record.forgetting.forget(identity, because="asked to")
            self.model.forgotten.add(identity)

        self.live(which, fate, act)

    @rule(which=which, fate=fates)
    def run_a_step(self, which: int, fate: Fate) -> None:
        def act(record: Record) -> None:
            journal = KernelJournal(record)
            intent = journal.intent("think", {}, turn="t1")
            journal.outcome(intent, "done", "done", {})

        self.live(which, fate, act)

    @rule(which=which, fate=fates)
    def restart(self, which: int, fate: Fate) -> None:
        self.processes[which].record.follower.keep(after=0)
        self.processes[which].record.close()
        self.processes[which] = self.started()
        done = []

        def act(record: Record) -> None:
            if needs_reconciling(record, record.fold()):
                reconcile(record)
            done.append(True)

        self.live(which, fate, act)
        for path in list(self.model.now):
            if done:
                self.resolve(path)
                self.model.logged[path] = {name: set(allowed) for name, allowed in self.model.now[path].items()}
            else:
                self.perhaps_logged(path)

    # --- what a person and the world do --------------------------------------------------------------------------

    @rule(
        file=st.sampled_from(("values", "goals")),
        name=st.sampled_from(NAMES),
        act=st.sampled_from(("reweight", "remove", "more fields", "reorder")),
        weight=st.sampled_from(WEIGHTS),
    )
    def edit_by_hand(self, file: str, name: str, act: str, weight: float) -> None:
        path = VALUES if file == "values" else f"goals/{self.clock.now().year}.json"
        entries = self.readable(path)
        if entries is None:
            return
        listed = {key.name: value for key, value in entries.items()}
        if act == "remove":
            listed.pop(name, None)
        elif act == "more fields":
            listed[name] = {"name": name, "weight": weight, "status": "active", "note": [1, {"deep": "ü"}]}
        elif act == "reorder":
            listed = dict(reversed(listed.items()))
        else:
            listed[name] = {"name": name, "weight": weight, "status": "active"}
        self.put(path, json.dumps(list(listed.values()), ensure_ascii=False, indent=1).encode())

    @rule()
    def write_soul_by_hand(self) -> None:
        if self.readable(SOUL) is not None:
            self.put(SOUL, f"# By hand {self.token()}\n".encode())

    @rule(file=st.sampled_from(("values", "goals", "soul")), how=st.sampled_from(("cut", "junk", "empty", "gone")))
    def break_by_hand(self, file: str, how: str) -> None:
        path = {"values": VALUES, "goals": f"goals/{self.clock.now().year}.json", "soul": SOUL}[file]
        if not self.model.is_certain_to_be_known(path) or (file == "soul" and how == "cut"):
            return
        raw = (self.root / path).read_bytes() if (self.root / path).exists() else b""
        (self.root / path).parent.mkdir(exist_ok=True)
        (self.root / path).unlink(missing_ok=True)
        if how != "gone":
            (self.root / path).write_bytes(
                {"cut": raw[: max(1, len(raw) // 2)], "junk": b"\xff\xfe{", "empty": b""}[how]
            )
        if how == "cut" and raw and self.parsed(path) is not None:
            self.model.hand_wrote(path, self.parsed(path) or {})
            return
        self.model.now[path] = {key: set(allowed) for key, allowed in self.model.logged.get(path, {}).items()}

    @rule()
    def commit(self) -> None:
        self.snapshot = {
            name: path.read_bytes()
            for path in (self.root / SOUL, self.root / VALUES, *sorted((self.root / "goals").glob("????.json")))
            if path.exists()
            and self.parsed(name := str(path.relative_to(self.root))) is not None
            and path.stat().st_size
        }

    @precondition(lambda self: bool(self.snapshot))
    @rule()
    def checkout(self) -> None:
        for name, raw in self.snapshot.items():
            self.put(name, raw)

    @rule(days=st.integers(-400, 400))
    def clock_jumps(self, days: int) -> None:
        self.clock.move(timedelta(days=days))

    @rule()
    def everything_agrees(self) -> None:
        """Open once more without faults; then nothing is open, and all that was promised holds."""
        fresh = self.started()
        fold = fresh.record.fold()
        if needs_reconciling(fresh.record, fold):
            reconcile(fresh.record)
        fold = fresh.record.fold()
        assert not fold.open_changes
        assert not fold.open_forgets
        assert not needs_reconciling(fresh.record, fold)
        self.states_agree(fresh)
        lines = [item for item in fresh.record.journal.scan() if isinstance(item, Line)]
        self.memories_are_there(fresh, lines)
        self.changes_are_explained(fresh, lines)
        self.chains_hold(fresh)
        self.kept_fold_is_the_whole_fold(fresh)
        fresh.record.follower.keep(after=0)
        fresh.record.close()

    # --- what must be true ---------------------------------------------------------------------------------------

    def states_agree(self, fresh: Process) -> None:
        fold = fresh.record.fold()
        for file in {*self.model.now, *fold.state}:
            found = fresh.record.states.entries(file)
            assert {key: canonical(value) for key, value in found.items()} == {
                key: canonical(value) for key, value in fold.entries(file).items()
            }, f"{file}: the file is not what the log adds up to"
            allowed = self.model.now.get(file, {})
            for key in {*allowed, *found}:
                value, expected = canonical(found.get(key)), allowed.get(key, {ABSENT})
                assert value in expected, f"{file} {key}: {value[:80]!r} is not among {[one[:80] for one in expected]}"
            self.model.now[file] = {key: {canonical(value)} for key, value in found.items()}
        self.model.logged = {
            file: {key: set(one) for key, one in keys.items()} for file, keys in self.model.now.items()
        }
        self.model.pending.clear()

    def memories_are_there(self, fresh: Process, lines: Sequence[Line]) -> None:
        by_id = {line.id: line for line in lines}
        assert len(by_id) == len(lines), "a line is read twice"
        raw = b"".join(path.read_bytes() for path in self.root.rglob("*") if path.is_file() and "run" not in path.parts)
        asked = {str(line.data.get("target")) for line in lines if line.event == "forget"}
        for identity, text in self.model.acknowledged.items():
            assert identity in by_id, "an acknowledged line is lost"
            if identity in asked:
                self.model.forgotten.add(identity)
            if identity in self.model.forgotten:
                assert by_id[identity].is_forgotten
                assert text[:12].encode() not in raw, "what was forgotten is still in the bytes"
            else:
                assert fresh.record.journal.whole(by_id[identity]).description == text
        self.model.perhaps_forgotten &= self.model.forgotten

    def changes_are_explained(self, fresh: Process, lines: Sequence[Line]) -> None:
        explained = {fresh.record.journal.whole(line).data.get("change") for line in lines if line.author == "self"}
        closed = {line.data.get("change") for line in lines if line.event == "applied"}
        for line in (fresh.record.journal.whole(line) for line in lines if line.event == "change"):
            assert line.id in closed
            assert line.data.get("by") != "reflection" or line.id in explained, "a change without its self memory"

    def chains_hold(self, fresh: Process) -> None:
        journal = fresh.record.journal
        verdict = verify(journal.scan(), has_blob=journal.has_blob, whole=journal.whole)
        assert verdict.holds, verdict.faults

    def kept_fold_is_the_whole_fold(self, fresh: Process) -> None:
        whole = Fold()
        for item in fresh.record.journal.scan():
            whole.take(fresh.record.journal.whole(item) if isinstance(item, Line) else item)
        fold = fresh.record.fold()
        assert (fold.state, +fold.memories, fold.forgotten) == (whole.state, +whole.memories, whole.forgotten)

    # --- below ---------------------------------------------------------------------------------------------------

    def started(self) -> Process:
        files = self.files_type(self.root)
        return Process(files, self.make_record(files))

    def live(self, which: int, fate: Fate, act: Callable[[Record], None]) -> None:
        """Let a process act; if it dies, another takes its place."""
        process = self.processes[which]
        other = self.processes[1 - which]

        def in_gap() -> None:
            text = self.token()
            self.acknowledge(other.record.journal.append("external", "meanwhile", text), text)

        fate.in_gap = in_gap
        process.files.fate = fate
        try:
            act(process.record)
            process.files.fate = Fate()
        except Crash:
            for fd in process.record._alive.values():
                os.close(fd)
            self.processes[which] = self.started()

    def change(self, which: int, fate: Fate, path: str, key: Key, edited: Callable[[Json], Json], by: By) -> None:
        made: list[Delta] = []

        def edit(entries: Entries) -> list[Delta]:
            made[:] = [Delta(key, entries.get(key), edited(entries.get(key)))]
            return made

        done = []

        def act(record: Record) -> None:
            try:
                record.states.change(path, edit, because="a reason", by=by)
            except (BrokenState, Refused):
                made.clear()
            done.append(True)

        self.live(which, fate, act)
        now, logged = self.model.now.setdefault(path, {}), self.model.logged.setdefault(path, {})
        if done and made:
            self.resolve(path)
            now[key] = {canonical(made[0].after)}
            self.model.logged[path] = {name: set(allowed) for name, allowed in now.items()}
            return
        self.perhaps_logged(path)
        if made:
            before, after = canonical(made[0].before), canonical(made[0].after)
            self.model.pending.append(Pending(path, key, before, after))
            now.setdefault(key, {ABSENT}).add(after)
            logged.setdefault(key, {ABSENT}).add(after)

    def perhaps_logged(self, path: str) -> None:
        """A process died while it settled a file: a hand's change may be in the log or not."""
        logged = self.model.logged.setdefault(path, {})
        for name, allowed in self.model.now.get(path, {}).items():
            logged.setdefault(name, {ABSENT}).update(allowed)

    def resolve(self, path: str) -> None:
        """A completed change settled its file: what was open about it is decided, and can be read off."""
        found = self.parsed(path) or {}
        now = self.model.now[path]
        for key in {*now, *found}:
            value = canonical(found.get(key))
            if key in now and len(now[key]) > 1 and value in now[key]:
                now[key] = {value}
        self.model.pending = [change for change in self.model.pending if change.file != path]

    def acknowledge(self, line: Line, text: str) -> None:
        assert line.place is not None
        today = self.clock.now().date().isoformat()
        days = [path.stem for path in (self.root / "memory").rglob("*.jsonl")]
        assert line.place.day == max([today, *days]), "a line was written into the past"
        assert (self.root / day_path(line.place.day)).exists()
        self.model.acknowledged[line.id] = text

    def put(self, path: str, raw: bytes) -> None:
        """What an editor or git does: another file in the place of the old one."""
        target = self.root / path
        target.parent.mkdir(exist_ok=True)
        target.unlink(missing_ok=True)
        target.write_bytes(raw)
        self.model.hand_wrote(path, read_entries(path, raw))

    def parsed(self, path: str) -> dict[Key, Json] | None:
        try:
            raw = (self.root / path).read_bytes() if (self.root / path).exists() else None
            return read_entries(path, raw)
        except ValueError:
            return None

    def readable(self, path: str) -> dict[Key, Json] | None:
        """What a person sees who opens the file; None when it is broken or gone and waits to be rebuilt."""
        found = self.parsed(path)
        return None if found is None or (not found and self.model.is_certain_to_be_known(path)) else found

    def token(self) -> str:
        self.tokens += 1
        return f"token{self.tokens:06d}."
