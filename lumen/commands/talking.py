"""Commands by which a person talks with the agent, asks why, and answers what waits for a yes."""

import os
import sys
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Annotated

import typer

from lumen import telling, terminal
from lumen.app import Instance
from lumen.commands.shared import AsJson, Home, opened, reconcile, wait_for
from lumen.errors import Refused, UsageError
from lumen.json_value import Json

if TYPE_CHECKING:
    from lumen.kernel.conversation import Conversation
    from lumen.kernel.faculties import Shown
    from lumen.kernel.loops.action import TurnReport

LONGEST_MESSAGE = 1_000_000
HELP = "/why  the last turn, explained\n/inbox  what waits for your yes\n/quit  or Ctrl+C\nEsc Enter begins a new line."
As = Annotated[str | None, typer.Option("--as", help="Who you are (default: [chat] name in lumen.toml).")]
Entry = Annotated[str, typer.Argument(help="Which entry of the inbox; may be left out when only one waits.")]


def chat(
    message: Annotated[str | None, typer.Option("--message", "-m", help="Say one thing, and end.")] = None,
    as_: As = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show the candidates, their scores and the verdict after each turn.")
    ] = False,
    home: Home = None,
    json: AsJson = False,
) -> None:
    """Start a conversation. With -m or piped input, one turn for each message; else a prompt. Ctrl+C to exit."""
    with opened(home) as lumen:
        reconcile(lumen)
        person = checked_person(as_ or lumen.config.person)
        talk = Talk(lumen, person, explain=explain, as_json=json)
        if message is None and sys.stdin.isatty():
            talk.greet()
        problem = wait_for(talk.hold(message))
        if problem is not None:
            raise problem


class Talk:
    """One conversation as a person sees it."""

    def __init__(self, lumen: Instance, person: str, *, explain: bool, as_json: bool) -> None:
        self._lumen = lumen
        self._explain = explain
        self._as_json = as_json
        self._said: list[str] = []
        self._is_live = sys.stderr.isatty() and not as_json
        self._conversation: Conversation = lumen.conversation(person, self._show)

    def greet(self) -> None:
        name = self._lumen.look().soul.name or "An agent without a name yet"
        terminal.say(f"{name} listens (mind: {self._lumen.config.mind.use}). /help lists commands, Ctrl+C leaves.")

    async def hold(self, message: str | None) -> Exception | None:
        """Every turn, until there is nothing more to say. What went wrong in the last turn comes back."""
        problem: Exception | None = None
        try:
            async for text in self._heard(message):
                if text.strip():
                    problem = await self._turn(text)
        finally:
            self._conversation.close()
        return problem

    async def _turn(self, text: str) -> Exception | None:
        if len(text) > LONGEST_MESSAGE:
            return UsageError(f"A message has at most {LONGEST_MESSAGE} characters. Put longer texts into a file.")
        self._said.clear()
        report = await self._conversation.say(text.encode("utf-8", "replace").decode())
        self._clear_step()
        if self._as_json:
            terminal.as_json(self._report_json(report))
        else:
            self._tell(report)
        if self._explain and not self._as_json:
            telling.story(self._lumen.why(report.turn))
        if report.problem is not None and sys.stdin.isatty():
            terminal.complain(str(report.problem))
            return None
        return report.problem

    def _tell(self, report: "TurnReport") -> None:
        if report.waiting is not None:
            telling.waits(report.waiting)
        elif report.result == "skipped":
            terminal.say(f"(No reply: {report.why}. See: lumen why)")
        elif report.result == "refused":
            terminal.say(f"(Nothing was done: {report.why or 'no candidate was cleared'}. See: lumen why)")
        elif report.result == "failed" and report.problem is None and not self._said:
            terminal.say("(The skill failed and said nothing. See: lumen why)")

    def _report_json(self, report: "TurnReport") -> Json:
        return {
            "turn": report.turn,
            "result": report.result,
            "said": list(self._said),
            "why": report.why,
            "waiting": telling.waiting_json(report.waiting) if report.waiting else None,
            "problem": str(report.problem) if report.problem else None,
        }

    def _show(self, kind: "Shown", text: str) -> None:
        if kind == "step":
            if self._is_live:
                sys.stderr.write(f"\r\033[2m{text} ...\033[0m\033[K")
                sys.stderr.flush()
            return
        self._clear_step()
        self._said.append(text)
        if not self._as_json:
            telling.reply(text)

    def _clear_step(self) -> None:
        if self._is_live:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()

    async def _heard(self, message: str | None) -> AsyncIterator[str]:
        if message is not None:
            yield message
        elif sys.stdin.isatty():
            async for text in self._typed():
                yield text
        else:
            for line in sys.stdin.buffer:
                yield line.decode("utf-8", "replace").rstrip("\r\n")

    async def _typed(self) -> AsyncIterator[str]:
        """What a person types at the prompt. Its history is the record's, so what is forgotten is not kept here."""
        from prompt_toolkit import PromptSession
        from prompt_toolkit.history import InMemoryHistory
        from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent

        keys = KeyBindings()

        @keys.add("escape", "enter")
        def _(event: KeyPressEvent) -> None:
            event.current_buffer.insert_text("\n")

        history = InMemoryHistory(self._conversation.said_before(200))
        session: PromptSession[str] = PromptSession(history=history, key_bindings=keys)
        while True:
            try:
                text = await session.prompt_async("> ")
            except (EOFError, KeyboardInterrupt):
                return
            match text.strip():
                case "/quit" | "/exit":
                    return
                case "/help":
                    terminal.say_lines(HELP)
                case "/why":
                    _try_to_explain(self._lumen)
                case "/inbox":
                    telling.inbox(self._lumen.inbox.waiting())
                case _:
                    yield text


