# SPDX-License-Identifier: Apache-2.0
"""Random scenes for each solver: a run whose steps are all Ok has made no energy, and its bodies move as their velocities say."""
import json
import math

from driver import Case, find_null, judge

SOLVERS = ("impulse", "sap", "event")
GRAVITY = 9.81
# What a run may gain of the energy that is at work, by errors of integration. A chain of links gains by turning and by stiff springs
# (docs/limits.md): no more than is there. Of what is let go above a floor it is little.
ENERGY_SHARES = {"scene.toml": 0.02, "scene.xml": 1.0}
# What moves a body apart from its velocity: recovery from overlap.
RECOVERY_SPEED = 1.5


def numbers(values):
    return "[" + ", ".join(f"{value:.6g}" for value in values) + "]"


def random_shape(random, size):
    def length():
        return size * random.uniform(0.3, 1)
    kind = random.choice(("sphere", "box", "box", "capsule", "cylinder", "cone", "ellipsoid", "convex"))
    if kind == "sphere":
        return f"{{ sphere = {length():.6g} }}"
    if kind == "convex":
        points = [[random.uniform(-size, size) for _ in range(3)] for _ in range(10)]
        return f"{{ convex = [{', '.join(numbers(point) for point in points)}] }}"
    return f"{{ {kind} = {numbers([length() for _ in range(3 if kind in ('box', 'ellipsoid') else 2)])} }}"


def random_material(random, name):
    lines = [f"[material.m{name}]", f"density = {10 ** random.uniform(2, 4):.6g}", f"friction = {random.choice((0, 0.3, 0.8, 1.5)):.6g}",
             f"restitution = {random.choice((0, 0, 0.3, 0.8, 1)):.6g}"]
    if random.random() < 0.3:
        lines.append(f'contact = {{ model = "point", stiffness = {10 ** random.uniform(2, 6):.6g}, dissipation = {random.uniform(0, 1):.4g} }}')
    return lines


def bodies_scene(random, solver):
    """Some bodies above a floor, apart from each other: what they have of energy at the start is what there is."""
    size = 10 ** random.uniform(-2, 0)
    count = random.randint(1, 4 if solver == "event" else 12)
    lines = ["[simulation]", f"dt = {random.choice((0.001, 0.002, 0.005, 0.01))}", "", '[[body]]', 'name = "floor"', "fixed = true", 'material = "m0"',
             f"shapes = [{{ {random.choice(('plane = true', f'box = {numbers((20 * size, 20 * size, size))}, position = {numbers((0, 0, -size))}'))} }}]"]
    for i in range(3):
        lines += random_material(random, i)
    for i in range(count):
        quaternion = [random.gauss(0, 1) for _ in range(4)]
        norm = math.sqrt(sum(q * q for q in quaternion)) or 1
        lines += ["[[body]]", f'name = "b{i}"', f"position = {numbers((4 * size * (i % 2) + random.uniform(-size, size) / 2, random.uniform(-size, size), size * (1.9 + 3.6 * (i // 2))))}",
                  f"quaternion = {numbers([q / norm for q in quaternion])}" if random.random() < 0.7 else "quaternion = [1, 0, 0, 0]",
                  f"velocity = {numbers([random.uniform(-3, 3) for _ in range(3)])}", f'material = "m{random.randrange(3)}"', f"shapes = [{random_shape(random, size)}]"]
    return "scene.toml", "\n".join(lines) + "\n"


def robot_scene(random, _):
    """A chain of links above a floor, with springs, limits and friction in its joints; none overlaps another at the start."""
    size = 10 ** random.uniform(-2, 0)
    text = f'<mujoco><option timestep="{random.choice((0.0005, 0.002, 0.005))}"/><compiler angle="radian" autolimits="true"/><worldbody>\n'
    text += '<geom name="floor" type="plane" size="9 9 1"/>\n'
    depth = random.randint(1, 6)
    for i in range(depth):
        kind = random.choice(("hinge", "hinge", "slide", "ball"))
        extent = f'range="{-random.uniform(0.2, 2):.4g} {random.uniform(0.2, 2):.4g}"' if kind != "ball" and random.random() < 0.5 else ""
        place = (0, 0, 5 * size * (depth + 1)) if i == 0 else (0, 0, -4.2 * size)
        inertia = f'<inertial mass="{10 ** random.uniform(-3, 2):.4g}" pos="0 0 0" diaginertia="{" ".join(["%.4g" % 10 ** random.uniform(-8, -1)] * 3)}"/>' if random.random() < 0.3 else ""
        text += (f'<body name="b{i}" pos="{" ".join(f"{x:.5g}" for x in place)}"><joint name="j{i}" type="{kind}" axis="{random.uniform(-1, 1):.3g} {random.uniform(-1, 1):.3g} 1" {extent} '
                 f'damping="{random.choice((0, 0.1, 10))}" stiffness="{random.choice((0, 0, 1, 1e6))}" armature="{random.choice((0, 0.01))}" frictionloss="{random.choice((0, 0, 1))}"/>\n'
                 f'{inertia}<geom type="{random.choice(("sphere", "box", "capsule"))}" size="{size:.4g} {size:.4g} {size:.4g}"/>\n')
    return "scene.xml", text + "</body>" * depth + "</worldbody></mujoco>\n"


