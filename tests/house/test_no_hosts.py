"""No file that is kept says where packages were fetched from, or where on a machine it was written."""

import re
from pathlib import Path

import pytest

from tests.house.repository import ROOT, kept_files

# Put together from pieces, so that this file may be searched like any other.
HOSTS = [
    ".".join(pieces)
    for pieces in (
        ("pypi", "org"),
        ("pythonhosted", "org"),
        ("registry", "npmjs", "org"),
        ("registry", "yarnpkg", "com"),
        ("deb", "debian", "org"),
        ("crates", "io"),
    )
]
FOLDERS = ["work", "root", "opt", "farm"]
FORBIDDEN = re.compile(
    "|".join([*map(re.escape, HOSTS), rf"(?<![\w.)}}-])/(?:{'|'.join(FOLDERS)})/[\w.]", re.escape(f"{ROOT}/")])
)
SCHEME = "https:" + "//"


def found_in(text: str) -> list[str]:
    return [match.group() for match in FORBIDDEN.finditer(text)]


def test_no_file_names_a_registry_or_a_path_of_the_machine() -> None:
    findings = {
        str(name): found
        for name in kept_files()
        if (found := found_in((ROOT / name).read_text(encoding="utf-8", errors="replace")))
    }
    assert not findings


@pytest.mark.parametrize("host", HOSTS)
def test_a_registry_is_recognised_inside_an_address(host: str) -> None:
    assert found_in(f'registry = "{SCHEME}files.{host}/simple"')


@pytest.mark.parametrize("folder", [*(f"/{name}" for name in FOLDERS), str(ROOT)])
def test_a_path_of_the_machine_is_recognised(folder: str) -> None:
    assert found_in(f"see {folder}/notes.md")
    assert found_in(f"path='{folder}/.cache'")


@pytest.mark.parametrize("text", ["tests/work/a.py", "the state is WORK", "bwrap --tmpfs /opt"])
def test_an_innocent_text_is_left_alone(text: str) -> None:
    assert not found_in(text)


def test_lock_files_that_name_hosts_are_not_kept() -> None:
    assert not [name for name in kept_files() if re.fullmatch(r"uv\.lock|pylock.*\.toml", Path(name).name)]
