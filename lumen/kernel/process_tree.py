"""Processes below a process, as /proc tells it: who they are, how much memory they hold, and how all of them are ended.

It knows nothing of skills. Where there is no /proc it finds nobody.
"""

import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

_PROC: Final = Path("/proc")
_PAGE: Final = os.sysconf("SC_PAGE_SIZE")
_GONE: Final = (FileNotFoundError, ProcessLookupError, PermissionError)
_PATIENCE: Final = 2.0


class Process(NamedTuple):
    pid: int
    parent: int
    resident: int  # bytes


def below(root: int) -> list[Process]:
    """Every living descendant, whatever session or group it went to."""
    children: dict[int, list[Process]] = {}
    for process in _living():
        children.setdefault(process.parent, []).append(process)
    found: list[Process] = []
    parents = [root]
    while parents:
        born = children.pop(parents.pop(), [])
        found += born
        parents += [process.pid for process in born]
    return found


def carrying(mark: bytes) -> set[int]:
    """Every process that was started with this text in its environment."""
    found: set[int] = set()
    for pid in _pids():
        with suppress(*_GONE):
            if mark in (_PROC / str(pid) / "environ").read_bytes():
                found.add(pid)
    return found - {os.getpid()}


def end_all(find: Callable[[], set[int]], *, is_over: Callable[[], bool], spared_group: int = 0) -> None:
    """Kill whom `find` finds, again until `is_over`, or until patience ends.

    One look that finds nobody is no proof: /proc is read process by process, and one whose parent dies in the meantime
    hangs on nobody for that look. So somebody else must know when it is over: who has adopted all of them, say.

    By their groups first: a signal to a group reaches all of it at once, while one that forks faster than /proc is read
    runs away from a signal to each. Who starts a new session with every fork can still run away for a while.
    """
    patience = time.monotonic() + _PATIENCE
    while not is_over() and time.monotonic() < patience:
        found = find()
        for group in {_group_of(pid) for pid in found} - {0, 1, spared_group, os.getpgrp()}:
            with suppress(*_GONE):
                os.killpg(group, signal.SIGKILL)
        for pid in found:
            with suppress(*_GONE):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.001)


def _group_of(pid: int) -> int:
    try:
        return os.getpgid(pid)
    except _GONE:
        return 0


def _living() -> list[Process]:
    return [process for pid in _pids() if (process := _look_at(pid)) is not None]


def _pids() -> list[int]:
    try:
        return [int(name) for name in os.listdir(_PROC) if name.isdecimal()]
    except FileNotFoundError:
        return []


def _look_at(pid: int) -> Process | None:
    """None for one that is gone. A dead first thread whose siblings live on still counts."""
    try:
        stat = (_PROC / str(pid) / "stat").read_bytes()
    except _GONE:
        return None
    fields = stat[stat.rindex(b")") + 2 :].split()
    is_dead = fields[0] in (b"Z", b"X") and int(fields[17]) <= 1
    return None if is_dead else Process(pid, int(fields[1]), int(fields[21]) * _PAGE)
