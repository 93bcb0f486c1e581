"""The annotated tree in the README is the map of the house, so it has to match the disk.

The tree stands in a code block between two markers. A line is an indentation, one or more names, and after two spaces
or more a remark. A name that ends with "/" is a folder and holds the lines further in; "*" may stand for many.
"""

import re
from pathlib import Path

import pytest

from tests.house.repository import ROOT, kept_files

MARKED = re.compile(r"<!-- tree -->\n(.*?)<!-- /tree -->", re.DOTALL)


def named_paths(readme: str) -> list[str]:
    """Every path that the tree names, as a pattern relative to the root."""
    marked = MARKED.search(readme)
    assert marked, "README.md has no tree between <!-- tree --> and <!-- /tree -->"
    paths: list[str] = []
    open_folders: list[tuple[int, str]] = []
    for line in marked.group(1).splitlines():
        if not line.strip() or line.startswith("```"):
            continue
        indentation = len(line) - len(line.lstrip())
        names = re.split(r"\s{2,}", line.strip())[0].split()
        open_folders = [folder for folder in open_folders if folder[0] < indentation]
        parent = open_folders[-1][1] if open_folders else ""
        paths += [parent + name for name in names]
        if names[-1].endswith("/"):
            open_folders.append((indentation, parent + names[-1]))
    return paths


def named_but_absent(root: Path, readme: str) -> list[str]:
    return [path for path in named_paths(readme) if not any(root.glob(path))]


def there_but_unnamed(root: Path, readme: str, kept: list[Path]) -> list[str]:
    """Top-level folders and modules of lumen/ without a line of their own. `__init__.py` goes with its folder."""
    named = {found.relative_to(root) for path in named_paths(readme) for found in root.glob(path)}
    folders = {Path(name.parts[0]) for name in kept if len(name.parts) > 1}
    modules = {name for name in kept if name.parts[0] == "lumen" and name.suffix == ".py" and name.stem != "__init__"}
    return sorted(map(str, (folders | modules) - named))


def test_every_path_in_the_tree_is_on_the_disk() -> None:
    assert not named_but_absent(ROOT, (ROOT / "README.md").read_text(encoding="utf-8"))


def test_every_folder_and_every_module_of_lumen_is_in_the_tree() -> None:
    assert not there_but_unnamed(ROOT, (ROOT / "README.md").read_text(encoding="utf-8"), kept_files())


EXAMPLE = """<!-- tree -->
```
lumen/
  main.py app.py     the front door  and a remark
  record/            a room
    line.py
  skills/*/main.py   shipped
tests/               with a/ folder in the remark
```
<!-- /tree -->"""


@pytest.fixture
def house(tmp_path: Path) -> Path:
    for name in (
        "lumen/main.py",
        "lumen/app.py",
        "lumen/record/line.py",
        "lumen/skills/chat/main.py",
        "tests/test_a.py",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    return tmp_path


def kept_in(house: Path) -> list[Path]:
    return [path.relative_to(house) for path in house.rglob("*") if path.is_file()]


def test_a_tree_that_matches_has_no_findings(house: Path) -> None:
    assert named_but_absent(house, EXAMPLE) == []
    assert there_but_unnamed(house, EXAMPLE, kept_in(house)) == []


def test_a_module_that_went_away_is_found(house: Path) -> None:
    (house / "lumen/record/line.py").unlink()
    assert named_but_absent(house, EXAMPLE) == ["lumen/record/line.py"]


def test_a_new_module_and_a_new_folder_are_found(house: Path) -> None:
    (house / "bench").mkdir()
    (house / "bench/run.py").touch()
    (house / "lumen/record/fold.py").touch()
    assert there_but_unnamed(house, EXAMPLE, kept_in(house)) == ["bench", "lumen/record/fold.py"]
