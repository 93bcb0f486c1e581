"""A shipped skill as the program it is: started on its own, without the kernel."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.house.repository import ROOT


def answered(name: str, request: object, *, data: Path | None = None) -> tuple[int, dict[str, Any]]:
    """Exit code and answer. The environment holds nothing but where the data is."""
    done = subprocess.run(
        [sys.executable, ROOT / "lumen/skills" / name / "main.py"],
        input=request if isinstance(request, bytes) else json.dumps(request).encode(),
        env={"LUMEN_DATA": str(data)} if data else {},
        capture_output=True,
        check=False,
        timeout=30,
    )
    assert done.stderr == b""
    answer = json.loads(done.stdout)
    assert isinstance(answer, dict)
    assert answer["ok"] == (done.returncode == 0)
    return done.returncode, answer


def help_of(name: str) -> str:
    program = ROOT / "lumen/skills" / name / "main.py"
    return subprocess.run([sys.executable, program, "--help"], capture_output=True, text=True, check=True).stdout
