"""What a person sees: reports as text or as JSON. Prints, and decides nothing.

Text from memories is shown, never obeyed: control characters, which could move the cursor or hide a line, come out as
escapes.
"""

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, TextIO

from lumen.app import Look
from lumen.errors import OutputFailed
from lumen.json_value import Json
from lumen.record.goals import Goal, PerpetualGoal
from lumen.record.line import AUTHORS, Line, Unreadable, as_fields
from lumen.record.skills import Skill
from lumen.record.state_files import Finding
from lumen.record.values import Value

if TYPE_CHECKING:
    from lumen.audit.verify import Verdict

_TOP: Final = 10
_CODES: Final = {"bold": "1", "dim": "2", "red": "1;31", "green": "1;32", "yellow": "33"}
_AUTHOR_CODES: Final = {"self": "35", "kernel": "2", "goal": "32", "external": "36"}


def plain(text: str, *, lines: bool = False) -> str:
    """Text from anywhere, made harmless for a terminal. A newline, too, unless it may run over several lines."""
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() or (lines and character == "\n") else _escaped(character)
        for character in text
    )


def say(text: str) -> None:
    put(plain(text))


def say_lines(text: str) -> None:
    put(plain(text, lines=True))


def complain(text: str) -> None:
    put(styled("lumen: ", "red", sys.stderr) + plain(text), sys.stderr)


def notice(text: str) -> None:
    put(styled("! ", "yellow", sys.stderr) + plain(text), sys.stderr)


def as_json(value: Json) -> None:
    put(_json(value, indent=2))


def json_list(values: Iterable[Json]) -> None:
    """A JSON list, written as it comes: it may be longer than memory."""
    opened = "["
    for value in values:
        put(f"{opened}\n  {_json(value)}", end="")
        opened = ","
    put("\n]" if opened == "," else "[]")


def changes(words: Sequence[str], otherwise: str) -> None:
    for word in words:
        say(f"  {word}")
    if not words:
        say(otherwise)


@contextmanager
def progress(title: str) -> Iterator[Callable[[int], None]]:
    """Shows how far a long work has come. Silent where nobody looks."""

    def show(count: int) -> None:
        if sys.stderr.isatty():
            sys.stderr.write(f"\r{title}: {count}")
            sys.stderr.flush()

    try:
        yield show
    finally:
        if sys.stderr.isatty():
            sys.stderr.write("\r\033[K")


def status(look: Look) -> None:
    put(styled(plain(look.soul.name) or "(no name yet)", "bold") + styled(f"   {look.home}", "dim"))
    say(look.soul.ontology or "(soul.md states no ontology)")
    active = [value for value in look.values if value.status == "active"]
    heading("Values", f"{len(active)} active, {len(look.values) - len(active)} deprecated")
    for value in active[:_TOP]:
        say(f"  {value.weight:.2f}  {value.name}")
    _more(active, "values")
    goals = [goal for goal in look.goals if goal.status in ("todo", "working", "perpetual")]
    heading("Goals", f"{len(goals)} active, {len(look.goals) - len(goals)} ended")
    for goal in goals[:_TOP]:
        say(f"  {goal.weight:.2f}  {goal.status:<9}  {goal.name}")
    _more(goals, "goals")
    counts = look.fold.memories
    heading("Memories", str(counts.total()))
    say("  " + "   ".join(f"{author} {counts[author]}" for author in AUTHORS))
    if (last := look.fold.last) is not None:
        head = f", {last.h[:12]}" if last.is_chained else ""
        put(styled(f"  newest {plain(last.timestamp)}  ({last.short_id}{head})", "dim"))
    if found := notices_of(look):
        heading("Notices", "")
    for text in found:
        put("  " + styled("! ", "yellow") + plain(text))


def status_json(look: Look) -> Json:
    last = look.fold.last
    return {
        "home": str(look.home),
        "format": look.config.format,
        "soul": {"name": look.soul.name, "ontology": look.soul.ontology, "characters": len(look.soul.text)},
        "values": [value_json(value) for value in look.values if value.status == "active"],
        "goals": [goal_json(goal) for goal in look.goals if goal.status in ("todo", "working", "perpetual")],
        "memories": {**{author: look.fold.memories[author] for author in AUTHORS}, "total": look.fold.memories.total()},
        "forgotten": look.fold.forgotten,
        "unreadable": {**look.fold.unreadable, "unfinished": len(look.fold.unfinished)},
        "head": None if last is None else {"id": last.id, "timestamp": last.timestamp, "h": last.h},
        "findings": [finding_json(finding) for finding in look.findings],
        "problems": list(look.problems),
    }


