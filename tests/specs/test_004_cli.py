"""Specification 004, CLI: init and the commands that look."""

import json
import shutil
from pathlib import Path

import pytest

from lumen.record.line import AUTHORS
from tests.instances import MORNING, events, lived_in, made, opened, store, tree, write_log
from tests.processes import git, installed, lumen, ok


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An instance that is only looked at."""
    home = lived_in(tmp_path_factory.mktemp("cli") / "nova")
    with opened(home, MORNING) as instance:
        person = instance.person_grant()
        person.values.add("haste", 0.3, because="once")
        person.values.retire("haste", because="no more")
        person.goals.add("read", 0.9, because="so")
        person.goals.restate("read", "done", because="so")
    write_log(
        home,
        "2026-02-14",
        *(
            {
                "timestamp": f"2026-02-14T09:{minute:02d}:00",
                "author": "external",
                "weight": 0.5,
                "situation": "chat",
                "description": f"line {minute}",
            }
            for minute in range(30)
        ),
    )
    store(home, "goals/2024.json", [{"name": "old goal", "weight": 0.2, "status": "working"}])
    ok("status", home=home)
    return home


def test_the_program_is_installed_as_lumen(tmp_path: Path) -> None:
    """004, CLI: "All commands run via `uv run lumen <command>`." """
    done = installed("--help", folder=tmp_path)
    assert done.code == 0
    assert all(name in done.out for name in ("init", "chat", "run", "reflect", "status", "memory", "values", "skills"))


# --- init ---------------------------------------------------------------------------------------------------------


def test_init_scaffolds_a_new_instance(tmp_path: Path) -> None:
    """004, lumen init: "Creates data/ with empty soul.md, empty values.json, empty goals and memory directories"."""
    ok("init", "nova", folder=tmp_path)
    data = tmp_path / "nova" / "data"
    assert (data / "soul.md").read_bytes() == b""
    assert json.loads((data / "values.json").read_bytes()) == []
    assert list((data / "goals").iterdir()) == []
    assert list((data / "memory").iterdir()) == []


def test_init_puts_the_chat_skill_on_the_shelf(tmp_path: Path) -> None:
    """004, lumen init: "and the default chat skill in skills/chat/"."""
    ok("init", folder=tmp_path)
    assert (tmp_path / "skills" / "chat" / "main.py").is_file()


def test_init_makes_a_git_repository_without_a_commit(tmp_path: Path) -> None:
    """004, lumen init: "Initializes a git repository for rollback and audit." """
    ok("init", folder=tmp_path)
    assert Path(git(tmp_path, "rev-parse", "--show-toplevel").strip()).samefile(tmp_path)
    assert git(tmp_path, "rev-list", "--all") == ""


def test_init_is_run_once_and_says_so_the_second_time(tmp_path: Path) -> None:
    """004, lumen init: "Run once." """
    home = lived_in(tmp_path / "nova")
    before = tree(home)
    done = lumen("init", str(home))
    assert (done.code, "nothing was changed" in done.out) == (0, True)
    assert tree(home) == before


def test_init_takes_a_soul(tmp_path: Path) -> None:
    """004, lumen init, with issue 2's `--soul FILE`: the first soul is a change with a reason like any other."""
    (tmp_path / "nova.md").write_text("# Nova\n", encoding="utf-8")
    ok("init", "home", "--soul", "nova.md", folder=tmp_path)
    assert (tmp_path / "home" / "data" / "soul.md").read_text(encoding="utf-8") == "# Nova\n"
    assert [change["data"]["file"] for change in events(tmp_path / "home", "change")] == ["soul.md"]


# --- status -------------------------------------------------------------------------------------------------------


def test_status_shows_the_name_and_the_ontology(template: Path) -> None:
    """004, lumen status: "Shows soul summary (name, ontology from soul.md)"."""
    out = ok("status", home=template).out
    assert out.startswith("Nova ")
    assert "A process that remembers." in out


def test_status_shows_the_top_active_values_with_weights(template: Path) -> None:
    """004, lumen status: "top active values with weights"."""
    out = ok("status", home=template).out
    assert "0.80  care" in out
    assert out.index("0.80  care") < out.index("0.60  truth")
    assert "haste" not in out


def test_status_shows_active_goals_with_weights_and_statuses(template: Path) -> None:
    """004, lumen status: "active goals with weights and statuses"."""
    lines = [line.split() for line in ok("status", home=template).out.splitlines()]
    assert ["0.70", "perpetual", "stay", "curious"] in lines
    assert ["0.50", "todo", "learn", "the", "town"] in lines
    assert ["0.20", "working", "old", "goal"] in lines
    assert not [line for line in lines if line[-1:] == ["read"]]


def test_status_counts_memories_by_author(template: Path) -> None:
    """004, lumen status: "count of memories by author type"."""
    counts = ok("status", "--json", home=template).json()["memories"]
    lines = ok("memory", "--all", "--json", home=template).json()
    assert {author: counts[author] for author in AUTHORS} == {
        author: sum(line["author"] == author for line in lines) for author in AUTHORS
    }
    assert f"external {counts['external']}" in ok("status", home=template).out


# --- memory -------------------------------------------------------------------------------------------------------


