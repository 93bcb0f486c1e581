"""Kill -9 of a real command at every system call by which it changes something. The next command finds all in order.

Every day a sample of the calls; with LUMEN_FAULT_COUNT of 1,000 and more, every one of them.
"""

from pathlib import Path
from random import Random

import pytest

from tests.faults import straced
from tests.faults.commands import COMMANDS, Command, check_recovery
from tests.faults.counts import IS_WHOLE, SEED
from tests.faults.sample import make_sample
from tests.faults.straced import Call, Lumen

pytestmark = [pytest.mark.faults, pytest.mark.skipif(not straced.works(), reason="strace is absent or may not trace")]
SAMPLE = 3


def chosen(calls: list[Call]) -> list[Call]:
    deadly = [call for call in calls if call.name != "openat" or call.makes_a_file]
    return deadly if IS_WHOLE else Random(SEED).sample(deadly, SAMPLE)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_a_command_killed_at_any_system_call_leaves_before_or_after(
    command: Command, tmp_path: Path, program: Path
) -> None:
    sample = make_sample(tmp_path / "sample")
    lumen = Lumen(sample.home, tmp_path / "home", program)
    arguments = command.arguments(sample)
    calls = lumen.recorded(arguments)
    assert {"write", "fdatasync", "fsync", "openat"} <= {call.name for call in calls}
    outcomes = []
    for call in chosen(calls):
        with lumen.fresh():
            ended = lumen.killed_at(call, arguments)
            assert ended.was_killed, f"{call}: {ended}"
            stands = check_recovery(command, lumen)
            assert stands or not ended.out, f"{call}: it said that it was done, and it is not"
            outcomes.append(stands)
    assert not IS_WHOLE or set(outcomes) == {True, False}
    print(f"{command.name}: killed at {len(outcomes)} calls; the change stands after {sum(outcomes)}")


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_a_command_that_nobody_disturbs_does_what_it_says(command: Command, tmp_path: Path, program: Path) -> None:
    sample = make_sample(tmp_path / "sample")
    lumen = Lumen(sample.home, tmp_path / "home", program)
    with lumen.fresh():
        ended = lumen.run(*command.arguments(sample))
        assert ended.code == 0, ended.err
        assert ended.out
        assert check_recovery(command, lumen)
