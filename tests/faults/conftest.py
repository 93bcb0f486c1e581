"""What the campaigns share."""

import shutil
from pathlib import Path

import pytest

from tests.house.repository import ROOT


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the program, with its compiled files beside it: an edit meanwhile does not change the runs."""
    folder = tmp_path_factory.mktemp("program")
    shutil.copytree(ROOT / "lumen", folder / "lumen", ignore=shutil.ignore_patterns("__pycache__"))
    return folder
