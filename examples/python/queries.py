# SPDX-License-Identifier: Apache-2.0
"""The collision library alone: distances, contacts, rays and times of impact."""

from __future__ import annotations

import numpy as np

from tangere.collision import (
    Box,
    Capsule,
    CollisionGroup,
    Motion,
    Sphere,
    collide,
    distance,
    time_of_impact,
)


def main() -> None:
    nearest = distance(Sphere(0.5), [0, 0, 2], Box([1, 1, 0.5]), np.eye(4))
    print(f"distance {nearest.distance:.3f} m along {nearest.normal}")
    assert nearest.distance == 1.0

    result = collide(Box([1, 1, 1]), [0, 0, 1.9], Box([1, 1, 1]), ([0, 0, 0], [1, 0, 0, 0]))
    for manifold in result.manifolds:
        print(f"{len(manifold)} points, {manifold.depth:.3f} m deep")
    assert np.allclose(result.contacts()["depth"], 0.1)

    group = CollisionGroup()
    ids = [group.add(Capsule(0.2, 0.5), [float(x), 0, 0]) for x in range(5)]
    hit = group.ray_cast([-10, 0, 0], [1, 0, 0])
    assert hit is not None and hit.object == ids[0]
    print(f"the ray meets object {hit.object} at {hit.hit.position}")

    flight = Motion([-5, 0, 0], displacement=[10, 0, 0])
    impact = time_of_impact(Sphere(0.5), flight, Sphere(0.5), Motion())
    print(f"the spheres meet after {impact.s:.3f} of the way")
    assert abs(impact.s - 0.4) < 1e-5


if __name__ == "__main__":
    main()
