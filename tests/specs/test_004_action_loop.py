"""Specification 004, action loop and B=MAP: what each step loads, decides, does, logs, and what it may not write."""

from pathlib import Path

import pytest

from tests.instances import lived_in, log_of, stored, tree
from tests.talking import candidate, decide, give_script, outcome, reply, say, step_facts, think, write_skill

ECHO = "import sys\nprint('Echo.' if '--help' in sys.argv else '{\"ok\": true, \"text\": \"echoed\"}')\n"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return lived_in(tmp_path / "nova")


def one_turn(home: Path, *, score: float = 0.3) -> None:
    give_script(
        home,
        think=[think(reply("answer", "Hello Ada", predicted=0.1), reply("wait", "Later"))],
        decide=[decide("answer", answer=["care", "truth"])],
        record=[outcome(score), outcome(score)],
    )
    (report,), shown = say(home, "Hello")
    assert (report.result, shown) == ("done", ["Hello Ada"]), report


def test_the_steps_run_in_order(home: Path) -> None:
    """004, action loop: 1 THINK, 2 DECIDE, 3 ACT, 4 RECORD."""
    one_turn(home)
    steps = [line["data"]["step"] for line in log_of(home) if line.get("event") == "intent" and line["turn"]]
    assert steps == ["hear", "think", "decide", "act", "record"]


def test_each_input_is_stored_as_an_external_memory(home: Path) -> None:
    """004, lumen chat: "Each user input is stored as memory (author: external)"."""
    one_turn(home)
    said = [line for line in log_of(home) if line["situation"] == "chat with Ada"]
    assert [(line["author"], line["description"]) for line in said] == [("external", "Hello")]


def test_think_logs_what_was_loaded_generated_and_predicted(home: Path) -> None:
    """004, THINK: "Kernel logs: what was loaded, what candidates were generated, what was predicted"."""
    one_turn(home)
    (facts,) = step_facts(home, "think")
    assert (facts["values"], facts["goals"], facts["soul"]) == (2, 2, True)
    known = {line["id"] for line in log_of(home) if line["author"] != "kernel"}
    assert facts["memories"]
    assert set(facts["memories"]) <= known
    assert [(one["name"], one["predicted"]) for one in facts["candidates"]] == [("answer", 0.1), ("wait", 0.2)]


def test_think_never_loads_a_kernel_memory(home: Path) -> None:
    """004, Memory: "kernel memories are below consciousness"."""
    one_turn(home)
    one_turn(home)
    authors = {line["id"]: line["author"] for line in log_of(home)}
    loaded = {authors[identity] for facts in step_facts(home, "think") for identity in facts["memories"]}
    assert loaded <= {"self", "goal", "external"}


def test_decide_logs_the_choice_what_drove_it_and_every_score(home: Path) -> None:
    """004, DECIDE: "which action was selected, which values and goals drove the choice, what the B=MAP scores were"."""
    one_turn(home)
    (facts,) = step_facts(home, "decide")
    answer, wait = facts["scores"]
    assert (answer["values"], answer["m"], answer["a"], answer["p"], answer["b"]) == (["care", "truth"], 0.7, 1, 1, 0.7)
    assert (wait["values"], wait["m"], wait["b"]) == ([], 0.5, 0.5)
    assert facts["order"] == ["answer", "wait"]


def test_too_little_motivation_is_skipped_and_the_skip_recorded(home: Path) -> None:
    """004, DECIDE: "If motivation is too low (M < 0.2), skip and record the skip." """
    give_script(home, think=[think(reply("answer"))], decide=[decide(answer=["dull"])])
    values = home / "data" / "values.json"
    values.write_text('[{"name": "dull", "weight": 0.19, "status": "active"}]', encoding="utf-8")
    (report,), shown = say(home, "Hello")
    assert (report.result, shown) == ("skipped", [])
    assert "0.19" in report.why
    (recorded,) = step_facts(home, "record")
    assert (recorded["turn_result"], recorded["skip"]) == ("skipped", report.why)
    assert step_facts(home, "act") == []


def test_a_missing_ability_becomes_a_goal_to_author_the_skill(home: Path) -> None:
    """004, DECIDE: "If ability is lacking (A = 0), create a new goal to author a skill that fills the gap." """
    give_script(
        home,
        think=[think(candidate("look", "weather", {}), reply("cannot", "I cannot"))],
        decide=[decide(look=["care"], cannot=["truth"])],
        record=[outcome(0.0)],
    )
    (report,), shown = say(home, "Will it rain?")
    goals = [goal for goal in stored(home, "goals/2026.json") if "weather" in goal["name"]]
    assert goals == [{"name": "Author the skill weather", "weight": 0.8, "status": "todo"}]
    assert (report.result, shown) == ("done", ["I cannot"]), "the person is answered in the same turn"


def test_the_gap_is_opened_once(home: Path) -> None:
    """004, DECIDE: a gap that is open already is not a second goal."""
    for _ in range(2):
        give_script(
            home,
            think=[think(candidate("look", "weather", {}), reply("cannot", "I cannot"))],
            decide=[decide(look=["care"], cannot=["truth"])],
            record=[outcome(0.0), outcome(0.0)],
        )
        say(home, "Will it rain?")
    assert sum("weather" in goal["name"] for goal in stored(home, "goals/2026.json")) == 1


