"""Says which programs are absent here, and what is therefore left out. With CI=true or --strict their absence fails.

It needs nothing but Python, so that it can run before setup. It looks whether a program works, not only whether it is
there: bubblewrap is often installed where the kernel forbids it its namespaces.
"""

import os
import subprocess
import sys
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Need:
    package: str
    probe: tuple[str, ...]
    left_out: str

    def is_met(self) -> bool:
        try:
            tried = subprocess.run(self.probe, stdin=subprocess.DEVNULL, capture_output=True, timeout=20, check=False)
        except (OSError, subprocess.TimeoutExpired):
            return False
        return tried.returncode == 0


NEEDS = (
    Need("git", ("git", "--version"), "instances with a history, rollback, the house rules over tracked files"),
    Need("bubblewrap", ("bwrap", "--ro-bind", "/", "/", "--unshare-net", "true"), "skills kept off the record"),
    Need("strace", ("strace", "-o", os.devnull, "true"), "crashes between two system calls"),
)


def main(arguments: list[str]) -> int:
    is_strict = "--strict" in arguments or os.environ.get("CI") == "true"
    absent = [need for need in NEEDS if not need.is_met()]
    for need in absent:
        print(f"left out: {need.left_out} ({need.package} is absent or may not work here)")
    if absent and is_strict:
        print("needed here: " + ", ".join(need.package for need in absent), file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
