"""What the commands share: options, how an instance is opened, how a person is asked, how a step is run."""

import os
import sys
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import IO, Annotated, Literal, TypeVar

import typer

from lumen import terminal
from lumen.app import Instance, open_instance
from lumen.errors import LumenError, Refused, UsageError
from lumen.record.grants import PersonGrant
from lumen.record.state_files import Change, Finding

T = TypeVar("T")

Home = Annotated[
    Path | None, typer.Option("--home", help="The instance (default: LUMEN_HOME, or the nearest folder upwards).")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Because = Annotated[str | None, typer.Option("--because", help="The reason. Asked for when it is missing.")]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask.")]
AuthorName = Literal["self", "kernel", "goal", "external"]
StatusName = Literal["todo", "working", "done", "perpetual", "deprecated"]
_named: list[Path] = []


def name_home(home: Path | None) -> None:
    """Remember `lumen --home PATH command` for the command, and `lumen values --home PATH set` for `set`."""
    if home:
        _named[:] = [home]


def chosen_home(home: Path | None) -> Path | None:
    return home or (_named[0] if _named else None)


@contextmanager
def opened(home: Path | None) -> Iterator[Instance]:
    lumen = open_instance(chosen_home(home), working_folder=Path.cwd())
    try:
        yield lumen
    finally:
        lumen.close()


def reconcile(lumen: Instance, *, quiet: bool = False) -> Sequence[Finding]:
    """Deal with what was left behind since the last command, and say so."""
    if not lumen.needs_reconciling():
        return ()
    findings = wait_for(lumen.reconcile())
    if not quiet:
        for finding in findings:
            terminal.notice(terminal.in_words(finding))
    return findings


def act(lumen: Instance, name: str, do: Callable[[PersonGrant], T], *, seconds: float | None = None) -> T:
    """Do as the person asked, in a step of the kernel."""
    return wait_for(lumen.as_person(name, do, seconds=seconds))


def wait_for(work: Coroutine[None, None, T]) -> T:
    """Run the kernel until this is done: the only place that starts an event loop."""
    import asyncio

    return asyncio.run(work)


def change(home: Path | None, name: str, because: str | None, do: Callable[[PersonGrant, str], Change | None]) -> None:
    """One change of values, goals or soul by the person."""
    with opened(home) as lumen:
        reconcile(lumen)
        why = ask_reason(because)
        done = act(lumen, name, lambda grant: do(grant, why))
        terminal.say(f"{done.file}: {done.text}" if done else "It is so already; nothing was changed.")


def ask_reason(because: str | None) -> str:
    """Why: from the command line, or asked."""
    if because is None and sys.stdin.isatty():
        because = str(typer.prompt("Why"))
    if because is None or not because.strip():
        raise UsageError("A change needs a reason. Say why with --because '...'.")
    return because.strip()


def confirm(question: str, yes: bool) -> None:
    if yes:
        return
    if not sys.stdin.isatty():
        raise UsageError(f"{question} Nobody is there to answer: say --yes to go ahead.")
    if not typer.confirm(question):
        raise Refused("Nothing was changed.")


def parsed_day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise UsageError(f"{text!r} is not a date. Write it as 2026-02-14.") from None


def read_text(path: Path) -> str:
    """A text the person names; - is standard input."""
    try:
        raw = sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()
        return raw.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as problem:
        raise UsageError(f"{path} cannot be read as text: {problem}") from problem


@contextmanager
def given(path: Path) -> Iterator[str]:
    """A text from a file that the person names."""
    yield read_text(path)


@contextmanager
def edited(text: str) -> Iterator[str]:
    """The text as the person leaves it in their editor (VISUAL, EDITOR, or vi). A draft that was of no use is kept."""
    import shlex
    import subprocess
    import tempfile

    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    draft = Path(tempfile.mkdtemp(prefix="lumen-")) / "soul.md"
    draft.write_text(text, encoding="utf-8")
    try:
        done = subprocess.run([*shlex.split(editor), str(draft)], check=False)
    except (OSError, ValueError) as problem:
        raise UsageError(
            f"The editor {editor!r} cannot be started ({problem}). Set EDITOR, or use --file."
        ) from problem
    if done.returncode != 0:
        raise Refused(f"The editor ended with {done.returncode}; nothing was changed. Your draft is kept: {draft}")
    try:
        yield read_text(draft)
    except LumenError:
        terminal.notice(f"Your draft is kept: {draft}")
        raise
    draft.unlink()
    draft.parent.rmdir()


@contextmanager
def open_binary(path: Path) -> Iterator[IO[bytes]]:
    """A file the person names, to be read line by line; - is standard input."""
    if str(path) == "-":
        yield sys.stdin.buffer
        return
    try:
        file = path.open("rb")
    except OSError as problem:
        raise UsageError(f"{path} cannot be read: {problem.strerror}") from problem
    with file:
        yield file


def tell_problems(problems: Sequence[str]) -> None:
    for problem in problems:
        terminal.notice(f"not usable: {problem}")
