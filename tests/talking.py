"""Conversations for the tests: a script for the mind, one turn at a time, and what the log says of it."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lumen.kernel.loops.action import TurnReport
from tests.instances import log_of, opened

Answer = Mapping[str, Any]


def reply(name: str, text: str = "hello", **more: Any) -> Answer:
    """A candidate that says something."""
    return candidate(name, "chat", {"text": text}, **more)


def candidate(name: str, skill: str, parameters: Mapping[str, Any], *, predicted: float = 0.2, **more: Any) -> Answer:
    return {
        "name": name,
        "action": {"skill": skill, "parameters": parameters},
        "kind": f"{skill}:{name}",
        "intention": name,
        "prediction": {"words": "it goes well", "score": predicted},
        **more,
    }


def think(*candidates: Answer) -> Answer:
    return {"situation": "somebody spoke", "candidates": list(candidates)}


def decide(*preference: str, **aligned: Sequence[str]) -> Answer:
    """`decide("b", "a", a=["care"])`: the values each candidate serves, and the order of preference."""
    alignments = [{"candidate": name, "values": list(values)} for name, values in aligned.items()]
    return {"alignments": alignments, "preference": list(preference)}


def outcome(score: float) -> Answer:
    return {"words": "it went so", "score": score}


def give_script(home: Path, **answers: Sequence[Answer]) -> None:
    """Let the mind of an instance be a script."""
    (home / "script.json").write_text(json.dumps(answers), encoding="utf-8")
    (home / "lumen.toml").write_text('format = 1\n[mind]\nuse = "scripted"\nscript = "script.json"\n', encoding="utf-8")


def write_skill(home: Path, name: str, body: str) -> None:
    folder = home / "skills" / name
    folder.mkdir(parents=True)
    (folder / "main.py").write_text(body, encoding="utf-8")


def say(home: Path, *texts: str, person: str = "Ada") -> tuple[list[TurnReport], list[str]]:
    """Turns of one conversation in this process: how each ended, and everything that was shown."""
    shown: list[str] = []

    async def talk() -> list[TurnReport]:
        with opened(home) as lumen:
            conversation = lumen.conversation(person, lambda kind, text: shown.append(text) if kind == "said" else None)
            try:
                return [await conversation.say(text) for text in texts]
            finally:
                conversation.close()

    return asyncio.run(talk()), shown


def step_facts(home: Path, step: str) -> list[dict[str, Any]]:
    """What a step of the kernel left behind, in order."""
    return [
        line["data"]
        for line in log_of(home)
        if line.get("event") == "outcome" and line["author"] == "kernel" and line["data"].get("step") == step
    ]
