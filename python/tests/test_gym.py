# SPDX-License-Identifier: Apache-2.0
"""Gymnasium vector environments: spaces, seeds, the three ways to begin again."""

from __future__ import annotations

import numpy as np
import pytest

import tangere

pytest.importorskip("gymnasium")

import gymnasium  # noqa: E402
from gymnasium.vector import AutoresetMode  # noqa: E402

import tangere.gym  # noqa: E402


class Swing(tangere.gym.VectorEnv):
    """Ends where the shoulder is beyond 1 rad; begins at random."""

    def reward(self, actions: np.ndarray) -> np.ndarray:
        return np.abs(self.sim.q[:, 0])

    def terminated(self) -> np.ndarray:
        return np.abs(self.sim.q[:, 0]) > 1.0

    def on_reset(self, envs: np.ndarray) -> None:
        for env in envs:
            self.sim.q[env, 0] = self.rngs[env].uniform(-0.5, 0.5)


def make(pendulum: tangere.Model, **options: object) -> Swing:
    return Swing(pendulum, 3, frame_skip=5, **options)  # type: ignore[arg-type]


def test_spaces_are_those_of_the_model(pendulum: tangere.Model) -> None:
    envs = make(pendulum, threads=2)
    assert isinstance(envs, gymnasium.vector.VectorEnv)
    assert envs.single_observation_space.shape == (17,)
    assert envs.action_space.shape == (3, 2)
    assert envs.single_action_space.high.tolist() == [2, 1]
    observations, infos = envs.reset(seed=0)
    assert observations in envs.observation_space
    assert infos == {}
    result = envs.step(envs.action_space.sample())
    assert len(result) == 5
    assert result[0] in envs.observation_space
    assert result[1].shape == result[2].shape == result[3].shape == (3,)
    assert envs.metadata["autoreset_mode"] == AutoresetMode.NEXT_STEP
    assert envs.sim.time == pytest.approx([0.01] * 3)
    envs.close()


def test_the_same_seed_gives_the_same_episode(pendulum: tangere.Model) -> None:
    one, two = make(pendulum), make(pendulum, threads=2)
    actions = np.random.default_rng(0).uniform(-1, 1, (20, 3, 2))
    for envs in (one, two):
        envs.reset(seed=7)
    for action in actions:
        assert np.array_equal(one.step(action)[0], two.step(action)[0])
    first, _ = one.reset(seed=7)
    again, _ = two.reset(seed=[7, 8, 9])
    assert np.array_equal(first, again)
    other, _ = one.reset(seed=8)
    assert np.array_equal(other[0], first[1])
    with pytest.raises(ValueError, match="3 seeds"):
        one.reset(seed=[1])


def test_next_step_resets_in_the_step_after_the_end(pendulum: tangere.Model) -> None:
    envs = make(pendulum, autoreset_mode=AutoresetMode.NEXT_STEP)
    envs.reset(seed=0)
    envs.sim.q[1, 0] = 1.5
    observation, reward, terminated, truncated, infos = envs.step(np.zeros((3, 2)))
    assert terminated.tolist() == [False, True, False]
    assert abs(observation[1, 0]) > 1
    assert infos == {}
    observation, reward, terminated, truncated, _ = envs.step(np.zeros((3, 2)))
    assert not terminated.any() and not truncated.any()
    assert reward[1] == 0 and reward[0] != 0
    assert abs(observation[1, 0]) <= 0.5
    assert envs.sim.steps.tolist() == [10, 0, 10]


def test_same_step_resets_at_once_and_keeps_the_last_observation(pendulum: tangere.Model) -> None:
    envs = make(pendulum, autoreset_mode=AutoresetMode.SAME_STEP)
    envs.reset(seed=0)
    envs.sim.q[2, 0] = -1.5
    observation, reward, terminated, _, infos = envs.step(np.zeros((3, 2)))
    assert terminated.tolist() == [False, False, True]
    assert abs(infos["final_obs"][2][0]) > 1
    assert infos["_final_obs"].tolist() == [False, False, True]
    assert infos["final_obs"][0] is None
    assert abs(observation[2, 0]) <= 0.5
    assert reward[2] > 1
    assert envs.sim.steps.tolist() == [5, 5, 0]


def test_without_autoreset_the_user_resets_some(pendulum: tangere.Model) -> None:
    envs = make(pendulum, autoreset_mode=AutoresetMode.DISABLED, max_episode_steps=2)
    envs.reset(seed=0)
    envs.sim.q[0, 0] = 1.5
    terminated = envs.step(np.zeros((3, 2)))[2]
    assert terminated.tolist() == [True, False, False]
    with pytest.raises(tangere.InvalidInput, match=r"environments \[0\] have ended"):
        envs.step(np.zeros((3, 2)))
    envs.reset(options={"reset_mask": np.array([True, False, False])})
    assert envs.sim.steps.tolist() == [0, 5, 5]
    _, _, terminated, truncated, _ = envs.step(np.zeros((3, 2)))
    assert not terminated.any()
    assert truncated.tolist() == [False, True, True]
    for mask, kind in (
        ([True] * 3, TypeError),
        (np.ones(2, dtype=bool), ValueError),
        (np.zeros(3, dtype=bool), ValueError),
    ):
        with pytest.raises(kind):
            envs.reset(options={"reset_mask": mask})


