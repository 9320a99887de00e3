# SPDX-License-Identifier: Apache-2.0
"""A Gymnasium environment of an arm that should stay still, and a policy found by chance."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import tangere
import tangere.gym
from tangere.gym import Array


class StandStill(tangere.gym.VectorEnv):
    def reward(self, actions: Array) -> Array:
        speed: Array = np.abs(self.sim.v).sum(axis=1)
        return -speed

    def on_reset(self, envs: NDArray[np.int64]) -> None:
        for env in envs:
            self.sim.v[env] = self.rngs[env].normal(0.0, 0.1, self.sim.v.shape[1])


def returns(envs: StandStill, gain: Array, steps: int) -> Array:
    """Sum of the rewards of each environment under actions -gain v."""
    envs.reset(seed=1)
    total = np.zeros(envs.num_envs)
    columns = envs.single_action_space.shape[0]
    for _ in range(steps):
        actions = -gain[:, np.newaxis] * envs.sim.v[:, :columns]
        total += envs.step(np.clip(actions, envs.action_space.low, envs.action_space.high))[1]
    return total


def main() -> None:
    model = tangere.load(tangere.scenes.path("arm.xml"))
    gain = np.linspace(0.0, 2.0, 8)
    envs = StandStill(model, num_envs=len(gain), frame_skip=5, threads=2)
    total = returns(envs, gain, steps=40)
    print(f"the best of {len(gain)} gains is {gain[total.argmax()]:.2f}")
    assert np.isfinite(total).all()
    envs.close()


if __name__ == "__main__":
    main()
