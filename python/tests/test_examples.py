# SPDX-License-Identifier: Apache-2.0
"""The programs of examples/python run, and each ends in a check of its own."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "examples/python"


@pytest.mark.parametrize("name", ["drop", "learn", "many_arms", "queries", "rope"])
def test_an_example_runs(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = FOLDER / f"{name}.py"
    if not path.exists():
        pytest.skip("installed without the examples")
    if name == "learn":
        pytest.importorskip("gymnasium")
    assert "assert " in path.read_text()
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out


def test_no_example_is_left_out() -> None:
    names = sorted(path.stem for path in FOLDER.glob("*.py"))
    assert names in ([], ["drop", "learn", "many_arms", "queries", "rope"])
