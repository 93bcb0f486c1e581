"""Writes every pin of the project: requirements.lock, tools/uv.txt, and the marked block in pyproject.toml.

Three files, because three programs read them. requirements.lock has hashes, for `make setup` and for plain pip; the
block in pyproject.toml keeps `uv run` on the same versions (uv's own lock file names hosts and stays out of git);
tools/uv.txt is uv itself, for machines without it. Old pins play no part: each run asks what is newest.
"""

import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROJECT = ROOT / "pyproject.toml"
BEGIN = "# >>> pins, written by `make lock`, not by hand\n"
END = "# <<< pins\n"
HEADER = "# {}. Written by `make lock`, not by hand.\n"
PIN = re.compile(r"^[\w.-]+==[^\s\\;]+(?: ; [^\\]+)?", re.MULTILINE)


def main(uv: str) -> None:
    before, rest = PROJECT.read_text().split(BEGIN)
    after = rest.split(END)[1]
    unpinned = before + BEGIN + END + after
    everything = resolve(uv, "pyproject.toml", unpinned, "--group", "dev")
    builder = resolve(uv, "build.in", "\n".join(tomllib.loads(unpinned)["build-system"]["requires"]))
    itself = resolve(uv, "uv.in", "uv")

    (ROOT / "requirements.lock").write_text(HEADER.format("Everything Lumen runs on and is tested with") + everything)
    (ROOT / "tools" / "uv.txt").write_text(HEADER.format("uv, for a machine that lacks it") + itself)
    pins = toml_list("constraint-dependencies", everything) + toml_list("build-constraint-dependencies", builder)
    PROJECT.write_text(before + BEGIN + pins + END + after)
    print(f"{len(PIN.findall(everything))} packages pinned")


def resolve(uv: str, name: str, text: str, *options: str) -> str:
    """The closure of one requirements file for every platform, with hashes and without a word of where it came from."""
    fixed = ("--universal", "--python-version", "3.11", "--generate-hashes", "--no-header", "--no-annotate")
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / name
        source.write_text(text)
        command = [uv, "pip", "compile", "--quiet", *fixed, "--no-emit-index-url", *options, name]
        resolved = subprocess.run(command, cwd=folder, check=True, stdout=subprocess.PIPE, text=True).stdout
    if "//" in resolved:
        sys.exit("lock: the resolution names an address; nothing was written. Unset the index options and try again.")
    return resolved


def toml_list(key: str, resolved: str) -> str:
    pins = "".join(f'    "{pin.strip()}",\n' for pin in PIN.findall(resolved))
    return f"{key} = [\n{pins}]\n"


if __name__ == "__main__":
    main(sys.argv[1])
