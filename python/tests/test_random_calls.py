# SPDX-License-Identifier: Apache-2.0
"""Random calls of everything the package has, with random arguments: indices that name nothing, numbers that are none,
shapes that do not fit, objects of other simulators. Each call gives an answer or raises one of the documented exceptions;
whatever was read or written out of bounds would sooner or later end the interpreter.

TANGERE_PYTHON_EXAMPLES=20000 runs for long. A crash prints the calls of its example on stderr, the last one last."""

from __future__ import annotations

import os
import random
import re
import sys
import types
from pathlib import Path
from typing import Any, Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tangere
from tangere import _collision, _core, collision
from conftest import PENDULUM, make_box_model

EXAMPLES = int(os.environ.get("TANGERE_PYTHON_EXAMPLES", "150"))
CALLS = 40  # of one example
EXPECTED = (ValueError, TypeError, IndexError, KeyError, RuntimeError, OSError, MemoryError, tangere.LimitExceeded)

INDICES = [0, 1, 2, 3, -1, -2, 7, 99, 2**30, -(2**30), 2**31 - 1, -(2**31), 2**31, 2**63 - 1, 2**64]
COUNTS = [0, 1, 2, 3, -1]
NUMBERS = [0.0, 1.0, -1.0, 0.1, 0.5, 2.0, 1e-9, 1e9, 1e-300, 1e300, float("nan"), float("inf"), -float("inf")]
ARRAYS = [(0,), (1,), (2,), (3,), (4,), (6,), (7,), (9,), (0, 3), (1, 3), (2, 3), (4, 3), (8, 3), (1, 4), (3, 4), (3, 3), (4, 4), (2, 3, 3)]
WORDS = ["", "floor", "box", "ball", "upper", "shoulder", "elbow_servo", "raised", "default", "fixed", "sap", "event", "x" * 300, "\x00", "é"]
# What takes long, or too much of the machine, for a number that is allowed.
SMALL = {"n": COUNTS, "num_steps": COUNTS, "count": COUNTS, "num_envs": COUNTS, "threads": COUNTS, "max_tets": COUNTS,
         "max_iterations": COUNTS, "framesPerChunk": COUNTS,
         "time": [-1.0, 0.0, 0.01, float("nan")],
         "resolution": [0.0, -1.0, 0.1, float("nan")]}  # fmt: skip
SKIPPED = {"add_contact_handler", "set_filter"}  # any object will do until it is called


def parameters_of(function: Any) -> list[tuple[str, str, bool]]:
    """Name, type and whether there is a default of each parameter, as nanobind writes them down."""
    signature = function.__nb_signature__[0][0]
    text = signature[signature.index("(") + 1 : signature.rindex(")")]
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text + ","):
        depth += {"[": 1, "(": 1, "]": -1, ")": -1}.get(c, 0)
        if c == "," and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    found = []
    for part in parts:
        name, _, rest = part.partition(":")
        if name in ("self", "/", "*", "") or name.startswith("**"):
            continue
        found.append((name.strip(), rest.partition(" = ")[0].strip(), " = " in rest))
    return found


def callables() -> list[tuple[str, type | None, Callable[..., Any]]]:
    out: list[tuple[str, type | None, Callable[..., Any]]] = []
    for module in (_core, _collision):
        for name in sorted(vars(module)):
            thing = getattr(module, name)
            if hasattr(thing, "__nb_signature__"):
                out.append((name, None, thing))
            if not isinstance(thing, type):
                continue
            for method in sorted(vars(thing)):
                function = vars(thing)[method]
                is_made = method == "__init__"
                if hasattr(function, "__nb_signature__") and method not in SKIPPED and (is_made or not method.startswith("__")):
                    if isinstance(function, staticmethod) or "(self" not in function.__nb_signature__[0][0]:
                        out.append((f"{name}.{method}", None, getattr(thing, method)))
                    else:
                        out.append((f"{name}.{method}", thing, thing if is_made else function))
    return out


CALLABLES = callables()


def readable(thing: type) -> list[str]:
    return [name for name in dir(thing) if not name.startswith("_") and isinstance(getattr(thing, name, None), (property, types.GetSetDescriptorType))]


