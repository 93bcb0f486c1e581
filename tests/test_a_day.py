"""One day in the life of an instance, with real processes: one story across all rooms. It may never be red.

Morning: two people talk with it at once. Noon: an action waits, a process is killed, and another takes over. Next day
the yes runs it, once. Then a hand edits the values, git brings them back, a memory is forgotten, and everything still
holds together.
"""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from tests.house.repository import ROOT
from tests.instances import events, log_of, opened, stored
from tests.processes import INSTALLED, environment, git, lumen, ok
from tests.talking import write_skill

KEY = "The spare key is with Marta in the bakery."
WEATHER = """\
import json, os, sys
if "--help" in sys.argv:
    print("Looks up the weather forecast of a place.")
    print('Input (stdin): one JSON object {"place": "..."}')
    sys.exit()
asked = json.load(sys.stdin)
with open(os.path.join(os.environ["HOME"], "asked.txt"), "a") as file:
    file.write(asked["place"] + "\\n")
print(json.dumps({"ok": True, "text": "Rain in " + asked["place"] + "."}))
"""
SLOW = "import sys, time\nif '--help' in sys.argv: print('Counts sheep slowly.'); sys.exit()\ntime.sleep(60)\n"


class Talking:
    """A `lumen chat` that stays attached, spoken to through a pipe."""

    def __init__(self, home: Path, person: str) -> None:
        self.process = subprocess.Popen(
            [str(INSTALLED), "chat", "--as", person, "--json", "--home", str(home)],
            env=environment({"PYTHONUNBUFFERED": "1"}),
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def say(self, text: str) -> dict[str, Any]:
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(text + "\n")
        self.process.stdin.flush()
        heard = ""
        while line := self.process.stdout.readline():
            heard += line
            if line == "}\n":
                break
        found: dict[str, Any] = json.loads(heard)
        return found

    def leave(self) -> int:
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.close()
        self.process.stdout.close()
        return self.process.wait(timeout=60)


def test_a_day_in_the_life(tmp_path: Path) -> None:
    home = tmp_path / "nova"
    a_life_begins(home)
    two_people_talk_at_once(home)
    entry = an_action_waits(home)
    a_process_is_killed_in_the_middle(home)
    the_yes_of_the_next_day_runs_it_once(home, entry)
    a_hand_edits_the_values(home)
    git_brings_them_back(home)
    a_memory_is_forgotten(home)
    everything_still_holds(home)


def a_life_begins(home: Path) -> None:
    soul = home.parent / "soul.md"
    soul.write_text("# Nova\n\n## Ontology\n\nA process that remembers.\n", encoding="utf-8")
    ok("init", str(home), "--soul", str(soul))
    ok("values", "add", "honesty", "0.9", "--because", "a plain no is worth more", home=home)
    ok("values", "add", "care", "0.8", "--because", "what is told is kept well", home=home)
    ok("goals", "add", "Know where every box is", "0.7", "--because", "the move", home=home)
    git(home, "add", "-A")
    git(home, "commit", "-qm", "born")
    assert "nothing" in ok("chat", "-m", "Where is the spare key?", home=home).out.lower(), "it does not invent"


def two_people_talk_at_once(home: Path) -> None:
    ada, ben = Talking(home, "Ada"), Talking(home, "Ben")
    assert ada.say(KEY)["result"] == "done"
    assert ben.say("The train to the coast leaves at 9:40.")["result"] == "done"
    first = " ".join(ben.say("Where is the spare key?")["said"])
    assert KEY in first, "what one of them told is known to the other"
    assert "Ada" in first
    again = ada.say("When does the train to the coast leave?")
    assert "9:40" in " ".join(again["said"])
    told = json.loads(ok("why", again["turn"], "--json", home=home).out)
    assert told["result"] == "done"
    assert any(line["description"].endswith("9:40.") for line in cited(home, told))
    assert ada.leave() == ben.leave() == 0


def cited(home: Path, told: dict[str, Any]) -> list[dict[str, Any]]:
    ids = {identity for one in told["scores"] for identity in one["cites"]}
    return [line for line in log_of(home) if line["id"] in ids]


def an_action_waits(home: Path) -> str:
    write_skill(home, "weather", WEATHER)
    done = json.loads(ok("chat", "--json", "-m", 'Look up the weather forecast for "Oslo".', home=home).out)
    assert done["result"] == "waiting", done
    (entry,) = json.loads(ok("inbox", "--json", home=home).out)
    assert (entry["skill"], entry["parameters"]["place"]) == ("weather", "Oslo")
    assert not (home / "work" / "weather" / "asked.txt").exists(), "nothing ran"
    return str(entry["short_id"])


def a_process_is_killed_in_the_middle(home: Path) -> None:
    chat = home / "skills" / "chat" / "main.py"
    shipped = chat.read_bytes()
    chat.write_text(SLOW, encoding="utf-8")
    process = subprocess.Popen(
        [str(INSTALLED), "chat", "-m", "Are you there?", "--home", str(home)],
        env=environment(),
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )
    wait_until(lambda: any(line["data"].get("step") == "act" for line in events(home, "intent")[-1:]))
    os.kill(process.pid, signal.SIGKILL)
    process.wait(timeout=30)
    chat.write_bytes(shipped)
    assert "interrupted" in ok("status", home=home).said
    assert any(line["data"]["result"] == "interrupted" for line in events(home, "outcome"))
    assert "Are you there?" in [line["description"] for line in log_of(home)], "what was said is not lost"


def wait_until(holds: Any, seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def the_yes_of_the_next_day_runs_it_once(home: Path, entry: str) -> None:
    command = [sys.executable, "-m", "tests.next_day", str(home), entry]
    both = [
        subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(2)
    ]
    said = [process.communicate(timeout=120) for process in both]
    assert sorted(process.returncode for process in both) == [0, 1], said
    assert "Rain in Oslo." in "".join(out for out, _ in said)
    assert (home / "work" / "weather" / "asked.txt").read_text(encoding="utf-8") == "Oslo\n", "once"
    assert lumen("confirm", entry, home=home).code == 1
    assert json.loads(ok("inbox", "--json", home=home).out) == []


def a_hand_edits_the_values(home: Path) -> None:
    path = home / "data" / "values.json"
    values = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps([{**value, "weight": 0.1} for value in values]), encoding="utf-8")
    done = ok("chat", "--json", "-m", "Hello", home=home)
    assert "changed by hand" in done.err
    assert {change["data"]["file"] for change in events(home, "adopted")} == {"values.json"}
    told = json.loads(ok("why", "--json", home=home).out)
    aligned = [one for one in told["scores"] if one["values"]]
    assert all(one["m"] == 0.1 for one in aligned), "the arithmetic uses what the hand wrote"


def git_brings_them_back(home: Path) -> None:
    ok("rollback", "HEAD", "--because", "that was too low", "--yes", home=home)
    assert [value["weight"] for value in stored(home, "values.json")] == [0.9, 0.8]


def a_memory_is_forgotten(home: Path) -> None:
    told = [line for line in log_of(home) if line["description"] == KEY]
    for line in told:
        ok("memory", "forget", line["id"], "--because", "she asked", "--yes", home=home)
    assert KEY not in ok("chat", "-m", "Where is the spare key?", home=home).out
    raw = b"".join(path.read_bytes() for path in (home / "data").rglob("*") if path.is_file())
    assert KEY.encode() not in raw
    assert b"in the bakery" not in raw


def everything_still_holds(home: Path) -> None:
    assert json.loads(ok("verify", "--json", home=home).out)["holds"]
    with opened(home) as instance:
        assert not instance.needs_reconciling()
    open_steps = {line["id"] for line in events(home, "intent")} - {
        line["data"]["intent"] for line in events(home, "outcome")
    }
    assert not open_steps
    assert len(events(home, "asked")) == len(events(home, "settled")) == 1
    assert ok("status", home=home).out.startswith("Nova")
