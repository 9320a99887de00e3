# SPDX-License-Identifier: Apache-2.0
"""Wrong input, wrong use, wrong moment: a Python exception that says what, where and what is
expected; never a crash, a hang or a silent change."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import tangere
from conftest import make_box_model
from tangere import collision


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (np.zeros((2, 9), complex), "q must be an array of numbers, found an array of complex128"),
        (np.full((2, 9), None), "found an array of object"),
        (np.zeros((2, 9), bool), "found an array of bool"),
        (np.zeros((2, 9), "M8[s]"), "found an array of datetime64"),
        ("text", "found an array of <U4"),
        ([[1, 2], [3]], "found list .ValueError"),
        (1.0, r"q must have the shape \(9,\), found \(1,\)"),
        (None, "q must be an array of numbers, found an array of object"),
        (np.zeros((2, 9, 1)), r"q must have the shape \(2, 9\), found \(2, 9, 1\)"),
        (np.zeros((0, 9)), r"q must have the shape \(2, 9\), found \(0, 9\)"),
        ([[10**400] * 9] * 2, "found an array of object"),
    ],
)
def test_wrong_arrays_are_refused(pendulum: tangere.Model, wrong: object, message: str) -> None:
    sim = tangere.Simulator(pendulum, num_envs=2)
    before = sim.state()
    with pytest.raises(tangere.InvalidInput, match=message):
        sim.q = wrong  # type: ignore[assignment]
    assert sim.state() == before


def test_arrays_that_raise_say_why(pendulum: tangere.Model) -> None:
    class Broken:
        def __array__(self, *args: object, **kwargs: object) -> None:
            raise KeyError("boom")

    class OnGpu:
        def __dlpack__(self, **kwargs: object) -> None:
            raise BufferError("not on this device")

        def __dlpack_device__(self) -> tuple[int, int]:
            return (2, 0)

    sim = tangere.Simulator(pendulum)
    with pytest.raises(tangere.InvalidInput, match="found Broken .KeyError: 'boom'"):
        sim.q = Broken()  # type: ignore[assignment]
    with pytest.raises(tangere.InvalidInput, match="found OnGpu"):
        sim.q = OnGpu()  # type: ignore[assignment]


@pytest.mark.parametrize("dtype", ["f2", "f4", ">f8", "i4", "longdouble"])
def test_arrays_of_other_numbers_and_layouts_are_taken(
    pendulum: tangere.Model, dtype: str
) -> None:
    sim = tangere.Simulator(pendulum, num_envs=2)
    values = np.zeros((2, 8), dtype)
    values[:, 0] = [1, 2]
    for layout in (values, np.asfortranarray(values), np.repeat(values, 2, axis=1)[:, ::2]):
        sim.v = 0 * sim.v
        sim.v = layout  # type: ignore[assignment]
        assert sim.v[:, 0].tolist() == [1, 2]


@pytest.mark.parametrize(
    ("mask", "message"),
    [
        ([0.0, 1.0], "mask must be an array of integers, found an array of float64"),
        ([5, 0], "found 5 for environment 0"),
        ([0, -1], "found -1 for environment 1"),
        ([256, 0], "found 256 for environment 0"),
        ([2**40, 0], "no int32"),
        (True, r"mask must have the shape \(2,\), found \(1,\)"),
        ([[True, False]], r"found \(1, 2\)"),
        ("ab", "found an array of <U2"),
    ],
)
def test_what_is_no_mask_is_refused(pendulum: tangere.Model, mask: object, message: str) -> None:
    sim = tangere.Simulator(pendulum, num_envs=2)
    sim.step(3)
    calls: list[Callable[[], None]] = [
        lambda: sim.reset(mask=mask),  # type: ignore[arg-type]
        lambda: sim.set_state(sim.state(), mask=mask),  # type: ignore[arg-type]
        lambda: sim.reset_to_keyframe("raised", mask=mask),  # type: ignore[arg-type]
    ]
    for call in calls:
        with pytest.raises(tangere.InvalidInput, match=message):
            call()
    assert sim.steps.tolist() == [3, 3]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        ("step(1.5)", TypeError, "n must be an integer from .*, found 1.5"),
        ("step(10**30)", TypeError, "n must be an integer"),
        ("step('a')", TypeError, "n must be an integer .*found 'a'"),
        ("step(-3)", ValueError, "must not be negative, found -3"),
        ("advance_to(float('nan'))", ValueError, "finite"),
        ("advance_to('1')", TypeError, "time must be a number, found '1'"),
        ("contacts(env=-1)", ValueError, "there is no environment -1: the simulator has 2"),
        ("contacts(env=2**40)", TypeError, "env must be an integer"),
        ("state(env='a')", TypeError, "env must be an integer .*found 'a'"),
        ("body('bal')", ValueError, "no body is called 'bal' .did you mean 'ball'"),
        ("body(-1)", ValueError, "there is no body -1: the model has 4"),
        ("body(2**40)", ValueError, "there is no body 1099511627776"),
        ("body(1.0)", TypeError, "by its name or its index, found 1.0"),
        ("body('\\udcff')", ValueError, "no body is called"),
        ("body('ball', env=2)", ValueError, "there is no environment 2"),
        ("soft('ball')", ValueError, "no soft body is called 'ball'"),
        ("reset(seed='a')", TypeError, "expects int"),
        ("reset(seed=-1)", ValueError, "non-negative"),
        ("reset_to_keyframe('rased')", ValueError, "did you mean 'raised'"),
        ("set_state('abc')", TypeError, "state must be a State or other bytes, found str"),
        ("set_state(10**12)", TypeError, "found int"),
        ("set_state(b'')", ValueError, "cut or damaged"),
        ("rollout(num_steps=-1)", ValueError, "num_steps must not be negative, found -1"),
        ("rollout(num_steps=2**31 - 1)", ValueError, "GB of memory"),
        ("rollout(num_steps=2**40)", TypeError, "num_steps must be an integer"),
        ("jacobian('bal', [0, 0, 0])", ValueError, "did you mean 'ball'"),
        ("inverse_dynamics([0] * 7)", ValueError, r"shape \(2, 8\) or \(8,\), found \(7,\)"),
        ("inverse_dynamics([float('nan')] * 8)", ValueError, "acceleration must be finite, found nan"),
        ("jacobian('ball', [float('inf'), 0, 0])", ValueError, "point must be finite, found inf"),
        ("integrate_positions(sim.q, sim.v, float('nan'))", ValueError, "dt must be finite"),
        ("body('ball').set_pose([1, 2])", TypeError, r"pose must be a pose .*found \[1, 2\]"),
        ("body('ball').set_pose(2 * np.eye(4))", ValueError, "rigid"),
        ("body('ball').apply_force([1, 2])", ValueError, r"shape \(2, 3\) or \(3,\), found \(2,\)"),
        ("save_checkpoint('/nowhere/a')", OSError, "/nowhere"),
        ("set_parameters(tangere.ModelParameters(masses=[tangere.MassScale('ball', -1)]))",
         ValueError, "must be positive"),
    ],
)
def test_wrong_calls_change_nothing(
    pendulum: tangere.Model, call: str, error: type[Exception], message: str
) -> None:
    sim = tangere.Simulator(pendulum, num_envs=2)
    sim.step(2)
    before = sim.state()
    with pytest.raises(error, match=message):
        eval(f"sim.{call}", {"sim": sim, "tangere": tangere, "np": np})
    assert sim.state() == before


@pytest.mark.parametrize(
    ("code", "error", "message"),
    [
        ("Body('a', type='fxed')", ValueError,
         "Body.type: no BodyType is called 'fxed' .did you mean 'fixed'"),
        ("Body('a', type='qqqqqq')", ValueError, "there are 'dynamic', 'fixed', 'kinematic'"),
        ("Body('a', type=3.5)", TypeError, "Body.type must be a BodyType or its name, found 3.5"),
        ("Body('a', shpes=[])", TypeError, "Body has no 'shpes' .did you mean 'shapes'"),
        ("Body('a', shapes=[1])", TypeError, "Body.shapes must be a sequence, each a BodyShape"),
        ("Body('a', pose=[1, 2])", TypeError, r"Body.pose must be a pose .*found \[1, 2\]"),
        ("Body('a', gravity_scale='x')", TypeError, "Body.gravity_scale must be a number, found 'x'"),
        ("Body(5)", TypeError, "Body.name must be text, found 5"),
        ("Joint('a', axis=[0, 1])", TypeError, "Joint.axis must be three numbers"),
        ("Actuator('a', gear=[1])", TypeError, "Actuator.gear must be a sequence of 6"),
        ("SapOptions(max_iterations=2**40)", TypeError, "SapOptions.max_iterations must be an integer"),
        ("ModelBuilder().set_options(dtt=1)", ValueError, "did you mean 'dt'"),
        ("ModelBuilder().set_options(dt='x')", TypeError, "SimulationOptions.dt must be a number"),
        ("ModelBuilder().set_options(solver='spa')", ValueError, "did you mean 'sap'"),
        ("ModelBuilder().set_options(dt=float('nan'))", ValueError, "dt must be positive"),
        ("Simulator(None)", TypeError, "model must be a Model"),
        ("Simulator(tangere.Model)", TypeError, "model must be a Model"),
        ("Simulator('a.toml')", TypeError, "tangere.load"),
        ("Simulatr", AttributeError, "did you mean 'Simulator'"),
        ("load('/nowhere/a.toml')", OSError, "no such file"),
        ("load('/tmp')", OSError, "not a regular file"),
        ("load('/dev/zero')", OSError, "not a regular file"),
        ("loads('')", ValueError, "empty"),
        ("loads('a\\0')", ValueError, "NUL byte"),
        ("Recording('/dev/null')", ValueError, "no recording"),
        ("Recorder('/tmp/a.h5', 'sim')", TypeError, "simulator must be a Simulator, found 'sim'"),
        ("Recorder('/tmp/a.h5', None)", TypeError, "simulator must be a Simulator"),
        ("read_tet_mesh('/etc/passwd')", ValueError, "volume files end in"),
        ("scenes.path('stak.toml')", ValueError, "did you mean 'stack.toml'"),
    ],
)
def test_wrong_parts_are_refused_by_name(code: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        eval(f"tangere.{code}", {"tangere": tangere})


def test_a_field_is_set_by_the_same_rules() -> None:
    body = tangere.Body("a")
    with pytest.raises(tangere.InvalidInput, match="Body.type: .*did you mean 'kinematic'"):
        body.type = "kinematik"  # type: ignore[assignment]
    with pytest.raises(TypeError, match="Body.linear_velocity must be three numbers"):
        body.linear_velocity = [1, 2]
    body.type = "kinematic"  # type: ignore[assignment]
    assert body.type == tangere.BodyType.KINEMATIC
    options = tangere.SimulationOptions()
    options.sap.max_iterations = 7  # parts are the part, and no copy
    assert options.sap.max_iterations == 7


@pytest.mark.parametrize(
    ("code", "error", "message"),
    [
        ("Sphere(-1)", ValueError, "sphere radius"),
        ("Box([1, 1, np.nan])", ValueError, "box half extents"),
        ("Convex(np.zeros((10, 3)))", ValueError, "coincide"),
        ("Mesh(np.eye(3), [[0, 1, 9]])", ValueError, "out of range"),
        ("Mesh(np.eye(3), [[0.0, 1, 2]])", ValueError, "triangles must be an array of integers"),
        ("Mesh(np.eye(3), [[0, 1, 2**32 + 2]])", ValueError, "no int32"),
        ("HeightField([[1]], 1, 1)", ValueError, "2 x 2"),
        ("Compound([(None, [0, 0, 0])])", ValueError, "no shape"),
        ("collide(Sphere(1), [0, 0], Sphere(1), [0, 0, 0])", TypeError, "pose1 must be a pose"),
        ("overlap(Sphere(1), [0, 0, 0], Sphere(1), 'x')", TypeError, "pose2 must be a pose"),
        ("collide(Sphere(1), [0, 0, 0], Sphere(1), [0, 0, 0], algorithm='gkj')", ValueError,
         "did you mean 'gjk'"),
        ("collide(Sphere(1), [0, 0, 0], Sphere(1), [0, 0, 0], max_contacts=-1)", ValueError,
         "max_contacts must not be negative"),
        ("pair_support('sphere', 'bax')", ValueError, "did you mean 'box'"),
        ("CollisionGroup('bhv')", ValueError, "did you mean 'bvh'"),
        ("CollisionGroup().remove(4)", ValueError, "no object with this id"),
        ("CollisionGroup().add(Sphere(1), [0, 0])", TypeError, "pose must be a pose"),
        ("CollisionGroup().ray_cast([0, 0], [0, 0, 1])", TypeError, "origin must be three numbers"),
        ("CollisionGroup().set_num_threads(0)", ValueError, "at least one thread"),
        ("CollisionGroup().set_num_threads(10**6)", ValueError, "from 1 to 4096"),
        ("read_mesh('/etc/passwd')", ValueError, "mesh files end in"),
    ],
)
def test_wrong_queries_are_refused(code: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        eval(code, {**vars(collision), "np": np})


def test_too_many_environments_and_threads_are_refused_before_memory_is_taken(
    pendulum: tangere.Model,
) -> None:
    for count in (2**31 - 1, 10**9):
        with pytest.raises(tangere.LimitExceeded, match="environments of this model take about"):
            tangere.Simulator(pendulum, num_envs=count)
    with pytest.raises(TypeError, match="num_envs must be an integer"):
        tangere.Simulator(pendulum, num_envs=2**31)
    with pytest.raises(TypeError, match="num_envs must be an integer"):
        tangere.Simulator(pendulum, num_envs=1.0)  # type: ignore[arg-type]
    with pytest.raises(tangere.InvalidInput, match="threads must be from 1 to 4096"):
        tangere.Simulator(pendulum, threads=10**6)
    many = tangere.Simulator(pendulum, num_envs=2000, threads=2)
    many.step()
    assert many.q.shape == (2000, 9)


@pytest.mark.filterwarnings("ignore:nanobind. attempted to")
def test_a_simulator_without_its_initialization_says_so(pendulum: tangere.Model) -> None:
    class Forgetful(tangere.Simulator):
        def __init__(self, model: tangere.Model) -> None:
            pass

    sim = Forgetful(pendulum)
    with pytest.raises(TypeError, match="super"):
        _ = sim.q
    for call in (lambda: sim.step(), lambda: repr(sim), lambda: sim.body("ball")):
        with pytest.raises(TypeError):
            call()
    with pytest.raises(TypeError):
        tangere.Model.__new__(tangere.Model).num_bodies  # noqa: B018
    whole = tangere.Simulator(pendulum)
    with pytest.raises(TypeError):
        whole.__init__(pendulum)  # type: ignore[misc]


def test_a_filter_may_neither_call_its_group_nor_answer_with_something_else() -> None:
    group = collision.CollisionGroup()
    for height in (0.0, 0.1):
        group.add(collision.Sphere(1), [0, 0, height])
    calls: list[Callable[[], object]] = [
        lambda: group.add(collision.Sphere(1), [0, 0, 0]),
        lambda: group.collide(),
        lambda: group.set_filter(None),
        lambda: group.clear(),
        lambda: len(group),
    ]
    for call in calls:
        group.set_filter(lambda one, two, call=call: bool(call()))  # type: ignore[misc]
        with pytest.raises(RuntimeError, match="callback of its own, is using this CollisionGroup"):
            group.collide()
    group.set_filter(lambda one, two: "yes")  # type: ignore[arg-type,return-value]
    with pytest.raises(TypeError, match="what a filter returns must be True or False, found 'yes'"):
        group.collide()
    group.set_filter(None)
    assert len(group) == 2 and group.collide()


def in_another_process(code: str, *, timeout: float = 60.0) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", code],
        capture_output=True, text=True, check=False, timeout=timeout,
    )


@pytest.mark.parametrize(
    "start", ["sim.step(10**9)", "sim.rollout(num_steps=400000)", "sim.advance_to(1e6)"]
)
def test_an_interrupt_ends_it_between_two_steps(start: str) -> None:
    code = (
        "import sys, tangere\n"
        "model = tangere.load(tangere.scenes.path('clutter.toml'))\n"
        "sim = tangere.Simulator(model, num_envs=2, threads=2)\n"
        "sim.step()\n"
        "print('go', flush=True)\n"
        "try:\n"
        f"    {start}\n"
        "except KeyboardInterrupt:\n"
        "    before = sim.steps.tolist()\n"
        "    sim.step(2)\n"
        "    ok = before[0] == before[1] > 1 and sim.steps.tolist() == [n + 2 for n in before]\n"
        "    sys.exit(0 if ok else 1)\n"
        "sys.exit(2)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "go\n"
        time.sleep(0.3)
        begin = time.perf_counter()
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) == 0
        assert time.perf_counter() - begin < 5


def test_python_runs_while_a_rollout_does() -> None:
    model = tangere.load(tangere.scenes.path("clutter.toml"))
    sim = tangere.Simulator(model, num_envs=4, threads=2)
    ticks: list[float] = []
    done = threading.Event()

    def tick() -> None:
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.0005)

    thread = threading.Thread(target=tick)
    thread.start()
    begin = time.perf_counter()
    sim.rollout(num_steps=100)
    end = time.perf_counter()
    done.set()
    thread.join()
    # With the lock held it would be at most the one tick at each end.
    assert sum(begin < t < end for t in ticks) > 3


def test_the_threads_of_a_simulator_stay() -> None:
    def threads() -> int:
        return len(os.listdir("/proc/self/task"))

    model = tangere.load(tangere.scenes.path("arm.xml"))
    before = threads()
    sim = tangere.Simulator(model, num_envs=4, threads=3)
    sim.rollout(num_steps=5)
    numbers = set(os.listdir("/proc/self/task"))
    for _ in range(20):
        sim.rollout(num_steps=5)
        sim.step(5)
        assert set(os.listdir("/proc/self/task")) == numbers
    assert threads() > before
    del sim
    assert threads() == before


@pytest.mark.parametrize(
    ("make", "call"),
    [
        ("sim = tangere.Simulator(model, num_envs=4, threads=2)", "sim.step(20)"),
        ("sim = tangere.Simulator(model, num_envs=4, threads=2)", "sim.rollout(num_steps=20)"),
        ("sim = tangere.Simulator(model)", "sim.step(20); sim.contacts(); sim.state()"),
        ("group = tangere.collision.CollisionGroup()\n"
         "for k in range(400):\n"
         "    group.add(tangere.collision.Box([1, 1, 1]), [k * 0.5, 0, 0])",
         "group.collide(); group.add(tangere.Sphere(1), [0, 0, 0])"),
        ("sim = tangere.Simulator(model)\n"
         "path = tempfile.mkdtemp() + '/a.h5'\n"
         "with tangere.Recorder(path, sim) as recorder:\n"
         "    for _ in range(100):\n"
         "        sim.step(); recorder.append()\n"
         "recording = tangere.Recording(path)",
         "recording.read(); recording.contacts(50); recording.series()"),
    ],
)
def test_many_threads_on_one_object_get_errors_and_no_crash(make: str, call: str) -> None:
    code = (
        "import tempfile, threading, tangere\n"
        "model = tangere.load(tangere.scenes.path('stack.toml'))\n"
        f"{make}\n"
        "others = []\n"
        "def work():\n"
        "    for _ in range(30):\n"
        "        try:\n"
        f"            {call}\n"
        "        except RuntimeError as error:\n"
        "            assert 'another thread' in str(error), error\n"
        "        except BaseException as error:\n"
        "            others.append(error)\n"
        "threads = [threading.Thread(target=work) for _ in range(6)]\n"
        "[thread.start() for thread in threads]\n"
        "[thread.join() for thread in threads]\n"
        "assert not others, others\n"
        f"{call}\n"
        "print('whole')\n"
    )
    run = in_another_process(code)
    assert (run.returncode, run.stdout) == (0, "whole\n"), run.stderr


@pytest.mark.parametrize(
    ("make", "call", "refused"),
    [
        ("thing = tangere.Simulator(model, 2, threads=2)", "thing.step()", True),
        ("thing = tangere.Simulator(model, threads=2)", "thing.step()", True),
        ("thing = tangere.Simulator(model, 2)", "thing.step()", False),
        ("thing = tangere.collision.CollisionGroup(); thing.add(tangere.Sphere(1), [0, 0, 0]); "
         "thing.set_num_threads(2)", "thing.collide()", True),
    ],
)
def test_after_a_fork_threads_are_missed_and_nothing_waits_for_them(
    make: str, call: str, refused: bool
) -> None:
    code = (
        "import gc, os, sys, tangere\n"
        "model = tangere.load(tangere.scenes.path('stack.toml'))\n"
        f"{make}\n"
        f"{call}\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    said = ''\n"
        "    try:\n"
        f"        {call}\n"
        "    except RuntimeError as error:\n"
        "        said = str(error)\n"
        "    del thing\n"
        "    gc.collect()\n"
        f"    os._exit(0 if ('fork' in said) == {refused} else 1)\n"
        "code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])\n"
        f"{call}\n"
        "sys.exit(code)\n"
    )
    run = in_another_process(code)
    assert run.returncode == 0, run.stderr


def test_states_and_models_travel_between_processes(
    pendulum: tangere.Model, tmp_path: Path
) -> None:
    sim = tangere.Simulator(pendulum, num_envs=2)
    sim.controls = [0.3, 0.1]
    sim.step(20)
    (tmp_path / "a.pickle").write_bytes(pickle.dumps((pendulum, sim.state())))
    code = (
        "import pickle, sys, tangere\n"
        f"model, state = pickle.load(open({str(tmp_path / 'a.pickle')!r}, 'rb'))\n"
        "sim = tangere.Simulator(model, num_envs=2, threads=2)\n"
        "sim.set_state(state)\n"
        "sim.step(30)\n"
        "print(sim.state_hash(0), sim.state_hash(1))\n"
    )
    run = in_another_process(code)
    assert run.returncode == 0, run.stderr
    sim.step(30)
    assert run.stdout.split() == [str(sim.state_hash(0)), str(sim.state_hash(1))]


def test_views_bodies_and_parts_outlive_what_they_are_of() -> None:
    code = (
        "import gc, numpy as np, tangere\n"
        "model = tangere.load(tangere.scenes.path('arm.xml'))\n"
        "sim = tangere.Simulator(model, num_envs=3, threads=2)\n"
        "sim.step(5)\n"
        "q, v, clock, body = sim.q, sim.v, sim.time, sim.body(0)\n"
        "shared = np.from_dlpack(sim.q)\n"
        "hit = tangere.Sphere(1).ray_cast([-3, 0, 0], [1, 0, 0])\n"
        "sap = tangere.SimulationOptions().sap\n"
        "kept = q.copy()\n"
        "del sim, model\n"
        "gc.collect()\n"
        "junk = [np.full(1000, 7.0) for _ in range(1000)]\n"
        "assert np.array_equal(q, kept) and np.array_equal(shared, kept)\n"
        "body.apply_force([1, 0, 0])\n"
        "assert body.position.shape == (3, 3)\n"
        "sap.max_iterations = 3\n"
        "q[:] = 0; v[:] = 0\n"
        "assert shared.sum() == 0 and hit.t == 2.0 and clock.shape == (3,)\n"
        "del body\n"
        "gc.collect()\n"
        "assert q.sum() == 0\n"
    )
    run = in_another_process(code)
    assert run.returncode == 0, run.stderr


def test_what_is_written_during_a_step_is_not_torn(pendulum: tangere.Model) -> None:
    sim = tangere.Simulator(pendulum, num_envs=4, threads=2)
    q, done = sim.q, threading.Event()

    def write() -> None:
        while not done.is_set():
            q[:, 0] = 0.25

    thread = threading.Thread(target=write)
    thread.start()
    for _ in range(50):
        sim.step(5)
    done.set()
    thread.join()
    assert sim.running.all() and np.isfinite(sim.q).all()
    assert sim.steps.tolist() == [250] * 4


def test_bad_files_are_refused_whole(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    sim = tangere.Simulator(make_box_model())
    with tangere.Recorder(tmp_path / "a.h5", sim) as recorder:
        for _ in range(5):
            sim.step()
            recorder.append()
    whole = (tmp_path / "a.h5").read_bytes()
    bad = tmp_path / "bad.h5"
    for length in np.linspace(0, len(whole) - 1, 25).astype(int):
        bad.write_bytes(whole[:length])
        with pytest.raises((tangere.InvalidInput, tangere.FileError)):
            tangere.Recording(bad).read()
    for name in ("noise.h5", "noise.toml", "noise.xml", "noise.obj", "noise.stl", "noise.msh"):
        path = tmp_path / name
        path.write_bytes(rng.integers(0, 256, 4096, dtype=np.uint8).tobytes())
        reader: Callable[[Path], object] = {
            ".h5": tangere.Recording, ".toml": tangere.load, ".xml": tangere.load,
            ".obj": tangere.read_mesh, ".stl": tangere.read_mesh, ".msh": tangere.read_tet_mesh,
        }[path.suffix]
        with pytest.raises((tangere.InvalidInput, tangere.FileError), match="noise"):
            reader(path)
