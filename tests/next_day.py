"""A process that lives a day later and says yes: `python -m tests.next_day HOME ENTRY`. Its clock is held."""

import asyncio
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

from lumen.errors import LumenError
from tests.instances import opened


def main(home: str, entry: str) -> int:
    with opened(Path(home), datetime.now(UTC) + timedelta(days=1)) as lumen:
        try:
            report = asyncio.run(
                lumen.confirm(entry, "Ada", lambda kind, text: print(text) if kind == "said" else None)
            )
        except LumenError as problem:
            print(problem, file=sys.stderr)
            return 1
    return 0 if report.result == "done" else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
