# SPDX-License-Identifier: Apache-2.0
"""Contact handlers in Python: what they do, and what happens when they fail."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest

import tangere
from conftest import make_box_model


class Spring(tangere.ContactHandler):
    """Holds the height of a body at a place, like a critically damped spring."""

    def __init__(self, body: int, height: float, stiffness: float = 1000.0) -> None:
        self.body, self.height, self.stiffness = body, height, stiffness
        self.calls: list[str] = []

    def detect(self, view: tangere.HandlerView) -> int:
        self.calls.append("detect")
        self.view = view
        self.place = view.pose(self.body)[:3, 3]
        assert view.num_bodies == 2 and view.dt == 0.002 and view.time >= 0
        assert view.center_of_mass(self.body) == pytest.approx(self.place)
        assert view.velocity_at(self.body, self.place).shape == (3,)
        assert view.angular_velocity(-1).tolist() == [0, 0, 0]
        return 1

    def rows(self, i: int) -> tangere.ConstraintRows:
        row = tangere.ConstraintRow(
            direction=[0, 0, 1], point1=self.place, point2=self.place, is_angular=False
        )
        return tangere.ConstraintRows(self.body, -1, rows=[row])

    def prepare(self, i: int, dt: float, delassus: np.ndarray) -> None:
        assert delassus.shape == (1, 1)
        self.dt, self.damping = dt, 2 * np.sqrt(self.stiffness / delassus[0, 0])

    def evaluate(self, i: int, velocity: np.ndarray) -> tuple[float, Any, Any]:
        slope = self.dt * (self.stiffness * self.dt + self.damping)
        pull = self.dt * self.stiffness * (self.place[2] - self.height)
        v = float(velocity[0])
        return pull * v + 0.5 * slope * v * v, [-(pull + slope * v)], [[slope]]


def hung(num_envs: int = 1, threads: int = 1) -> tuple[tangere.Simulator, Spring]:
    sim = tangere.Simulator(make_box_model(height=1.0), num_envs, threads)
    spring = Spring(sim.model.body_index("box"), 1.0)
    assert sim.add_contact_handler(spring, env=num_envs - 1) == 0
    return sim, spring


@pytest.mark.parametrize(("num_envs", "threads"), [(1, 1), (3, 2)])
def test_a_spring_holds_the_box_that_it_is_given(num_envs: int, threads: int) -> None:
    sim, _ = hung(num_envs, threads)
    sim.step(1000)
    heights = sim.body("box").position[:, 2]
    assert heights[-1] == pytest.approx(1.0 - 8 * 9.81 / 1000.0, abs=1e-4)
    assert heights[:-1] == pytest.approx([0.1] * (num_envs - 1), abs=1e-3)
    force = sim.handler_forces(0, env=num_envs - 1)[0]
    assert isinstance(force, tangere.HandlerForce)
    assert force.force == pytest.approx([8 * 9.81], rel=1e-3)
    assert (force.constraint, force.body1, force.body2) == (0, 0, -1)
    assert abs(force.velocity[0]) < 1e-4
    with pytest.raises(tangere.InvalidInput, match="there is no handler 3"):
        sim.handler_forces(3)


def test_rollouts_and_advance_to_ask_handlers_too() -> None:
    sim, spring = hung()
    sim.rollout(num_steps=4)
    sim.advance_to(0.02)
    assert spring.calls == ["detect"] * 10
    two, spring = hung(2)
    two.reset(mask=[True, False])
    two.step()
    two.reset(mask=[True, False])
    two.advance_to(0.01)  # not all have as far to go
    assert two.time == pytest.approx([0.01, 0.01])


class Broken(Spring):
    """Fails in one of its functions, in its third step."""

    def __init__(self, where: str, how: str) -> None:
        super().__init__(0, 1.0)
        self.where, self.how, self.step = where, how, 0
        self.sim: tangere.Simulator | None = None

    def detect(self, view: tangere.HandlerView) -> int:
        self.step += 1
        return self.fails("detect", super().detect(view))

    def rows(self, i: int) -> tangere.ConstraintRows:
        return self.fails("rows", super().rows(i))

    def prepare(self, i: int, dt: float, delassus: np.ndarray) -> None:
        super().prepare(i, dt, delassus)
        self.fails("prepare", None)

    def evaluate(self, i: int, velocity: np.ndarray) -> tuple[float, Any, Any]:
        return self.fails("evaluate", super().evaluate(i, velocity))

    def fails(self, where: str, result: Any) -> Any:
        if where != self.where or self.step < 3:
            return result
        if self.how == "raise":
            raise KeyError("boom")
        if self.how == "step":
            assert self.sim is not None
            self.sim.step()
        if self.how == "nan":
            return (float("nan"), [0.0], [[1.0]])
        if self.how == "nan impulse":
            return (0.0, [float("nan")], [[1.0]])
        if self.how in ("nan row", "no body", "one body"):
            row = tangere.ConstraintRow([0, 0, float("nan") if self.how == "nan row" else 1.0])
            body2 = {"no body": 7, "one body": 0}.get(self.how, -1)
            return tangere.ConstraintRows(body1=0, body2=body2, rows=[row])
        if self.how == "shape":
            return (0.0, [0.0, 1.0], [[1.0]])
        return self.how  # text where something else is due


@pytest.mark.parametrize("num_envs", [1, 2])
@pytest.mark.parametrize(
    ("where", "how", "error", "message"),
    [
        ("detect", "raise", KeyError, "boom"),
        ("rows", "raise", KeyError, "boom"),
        ("prepare", "raise", KeyError, "boom"),
        ("evaluate", "raise", KeyError, "boom"),
        ("detect", "step", RuntimeError, "callback of its own"),
        ("evaluate", "step", RuntimeError, "callback of its own"),
        ("evaluate", "nan", ValueError, "cost that is not finite"),
        ("evaluate", "nan impulse", ValueError, "impulse that is not finite"),
        ("evaluate", "shape", ValueError, r"shape \(1,\), found \(2,\)"),
        ("evaluate", "text", TypeError, "a cost, an impulse and a Hessian"),
        ("detect", "text", TypeError, r"what detect\(\) returns must be an integer"),
        ("rows", "nan row", ValueError, r"rows\(\) gave a direction that is not finite, in row 0"),
        ("rows", "no body", ValueError, r"rows\(\) gave body 7: the model has 2; -1 is the world"),
        ("rows", "one body", ValueError, r"rows\(\) gave body 0 twice"),
        ("rows", "text", TypeError, r"what rows\(\) returns must be a ConstraintRows"),
    ],
)
def test_a_handler_that_fails_ends_the_step_and_nothing_has_changed(
    num_envs: int, where: str, how: str, error: type[Exception], message: str
) -> None:
    sim = tangere.Simulator(make_box_model(height=1.0), num_envs)
    handler = Broken(where, how)
    handler.sim = sim
    sim.add_contact_handler(handler)
    for call in (lambda: sim.step(10), lambda: sim.advance_to(1.0), lambda: sim.rollout(num_steps=5)):
        sim.reset()
        handler.step = 0
        with pytest.raises(error, match=message):
            call()
        assert sim.steps.tolist() == [2] * num_envs
        hashes = [sim.state_hash(env) for env in range(num_envs)]
        handler.step = -1
        sim.step()  # and goes on
        assert sim.steps.tolist() == [3] * num_envs
        assert hashes != [sim.state_hash(env) for env in range(num_envs)]


def test_what_is_no_handler_is_refused() -> None:
    with pytest.raises(tangere.InvalidInput, match="SAP|sap"):
        tangere.Simulator(make_box_model("impulse")).add_contact_handler(Spring(0, 1.0))
    sim, spring = hung(2)
    with pytest.raises(tangere.InvalidInput, match="added before"):
        sim.add_contact_handler(spring)
    with pytest.raises(tangere.InvalidInput, match="there is no environment 7"):
        sim.add_contact_handler(Spring(0, 1.0), env=7)
    for num_envs in (1, 2):
        sim, _ = hung(num_envs)
        with pytest.raises(tangere.InvalidInput, match="handlers"):
            sim.set_parameters(tangere.ModelParameters(), env=num_envs - 1)
    bare = tangere.ContactHandler()
    sim = tangere.Simulator(make_box_model())
    sim.add_contact_handler(bare)
    with pytest.raises(NotImplementedError, match="detect"):
        sim.step()
    for call in (lambda: bare.rows(0), lambda: bare.evaluate(0, np.zeros(1))):
        with pytest.raises(NotImplementedError):
            call()
    bare.prepare(0, 0.1, np.zeros((1, 1)))


def test_a_view_is_of_no_use_after_detect() -> None:
    sim, spring = hung()
    sim.step()
    with pytest.raises(RuntimeError, match="within detect"):
        spring.view.pose(0)
    with pytest.raises(RuntimeError, match="within detect"):
        _ = spring.view.time


def test_wrong_bodies_are_refused_by_the_view() -> None:
    class Lost(Spring):
        def detect(self, view: tangere.HandlerView) -> int:
            view.pose(99)
            return 0

    sim = tangere.Simulator(make_box_model())
    sim.add_contact_handler(Lost(0, 1.0))
    with pytest.raises(tangere.InvalidInput, match="there is no body 99"):
        sim.step()


def test_a_handler_that_knows_its_simulator_is_collected_with_it() -> None:
    sim = tangere.Simulator(make_box_model())
    handler = Broken("nowhere", "")
    handler.sim = sim
    sim.add_contact_handler(handler)
    sim.step()
    gone = weakref.ref(sim)
    del sim, handler
    gc.collect()
    assert gone() is None
