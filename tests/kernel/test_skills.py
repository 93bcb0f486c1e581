"""A skill is a process of its own, and what it says comes back as a result. What goes wrong is said, not raised."""

import asyncio
import json
import os
import shutil
import sys
import time
import zipfile
from pathlib import Path

import pytest

from lumen.json_value import Json
from lumen.kernel.isolation import working_bubblewrap
from lumen.kernel.skill_output import clean_text
from lumen.kernel.skills import HELP_LIMIT, SkillRunner
from lumen.record.skills import InvocableSkill, SkillsInvoker, content_hash
from lumen.turn import Action
from tests.house.repository import ROOT
from tests.kernel.shelf import LEVELS, Isolation, needs_bubblewrap, ran, ran_source, shelved, small_instance

UV = shutil.which(
    "uv", path=os.pathsep.join([os.environ["PATH"], str(ROOT / ".tools/bin"), str(Path(sys.executable).parent)])
)
ECHO = """
    import json, sys
    print(json.dumps({"given": json.load(sys.stdin)}))
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return small_instance(tmp_path / "instance")


def taken(home: Path, name: str) -> InvocableSkill:
    shutil.copytree(ROOT / "lumen/skills" / name, home / "skills" / name, ignore=shutil.ignore_patterns("__pycache__"))
    return SkillsInvoker(home / "skills").invocable(name)


@pytest.mark.parametrize("isolation", LEVELS)
def test_the_chat_skill_says_what_it_is_given(home: Path, isolation: Isolation) -> None:
    result = ran(home, taken(home, "chat"), {"text": "Good morning, Zoë"}, isolation=isolation)
    assert result.is_ok
    assert result.text == "Good morning, Zoë"
    assert result.output == {"ok": True, "said": "Good morning, Zoë"}
    assert result.exit_code == 0
    assert not result.is_truncated
    assert not result.is_timeout


def test_the_level_that_held_is_told(home: Path) -> None:
    skill = shelved(home, "print('{}')")
    assert ran(home, skill).isolation == ("process group" if working_bubblewrap() is None else "bubblewrap")
    assert ran(home, skill, isolation="none").isolation == "none"


@needs_bubblewrap
@pytest.mark.parametrize(
    ("manifest", "level"),
    [
        ("---\nname: probe\nnetwork: true\n---\n", "bubblewrap+network"),
        ("---\r\nnetwork:  true\r\n---\r\n", "bubblewrap+network"),
        ("---\nname: probe\nnetwork: false\n---\n", "bubblewrap"),
        ("---\nname: probe\n---\nnetwork: true\n", "bubblewrap"),
        ("network: true\n", "bubblewrap"),
        ("---\nnetwork: true\n", "bubblewrap"),
    ],
)
def test_the_network_is_there_only_when_the_front_matter_asks_for_it(home: Path, manifest: str, level: str) -> None:
    names = "import json, os\nprint(json.dumps({'own': os.readlink('/proc/self/ns/net')}))"
    result = ran(home, shelved(home, names, manifest=manifest))
    assert result.isolation == level
    assert (result.output["own"] == os.readlink("/proc/self/ns/net")) == (level == "bubblewrap+network")


@pytest.mark.parametrize("isolation", LEVELS)
def test_a_skill_is_given_its_parameters_and_its_own_settings(home: Path, isolation: Isolation) -> None:
    settings: dict[str, dict[str, Json]] = {"probe": {"depth": 2}, "other": {"key": "not for probe"}}
    result = ran(home, shelved(home, ECHO), {"a": [1, {"b": None}]}, isolation=isolation, settings=settings)
    assert result.output["given"] == {"a": [1, {"b": None}], "settings": {"depth": 2}}


def test_a_skill_without_settings_is_given_none(home: Path) -> None:
    assert ran(home, shelved(home, ECHO), {"a": 1}).output["given"] == {"a": 1}


def test_a_parameter_cannot_pass_for_settings(home: Path) -> None:
    result = ran(home, shelved(home, ECHO), {"settings": {"folders": ["/"]}})
    assert not result.is_ok
    assert result.isolation == "not run"
    assert "lumen.toml" in result.text


def test_a_folder_in_the_settings_is_where_the_person_means_it(home: Path) -> None:
    result = ran(home, shelved(home, ECHO), settings={"probe": {"folders": ["~/notes", "here"]}})
    assert result.output["given"] == {"settings": {"folders": [str(Path.home() / "notes"), str(home / "here")]}}


@pytest.mark.parametrize("isolation", LEVELS)
def test_the_work_folder_is_home_and_stays_from_run_to_run(home: Path, isolation: Isolation) -> None:
    source = """
        import json, os, pathlib, tempfile
        count = pathlib.Path("count")
        count.write_text(str(int(count.read_text()) + 1 if count.exists() else 1))
        with tempfile.NamedTemporaryFile() as file:
            temporary = os.path.dirname(file.name)
        print(json.dumps({"cwd": os.getcwd(), "home": os.path.expanduser("~"), "tmp": temporary,
                          "data": os.environ["LUMEN_DATA"], "inside": os.environ["LUMEN_INSIDE_SKILL"]}))
    """
    skill = shelved(home, source)
    ran(home, skill, isolation=isolation)
    result = ran(home, skill, isolation=isolation)
    work = home / "work/probe"
    assert (work / "count").read_text() == "2"
    assert result.output == {
        "cwd": str(work),
        "home": str(work),
        "tmp": str(work),
        "data": str(home / "data"),
        "inside": "1",
    }


@pytest.mark.parametrize("isolation", LEVELS)
@pytest.mark.parametrize(
    ("source", "is_ok", "exit_code", "text"),
    [
        ("print('plain words')", True, 0, "plain words"),
        ('print(\'{"text": "in words", "n": 1}\')', True, 0, "in words"),
        ('print(\'{"ok": true, "n": 1, "who": "Zoe"}\')', True, 0, "n: 1\nwho: Zoe"),
        ('print(\'{"ok": false, "error": "no such town"}\')', False, 0, "no such town"),
        ("print('half'); raise SystemExit(3)", False, 3, "half"),
        ("raise SystemExit(3)", False, 3, "The skill probe failed with exit code 3."),
        ("print('{\"a\": NaN}')", True, 0, '{"a": NaN}'),
        ('print(\'{"ok": false, "ok": true}\')', True, 0, '{"ok": false, "ok": true}'),
        ("print('[1]')", True, 0, "[1]"),
        ("pass", True, 0, ""),
    ],
)
def test_what_it_says_and_how_it_exits_make_the_result(
    home: Path, isolation: Isolation, source: str, is_ok: bool, exit_code: int, text: str
) -> None:
    result = ran_source(home, source, isolation=isolation)
    assert (result.is_ok, result.exit_code, result.text) == (is_ok, exit_code, text)


def test_a_failure_without_words_shows_the_last_complaint(home: Path) -> None:
    assert "ZeroDivisionError" in ran_source(home, "1 / 0").text


def test_json_that_is_not_strict_is_only_text(home: Path) -> None:
    assert ran_source(home, 'print(\'{"said": "a", "said": "b"}\')').output == {}


def test_requests_to_the_kernel_are_actions_and_only_four_good_ones(home: Path) -> None:
    source = """
        import json
        good = [{"skill": "recall", "parameters": {"query": str(n)}} for n in range(6)]
        bad = [1, {}, {"skill": "../x", "parameters": {}}, {"skill": "chat", "parameters": []}, {"skill": 3}]
        print(json.dumps({"text": "more", "requests": bad + good}))
    """
    result = ran_source(home, source)
    assert result.requests == tuple(Action("recall", {"query": str(n)}) for n in range(4))


def test_a_skill_that_failed_requests_nothing(home: Path) -> None:
    request = '{"ok": false, "requests": [{"skill": "chat", "parameters": {}}]}'
    assert ran_source(home, f"print('{request}')").requests == ()


def test_parameters_that_are_not_json_are_refused(home: Path) -> None:
    assert "JSON" in ran(home, shelved(home, ECHO), {"a": float("nan")}).text


def test_large_parameters_reach_a_skill_whole_and_may_be_left_unread(home: Path) -> None:
    long = {"text": "a" * 500_000}
    assert ran(home, shelved(home, "import sys; print(len(sys.stdin.read()))"), long).text == str(len(json.dumps(long)))
    assert ran(home, shelved(home, "print('did not read')"), long).text == "did not read"
    assert not ran(home, shelved(home, ECHO), {"text": "a" * 2_000_000}).is_ok


@pytest.mark.parametrize("isolation", LEVELS)
def test_a_skill_that_was_changed_after_it_was_taken_is_not_run(home: Path, isolation: Isolation) -> None:
    skill = shelved(home, "open('ran', 'w')")
    (skill.main.parent / "beside.py").write_text("new = 1\n")
    result = ran(home, skill, isolation=isolation)
    assert not result.is_ok
    assert "changed" in result.text
    assert not (home / "work/probe/ran").exists()
    again = ran(home, SkillsInvoker(home / "skills").invocable("probe"), isolation=isolation)
    assert again.is_ok
    assert (home / "work/probe/ran").exists()


@pytest.mark.parametrize("isolation", LEVELS)
def test_a_skill_may_have_more_files_than_one(home: Path, isolation: Isolation) -> None:
    skill = shelved(home, "from inner.words import WORDS; print(WORDS)")
    (skill.main.parent / "inner").mkdir()
    (skill.main.parent / "inner/words.py").write_text("WORDS = 'from another file'\n")
    assert ran(home, SkillsInvoker(home / "skills").invocable("probe"), isolation=isolation).text == "from another file"


def test_no_private_copy_is_left_behind(home: Path, tmp_path: Path) -> None:
    result = ran_source(home, "import sys, os; print(os.path.dirname(sys.argv[0]))", isolation="none")
    assert result.text.endswith("/probe")
    assert not Path(result.text).exists()


def test_a_work_folder_that_is_a_link_is_refused(home: Path, tmp_path: Path) -> None:
    (home / "work").mkdir()
    (home / "work/probe").symlink_to(tmp_path)
    result = ran_source(home, "open('ran', 'w')")
    assert not result.is_ok
    assert "link" in result.text
    assert not (tmp_path / "ran").exists()


def test_an_instance_behind_a_link_works(home: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(home)
    shelved(home, "open('ran', 'w')")
    assert ran(tmp_path / "link", SkillsInvoker(tmp_path / "link/skills").invocable("probe")).is_ok
    assert (home / "work/probe/ran").exists()


@pytest.mark.parametrize("isolation", LEVELS)
@pytest.mark.parametrize("name", ["chat", "files", "recall"])
def test_every_shipped_skill_answers_help_with_its_input(home: Path, name: str, isolation: Isolation) -> None:
    runner = SkillRunner(home, seconds=10, isolation=isolation)
    told = asyncio.run(runner.help_of(taken(home, name)))
    assert "Input (stdin): one JSON object {" in told


@needs_bubblewrap
def test_help_is_asked_with_the_instance_out_of_sight(home: Path) -> None:
    source = f"""
        import os
        print(os.path.exists({str(home / "data/soul.md")!r}), os.path.exists({str(home / "lumen.toml")!r}))
        print("LUMEN_DATA" in os.environ, os.readlink("/proc/self/ns/net"))
        open("written", "w")
    """
    skill = shelved(home, source, manifest="---\nnetwork: true\n---\n")
    told = asyncio.run(SkillRunner(home, seconds=10).help_of(skill))
    assert told.startswith("False False\nFalse net:")
    assert os.readlink("/proc/self/ns/net") not in told
    assert not (home / "work").exists()
    assert "True True\nTrue" in ran(home, skill).text


@pytest.mark.parametrize("isolation", LEVELS)
@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("raise SystemExit(2)", ""),
        ("print('a' * 100_000)", "a" * HELP_LIMIT),
        ("print('one\\x1b[2J\\x00 two')", "one two"),
        ("import time; time.sleep(0.1)", ""),
    ],
)
def test_help_is_cleaned_and_capped(home: Path, isolation: Isolation, source: str, told: str) -> None:
    runner = SkillRunner(home, seconds=10, isolation=isolation)
    assert asyncio.run(runner.help_of(shelved(home, source))) == told


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        ("a\tb\nc\r\nd", "a\tb\nc\nd"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07after", "after"),
        ("\x1b]8;;http://a\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x9b2Jgone", "gone"),
        ("nul\x00bell\x07back\x08", "nulbellback"),
        ("over\rwritten", "overwritten"),
        ("\u202eright to left\u2066", "right to left"),
        ("half \ud800 pair", "half \ufffd pair"),
        ("Zoë 你好 👋🏽", "Zoë 你好 👋🏽"),
    ],
)
def test_text_is_cleaned_of_what_steers_a_terminal(raw: str, clean: str) -> None:
    assert clean_text(raw) == clean
    clean_text(raw).encode()


def test_a_cancelled_run_ends_its_process(home: Path) -> None:
    skill = shelved(home, "import time, pathlib; pathlib.Path('began').touch(); time.sleep(60)")

    async def cancelled(isolation: Isolation) -> float:
        running = asyncio.create_task(SkillRunner(home, seconds=60, isolation=isolation).run(skill, {}))
        while not (home / "work/probe/began").exists():
            await asyncio.sleep(0.01)
        asked = time.monotonic()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        return time.monotonic() - asked

    for isolation in LEVELS:
        assert asyncio.run(cancelled(isolation)) < 1.0
        (home / "work/probe/began").unlink()


def test_skills_can_run_at_the_same_time(home: Path) -> None:
    skill = shelved(home, "import json, sys, time; n = json.load(sys.stdin)['n']; time.sleep(0.5); print(n)")
    runner = SkillRunner(home, seconds=20)

    async def together() -> list[str]:
        return [result.text for result in await asyncio.gather(*(runner.run(skill, {"n": n}) for n in range(4)))]

    assert asyncio.run(together()) == ["0", "1", "2", "3"]


def wheel(folder: Path) -> Path:
    """A package small enough to write by hand, so that nothing is fetched."""
    folder.mkdir()
    path = folder / "greeting-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("greeting.py", "WORDS = 'from a package'\n")
        archive.writestr("greeting-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: greeting\nVersion: 1.0\n")
        archive.writestr(
            "greeting-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr("greeting-1.0.dist-info/RECORD", "")
    return path


@pytest.mark.skipif(UV is None, reason="uv is absent")
@pytest.mark.parametrize("isolation", LEVELS)
def test_a_script_with_dependencies_gets_them_through_uv(home: Path, isolation: Isolation) -> None:
    package = wheel(home / "packages")
    block = f'# /// script\n# dependencies = ["greeting @ {package.as_uri()}"]\n# ///\n'
    result = ran(home, shelved(home, f"{block}import greeting\nprint(greeting.WORDS)\n"), isolation=isolation)
    assert result.text == "from a package"
    assert (home / "work/probe/.uv-cache").is_dir()


def test_a_script_block_without_dependencies_needs_no_uv(home: Path) -> None:
    source = '# /// script\n# requires-python = ">=3.11"\n# ///\nprint("plain")\n'
    assert ran(home, shelved(home, source)).text == "plain"
    assert not (home / "work/probe/.uv-cache").exists()


def test_a_script_block_that_cannot_be_read_is_refused(home: Path) -> None:
    assert "TOML" in ran(home, shelved(home, "# /// script\n# dependencies = [\n# ///\n")).text


def test_the_hash_of_a_private_copy_is_the_hash_on_the_shelf(home: Path) -> None:
    skill = shelved(home, "import os; print(sorted(os.listdir(os.path.dirname(__file__))))")
    folder = skill.main.parent
    (folder / "link.py").symlink_to("/etc/hostname")
    (folder / "old.pyc").write_bytes(b"\0")
    os.mkfifo(folder / "pipe")
    assert content_hash(folder) == skill.sha256
    assert ran(home, skill).text == "['main.py']"
