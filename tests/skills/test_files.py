"""The files skill shows what lies in an allowed folder, and nothing that does not, however it is asked."""

import os
import socket
from pathlib import Path
from typing import Any

import pytest

from tests.house.repository import ROOT
from tests.kernel.shelf import LEVELS, Isolation, ran, shelved, small_instance
from tests.skills.programs import answered, help_of


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    (folder / "trips").mkdir(parents=True)
    (folder / "today.md").write_text("Buy bread.\nCall Zoë about the Harbour.\n", encoding="utf-8")
    (folder / "trips/harbour.md").write_text("We saw ships.\n")
    (folder / "picture.bin").write_bytes(bytes(range(256)) * 8)
    (tmp_path / "outside.md").write_text("not for you\n")
    return folder


def asked(notes: Path, **request: object) -> dict[str, Any]:
    return answered("files", {**request, "settings": {"folders": [str(notes)]}})[1]


def test_a_file_is_read_and_a_folder_is_listed(notes: Path) -> None:
    assert asked(notes, path="today.md")["text"].startswith("Buy bread.")
    assert asked(notes, path=str(notes / "today.md"), do="read")["ok"]
    assert asked(notes, path=str(notes))["entries"] == ["picture.bin", "today.md", "trips"]
    assert asked(notes, path="trips", do="list")["entries"] == ["harbour.md"]


def test_a_query_finds_by_name_and_by_content(notes: Path) -> None:
    found = asked(notes, path=str(notes), query="HARBOUR")
    assert found["found"] == [str(notes / "trips/harbour.md"), str(notes / "today.md")]
    assert "Call Zoë" in found["text"]
    assert asked(notes, path=".", do="find", query="volcano")["found"] == []


@pytest.mark.parametrize("settings", [None, {}, {"folders": []}, {"folders": "~/notes"}])
def test_without_an_allowed_folder_it_says_how_to_allow_one(settings: object) -> None:
    code, answer = answered("files", {"path": "/etc/hostname", "settings": settings})
    assert code == 1
    assert "[skills.files]" in answer["error"]
    assert 'folders = ["~/notes"]' in answer["error"]


@pytest.mark.parametrize(
    "path",
    [
        "../outside.md",
        "/etc/passwd",
        "trips/../../outside.md",
        "/",
        "~",
        "out",
        "outer/outside.md",
        "/proc/self/environ",
    ],
)
@pytest.mark.parametrize("do", ["read", "list", "find", ""])
def test_nothing_outside_is_shown(notes: Path, path: str, do: str) -> None:
    (notes / "out").symlink_to(notes.parent / "outside.md")
    (notes / "outer").symlink_to(notes.parent)
    answer = asked(notes, path=path, do=do, query="not" if do == "find" else "")
    assert not answer["ok"]
    assert "not for you" not in str(answer)


def test_a_link_that_leads_out_is_neither_listed_nor_searched(notes: Path) -> None:
    (notes / "out.md").symlink_to(notes.parent / "outside.md")
    (notes / "in.md").symlink_to(notes / "today.md")
    assert asked(notes, path=".")["entries"] == ["in.md", "picture.bin", "today.md", "trips"]
    assert asked(notes, path=".", query="not for you")["found"] == []
    assert asked(notes, path="in.md")["text"].startswith("Buy bread.")


def test_a_folder_whose_name_only_begins_like_an_allowed_one_is_outside(notes: Path) -> None:
    beside = notes.parent / "notes-private"
    beside.mkdir()
    (beside / "a.md").write_text("not for you")
    assert not asked(notes, path=str(beside / "a.md"))["ok"]


@pytest.mark.parametrize(
    "name",
    [".env", ".env.local", "tls.key", "TLS.PEM", "id_rsa", ".ssh/config", ".git/config", "secrets/a.txt", ".netrc"],
)
def test_a_secret_in_an_allowed_folder_is_not_shown(notes: Path, name: str) -> None:
    path = notes / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("canary")
    (notes / "innocent").symlink_to(path)
    assert not asked(notes, path=name)["ok"]
    assert not asked(notes, path="innocent")["ok"]
    assert asked(notes, path=".")["entries"] == ["picture.bin", "today.md", "trips"]
    assert asked(notes, path=".", query="canary")["found"] == []


def test_pipes_sockets_and_devices_are_not_opened(notes: Path, tmp_path: Path) -> None:
    os.mkfifo(notes / "pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        os.chdir(notes)
        listening.bind("socket")
        os.chdir(ROOT)
    assert "regular" in asked(notes, path="pipe")["error"]
    assert "regular" in asked(notes, path="socket")["error"]
    assert asked(notes, path=".", query="bread")["found"] == [str(notes / "today.md")]
    code, answer = answered("files", {"path": "/dev/zero", "settings": {"folders": ["/dev"]}})
    assert code == 1
    assert "regular" in answer["error"]


def test_a_large_file_is_cut_and_a_binary_one_is_named(notes: Path) -> None:
    (notes / "long.txt").write_text("a" * 1_000_000)
    long = asked(notes, path="long.txt")
    assert long["truncated"]
    assert len(long["text"]) < 40_000
    assert "not a text file" in asked(notes, path="picture.bin")["text"]


def test_a_crowded_folder_is_cut(notes: Path) -> None:
    for number in range(300):
        (notes / f"n{number}").touch()
    crowded = asked(notes, path=".")
    assert (len(crowded["entries"]), crowded["count"]) == (200, 303)


@pytest.mark.parametrize("request_", [b"", b"[]", b"{", {"path": 3}, {"path": "a\0b"}, {"do": "write"}, b"[" * 100_000])
def test_a_malformed_question_is_an_error_in_words(notes: Path, request_: object) -> None:
    if isinstance(request_, dict):
        request_ = {**request_, "settings": {"folders": [str(notes)]}}
    assert answered("files", request_)[0] == 1


@pytest.mark.parametrize("isolation", LEVELS)
def test_under_the_kernel_it_sees_what_the_settings_allow(tmp_path: Path, notes: Path, isolation: Isolation) -> None:
    home = small_instance(tmp_path / "instance")
    skill = shelved(home, (ROOT / "lumen/skills/files/main.py").read_text(), name="files")
    settings = {"files": {"folders": [str(notes)]}}
    assert "Buy bread" in ran(home, skill, {"path": "today.md"}, isolation=isolation, settings=settings).text
    refused = ran(home, skill, {"path": str(home / "lumen.toml")}, isolation=isolation, settings=settings)
    assert not refused.is_ok
    assert "[skills.files]" in ran(home, skill, {"path": "today.md"}, isolation=isolation).text


def test_its_help_ends_with_its_input() -> None:
    assert help_of("files").strip().splitlines()[-1].startswith('Input (stdin): one JSON object {"path":')
