"""What a person finds after things went wrong, or back: rollback, upgrade, broken files, git, dead processes."""

import asyncio
import errno
import json
import shutil
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import pytest

from lumen.app import Instance
from lumen.errors import BrokenState, RecordReadOnly
from lumen.instance import find
from lumen.record.disk_errors import write_error
from lumen.record.files import Files
from tests.foreign_shapes import SHAPES
from tests.house.repository import ROOT
from tests.instances import MORNING, events, lived_in, log_of, made, opened, store, stored, tree
from tests.processes import git, lumen, ok, program

DAYS: Final = [datetime(2024, 5, day, 12, tzinfo=UTC) for day in (1, 2, 3)]
BECAUSE: Final = ("--because", "so")
LOOKING: Final = ("status", "memory", "values", "goals", "skills", "soul", "verify")
NOT_DATA: Final = ("run", "memory")


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three days of one life: care weighs 0.1, 0.2 and 0.3; the soul and a goal come on the second day."""
    home = made(tmp_path_factory.mktemp("recovery") / "nova")
    for number, day in enumerate(DAYS, start=1):
        with opened(home, day) as instance:
            grant = instance.reflection_grant()
            if number == 1:
                grant.values.add("care", 0.1, because="born")
            else:
                grant.values.reweight("care", number / 10, because=f"day {number}")
            if number == 2:
                grant.soul.rewrite("# Nova\n", because="a name")
                grant.goals.add("walk", 0.5, because="legs")
        git(home, "add", "-A")
        git(home, "commit", "-qm", f"day {number}")
        git(home, "tag", f"day-{number}")
    return home


@pytest.fixture
def home(template: Path, tmp_path: Path) -> Path:
    return shutil.copytree(template, tmp_path / "nova")


def care(home: Path) -> float:
    return float(stored(home, "values.json")[0]["weight"])


def findings(home: Path) -> list[str]:
    return [finding["kind"] for finding in ok("status", "--json", home=home).json()["findings"]]


# --- rollback -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("to", "weight"),
    [("2024-05-01", 0.1), ("2024-05-02", 0.2), ("2024-05-02T11:59", 0.1), ("2024-05-03T14:00+02:00", 0.3)],
)
def test_rollback_to_a_date_or_a_moment(home: Path, to: str, weight: float) -> None:
    done = ok("rollback", to, "--yes", *BECAUSE, home=home)
    assert care(home) == weight
    assert ("nothing to change" in done.out) == (weight == 0.3)
    assert ok("verify", "--json", home=home).json()["holds"] is True


@pytest.mark.parametrize("to", ["day-1", "HEAD~2", "commit"])
def test_rollback_to_a_commit(home: Path, to: str) -> None:
    to = git(home, "rev-parse", "day-1").strip()[:10] if to == "commit" else to
    ok("rollback", to, "--yes", *BECAUSE, home=home)
    assert care(home) == 0.1
    assert (home / "data" / "soul.md").read_bytes() == b""
    assert stored(home, "goals/2024.json") == []


def test_rollback_keeps_the_log_and_adds_to_it(home: Path) -> None:
    before = log_of(home)
    ok("rollback", "2024-05-01", "--yes", "--because", "a bad week", home=home)
    assert log_of(home)[: len(before)] == before
    assert "a bad week" in json.dumps(events(home, "change"))
    assert {change["author"] for change in events(home, "change")[-3:]} == {"external"}


def test_a_rollback_can_be_rolled_back(home: Path) -> None:
    before = tree(home / "data", without=NOT_DATA)
    ok("rollback", "2024-05-01", "--yes", *BECAUSE, home=home)
    ok("rollback", "2024-05-03", "--yes", *BECAUSE, home=home)
    assert tree(home / "data", without=NOT_DATA) == before


def test_a_dry_run_shows_and_changes_nothing(home: Path) -> None:
    before = tree(home)
    done = ok("rollback", "2024-05-01", "--dry-run", home=home)
    assert "care: weight 0.3 -> 0.1" in done.out
    assert tree(home) == before


@pytest.mark.parametrize(
    "to",
    ["nonsense", "0" * 40, "2023-12-31", "--", "HEAD~99", "", "-rf", "2024-05-01;ls", "v1..v2", "day-1:data/soul.md"],
)
def test_a_rollback_to_nowhere_changes_nothing(home: Path, to: str) -> None:
    before = tree(home)
    assert lumen("rollback", *BECAUSE, "--yes", "--", to, home=None, folder=home).code in (1, 2)
    assert tree(home) == before


@pytest.mark.parametrize("to", ["0001-01-01T00:00+14:00", "9999-12-31T23:59-10:00", "9999-12-31", "0001-01-01"])
def test_a_rollback_to_the_ends_of_time_is_no_crash(home: Path, to: str) -> None:
    before = tree(home)
    lumen("rollback", to, "--dry-run", home=home)
    assert tree(home) == before


def test_a_rollback_needs_a_reason_and_a_yes(home: Path) -> None:
    before = tree(home)
    assert lumen("rollback", "day-1", "--yes", home=home).code == 2
    assert lumen("rollback", "day-1", *BECAUSE, home=home).code == 2
    assert tree(home) == before


# --- upgrade and lumen.toml ---------------------------------------------------------------------------------------


def test_upgrade_makes_a_backup_and_loses_nothing(tmp_path: Path) -> None:
    home = SHAPES[0].build(tmp_path / "vega")
    before = tree(home / "data")
    done = ok("upgrade", home=home)
    [backup] = home.glob("data.backup-*")
    assert backup.name in done.out
    assert tree(backup) == before
    assert {name: tree(home / "data")[name] for name in before} == before
    assert (home / "lumen.toml").is_file()
    assert (home / "skills" / "chat" / "main.py").is_file()
    assert ok("status", "--json", home=home).json()["format"] == 1


def test_a_second_upgrade_changes_nothing_and_says_so(tmp_path: Path) -> None:
    home = SHAPES[0].build(tmp_path / "vega")
    ok("upgrade", home=home)
    before = tree(home)
    assert "nothing was changed" in ok("upgrade", home=home).out
    assert tree(home) == before


def test_upgrade_leaves_files_without_a_data_folder_alone(tmp_path: Path) -> None:
    flat = next(shape for shape in SHAPES if shape.is_flat)
    home = flat.build(tmp_path / "vega")
    before = tree(home)
    done = lumen("upgrade", home=home)
    assert (done.code, "data" in done.err) == (1, True)
    assert tree(home) == before


@pytest.mark.parametrize(
    ("toml", "said"),
    [
        ("format = 2\n", "newer lumen"),
        ("format = 999\n", "newer lumen"),
        ("format = \n", "not valid TOML"),
        ("format = 1\nformat = 1\n", "not valid TOML"),
        ("", "format = 1"),
        ("format = '1'\n", "format = 1"),
        ("format = true\n", "format = 1"),
        ("format = 0\n", "format = 1"),
        ("format = 1\n[steps]\nseconds = 0\n", "seconds"),
        ("format = 1\n[steps]\nseconds = nan\n", "seconds"),
        ("format = 1\nsteps = 3\n", "[steps] must be a table"),
        ("\x00\x01", "not valid TOML"),
    ],
)
def test_an_instance_with_a_broken_or_newer_lumen_toml_is_not_touched(home: Path, toml: str, said: str) -> None:
    (home / "lumen.toml").write_text(toml, encoding="utf-8")
    before = tree(home)
    for command in (("status",), ("values", "add", "x", "0.5", *BECAUSE), ("upgrade",), ("init",)):
        done = lumen(*command, home=home)
        assert (done.code, said in done.err) == (3, True), done
    assert tree(home) == before


def test_a_newer_format_is_also_refused_from_inside_the_data_folder(home: Path) -> None:
    (home / "lumen.toml").write_text("format = 2\n", encoding="utf-8")
    assert lumen("status", folder=home / "data").code == 3


def test_settings_nobody_knows_are_said_and_kept(home: Path) -> None:
    (home / "lumen.toml").write_text("format = 1\ncolour = 'blue'\n", encoding="utf-8")
    assert "colour" in ok("status", home=home).out


# --- state files that a hand or a crash left ----------------------------------------------------------------------


def test_a_weight_of_7_is_named_by_every_reader_and_stops_every_loop(home: Path) -> None:
    text = '[\n  {"name": "care", "weight": 0.5, "status": "active"},\n  {"name": "pride",\n   "weight": 7}\n]\n'
    (home / "data" / "values.json").write_text(text, encoding="utf-8")
    for command in LOOKING:
        ok(command, home=home)
        ok(command, "--json", home=home).json()
    for command in ("status", "values", "goals"):
        assert "data/values.json, line 4: pride: weight is 7" in lumen(command, home=home).said
    assert [value["name"] for value in ok("values", "--json", home=home).json()] == ["care"]
    with opened(home, MORNING) as instance:
        for grant in (instance.action_grant, instance.explore_grant, instance.reflection_grant):
            with pytest.raises(BrokenState, match=r"data/values\.json, line 4"):
                grant()
    assert (home / "data" / "values.json").read_text(encoding="utf-8") == text


@pytest.mark.parametrize(
    "entry",
    [
        '{"name": "weight", "weight": 7}',
        '{"name": "x", "note": "weight", "weight": 7}',
        '{"name": "x", "history": [{"weight": 1}], "weight": 7}',
    ],
)
def test_the_line_is_right_when_the_field_is_named_before(home: Path, entry: str) -> None:
    spread = json.dumps(json.loads(entry), indent=1)
    text = "[" + spread + "]\n"
    (home / "data" / "values.json").write_text(text, encoding="utf-8")
    line = next(number for number, shown in enumerate(text.splitlines(), start=1) if shown == ' "weight": 7')
    assert f"data/values.json, line {line}: " in ok("status", "--json", home=home).json()["problems"][0]


def test_a_goal_that_cannot_be_used_stops_every_loop(home: Path) -> None:
    store(home, "goals/2024.json", [{"name": "walk", "weight": 0.5, "status": "someday"}])
    with opened(home, MORNING) as instance, pytest.raises(BrokenState, match=r"data/goals/2024\.json, line 5"):
        instance.explore_grant()
    assert "line 5" in ok("status", home=home).out


@pytest.mark.parametrize("name", ["values.json", "goals/2024.json"])
def test_a_file_truncated_at_any_byte_is_rebuilt_and_the_broken_copy_kept(home: Path, name: str) -> None:
    path = home / "data" / name
    raw = path.read_bytes()
    for size in range(len(raw) - 1):
        path.write_bytes(raw[:size])
        with opened(home, MORNING) as instance:
            found = asyncio.run(instance.reconcile())
        assert [finding.kind for finding in found] == ["rebuilt"], size
        assert json.loads(path.read_bytes()) == json.loads(raw), size
        kept = [copy.read_bytes() for copy in path.parent.glob(f"{path.name}.broken-*")]
        assert (raw[:size] in kept) == (size > 0), size
        assert size == 0 or f"{name}.broken-" in found[0].text


def test_a_file_of_nothing_but_zeros_is_rebuilt(home: Path) -> None:
    (home / "data" / "values.json").write_bytes(b"\0" * 60)
    assert "rebuilt" in findings(home)
    assert care(home) == 0.3


@pytest.mark.parametrize("left", [b"\n", b"   ", b"\xef\xbb\xbf", b"\r\n\r\n"], ids=repr)
def test_a_file_of_nothing_but_space_is_no_empty_self(home: Path, left: bytes) -> None:
    (home / "data" / "values.json").write_bytes(left)
    assert "rebuilt" in findings(home)
    assert care(home) == 0.3


@pytest.mark.parametrize("name", ["values.json", "goals/2024.json", "soul.md"])
def test_a_missing_file_is_written_anew_and_said(home: Path, name: str) -> None:
    path = home / "data" / name
    raw = path.read_bytes()
    path.unlink()
    done = ok("status", home=home)
    assert f"{name} could not be used (it was missing)" in done.said
    assert path.read_bytes() == raw
    assert findings(home) == []


def test_an_unreadable_file_that_the_log_does_not_know_is_left_as_it_is(tmp_path: Path) -> None:
    home = made(tmp_path / "nova")
    (home / "data" / "values.json").write_bytes(b'[{"name": "care",')
    for command in LOOKING:
        ok(command, home=home)
    done = lumen("values", "add", "x", "0.5", *BECAUSE, home=home)
    assert (done.code, "line 1" in done.err, "git checkout" in done.err) == (3, True, True)
    assert (home / "data" / "values.json").read_bytes() == b'[{"name": "care",'


def test_an_unreadable_file_that_the_log_does_not_know_is_not_reported_anew_at_each_look(tmp_path: Path) -> None:
    home = made(tmp_path / "nova")
    (home / "data" / "values.json").write_bytes(b'[{"name": "care",')
    ok("status", home=home)
    before = tree(home / "data", without=("run",))
    ok("status", home=home)
    assert tree(home / "data", without=("run",)) == before


@pytest.mark.parametrize("name", ["values.json", "soul.md", "goals/2024.json", "memory/2024/2024-05-04.jsonl"])
def test_a_folder_where_a_file_should_be_is_one_clear_line(home: Path, name: str) -> None:
    path = home / "data" / name
    path.unlink(missing_ok=True)
    path.mkdir()
    done = lumen("status", home=home)
    assert name in done.said


@pytest.mark.parametrize("name", ["values.json", "soul.md", "goals/2024.json"])
def test_a_link_where_a_file_should_be_is_not_followed(home: Path, tmp_path: Path, name: str) -> None:
    path = home / "data" / name
    shutil.move(path, tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    raw = (tmp_path / "elsewhere").read_bytes()
    change = {
        "values.json": ("values", "set", "care", "0.5"),
        "soul.md": ("soul", "edit", "--file", "lumen.toml"),
        "goals/2024.json": ("goals", "set", "learn the town", "--weight", "0.1"),
    }[name]
    assert "symbolic link" in ok("status", home=home).said
    done = lumen(*change, *BECAUSE, home=home, folder=home)
    assert (done.code != 0, "symbolic link" in done.err) == (True, True)
    assert path.is_symlink()
    assert (tmp_path / "elsewhere").read_bytes() == raw


def test_a_soul_that_was_replaced_by_hand_is_adopted(home: Path) -> None:
    (home / "data" / "soul.md").write_text("# Other\n", encoding="utf-8")
    assert "changed by hand" in ok("status", home=home).said
    [adopted] = events(home, "adopted")
    assert (adopted["author"], adopted["data"]["changes"][0]["after"]) == ("external", "# Other\n")
    assert (home / "data" / "soul.md").read_text(encoding="utf-8") == "# Other\n"
    assert findings(home) == []


# --- git ----------------------------------------------------------------------------------------------------------


def test_an_older_file_checked_out_by_git_is_adopted_as_a_persons_hand(home: Path) -> None:
    git(home, "checkout", "-q", "day-1", "--", "data/values.json")
    assert findings(home) == ["adopted"]
    assert care(home) == 0.1
    assert events(home, "adopted")[-1]["author"] == "external"
    assert ok("verify", "--json", home=home).json()["holds"] is True
    assert findings(home) == []


def with_an_older_log(home: Path, *, also: tuple[str, ...] = ()) -> None:
    """A change is logged, and git brings the log of before back."""
    ok("values", "set", "care", "0.9", *BECAUSE, home=home)
    git(home, "checkout", "-q", "day-3", "--", *also)
    git(home, "clean", "-qfd", "--", "data/memory")
    git(home, "checkout", "-q", "day-3", "--", "data/memory")


def test_an_older_log_restored_by_git_is_found_by_verify(home: Path) -> None:
    with_an_older_log(home, also=("data",))
    done = lumen("verify", home=home)
    assert (done.code, "lumen adopt" in done.out) == (1, True)
    assert "log_went_back" in findings(home)
    assert lumen("verify", home=home).code == 1


def test_a_restored_log_is_accepted_with_a_reason(home: Path) -> None:
    with_an_older_log(home, also=("data",))
    assert lumen("adopt", home=home).code == 2
    ok("adopt", "--because", "the disk died", home=home)
    assert ok("verify", "--json", home=home).json()["holds"] is True
    assert [(line["author"], line["data"]["because"]) for line in events(home, "log_adopted")] == [
        ("external", "the disk died")
    ]


def test_adopting_a_log_that_is_whole_is_refused(home: Path) -> None:
    assert lumen("adopt", *BECAUSE, home=home).code == 1


@pytest.mark.parametrize(
    "between",
    [("values",), ("status",), ("values", "add", "x", "0.5", *BECAUSE)],
    ids=["values", "status", "values add"],
)
@pytest.mark.parametrize("also", [("data",), ("data/goals",)], ids=["all of data", "the log alone"])
def test_a_restored_log_stays_a_finding_until_it_is_adopted(
    home: Path, between: tuple[str, ...], also: tuple[str, ...]
) -> None:
    with_an_older_log(home, also=also)
    ok(*between, home=home)
    assert lumen("verify", home=home).code == 1
    ok("adopt", *BECAUSE, home=home)
    assert lumen("verify", home=home).code == 0


# --- processes and disks ------------------------------------------------------------------------------------------

DIES: Final = """
import asyncio, os, sys
from pathlib import Path
from lumen.clock import SystemClock
from lumen.kernel.steps.runner import Report, StepRunner
from lumen.record.files import Files
from lumen.record.kernel_journal import KernelJournal
from lumen.record.record import Record

