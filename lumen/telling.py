"""What a person sees of a turn: what was said, why it was chosen, and what waits for a yes. Decides nothing."""

from collections.abc import Mapping, Sequence

from lumen import terminal
from lumen.audit.why import Facts, Story
from lumen.json_value import Json
from lumen.record.inbox import Waiting


def reply(text: str) -> None:
    terminal.say_lines(text)


def waits(entry: Waiting) -> None:
    terminal.say(f"This waits for your yes: {in_words(entry)}")
    terminal.say(f"  lumen confirm {entry.short_id}   or   lumen deny {entry.short_id}")


def in_words(entry: Waiting) -> str:
    given = ", ".join(f"{name}={_short(value)}" for name, value in entry.action.parameters.items()) or "nothing"
    return f"the skill {entry.action.skill} with {given} ({'; '.join(entry.reasons)})"


def inbox(entries: Sequence[Waiting]) -> None:
    for entry in entries:
        terminal.heading(entry.short_id, entry.result or entry.standing)
        terminal.say(f"  {in_words(entry)}")
        terminal.say(f"  asked {entry.asked[:16]}, expires {entry.expires[:16]}")
    if not entries:
        terminal.say("Nothing waits for you.")


def waiting_json(entry: Waiting) -> Mapping[str, Json]:
    return {
        "id": entry.id,
        "short_id": entry.short_id,
        "standing": entry.standing,
        "result": entry.result,
        "skill": entry.action.skill,
        "parameters": entry.action.parameters,
        "reasons": list(entry.reasons),
        "asked": entry.asked,
        "expires": entry.expires,
        "turn": entry.turn,
    }


def story(told: Story) -> None:
    terminal.heading(f"Turn {told.turn[:8]}", f"{told.began[:19]}  {told.result}")
    loaded = told.steps.get("think", {})
    if loaded:
        memories = _texts(loaded.get("memories"))
        terminal.say(
            f"  loaded {_count(len(memories), 'memory', 'memories')}, {_plural(loaded.get('values'), 'value')}, "
            f"{_plural(loaded.get('goals'), 'goal')}; skills: {', '.join(_texts(loaded.get('skills'))) or 'none'}; "
            f"mind: {loaded.get('mind')}"
        )
    if told.scores:
        chosen = told.steps.get("act", {}).get("candidate")
        titles = ("", "M", "A", "P", "B", "predicted", "kind", "wanted by")
        terminal.table(titles, [_row(scored, is_chosen=scored.get("name") == chosen) for scored in told.scores], "")
    for verdict in told.verdicts:
        terminal.say(f"  gate: {verdict.get('verdict')}: {'; '.join(_texts(verdict.get('reasons')))}")
    for text in _ending(told):
        terminal.say(f"  {text}")


def story_json(told: Story) -> Mapping[str, Json]:
    return {
        "turn": told.turn,
        "began": told.began,
        "result": told.result,
        "scores": [dict(scored) for scored in told.scores],
        "steps": {name: dict(facts) for name, facts in told.steps.items()},
        "lines": [line.id for line in told.lines],
    }


def _row(scored: Facts, *, is_chosen: bool) -> tuple[str, ...]:
    numbers = [f"{number:.2f}" if isinstance(number := scored.get(name), int | float) else "" for name in "mapb"]
    predicted = scored.get("predicted")
    wanted = [*_texts(scored.get("values")), *([f"goal {scored['goal']}"] if scored.get("goal") else [])]
    return (
        "->" if is_chosen else "",
        *numbers,
        f"{predicted:+.2f}" if isinstance(predicted, int | float) else "",
        str(scored.get("kind")),
        ", ".join(wanted) or "(no value: a reaction counts 0.5)",
    )


def _ending(told: Story) -> list[str]:
    acted, recorded = told.steps.get("act", {}), told.steps.get("record", {})
    found = []
    if acted.get("isolation"):
        found.append(f"ran {acted.get('skill')} in {acted.get('skill_ms')} ms, isolation: {acted.get('isolation')}")
    predicted, outcome, delta = (recorded.get(name) for name in ("predicted", "outcome", "delta"))
    if isinstance(predicted, int | float) and isinstance(outcome, int | float) and isinstance(delta, int | float):
        found.append(f"outcome {outcome:+.2f}, predicted {predicted:+.2f}, delta {delta:+.2f}")
    if recorded.get("skip"):
        found.append(f"skipped: {recorded.get('skip')}")
    if acted.get("ask"):
        found.append("waits for a yes: lumen inbox")
    return found


def _texts(value: Json) -> list[str]:
    return [str(one) for one in value] if isinstance(value, list | tuple) else []


def _plural(number: Json, noun: str) -> str:
    return _count(number if isinstance(number, int) else 0, noun, f"{noun}s")


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


def _short(value: Json) -> str:
    text = str(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
