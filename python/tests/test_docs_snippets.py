# SPDX-License-Identifier: Apache-2.0
"""The Python of the README and of the pages runs, block after block of each page, and so does the
example that the README shows a picture of."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))
docs_pages = pytest.importorskip("docs_pages", reason="installed without the docs")

GUIDE = "docs/python.md"  # test_package.py runs it


def snippets_of(page: object) -> list[object]:
    return [
        block
        for block in page.blocks  # type: ignore[attr-defined]
        if block.language == "python" and "elsewhere" not in block.words and "h5py" not in block.text
    ]


PAGES = [page for page in docs_pages.pages(ROOT) if page.name != GUIDE and snippets_of(page)]


def test_there_are_snippets() -> None:
    assert "README.md" in [page.name for page in PAGES]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_snippets_of_a_page_run(page: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    scope: dict[str, object] = {"__name__": "page"}
    for block in snippets_of(page):
        exec(compile(block.given + block.text, str(block), "exec"), scope)  # type: ignore[attr-defined]


def test_the_rollout_of_the_gallery_makes_its_picture(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    out = tmp_path / "rollout.png"
    subprocess.run([sys.executable, str(ROOT / "examples/rollout.py"), str(out)], check=True, timeout=300)
    assert out.stat().st_size > 10_000
