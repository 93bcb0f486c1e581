"""`python -m bench`: measures everything once and prints one table. It reports; it never fails because of a figure."""

import tempfile
from pathlib import Path

from bench import appending, scanning, status
from bench.life import MEMORIES, make_life
from bench.measure import RUNS
from bench.table import show


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="lumen-bench-") as name:
        folder = Path(name)
        log = make_life(folder / "home")
        rows = [
            *status.measure(folder / "home", log, folder / "compiled"),
            *appending.measure(folder),
            *scanning.measure(folder / "home", log),
        ]
    print(f"{MEMORIES} memories in {len(log)} files; medians of {RUNS} interleaved runs, CPU = user + system time")
    show(rows)


if __name__ == "__main__":
    main()
