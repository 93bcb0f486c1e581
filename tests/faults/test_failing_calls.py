"""Each system call of a real command fails once: nothing is acknowledged, it is said in one line, and nothing breaks.

Errors of the device (EIO), a full disk (ENOSPC), no descriptors left (EMFILE), and an interruption that is none (EINTR,
which Python itself tries again). Every day a sample; with LUMEN_FAULT_COUNT of 1,000 and more, all of them.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from tests.faults import straced
from tests.faults.commands import COMMANDS, Command, check_recovery
from tests.faults.counts import IS_WHOLE, SEED
from tests.faults.sample import make_sample
from tests.faults.straced import Call, Ended, Lumen

pytestmark = [pytest.mark.faults, pytest.mark.skipif(not straced.works(), reason="strace is absent or may not trace")]
SAMPLE = 4
SYNCS = ("fdatasync", "fsync")
RECORDING = ("write", "pwrite64", "rename", "renameat", "renameat2")


def errors_of(call: Call) -> Iterator[str]:
    if call.name == "openat":
        yield "EMFILE"
    if call.name != "openat" or call.makes_a_file:
        yield "EIO"
        yield "ENOSPC"
    if call.name == "write":
        yield "EINTR"


def chosen(calls: list[Call]) -> list[tuple[Call, str]]:
    all_of_them = [(call, error) for call in calls if not call.speaks for error in errors_of(call)]
    if IS_WHOLE:
        return all_of_them
    failing_syncs = [(call, error) for call, error in all_of_them if call.name in SYNCS and error == "EIO"]
    random = Random(SEED)
    return [random.choice(failing_syncs), *random.sample(all_of_them, SAMPLE)]


def is_of_no_consequence(call: Call, error: str) -> bool:
    """Notes in run/ may be lost, a look may be done without, and Python repeats a call that was interrupted."""
    return "/data/run" in call.arguments or call.only_reads or error == "EINTR"


def check_what_was_said(call: Call, error: str, ended: Ended) -> None:
    assert "Traceback" not in ended.err
    if ended.code == 0:
        assert is_of_no_consequence(call, error), "it failed, and the command said nothing"
        return
    assert ended.out == "", "something was acknowledged"
    complaints = [line for line in ended.err.splitlines() if not line.startswith("! ")]
    assert len(complaints) == 1
    assert re.fullmatch(r"lumen: .+\.", complaints[0])


def check_that_it_stopped(ended: Ended) -> None:
    """After a sync that failed nobody knows what is on the disk: the process may write nothing more to the record."""
    at = next(number for number, call in enumerate(ended.calls) if call.is_injected)
    later = [call for call in ended.calls[at + 1 :] if call.name in RECORDING and "/data/" in call.arguments]
    written = [call.arguments for call in later if "/data/run/" not in call.arguments]
    assert not written, "after a sync that failed it went on writing"


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_a_system_call_that_fails_is_said_and_breaks_nothing(command: Command, tmp_path: Path, program: Path) -> None:
    sample = make_sample(tmp_path / "sample")
    lumen = Lumen(sample.home, tmp_path / "home", program)
    arguments = command.arguments(sample)
    findings = []
    faults = chosen(lumen.recorded(arguments))
    for call, error in faults:
        with lumen.fresh():
            ended = lumen.failing_at(call, error, arguments)
            try:
                check_what_was_said(call, error, ended)
                if call.name in SYNCS and error == "EIO":
                    check_that_it_stopped(ended)
                assert check_recovery(command, lumen) or ended.code != 0
            except AssertionError as finding:
                findings.append(f"{error} at {call}: {finding} {ended}")
    assert not findings, "\n\n".join(findings)
    print(f"{command.name}: {len(faults)} calls failed")


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_a_standard_output_that_fails_is_an_error_and_no_traceback(
    command: Command, tmp_path: Path, program: Path
) -> None:
    sample = make_sample(tmp_path / "sample")
    lumen = Lumen(sample.home, tmp_path / "home", program)
    arguments = command.arguments(sample)
    speaking = [call for call in lumen.recorded(arguments) if call.speaks]
    assert speaking
    for call in speaking:
        with lumen.fresh():
            ended = lumen.failing_at(call, "ENOSPC", arguments)
            assert ended.code != 0
            assert "Traceback" not in ended.err
            assert check_recovery(command, lumen), "the change stands, though nobody could be told"