def soft_scene(random, _):
    shape = random.choice(("sphere = 0.05", "box = [0.05, 0.04, 0.06]", "capsule = [0.03, 0.04]"))
    return "scene.toml", f"""[simulation]
dt = {random.choice((0.002, 0.005, 0.01))}
[[body]]
name = "floor"
fixed = true
shapes = [{{ plane = true }}]
[[soft]]
name = "s"
shape = {{ {shape} }}
resolution = {random.choice((0.03, 0.05))}
position = [0, 0, {random.uniform(0.11, 0.3):.4g}]
velocity = {numbers([random.uniform(-2, 2) for _ in range(3)])}
elasticity = {{ model = "{random.choice(("linear", "corotated", "neo_hookean", "stvk"))}", young = {10 ** random.uniform(4, 7):.4g}, poisson = {random.uniform(0, 0.48):.4g}, damping = {random.choice((0, 0.01))} }}
"""


class Scenes:
    """Random scenes: all Ok means that no energy was made and that what moves is what is said to move."""
    name = "scenes"

    def __init__(self, machine):
        self.machine = machine
        self.unjudged = 0

    def case(self, random):
        solver = random.choice(SOLVERS)
        make = bodies_scene if solver == "impulse" else random.choice((bodies_scene, robot_scene, soft_scene)) if solver == "sap" else random.choice((bodies_scene, robot_scene))
        name, text = make(random, solver)
        return Case(self.name, {"solver": solver, "steps": random.choice((20, 100, 300))}, {name: text.encode()}, name)

    def run(self, case, folder, steps):
        return self.machine.run(["run", case.main, "--solver", case.parameters["solver"], "--steps", steps, "--time-limit", "8", "--json", "-qq"], folder)

    def attempt(self, case):
        folder, steps = self.machine.empty_folder(), case.parameters["steps"]
        case.write_files(folder)
        documents = []
        for number in (1, steps, steps + 1):  # a report of no step has no energy
            done = self.run(case, folder, number)
            fault = judge(done, (0, 3, 4, 5))
            if fault:
                return f"{case.parameters['solver']}: {fault}"
            if done.code == 5:
                self.unjudged += 1  # it took too long
            if done.code != 0:
                return None
            documents.append(json.loads(done.out))
        solver = case.parameters["solver"]
        if any(find_null(document) for document in documents):
            return f"{solver}: a number that is none"
        first, before, last = documents
        if any(count for name, count in last["status"].items() if name != "Ok"):
            self.unjudged += 1  # the report says that something was wrong
            return None
        # What swings may be where it began: how much is at work is seen on the way.
        if self.gain(first, last, ENERGY_SHARES[case.main]) > 0 and self.gain(first, last, ENERGY_SHARES[case.main], self.largest(case, folder, steps)) > 0:
            return f"{solver}: energy was made and every step is Ok"
        dt = (last["simulated_s"] - before["simulated_s"])
        if any(self.strays(before["bodies"][name], body, dt) for name, body in last["bodies"].items()):
            return f"{solver}: a body does not move as its velocity says, and every step is Ok"
        return None

    def largest(self, case, folder, steps):
        """Kinetic energy at four moments of the run [J]."""
        done = [self.run(case, folder, max(1, steps * i // 5)) for i in range(1, 5)]
        return max(json.loads(outcome.out)["energy"]["kinetic"] for outcome in done)

    @staticmethod
    def gain(first, last, share, at_work=0.0):
        """Energy beyond what is allowed [J]."""
        begin, end = first["energy"], last["energy"]
        given = sum(max(0.0, end[row]) for row in ("external", "kinematic", "correction"))
        lowest = min(begin["potential"], end["potential"])
        scale = begin["kinetic"] + end["kinetic"] + begin["potential"] - lowest + given
        return end["kinetic"] + end["potential"] - begin["kinetic"] - begin["potential"] - given - share * (scale + at_work) - 1e-6

    @staticmethod
    def strays(before, after, dt):
        """Whether its way in the last step is none of the velocities before and after it, nor between them."""
        way = [(b - a) / dt for a, b in zip(before["position"], after["position"])]
        old, new = before["linear_velocity"], after["linear_velocity"]
        along = [n - o for o, n in zip(old, new)]
        square = sum(a * a for a in along)
        share = min(1, max(0, sum((w - o) * a for w, o, a in zip(way, old, along)) / square)) if square > 0 else 0
        off = math.dist(way, [o + share * a for o, a in zip(old, along)])
        spin = max(math.hypot(*before["angular_velocity"]), math.hypot(*after["angular_velocity"]))
        reach = 2.0  # the origin of a body turns about its centre [m]
        return off > RECOVERY_SPEED + 0.1 * math.hypot(*new) + GRAVITY * dt + min(spin, spin * spin * dt) * reach
