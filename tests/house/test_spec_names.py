"""Each test under tests/specs/ says which line of which specification it holds us to."""

import ast
import re
from pathlib import Path

import pytest

from tests.house.repository import ROOT

FILE_NAME = re.compile(r"test_(00\d)_\w+\.py")
QUOTE = re.compile(r"[\"“`|][^\"“”`|]{3,}[\"”`|]", re.DOTALL)


def unnamed_tests(file_name: str, source: str) -> list[str]:
    """Tests whose docstring neither quotes a line nor names the specification and the place in it."""
    number = FILE_NAME.fullmatch(file_name)
    if number is None:
        return [f"{file_name}: a test file here is called test_00N_<what>.py, after its specification"]
    return [
        f"{file_name}::{node.name}"
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.name.startswith("test_")
        and not says_its_line(ast.get_docstring(node) or "", number.group(1))
    ]


def says_its_line(docstring: str, number: str) -> bool:
    is_named = number in docstring and len(docstring.split()) > 1
    return is_named or QUOTE.search(docstring) is not None


def test_every_spec_test_names_its_line() -> None:
    files = sorted((ROOT / "tests" / "specs").rglob("test_*.py"))
    assert files, "tests/specs/ has no tests"
    assert not [finding for path in files for finding in unnamed_tests(path.name, path.read_text(encoding="utf-8"))]


@pytest.mark.parametrize(
    "docstring",
    [
        '"Written by reflection loop only."',
        "004, goal year partitioning: all years are read.",
        "| soul.md | read | read |",
    ],
)
def test_a_quote_or_a_named_place_is_enough(docstring: str) -> None:
    assert unnamed_tests("test_004_files.py", f"def test_it():\n    '''{docstring}'''\n") == []


@pytest.mark.parametrize("docstring", ["", "It works.", "004", "As 003 says it."])
def test_an_empty_or_vague_docstring_is_not(docstring: str) -> None:
    found = unnamed_tests("test_004_files.py", f"class TestIt:\n    def test_it(self):\n        '''{docstring} '''\n")
    assert found == ["test_004_files.py::test_it"]


def test_a_file_without_a_number_is_found() -> None:
    assert unnamed_tests(Path("test_files.py").name, "")