@pytest.mark.parametrize("name", ["../evil", "a b", "", "x" * 200])
def test_a_gap_that_cannot_be_a_skill_opens_no_goal(home: Path, name: str) -> None:
    """004, Skills: "Each skill is its own directory", so its name has to be one."""
    before = tree(home / "data" / "goals")
    give_script(
        home,
        think=[think(candidate("look", name, {}), reply("cannot", "I cannot"))],
        decide=[decide(look=["care"], cannot=["truth"])],
        record=[outcome(0.0)],
    )
    say(home, "Do it")
    assert tree(home / "data" / "goals") == before


def test_act_invokes_a_skill(home: Path) -> None:
    """004, ACT: "The selected action always maps to a skill invocation"."""
    one_turn(home)
    (facts,) = step_facts(home, "act")
    assert (facts["skill"], facts["ok"], facts["exit_code"]) == ("chat", True, 0)
    assert len(facts["skill_sha256"]) == 64
    assert facts["isolation"]


def test_record_logs_the_outcome_beside_the_prediction_and_the_signed_delta(home: Path) -> None:
    """004, RECORD: "what happened, the outcome compared to the prediction from step 1, the delta"."""
    one_turn(home, score=-0.4)
    (facts,) = step_facts(home, "record")
    assert (facts["predicted"], facts["outcome"], facts["delta"]) == (0.1, -0.4, -0.5)


def test_the_action_loop_leaves_soul_values_and_goals_alone(home: Path) -> None:
    """004, action loop: "Does not write: values, goal weights, soul.md." """
    before = tree(home / "data", without=("memory", "run", "index"))
    one_turn(home)
    assert tree(home / "data", without=("memory", "run", "index")) == before


def test_kernel_lines_cite_ids_and_hold_no_words_of_others(home: Path) -> None:
    """004, Memory: the kernel's lines are the audit trail, "not the experience"."""
    give_script(home, think=[think(reply("answer", "{said}"))], decide=[decide(answer=["care"])], record=[outcome(0.1)])
    say(home, "the spare key is under the blue stone")
    assert not [line for line in log_of(home) if line["author"] == "kernel" and "blue stone" in str(line)]


def test_ties_are_broken_by_the_mind(home: Path) -> None:
    """004, B=MAP: "Ties are broken by the LLM's judgment." """
    give_script(
        home,
        think=[think(reply("a", "first"), reply("b", "second"))],
        decide=[decide("b", "a", a=["care"], b=["care"])],
        record=[outcome(0.1)],
    )
    assert say(home, "Hello")[1] == ["second"]


def test_the_highest_score_wins_whatever_the_mind_prefers(home: Path) -> None:
    """004, B=MAP: "The candidate with the highest B score wins." """
    give_script(
        home,
        think=[think(reply("a", "first"), reply("b", "second"))],
        decide=[decide("b", "a", a=["care"], b=["truth"])],
        record=[outcome(0.1)],
    )
    assert say(home, "Hello")[1] == ["first"]


def test_a_reaction_needs_no_goal(home: Path) -> None:
    """004, B=MAP: "If the action is reactive [...] goal weight defaults to 1.0." """
    give_script(
        home,
        think=[think(reply("a", "first", goal="learn the town"))],
        decide=[decide(a=["care"])],
        record=[outcome(0.1)],
    )
    say(home, "Hello")
    (scored,) = step_facts(home, "decide")[0]["scores"]
    assert (scored["m"], scored["goal"]) == (0.8, "learn the town")


def test_the_kernel_logs_every_step_also_when_the_mind_fails(home: Path) -> None:
    """004, Memory: "If the kernel ran a step, there is a memory proving it." """
    give_script(home, think=[])
    (report,), _ = say(home, "Hello")
    assert report.result == "failed"
    assert [facts["result"] for facts in step_facts(home, "think")] == ["failed"]
    assert [line["description"] for line in log_of(home) if line["situation"] == "chat with Ada"] == ["Hello"]


def test_a_skill_that_nobody_cleared_waits_and_does_not_run(home: Path) -> None:
    """004, ACT, with the gate: an unknown action goes to the inbox, and the turn ends."""
    write_skill(home, "echo", ECHO)
    give_script(
        home, think=[think(candidate("go", "echo", {"a": 1}))], decide=[decide(go=["care"])], record=[outcome(0.1)]
    )
    (report,), shown = say(home, "Echo this")
    assert (report.result, shown) == ("waiting", [])
    assert report.waiting is not None
    assert "skill_ms" not in step_facts(home, "act")[0]


def test_a_skill_may_ask_the_kernel_for_more_and_each_request_passes_the_gate(home: Path) -> None:
    """004, Architecture: "Skills call the kernel. The kernel calls skills. No skill calls another skill directly." """
    write_skill(home, "echo", ECHO)
    asking = (
        "import json\nprint(json.dumps({'ok': True, 'text': 'asked', 'requests': ["
        "{'skill': 'chat', 'parameters': {'text': 'from a skill'}}, {'skill': 'echo', 'parameters': {}}]}))\n"
    )
    (home / "skills" / "recall" / "main.py").write_text(asking, encoding="utf-8")
    give_script(home, think=[think(candidate("go", "recall", {}))], decide=[decide(go=["care"])], record=[outcome(0.1)])
    _, shown = say(home, "Go")
    assert shown == ["asked", "from a skill"]
    chat, echo = step_facts(home, "act")[0]["served"]
    assert (chat["verdict"], echo["verdict"]) == ("allowed", "requires_confirmation")
    assert len([line for line in log_of(home) if line.get("event") == "asked"]) == 1
