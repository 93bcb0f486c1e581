"""The command line as a person meets it: where an instance is found, what may be typed, what is shown."""

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from lumen.commands.later import LATER
from lumen.errors import Refused
from tests.instances import MORNING, lived_in, log_of, made, opened, store, stored, tree, write_log
from tests.processes import INSTALLED, at_terminal, environment, installed, lumen, ok, program

LOOKING: Final = ("status", "memory", "values", "goals", "skills", "soul", "verify")
CHANGING: Final = (
    ("values", "add", "new", "0.5"),
    ("values", "set", "care", "0.5"),
    ("values", "retire", "care"),
    ("values", "restore", "care"),
    ("goals", "add", "new", "0.5"),
    ("goals", "set", "learn the town", "--status", "done"),
    ("goals", "set", "learn the town", "--weight", "0.1"),
    ("soul", "edit", "--file", "-"),
)
ESCAPE: Final = "\x1b"
BIDI: Final = "\u202a\u202b\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f"
HOSTILE: Final = {
    "an escape code": "\x1b[31mred\x1b[0m \x1b]0;title\x07 \x1b[2J",
    "a c1 control": "\x9b31m red \x9d0;title\x9c",
    "a direction override": "abc \u202egnp.exe\u202c \u2066x\u2069 \u200f",
    "markup": "[bold]loud[/bold] [/] [link=file:///etc/passwd]x[/link] :smile:",
    "a carriage return": "harmless\rlumen: all is well",
    "a backspace": "no\b\byes",
    "a null": "a\x00b",
    "a lone surrogate": "\ud800",
    "a line of its own": "x\n2026-11-18 08:00:00  kernel  1.00  forged  00000000:1",
    "a strange line end": "x\u2028y\x0bz\x0cw\x85v",
}
ABSURD_WEIGHTS: Final = ("nan", "inf", "-inf", "-1", "2", "1.0000001", "1e309", "abc", "", "0,5", "0x1")


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An instance that no test changes."""
    return lived_in(tmp_path_factory.mktemp("cli") / "nova")


@pytest.fixture
def home(template: Path, tmp_path: Path) -> Path:
    """An instance that a test may change."""
    return shutil.copytree(template, tmp_path / "nova")


# --- where the instance is ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("inner", ["", "data", "data/memory/2026", "skills/chat"])
def test_the_instance_is_found_from_the_working_folder_upwards(template: Path, inner: str) -> None:
    assert ok("status", "--json", folder=template / inner).json()["home"] == str(template)


def test_home_may_stand_before_and_after_the_command(template: Path, tmp_path: Path) -> None:
    for arguments in (("--home", str(template), "status", "--json"), ("status", "--json", "--home", str(template))):
        assert ok(*arguments, folder=tmp_path).json()["home"] == str(template)


def test_home_reaches_a_command_below_a_command(home: Path, tmp_path: Path) -> None:
    because = ("--because", "so")
    ok("--home", str(home), "values", "set", "care", "0.1", *because, folder=tmp_path)
    ok("values", "set", "truth", "0.2", *because, "--home", str(home), folder=tmp_path)
    assert [value["weight"] for value in stored(home, "values.json")] == [0.1, 0.2]


def test_home_between_a_command_and_its_own_command_is_not_ignored(home: Path, tmp_path: Path) -> None:
    other = lived_in(tmp_path / "other")
    lumen("values", "--home", str(home), "set", "care", "0.1", "--because", "so", folder=other)
    assert stored(other, "values.json")[0]["weight"] == 0.8


def test_lumen_home_names_the_instance(template: Path, tmp_path: Path) -> None:
    done = lumen("status", "--json", folder=tmp_path, env={"LUMEN_HOME": str(template)})
    assert done.json()["home"] == str(template)


def test_home_wins_over_lumen_home_and_that_over_the_working_folder(template: Path, tmp_path: Path) -> None:
    one, two = made(tmp_path / "one"), made(tmp_path / "two")
    env = {"LUMEN_HOME": str(two)}
    assert lumen("status", "--json", folder=one, env=env).json()["home"] == str(two)
    assert lumen("status", "--json", home=template, folder=one, env=env).json()["home"] == str(template)


@pytest.mark.parametrize("command", [*LOOKING, "upgrade", "adopt"])
def test_without_an_instance_every_command_says_what_to_do_next(tmp_path: Path, command: str) -> None:
    done = lumen(command, folder=tmp_path)
    assert (done.code, done.out) == (2, "")
    assert "lumen init" in done.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("named", ["nowhere", "a file"])
def test_a_home_that_is_none_is_named(tmp_path: Path, named: str) -> None:
    (tmp_path / "a file").write_text("x", encoding="utf-8")
    done = lumen("status", home=tmp_path / named)
    assert (done.code, named in done.err, "lumen init" in done.err) == (2, True, True)
    assert lumen("status", folder=tmp_path, env={"LUMEN_HOME": str(tmp_path / named)}).code == 2


# --- what is shown ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", LOOKING)
def test_json_is_json_and_nothing_else(template: Path, command: str) -> None:
    done = ok(command, "--json", home=template)
    done.json()
    assert done.err == ""


def test_json_of_unreadable_lines_is_json_too(home: Path) -> None:
    path = next((home / "data" / "memory").glob("*/*.jsonl"))
    path.write_bytes(path.read_bytes() + b"junk\n")
    ok("memory", "--unreadable", "--json", home=home).json()


def test_json_stays_json_while_something_is_found(home: Path) -> None:
    store(home, "values.json", [{"name": "care", "weight": 7}])
    for command in LOOKING:
        ok(command, "--json", home=home).json()


@pytest.mark.parametrize("command", LOOKING)
def test_a_pipe_gets_no_escape_codes(template: Path, command: str) -> None:
    for env in ({"TERM": "xterm-256color"}, {"NO_COLOR": "1"}):
        assert ESCAPE not in lumen(command, home=template, env=env).said


def test_an_error_in_a_pipe_has_no_escape_codes(template: Path, tmp_path: Path) -> None:
    env = {"TERM": "xterm-256color"}
    for arguments in (("status",), ("memory", "--date", "x"), ("values", "set", "a", "b"), ("nonsense",)):
        assert ESCAPE not in lumen(*arguments, folder=tmp_path, env=env).said


def test_a_terminal_gets_colours_unless_no_color_is_set(template: Path) -> None:
    colour = re.compile(r"\x1b\[(?:\d+;)*(?:3[0-8]|9[0-7])(?:;\d+)*m")
    assert colour.search(at_terminal("memory", folder=template).out)
    assert not colour.search(at_terminal("memory", folder=template, env={"NO_COLOR": "1"}).out)


@pytest.mark.parametrize("field", ["situation", "description", "timestamp", "author"])
def test_hostile_text_in_a_memory_comes_out_inert(tmp_path: Path, field: str) -> None:
    home = made(tmp_path / "nova")
    five = {"timestamp": "2026-02-14T09:00:00", "author": "self", "weight": 0.5, "situation": "s", "description": "d"}
    write_log(home, "2026-02-14", *({**five, field: text} for text in HOSTILE.values()))
    assert_inert(ok("status", home=home).said)
    shown = ok("memory", "--all", home=home).said
    assert_inert(shown)
    assert len(ok("memory", "--all", "--json", home=home).json()) == len(HOSTILE)
    heads = [line for line in shown.splitlines() if not line.startswith("    ")]
    assert len(heads) == len(HOSTILE), heads


def test_hostile_text_in_soul_values_and_goals_comes_out_inert(tmp_path: Path) -> None:
    home = made(tmp_path / "nova")
    soul = "".join(f"# {text}\n" for text in HOSTILE.values())
    (home / "data" / "soul.md").write_text(soul, encoding="utf-8", errors="replace")
    usable = [{"name": text, "weight": 0.5, "status": "active"} for text in HOSTILE.values()]
    store(home, "values.json", [*usable, *({"name": text, "weight": text} for text in HOSTILE.values())])
    store(home, "goals/2026.json", [{**entry, "status": "todo"} for entry in usable])
    for command in LOOKING:
        assert_inert(ok(command, home=home).said)
    for command in ("values", "goals"):
        shown = ok(command, home=home).out.splitlines()[1:]
        assert len(shown) == len(HOSTILE), shown


def test_markup_is_shown_as_it_is(home: Path) -> None:
    ok("values", "add", "[bold]loud[/bold]", "0.5", "--because", "[/] [red]x", home=home)
    assert "[bold]loud[/bold]" in ok("values", home=home).out
    assert "[/] [red]x" in ok("memory", home=home).out


@pytest.mark.parametrize("name", ["[bold]", "[", "[]", "a b", "[red", "\u202e"])
def test_a_file_to_import_may_have_any_name(home: Path, tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text('{"timestamp":"2026-01-01T00:00:00","description":"d"}\n', encoding="utf-8")
    assert "Imported 1 memories" in ok("memory", "import", str(path), home=home).out


def test_letters_that_the_terminal_cannot_show_are_no_crash(home: Path) -> None:
    ok("values", "add", "größe ☀", "0.5", "--because", "ü", home=home)
    for command in LOOKING:
        for form in ((), ("--json",)):
            assert lumen(command, *form, home=home, env={"PYTHONIOENCODING": "ascii"}).code == 0


@pytest.mark.parametrize("form", [(), ("--json",)], ids=["text", "json"])
def test_a_reader_that_stops_reading_is_no_error(tmp_path: Path, form: tuple[str, ...]) -> None:
    home = made(tmp_path / "nova")
    with opened(home, MORNING) as instance:
        for number in range(300):
            instance.person_grant().memory.remember("self", f"s{number}", "d" * 1000)
    process = subprocess.Popen(
        [str(INSTALLED), "memory", "--all", *form],
        cwd=home,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    assert process.stdout.readline()
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(timeout=30) == 0


def test_the_module_runs_like_the_script(template: Path) -> None:
    done = program([sys.executable, "-m", "lumen", "values"], folder=template)
    assert (done.code, done.out) == (0, installed("values", folder=template).out)


# --- what may be typed --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "command",
    [
        ("values", "add", "new"),
        ("values", "set", "care"),
        ("goals", "add", "new"),
        ("goals", "set", "learn the town", "--weight"),
    ],
    ids=" ".join,
)
def test_an_absurd_weight_changes_nothing(home: Path, command: tuple[str, ...]) -> None:
    before = tree(home / "data", without=("run", "memory"))
    for weight in ABSURD_WEIGHTS:
        done = lumen(*command, weight, "--because", "so", home=home)
        assert done.code in (1, 2), weight
        assert done.err
    assert tree(home / "data", without=("run", "memory")) == before


@pytest.mark.parametrize("name", ["", "   ", "two\nlines", "x" * 10_000, "bell\x07", "\u202e"])
@pytest.mark.parametrize("kind", ["values", "goals"])
def test_a_name_that_is_no_name_is_refused(home: Path, kind: str, name: str) -> None:
    before = tree(home / "data", without=("run", "memory"))
    done = lumen(kind, "add", name, "0.5", "--because", "so", home=home)
    assert done.code == 1
    assert len(done.err) < 300
    assert_inert(done.said)
    assert tree(home / "data", without=("run", "memory")) == before


@pytest.mark.parametrize("name", ["../x", "/etc/passwd", "..", "a/b", "x" * 500, "日本語"])
@pytest.mark.parametrize("kind", ["values", "goals"])
def test_a_name_that_looks_like_a_path_is_only_a_name(home: Path, kind: str, name: str) -> None:
    before = set(tree(home.parent, without=("run",)))
    ok(kind, "add", name, "0.5", "--because", "so", home=home)
    assert name in [entry["name"] for entry in ok(kind, "--json", home=home).json()]
    added = {path for path in set(tree(home.parent, without=("run",))) - before if "/goals/" not in path}
    assert {Path(path).suffix for path in added} <= {".jsonl"}


@pytest.mark.parametrize("name", ["../x", "/x", "", "a b", "A", "con", "x" * 65, "a\x00b", ".hidden", "a/../b", "x\n"])
def test_a_skill_cannot_be_named_so(home: Path, name: str) -> None:
    before = tree(home.parent)
    with opened(home, MORNING) as instance, pytest.raises(Refused, match="cannot name a skill"):
        instance.action_grant().skills.create(name, {"main.py": ""}, because="so")
    assert tree(home.parent) == before


@pytest.mark.parametrize("command", CHANGING, ids=" ".join)
def test_a_change_without_a_reason_and_without_a_terminal_is_wrong_use(home: Path, command: tuple[str, ...]) -> None:
    before = tree(home)
    for reason in ((), ("--because", ""), ("--because", "   ")):
        done = lumen(*command, *reason, home=home, stdin=b"# Other\n")
        assert (done.code, "--because" in done.err) == (2, True)
    assert tree(home) == before


def test_at_a_terminal_the_reason_is_asked_for(home: Path) -> None:
    done = at_terminal("values", "set", "care", "0.1", folder=home, typed=[(b"Why", b"because I can\n")])
    assert (done.code, "Why" in done.out) == (0, True)
    assert "because I can" in log_of(home)[-3]["description"]


def test_at_a_terminal_one_command_asks_for_one_reason(home: Path) -> None:
    change = ("goals", "set", "learn the town", "--weight", "0.1", "--status", "done")
    done = at_terminal(*change, folder=home, typed=[(b"Why", b"one\ntwo\n")])
    assert done.out.count("Why") == 1


def test_forgetting_asks_first(home: Path) -> None:
    identity = ok("memory", "--author", "self", "--json", home=home).json()[0]["id"]
    before = tree(home)
    done = lumen("memory", "forget", identity, "--because", "so", home=home)
    assert (done.code, "--yes" in done.err) == (2, True)
    assert tree(home) == before
    refused = at_terminal("memory", "forget", identity, "--because", "so", folder=home, typed=[(b"?", b"n\n")])
    assert (refused.code, "Nothing was changed" in refused.out) == (1, True)
    assert tree(home) == before


def test_what_does_not_exist_cannot_be_changed(home: Path) -> None:
    because = ("--because", "so")
    for command in (
        ("values", "set", "nothing", "0.5"),
        ("values", "retire", "nothing"),
        ("goals", "set", "nothing", "--weight", "0.5"),
        ("goals", "set", "learn the town", "--year", "1999", "--weight", "0.5"),
        ("memory", "forget", "00000000:1", "--yes"),
    ):
        done = lumen(*command, *because, home=home)
        assert (done.code, done.out) == (1, "")
        assert "There is no" in done.err


def test_setting_what_is_so_already_changes_nothing_and_says_so(home: Path) -> None:
    before = tree(home / "data", without=("run", "memory"))
    assert "nothing was changed" in ok("values", "set", "care", "0.8", "--because", "so", home=home).out
    assert tree(home / "data", without=("run", "memory")) == before


def test_goals_set_needs_something_to_set(home: Path) -> None:
    assert lumen("goals", "set", "learn the town", "--because", "so", home=home).code == 2


@pytest.mark.parametrize("day", ["yesterday", "2026-13-01", "2026-02-30", "", "14.02.2026", "9" * 5000])
def test_a_date_that_is_none_is_wrong_use(template: Path, day: str) -> None:
    done = lumen("memory", "--date", day, home=template)
    assert (done.code, done.out) == (2, "")


@pytest.mark.parametrize("count", ["0", "-1", "x", "1.5"])
def test_a_count_that_is_none_is_wrong_use(template: Path, count: str) -> None:
    assert lumen("memory", "-n", count, home=template).code == 2


def test_n_says_how_many(template: Path) -> None:
    every = ok("memory", "--all", "--json", home=template).json()
    assert ok("memory", "-n", "3", "--json", home=template).json() == every[-3:]
    assert ok("memory", "-n", "100000", "--json", home=template).json() == every
    assert len(ok("memory", "-n", "1", "--author", "self", "--json", home=template).json()) == 1


def test_author_and_date_go_together(template: Path) -> None:
    lines = ok("memory", "--author", "goal", "--date", "2026-11-18", "--json", home=template).json()
    assert [line["author"] for line in lines] == ["goal"]


def test_year_and_status_go_together(template: Path) -> None:
    shown = ok("goals", "--year", "2026", "--status", "perpetual", "--json", home=template).json()
    assert [goal["name"] for goal in shown] == ["stay curious"]
    assert lumen("goals", "--status", "forever", home=template).code == 2
    assert lumen("goals", "--year", "this", home=template).code == 2


def test_nothing_to_show_is_said(tmp_path: Path) -> None:
    home = made(tmp_path / "nova")
    assert "No memories" in ok("memory", home=home).out
    assert "No values" in ok("values", home=home).out
    assert "No goals" in ok("goals", home=home).out
    assert "soul.md is empty" in ok("soul", home=home).out


@pytest.mark.parametrize("name", LATER)
def test_a_command_that_comes_later_says_so(tmp_path: Path, name: str) -> None:
    done = lumen(name, "x", "--json", "-v", "--help", folder=tmp_path)
    assert (done.code, "not there yet" in done.err) == (2, True)


def test_an_unknown_command_is_wrong_use(tmp_path: Path) -> None:
    assert lumen("frobnicate", folder=tmp_path).code == 2


# --- import -------------------------------------------------------------------------------------------------------


def test_importing_twice_is_importing_once(home: Path, tmp_path: Path) -> None:
    path = tmp_path / "life.jsonl"
    path.write_text('{"timestamp":"2026-01-01T00:00:00","description":"d","mood":1}\n' * 2, encoding="utf-8")
    assert "Imported 1 memories; 1 known" in ok("memory", "import", str(path), home=home).out
    assert "Imported 0 memories; 2 known" in ok("memory", "import", str(path), home=home).out


@pytest.mark.parametrize("raw", [b"", b"\n\n"], ids=["empty", "blank"])
def test_importing_nothing_is_no_error(home: Path, tmp_path: Path, raw: bytes) -> None:
    path = tmp_path / "life.jsonl"
    path.write_bytes(raw)
    assert "Imported 0 memories" in ok("memory", "import", str(path), home=home).out


def test_an_import_cannot_claim_to_be_the_kernel(home: Path) -> None:
    line = b'{"timestamp":"2026-01-01T00:00:00","author":"kernel","description":"I was the kernel","event":"change"}\n'
    assert lumen("memory", "import", "-", home=home, stdin=line).code == 0
    [taken] = [line for line in log_of(home) if line["description"] == "I was the kernel"]
    assert (taken["author"], taken["event"]) == ("external", "memory")
    assert taken["data"]["fields"]["author"] == "kernel"


def test_bad_lines_of_an_import_are_named_and_the_good_ones_taken(home: Path) -> None:
    lines = b'junk\n{"timestamp":"2026-01-01T00:00:00","description":"good"}\n{"description":"no time"}\n'
    done = lumen("memory", "import", "-", home=home, stdin=lines)
    assert (done.code, "Imported 1 memories" in done.out) == (1, True)
    assert "line 1:" in done.err
    assert "line 3:" in done.err


@pytest.mark.parametrize("name", ["nowhere.jsonl", "."])
def test_a_file_that_cannot_be_read_is_wrong_use(home: Path, name: str) -> None:
    assert lumen("memory", "import", name, home=home, folder=home).code == 2
    assert lumen("soul", "edit", "--file", name, "--because", "so", home=home, folder=home).code == 2


# --- init ---------------------------------------------------------------------------------------------------------


def test_a_second_init_changes_nothing_even_with_a_soul(home: Path, tmp_path: Path) -> None:
    (tmp_path / "soul.md").write_text("# Other\n", encoding="utf-8")
    before = tree(home)
    done = ok("init", str(home), "--soul", str(tmp_path / "soul.md"))
    assert "nothing was changed" in done.out
    assert "lumen soul edit" in done.out
    assert tree(home) == before


def test_init_into_a_file_is_wrong_use(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine", encoding="utf-8")
    for target in ("file", "file/inner"):
        assert lumen("init", target, folder=tmp_path).code == 2
    assert tree(tmp_path) == {"file": b"mine"}


@pytest.mark.parametrize("inner", ["data/", ""], ids=["in data", "without data"])
def test_init_over_the_data_of_another_program_is_refused(tmp_path: Path, inner: str) -> None:
    for name, text in (("soul.md", "# Vega\n"), ("values.json", '[{"name": "care", "weight": 0.5}]')):
        path = tmp_path / f"{inner}{name}"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    before = tree(tmp_path)
    done = lumen("init", folder=tmp_path)
    assert done.code != 0
    assert tree(tmp_path) == before


def test_init_into_a_folder_with_other_things_leaves_them_alone(tmp_path: Path) -> None:
    mine = {"notes.txt": b"mine", "skills/mine/main.py": b"print(1)", ".gitignore": b"*.log\n"}
    for name, raw in mine.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(raw)
    ok("init", folder=tmp_path)
    assert {name: tree(tmp_path)[name] for name in mine if name != ".gitignore"} == {
        name: raw for name, raw in mine.items() if name != ".gitignore"
    }
    assert tree(tmp_path)[".gitignore"].startswith(mine[".gitignore"])


def test_init_into_a_folder_with_a_gitignore_still_keeps_secrets_out_of_git(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("*.log\n", encoding="utf-8")
    done = ok("init", folder=tmp_path)
    assert "data/run/" in (tmp_path / ".gitignore").read_text(encoding="utf-8") or "data/run/" in done.said


def test_an_init_that_was_interrupted_can_be_run_again(tmp_path: Path) -> None:
    home = made(tmp_path / "nova")
    before = tree(home, without=(".git",))
    (home / "lumen.toml").unlink()
    (home / "data" / "values.json").unlink()
    ok("init", str(home))
    assert tree(home, without=(".git",)) == before


def test_init_without_git_says_what_is_missing(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    done = lumen("init", "nova", folder=tmp_path, env={"PATH": str(tmp_path / "bin")})
    assert (done.code, "git is not installed" in done.err) == (2, True)
    assert not (tmp_path / "nova").exists()


def test_a_soul_that_cannot_be_read_leaves_no_half_instance(tmp_path: Path) -> None:
    assert lumen("init", "nova", "--soul", "nowhere.md", folder=tmp_path).code == 2
    assert list(tmp_path.iterdir()) == []


def assert_inert(shown: str) -> None:
    """Nothing in it moves the cursor, hides a line or turns the reading direction."""
    found = [character for character in shown if character in BIDI or (ord(character) < 32 and character != "\n")]
    assert not found
    assert not re.search("[\x7f-\x9f\u2028\u2029\ud800-\udfff]", shown)
