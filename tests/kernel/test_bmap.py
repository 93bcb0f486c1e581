"""B = M x A x P: every threshold, and the direction in which each number moves the choice."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lumen.kernel.bmap import (
    HALF_LIFE_DAYS,
    LEAST_MOTIVATION,
    Scored,
    ability,
    decide,
    motivation,
    prompt_strength,
    score,
)
from lumen.turn import Action, Alignment, Candidate, Prediction

WEIGHTS = st.floats(0, 1)
DAYS = st.floats(0, 10_000)


def candidate(name: str, skill: str = "chat", goal: str | None = None) -> Candidate:
    return Candidate(name, Action(skill, {"text": name}), f"{skill}:{name}", "", Prediction("", 0.0), goal)


def scored(name: str, m: float, a: float = 1.0, p: float = 1.0) -> Scored:
    return Scored(candidate(name, "chat" if a else "missing"), (), None, m, a, p)


# --- M ------------------------------------------------------------------------------------------------------------


@given(st.lists(WEIGHTS, min_size=1), WEIGHTS)
def test_motivation_is_the_mean_of_the_values_times_the_weight_of_the_goal(weights: list[float], goal: float) -> None:
    m = motivation(weights, goal_weight=goal, is_reaction=False)
    assert math.isclose(m, sum(weights) / len(weights) * goal)
    assert 0 <= m <= 1


@given(st.lists(WEIGHTS, min_size=1))
def test_a_reaction_counts_its_goal_as_one(weights: list[float]) -> None:
    assert motivation(weights, goal_weight=None, is_reaction=True) == sum(weights) / len(weights)


def test_without_an_aligned_value_a_reaction_counts_a_half_and_what_it_began_itself_nothing() -> None:
    assert motivation([], goal_weight=None, is_reaction=True) == 0.5
    assert motivation([], goal_weight=0.9, is_reaction=False) == 0
    assert motivation([0.9], goal_weight=None, is_reaction=False) == 0


@given(st.lists(WEIGHTS, min_size=1), WEIGHTS, WEIGHTS)
def test_a_heavier_goal_never_lowers_motivation(weights: list[float], one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert motivation(weights, goal_weight=low, is_reaction=False) <= motivation(
        weights, goal_weight=high, is_reaction=False
    )


@given(st.lists(WEIGHTS, min_size=1), st.integers(0), WEIGHTS)
def test_a_heavier_value_never_lowers_motivation(weights: list[float], place: int, more: float) -> None:
    place %= len(weights)
    raised = [max(weight, more) if n == place else weight for n, weight in enumerate(weights)]
    before = motivation(weights, goal_weight=None, is_reaction=True)
    assert motivation(raised, goal_weight=None, is_reaction=True) >= before - 1e-12


# --- A and P ------------------------------------------------------------------------------------------------------


def test_ability_is_one_with_a_skill_and_nothing_without() -> None:
    assert ability("chat", frozenset({"chat"})) == 1
    assert ability("weather", frozenset({"chat"})) == 0


@given(DAYS)
def test_a_direct_trigger_is_one_however_old(days: float) -> None:
    assert prompt_strength("direct", days_since=days) == 1


@given(DAYS, DAYS)
def test_an_indirect_trigger_only_ever_weakens_with_time(one: float, other: float) -> None:
    early, late = sorted((one, other))
    assert 1 >= prompt_strength("indirect", days_since=early) >= prompt_strength("indirect", days_since=late) >= 0


def test_an_indirect_trigger_halves_every_seven_days() -> None:
    assert prompt_strength("indirect", days_since=HALF_LIFE_DAYS) == 0.5
    assert prompt_strength("indirect", days_since=2 * HALF_LIFE_DAYS) == 0.25


def test_a_clock_that_was_set_back_makes_no_trigger_stronger_than_a_direct_one() -> None:
    assert prompt_strength("indirect", days_since=-500) == 1


# --- scoring ------------------------------------------------------------------------------------------------------


def test_names_that_are_no_value_and_no_goal_count_for_nothing() -> None:
    (one,) = score(
        [candidate("a")],
        [Alignment("a", ("care", "invented", "care"), "no such goal")],
        values={"care": 0.8},
        goals={},
        skills=frozenset({"chat"}),
        is_reaction=True,
        p=1.0,
    )
    assert (one.values, one.goal, one.m) == (("care",), None, 0.8)


def test_a_goal_multiplies_only_what_the_agent_began_itself() -> None:
    def m_of(*, is_reaction: bool) -> float:
        (one,) = score(
            [candidate("a", goal="town")],
            [Alignment("a", ("care",))],
            values={"care": 0.8},
            goals={"town": 0.5},
            skills=frozenset({"chat"}),
            is_reaction=is_reaction,
            p=1.0,
        )
        assert one.goal == "town"
        return one.m

    assert m_of(is_reaction=True) == 0.8
    assert m_of(is_reaction=False) == 0.4


def test_a_candidate_that_nobody_aligned_is_scored_all_the_same() -> None:
    (one,) = score(
        [candidate("a")], [], values={"care": 0.8}, goals={}, skills=frozenset({"chat"}), is_reaction=True, p=1.0
    )
    assert (one.m, one.b) == (0.5, 0.5)


@given(WEIGHTS, WEIGHTS, st.sampled_from((0.0, 1.0)))
def test_b_is_the_product(m: float, p: float, a: float) -> None:
    assert scored("x", m, a, p).b == m * a * p


# --- deciding -----------------------------------------------------------------------------------------------------

SCORES = st.lists(
    st.tuples(WEIGHTS, st.sampled_from((0.0, 1.0)), WEIGHTS), min_size=1, max_size=6
).map(lambda rows: [scored(str(n), m, a, p) for n, (m, a, p) in enumerate(rows)])  # fmt: skip


@given(SCORES)
def test_what_is_done_has_the_highest_b_of_all_that_is_wanted_and_can_be_done(scores: list[Scored]) -> None:
    decision = decide(scores, [])
    possible = [one for one in scores if one.m >= LEAST_MOTIVATION and one.b > 0]
    assert sorted(map(id, decision.order)) == sorted(map(id, possible))
    assert [one.b for one in decision.order] == sorted((one.b for one in possible), reverse=True)
    assert decision.is_skip == (not possible)


@pytest.mark.parametrize(("m", "is_skip"), [(0.19999, True), (0.2, False), (0.20001, False), (0.0, True)])
def test_below_a_fifth_nothing_is_done(m: float, is_skip: bool) -> None:
    assert decide([scored("a", m)], []).is_skip == is_skip


def test_what_is_wanted_most_and_has_no_skill_is_a_gap_and_the_next_is_still_done() -> None:
    decision = decide([scored("weather", 0.9, a=0.0), scored("say so", 0.6)], [])
    assert decision.gap is not None
    assert decision.gap.candidate.name == "weather"
    assert [one.candidate.name for one in decision.order] == ["say so"]


def test_a_missing_skill_that_is_not_wanted_most_is_no_gap() -> None:
    assert decide([scored("weather", 0.5, a=0.0), scored("say so", 0.6)], []).gap is None
    assert decide([scored("weather", 0.6, a=0.0), scored("say so", 0.6)], []).gap is None


def test_a_missing_skill_that_is_hardly_wanted_is_no_gap() -> None:
    assert decide([scored("weather", 0.19, a=0.0)], []).gap is None


@given(st.permutations(["a", "b", "c"]))
def test_equal_scores_are_left_to_the_mind(preference: list[str]) -> None:
    tied = [scored(name, 0.6) for name in ("a", "b", "c")]
    assert [one.candidate.name for one in decide(tied, preference).order] == preference


@given(st.permutations(["a", "b"]))
def test_the_mind_cannot_overturn_the_arithmetic(preference: list[str]) -> None:
    assert decide([scored("a", 0.5), scored("b", 0.6)], preference).order[0].candidate.name == "b"


def test_a_preference_for_nobody_or_twice_changes_nothing() -> None:
    tied = [scored(name, 0.6) for name in ("a", "b")]
    assert [one.candidate.name for one in decide(tied, ["ghost", "b", "b", "a"]).order] == ["b", "a"]
