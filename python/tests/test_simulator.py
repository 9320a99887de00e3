# SPDX-License-Identifier: Apache-2.0
"""The simulator: arrays without copies, steps, contacts, states, threads, faults."""

from __future__ import annotations

import gc
import json
import os
import pickle
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import tangere
from conftest import make_box_model


def address(array: np.ndarray) -> int:
    return int(array.__array_interface__["data"][0])


def test_coordinates_are_views_whose_memory_never_moves(pendulum: tangere.Model) -> None:
    sim = tangere.Simulator(pendulum, num_envs=3)
    for name, width in (("q", 9), ("v", 8), ("controls", 2)):
        array = getattr(sim, name)
        assert array.shape == (3, width)
        assert array.flags.c_contiguous and not array.flags.owndata
        assert address(getattr(sim, name)) == address(array)
    q, v, clock = sim.q, sim.v, sim.time
    places = [address(a) for a in (q, v, clock)]
    before = q.copy()
    sim.step(5)
    assert not np.array_equal(q, before)  # the old view shows the new state
    sim.reset()
    sim.set_state(sim.state())
    sim.q = before
    sim.rollout(num_steps=3)
    sim.advance_to(0.1)
    assert [address(a) for a in (sim.q, sim.v, sim.time)] == places
    assert clock.tolist() == sim.time.tolist()


def test_a_view_outlives_its_simulator(pendulum: tangere.Model) -> None:
    sim = tangere.Simulator(pendulum)
    sim.step(10)
    q = sim.q
    kept = q.copy()
    del sim
    gc.collect()
    assert np.array_equal(q, kept)


def test_time_cannot_be_written(pendulum: tangere.Model) -> None:
    sim = tangere.Simulator(pendulum)
    with pytest.raises(ValueError, match="read-only"):
        sim.time[0] = 1


def test_dlpack_shares_the_memory_both_ways(pendulum: tangere.Model) -> None:
    sim = tangere.Simulator(pendulum, num_envs=2)
    shared = np.from_dlpack(sim.q)
    assert address(shared) == address(sim.q)
    assert sim.q.__dlpack_device__() == (1, 0)

    class OnlyDlpack:
        """An array of a library that NumPy knows nothing about."""

        def __init__(self, array: np.ndarray) -> None:
            self._array = array

        def __dlpack__(self, **kwargs: object) -> object:
            return self._array.__dlpack__(**kwargs)

        def __dlpack_device__(self) -> tuple[int, int]:
            return self._array.__dlpack_device__()

    target = sim.v + 1.0
    sim.v = OnlyDlpack(target)  # type: ignore[assignment]
    assert np.array_equal(sim.v, target)


def test_what_is_written_into_the_arrays_counts_from_the_next_call(pendulum: tangere.Model) -> None:
    sim = tangere.Simulator(pendulum, num_envs=2)
    sim.q[1, 0] = 0.5
    sim.v[1, 1] = -1.0
    sim.controls[1] = [0.3, 0.1]
    assert sim.body("lower", env=1).position[0] != sim.body("lower", env=0).position[0]
    other = tangere.Simulator(pendulum)
    other.q = [0.5, 0, *sim.q[1, 2:]]
    other.v = [0, -1, *[0] * 6]
    other.controls = [0.3, 0.1]
    sim.step(20)
    other.step(20)
    assert sim.state_hash(1) == other.state_hash()
    sim.q[0, 5:9] = [2, 0, 0, 0]  # quaternions are made unit
    sim.step(0)
    assert sim.q[0, 5:9].tolist() == [1, 0, 0, 0]


@pytest.mark.parametrize("name", ["q", "v", "controls"])
@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_numbers_that_are_not_finite_are_refused_and_nothing_changes(
    pendulum: tangere.Model, name: str, bad: float
) -> None:
    sim = tangere.Simulator(pendulum, num_envs=2)
    sim.step(3)
    before, kept = sim.state(), getattr(sim, name).copy()
    getattr(sim, name)[1, 0] = bad
    with pytest.raises(ValueError, match=f"{name} of environment 1"):
        sim.step()
    assert np.array_equal(getattr(sim, name), kept)
    assert sim.state() == before
    values = kept.copy()
    values[0, 0] = bad
    with pytest.raises(ValueError):
        setattr(sim, name, values)
    assert sim.state() == before


