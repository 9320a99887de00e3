# SPDX-License-Identifier: Apache-2.0
"""The package as a whole: every name documented and tested, doctests, types, what it costs."""

from __future__ import annotations

import ast
import doctest
import enum
import importlib
import inspect
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import tangere
import tangere.collision
import tangere.errors
import tangere.scenes
import test_fields

TESTS = Path(__file__).parent
PACKAGE = Path(tangere.__file__).parent
DOCS = TESTS.parents[1] / "docs"


def public_modules() -> list[object]:
    modules: list[object] = [tangere, tangere.collision, tangere.errors, tangere.scenes]
    for name in ("gym", "plot"):
        pytest.importorskip({"gym": "gymnasium", "plot": "matplotlib"}[name])
        modules.append(getattr(tangere, name))
    return modules


def members(name: str, value: type) -> dict[str, object]:
    """'Simulator.step' and so on; what comes from elsewhere (enum, bytes, gymnasium) is left out."""
    found: dict[str, object] = {}
    for base in value.__mro__:
        if base.__module__.startswith("tangere"):
            for member, what in vars(base).items():
                if not member.startswith("_"):
                    found.setdefault(f"{name}.{member}", what)
    return found


def public_names() -> dict[str, object]:
    found: dict[str, object] = {}
    for module in public_modules():
        for name in module.__all__:  # type: ignore[attr-defined]
            value = getattr(module, name)
            found[name] = value
            if inspect.isclass(value) and value.__module__.startswith("tangere"):
                found |= members(name, value)
    return found


def is_enum_member(value: object) -> bool:
    return isinstance(value, enum.Enum) or isinstance(value, enum.property)


def test_nothing_public_is_left_out_of_the_lists() -> None:
    compiled = {
        "tangere._collision": tangere.collision, "tangere._core": tangere,
        "tangere._recording": tangere,
    }
    for name, home in compiled.items():
        module = importlib.import_module(name)
        own = {n for n, v in vars(module).items() if not n.startswith("_") and callable(v)}
        # The halves of what is finished in Python.
        own -= {"SimulatorBase", "load", "loads"}
        assert own - set(home.__all__) == set(), name


def test_every_public_name_is_documented() -> None:
    fields = {f"{name}.{field}" for name, value in public_names().items()
              for field in getattr(value, "_fields", ())}
    missing = [
        name
        for name, value in public_names().items()
        if not (getattr(value, "__doc__", None) or "").strip()
        and not is_enum_member(value)  # their class says what they are
        and name not in fields  # of named tuples: so does theirs
    ]
    assert missing == []


def used_words(source: str) -> set[str]:
    """What a program really uses: names, attributes, keywords, and names given as text."""
    words: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute):
            words.add(node.attr)
        elif isinstance(node, ast.Name):
            words.add(node.id)
        elif isinstance(node, ast.keyword) and node.arg:
            words.add(node.arg)
        elif isinstance(node, (ast.FunctionDef, ast.arg)):
            words.add(node.name if isinstance(node, ast.FunctionDef) else node.arg)
        elif isinstance(node, ast.alias):
            words.add(node.name.rpartition(".")[2])
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            words.update(re.findall(r"\w+", node.value))
    return words


def test_every_public_name_is_used_in_a_test() -> None:
    words: set[str] = set()
    for path in TESTS.glob("*.py"):
        words |= used_words(path.read_text())
    for value in public_names().values():  # the examples in docstrings run too
        doc = getattr(value, "__doc__", None)
        if isinstance(doc, str):
            for example in doctest.DocTestParser().get_examples(doc):
                words |= used_words(example.source)
    # Each of these is given, read, changed and pickled by a test that finds them by itself.
    machine = {f"{s.__name__}.{field}" for s in test_fields.structs() for field in test_fields.fields(s)}
    missing = [
        name
        for name, value in public_names().items()
        if name.rpartition(".")[2] not in words and not is_enum_member(value)
        and name not in machine
    ]
    assert missing == []


def test_the_examples_in_docstrings_run() -> None:
    tries = 0
    failed = []
    seen: set[int] = set()
    everything = {**{m.__name__: m for m in public_modules()}, **public_names()}  # type: ignore[attr-defined]
    for name, value in everything.items():
        doc = getattr(value, "__doc__", None)
        if not isinstance(doc, str) or ">>>" not in doc or id(doc) in seen:
            continue
        seen.add(id(doc))
        parser = doctest.DocTestParser()
        runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
        runner.run(parser.get_doctest(doc, {}, name, None, None))
        tries += runner.tries
        if runner.failures:
            failed.append(name)
    assert failed == []
    assert tries > 50


def test_the_snippets_of_the_guide_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    guide = DOCS / "python.md"
    if not guide.exists():
        pytest.skip("installed without the docs")
    blocks = re.findall(r"```python\n(.*?)```", guide.read_text(), re.S)
    assert len(blocks) > 5
    monkeypatch.chdir(tmp_path)
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    scope: dict[str, object] = {"__name__": "guide"}
    for i, block in enumerate(blocks):
        try:
            exec(compile(block, f"python.md, block {i}", "exec"), scope)
        except Exception as error:
            raise AssertionError(f"block {i} of docs/python.md fails:\n{block}") from error


def notebook_source(path: Path) -> str:
    cells = json.loads(path.read_text())["cells"]
    return "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "code")


