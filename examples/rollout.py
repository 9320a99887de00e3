#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""64 arms, each told something else, on all cores: where do their hands go?

    python examples/rollout.py rollout.png

Needs the package with its plots: pip install '.[plot]'
"""
import os
import sys

import matplotlib
import numpy as np
import tangere

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402


def main(path: str) -> None:
    model = tangere.load(tangere.scenes.path("arm.xml"))
    sim = tangere.Simulator(model, num_envs=64, threads=os.cpu_count() or 1)
    start = np.array([0, 0.2, 0, -2.0, 0, 2.2, 0.8, 0.04, 0.04])
    sim.q[:] = start
    goals = start + np.random.default_rng(1).normal(scale=0.35, size=(64, len(start)))
    goals[:, 7:] = 0.04                                  # the fingers stay open
    hands = []
    for _ in range(60):                                  # 0.6 s, five steps of 2 ms at a time
        sim.rollout(np.repeat(goals[:, None, :], 5, axis=1))
        hands.append(sim.body("hand").position.copy())
    ways = np.array(hands)                               # (60, 64, 3)

    axes = plt.figure(figsize=(8, 5), layout="constrained").add_subplot(projection="3d")
    for env in range(64):
        axes.plot(*ways[:, env].T, linewidth=1)
        axes.scatter(*ways[-1, env], s=12)
    axes.set(xlabel="x [m]", ylabel="y [m]", zlabel="z [m]", title="hands of 64 arms, 0.6 s")
    plt.savefig(path, dpi=100)
    print(f"{path}: {ways.shape[0] * 5 * 64} steps")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "rollout.png")
