#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tangere mesh and tangere check on volume files: reports, conversions, exit codes, whole outputs.

  test_mesh.py TANGERE [unittest options]"""
import json
import math
import os
import pathlib
import resource
import sys
import unittest

from program_test import ProgramTest

KEYS = ["input", "output", "method", "vertices", "tets", "surface_triangles", "parts", "surface_tets",
        "min_dihedral_deg", "max_dihedral_deg", "max_aspect", "shortest_edge_m", "longest_edge_m",
        "min_tet_volume_m3", "max_tet_volume_m3", "volume_m3", "volume_error", "surface_error_m",
        "lost_feature_m", "lower", "upper", "wall_s", "findings"]
# The surface of the unit cube, seen from outside.
CUBE = ("".join(f"v {x} {y} {z}\n" for x in (0, 1) for y in (0, 1) for z in (0, 1)) +
        "f 1 2 4 3\nf 5 7 8 6\nf 1 5 6 2\nf 3 4 8 7\nf 1 3 7 5\nf 2 6 8 4\n")
TWO_TETS = ("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n6\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n5 1 1 1\n6 9 9 9\n"
            "$EndNodes\n$Elements\n3\n1 2 0 1 2 3\n2 4 0 1 2 3 4\n3 4 0 3 2 4 5\n$EndElements\n")


class MeshCommand(ProgramTest):
    def setUp(self):
        super().setUp()
        self.out = str(self.path / "out.msh")

    def document(self, *arguments):
        return json.loads(self.run_program(*arguments, "--json")[0])

    def assert_absent(self):
        self.assertEqual([p.name for p in self.path.iterdir() if p.name.startswith("out")], [])


class Surfaces(MeshCommand):
    def test_a_cube_is_filled_and_reported(self):
        report = self.document("mesh", self.file("cube.obj", CUBE), "-o", self.out, "--resolution", "0.1")
        self.assertEqual(list(report), KEYS)
        self.assertEqual((report["input"], report["output"]), (str(self.path / "cube.obj"), self.out))
        self.assertEqual(report["parts"], 1)
        self.assertGreater(report["tets"], 1000)
        self.assertAlmostEqual(report["volume_m3"] / (1 + report["volume_error"]), 1, places=9)
        self.assertLess(abs(report["volume_error"]), 0.01)
        self.assertGreater(report["min_dihedral_deg"], 5)
        self.assertLess(report["max_dihedral_deg"], 175)
        self.assertGreater(report["wall_s"], 0)

    def test_what_was_written_is_what_check_reads(self):
        made = self.document("mesh", self.file("cube.obj", CUBE), "-o", self.out, "--resolution", "0.3")
        read = self.document("check", self.out)
        self.assertEqual(list(read), KEYS)
        for key in ("vertices", "tets", "surface_triangles", "parts", "surface_tets", "min_dihedral_deg",
                    "max_dihedral_deg", "volume_m3", "lower", "upper"):
            self.assertEqual(read[key], made[key], key)
        self.assertEqual((read["method"], read["output"], read["volume_error"]), ("file", None, None))

    def test_the_same_bytes_every_time_and_the_same_mesh_in_every_format(self):
        cube = self.file("cube.obj", CUBE)
        self.run_program("mesh", cube, "-o", self.out, "--resolution", "0.4")
        first = pathlib.Path(self.out).read_bytes()
        self.run_program("mesh", cube, "-o", self.out, "--resolution", "0.4", "--threads", "4")
        self.assertEqual(pathlib.Path(self.out).read_bytes(), first)
        for name, options in (("b.vtk", []), ("c.vtk", ["--ascii"]), ("d.msh", ["--ascii"])):
            copy, back = str(self.path / name), str(self.path / "back.msh")
            self.run_program("mesh", self.out, "-o", copy, *options)
            self.run_program("mesh", copy, "-o", back)
            self.assertEqual(pathlib.Path(back).read_bytes(), first, name)

    def test_the_table_names_what_a_person_looks_for(self):
        text = self.run_program("mesh", self.file("cube.obj", CUBE), "-o", self.out, "--resolution", "0.4")[0]
        for word in ("tetrahedra", "vertices", "dihedral angles", "degrees", "volume error", "lost features", "method",
                     "time", "written to"):
            self.assertIn(word, text)
        self.assertEqual(self.run_program("mesh", self.file("cube.obj", CUBE), "-o", self.out, "-q")[0], "")

    def test_triangles_that_face_inward_are_turned_with_a_finding(self):
        inward = "".join(" ".join(["f"] + line.split()[:0:-1]) + "\n" if line.startswith("f") else line + "\n"
                         for line in CUBE.splitlines())
        report = self.document("mesh", self.file("cube.obj", inward), "-o", self.out, "--resolution", "0.4")
        self.assertIn("the triangles faced inward and were turned", report["findings"])
        self.assertGreater(report["volume_m3"], 0.9)

    def test_an_open_surface_is_rejected_with_its_open_edges(self):
        opened = self.file("open.obj", CUBE.replace("f 2 6 8 4\n", ""))
        message = self.run_program("mesh", opened, "-o", self.out, code=3)[1]
        self.assertIn("open.obj", message)
        self.assertIn("4 open edges", message)
        self.assert_absent()

    def test_more_tetrahedra_than_allowed_are_a_resource_limit(self):
        cube = self.file("cube.obj", CUBE)
        self.assertIn("more tetrahedra", self.run_program(
            "mesh", cube, "-o", self.out, "--resolution", "0.05", "--max-tets", "1000", code=5)[1])
        self.run_program("mesh", cube, "-o", self.out, "--resolution", "1e-9", code=5)
        self.assert_absent()


class Primitives(MeshCommand):
    def test_sizes_are_those_of_a_scene_file(self):
        for arguments, volume, tolerance in (
                (["--box", "0.5", "1", "1.5"], 6, 1e-12), (["--sphere", "0.02"], 4 / 3 * math.pi * 8e-6, 0.1),
                (["--cylinder", "1", "0.5"], math.pi, 0.1), (["--capsule", "1", "0.5"], 7 / 3 * math.pi, 0.1),
                (["--cone", "1", "0.5"], math.pi / 3, 0.1), (["--ellipsoid", "1", "2", "3"], 8 * math.pi, 0.1)):
            report = self.document("mesh", *arguments, "-o", self.out)
            self.assertAlmostEqual(report["volume_m3"] / volume, 1, delta=tolerance, msg=arguments)
            self.assertEqual(report["method"], "structured")

    def test_bad_sizes_are_rejected(self):
        self.assertIn("radius", self.run_program("mesh", "--sphere", "-1", "-o", self.out, code=3)[1])
        self.assert_absent()


class Volumes(MeshCommand):
    def test_what_the_reader_changed_is_in_the_report(self):
        report = self.document("check", self.file("two.msh", TWO_TETS))
        self.assertEqual((report["vertices"], report["tets"], report["parts"]), (5, 2, 1))
        self.assertAlmostEqual(report["volume_m3"], 0.5, places=15)
        self.assertEqual(report["findings"], ["1 triangle left out: only tetrahedra are kept",
                                              "1 vertex of no tetrahedron left out",
                                              "1 tetrahedron of negative volume turned"])
        self.assertIn("1 vertex of no tetrahedron", self.run_program("check", self.file("two.msh", TWO_TETS))[0])

    def test_tetgen_files_are_converted(self):
        self.file("a.1.ele", "1 4 0\n0 0 1 2 3\n")
        nodes = self.file("a.1.node", "4 3 0 0\n0 0 0 0\n1 1 0 0\n2 0 1 0\n3 0 0 1\n")
        report = self.document("mesh", nodes, "-o", self.out)
        self.assertEqual((report["tets"], report["method"]), (1, "file"))
        self.assertAlmostEqual(self.document("check", self.out)["volume_m3"], 1 / 6, places=16)

    def test_broken_files_are_rejected_with_their_place(self):
        broken = self.file("two.msh", TWO_TETS.replace("2 4 0 1 2 3 4", "2 4 0 1 2 3 44"))
        for command in (["check", broken], ["mesh", broken, "-o", self.out]):
            self.assertIn("two.msh:16: the element has node 44", self.run_program(*command, code=3)[1])
        self.assertIn("two.msh:16:", json.loads(self.run_program("check", broken, "--json", code=3)[0])
                      ["errors"][0]["message"])
        self.run_program("check", self.file("noise.msh", os.urandom(1_000_000)), code=3)
        self.run_program("check", self.file("noise.vtk", os.urandom(1_000_000)), code=3)
        self.run_program("check", self.file("a.node", "4 3\n"), code=3)
        self.assertIn("legacy VTK", self.run_program("check", self.file("a.vtu", "<VTKFile/>"), code=3)[1])
        self.assert_absent()

    def test_files_that_cannot_be_read(self):
        self.run_program("check", str(self.path / "absent.msh"), code=6)
        self.run_program("mesh", str(self.path / "absent.stl"), "-o", self.out, code=6)
        os.mkfifo(self.path / "pipe.msh")
        self.run_program("check", str(self.path / "pipe.msh"), code=6)
        with open(self.path / "huge.msh", "wb") as huge:
            huge.truncate(600 << 20)
        self.run_program("check", str(self.path / "huge.msh"), code=5)


class Usage(MeshCommand):
    def test_help_has_an_example(self):
        self.assertIn("Example", self.run_program("mesh", "--help")[0])

    def test_wrong_use(self):
        cube = self.file("cube.obj", CUBE)
        self.run_program("mesh", cube, code=2)
        self.run_program("mesh", "-o", self.out, code=2)
        self.run_program("mesh", cube, "--sphere", "1", "-o", self.out, code=2)
        self.run_program("mesh", "--box", "1", "1", "1", "--sphere", "1", "-o", self.out, code=2)
        self.run_program("mesh", "--box", "1", "1", "-o", self.out, code=2)
        self.run_program("mesh", cube, "-o", str(self.path / "out.stl"), code=2)
        for resolution in ("0", "-1", "nan", "inf", "x"):
            self.run_program("mesh", cube, "-o", self.out, "--resolution", resolution, code=2)
        self.run_program("mesh", cube, "-o", self.out, "--max-tets", "0", code=2)
        self.assertIn("did you mean '--resolution'?", self.run_program(
            "mesh", cube, "-o", self.out, "--resolutoin", "1", code=2)[1])
        volume = self.file("two.msh", TWO_TETS)
        self.run_program("mesh", volume, "-o", self.out, "--resolution", "1", code=2)
        self.run_program("mesh", volume, "-o", volume, code=2)
        self.run_program("mesh", self.file("a.txt", "x"), "-o", self.out, code=3)
        self.assert_absent()

    def test_what_cannot_be_written_is_an_input_output_error_and_leaves_the_old_file(self):
        volume = self.file("two.msh", TWO_TETS)
        self.run_program("mesh", volume, "-o", str(self.path / "none" / "out.msh"), code=6)
        pathlib.Path(self.out).write_text("old")
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
        self.run_program("mesh", volume, "-o", self.out, code=6, preexec_fn=limit)
        self.assertEqual(pathlib.Path(self.out).read_text(), "old")
        self.assertFalse(os.path.exists(self.out + ".partial"))


if __name__ == "__main__":
    ProgramTest.program = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=0)
