"""A full disk: nothing acknowledged is lost, the reserve records it, and with some space the record works again.

The disks are real: small ones, mounted in a namespace that ends with the process (tmpfs, and ext4 on a loop device for
those who may). Where nothing may be mounted, files that run out of space stand in for them.
"""

import errno
import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from lumen.record.files import Files
from tests.faults.counts import COUNT, PATIENCE, SEED
from tests.faults.filling import BALLAST_BYTES, Report, run
from tests.house.repository import ROOT
from tests.instances import lived_in

pytestmark = pytest.mark.faults
FILLS = max(2, COUNT // 10)
BYTES = 2 * 1024 * 1024


def tmpfs(folder: Path) -> str:
    return f"mount -t tmpfs -o size={BYTES} none {shlex.quote(str(folder))}"


def ext4(folder: Path) -> str:
    image = shlex.quote(str(folder.with_suffix(".ext4")))
    make = f"truncate -s {2 * BYTES} {image} && mkfs.ext4 -q -m 0 -O ^has_journal {image}"
    return f"{make} && mount -o loop {image} {shlex.quote(str(folder))} && rmdir {shlex.quote(str(folder))}/lost+found"


def inside(mount: str, command: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a namespace where something is mounted that nobody else sees."""
    namespace = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--mount", "--map-root-user"]
    return subprocess.run(
        [*namespace, "sh", "-c", f"{mount} && {command}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


def can_mount(mount: str) -> bool:
    return shutil.which("unshare") is not None and inside(mount, "true").returncode == 0


def filled(mount: str, folder: Path) -> Report:
    program = shlex.join([sys.executable, "-m", "tests.faults.filling", str(folder), str(FILLS), str(SEED)])
    done = inside(mount, program)
    assert done.returncode == 0, done.stderr
    return Report(**json.loads(done.stdout))


def check(report: Report) -> None:
    print(report)
    assert report.fills == report.recovered == FILLS
    assert (report.lost, report.doubled) == (0, 0)
    assert report.acknowledged > report.fills
    assert report.faults == []
    assert report.recorded == report.fills, "each time the kernel could say that the disk was full"


@pytest.mark.parametrize("kind", [tmpfs, ext4], ids=lambda kind: kind.__name__)
def test_a_full_disk_loses_nothing_is_recorded_and_is_recovered_from(kind: object, tmp_path: Path) -> None:
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = tmpfs(folder) if kind is tmpfs else ext4(folder)
    if not can_mount(mount):
        pytest.skip("nothing may be mounted here")
    check(filled(mount, folder))


class ScantFiles(Files):
    """Files on a disk that has so much space and no more: a write takes what still fits, then there is none."""

    def _write(self, fd: int, content: bytes) -> int:
        free = BYTES - sum(path.stat().st_size for path in self.root.parent.rglob("*") if path.is_file())
        if free <= 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return super()._write(fd, content[:free])


def test_where_nothing_can_be_mounted_files_without_space_behave_alike(tmp_path: Path) -> None:
    report = run(tmp_path / "disk", ScantFiles, 2, SEED)
    assert (report.lost, report.doubled, report.faults) == (0, 0, [])
    assert report.recorded == report.recovered == 2


def weight_of_care(status: Path) -> float:
    values = json.loads(status.read_text(encoding="utf-8"))["values"]
    return next(float(value["weight"]) for value in values if value["name"] == "care")


COMMANDS = """
    home={home}; lumen() {{ {python} -m lumen --home $home "$@"; }}
    head -c {ballast} /dev/zero > $home/../ballast
    lumen values set care 0.7 --because 'there is space' || exit 10
    head -c 100000000 /dev/zero > $home/../rest 2>/dev/null
    lumen values set care 0.9 --because 'there is none' && exit 11
    lumen status --json > {out}/full.json || exit 12
    rm $home/../ballast $home/../rest
    lumen values set care 0.8 --because 'there is space again' || exit 13
    lumen status --json > {out}/freed.json || exit 14
    lumen verify || exit 15
    cat $home/data/memory/*/*.jsonl > {out}/log.jsonl
"""


def test_commands_on_a_full_disk_refuse_read_on_and_work_again_when_there_is_space(tmp_path: Path) -> None:
    folder = tmp_path / "disk"
    folder.mkdir()
    if not can_mount(tmpfs(folder)):
        pytest.skip("nothing may be mounted here")
    lived_in(tmp_path / "home")
    copy = f"cp -r {shlex.quote(str(tmp_path / 'home'))} {shlex.quote(str(folder / 'home'))}"
    script = COMMANDS.format(
        home=shlex.quote(str(folder / "home")),
        python=shlex.quote(sys.executable),
        ballast=BALLAST_BYTES,
        out=shlex.quote(str(tmp_path)),
    )
    done = inside(tmpfs(folder), f"{copy} && {script}")
    assert done.returncode == 0, (done.returncode, done.stdout, done.stderr)
    assert "Traceback" not in done.stderr
    assert "No space left" in done.stderr
    assert [weight_of_care(tmp_path / name) for name in ("full.json", "freed.json")] == [0.7, 0.8]
    assert '"event":"disk_full"' in (tmp_path / "log.jsonl").read_text(), "a reserve was kept to say so"