def notices_of(look: Look) -> list[str]:
    """What a person should know: what was found just now, what is wrong, what was skipped."""
    found = [in_words(finding) for finding in look.findings]
    found += [f"not usable: {problem}" for problem in look.problems]
    newest = look.fold.last.place.day if look.fold.last and look.fold.last.place else ""
    if cut := [day for day in look.fold.unfinished if day < newest]:
        found.append(f"the last line of {', '.join(cut)} was cut off by a crash; it is kept but skipped")
    if look.fold.unreadable:
        kinds = ", ".join(f"{count} {reason}" for reason, count in sorted(look.fold.unreadable.items()))
        found.append(f"{kinds} (lines of the log that are kept but skipped; see: lumen memory --unreadable)")
    if not look.findings and look.fold.adoptions:
        last = look.fold.adoptions[-1]
        found.append(
            f"last change by hand, {last.timestamp[:16]}: {last.situation.partition(' ')[0]}: {last.description}"
        )
    if not look.findings and look.fold.rebuilds:
        found.append(f"last repair, {look.fold.rebuilds[-1].timestamp[:16]}: {look.fold.rebuilds[-1].description}")
    if not look.findings and look.fold.interruptions:
        found.append(f"last interruption: {look.fold.interruptions[-1].description}")
    if look.config.format == 0:
        found.append(
            "no lumen.toml: written by another program. It can be used as it is; lumen upgrade adds what is missing"
        )
    if look.config.unknown:
        found.append(f"lumen.toml has settings this program does not know: {', '.join(look.config.unknown)}")
    return found


def in_words(finding: Finding) -> str:
    match finding.kind:
        case "adopted":
            return f"changed by hand, recorded now: {finding.file}: {finding.text}"
        case "interrupted" | "forgotten" | "rebuilt" | "unreadable" | "log_went_back":
            return finding.text
        case "redone" | "superseded":
            return f"{finding.file}: {finding.text}"


def values(listed: Sequence[Value], *, is_all: bool) -> None:
    rows = [(f"{value.weight:.2f}", value.status, value.name) for value in listed]
    hint = "No values yet. Add one with: lumen values add NAME WEIGHT --because '...'"
    table(("weight", "status", "name"), rows, hint if is_all else "No usable values.")


def goals(listed: Sequence[Goal | PerpetualGoal], *, is_all: bool) -> None:
    rows = [(f"{goal.weight:.2f}", goal.status, str(goal.year), goal.name) for goal in listed]
    hint = "No goals here. Add one with: lumen goals add NAME WEIGHT --because '...'"
    otherwise = hint if is_all else "No usable goals."
    table(("weight", "status", "born", "name"), rows, otherwise)


def skills(listed: Sequence[Skill]) -> None:
    rows = [("yes" if skill.has_main else "missing", skill.name) for skill in listed]
    table(("main.py", "name"), rows, "No skills here: skills/ has no folders.")


def memories(lines: Iterable[Line]) -> int:
    """One memory after another, each under its own head, newest last."""
    count = 0
    for line in lines:
        count += 1
        when = styled(plain(line.timestamp[:19].replace("T", " ")), "dim")
        author = styled(line.author, _AUTHOR_CODES[line.author])
        situation = f"  {plain(line.situation)}" if line.situation else ""
        put(f"{when}  {author}  {line.weight:.2f}{situation}  {styled(line.short_id, 'dim')}")
        text = "(forgotten on request)" if line.is_forgotten else plain(line.description, lines=True)
        for paragraph in text.split("\n"):
            put("    " + paragraph)
    return count


def unreadable_json(item: Unreadable) -> Mapping[str, Json]:
    return {"day": item.place.day, "line": item.place.number, "reason": item.reason, "start": item.start}


