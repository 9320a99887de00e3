#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`tangere query` against the golden collision set, for each algorithm.

usage: test_golden.py TANGERE GOLDEN_FOLDER

Every case must be answered. Distances, normals and witness points must be within 1e-9 of
max(|distance|, scale) of the reference where no round shape is iterated on (sphere, box, capsule,
hull and half space among themselves) and within 1e-6 elsewhere; no overlap may be wrong. A normal
is judged by how much the gap along it lacks of the signed distance (ties cost nothing) and, where
the reference is unique, by its angle; witness points by lying on their shapes and by being
distance * normal apart."""
import csv
import math
import pathlib
import subprocess
import sys
import tempfile

EXACT = {"sphere", "box", "capsule", "hull", "halfspace"}


def vector(row, names):
    return [float(row[name]) for name in names]


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def rotation(q):
    length = math.sqrt(dot(q, q))
    w, x, y, z = (c / length for c in q)
    return ((1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
            (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
            (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)))


class Shape:
    def __init__(self, row, side, hulls):
        self.kind = row["shape" + side]
        self.a, self.b, self.c = vector(row, [k + side for k in "abc"])
        self.R = rotation(vector(row, ["q" + k + side for k in "wxyz"]))
        self.t = vector(row, [k + side for k in "xyz"])
        self.points = hulls.get(row["hull" + side], [])

    def local(self, direction):
        return [sum(self.R[r][c] * direction[r] for r in range(3)) for c in range(3)]

    def support(self, direction):
        """Largest dot of the shape, relative to its own origin, with a world direction."""
        x, y, z = self.local(direction)
        a, b, c, across = self.a, self.b, self.c, math.hypot(x, y)
        if self.kind == "sphere":
            return a * math.hypot(x, y, z)
        if self.kind == "box":
            return a * abs(x) + b * abs(y) + c * abs(z)
        if self.kind == "capsule":
            return a * math.hypot(x, y, z) + b * abs(z)
        if self.kind == "cylinder":
            return a * across + b * abs(z)
        if self.kind == "cone":
            return max(b * z, a * across - b * z)
        if self.kind == "ellipsoid":
            return math.hypot(a * x, b * y, c * z)
        return max(dot(p, (x, y, z)) for p in self.points)

    def outside(self, point, directions):
        """How far the point is beyond a supporting plane of the shape."""
        offset = [p - t for p, t in zip(point, self.t)]
        if self.kind == "halfspace":
            return self.local(offset)[2]
        return max(dot(offset, n) - self.support(n) for n in directions)


def spiral(count):
    for i in range(count):
        z = -1 + (2 * i + 1) / count
        r, t = math.sqrt(1 - z * z), 2.399963229728653 * i
        yield (r * math.cos(t), r * math.sin(t), z)


DIRECTIONS = list(spiral(40))


def errors(case, answer, hulls):
    """Relative errors by name, or a message."""
    reference, scale = float(case["dist"]), float(case["scale"])
    distance = float(answer["dist"])
    normal = vector(answer, ["nx", "ny", "nz"])
    w1, w2 = vector(answer, ["w1x", "w1y", "w1z"]), vector(answer, ["w2x", "w2y", "w2z"])
    if not all(map(math.isfinite, [distance, *normal, *w1, *w2])):
        return "not finite"
    if abs(reference) > 1e-6 * scale and (int(answer["ncontacts"]) > 0) != (reference < 0):
        return "wrong overlap"
    first, second = Shape(case, "1", hulls), Shape(case, "2", hulls)
    found = {"distance": abs(distance - reference) / max(abs(reference), scale),
             "unit": abs(dot(normal, normal) - 1)}
    opposite = [-n for n in normal]
    if "halfspace" not in (first.kind, second.kind):
        gap = dot(normal, [b - a for a, b in zip(first.t, second.t)])
        gap -= first.support(normal) + second.support(opposite)
        found["gap along normal"] = (reference - gap) / scale
    if case["normal_unique"] == "1" and abs(reference) > 1e-6 * scale:
        angle = math.dist(normal, vector(case, ["nx", "ny", "nz"]))
        # An error d of the distance leaves the normal of a unit sphere off by its root.
        found["normal"] = angle * angle
    found["witness apart"] = math.dist([a + distance * n for a, n in zip(w1, normal)], w2) / scale
    found["witness 1"] = first.outside(w1, [normal, *DIRECTIONS]) / scale
    found["witness 2"] = second.outside(w2, [opposite, *DIRECTIONS]) / scale
    return found


def check(tangere, folder, algorithm, cases, hulls):
    with tempfile.TemporaryDirectory() as temporary:
        out = pathlib.Path(temporary) / "answers.csv"
        subprocess.run([tangere, "query", folder / "public.csv", "--hulls",
                        folder / "public_hulls.csv", "--what", "distance", "--algorithm", algorithm,
                        "-o", out], check=True)
        answers = {row["id"]: row for row in csv.DictReader(out.open())}
    wrong, worst = [], {}
    for identifier, case in cases.items():
        kinds = {case["shape1"], case["shape2"]}
        tolerance = 1e-9 if kinds <= EXACT else 1e-6
        name = f"case {identifier} {case['category']} {case['shape1']}-{case['shape2']}"
        if identifier not in answers or answers[identifier]["status"] != "ok":
            wrong.append(f"{name}: not answered")
            continue
        found = errors(case, answers[identifier], hulls)
        if isinstance(found, str):
            wrong.append(f"{name}: {found}")
            continue
        for quantity, error in found.items():
            key = (quantity, tolerance)
            worst[key] = max(worst.get(key, 0), error)
            if not error <= tolerance:
                wrong.append(f"{name}: {quantity} off by {error:.2e}")
    for (quantity, tolerance), error in sorted(worst.items()):
        print(f"{algorithm:5} {quantity:17} worst {error:.1e}  (at most {tolerance:.0e})")
    return wrong


def main():
    tangere, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    with (folder / "public.csv").open() as file:
        cases = {row["id"]: row for row in csv.DictReader(file)}
    hulls = {}
    with (folder / "public_hulls.csv").open() as file:
        for row in csv.DictReader(file):
            hulls.setdefault(row["hull"], []).append(vector(row, "xyz"))
    wrong = []
    algorithms = ("auto", "gjk", "mpr", "mpr-extended")
    for algorithm in algorithms:
        wrong += [f"{algorithm}: {message}" for message in check(tangere, folder, algorithm, cases, hulls)]
    print(f"{len(algorithms) * len(cases)} answers, {len(wrong)} wrong")
    print("\n".join(wrong[:20]))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
