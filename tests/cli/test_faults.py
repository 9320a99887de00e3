#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files that were found to hurt: outputs never destroy what a run reads, loading is bounded and can be ended.

  test_faults.py TANGERE [unittest options]"""
import json
import math
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys
import time
import unittest

from program_test import ProgramTest

PROGRAM = ""

# A wedge, 8 x 4 x 3 cm, in centimetres.
WEDGE = """v -4 -2 -1.5
v 4 -2 -1.5
v 4 2 -1.5
v -4 2 -1.5
v -4 -2 1.5
v -4 2 1.5
f 1 4 3 2
f 1 2 5
f 3 4 6
f 2 3 6 5
f 4 1 5 6
"""
ROBOT = """<robot name="r"><link name="base"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
<visual><geometry><mesh filename="look.obj" scale="0.01 0.01 0.01"/></geometry></visual>
<collision><geometry><mesh filename="wedge.obj" scale="0.01 0.01 0.01"/></geometry></collision></link></robot>
"""
SCENE = """
[[model]]
file = "robot.urdf"
name = "robot"

[[body]]
name = "wedge"
position = [1, 0, 0]
mass = 1
inertia = [1, 1, 1]
shapes = [{ mesh = "sub/other.obj", scale = 0.01, representation = "convex" }]
"""
# The tip of this arm is a wedge squeezed to 40 nm beside a link that touches by pressure: cut into pieces as thin as
# it is, it had some 10^12 triangles.
FLAT_HULL = """<robot name="r" xmlns:drake="http://drake.mit.edu"><link name="base"><inertial><mass value="2"/>
<inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial><collision><geometry><sphere radius="0.1"/></geometry>
<drake:proximity_properties><drake:compliant_hydroelastic/><drake:hydroelastic_modulus value="1e6"/>
<drake:mesh_resolution_hint value="0.05"/></drake:proximity_properties></collision></link>
<link name="tip"><inertial><mass value="0.5"/><inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/></inertial>
<collision><geometry><mesh filename="wedge.obj" scale="0.5 1e-6 0.5"/></geometry></collision></link>
<joint name="j" type="prismatic"><parent link="base"/><child link="tip"/><origin xyz="0 0 5"/><axis xyz="0 0 1"/>
<limit lower="-0.1" upper="0.1" effort="1" velocity="1"/></joint></robot>
"""
GIGABYTE = 1 << 30


class FaultTest(ProgramTest):
    seconds = 120

    def most_memory(self):
        """Of the largest program that has ended [bytes]; ru_maxrss is in kB."""
        return 1024 * resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss


class Outputs(FaultTest):
    OPTIONS = ("--record", "--replay", "--trace", "--checkpoint", "--events")

    def setUp(self):
        super().setUp()
        (self.path / "sub").mkdir()
        for name, text in (("scene.toml", SCENE), ("robot.urdf", ROBOT), ("wedge.obj", WEDGE), ("look.obj", WEDGE), ("sub/other.obj", WEDGE)):
            self.file(name, text)
        self.scene = self.name("scene.toml")
        self.inputs = {path: path.read_bytes() for path in sorted(self.path.rglob("*")) if path.is_file()}

    def require_inputs_unchanged(self):
        for path, content in self.inputs.items():
            self.assertEqual(path.read_bytes(), content, path)

    def test_no_output_of_a_run_is_a_file_that_its_scene_reads(self):
        self.assertEqual(len(self.inputs), 5)
        (self.path / "link").symlink_to("wedge.obj")
        os.link(self.name("sub/other.obj"), self.name("same"))
        for option in self.OPTIONS:
            for name in ("scene.toml", "robot.urdf", "wedge.obj", "look.obj", "sub/other.obj", "link", "same", "sub/../look.obj"):
                message = self.run_program("run", self.scene, "--steps", "2", option, self.name(name), code=2)[1]
                self.assertIn("is the same file as", message)
        self.run_program("compare", self.scene, "--html", self.name("wedge.obj"), code=2)
        self.require_inputs_unchanged()

    def test_the_file_that_an_output_is_before_it_is_complete_is_no_input_either(self):
        os.rename(self.name("wedge.obj"), self.name("a.partial.obj"))
        self.file("robot.urdf", ROBOT.replace("wedge.obj", "a.obj.partial.obj"))
        os.rename(self.name("a.partial.obj"), self.name("a.obj.partial.obj"))
        self.run_program("run", self.scene, "--steps", "2", "--record", self.name("a.obj"))
        os.rename(self.name("scene.toml"), self.name("x.partial"))
        for option in self.OPTIONS:
            self.run_program("run", self.name("x.partial"), "--steps", "2", option, self.name("x"), code=2)
        self.assertEqual(self.inputs[pathlib.Path(self.scene)], (self.path / "x.partial").read_bytes())

    def test_an_output_is_new_or_a_regular_file(self):
        os.mkfifo(self.name("pipe"))
        for name, target in (("null", "/dev/null"), ("nowhere", "missing"), ("folder", "sub"), ("to_pipe", "pipe")):
            (self.path / name).symlink_to(target)
        for option in self.OPTIONS:
            for name in ("pipe", "null", "nowhere", "folder", "to_pipe", "sub", "/dev/null", "/dev/full"):
                message = self.run_program("run", self.scene, "--steps", "2", option, self.path / name, code=6)[1]
                self.assertIn("cannot be written: ", message)
        self.assertTrue((self.path / "null").is_symlink() and os.path.islink(self.name("nowhere")))
        self.assertFalse((self.path / "missing").exists())
        self.assertEqual([path.name for path in self.path.rglob("*.partial")], [])

    def test_a_link_to_a_file_stays_a_link_and_its_file_is_replaced(self):
        for option in self.OPTIONS:
            real = self.path / "sub" / ("real" + option)
            real.write_bytes(b"old")
            link = self.path / ("link" + option)
            link.symlink_to(real)
            self.run_program("run", self.scene, "--steps", "2", "--solver", "sap", option, link)
            self.assertTrue(link.is_symlink())
            self.assertNotEqual(real.read_bytes(), b"old")

    def test_two_runs_do_not_write_one_page(self):
        slow = self.file("slow.toml", "[[body]]\nname = 'a'\nposition = [0, 0, 1]\nshapes = [{ sphere = 0.1 }]\n")
        first = subprocess.Popen([PROGRAM, "run", slow, "--steps", "1000000000", "-q", "--replay", self.name("a.html")])
        try:
            end = time.time() + 30
            while not (self.path / "a.html.partial").exists() and time.time() < end:
                time.sleep(0.01)
            self.assertIn("another run", self.run_program("run", slow, "--steps", "2", "--replay", self.name("a.html"), code=6)[1])
        finally:
            first.send_signal(signal.SIGINT)
            self.assertEqual(first.wait(60), 130)
        self.assertGreater((self.path / "a.html").stat().st_size, 1000)

    def test_what_does_not_reach_a_full_stdout_is_told_by_every_command(self):
        robot = self.name("robot.urdf")
        for words in (["--help"], ["run", "--help"], ["--version"], ["doctor"], ["doctor", "--json"], ["check", self.scene], ["check", self.name("wedge.obj")],
                      ["check", robot, "--json"], ["mesh", "--sphere", "0.1", "-o", self.name("a.msh")], ["bench", robot, "--steps", "3", "--solver", "sap"]):
            with open("/dev/full", "wb") as full:
                done = subprocess.run([PROGRAM, *words], stdout=full, stderr=subprocess.PIPE, timeout=60)
            self.assertEqual((done.returncode, done.stderr.decode().splitlines()[-1:]), (6, ["tangere: stdout cannot be written"]), words)

    def test_volume_files_pages_and_tables_keep_what_they_are_made_from(self):
        self.run_program("mesh", "--sphere", "0.1", "-o", self.name("ball.msh"))
        before = (self.path / "ball.msh").read_bytes()
        (self.path / "again.msh").symlink_to("ball.msh")
        self.run_program("mesh", self.name("ball.msh"), "-o", self.name("again.msh"), code=2)
        self.run_program("mesh", "--sphere", "0.1", "-o", self.name("sub/../ball.msh"), "--ascii")
        self.assertNotEqual((self.path / "ball.msh").read_bytes(), before)
        pairs = self.file("pairs.csv", "id\n")
        self.run_program("query", pairs, "-o", pairs, code=2)
        self.assertEqual(pathlib.Path(pairs).read_text(), "id\n")


class Loading(FaultTest):
    def test_a_hull_as_thin_as_nothing_beside_a_pressure_shape_loads(self):
        self.file("wedge.obj", WEDGE)
        begin = time.process_time()
        document = json.loads(self.run_program("run", self.file("flat.urdf", FLAT_HULL), "--steps", "20", "--json")[0])
        self.assertEqual(document["steps"], 20)
        self.assertLess(time.process_time() - begin, 10)
        self.assertLess(self.most_memory(), GIGABYTE)

    def test_copies_inside_copies_are_counted_before_they_are_made(self):
        inside = '<body><geom size="0.1"/></body>'
        for times, what in ((6, "1000000 copies"), (100, "1000000 copies")):
            text = '<replicate count="1000" offset="1 0 0">' * times + inside + "</replicate>" * times
            scene = self.file("nested.xml", f"<mujoco><worldbody>{text}</worldbody></mujoco>")
            self.assertRegex(self.run_program("run", scene, code=5)[1], what)
        # One copy each, but twenty bodies in every one of a hundred thousand; and shapes, and joints of one body.
        for count, part, what in (("100000", inside * 20, "1000000 bodies"), ("900000", '<geom size="0.1"/>' * 5, "4000000 shapes"),
                                  ("900000", '<frame/>' * 6, "together")):
            scene = self.file("wide.xml", f'<mujoco><worldbody><replicate count="{count}">{part}</replicate></worldbody></mujoco>')
            self.assertIn(what, self.run_program("run", scene, code=5)[1])
        self.assertLess(self.most_memory(), GIGABYTE)
        # What is allowed is made: 3 x 4 x 5 of them.
        scene = self.file("some.xml", '<mujoco><worldbody><replicate count="3" offset="9 0 0"><replicate count="4" offset="0 9 0">'
                                      f'<replicate count="5" offset="0 0 9">{inside}</replicate></replicate></replicate></worldbody></mujoco>')
        self.assertEqual(len(json.loads(self.run_program("run", scene, "--steps", "1", "--json")[0])["bodies"]), 60)

    def slow_scene(self):
        """The hull of so many points on a sphere takes seconds."""
        count, turn = 250_000, math.pi * (3 - math.sqrt(5))
        lines = []
        for i in range(count):
            z = 1 - (2 * i + 1) / count
            r = math.sqrt(1 - z * z)
            lines.append(f"v {r * math.cos(turn * i):.9f} {r * math.sin(turn * i):.9f} {z:.9f}")
        self.file("ball.obj", "\n".join(lines) + "\nf 1 2 3\n")
        return self.file("slow.toml", '[[body]]\nname = "a"\nmass = 1\ninertia = [1, 1, 1]\n'
                                      'shapes = [{ mesh = "ball.obj", representation = "convex" }]\n')

    def test_an_interrupt_or_the_time_limit_ends_loading(self):
        scene = self.slow_scene()
        message = self.run_program("run", scene, "--steps", "1", "--time-limit", "0.2", code=5)[1]
        self.assertIn(f"the time limit was reached while {scene} was read", message)
        for command, number in (("run", signal.SIGTERM), ("check", signal.SIGINT)):
            program = subprocess.Popen([PROGRAM, command, scene, "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            time.sleep(0.3)
            sent = time.time()
            program.send_signal(number)
            out, err = program.communicate(timeout=60)
            self.assertLess(time.time() - sent, 2)
            self.assertEqual(program.returncode, 130, err)
            self.assertEqual(json.loads(out)["exit_code"], 130)
            self.assertIn(b"interrupted while", err)


class RunningAway(FaultTest):
    def test_a_state_that_runs_away_ends_with_code_4_the_name_of_the_body_and_numbers(self):
        # A kilogram or four pushed by 1e90 N: its energy would be 1e175 J, and soon no number.
        scene = self.file("push.xml", '<mujoco><worldbody><body name="arm"><joint name="j" type="slide"/><geom size="0.1"/></body></worldbody>'
                                      '<actuator><motor joint="j" gear="1e90"/></actuator><keyframe><key name="k" ctrl="1"/></keyframe></mujoco>')
        for solver in ("sap", "event"):
            out, err = self.run_program("run", scene, "--solver", solver, "--keyframe", "k", "--steps", "50", "--json", code=4)
            self.assertRegex(err, "environment 0, step 1: (StateNotFinite|IntegratorFailed) of 'arm'")
            self.assertNotIn("null", out)
            self.assertEqual(json.loads(out)["energy"]["kinetic"], 0)


# Two unit cubes, the second moved by (0.5, 0.3, 0.2): together they hold 2 - 0.5 * 0.7 * 0.8 = 1.72 m^3.
def cubes(x, y, z):
    lines = [f"v {i * dx + a} {i * dy + b} {i * dz + c}" for i, (dx, dy, dz) in ((0, (x, y, z)), (1, (x, y, z)))
             for a in (0, 1) for b in (0, 1) for c in (0, 1)]
    faces = ("1 2 4", "1 4 3", "5 7 8", "5 8 6", "1 5 6", "1 6 2", "3 4 8", "3 8 7", "1 3 7", "1 7 5", "2 6 8", "2 8 4")
    lines += ["f " + " ".join(str(int(v) + shift) for v in face.split()) for shift in (0, 8) for face in faces]
    return "\n".join(lines) + "\n"


ARM = """<robot name="r"><link name="a"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="b"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>
"""


class Suspicions(FaultTest):
    def test_a_mesh_that_passes_through_itself_is_no_solid(self):
        crossed = self.file("crossed.obj", cubes(0.5, 0.3, 0.2))
        document = json.loads(self.run_program("check", crossed, "--json")[0])
        self.assertEqual((document["solid"], document["watertight"]), (False, True))
        self.assertAlmostEqual(document["volume_m3"], 2, places=12)
        self.assertIn("passes through itself", document["findings"][0])
        self.run_program("check", crossed, "--solid", code=3)
        scene = self.file("scene.toml", '[[body]]\nname = "a"\nshapes = [{ mesh = "crossed.obj" }]\n')
        self.assertIn("its surface passes through itself, first at (", self.run_program("run", scene, "--steps", "1")[1])
        # Cubes that are apart, that share a face or an edge, and one inside the other, do not pass through each other.
        for place in ((2, 0, 0), (1, 0, 0), (1, 1, 0), (1, 0.5, 0.25)):
            document = json.loads(self.run_program("check", self.file("whole.obj", cubes(*place)), "--json")[0])
            self.assertTrue(document["solid"], place)

    def test_a_start_outside_the_limits_of_a_joint_is_told_with_its_name_value_and_place(self):
        self.file("arm.urdf", ARM)
        for start, is_outside in ((2.0, True), (-1.001, True), (1.0000005, False), (1, False)):
            scene = self.file("scene.toml", f'[[model]]\nfile = "arm.urdf"\nname = "x"\npositions = {{ j = {start} }}\n')
            warning = self.run_program("run", scene, "--steps", "1")[1]
            expected = rf"scene\.toml:4:\d+: joint 'x/j': found the start {start:g}, outside its limits -1 to 1"
            self.assertEqual(bool(re.search(expected, warning)), is_outside, warning)

    def test_a_robot_whose_zero_is_outside_its_limits_is_noted_and_not_warned_of(self):
        arm = self.file("arm.xml", '<mujoco><worldbody><body>\n<joint name="j" axis="0 1 0" range="20 40" limited="true"/>'
                                   '<geom size="0.1" pos="1 0 0"/></body></worldbody></mujoco>')
        self.assertNotIn("outside its limits", self.run_program("run", arm, "--steps", "1")[1])
        self.assertRegex("".join(self.run_program("check", arm)[:2]), r"arm\.xml:2:\d+: .*joint 'j': no start is given, and its zero is 0, outside its limits 0.349")

    def test_check_refuses_what_run_refuses_at_the_same_place(self):
        # Two hinges about one axis: what the first one turns, the second one turns back.
        self.file("arm.xml", '<mujoco><worldbody><body>\n<joint name="i" axis="0 0 1"/>\n<joint name="j" axis="0 0 1"/>\n'
                             '<geom size="0.1"/></body></worldbody></mujoco>')
        scene = self.file("scene.toml", '\n\n[[model]]\nfile = "arm.xml"\nname = "x"\n')
        for file, place in ((self.name("arm.xml"), r"arm\.xml:1:\d+: "), (scene, r"scene\.toml:3:\d+: ")):
            said = [self.run_program(command, file, code=3)[1] for command in ("check", "run")]
            self.assertEqual(said[0], said[1])
            self.assertRegex(said[0], place + "the mass matrix of body '(x/)?body0' and what hangs on it is not positive definite")

    def test_numbers_that_are_allowed_and_suspicious_are_warned_of_with_their_place(self):
        soft = ('[[soft]]\nname = "s"\nshape = { box = [0.1, 0.1, 0.1] }\nposition = [0, 0, 1]\n'
                'elasticity = { young = 1e5, poisson = %s }\n')
        sdf = ('<sdf version="1.9"><world name="w">\n<physics name="p" type="ode"><max_step_size>%s</max_step_size></physics><model name="m"><link name="l">'
               '<collision name="c"><geometry><sphere><radius>1</radius></sphere></geometry></collision></link></model></world></sdf>')
        mjcf = '<mujoco><worldbody>\n<body name="b"><freejoint/><geom size="%s"/></body></worldbody></mujoco>'
        for name, text, good, bad, expected in (
                ("soft.toml", soft, 0.495, 0.496, r"soft\.toml:5:\d+: .*Poisson's ratio above 0.495"),
                ("step.sdf", sdf, 0.1, 0.2, r"step\.sdf:2:\d+: .*max_step_size of more than 0.1 s"),
                ("size.xml", mjcf, 499, 500, r"size\.xml:2:\d+: found body 'b' of 1000 m or more: is the file in millimetres")):
            for value in (good, bad):
                warning = self.run_program("run", self.file(name, text % value), "--steps", "0")[1]
                self.assertEqual(bool(re.search(expected, warning)), value == bad, warning)

    def test_a_soft_body_in_two_parts_is_warned_of_by_run(self):
        tets = "".join(f"{x} 0 0\n{x + 1} 0 0\n{x} 1 0\n{x} 0 1\n" for x in (0, 5))
        self.file("two.vtk", "# vtk DataFile Version 2.0\ntwo\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 8 double\n" + tets +
                  "CELLS 2 10\n4 0 1 2 3\n4 4 5 6 7\nCELL_TYPES 2\n10\n10\n")
        scene = self.file("two.toml", '[[soft]]\nname = "s"\nvolume = "two.vtk"\n' + "elasticity = { young = 1e5 }\n")
        self.assertRegex(self.run_program("run", scene, "--steps", "1")[1], r"two\.toml:3:\d+: .*in 2 parts that no face connects: they move as bodies of their own")

    def test_an_inertia_that_no_body_has_is_mended_where_that_is_asked_for(self):
        urdf = ARM.replace('ixx="1" iyy="1" izz="1"', 'ixx="1" iyy="1" izz="5"', 1)
        sdf = ('<sdf version="1.9"><model name="m"><link name="l">\n<inertial><mass>1</mass><inertia><ixx>1</ixx><iyy>1</iyy><izz>5</izz></inertia></inertial>'
               '<collision name="c"><geometry><sphere><radius>1</radius></sphere></geometry></collision></link></model></sdf>')
        mjcf = '<mujoco><worldbody><body name="b"><freejoint/>\n<inertial pos="0 0 0" mass="1" diaginertia="1 1 5"/><geom size="1"/></body></worldbody></mujoco>'
        toml = '[[body]]\nname = "a"\nmass = 1\ninertia = [1, 1, 5]\nshapes = [{ sphere = 1 }]\n'
        for name, text in (("a.urdf", urdf), ("a.sdf", sdf), ("a.xml", mjcf), ("a.toml", toml)):
            file = self.file(name, text)
            for command in ("check", "run"):
                self.run_program(command, file, code=3)
            said = self.run_program("run", file, "--fix-inertia", "--steps", "3")[1]
            self.assertRegex(said, rf"warning: .*{re.escape(name)}:\d+:\d+: .*\(--fix-inertia\)")
        self.assertIn("2.33333 kg m^2 about every axis", self.run_program("check", self.name("a.toml"), "--fix-inertia")[0])  # 7 / 3
        # A sum that is not positive says nothing about the body.
        hopeless = self.file("b.toml", toml.replace("[1, 1, 5]", "[1, 1, -5]"))
        self.run_program("run", hopeless, "--fix-inertia", code=3)

    def test_limits_of_what_is_read_can_be_set_by_name(self):
        scene = self.file("many.toml", '[[body]]\nname = "a"\ncount = [5, 5, 4]\nspacing = [1, 1, 1]\nshapes = [{ sphere = 0.1 }]\n')
        self.run_program("run", scene, "--steps", "1", "--limit", "bodies=100")
        for name in ("bodies", "shapes"):
            self.assertIn("99", self.run_program("check", scene, "--limit", f"{name}=99", code=5)[1])
        self.run_program("check", scene, "--limit", "bytes=20", "--limit", "bodies=100", code=5)
        for wrong, expected in (("bodys=3", "there is no limit 'bodys'.*bodies"), ("bodies", "expected a whole number"), ("bodies=0", "from 1 to"), ("bodies=1e3", "found '1e3'")):
            self.assertRegex(self.run_program("run", scene, "--limit", wrong, code=2)[1], expected)

    def test_device_auto_runs_on_the_cpu_and_says_so(self):
        scene = self.file("scene.toml", '[[body]]\nname = "a"\nshapes = [{ sphere = 0.1 }]\n')
        self.assertIn("--device auto: on the cpu", self.run_program("run", scene, "--steps", "1", "--device", "auto")[1])
        self.run_program("run", scene, "--steps", "1", "--device", "gpu", code=2)

    def test_nesting_and_includes_beyond_the_limits_are_rejected_input(self):
        deep = "<mujoco><worldbody>" + "<body>" * 20_000
        self.run_program("run", self.file("deep.xml", deep), code=3)
        for i in range(20):
            self.file(f"f{i}.xml", f"<mujoco><include file='f{i + 1}.xml'/></mujoco>")
        self.run_program("run", self.name("f0.xml"), code=3)
        many = "".join(f"<include file='g{i}.xml'/>" for i in range(300))
        for i in range(300):
            self.file(f"g{i}.xml", "<mujoco/>")
        self.assertIn("256", self.run_program("run", self.file("many.xml", f"<mujoco>{many}</mujoco>"), code=3)[1])


if __name__ == "__main__":
    PROGRAM = ProgramTest.program = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=1)