def test_arrays_of_another_shape_or_type_are_refused(pendulum: tangere.Model) -> None:
    sim = tangere.Simulator(pendulum, num_envs=2)
    before = sim.state()
    for wrong in (np.zeros((2, 8)), np.zeros((3, 9)), np.zeros(4), [["a"] * 9] * 2):
        with pytest.raises(ValueError, match="q must"):
            sim.q = wrong  # type: ignore[assignment]
    strided = np.zeros((2, 18))[:, ::2]
    strided[:] = sim.q
    sim.q = strided  # another layout is fine
    assert sim.state() == before
    with pytest.raises(ValueError, match=r"mask must have the shape \(2,\), found \(3,\)"):
        sim.reset(mask=[True, False, True])


def test_a_box_rests_on_the_floor_and_its_weight_is_felt(box_model: tangere.Model) -> None:
    sim = tangere.Simulator(box_model)
    sim.step(500)
    contacts = sim.contacts()
    assert len(contacts) == 4
    weight = 8 * 9.81
    sign = 1 if contacts["name1"][0] == "box" else -1
    assert (sign * contacts["force1"][:, 2]).sum() == pytest.approx(weight, rel=1e-3)
    assert np.array_equal(contacts["force1"], -contacts["force2"])
    assert {*contacts["name1"], *contacts["name2"]} == {"box", "floor"}
    assert len(set(contacts["id"])) == 4
    assert set(contacts["patch"]) == {0}
    assert np.all(contacts["env"] == 0)
    assert (sign * contacts["normal"])[:, 2] == pytest.approx([1] * 4)
    ids = set(contacts["id"])
    sim.step(100)
    assert set(sim.contacts()["id"]) == ids
    assert contacts["depth"].max() < 1e-3
    assert sim.report().num_contacts == 4
    assert sim.describe() == ""


def test_contacts_are_copies_that_do_not_change_later() -> None:
    sim = tangere.Simulator(make_box_model(height=0.3))
    sim.step()
    assert len(sim.contacts()) == 0
    assert sim.contacts().dtype.names is not None
    sim.step(300)
    first = sim.contacts()
    kept = first.copy()
    sim.body("box").apply_force([50, 0, 0])
    sim.step()
    assert first.tobytes() == kept.tobytes()
    assert sim.contacts().tobytes() != kept.tobytes()


def test_what_is_read_after_the_state_was_changed_belongs_to_it() -> None:
    sim = tangere.Simulator(make_box_model(height=0.11))
    sim.step(300)
    on_floor = sim.state()
    assert len(sim.contacts()) == 4
    before = sim.energy().potential
    sim.q[0, 2] += 5.0
    assert len(sim.contacts()) == 0
    assert sim.energy().potential > before + 1.0
    sim.set_state(on_floor)
    assert len(sim.contacts()) == 0
    assert sim.energy().potential == pytest.approx(before)
    sim.step()
    assert len(sim.contacts()) == 4
    sim.reset()
    assert len(sim.contacts()) == 0


def test_contacts_of_many_environments_say_which(box_model: tangere.Model) -> None:
    sim = tangere.Simulator(box_model, num_envs=3)
    sim.q[1, 2] = 5.0
    sim.step(50)
    assert set(sim.contacts()["env"]) == {0, 2}
    assert len(sim.contacts(env=0)) == 4
    assert len(sim.contacts(env=1)) == 0
    with pytest.raises(ValueError, match="there is no environment 3"):
        sim.contacts(env=3)


