# SPDX-License-Identifier: Apache-2.0
"""Soft bodies: arrays, forces, pressure contacts."""

from __future__ import annotations

import numpy as np
import pytest

import tangere


@pytest.fixture(scope="module")
def soft_model() -> tangere.Model:
    builder = tangere.ModelBuilder()
    builder.set_options(solver="sap", dt=0.005)
    builder.add_material(tangere.Material("rubber", density=1000, friction=0.8))
    builder.add_body(tangere.Body("floor", type="fixed", shapes=[tangere.Plane()]))
    mesh, _ = tangere.mesh_shape(tangere.Box([0.05, 0.05, 0.05]), resolution=0.05)
    builder.add_soft_body(
        tangere.SoftBody(
            "cube",
            mesh,
            pose=[0, 0, 0.0505],
            material="rubber",
            elasticity=tangere.Elasticity(young=1e5, damping=0.01),
        )
    )
    return builder.build("soft")


def test_vertices_lead_with_the_environment(soft_model: tangere.Model) -> None:
    sim = tangere.Simulator(soft_model, num_envs=2)
    cube = sim.soft("cube")
    assert isinstance(cube, tangere.SoftView)
    count = soft_model.num_soft_vertices
    assert soft_model.soft_body_names == ["cube"]
    assert soft_model.soft_mass("cube") == pytest.approx(1.0)
    assert cube.positions.shape == cube.velocities.shape == (2, count, 3)
    assert cube.tets.shape[1] == 4 and cube.surface.shape[1] == 3
    assert cube.tets.tobytes() == soft_model.soft_mesh("cube").tets.tobytes()
    assert cube.stress().shape == (2, len(cube.tets), 3, 3)
    assert (cube.name, cube.index) == ("cube", 0)
    assert sim.soft("cube", env=1).positions.shape == (count, 3)
    with pytest.raises(tangere.InvalidInput, match="did you mean 'cube'"):
        sim.soft("cbe")


def test_a_soft_cube_rests_and_its_weight_is_felt(soft_model: tangere.Model) -> None:
    sim = tangere.Simulator(soft_model)
    sim.step(200)
    polygons = sim.pressure_contacts()
    assert len(polygons) > 0
    up = np.where(polygons["name1"] == "cube", 1.0, -1.0)
    assert (up * polygons["force1"][:, 2]).sum() == pytest.approx(9.81, rel=0.02)
    assert np.array_equal(polygons["force1"], -polygons["force2"])
    assert {*polygons["name1"], *polygons["name2"]} == {"cube", "floor"}
    assert polygons["num_vertices"].min() >= 3
    assert sim.report().num_pressure_polygons == len(polygons)
    assert polygons["area"].sum() == pytest.approx(0.01, rel=0.1)


def test_vertices_are_set_pushed_driven_and_released(soft_model: tangere.Model) -> None:
    sim = tangere.Simulator(soft_model, num_envs=2)
    cube = sim.soft("cube")
    lifted = cube.positions[0] + [0, 0, 1.0]
    cube.set_positions(lifted)
    cube.set_velocities(np.zeros_like(cube.velocities))
    assert np.array_equal(cube.positions[1], lifted)
    top = int(np.argmax(lifted[:, 2]))
    sim.soft("cube", env=0).apply_force(top, [0, 0, 50])
    sim.step()
    assert cube.velocities[0, top, 2] > cube.velocities[1, top, 2]
    target = cube.positions[1, top] + [0, 0, 0.001]
    sim.soft("cube", env=1).drive_vertex(top, target)
    saved = sim.state()
    sim.step(3)
    assert cube.positions[1, top] == pytest.approx(target, abs=1e-9)
    expected = sim.state_hash(1)
    sim.reset()  # the target is part of a state
    sim.set_state(saved)
    sim.step(3)
    assert sim.state_hash(1) == expected
    sim.soft("cube", env=1).release_vertex(top)
    sim.step(3)
    assert cube.positions[1, top, 2] != pytest.approx(target[2], abs=1e-9)
    with pytest.raises(ValueError):
        cube.set_positions(np.zeros((3, 3)))
    with pytest.raises(ValueError):
        cube.drive_vertex(10**6, [0, 0, 0])


def test_two_soft_bodies_that_would_pass_each_other_are_both_named() -> None:
    builder = tangere.ModelBuilder()
    builder.set_options(solver="sap", dt=0.02, gravity=[0, 0, 0])
    builder.add_material(tangere.Material("rubber", density=1000))
    mesh, _ = tangere.mesh_shape(tangere.Box([0.05, 0.05, 0.05]), resolution=0.05)
    for name, height, speed in [("still", 0.0, 0.0), ("shot", 1.0, -3000.0)]:
        builder.add_soft_body(
            tangere.SoftBody(name, mesh, pose=[0, 0, height], linear_velocity=[0, 0, speed],
                             material="rubber"))
    sim = tangere.Simulator(builder.build("shot"))
    before = sim.soft("shot").positions.copy()
    sim.step(1)
    report = sim.report()
    # 60 m in a step, 0.9 m in each of 64 parts: nothing keeps cubes of 0.1 m apart.
    assert tangere.StepStatus.MAY_HAVE_CROSSED in report.status
    assert {report.soft, report.soft2} == {0, 1}
    assert np.array_equal(sim.soft("shot").positions, before)
