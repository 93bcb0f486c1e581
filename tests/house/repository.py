"""The house as the tests of this folder see it: its root, and the files that are kept or would be."""

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def kept_files(root: Path = ROOT) -> list[Path]:
    """Tracked files and those that git would offer to add, relative to the root. Deleted ones are left out."""
    command = ["git", "-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stdout
    return sorted({Path(name) for name in listed.split("\0") if name and (root / name).is_file()})
