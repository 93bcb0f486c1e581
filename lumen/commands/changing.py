"""Commands by which a person makes an instance and changes it. Each asks for a reason and leaves an external event."""

from pathlib import Path
from typing import Annotated

import typer

from lumen import instance, terminal
from lumen.commands.shared import (
    Because,
    Home,
    StatusName,
    Yes,
    act,
    ask_reason,
    change,
    chosen_home,
    confirm,
    edited,
    given,
    open_binary,
    opened,
    read_text,
    reconcile,
    wait_for,
)
from lumen.errors import UsageError


def init(
    path: Annotated[Path, typer.Argument(help="The folder of the new instance.")] = Path(),
    soul: Annotated[Path | None, typer.Option("--soul", help="A Markdown file that becomes soul.md.")] = None,
    home: Home = None,
) -> None:
    """Make a new instance: data/, skills/chat, a git repository. Run once."""
    text = read_text(soul) if soul else ""
    made = instance.make(chosen_home(home) or path)
    if not made.created:
        hint = " To change its soul: lumen soul edit --file FILE" if soul else ""
        terminal.say(f"{made.place.home} is an instance already; nothing was changed.{hint}")
        return
    if text:
        with opened(made.place.home) as lumen:
            act(lumen, "init", lambda grant: grant.soul.rewrite(text, because="chosen when the instance was made"))
    terminal.say(f"Made an instance in {made.place.home}: {', '.join(made.created)}.")
    terminal.say("Next: lumen status. Commit when you like what you see: git add -A && git commit")


def memory_import(file: Annotated[Path, typer.Argument(help="A JSONL file of memories.")], home: Home = None) -> None:
    """Import memories from a JSONL file. Doing it twice imports nothing twice."""
    with opened(home) as lumen, open_binary(file) as lines:
        if str(file) != "-" and file.resolve().is_relative_to(lumen.place.data.resolve()):
            raise UsageError(f"{file} is part of this instance already. Name a file from elsewhere.")
        reconcile(lumen)
        with terminal.progress(f"Importing {file.name}") as show:
            report = wait_for(lumen.import_memories(lines, file.name, show))
        terminal.say(
            f"Imported {report.imported} memories; {report.known} known already; {len(report.bad)} not readable."
        )
        for number, reason in report.bad[:20]:
            terminal.complain(f"{file}, line {number}: {reason}")
        if report.bad:
            raise typer.Exit(1)


def memory_forget(
    id_: Annotated[str, typer.Argument(metavar="ID", help="The id that lumen memory shows.")],
    because: Because = None,
    yes: Yes = False,
    home: Home = None,
) -> None:
    """Empty a memory for good. The chain still verifies; the content is gone."""
    with opened(home) as lumen:
        reconcile(lumen)
        why = ask_reason(because)
        confirm(
            "Its content cannot be brought back. Git history and backups are not reached from here. Forget it?", yes
        )
        done = act(lumen, "forget", lambda grant: grant.memory.forget(id_, because=why))
        terminal.say(f"Forgotten: {done.id}. Copies in git history and backups, if any, are still there.")
        terminal.say("A file that it was imported from would bring it back when imported again.")


def values_add(name: str, weight: float, because: Because = None, home: Home = None) -> None:
    """Add a value with a weight from 0 to 1."""
    change(home, "values add", because, lambda grant, reason: grant.values.add(name, weight, because=reason))


def values_set(name: str, weight: float, because: Because = None, home: Home = None) -> None:
    """Give a value another weight."""
    change(home, "values set", because, lambda grant, reason: grant.values.reweight(name, weight, because=reason))


def values_retire(name: str, because: Because = None, home: Home = None) -> None:
    """Deprecate a value. It stays, with its history."""
    change(home, "values retire", because, lambda grant, reason: grant.values.retire(name, because=reason))


def values_restore(name: str, because: Because = None, home: Home = None) -> None:
    """Make a deprecated value active again."""
    change(home, "values restore", because, lambda grant, reason: grant.values.restore(name, because=reason))


def goals_add(
    name: str,
    weight: float,
    perpetual: Annotated[bool, typer.Option("--perpetual", help="A goal that never ends.")] = False,
    because: Because = None,
    home: Home = None,
) -> None:
    """Add a goal with a weight from 0 to 1."""
    change(
        home, "goals add", because, lambda grant, why: grant.goals.add(name, weight, because=why, perpetual=perpetual)
    )


def goals_set(
    name: str,
    weight: Annotated[float | None, typer.Option(help="Another weight.")] = None,
    status: Annotated[StatusName | None, typer.Option(help="Another status.")] = None,
    year: Annotated[int | None, typer.Option(help="The year it was born in, when the name is not enough.")] = None,
    because: Because = None,
    home: Home = None,
) -> None:
    """Give a goal another weight, another status, or both."""
    if weight is None and status is None:
        raise UsageError("Say what to set: --weight WEIGHT, --status STATUS, or both.")
    change(
        home,
        "goals set",
        because,
        lambda grant, why: grant.goals.revise(name, weight=weight, status=status, because=why, year=year),
    )


def soul_edit(
    file: Annotated[
        Path | None, typer.Option("--file", help="Take the new text from a file, - for standard input.")
    ] = None,
    because: Because = None,
    home: Home = None,
) -> None:
    """Rewrite soul.md, in your editor or from a file."""
    with opened(home) as lumen:
        before = lumen.look().soul.text
    why = ask_reason(because)
    with edited(before) if file is None else given(file) as text:
        if text == before:
            terminal.say("Nothing was changed.")
            return
        expected = before if file is None else None
        change(home, "soul edit", why, lambda grant, why: grant.soul.rewrite(text, because=why, instead_of=expected))


def rollback(
    to: Annotated[str, typer.Argument(help="A date (its end), a moment in UTC, or a commit of the instance.")],
    because: Because = None,
    yes: Yes = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would change.")] = False,
    home: Home = None,
) -> None:
    """Bring soul, values and goals back to what they were. The log keeps everything, also the rollback."""
    with opened(home) as lumen:
        reconcile(lumen)
        plan, target = lumen.plan_rollback(to)
        terminal.changes(plan.words(), f"Soul, values and goals are as they were at {target}: nothing to change.")
        if dry_run or not plan.deltas:
            return
        why = ask_reason(because)
        confirm(f"Roll back to {target}?", yes)
        done = act(lumen, "rollback", lambda grant: grant.rollback.apply(plan, because=f"rollback to {target}: {why}"))
        terminal.say(f"Rolled back to {target}: {', '.join(change.file for change in done)}.")


def upgrade(home: Home = None) -> None:
    """Bring an instance of an older format up to date, after a backup."""
    with opened(home) as lumen:
        made = instance.upgrade(lumen.place, lumen.clock.now())
    if made.created:
        terminal.say(f"Upgraded {made.place.home}: {', '.join(made.created)}.")
    else:
        terminal.say(f"{made.place.home} has the present format already; nothing was changed.")


def adopt(because: Because = None, home: Home = None) -> None:
    """Accept a log that went back (restored from git or a backup), with a reason."""
    with opened(home) as lumen:
        why = ask_reason(because)
        line = act(lumen, "adopt", lambda grant: grant.record.adopt_log(because=why))
        terminal.say(f"Adopted: {line.description}")
