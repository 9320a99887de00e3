# SPDX-License-Identifier: Apache-2.0
"""Sixteen arms with random masses and random controls, in one call, on two threads; then the best
of them goes on alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import tangere

NUM_ENVS = 16
NUM_STEPS = 200


def main() -> None:
    model = tangere.load(tangere.scenes.path("arm.xml"))
    sim = tangere.Simulator(model, num_envs=NUM_ENVS, threads=2)
    sim.reset(seed=3)
    parameters = [
        tangere.ModelParameters(masses=[tangere.MassScale(model.joint_body(0), factor)])
        for factor in sim.rng.uniform(0.8, 1.2, NUM_ENVS).tolist()
    ]
    for env in range(NUM_ENVS):
        sim.set_parameters(parameters[env], env=env)

    controls = sim.rng.uniform(-1.0, 1.0, (NUM_ENVS, NUM_STEPS, model.num_actuators))
    result = sim.rollout(controls)
    moved: NDArray[np.float64] = np.abs(np.diff(result.q, axis=1)).sum(axis=(1, 2))
    best = int(moved.argmax())
    print(f"environment {best} moved the most: {moved[best]:.2f} rad")

    # Its state goes into a simulator of its own, of the same masses; another process could do so.
    state = sim.state(env=best)
    alone = tangere.Simulator(model.with_parameters(parameters[best]))
    alone.set_state(state)
    assert np.array_equal(alone.q[0], sim.q[best])
    alone.step(50)
    print(f"and is at {alone.q[0].round(3)} after {float(alone.time[0]):.2f} s")


if __name__ == "__main__":
    main()
