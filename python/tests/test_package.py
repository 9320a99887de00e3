# SPDX-License-Identifier: Apache-2.0
"""The package as a whole: every name documented and tested, doctests, types, what it costs."""

from __future__ import annotations

import doctest
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import tangere
import tangere.collision
import tangere.errors
import tangere.scenes

TESTS = Path(__file__).parent
PACKAGE = Path(tangere.__file__).parent
DOCS = TESTS.parents[1] / "docs"


def public_modules() -> list[object]:
    modules: list[object] = [tangere, tangere.collision, tangere.errors, tangere.scenes]
    for name in ("gym", "plot"):
        pytest.importorskip({"gym": "gymnasium", "plot": "matplotlib"}[name])
        modules.append(getattr(tangere, name))
    return modules


def public_names() -> dict[str, object]:
    """'Simulator.step' and so on."""
    found: dict[str, object] = {}
    for module in public_modules():
        exported = getattr(module, "__all__", None) or [
            name
            for name, value in vars(module).items()
            if inspect.isclass(value) and value.__module__ == module.__name__  # type: ignore[attr-defined]
        ]
        for name in exported:
            value = getattr(module, name)
            found[name] = value
            if not inspect.isclass(value) or not value.__module__.startswith("tangere"):
                continue
            for base in value.__mro__:
                if not base.__module__.startswith("tangere"):
                    continue
                for member, what in vars(base).items():
                    if not member.startswith("_") and not hasattr(what, "value"):
                        found[f"{name}.{member}"] = what
    return found


def test_every_public_name_is_documented() -> None:
    missing = [
        name
        for name, value in public_names().items()
        if not (getattr(value, "__doc__", None) or "").strip()
        # A field of a struct whose name says it all, in the language of its class.
        and not (isinstance(value, property) and "." in name)
        and not name.startswith("Diagnostic.")
    ]
    assert missing == []


def test_every_public_name_is_used_in_a_test() -> None:
    text = "\n".join(path.read_text() for path in TESTS.glob("test_*.py"))
    text += "\n".join(path.read_text() for path in TESTS.glob("conftest.py"))
    for value in public_names().values():  # the examples in docstrings run too
        lines = str(getattr(value, "__doc__", None) or "").splitlines()
        text += "\n".join(line for line in lines if line.strip().startswith((">>>", "...")))
    text += (DOCS / "python.md").read_text() if (DOCS / "python.md").exists() else ""
    missing = []
    for name, value in public_names().items():
        owner, _, member = name.rpartition(".")
        if owner and isinstance(value, property) and owner not in ("Simulator", "Model"):
            continue  # fields of plain structs are covered by the pickles of every part
        if not re.search(rf"\b{member}\b", text):
            missing.append(name)
    assert missing == []


def run_doctests(finder: doctest.DocTestFinder, value: object, name: str) -> tuple[int, int]:
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    for case in finder.find(value, name, globs={}):
        runner.run(case)
    return runner.failures, runner.tries


def test_the_examples_in_docstrings_run() -> None:
    finder = doctest.DocTestFinder(recurse=False)
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


def test_the_stubs_are_there_and_mypy_agrees(tmp_path: Path) -> None:
    assert (PACKAGE / "py.typed").exists()
    for module in ("_collision", "_core", "_recording"):
        assert (PACKAGE / f"{module}.pyi").read_text().count("def ") > 10
    for needed in ("mypy", "gymnasium", "matplotlib"):
        pytest.importorskip(needed)
    example = tmp_path / "example.py"
    example.write_text(
        "import numpy as np\n"
        "import tangere\n"
        "from numpy.typing import NDArray\n"
        "from tangere.collision import Box, Sphere, collide, distance\n\n"
        "builder = tangere.ModelBuilder()\n"
        "builder.set_options(solver='sap')\n"
        "builder.add_material(tangere.Material('m', friction=1.0))\n"
        "builder.add_body(tangere.Body('floor', type='fixed', shapes=[tangere.BodyShape(tangere.Plane())]))\n"
        "builder.add_body(tangere.Body('box', shapes=[tangere.BodyShape(Box([1, 1, 1]))], pose=[0, 0, 1]))\n"
        "sim = tangere.Simulator(builder.build(), num_envs=2, threads=2)\n"
        "sim.step(3)\n"
        "q: NDArray[np.float64] = sim.q\n"
        "h: float = distance(Sphere(1.0), [0, 0, 0], Box([1, 1, 1]), np.eye(4)).distance\n"
        "names: list[str] = sim.model.body_names\n"
        "state: tangere.State = sim.state()\n"
        "p: NDArray[np.float64] = sim.body('box').position\n"
        "for manifold in collide(Sphere(1.0), [0, 0, 0], Sphere(1.0), [1, 0, 0]).manifolds:\n"
        "    print(manifold.depth, manifold.points[0].position)\n"
    )
    modules = ["example"]
    if (DOCS / "python.md").exists():
        blocks = re.findall(r"```python\n(.*?)```", (DOCS / "python.md").read_text(), re.S)
        (tmp_path / "guide.py").write_text(
            "# mypy: allow-untyped-defs, allow-untyped-calls\n" + "\n".join(blocks)
        )
        modules.append("guide")
    good = run_mypy(tmp_path, [*modules, *stubbed_modules()])
    assert good.returncode == 0, good.stdout
    example.write_text(
        "import tangere\ntangere.Simulator('model')\nx: str = tangere.Sphere(1.0).radius\n"
    )
    bad = run_mypy(tmp_path, ["example"])
    assert bad.returncode == 1 and bad.stdout.count("error:") == 2, bad.stdout


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


def test_the_import_is_quick_and_small() -> None:
    code = (
        "import re, time\n"
        "import numpy\n"
        "before = time.process_time()\n"
        "import tangere\n"
        "tangere.Simulator, tangere.load, tangere.Sphere\n"
        "print(time.process_time() - before, time.process_time(),\n"
        "      int(re.search(r'VmHWM:\\s*(\\d+)', open('/proc/self/status').read())[1]) / 1024)\n"
    )
    best = min(
        tuple(
            float(part)
            for part in subprocess.run(
                [sys.executable, "-c", code], capture_output=True, text=True, check=True
            ).stdout.split()
        )
        for _ in range(3)
    )
    own, everything, megabytes = best
    assert own < 0.1, f"{own:.3f} s of CPU beyond NumPy's"
    assert everything < 0.3, f"{everything:.3f} s of CPU with NumPy and the interpreter"
    assert megabytes < 60, f"{megabytes:.0f} MB"


def test_the_demonstration_runs_and_steps_soon() -> None:
    best = 9.0
    for _ in range(3):
        run = subprocess.run(
            [sys.executable, "-m", "tangere", "demo", "stack.toml", "--duration", "0.1"],
            capture_output=True, text=True, check=True,
        )
        found = re.search(r"first step after ([0-9.]+) s", run.stdout)
        assert found is not None
        best = min(best, float(found.group(1)))
        assert "state hash" in run.stdout
    assert best < 1.0


def test_the_program_lists_scenes_and_refuses_unknown_ones() -> None:
    from tangere.__main__ import main

    assert main(["scenes"]) == 0
    assert main(["demo", "stak.toml"]) == 3
    with pytest.raises(SystemExit):
        main([])


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