def test_bodies_by_name_lead_with_the_environment(pendulum: tangere.Model) -> None:
    sim = tangere.Simulator(pendulum, num_envs=2)
    ball = sim.body("ball")
    assert isinstance(ball, tangere.BodyView)
    assert (ball.name, ball.index) == ("ball", pendulum.body_index("ball"))
    assert ball.pose.shape == (2, 4, 4)
    assert ball.position.tolist() == [[1, 0, 0.2]] * 2
    assert ball.quaternion.tolist() == [[1, 0, 0, 0]] * 2
    one = sim.body("ball", env=1)
    assert one.pose.shape == (4, 4)
    one.set_pose([3, 0, 1])
    one.set_velocity([0, 1, 0], [0, 0, 2])
    assert ball.position[1].tolist() == [3, 0, 1]
    assert ball.position[0].tolist() == [1, 0, 0.2]
    assert one.linear_velocity.tolist() == [0, 1, 0]
    assert one.angular_velocity.tolist() == [0, 0, 2]
    assert sim.q[1, 2:5].tolist() == [3, 0, 1]  # the coordinates follow
    assert sim.body_positions()[1, ball.index].tolist() == [3, 0, 1]
    assert sim.body_quaternions().shape == (2, pendulum.num_bodies, 4)
    assert sim.body_velocities()[1, ball.index].tolist() == [0, 1, 0, 0, 0, 2]
    ball.set_velocity([[1, 0, 0], [2, 0, 0]], [0, 0, 0])
    assert ball.linear_velocity[:, 0].tolist() == [1, 2]
    with pytest.raises(tangere.InvalidInput, match=r"no body is called 'bal' .did you mean 'ball'"):
        sim.body("bal")
    with pytest.raises(tangere.InvalidInput, match="moved by joints"):
        sim.body("upper").set_pose([0, 0, 0])
    with pytest.raises(ValueError, match="rigid"):
        one.set_pose([0, 0, float("nan")])
    assert "ball" in repr(ball)


def test_a_force_pushes_for_one_step(box_model: tangere.Model) -> None:
    sim = tangere.Simulator(box_model)
    sim.body("box").set_pose([0, 0, 5])
    sim.body("box").apply_force([8, 0, 0], [0, 0, 0])
    sim.step()
    assert sim.body("box").linear_velocity[0, 0] == pytest.approx(0.002)
    sim.step()
    assert sim.body("box").linear_velocity[0, 0] == pytest.approx(0.002)
    with pytest.raises(ValueError):
        sim.body("box").apply_force([float("nan"), 0, 0])


def test_joint_forces_actuators_and_sensors(pendulum: tangere.Model) -> None:
    sim = tangere.Simulator(pendulum, num_envs=2)
    forces = np.zeros((2, 8))
    forces[1, 0] = 1.0
    sim.apply_joint_forces(forces)
    sim.step()
    assert sim.v[0, 0] == 0 and sim.v[1, 0] > 0
    sim.controls[0, 1] = 0.5
    sim.step()
    assert sim.actuator_forces()[0, 1] == pytest.approx(10.0, rel=0.05)
    readings = sim.sensors()
    assert readings.shape == (2, 2)
    assert readings[:, 0].tolist() == sim.q[:, 0].tolist()
    with pytest.raises(ValueError, match=r"forces must have the shape \(2, 8\) or \(8,\)"):
        sim.apply_joint_forces(np.zeros(3))


def test_partial_reset_and_keyframes(pendulum: tangere.Model) -> None:
    sim = tangere.Simulator(pendulum, num_envs=3, threads=2)
    start = sim.q.copy()
    sim.controls = [1.0, 0.2]
    sim.step(10)
    sim.reset(mask=np.array([False, True, False]), seed=4)
    assert sim.steps.tolist() == [10, 0, 10]
    assert sim.time[1] == 0
    assert np.array_equal(sim.q[1], start[1])
    assert sim.controls.tolist() == [[1.0, 0.2], [0, 0], [1.0, 0.2]]
    assert sim.rng.random() == np.random.default_rng(4).random()
    sim.reset_to_keyframe("raised", mask=[True, False, False])
    assert sim.q[0, :2].tolist() == [1.5, 0.5]
    assert sim.controls[0].tolist() == [0.25, 0.5]
    assert sim.steps[2] == 10
    with pytest.raises(tangere.InvalidInput, match="did you mean 'raised'"):
        sim.reset_to_keyframe("raise")


def test_after_a_reset_a_run_repeats_bit_by_bit(pendulum: tangere.Model) -> None:
    sim = tangere.Simulator(pendulum)
    hashes = []
    for _ in range(2):
        sim.controls = [0.5, 0.1]
        sim.step(100)
        hashes.append(sim.state_hash())
        sim.reset()
    assert hashes[0] == hashes[1]


