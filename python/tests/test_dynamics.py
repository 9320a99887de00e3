# SPDX-License-Identifier: Apache-2.0
"""Mass matrix, forces, Jacobians, energies."""

from __future__ import annotations

import numpy as np
import pytest

import tangere
from conftest import make_box_model


@pytest.fixture
def moving(pendulum: tangere.Model) -> tangere.Simulator:
    sim = tangere.Simulator(pendulum, num_envs=2)
    rng = np.random.default_rng(2)
    sim.q[:, :2] = rng.uniform(-1, 1, (2, 2))
    sim.v = rng.uniform(-1, 1, (2, 8))
    return sim


def test_the_mass_matrix_is_symmetric_and_gives_the_kinetic_energy(
    moving: tangere.Simulator,
) -> None:
    matrix = moving.mass_matrix()
    assert matrix.shape == (2, 8, 8)
    assert np.array_equal(matrix, matrix.transpose(0, 2, 1))
    energy = 0.5 * np.einsum("ei,eij,ej->e", moving.v, matrix, moving.v)
    assert moving.kinetic_energy() == pytest.approx(energy, rel=1e-12)


def test_forward_and_inverse_dynamics_undo_each_other(moving: tangere.Simulator) -> None:
    force = np.linspace(-1, 1, 8)
    acceleration = moving.forward_dynamics(force)
    assert moving.inverse_dynamics(acceleration) == pytest.approx(np.tile(force, (2, 1)), abs=1e-9)
    residual = np.einsum("eij,ej->ei", moving.mass_matrix(), acceleration) + moving.bias_force()
    assert residual == pytest.approx(np.tile(force, (2, 1)), abs=1e-9)
    assert moving.passive_force()[:, 0] == pytest.approx(-0.1 * moving.v[:, 0])


def test_a_jacobian_is_the_velocity_of_a_point(moving: tangere.Simulator) -> None:
    point = moving.body("lower").position
    jacobian = moving.jacobian("lower", point)
    assert jacobian.shape == (2, 6, 8)
    velocity = np.einsum("eij,ej->ei", jacobian, moving.v)
    assert velocity[:, :3] == pytest.approx(moving.body("lower").linear_velocity, abs=1e-12)
    assert velocity[:, 3:] == pytest.approx(moving.body("lower").angular_velocity, abs=1e-12)
    with pytest.raises(tangere.InvalidInput, match="did you mean 'lower'"):
        moving.jacobian("lowr", point)
    with pytest.raises(ValueError, match="point must have the shape"):
        moving.jacobian("lower", [0, 0])


def test_momentum_and_the_centre_of_mass(pendulum: tangere.Model) -> None:
    sim = tangere.Simulator(pendulum)
    sim.v[0, 2:5] = [1, 2, 3]
    mass = pendulum.mass_properties("ball").mass
    assert sim.momentum()[0, :3] == pytest.approx(mass * np.array([1, 2, 3]))
    assert sim.center_of_mass().shape == (1, 3)
    total = sum(pendulum.mass_properties(b).mass for b in pendulum.body_names)
    assert sim.potential_energy()[0] == pytest.approx(total * 9.81 * sim.center_of_mass()[0, 2])


def test_positions_are_integrated_and_differentiated(moving: tangere.Simulator) -> None:
    further = moving.integrate_positions(moving.q, moving.v, 0.1)
    back = moving.differentiate_positions(moving.q, further)
    assert back == pytest.approx(0.1 * moving.v, abs=1e-12)
    assert np.linalg.norm(further[:, 5:9], axis=1) == pytest.approx([1, 1], abs=1e-14)


def test_models_without_coordinates_are_refused() -> None:
    with pytest.raises(ValueError, match="solver"):
        tangere.Simulator(make_box_model("impulse")).mass_matrix()