def starting_objects() -> list[Any]:
    tetrahedron = ([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
    pendulum = tangere.loads(PENDULUM, name="pendulum.xml")
    sims = [tangere.Simulator(make_box_model()), tangere.Simulator(pendulum, 2), tangere.Simulator(make_box_model("event")),
            tangere.Simulator(make_box_model("impulse"))]  # fmt: skip
    for sim in sims:
        sim.step(2)
    group = collision.CollisionGroup()
    group.add(collision.Box([1, 1, 1]), [0, 0, 0])
    group.add(collision.Sphere(0.5), [0, 0, 1.2])
    found = group.collide()
    made: list[Any] = [*sims, pendulum, group, found, *found.manifolds, tangere.ModelBuilder(), collision.TriangleMesh(*tetrahedron),
                       collision.Mesh(*tetrahedron), collision.TetMesh(tetrahedron[0], [[0, 1, 2, 3]]), collision.Convex(tetrahedron[0]),
                       collision.HeightField([[0, 1], [1, 0]], 1, 1), collision.PointCloud(tetrahedron[0], 0.1),
                       collision.ContactPatchCache(), sims[0].body("box"), sims[1].body("ball"), sims[0].report(), sims[2].energy()]  # fmt: skip
    sims[2].advance_to(0.3)
    return made + list(sims[2].events())[:2]


def some_array(rng: random.Random) -> Any:
    shape = rng.choice(ARRAYS)
    size = int(np.prod(shape))
    kind = rng.choice(["index", "list", "text", "strided", "plain", "plain"])
    if kind == "index":
        return np.array([rng.choice(INDICES) for _ in range(size)], dtype=object).reshape(shape).tolist()
    values = np.array([rng.choice(NUMBERS) for _ in range(size)]).reshape(shape)
    if kind == "text":
        return values.astype(str)
    return values.tolist() if kind == "list" else values[::-1] if kind == "strided" else np.round(values, 3)


def some_argument(rng: random.Random, name: str, annotation: str, pool: list[Any], folder: Path) -> Any:
    if rng.random() < 0.05:  # of any other type
        return rng.choice([None, "x", 1, 0.5, [], {}, object(), True, b"bytes", pool[0]])
    if "PathLike" in annotation:
        return rng.choice([str(folder / "a.msh"), str(folder / "missing" / "a"), str(folder), "/dev/null", "", "a\x00b"])
    if name in SMALL:
        return rng.choice(SMALL[name])
    if "ArrayLike" in annotation:
        return some_array(rng)
    classes = set(re.findall(r"(?:_core|_collision)\.(\w+)", annotation))
    fitting = [one for one in pool if any(base.__name__ in classes for base in type(one).__mro__)]
    if fitting:
        one = rng.choice(fitting)
        return [one] * rng.choice(COUNTS) if "Sequence" in annotation else one
    if "Sequence" in annotation:
        return [rng.choice(NUMBERS if "float" in annotation else INDICES) for _ in range(rng.randrange(12))]
    kinds = [values for word, values in (("int", INDICES), ("float", NUMBERS), ("str", WORDS), ("bool", [True, False])) if re.search(rf"\b{word}\b", annotation)]
    return rng.choice(rng.choice(kinds)) if kinds else rng.choice(pool)


def call_once(rng: random.Random, pool: list[Any], folder: Path, said: list[str]) -> None:
    name, owner, function = rng.choice(CALLABLES)
    made = owner is function
    selves = [] if owner is None or made else [one for one in pool if isinstance(one, owner)]
    if owner is not None and not made and not selves:
        return
    selves = [rng.choice(selves)] if selves else []
    arguments = {parameter: some_argument(rng, parameter, annotation, pool, folder)
                 for parameter, annotation, has_default in parameters_of(vars(owner)["__init__"] if made else function)
                 if not has_default or rng.random() < 0.3}  # fmt: skip
    said.append(f"{name}({', '.join([repr(one)[:40] for one in selves] + [f'{k}={v!r:.200}' for k, v in arguments.items()])})")
    if "TANGERE_PYTHON_SAY" in os.environ:
        print(said[-1], file=sys.stderr, flush=True)
    try:
        result = function(*selves, **arguments)
    except EXPECTED:
        return
    for one in (result if isinstance(result, (list, tuple)) else [result])[:3]:
        if not type(one).__module__.startswith("tangere"):
            continue
        pool.append(one)
        for attribute in readable(type(one)):
            try:
                getattr(one, attribute)
            except EXPECTED:
                pass


@settings(max_examples=EXAMPLES, deadline=None, derandomize="TANGERE_PYTHON_EXAMPLES" not in os.environ, database=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_random_calls_answer_or_raise(tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    folder = tmp_path_factory.mktemp("random_calls")
    rng = random.Random(seed)
    pool = starting_objects()
    said: list[str] = []
    home = Path.cwd()
    os.chdir(folder)  # what is written under odd names
    try:
        for _ in range(CALLS):
            call_once(rng, pool, folder, said)
    finally:
        os.chdir(home)
    for sim in pool[:4]:  # whatever was called, they go on
        sim.reset()
        sim.step(2)
        assert np.isfinite(sim.q).all() and np.isfinite(sim.v).all(), "\n".join(said)


@settings(max_examples=2 * EXAMPLES, deadline=None, derandomize=True, database=None)
@given(st.lists(st.tuples(*[st.sampled_from(INDICES)] * 3), min_size=1, max_size=6), st.integers(1, 8))
def test_indices_of_meshes_are_checked_by_everything_that_uses_them(rows: list[tuple[int, int, int]], count: int) -> None:
    vertices = np.random.default_rng(count).random((count, 3))
    is_possible = all(0 <= index < count for row in rows for index in row)
    for use in (collision.TriangleMesh.weld, collision.TriangleMesh.inspect, collision.TriangleMesh.to_shape):
        try:
            use(collision.TriangleMesh(vertices, rows))
            assert is_possible
        except (ValueError, TypeError, OverflowError):
            pass
    for make in (collision.Mesh, lambda v, t: collision.TetMesh(v, [[*row, 0] for row in t])):
        try:
            make(vertices, rows)
            assert is_possible
        except (ValueError, TypeError, OverflowError):
            pass


def test_a_mesh_that_names_no_vertex_is_refused() -> None:
    vertices = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
    for index in (2**30, 99, 4, -1):
        mesh = collision.TriangleMesh(vertices, [[index, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
        for use in (mesh.weld, mesh.inspect, mesh.to_shape):
            with pytest.raises(ValueError, match="index out of range"):
                use()


def test_an_event_of_another_simulator_is_refused_where_its_bodies_do_not_exist() -> None:
    many = tangere.ModelBuilder()
    many.set_options(solver="event")
    many.add_body(tangere.Body("floor", type="fixed", shapes=[tangere.Plane()]))
    for i in range(5):
        many.add_body(tangere.Body(f"ball{i}", shapes=[tangere.Sphere(0.1)], pose=[i, 0, 0.11]))
    sim = tangere.Simulator(many.build())
    sim.advance_to(0.2)
    of_last = [event for event in sim.events() if event.body1 > 1 or event.body2 > 1]
    assert of_last and "State event" in sim.describe_event(of_last[0])
    with pytest.raises(ValueError, match="the event is about body"):
        tangere.Simulator(make_box_model("event")).describe_event(of_last[0])