def test_a_state_goes_on_to_the_same_bits(pendulum: tangere.Model) -> None:
    sim = tangere.Simulator(pendulum, num_envs=2)
    sim.controls = [[0.5, 0.1], [-0.5, 0.2]]
    sim.step(50)
    saved = sim.state()
    assert isinstance(saved, bytes) and saved.num_envs == 2
    sim.step(50)
    expected = sim.state()
    other = tangere.Simulator(pickle.loads(pickle.dumps(pendulum)), num_envs=2, threads=2)
    other.set_state(pickle.loads(pickle.dumps(saved)))
    assert other.controls.tolist() == sim.controls.tolist()
    other.step(50)
    assert other.state() == expected
    assert "2 environment(s)" in repr(saved)
    one = sim.state(env=1)
    assert one.num_envs == 1
    other.set_state(one, mask=[True, False])
    assert other.state_hash(0) == sim.state_hash(1)
    other.set_state(one)
    assert other.state_hash(1) == sim.state_hash(1)


def test_cut_damaged_and_foreign_states_are_refused(
    pendulum: tangere.Model, box_model: tangere.Model
) -> None:
    sim = tangere.Simulator(box_model)
    sim.step(10)
    saved = bytes(sim.state())
    for length in range(0, len(saved), max(1, len(saved) // 60)):
        with pytest.raises(ValueError):
            sim.set_state(saved[:length])
    rng = np.random.default_rng(5)
    for at in rng.integers(0, len(saved), 200):
        flipped = bytearray(saved)
        flipped[at] ^= 1 << int(rng.integers(8))
        with pytest.raises(ValueError):
            sim.set_state(bytes(flipped))
    with pytest.raises(ValueError, match="model"):
        sim.set_state(tangere.Simulator(pendulum).state())
    with pytest.raises(ValueError, match="2 environments"):
        tangere.Simulator(box_model, num_envs=3).set_state(
            tangere.Simulator(box_model, num_envs=2).state()
        )
    assert bytes(sim.state()) == saved


@pytest.mark.parametrize("scene", ["stack.toml", "arm.xml", "clutter.toml"])
def test_threads_change_no_bit(scene: str) -> None:
    model = tangere.load(tangere.scenes.path(scene))
    hashes = set()
    for num_envs, threads in ((1, 1), (1, 2), (3, 1), (3, 2)):
        sim = tangere.Simulator(model, num_envs=num_envs, threads=threads)
        sim.step(60)
        hashes |= {sim.state_hash(env) for env in range(num_envs)}
    assert len(hashes) == 1


@pytest.mark.parametrize("scene", ["stack.toml", "arm.xml", "soft_ball.toml"])
def test_the_state_hash_is_that_of_the_command_line(scene: str, command_line: str) -> None:
    path = tangere.scenes.path(scene)
    run = subprocess.run(
        [command_line, "run", str(path), "--steps", "40", "--json"],
        capture_output=True, text=True, check=True,
    )
    sim = tangere.Simulator(tangere.load(path))
    sim.step(40)
    assert f"{sim.state_hash():016x}" == json.loads(run.stdout)["state_hash"]


def test_rollout_gives_what_single_steps_give(pendulum: tangere.Model) -> None:
    rng = np.random.default_rng(0)
    controls = rng.uniform(-1, 1, (4, 30, 2))
    sim = tangere.Simulator(pendulum, num_envs=4, threads=2)
    result = sim.rollout(controls)
    assert isinstance(result, tangere.Rollout)
    assert result.q.shape == (4, 30, 9) and result.v.shape == (4, 30, 8)
    single = tangere.Simulator(pendulum)
    for env in range(4):
        single.reset()
        for step in range(30):
            single.controls = controls[env, step]
            single.step()
            assert np.array_equal(single.q[0], result.q[env, step])
            assert np.array_equal(single.v[0], result.v[env, step])
    assert np.array_equal(sim.q, result.q[:, -1])
    alone = tangere.Simulator(pendulum, threads=2)
    assert np.array_equal(alone.rollout(controls[0]).q[0], result.q[0])
    sim.reset()
    shared = sim.rollout(controls[0])
    assert np.array_equal(shared.q[3], result.q[0])
    sim.controls = controls[0, 0]
    assert sim.rollout(num_steps=5).q.shape == (4, 5, 9)


def test_a_rollout_refuses_wrong_controls(pendulum: tangere.Model) -> None:
    sim = tangere.Simulator(pendulum, num_envs=2)
    for wrong in (np.zeros((2, 5, 3)), np.zeros((3, 5, 2)), np.zeros(2)):
        with pytest.raises(ValueError, match="controls must have the shape"):
            sim.rollout(wrong)
    with pytest.raises(ValueError, match="finite"):
        sim.rollout(np.full((2, 5, 2), np.nan))
    with pytest.raises(ValueError, match="needs controls or num_steps"):
        sim.rollout()
    with pytest.raises(ValueError, match="num_steps is 3"):
        sim.rollout(np.zeros((2, 5, 2)), num_steps=3)
    assert sim.steps.tolist() == [0, 0]


def test_advance_to_ends_at_the_time(pendulum: tangere.Model) -> None:
    for num_envs in (1, 3):
        sim = tangere.Simulator(pendulum, num_envs=num_envs)
        sim.advance_to(0.1)
        assert sim.time == pytest.approx([0.1] * num_envs)
        sim.advance_to(0.05)  # is over already
        assert sim.time == pytest.approx([0.1] * num_envs)
    sim.reset(mask=[True, False, False])
    sim.advance_to(0.2)  # not all have as far to go
    assert sim.time == pytest.approx([0.2] * 3)
    with pytest.raises(ValueError):
        sim.advance_to(float("inf"))
    with pytest.raises(ValueError):
        sim.step(-1)


def test_the_interpreter_runs_while_a_step_does() -> None:
    sim = tangere.Simulator(tangere.load(tangere.scenes.path("pyramid.toml")))
    ticks, done = [], threading.Event()

    def tick() -> None:
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    begin = time.perf_counter()
    sim.step(100)
    end = time.perf_counter()
    done.set()
    thread.join()
    assert sum(begin < t < end for t in ticks) > 3


def test_a_second_thread_gets_an_error_not_a_crash() -> None:
    sim = tangere.Simulator(tangere.load(tangere.scenes.path("pyramid.toml")))
    errors: list[str] = []
    started = threading.Event()

    def work() -> None:
        started.set()
        sim.step(300)

    thread = threading.Thread(target=work)
    thread.start()
    started.wait()
    while thread.is_alive():
        try:
            sim.contacts()
        except RuntimeError as error:
            errors.append(str(error))
    thread.join()
    assert errors and "another thread" in errors[0]
    sim.step()
    assert sim.steps[0] == 301


def test_an_interrupt_ends_a_long_step_between_two_steps() -> None:
    code = (
        "import sys, tangere\n"
        "sim = tangere.Simulator(tangere.load(tangere.scenes.path('pyramid.toml')))\n"
        "print('go', flush=True)\n"
        "try:\n"
        "    sim.step(10**9)\n"
        "except KeyboardInterrupt:\n"
        "    before = int(sim.steps[0])\n"
        "    sim.step(2)\n"
        "    sys.exit(0 if before > 0 and sim.steps[0] == before + 2 else 1)\n"
        "sys.exit(2)\n"
    )
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "go\n"
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=20) == 0


def test_a_forked_process_is_told_that_the_threads_are_elsewhere(pendulum: tangere.Model) -> None:
    sim = tangere.Simulator(pendulum, num_envs=2, threads=2)
    sim.step()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            sim.step()
        except RuntimeError as error:
            code = 0 if "fork" in str(error) else 2
        os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    sim.step()
    assert sim.steps.tolist() == [2, 2]


def test_a_simulator_is_not_pickled() -> None:
    with pytest.raises(TypeError):
        pickle.dumps(tangere.Simulator(make_box_model()))


def test_wrong_numbers_of_environments_and_threads() -> None:
    model = make_box_model()
    with pytest.raises(ValueError, match="num_envs"):
        tangere.Simulator(model, num_envs=0)
    with pytest.raises(ValueError, match="threads"):
        tangere.Simulator(model, threads=0)
    with pytest.raises((TypeError, RuntimeError)):
        tangere.Simulator("box")  # type: ignore[arg-type]


def test_one_environment_that_stops_leaves_the_others_alone(pendulum: tangere.Model) -> None:
    sim = tangere.Simulator(pendulum, num_envs=3, threads=2)
    alone = tangere.Simulator(pendulum)
    sim.v[1, 2:5] = 1e308  # its position overflows within a step
    sim.step(5)
    alone.step(5)
    assert sim.running.tolist() == [True, False, True]
    assert sim.report(1).status & tangere.StepStatus.STATE_NOT_FINITE
    assert "StateNotFinite" in sim.describe(1)
    assert sim.state_hash(0) == sim.state_hash(2) == alone.state_hash()
    assert np.isfinite(sim.q).all()
    sim.reset(mask=[False, True, False])
    assert sim.running.all()
    sim.step()
    assert sim.steps.tolist() == [6, 1, 6]


def test_a_lone_environment_stops_and_goes_on_after_a_state(pendulum: tangere.Model) -> None:
    sim = tangere.Simulator(pendulum)
    good = sim.state()
    sim.v[0, 2:5] = 1e308
    sim.step(5)
    assert not sim.running[0]
    sim.set_state(good)
    sim.step(3)
    assert sim.running[0] and sim.steps[0] == 3


def test_parameters_of_one_environment(box_model: tangere.Model) -> None:
    for num_envs in (1, 2):
        sim = tangere.Simulator(box_model, num_envs=num_envs)
        sim.set_parameters(
            tangere.ModelParameters(masses=[tangere.MassScale("box", 3.0)]), env=num_envs - 1
        )
        sim.step(300)
        forces = [np.abs(sim.contacts(env)["force1"][:, 2].sum()) for env in range(num_envs)]
        assert forces[-1] == pytest.approx(3 * 8 * 9.81, rel=1e-3)
        assert sim.mass_matrix()[-1, 0, 0] == pytest.approx(24.0)
        if num_envs == 2:
            assert forces[0] == pytest.approx(8 * 9.81, rel=1e-3)
            assert sim.mass_matrix()[0, 0, 0] == pytest.approx(8.0)
    with pytest.raises(tangere.InvalidInput, match="did you mean 'box'"):
        sim.set_parameters(tangere.ModelParameters(masses=[tangere.MassScale("bix", 3.0)]))


def test_the_energy_ledger_adds_up(pendulum: tangere.Model) -> None:
    sim = tangere.Simulator(pendulum)
    sim.q[0, 0] = 1.0
    sim.step()
    before = sim.energy()
    assert isinstance(before, tangere.EnergyLedger)
    assert isinstance(sim.report(), tangere.StepReport)
    sim.step()
    now = sim.energy()
    rows = now.as_dict()
    flows = sum(v for k, v in rows.items() if k not in ("kinetic", "potential"))
    change = now.kinetic + now.potential - before.kinetic - before.potential
    assert flows == pytest.approx(change, abs=1e-9)
    assert now.damping < 0
    assert sim.energy_sum().damping < now.damping
    assert "kinetic=" in repr(now)


def test_profiling_changes_no_bit(box_model: tangere.Model) -> None:
    sim, plain = tangere.Simulator(box_model), tangere.Simulator(box_model)
    sim.set_profiling(True)
    sim.step(20)
    plain.step(20)
    assert sim.state_hash() == plain.state_hash()
    assert sum(sim.profile().values()) > 0


def test_checkpoints_go_on(pendulum: tangere.Model, tmp_path: object) -> None:
    path = f"{tmp_path}/a.ck"
    sim = tangere.Simulator(pendulum, num_envs=2)
    sim.step(20)
    sim.save_checkpoint(path, env=1)
    sim.step(20)
    other = tangere.Simulator(pendulum)
    other.load_checkpoint(path)
    assert other.steps[0] == 20
    other.step(20)
    assert other.state_hash() == sim.state_hash(1)
    with open(path, "r+b") as file:
        file.truncate(50)
    with pytest.raises(tangere.InvalidInput):
        other.load_checkpoint(path)
    with pytest.raises(tangere.FileError):
        other.load_checkpoint(f"{tmp_path}/missing.ck")


@pytest.mark.parametrize("solver", ["impulse", "sap"])
def test_free_bodies_have_coordinates_under_sap_and_positions_under_both(solver: str) -> None:
    sim = tangere.Simulator(make_box_model(solver, height=1.0), num_envs=2)
    assert sim.q.shape == (2, 7 if solver == "sap" else 0)
    sim.step(10)
    assert sim.body("box").position[:, 2] == pytest.approx([1 - 9.81 * 0.02**2 / 2] * 2, abs=3e-4)
    assert "2 environment(s)" in repr(sim)
    assert (sim.num_envs, sim.threads, sim.model.name) == (2, 1, "box")
