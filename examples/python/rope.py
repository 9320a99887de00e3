# SPDX-License-Identifier: Apache-2.0
"""A constraint of one's own: a rope that holds a swinging ball. The C++ twin is
examples/rope_handler.hpp, which docs/add_a_contact_handler.md explains."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import tangere

Vector = NDArray[np.float64]


class Rope(tangere.ContactHandler):
    """Pulls a body toward the origin when it is farther than `length`."""

    def __init__(self, body: int, length: float) -> None:
        self.body, self.length = body, length
        self.end: Vector = np.zeros(3)
        self.stretch = self.dt = self.stiffness = 0.0

    def detect(self, view: tangere.HandlerView) -> int:
        self.end = view.pose(self.body)[:3, 3]
        self.stretch = float(np.linalg.norm(self.end)) - self.length
        return 1 if self.stretch > -0.1 * self.length else 0

    def rows(self, i: int) -> tangere.ConstraintRows:
        direction = self.end / np.linalg.norm(self.end)
        row = tangere.ConstraintRow(direction=direction, point1=self.end, point2=[0, 0, 0])
        return tangere.ConstraintRows(body1=self.body, body2=-1, rows=[row])

    def prepare(self, i: int, dt: float, delassus: Vector) -> None:
        self.dt, self.stiffness = dt, 1 / (float(delassus[0, 0]) * dt**2)

    def evaluate(self, i: int, velocity: Vector) -> tuple[float, list[float], list[list[float]]]:
        slope = self.stiffness * self.dt
        tension = max(self.stiffness * self.stretch + slope * float(velocity[0]), 0.0)
        hessian = self.dt * slope if tension > 0 else 0.0
        return self.dt * tension**2 / (2 * slope), [-self.dt * tension], [[hessian]]


def main() -> None:
    builder = tangere.ModelBuilder()
    builder.set_options(solver="sap")
    builder.add_body(tangere.Body("ball", shapes=[tangere.Sphere(0.05)], pose=[0.6, 0, -0.8]))
    sim = tangere.Simulator(builder.build("rope"))
    rope = sim.add_contact_handler(Rope(sim.model.body_index("ball"), 1.0))
    longest = 0.0
    for _ in range(1000):
        sim.step()
        longest = max(longest, float(np.linalg.norm(sim.body("ball", env=0).position)))
    tension = -sim.handler_forces(rope)[0].force[0]
    print(f"the rope of 1 m was never longer than {longest:.4f} m; it pulls with {tension:.2f} N")
    assert longest < 1.001


if __name__ == "__main__":
    main()