def unreadable(items: Iterable[Unreadable]) -> int:
    count = 0
    for item in items:
        count += 1
        place = f"data/memory/{item.place.day[:4]}/{item.place.day}.jsonl, line {item.place.number}"
        say(f"{place}: {item.reason}: {item.start}")
    return count


def verdict(found: "Verdict") -> None:
    for fault in found.faults:
        put("  " + styled("x ", "red") + plain(f"{fault.place}: {fault.text}"))
    proven = found.lines - found.unproven
    facts = [f"{proven} lines proven in {found.writers} chains"]
    facts += [f"{found.unproven} by another program, unproven"] if found.unproven else []
    facts += [f"{found.forgotten} forgotten on request"] if found.forgotten else []
    facts += [f"{found.torn} torn by a crash or unreadable"] if found.torn else []
    state = styled("The record holds", "green") if found.holds else styled(f"Faults found: {len(found.faults)}", "red")
    put(f"{state}: {'; '.join(facts)}.")
    limit = (
        "Not proven without seals: that no writer's last lines were cut off, and that no whole chain was written anew."
    )
    put(styled(limit, "dim"))


def verdict_json(found: "Verdict") -> Mapping[str, Json]:
    return {
        "holds": found.holds,
        "lines": found.lines,
        "unproven": found.unproven,
        "forgotten": found.forgotten,
        "torn": found.torn,
        "writers": found.writers,
        "faults": [{"kind": fault.kind, "place": fault.place, "text": fault.text} for fault in found.faults],
    }


def value_json(value: Value) -> Mapping[str, Json]:
    return {"name": value.name, "weight": value.weight, "status": value.status, **value.extra}


def goal_json(goal: Goal | PerpetualGoal) -> Mapping[str, Json]:
    return {"name": goal.name, "weight": goal.weight, "status": goal.status, **goal.extra, "year": goal.year}


def skill_json(skill: Skill) -> Mapping[str, Json]:
    return {"name": skill.name, "main": skill.has_main}


def line_json(line: Line) -> Mapping[str, Json]:
    """A line of another program is named by its place; an id that it brought along is shown as `own_id`."""
    fields = as_fields(line)
    if line.is_chained:
        return fields
    brought = {"own_id": fields.pop("id")} if "id" in fields else {}
    return {"id": line.id, **fields, **brought}


def finding_json(finding: Finding) -> Mapping[str, Json]:
    return {"kind": finding.kind, "file": finding.file, "text": finding.text}


def heading(title: str, note: str) -> None:
    put("\n" + styled(title, "bold") + (styled(f"  {note}", "dim") if note else ""))


def _more(listed: Sequence[object], kind: str) -> None:
    if len(listed) > _TOP:
        put(styled(f"  and {len(listed) - _TOP} more: lumen {kind}", "dim"))


def table(titles: Sequence[str], rows: Sequence[Sequence[str]], otherwise: str) -> None:
    """Columns side by side; the last one, a name, runs as long as it is."""
    if not rows:
        say(otherwise)
        return
    widths = [max(len(cell) for cell in column) for column in zip(titles, *rows, strict=True)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in (titles, *rows)]
    put(styled(lines[0].rstrip(), "dim"))
    for line in lines[1:]:
        say(line.rstrip())


def styled(text: str, style: str, stream: TextIO | None = None) -> str:
    """Colour only where somebody sees it and has not said NO_COLOR."""
    if not (stream or sys.stdout).isatty() or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return text
    return f"\033[{_CODES.get(style, style)}m{text}\033[0m"


def _json(value: Json, indent: int | None = None) -> str:
    return json.dumps(value, indent=indent, ensure_ascii=False).encode("utf-8", "backslashreplace").decode()


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode()


def put(text: str, stream: TextIO | None = None, *, end: str = "\n") -> None:
    """Write, also where the terminal lacks a letter. When nobody reads any more, there is nothing left to do."""
    out = stream or sys.stdout
    encoding = out.encoding or "utf-8"
    try:
        out.write(text.encode(encoding, "backslashreplace").decode(encoding) + end)
    except BrokenPipeError:
        sys.exit(0)
    except OSError as problem:
        raise OutputFailed(f"The output could not be written ({problem.strerror}). What was done stands.") from problem
