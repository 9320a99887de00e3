# SPDX-License-Identifier: Apache-2.0
"""The class Simulator, on top of its compiled half."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tangere._core import Model, SimulatorBase
from tangere._state import State


class Rollout(NamedTuple):
    """Coordinates after each step: (num_envs, steps, ...)."""

    q: NDArray[np.float64]
    v: NDArray[np.float64]


class Simulator(SimulatorBase):
    """Steps one or many environments of a model through time.

    Arrays lead with the environment axis, also with one environment. `q`, `v`, `time` and
    `controls` are views: no copy, and the memory never moves. Everything else is a copy. With one
    environment the threads share its step; with many, each steps some of them. The results are the
    same bits for any number of threads. A simulator belongs to one thread at a time: a second one
    gets a RuntimeError.

    >>> import tangere
    >>> model = tangere.load(tangere.scenes.path("arm.xml"))
    >>> sim = tangere.Simulator(model, num_envs=4)
    >>> sim.q.shape == (4, model.num_positions)
    True
    >>> sim.step(10)
    >>> [round(float(t), 3) for t in sim.time]
    [0.02, 0.02, 0.02, 0.02]
    """

    def __init__(self, model: Model, num_envs: int = 1, threads: int = 1) -> None:
        super().__init__(model, num_envs, threads)
        self.rng: np.random.Generator = np.random.default_rng(0)
        """Random numbers for your own randomizations; the engine draws none."""

    def reset(self, mask: ArrayLike | None = None, seed: int | None = None) -> None:
        """Back to the start, and running again: all environments, or those with a mask.

        Controls become zero and driven vertices are released. With a seed, `rng` begins anew.

        >>> import tangere
        >>> sim = tangere.Simulator(tangere.load(tangere.scenes.path("arm.xml")), num_envs=2)
        >>> sim.step(5)
        >>> sim.reset(mask=[True, False])
        >>> sim.steps.tolist()
        [0, 5]
        """
        # What is no seed is refused before anything changes.
        rng = self.rng if seed is None else np.random.default_rng(seed)
        self._reset(mask)
        self.rng = rng

    def state(self, env: int | None = None) -> State:
        """All environments, or one of them, as one blob: coordinates, contacts, warm start,
        controls and driven vertices.

        >>> import tangere
        >>> sim = tangere.Simulator(tangere.load(tangere.scenes.path("stack.toml")), num_envs=3)
        >>> sim.state().num_envs, sim.state(env=1).num_envs
        (3, 1)
        """
        return State(self._state(env))

    def set_state(self, state: bytes | bytearray | memoryview, mask: ArrayLike | None = None) -> None:
        """Goes on from a state to the same bits: all environments, or those with a mask.

        A state of one environment is given to each of them. A state of another model or a damaged
        one raises ValueError, and nothing has changed.

        >>> import tangere
        >>> sim = tangere.Simulator(tangere.load(tangere.scenes.path("stack.toml")))
        >>> saved = sim.state()
        >>> sim.step(7)
        >>> sim.set_state(saved)
        >>> int(sim.steps[0])
        0
        """
        if not isinstance(state, (bytes, bytearray, memoryview)):
            raise TypeError(f"state must be a State or other bytes, found {type(state).__name__}")
        self._set_state(bytes(state), mask)

    def rollout(self, controls: ArrayLike | None = None, num_steps: int | None = None) -> Rollout:
        """Steps with controls for each step, and returns the coordinates after each.

        `controls` is (num_envs, steps, num_actuators), or (steps, num_actuators) for all
        environments; without it the controls stay as they are for `num_steps`. Runs on the threads
        of the simulator, without the interpreter's lock.

        >>> import numpy as np, tangere
        >>> sim = tangere.Simulator(tangere.load(tangere.scenes.path("arm.xml")), num_envs=3)
        >>> controls = np.zeros((3, 20, sim.model.num_actuators))
        >>> sim.rollout(controls).q.shape == (3, 20, sim.model.num_positions)
        True
        """
        q, v = self._rollout(controls, num_steps)
        return Rollout(q, v)