def test_memory_shows_the_last_20(template: Path) -> None:
    """004, lumen memory: "View recent memories. Defaults to last 20 entries." """
    every = ok("memory", "--all", "--json", home=template).json()
    assert len(every) > 40
    assert ok("memory", "--json", home=template).json() == every[-20:]


@pytest.mark.parametrize("author", AUTHORS)
def test_memory_filters_by_author(template: Path, author: str) -> None:
    """004, lumen memory: "`--author self|kernel|goal|external` to filter by author"."""
    every = ok("memory", "--all", "--json", home=template).json()
    filtered = ok("memory", "--all", "--author", author, "--json", home=template).json()
    assert filtered == [line for line in every if line["author"] == author]
    assert filtered


def test_memory_filters_by_author_before_it_counts_20(template: Path) -> None:
    """004, lumen memory: "last 20 entries" of an author are 20 even when others wrote since."""
    assert len(ok("memory", "--author", "external", "--json", home=template).json()) == 20


def test_memory_knows_no_other_author(template: Path) -> None:
    """004, lumen memory: "`--author self|kernel|goal|external`"."""
    assert lumen("memory", "--author", "god", home=template).code == 2


def test_memory_shows_a_specific_day(template: Path) -> None:
    """004, lumen memory: "`--date 2026-02-14` for a specific day"."""
    lines = ok("memory", "--date", "2026-02-14", "--json", home=template).json()
    assert [line["description"] for line in lines] == [f"line {minute}" for minute in range(30)]
    assert ok("memory", "--date", "2026-02-15", "--json", home=template).json() == []


def test_memory_shows_everything(template: Path) -> None:
    """004, lumen memory: "`--all` for everything"."""
    lines = ok("memory", "--all", "--json", home=template).json()
    files = (template / "data" / "memory").glob("*/*.jsonl")
    assert len(lines) == sum(len(path.read_bytes().splitlines()) for path in files)


# --- values, goals, skills ----------------------------------------------------------------------------------------


def test_values_lists_all_sorted_by_weight(template: Path) -> None:
    """004, lumen values: "Lists all values with name, weight, and status. Sorted by weight descending." """
    assert [set(line.split()) for line in ok("values", home=template).out.splitlines()[1:]] == [
        {"0.80", "active", "care"},
        {"0.60", "active", "truth"},
        {"0.30", "deprecated", "haste"},
    ]


def test_goals_lists_all_with_name_weight_and_status(template: Path) -> None:
    """004, lumen goals: "Lists all goals with name, weight, and status." """
    goals = ok("goals", "--json", home=template).json()
    assert [(goal["name"], goal["weight"], goal["status"]) for goal in goals] == [
        ("read", 0.9, "done"),
        ("stay curious", 0.7, "perpetual"),
        ("learn the town", 0.5, "todo"),
        ("old goal", 0.2, "working"),
    ]
    shown = [set(line.split()) for line in ok("goals", home=template).out.splitlines()]
    assert {"0.90", "done", "2026", "read"} in shown


def test_goals_filters_by_year(template: Path) -> None:
    """004, lumen goals: "`--year 2026` to filter by year"."""
    assert [goal["name"] for goal in ok("goals", "--year", "2024", "--json", home=template).json()] == ["old goal"]
    assert ok("goals", "--year", "1999", "--json", home=template).json() == []


@pytest.mark.parametrize(
    ("status", "names"),
    [
        ("todo", ["learn the town"]),
        ("working", ["old goal"]),
        ("done", ["read"]),
        ("perpetual", ["stay curious"]),
        ("deprecated", []),
    ],
)
def test_goals_filters_by_status(template: Path, status: str, names: list[str]) -> None:
    """004, lumen goals: "`--status todo|working|done|perpetual` to filter by status"."""
    assert [goal["name"] for goal in ok("goals", "--status", status, "--json", home=template).json()] == names


def test_skills_lists_folders_and_whether_main_py_exists(tmp_path: Path) -> None:
    """004, lumen skills: "Shows name and whether main.py exists." """
    home = made(tmp_path / "nova")
    (home / "skills" / "draft").mkdir()
    assert ok("skills", "--json", home=home).json() == [
        {"name": "chat", "main": True},
        {"name": "draft", "main": False},
        {"name": "files", "main": True},
        {"name": "recall", "main": True},
    ]
    assert [set(line.split()) for line in ok("skills", home=home).out.splitlines()[1:]] == [
        {"chat", "yes"},
        {"draft", "missing"},
        {"files", "yes"},
        {"recall", "yes"},
    ]


def test_skills_says_when_there_are_none(tmp_path: Path) -> None:
    """004, lumen skills: "Scans skills/ for directories with a main.py." """
    home = made(tmp_path / "nova")
    shutil.rmtree(home / "skills")
    assert "No skills here" in ok("skills", home=home).out
    assert ok("skills", "--json", home=home).json() == []


@pytest.mark.parametrize("command", ["status", "memory", "values", "goals", "skills", "soul", "verify"])
def test_a_command_that_looks_changes_nothing(template: Path, command: str) -> None:
    """004, CLI: "View" and "Print current state" are no more than that when nothing was left behind."""
    before = tree(template)
    ok(command, home=template)
    ok(command, "--json", home=template)
    assert tree(template) == before
