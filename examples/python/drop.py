# SPDX-License-Identifier: Apache-2.0
"""A box falls on a floor and comes to rest: the weight is felt by the contacts."""

from __future__ import annotations

import numpy as np

import tangere


def make_model() -> tangere.Model:
    builder = tangere.ModelBuilder()
    builder.set_options(solver="sap", dt=0.002)
    builder.add_material(tangere.Material("rubber", friction=1.0))
    builder.add_body(tangere.Body("floor", type="fixed", shapes=[tangere.Plane()]))
    box = tangere.BodyShape(tangere.Box([0.1, 0.1, 0.1]), material="rubber")
    builder.add_body(tangere.Body("box", shapes=[box], pose=[0, 0, 0.5]))
    return builder.build("drop")


def main() -> None:
    sim = tangere.Simulator(make_model())
    for _ in range(5):
        sim.advance_to(float(sim.time[0]) + 0.3)
        height: float = sim.body("box", env=0).position[2]
        print(f"{sim.time[0]:.1f} s: height {height:.4f} m, {len(sim.contacts())} contacts")
    contacts = sim.contacts()
    toward_box = np.where(contacts["name1"] == "box", 1.0, -1.0)
    force = float((toward_box * contacts["force1"][:, 2]).sum())
    weight = sim.model.mass_properties("box").mass * 9.81
    print(f"the floor pushes with {force:.2f} N, the box weighs {weight:.2f} N")
    assert abs(force - weight) < 1e-3 * weight


if __name__ == "__main__":
    main()
