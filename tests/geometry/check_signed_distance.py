#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Our signed distances and winding numbers against libigl's, on meshes that are smooth, sharp,
hollow, open and self-intersecting.

  check_signed_distance.py PRINT_SIGNED_DISTANCE

Needs the packages numpy and libigl. Without them nothing is compared: the test says so and ends with
code 77, which ctest shows as skipped."""
import subprocess
import sys

try:
    import igl
    import numpy as np
except ImportError as error:
    print(f"SKIPPED: signed distances were NOT compared with libigl: {error}.\n"
          "         python3 -m pip install libigl, then run this again.", file=sys.stderr)
    sys.exit(77)

NUM_POINTS = 10_000
# Relative to the size of the mesh; both sides are doubles and a few operations long.
TOLERANCE = 1e-12


def grid_sphere(radius, center=(0, 0, 0), rings=24, sectors=48):
    """A closed sphere of rings and sectors with a fan at either pole."""
    theta = np.pi * np.arange(1, rings) / rings
    phi = 2 * np.pi * np.arange(sectors) / sectors
    t, p = np.meshgrid(theta, phi, indexing="ij")
    body = np.stack([np.sin(t) * np.cos(p), np.sin(t) * np.sin(p), np.cos(t)], -1).reshape(-1, 3)
    vertices = np.vstack([body, [[0, 0, 1], [0, 0, -1]]])
    top, bottom = len(vertices) - 2, len(vertices) - 1
    faces = []
    for j in range(sectors):
        k = (j + 1) % sectors
        faces.append((top, j, k))
        last = (rings - 2) * sectors
        faces.append((bottom, last + k, last + j))
        for i in range(rings - 2):
            a, b = i * sectors, (i + 1) * sectors
            faces += [(a + j, b + j, b + k), (a + j, b + k, a + k)]
    return radius * vertices + np.array(center, float), np.array(faces)


def box():
    v = np.array([[x, y, z] for x in (0, 1) for y in (0, 2) for z in (0, 3)], float)
    f = [(0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1),
         (2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4), (1, 5, 7), (1, 7, 3)]
    return v, np.array(f)


def star(random):
    """A sphere with a random radius at every vertex: needles, notches, reflex edges."""
    v, f = grid_sphere(1.0, rings=12, sectors=20)
    return v * random.uniform(0.4, 1.6, (len(v), 1)), f


def hollow():
    outer, f = grid_sphere(1.0)
    inner, g = grid_sphere(0.6, center=(0.1, 0, 0))
    return np.vstack([outer, inner]), np.vstack([f, g[:, ::-1] + len(outer)])


def hemisphere():
    v, f = grid_sphere(1.0)
    return v, f[(v[f][:, :, 2] > -1e-9).all(1)]


def crossing_spheres():
    v, f = grid_sphere(1.0)
    w, g = grid_sphere(0.8, center=(0.9, 0.2, 0.1))
    return np.vstack([v, w]), np.vstack([f, g + len(v)])


def used(v, f):
    """Without vertices that no triangle has."""
    keep = np.unique(f)
    place = np.full(len(v), -1)
    place[keep] = np.arange(len(keep))
    return np.ascontiguousarray(v[keep]), np.ascontiguousarray(place[f])


def ours(program, v, f, points):
    rows = [f"{len(v)} {len(f)} {len(points)}"]
    rows += [" ".join(map(repr, map(float, p))) for p in v]
    rows += [" ".join(map(str, t)) for t in f]
    rows += [" ".join(map(repr, map(float, p))) for p in points]
    done = subprocess.run([program], input="\n".join(rows), capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    values = np.array([list(map(float, line.split())) for line in lines[1:]])
    return lines[0] == "closed", values[:, 0], values[:, 1]


def sample(random, v, f):
    """Half of the points in a box around the mesh, half close to its surface."""
    lower, upper = v.min(0), v.max(0)
    far = random.uniform(lower - 0.5 * (upper - lower), upper + 0.5 * (upper - lower), (NUM_POINTS // 2, 3))
    corners = v[f[random.integers(len(f), size=NUM_POINTS - len(far))]]
    weights = random.dirichlet((1, 1, 1), len(corners))
    near = (weights[:, :, None] * corners).sum(1)
    size = np.linalg.norm(upper - lower)
    return np.vstack([far, near + 0.02 * size * random.standard_normal(near.shape)]), size


def compare(program, name, v, f, random):
    """Returns whether distance, sign and winding number agree."""
    v, f = used(np.asarray(v, float), np.asarray(f, np.int64))
    points, size = sample(random, v, f)
    closed, distance, winding = ours(program, v, f, points)
    kind = igl.SIGNED_DISTANCE_TYPE_PSEUDONORMAL if closed else igl.SIGNED_DISTANCE_TYPE_UNSIGNED
    reference = np.asarray(igl.signed_distance(points, v, f, kind)[0])
    reference_winding = np.asarray(igl.winding_number(v, f, points))
    worst = np.abs(np.abs(distance) - np.abs(reference)).max() / size
    # On the surface itself the sign is rounding.
    clear = np.abs(reference) > 1e-9 * size
    flips = int((np.sign(distance) != np.sign(reference))[clear].sum()) if closed else int((distance < 0).sum())
    worst_winding = np.abs(winding - reference_winding)[clear].max()
    passed = worst <= TOLERANCE and flips == 0 and worst_winding <= 1e-9
    print(f"{name:17} {len(f):5} triangles, {'closed' if closed else 'open':6} "
          f"distance {worst:.1e} of the size, {flips} signs, winding number {worst_winding:.1e}: "
          f"{'ok' if passed else 'DIFFERENT'}")
    return passed


def main():
    random = np.random.default_rng(7)
    meshes = [("box", *box()), ("sphere", *grid_sphere(0.02)), ("star", *star(random)), ("hollow", *hollow()),
              ("hemisphere", *hemisphere()), ("crossing spheres", *crossing_spheres())]
    results = [compare(sys.argv[1], *mesh, random) for mesh in meshes]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
