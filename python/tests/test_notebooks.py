# SPDX-License-Identifier: Apache-2.0
"""The notebooks of the docs run from top to bottom, and hold no outputs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "docs" / "notebooks"


@pytest.mark.parametrize(
    "name", ["first_steps", "contacts_and_energy", "many_environments", "soft_bodies"]
)
def test_a_notebook_runs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = FOLDER / f"{name}.ipynb"
    if not path.exists():
        pytest.skip("installed without the docs")
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    pytest.importorskip("gymnasium")
    monkeypatch.chdir(tmp_path)
    notebook = json.loads(path.read_text())
    assert notebook["nbformat"] == 4
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert len(cells) >= 4
    scope: dict[str, object] = {"__name__": name}
    for number, cell in enumerate(cells):
        assert cell["outputs"] == [] and cell["execution_count"] is None
        source = "".join(cell["source"])
        try:
            exec(compile(source, f"{name}.ipynb, code cell {number}", "exec"), scope)
        except Exception as error:
            raise AssertionError(f"cell {number} of {name}.ipynb fails:\n{source}") from error