async def dies(report: Report) -> None:
    os._exit(9)

record = Record(Files(Path(sys.argv[1]) / "data"), SystemClock())
asyncio.run(StepRunner(KernelJournal(record), seconds=5).run("think", dies))
"""


def test_a_process_that_dies_inside_a_step_is_shown_at_the_next_start(home: Path) -> None:
    died = subprocess.run([sys.executable, "-c", DIES, str(home)], cwd=ROOT, check=False)
    assert died.returncode == 9
    first = ok("status", home=home)
    assert "the step think, begun 2" in first.out
    assert "was interrupted" in first.out
    [outcome] = [line for line in events(home, "outcome") if line["data"]["step"] == "think"]
    assert outcome["data"]["result"] == "interrupted"
    assert findings(home) == []
    assert "last interruption" in ok("status", home=home).out
    assert ok("verify", "--json", home=home).json()["holds"] is True


class ReadOnlyDisk(Files):
    """A disk that was mounted read-only: whatever writes fails as it does there, also for root."""

    def _open_for_append(self, name: str) -> int:
        raise write_error(self.root / name, OSError(errno.EROFS, "Read-only file system"))

    def _write(self, fd: int, content: bytes) -> int:
        raise OSError(errno.EROFS, "Read-only file system")

    def _rename(self, source: Path, target: Path) -> None:
        raise OSError(errno.EROFS, "Read-only file system")


def test_a_disk_that_cannot_be_written_can_still_be_read(home: Path) -> None:
    store(home, "values.json", [{"name": "care", "weight": 0.9, "status": "active"}])
    before = tree(home / "data", without=("run",))
    instance = Instance(find(home, working_folder=home), files=ReadOnlyDisk(home / "data"))
    assert instance.needs_reconciling()
    [finding] = asyncio.run(instance.reconcile())
    assert "could not be recorded yet" in finding.text
    assert [value.weight for value in instance.look().values] == [0.9]
    with pytest.raises(RecordReadOnly, match="Check permissions"):
        instance.reflection_grant().values.reweight("care", 0.1, because="so")
    instance.close()
    assert tree(home / "data", without=("run",)) == before


def read_only_ways() -> list[str]:
    """Bubblewrap shows a folder read-only to real processes, where it is installed and allowed."""
    found = shutil.which("bwrap")
    if (
        found is None
        or subprocess.run([found, "--ro-bind", "/", "/", "true"], capture_output=True, check=False).returncode
    ):
        return []
    return [found]


@pytest.mark.parametrize("bwrap", read_only_ways())
@pytest.mark.parametrize("is_edited", [False, True], ids=["as it was", "edited"])
def test_every_command_that_looks_works_on_a_read_only_folder(home: Path, bwrap: str, is_edited: bool) -> None:
    if is_edited:
        store(home, "values.json", [{"name": "care", "weight": 0.9, "status": "active"}])
    lumen_command = str(Path(sys.executable).parent / "lumen")
    mounts = ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--ro-bind", str(home), str(home)]
    wrapped = [bwrap, *mounts, lumen_command]
    for command in ("status", "values", "memory", "verify"):
        done = program([*wrapped, command, "--home", str(home)], folder=home)
        assert done.code == 0, done
        assert "Traceback" not in done.err
    changed = program([*wrapped, "values", "set", "care", "0.5", *BECAUSE, "--home", str(home)], folder=home)
    assert (changed.code, "Traceback" in changed.err) == (4, False)


def test_a_copy_of_an_instance_is_as_whole_as_the_instance(tmp_path: Path) -> None:
    home = lived_in(tmp_path / "nova")
    copy = shutil.copytree(home, tmp_path / "copy")
    assert ok("verify", "--json", home=copy).json()["holds"] is True
    assert findings(copy) == []
