"""A step leaves its intent and its outcome, whatever happens in between."""

import asyncio
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from lumen.app import Instance
from lumen.clock import HeldClock
from lumen.errors import Refused, StepFailed, StepTimeout
from lumen.kernel.steps.runner import Report, Step, StepRunner
from lumen.record.files import Files
from lumen.record.kernel_journal import KernelJournal
from lumen.record.record import Record
from tests.instances import MORNING, events, log_of, made, opened


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return made(tmp_path / "nova")


@pytest.fixture
def runner(home: Path) -> Iterator[StepRunner]:
    record = Record(Files(home / "data"), HeldClock(MORNING))
    yield StepRunner(KernelJournal(record), seconds=30)
    record.close()


async def sleeps(report: Report) -> None:
    report.note(started=True)
    await asyncio.sleep(60)


async def refuses(report: Report) -> None:
    raise Refused("No.")


async def breaks(report: Report) -> None:
    raise ZeroDivisionError("by zero")


async def times_out_by_itself(report: Report) -> None:
    raise TimeoutError("the far side did not answer")


async def is_interrupted(report: Report) -> None:
    raise KeyboardInterrupt


async def leaves(report: Report) -> None:
    raise SystemExit(7)


def run(runner: StepRunner, step: Step[Any]) -> Any:
    return asyncio.run(runner.run("think", step, seconds=5, loaded=2))


def outcome_of(home: Path) -> dict[str, Any]:
    """The only outcome there is; it must close the only intent there is."""
    [intent], [outcome] = events(home, "intent"), events(home, "outcome")
    assert outcome["data"]["intent"] == intent["id"]
    assert outcome["data"]["step"] == "think"
    assert {intent["author"], outcome["author"]} == {"kernel"}
    data: dict[str, Any] = outcome["data"]
    return data


def test_a_step_that_ends_well_returns_its_value_and_leaves_intent_and_outcome(home: Path, runner: StepRunner) -> None:
    async def answers(report: Report) -> int:
        report.note(candidates=3)
        return 42

    assert run(runner, answers) == 42
    assert events(home, "intent")[0]["data"] == {"step": "think", "loaded": 2}
    assert outcome_of(home)["result"] == "done"
    assert outcome_of(home)["candidates"] == 3


def test_the_intent_stands_in_the_log_before_the_step_begins(home: Path, runner: StepRunner) -> None:
    seen: list[str] = []

    async def looks(report: Report) -> None:
        seen.extend(line["event"] for line in log_of(home))

    run(runner, looks)
    assert seen == ["intent"]


@pytest.mark.parametrize(
    ("step", "raised", "result"),
    [
        (refuses, Refused, "failed"),
        (breaks, StepFailed, "failed"),
        (times_out_by_itself, StepFailed, "failed"),
        (is_interrupted, KeyboardInterrupt, "failed"),
        (leaves, SystemExit, "failed"),
    ],
)
def test_a_step_that_raises_still_leaves_its_outcome(
    home: Path, runner: StepRunner, step: Step[None], raised: type[BaseException], result: str
) -> None:
    with pytest.raises(raised):
        run(runner, step)
    assert outcome_of(home)["result"] == result


def test_an_error_of_this_program_comes_out_as_it_is(runner: StepRunner) -> None:
    with pytest.raises(Refused, match=r"^No\.$"):
        run(runner, refuses)


def test_another_error_is_wrapped_and_names_its_cause(runner: StepRunner) -> None:
    with pytest.raises(StepFailed, match=r"think failed: ZeroDivisionError\. by zero") as caught:
        run(runner, breaks)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_a_step_over_its_deadline_is_a_timeout(home: Path, runner: StepRunner) -> None:
    with pytest.raises(StepTimeout, match=r"did not end within 0\.05 seconds"):
        asyncio.run(runner.run("think", sleeps, seconds=0.05))
    assert outcome_of(home)["result"] == "timeout"
    assert outcome_of(home)["started"] is True


def test_a_step_that_raises_a_timeout_error_itself_has_failed_and_not_timed_out(home: Path, runner: StepRunner) -> None:
    with pytest.raises(StepFailed, match="the far side did not answer"):
        run(runner, times_out_by_itself)
    assert outcome_of(home)["result"] == "failed"


def test_the_runners_own_limit_holds_when_the_step_has_none(home: Path) -> None:
    record = Record(Files(home / "data"), HeldClock(MORNING))
    with pytest.raises(StepTimeout):
        asyncio.run(StepRunner(KernelJournal(record), seconds=0.05).run("think", sleeps))
    assert outcome_of(home)["result"] == "timeout"


def test_a_cancelled_step_still_leaves_its_outcome_and_stays_cancelled(home: Path, runner: StepRunner) -> None:
    async def cancel_midway() -> None:
        task = asyncio.create_task(runner.run("think", sleeps))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancel_midway())
    assert outcome_of(home)["result"] == "cancelled"


def test_a_step_cancelled_from_outside_by_a_shorter_deadline_is_cancelled_and_no_timeout(
    home: Path, runner: StepRunner
) -> None:
    async def hurry() -> None:
        async with asyncio.timeout(0.05):
            await runner.run("think", sleeps)

    with pytest.raises(TimeoutError):
        asyncio.run(hurry())
    assert outcome_of(home)["result"] == "cancelled"


def test_a_turn_is_named_in_both_lines(home: Path, runner: StepRunner) -> None:
    async def nothing(report: Report) -> None:
        return None

    asyncio.run(runner.run("think", nothing, turn="turn-1"))
    assert [line["turn"] for line in log_of(home)] == ["turn-1", "turn-1"]


def test_a_step_cannot_falsify_its_own_result(home: Path, runner: StepRunner) -> None:
    async def lies(report: Report) -> None:
        report.note(result="done", step="rest", intent="another")
        raise ZeroDivisionError

    with pytest.raises(StepFailed):
        run(runner, lies)
    assert outcome_of(home)["result"] == "failed"


def test_a_report_that_is_no_json_number_still_leaves_an_outcome(home: Path, runner: StepRunner) -> None:
    async def counts_badly(report: Report) -> None:
        report.note(delta=float("nan"))

    with suppress(StepFailed, ValueError):  # whether it is refused is open; that the outcome stands is not
        run(runner, counts_badly)
    assert len(events(home, "outcome")) == 1


def test_a_step_whose_outcome_stands_is_not_shown_as_interrupted(home: Path, runner: StepRunner) -> None:
    with pytest.raises(StepFailed):
        run(runner, breaks)
    with opened(home) as instance:
        assert not instance.needs_reconciling()


def test_a_running_step_of_a_living_process_is_not_taken_for_interrupted(home: Path, runner: StepRunner) -> None:
    seen: list[bool] = []

    async def lets_another_look(report: Report) -> None:
        with opened(home) as other:
            seen.append(other.needs_reconciling())

    run(runner, lets_another_look)
    assert seen == [False]


def test_what_a_person_asks_for_is_a_step_too(home: Path) -> None:
    with opened(home, MORNING) as instance:
        asyncio.run(_add_care(instance))
    [intent], [outcome] = events(home, "intent"), events(home, "outcome")
    assert (intent["data"]["step"], intent["data"]["by"]) == ("values add", "person")
    assert outcome["data"]["result"] == "done"


async def _add_care(instance: Instance) -> None:
    await instance.as_person("values add", lambda grant: grant.values.add("care", 0.5, because="it matters"))
