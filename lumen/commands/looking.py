"""Commands that look: they change nothing but to record what was found changed."""

from typing import Annotated

import typer

from lumen import terminal
from lumen.commands.shared import (
    AsJson,
    AuthorName,
    Home,
    StatusName,
    name_home,
    opened,
    parsed_day,
    reconcile,
    tell_problems,
)


def status(home: Home = None, json: AsJson = False) -> None:
    """Print the current state: soul, values, goals, memory counts, and what should be known."""
    with opened(home) as lumen:
        look = lumen.look(reconcile(lumen, quiet=True))
        if json:
            terminal.as_json(terminal.status_json(look))
        else:
            terminal.status(look)


def memory(
    ctx: typer.Context,
    author: Annotated[AuthorName | None, typer.Option(help="Only memories by this author.")] = None,
    date_: Annotated[str | None, typer.Option("--date", help="Only memories of this day, as in 2026-02-14.")] = None,
    all_: Annotated[bool, typer.Option("--all", help="Everything.")] = False,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="How many of the newest.")] = 20,
    unreadable: Annotated[
        bool, typer.Option("--unreadable", help="The lines that could not be read, and why.")
    ] = False,
    home: Home = None,
    json: AsJson = False,
) -> None:
    """View recent memories, newest last."""
    if ctx.invoked_subcommand:
        name_home(home)
        return
    day = parsed_day(date_) if date_ is not None else None
    with opened(home) as lumen:
        reconcile(lumen)
        reader = lumen.memory(author)
        if unreadable and json:
            terminal.json_list(terminal.unreadable_json(item) for item in reader.unreadable())
            return
        if unreadable:
            if not terminal.unreadable(reader.unreadable()):
                terminal.say("Every line of the log can be read.")
            return
        lines = reader.on(day) if day else reader.all() if all_ else iter(reader.recent(limit))
        if json:
            terminal.json_list(terminal.line_json(line) for line in lines)
        elif not terminal.memories(lines):
            terminal.say("No memories here yet.")


def values(ctx: typer.Context, home: Home = None, json: AsJson = False) -> None:
    """View current values, sorted by weight."""
    if ctx.invoked_subcommand:
        name_home(home)
        return
    with opened(home) as lumen:
        look = lumen.look(reconcile(lumen))
        if json:
            terminal.as_json([terminal.value_json(value) for value in look.values])
        else:
            terminal.values(look.values, is_all=not look.problems)
        tell_problems(look.problems)


def goals(
    ctx: typer.Context,
    year: Annotated[int | None, typer.Option(help="Only goals born in this year.")] = None,
    status: Annotated[StatusName | None, typer.Option(help="Only goals with this status.")] = None,
    home: Home = None,
    json: AsJson = False,
) -> None:
    """View current goals, sorted by weight."""
    if ctx.invoked_subcommand:
        name_home(home)
        return
    with opened(home) as lumen:
        look = lumen.look(reconcile(lumen))
        shown = [goal for goal in look.goals if year in (None, goal.year) and status in (None, goal.status)]
        if json:
            terminal.as_json([terminal.goal_json(goal) for goal in shown])
        else:
            terminal.goals(shown, is_all=not look.problems)
        tell_problems(look.problems)


def soul(ctx: typer.Context, home: Home = None, json: AsJson = False) -> None:
    """View soul.md."""
    if ctx.invoked_subcommand:
        name_home(home)
        return
    with opened(home) as lumen:
        look = lumen.look(reconcile(lumen))
        if json:
            found = look.soul
            terminal.as_json({"name": found.name, "ontology": found.ontology, "text": found.text})
        else:
            terminal.say_lines(look.soul.text or "soul.md is empty. Write it with: lumen soul edit")
        tell_problems(look.problems)


def skills(home: Home = None, json: AsJson = False) -> None:
    """List the skills: folders of skills/, and whether each has its main.py."""
    with opened(home) as lumen:
        listed = lumen.look(reconcile(lumen)).skills
        if json:
            terminal.as_json([terminal.skill_json(skill) for skill in listed])
        else:
            terminal.skills(listed)


def verify(home: Home = None, json: AsJson = False) -> None:
    """Check that the log proves itself: chains, commitments, forgotten lines."""
    with opened(home) as lumen:
        findings = reconcile(lumen)
        found = lumen.verify()
        if json:
            terminal.as_json(
                {**terminal.verdict_json(found), "findings": [terminal.finding_json(one) for one in findings]}
            )
        else:
            terminal.verdict(found)
        if not found.holds:
            raise typer.Exit(1)
