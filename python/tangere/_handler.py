# SPDX-License-Identifier: Apache-2.0
"""Constraints of your own, written in Python."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tangere._core import ConstraintRows, HandlerView


class ContactHandler:
    """Constraints between bodies that the SAP solver solves together with contacts and joints.

    A constraint sees up to six velocities v_c of two bodies against each other, its rows, and is a
    convex cost l(v_c), once differentiable; its impulse is -dl/dv_c. Give it to
    `Simulator.add_contact_handler`. It must be a function of what it sees: a saved state does not
    hold what a handler remembers. What it raises ends the step, and so does a number that is not
    finite: the environments are then as they were before the step.

    A rope from the world's origin to a ball, which pulls when it is taut:

    >>> import numpy as np, tangere
    >>> class Rope(tangere.ContactHandler):
    ...     def detect(self, view):
    ...         self.end = view.pose(0)[:3, 3]
    ...         self.stretch = np.linalg.norm(self.end) - 1.0
    ...         return 1 if self.stretch > -0.1 else 0
    ...     def rows(self, i):
    ...         direction = self.end / np.linalg.norm(self.end)
    ...         row = tangere.ConstraintRow(direction, self.end, [0, 0, 0])
    ...         return tangere.ConstraintRows(body1=0, body2=-1, rows=[row])
    ...     def prepare(self, i, dt, delassus):
    ...         self.dt, self.stiffness = dt, 1 / (delassus[0, 0] * dt**2)
    ...     def evaluate(self, i, velocity):
    ...         slope = self.stiffness * self.dt
    ...         tension = max(self.stiffness * self.stretch + slope * velocity[0], 0.0)
    ...         hessian = self.dt * slope if tension > 0 else 0.0
    ...         return self.dt * tension**2 / (2 * slope), [-self.dt * tension], [[hessian]]
    >>> builder = tangere.ModelBuilder()
    >>> builder.set_options(solver="sap")
    >>> ball = tangere.Body("ball", shapes=[tangere.Sphere(0.05)], pose=[0, 0, -0.9])
    >>> builder.add_body(ball)
    >>> sim = tangere.Simulator(builder.build())
    >>> rope = sim.add_contact_handler(Rope())
    >>> sim.step(1000)
    >>> round(float(np.linalg.norm(sim.body("ball").position)), 3)
    1.0
    """

    def detect(self, view: HandlerView) -> int:
        """How many constraints act in this step."""
        raise NotImplementedError("a ContactHandler needs detect()")

    def rows(self, i: int) -> ConstraintRows:
        """The bodies and rows of constraint i, in the places of the start of the step."""
        raise NotImplementedError("a ContactHandler needs rows()")

    def prepare(self, i: int, dt: float, delassus: NDArray[np.float64]) -> None:
        """Once before the solve; `delassus` is the inverse mass that the rows feel, (rows, rows)."""

    def evaluate(self, i: int, velocity: NDArray[np.float64]) -> tuple[float, ArrayLike, ArrayLike]:
        """The cost [J], the impulse -dl/dv_c (rows,) and the Hessian (rows, rows), at velocities
        (rows,). Must give the same for the same velocities."""
        raise NotImplementedError("a ContactHandler needs evaluate()")
