# SPDX-License-Identifier: Apache-2.0
"""Plots of recordings: contact force, energy, solver iterations.

Needs Matplotlib (pip install tangere[plot]). Every function takes a recording, or the path of one,
and Axes to draw into (the current ones otherwise), and returns the Axes.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from tangere._recording import Recording

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["contact_force", "energy", "iterations"]

_FLOWS = (
    "external",
    "damping",
    "contact_normal",
    "contact_friction",
    "kinematic",
    "constraint",
    "correction",
    "integration",
    "gyroscopic",
)


def _axes(axes: Axes | None) -> Any:
    if axes is not None:
        return axes
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:  # pragma: no cover - depends on what is installed
        raise ImportError("tangere.plot needs Matplotlib: pip install tangere[plot]") from error
    return plt.gca()


def _open(recording: Recording | str | os.PathLike[str]) -> Recording:
    return recording if isinstance(recording, Recording) else Recording(recording)


def contact_force(
    recording: Recording | str | os.PathLike[str], body: str, *, axes: Axes | None = None
) -> Axes:
    """Sum of the contact forces on a body over time: its size, and its three parts."""
    source = _open(recording)
    if body not in source.body_names:
        from tangere.collision import near_names
        from tangere.errors import InvalidInput

        raise InvalidInput(f"no body is called '{body}'{near_names(body, source.body_names)}")
    index = source.body_names.index(body)
    times = source.times
    force = np.zeros((len(times), 3))
    for frame in range(len(times)):
        for rows in (source.contacts(frame), source.pressure_contacts(frame)):
            force[frame] += rows["force1"][rows["body1"] == index].sum(axis=0)
            force[frame] += rows["force2"][rows["body2"] == index].sum(axis=0)
    out = _axes(axes)
    out.plot(times, np.linalg.norm(force, axis=1), color="black", label="size")
    for k, name in enumerate("xyz"):
        out.plot(times, force[:, k], linewidth=0.8, label=name)
    out.set(xlabel="time [s]", ylabel="force [N]", title=f"contact force on {body}")
    out.legend()
    return out  # type: ignore[no-any-return]


def energy(
    recording: Recording | str | os.PathLike[str], *, axes: Axes | None = None
) -> Axes:
    """Kinetic, potential and total energy over time, and where the difference went."""
    columns = _open(recording).series()
    out = _axes(axes)
    times = columns["time"]
    kinetic, potential = columns["energy_kinetic"], columns["energy_potential"]
    out.plot(times, kinetic, label="kinetic")
    out.plot(times, potential, label="potential")
    out.plot(times, kinetic + potential, color="black", label="total")
    for name in _FLOWS:
        flow = np.cumsum(columns[f"energy_{name}"])
        if np.any(flow != 0):
            out.plot(times, flow, linewidth=0.8, linestyle="--", label=name.replace("_", " "))
    out.set(xlabel="time [s]", ylabel="energy [J]", title="energy")
    out.legend()
    return out  # type: ignore[no-any-return]


def iterations(
    recording: Recording | str | os.PathLike[str], *, axes: Axes | None = None
) -> Axes:
    """Solver iterations of each step, with the number of contacts beside them."""
    columns = _open(recording).series()
    out = _axes(axes)
    out.step(columns["time"], columns["iterations"], where="post", label="iterations")
    out.step(
        columns["time"], columns["num_contacts"], where="post", linewidth=0.8, label="contacts"
    )
    out.set(xlabel="time [s]", ylabel="count", title="solver iterations")
    out.legend()
    return out  # type: ignore[no-any-return]
