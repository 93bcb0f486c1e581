"""The command line: puts the commands together, and turns errors into one clear line and an exit code.

Exit codes: 0 done; 1 refused, or a finding; 2 wrong use; 3 the instance needs a hand; 4 the record could not be read
or written; 5 a step failed; 130 interrupted.
"""

import os
import sys
from collections.abc import Callable
from typing import Annotated

import typer

from lumen import __version__, terminal
from lumen.commands import changing, looking, talking
from lumen.commands.later import LATER, SHOWN, not_there_yet
from lumen.commands.shared import Home, name_home
from lumen.errors import LumenError, OutputFailed


def main() -> None:
    try:
        built()()
    except LumenError as problem:
        terminal.complain(str(problem))
        sys.exit(problem.exit_code)
    except KeyboardInterrupt:
        sys.exit(130)
    finally:
        _flush()


def _flush() -> None:
    """What is still to be written goes out, or nowhere when nobody reads any more."""
    try:
        sys.stdout.flush()
    except OSError as problem:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(problem, BrokenPipeError):
            terminal.complain(f"The output could not be written ({problem.strerror}). What was done stands.")
            sys.exit(OutputFailed.exit_code)


def built() -> typer.Typer:
    """Every command under its name."""
    app = _typer("An agent with a self that you can audit.", no_args_is_help=True)
    app.callback()(_lumen)
    app.command()(changing.init)
    app.command()(talking.chat)
    app.command()(talking.why)
    app.command()(talking.inbox)
    app.command()(talking.confirm)
    app.command()(talking.deny)
    app.command()(looking.status)
    memory = _group(app, "memory", looking.memory)
    memory.command("import")(changing.memory_import)
    memory.command("forget")(changing.memory_forget)
    values = _group(app, "values", looking.values)
    values.command("add")(changing.values_add)
    values.command("set")(changing.values_set)
    values.command("retire")(changing.values_retire)
    values.command("restore")(changing.values_restore)
    goals = _group(app, "goals", looking.goals)
    goals.command("add")(changing.goals_add)
    goals.command("set")(changing.goals_set)
    soul = _group(app, "soul", looking.soul)
    soul.command("edit")(changing.soul_edit)
    app.command()(looking.skills)
    app.command()(looking.verify)
    app.command()(changing.rollback)
    app.command()(changing.upgrade)
    app.command()(changing.adopt)
    for name in LATER:
        anything = {"ignore_unknown_options": True, "allow_extra_args": True, "help_option_names": []}
        app.command(name, hidden=name not in SHOWN, context_settings=anything)(not_there_yet(name))
    return app


def _version(wanted: bool) -> None:
    if wanted:
        terminal.say(__version__)
        raise typer.Exit


def _lumen(
    home: Home = None,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    name_home(home)


def _group(app: typer.Typer, name: str, look: Callable[..., None]) -> typer.Typer:
    """A command that looks when it stands alone, and has commands of its own that change."""
    group = _typer(look.__doc__ or "")
    group.callback(invoke_without_command=True)(look)
    app.add_typer(group, name=name)
    return group


def _typer(help_text: str, *, no_args_is_help: bool = False) -> typer.Typer:
    return typer.Typer(
        help=help_text,
        no_args_is_help=no_args_is_help,
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