def test_the_stubs_are_those_of_what_was_built(tmp_path: Path) -> None:
    script = TESTS.parent / "make_stubs.py"
    if not script.exists():
        pytest.skip("installed without the sources")
    pytest.importorskip("nanobind")
    assert (PACKAGE / "py.typed").exists()
    names = ["_collision", "_core", "_recording"]
    subprocess.run(
        [sys.executable, "-B", str(script), str(PACKAGE), *(f"tangere.{name}" for name in names),
         "--output", str(tmp_path)],
        check=True,
    )
    for name in names:
        stub = (PACKAGE / f"{name}.pyi").read_text()
        assert stub == (tmp_path / f"{name}.pyi").read_text(), f"{name}.pyi is out of date"
        assert stub.count("def ") > 10
        assert "unknown" not in stub


def test_mypy_agrees_with_the_examples_the_guide_the_notebooks_and_the_package(
    tmp_path: Path,
) -> None:
    for needed in ("mypy", "gymnasium", "matplotlib"):
        pytest.importorskip(needed)
    sources: dict[str, str] = {}
    for path in (DOCS.parent / "examples").rglob("*.py"):
        sources[f"example_{path.stem}"] = path.read_text()
    for path in (DOCS / "notebooks").glob("*.ipynb"):
        sources[f"notebook_{path.stem}"] = notebook_source(path)
    if (DOCS / "python.md").exists():
        blocks = re.findall(r"```python\n(.*?)```", (DOCS / "python.md").read_text(), re.S)
        sources["guide"] = "\n".join(blocks)
    for name, source in sources.items():
        (tmp_path / f"{name}.py").write_text(source)
    assert not DOCS.exists() or len(sources) >= 5 + 4 + 1
    good = run_mypy(tmp_path, [*sources, *stubbed_modules()])
    assert good.returncode == 0, good.stdout
    (tmp_path / "wrong.py").write_text(
        "import tangere\n"
        "tangere.Simulator('model')\n"
        "x: str = tangere.Sphere(1.0).radius\n"
        "tangere.Body('a', shpes=[])\n"
    )
    bad = run_mypy(tmp_path, ["wrong"])
    assert bad.returncode == 1 and bad.stdout.count("error:") == 3, bad.stdout


def stubbed_modules() -> list[str]:
    return sorted(
        f"tangere.{path.stem}" for path in PACKAGE.glob("*.py*") if path.suffix in (".py", ".pyi")
        and path.stem not in ("__init__", "__main__")
    ) + ["tangere"]


def run_mypy(folder: Path, modules: list[str]) -> subprocess.CompletedProcess[str]:
    names = [part for module in modules for part in ("-m", module)]
    return subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(folder / "cache"), *names],
        capture_output=True, text=True, check=False, cwd=folder,
    )


def test_the_demonstration_runs() -> None:
    run = subprocess.run(
        [sys.executable, "-m", "tangere", "demo", "stack.toml", "--duration", "0.1"],
        capture_output=True, text=True, check=True,
    )
    assert re.search(r"first step after [0-9.]+ s", run.stdout)
    assert "state hash" in run.stdout


def test_the_program_lists_scenes_and_refuses_unknown_ones() -> None:
    from tangere.__main__ import main

    assert main(["scenes"]) == 0
    assert main(["demo", "stak.toml"]) == 3
    with pytest.raises(SystemExit):
        main([])


def test_the_program_and_its_viewer_come_with_the_package(tmp_path: Path) -> None:
    from tangere.__main__ import PROGRAM

    if not PROGRAM.exists():
        pytest.skip("built without the command line program")
    record = tmp_path / "page.html"
    scene = str(tangere.scenes.path("stack.toml"))
    run = subprocess.run(
        [sys.executable, "-m", "tangere", "run", scene, "--steps", "20", "--replay", str(record),
         "--json"],
        capture_output=True, text=True, check=True,
    )
    sim = tangere.Simulator(tangere.load(scene))
    sim.step(20)
    assert json.loads(run.stdout)["state_hash"] == f"{sim.state_hash():016x}"
    assert "<html" in record.read_text()[:1000].lower()
    refused = subprocess.run(
        [sys.executable, "-m", "tangere", "rum"], capture_output=True, text=True, check=False
    )
    assert refused.returncode == 2 and "rum" in refused.stderr


def test_the_version_is_that_of_the_project() -> None:
    project = TESTS.parents[1] / "pyproject.toml"
    if project.exists():
        assert f'version = "{tangere.__version__}"' in project.read_text()
    assert "Simulator" in dir(tangere)
    assert str(tangere.Diagnostic("a", 1, 2, "b")) == "a:1:2: b"


@pytest.mark.parametrize(
    ("missing", "code", "message"),
    [
        ("gymnasium", "import tangere.gym", "pip install tangere[gym]"),
        ("matplotlib", "import tangere.plot; tangere.plot._axes(None)", "pip install tangere[plot]"),
    ],
)
def test_missing_parts_say_how_to_get_them(missing: str, code: str, message: str) -> None:
    run = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.modules['{missing}'] = None\n{code}"],
        capture_output=True, text=True, check=False,
    )
    assert run.returncode == 1
    assert message in run.stderr


def test_another_version_of_the_compiled_half_is_refused() -> None:
    code = "import tangere; tangere.__version__ = '9.9.9'; import tangere.collision"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert "9.9.9" in run.stderr and "reinstall" in run.stderr


def test_nothing_is_said_when_the_interpreter_ends() -> None:
    code = (
        "import tangere\n"
        "sim = tangere.Simulator(tangere.load(tangere.scenes.path('arm.xml')), 2, 2)\n"
        "q, body, report = sim.q, sim.body(0), sim.report()\n"
        "group = tangere.collision.CollisionGroup()\n"
        "group.set_filter(lambda one, two: group is None)\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stderr == ""