def test_an_environment_that_stops_ends_its_episode(pendulum: tangere.Model) -> None:
    envs = make(pendulum)
    envs.reset(seed=0)
    envs.sim.v[1, 2:5] = 1e308
    observation, _, terminated, _, _ = envs.step(np.zeros((3, 2)))
    assert terminated[1]
    assert np.isfinite(observation).all()
    envs.step(np.zeros((3, 2)))
    assert envs.sim.running.all()


def test_the_defaults_observe_coordinates_and_end_nothing(pendulum: tangere.Model) -> None:
    envs = tangere.gym.VectorEnv(pendulum, 2)
    observation, _ = envs.reset()
    assert np.array_equal(observation, np.concatenate([envs.sim.q, envs.sim.v], axis=1))
    _, reward, terminated, truncated, _ = envs.step(np.zeros((2, 2)))
    assert reward.tolist() == [0, 0]
    assert not terminated.any() and not truncated.any()
    with pytest.raises(tangere.InvalidInput):
        tangere.gym.VectorEnv(pendulum, 2, frame_skip=0)
    with pytest.raises(ValueError):
        envs.step(np.full((2, 2), np.nan))


def test_gymnasium_wrappers_work_on_top(pendulum: tangere.Model) -> None:
    envs = gymnasium.wrappers.vector.RecordEpisodeStatistics(
        make(pendulum, max_episode_steps=3, autoreset_mode=AutoresetMode.NEXT_STEP)
    )
    envs.reset(seed=0)
    infos: dict[str, object] = {}
    for _ in range(3):
        infos = envs.step(np.zeros((3, 2)))[-1]
    assert infos["episode"]["l"].tolist() == [3, 3, 3]  # type: ignore[index]


def test_actions_may_be_applied_in_another_way(pendulum: tangere.Model) -> None:
    class Half(Swing):
        def apply(self, actions: np.ndarray) -> None:
            super().apply(0.5 * actions)

        def observe(self) -> np.ndarray:
            return self.sim.q[:, :2].copy()

    envs = Half(pendulum, 3)
    assert envs.single_observation_space.shape == (2,)
    envs.reset(seed=0)
    envs.step(np.ones((3, 2)))
    assert envs.sim.controls.tolist() == [[0.5, 0.5]] * 3
    envs.close_extras()


def make_single(pendulum: tangere.Model) -> tangere.gym.Env:
    return tangere.gym.Env(Swing(pendulum, 1, frame_skip=5, max_episode_steps=12))


@pytest.mark.filterwarnings("ignore:.*(symmetric and normalized|observation space m)")
def test_gymnasium_checks_one_environment(pendulum: tangere.Model) -> None:
    from gymnasium.utils.env_checker import check_env

    env = make_single(pendulum)
    check_env(env, skip_render_check=True)
    assert isinstance(env.sim, tangere.Simulator) and env.envs.num_envs == 1
    observation, info = env.reset(seed=3)
    assert observation in env.observation_space and info == {}
    for step in range(12):
        observation, reward, terminated, truncated, info = env.step(env.action_space.sample())
        assert isinstance(reward, float) and isinstance(terminated, bool)
        if terminated:
            break
    assert terminated or truncated
    with pytest.raises(tangere.InvalidInput, match="have ended"):
        env.step(env.action_space.sample())
    env.close()
    with pytest.raises(tangere.InvalidInput, match="one environment, found 3"):
        tangere.gym.Env(make(pendulum))


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
def test_it_does_what_the_vectors_of_gymnasium_do(
    pendulum: tangere.Model, mode: AutoresetMode
) -> None:
    """Gymnasium's own vector of single environments is the reference for every number."""
    ours = Swing(pendulum, 3, frame_skip=5, max_episode_steps=12, autoreset_mode=mode, threads=2)
    theirs = gymnasium.vector.SyncVectorEnv(
        [lambda: make_single(pendulum)] * 3, autoreset_mode=mode
    )
    assert ours.observation_space == theirs.observation_space
    assert ours.action_space == theirs.action_space
    assert ours.single_action_space == theirs.single_action_space
    assert ours.metadata["autoreset_mode"] == theirs.metadata["autoreset_mode"]
    for one, two in zip(ours.reset(seed=5), theirs.reset(seed=5)):
        assert np.array_equal(one, two) if isinstance(one, np.ndarray) else one == two
    actions = np.random.default_rng(0).uniform(-2, 2, (40, 3, 2))
    ended = 0
    for action in actions:
        one, two = ours.step(action), theirs.step(action)
        for mine, other in zip(one[:4], two[:4]):
            assert mine.dtype == other.dtype and np.array_equal(mine, other)
        ended += int((one[2] | one[3]).sum())
        assert ("final_obs" in one[4]) == ("final_obs" in two[4])
        if "final_obs" in one[4]:
            assert one[4]["_final_obs"].tolist() == two[4]["_final_obs"].tolist()
            for env in np.flatnonzero(one[4]["_final_obs"]):
                assert np.array_equal(one[4]["final_obs"][env], two[4]["final_obs"][env])
    assert ended > 3