def why(
    turn: Annotated[str | None, typer.Argument(help="The beginning of a turn's id (default: the last turn).")] = None,
    home: Home = None,
    json: AsJson = False,
) -> None:
    """Explain a turn: what was loaded, every candidate with its M, A, P and B, the verdict, the outcome."""
    with opened(home) as lumen:
        told = lumen.why(turn)
        if json:
            terminal.as_json(telling.story_json(told))
        else:
            telling.story(told)


def inbox(
    all_: Annotated[bool, typer.Option("--all", help="Also what was answered, has run or expired.")] = False,
    home: Home = None,
    json: AsJson = False,
) -> None:
    """What waits for your yes."""
    with opened(home) as lumen:
        reconcile(lumen)
        entries = lumen.inbox.all() if all_ else lumen.inbox.waiting()
        if json:
            terminal.as_json([telling.waiting_json(entry) for entry in entries])
        else:
            telling.inbox(entries)


def confirm(entry: Entry = "", as_: As = None, home: Home = None, json: AsJson = False) -> None:
    """Say yes to an entry of the inbox: it passes the gate again and runs, once."""
    _refuse_inside_a_skill()
    with opened(home) as lumen:
        reconcile(lumen)
        said: list[str] = []
        person = checked_person(as_ or lumen.config.person)
        report = wait_for(
            lumen.confirm(entry, person, lambda kind, text: said.append(text) if kind == "said" else None)
        )
        if json:
            terminal.as_json({"turn": report.turn, "result": report.result, "said": said})
        else:
            for text in said:
                telling.reply(text)
            terminal.say(f"{report.result}. See: lumen why {report.turn[:8]}")
        if report.problem is not None:
            raise report.problem
        if report.result != "done":
            raise Refused(report.why or f"It was not done: {report.result}. See: lumen why {report.turn[:8]}")


def deny(entry: Entry = "", as_: As = None, home: Home = None) -> None:
    """Say no to an entry of the inbox: it never runs."""
    _refuse_inside_a_skill()
    with opened(home) as lumen:
        reconcile(lumen)
        denied = wait_for(lumen.deny(entry, checked_person(as_ or lumen.config.person)))
        terminal.say(f"Denied: {telling.in_words(denied)}. It will not run.")


def checked_person(name: str) -> str:
    name = name.strip()
    if not name or not name.isprintable() or len(name) > 60:
        raise UsageError(f"{name[:80]!r} cannot be a person's name here. Use up to 60 printable characters.")
    return name


def _refuse_inside_a_skill() -> None:
    if os.environ.get("LUMEN_INSIDE_SKILL"):
        raise Refused("A skill cannot answer for a person. Answer in a terminal of your own: lumen inbox")


def _try_to_explain(lumen: Instance) -> None:
    try:
        telling.story(lumen.why())
    except Refused as refusal:
        terminal.notice(str(refusal))
