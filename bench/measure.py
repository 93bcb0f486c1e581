"""How a cost is taken: many runs, one contender after the other in each round, and the median of each.

A round gives every contender its turn, so a machine that is busy for a while is busy for all of them. CPU time is user
plus system time. Wall time is shown where waiting for the disk is the point; it depends on the machine and on who else
is at work there.
"""

import os
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

RUNS: Final = int(os.environ.get("LUMEN_BENCH_RUNS", "15"))


@dataclass(frozen=True, slots=True)
class Cost:
    """In seconds."""

    cpu: float
    wall: float


@dataclass(frozen=True, slots=True)
class Contender:
    name: str
    run: Callable[[], Cost]


def medians(contenders: Sequence[Contender], runs: int = RUNS) -> dict[str, Cost]:
    """The median cost of each, after one round that does not count."""
    costs: dict[str, list[Cost]] = {contender.name: [] for contender in contenders}
    for round_ in range(runs + 1):
        for contender in contenders:
            cost = contender.run()
            if round_:
                costs[contender.name].append(cost)
    return {
        name: Cost(statistics.median(cost.cpu for cost in taken), statistics.median(cost.wall for cost in taken))
        for name, taken in costs.items()
    }


def child(command: Sequence[str], environment: Mapping[str, str]) -> Cost:
    """One process from its start to its end. It must succeed; what it says goes nowhere."""
    silence = (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)
    began = time.perf_counter()
    process = os.posix_spawn(command[0], list(command), environment, file_actions=[silence])
    _, status, usage = os.wait4(process, 0)
    wall = time.perf_counter() - began
    if os.waitstatus_to_exitcode(status) != 0:
        raise SystemExit(f"{' '.join(command)} failed")
    return Cost(usage.ru_utime + usage.ru_stime, wall)


def here(work: Callable[[], object]) -> Cost:
    """A piece of work in this process."""
    began, cpu = time.perf_counter(), time.process_time()
    work()
    return Cost(time.process_time() - cpu, time.perf_counter() - began)


def clean_environment(compiled: Path, **more: str) -> dict[str, str]:
    """Every child finds its bytecode compiled, as after an installation, whatever the caller has set."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    return {**kept, "PYTHONPYCACHEPREFIX": str(compiled), **more}
