# SPDX-License-Identifier: Apache-2.0
"""Gymnasium vector environments: many environments of one model, stepped together by threads.

Needs Gymnasium (pip install tangere[gym]). Subclass VectorEnv and say what is observed, rewarded
and the end of an episode:

>>> import numpy as np, tangere, tangere.gym
>>> class Reach(tangere.gym.VectorEnv):
...     def reward(self, actions):
...         return -np.abs(self.sim.q).sum(axis=1)
>>> envs = Reach(tangere.load(tangere.scenes.path("arm.xml")), num_envs=4, max_episode_steps=100)
>>> observations, infos = envs.reset(seed=1)
>>> observations.shape == envs.observation_space.shape
True
>>> _ = envs.step(envs.action_space.sample())
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

try:
    import gymnasium
    from gymnasium.vector import AutoresetMode
    from gymnasium.vector.utils import batch_space
except ImportError as error:  # pragma: no cover - depends on what is installed
    raise ImportError(
        "tangere.gym needs Gymnasium 1.1 or newer: pip install tangere[gym]"
    ) from error

from tangere._core import Model
from tangere._simulator import Simulator
from tangere.errors import InvalidInput

__all__ = ["AutoresetMode", "Env", "VectorEnv"]

Array = NDArray[np.float64]
"""What is observed, done and rewarded."""
Flags = NDArray[np.bool_]
"""Whether each environment is meant, has ended, ..."""


def _batched(space: gymnasium.spaces.Box, count: int) -> gymnasium.spaces.Box:
    batched = batch_space(space, count)
    assert isinstance(batched, gymnasium.spaces.Box)
    return batched


class VectorEnv(gymnasium.vector.VectorEnv[Array, Array, NDArray[Any]]):
    """Environments of a model as Gymnasium sees them.

    `frame_skip` steps of the engine make one step here. The actions are the controls of the
    actuators, within their limits (unlimited ones: -1 to 1). Override `observe`, `reward`,
    `terminated` and `on_reset`; the defaults observe coordinates and velocities, reward nothing and
    end no episode. An environment whose state would not be finite ends by itself.

    All three ways of Gymnasium to begin a new episode are there: NEXT_STEP (the step after the end
    resets), SAME_STEP (the step of the end resets; its last observation is infos["final_obs"]) and
    DISABLED (you reset, with options={"reset_mask": mask}).
    """

    metadata: dict[str, Any] = {"render_modes": []}
    single_action_space: gymnasium.spaces.Box
    single_observation_space: gymnasium.spaces.Box
    action_space: gymnasium.spaces.Box
    observation_space: gymnasium.spaces.Box

    def __init__(
        self,
        model: Model,
        num_envs: int,
        *,
        frame_skip: int = 1,
        max_episode_steps: int | None = None,
        threads: int = 1,
        autoreset_mode: AutoresetMode = AutoresetMode.NEXT_STEP,
    ) -> None:
        super().__init__()
        if frame_skip < 1:
            raise InvalidInput(f"frame_skip must be at least 1, found {frame_skip}")
        self.sim = Simulator(model, num_envs=num_envs, threads=threads)
        self.num_envs = num_envs
        self.frame_skip = frame_skip
        self.max_episode_steps = max_episode_steps
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.metadata = {**self.metadata, "autoreset_mode": self.autoreset_mode}
        self.render_mode = None
        actuators = [model.actuator(name) for name in model.actuator_names]
        low = np.array([a.lower_control for a in actuators], dtype=np.float64)
        high = np.array([a.upper_control for a in actuators], dtype=np.float64)
        self.single_action_space = gymnasium.spaces.Box(
            np.where(np.isfinite(low), low, -1.0), np.where(np.isfinite(high), high, 1.0),
            dtype=np.float64,
        )
        self.action_space = _batched(self.single_action_space, num_envs)
        width = self.observe().shape[1]
        self.single_observation_space = gymnasium.spaces.Box(
            -np.inf, np.inf, (width,), dtype=np.float64
        )
        self.observation_space = _batched(self.single_observation_space, num_envs)
        self.rngs = [np.random.default_rng(i) for i in range(num_envs)]
        self.episode_steps = np.zeros(num_envs, dtype=np.int64)
        self._is_over = np.zeros(num_envs, dtype=np.bool_)

    def observe(self) -> Array:
        """(num_envs, n): what agents see; a new array each time."""
        return np.concatenate([self.sim.q, self.sim.v], axis=1)

    def reward(self, actions: Array) -> Array:
        """(num_envs,), after the step of these actions."""
        return np.zeros(self.num_envs)

    def terminated(self) -> Flags:
        """(num_envs,): which episodes have ended by themselves."""
        return np.zeros(self.num_envs, dtype=np.bool_)

    def on_reset(self, envs: NDArray[np.int64]) -> None:
        """Called with the environments that are at the start again: to move them from there, with
        the random numbers of each, `self.rngs[env]`."""

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Array, dict[str, Any]]:
        """Begins new episodes: all, or those with options={"reset_mask": mask}.

        A seed gives environment i the random numbers of seed + i.
        """
        mask = np.ones(self.num_envs, dtype=np.bool_)
        if options is not None and "reset_mask" in options:
            mask = self._checked_mask(options["reset_mask"])
        if seed is not None:
            seeds = [seed + i for i in range(self.num_envs)] if isinstance(seed, int) else seed
            if len(seeds) != self.num_envs:
                raise ValueError(f"expected {self.num_envs} seeds, found {len(seeds)}")
            for env in np.flatnonzero(mask).tolist():
                if seeds[env] is not None:
                    self.rngs[env] = np.random.default_rng(seeds[env])
        self._begin(mask)
        return self.observe(), {}

    def step(
        self, actions: NDArray[Any]
    ) -> tuple[Array, Array, Flags, Flags, dict[str, Any]]:
        """One step of all environments."""
        if self.autoreset_mode == AutoresetMode.DISABLED and self._is_over.any():
            ended = np.flatnonzero(self._is_over).tolist()
            raise InvalidInput(
                f"the episodes of environments {ended} have ended: call "
                'reset(options={"reset_mask": mask}) before step()'
            )
        anew = self._is_over.copy() if self.autoreset_mode == AutoresetMode.NEXT_STEP else None
        self.apply(np.asarray(actions, dtype=np.float64))
        self.sim.step(self.frame_skip)
        self.episode_steps += 1
        rewards = np.array(self.reward(np.asarray(actions)), dtype=np.float64)
        terminations = np.array(self.terminated(), dtype=np.bool_) | ~self.sim.running
        truncations = np.zeros(self.num_envs, dtype=np.bool_)
        if self.max_episode_steps is not None:
            truncations = (self.episode_steps >= self.max_episode_steps) & ~terminations
        infos: dict[str, Any] = {}
        if anew is not None and anew.any():
            # Their step does not count: they begin here.
            self._begin(anew)
            rewards[anew] = 0.0
            terminations[anew] = False
            truncations[anew] = False
        self._is_over = terminations | truncations
        observations = self.observe()
        if self.autoreset_mode == AutoresetMode.SAME_STEP and self._is_over.any():
            over = self._is_over.copy()
            final = np.full(self.num_envs, None, dtype=object)
            for env in np.flatnonzero(over):
                final[env] = observations[env].copy()
            infos = {"final_obs": final, "_final_obs": over, "final_info": {}, "_final_info": over}
            self._begin(over)
            observations = self.observe()
        return observations, rewards, terminations, truncations, infos

    def apply(self, actions: Array) -> None:
        """Gives the actions to the actuators."""
        self.sim.controls = actions

    def close_extras(self, **kwargs: Any) -> None:
        """Nothing is held open."""

    def _begin(self, mask: Flags) -> None:
        self.sim.reset(mask)
        self.episode_steps[mask] = 0
        self._is_over[mask] = False
        self.on_reset(np.flatnonzero(mask))

    def _checked_mask(self, mask: Any) -> Flags:
        if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_:
            raise TypeError("options['reset_mask'] must be an array of bool")
        if mask.shape != (self.num_envs,):
            raise ValueError(
                f"options['reset_mask'] must have the shape ({self.num_envs},), found {mask.shape}"
            )
        if not mask.any():
            raise ValueError("options['reset_mask'] chooses no environment")
        return mask


class Env(gymnasium.Env[Array, Array]):
    """A VectorEnv of one environment as a gymnasium.Env, for what knows no vectors.

    >>> import tangere, tangere.gym
    >>> model = tangere.load(tangere.scenes.path("arm.xml"))
    >>> env = tangere.gym.Env(tangere.gym.VectorEnv(model, 1, max_episode_steps=100))
    >>> observation, info = env.reset(seed=1)
    >>> observation, reward, terminated, truncated, info = env.step(env.action_space.sample())
    >>> observation.shape == env.observation_space.shape
    True
    """

    metadata: dict[str, Any] = {"render_modes": []}

    def __init__(self, envs: VectorEnv) -> None:
        if envs.num_envs != 1:
            raise InvalidInput(f"an Env is made of one environment, found {envs.num_envs}")
        self.envs = envs
        # Who ends an episode resets it, as with every gymnasium.Env.
        envs.autoreset_mode = AutoresetMode.DISABLED
        self.observation_space = cast("gymnasium.Space[Array]", envs.single_observation_space)
        self.action_space = cast("gymnasium.Space[Array]", envs.single_action_space)
        self.render_mode = None

    @property
    def sim(self) -> Simulator:
        """The simulator."""
        return self.envs.sim

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        """Begins a new episode."""
        super().reset(seed=seed)
        observations, infos = self.envs.reset(seed=seed)
        return observations[0], infos

    def step(self, action: NDArray[Any]) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        """One step."""
        observations, rewards, terminations, truncations, infos = self.envs.step(
            np.asarray(action, dtype=np.float64)[np.newaxis]
        )
        return (
            observations[0], float(rewards[0]), bool(terminations[0]), bool(truncations[0]), infos,
        )

    def close(self) -> None:
        """Closes the VectorEnv."""
        self.envs.close()
