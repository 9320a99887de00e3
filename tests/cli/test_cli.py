#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The command line's contract: exit codes, messages with positions, output that is whole or absent.

  test_cli.py TANGERE [unittest options]"""
import csv
import io
import json
import math
import os
import shutil
import signal
import subprocess
import sys
import time
import unittest

from program_test import ProgramTest

PROGRAM = ""
HEADER = "id,dist,nx,ny,nz,w1x,w1y,w1z,w2x,w2y,w2z,ncontacts,status"
COLUMNS = ["id"] + [c + i for i in "12" for c in
                    ("shape", "a", "b", "c", "hull", "qw", "qx", "qy", "qz", "x", "y", "z")]


def pair(**changes):
    """Two balls of radius 0.5, the second 0.8 m above the first: overlap 0.2 m."""
    row = {c: "0" for c in COLUMNS}
    row.update(id="0", shape1="sphere", a1="0.5", qw1="1", hull1="-1",
               shape2="sphere", a2="0.5", qw2="1", hull2="-1", z2="0.8")
    row.update(changes)
    return row


def table(rows, columns=COLUMNS, end="\n"):
    return end.join([",".join(columns)] + [",".join(r[c] for c in columns) for r in rows]) + end


class CommandLine(ProgramTest):
    seconds = 120

    def query(self, rows, *arguments, code=0, columns=COLUMNS):
        out, err = self.run_program("query", self.file("pairs.csv", table(rows, columns)), *arguments, code=code)
        return list(csv.DictReader(io.StringIO(out))), err


class Usage(CommandLine):
    def test_version_and_help_with_an_example(self):
        self.assertRegex(self.run_program("--version")[0], r"^tangere \d+\.\d+\.\d+\n$")
        self.assertIn("Example", self.run_program("--help")[0])
        for command in ("query", "check", "bench", "doctor"):
            self.assertIn("Example", self.run_program(command, "--help")[0])

    def test_a_typo_is_a_usage_error_with_the_nearest_name(self):
        self.assertIn("did you mean 'query'?", self.run_program("qeury", code=2)[1])
        self.assertIn("did you mean '--repeat'?", self.run_program("query", "x.csv", "--repaet", "3", code=2)[1])
        self.assertIn("did you mean 'distance'?", self.run_program("query", "x.csv", "--what", "distnace", code=2)[1])
        self.assertIn("did you mean 'broad'?", self.run_program("bench", "boad", code=2)[1])

    def test_wrong_values_and_missing_arguments_are_usage_errors(self):
        self.run_program(code=2)
        self.run_program("query", code=2)
        self.run_program("query", "x.csv", "--what", "everything", code=2)
        self.run_program("query", "x.csv", "--threads", "0", code=2)
        self.run_program("query", "x.csv", "--repeat", "-1", code=2)

    def test_usage_errors_are_json_when_asked(self):
        out, _ = self.run_program("qeury", "--json", code=2)
        self.assertEqual(json.loads(out)["exit_code"], 2)


class Query(CommandLine):
    def test_distance_fills_every_column_in_the_tables_convention(self):
        rows, _ = self.query([pair()])
        row = rows[0]
        self.assertEqual(",".join(row), HEADER)
        self.assertEqual(float(row["dist"]), 0.8 - 1.0)
        self.assertEqual([float(row[c]) for c in ("nx", "ny", "nz")], [0, 0, 1])
        for c in "xyz":
            self.assertAlmostEqual(float(row["w2" + c]) - float(row["w1" + c]), float(row["dist"]) * float(row["n" + c]), places=15)
        self.assertEqual((row["ncontacts"], row["status"]), ("1", "ok"))

    def test_contacts_give_the_deepest_point_and_their_number(self):
        box = pair(shape1="box", a1="0.5", b1="0.5", c1="0.5", shape2="box", a2="0.2", b2="0.2", c2="0.2", z2="0.69")
        rows, _ = self.query([box, pair(id="1", z2="3")], "--what", "contacts")
        self.assertAlmostEqual(float(rows[0]["dist"]), -0.01, places=12)
        self.assertEqual(rows[0]["ncontacts"], "4")
        self.assertEqual(rows[1]["ncontacts"], "0")
        self.assertTrue(math.isnan(float(rows[1]["dist"])))

    def test_collide_answers_one_or_zero(self):
        for algorithm in ("auto", "gjk", "mpr", "mpr-extended"):
            rows, _ = self.query([pair(), pair(id="1", z2="1.2")], "--what", "collide", "--algorithm", algorithm)
            self.assertEqual([r["ncontacts"] for r in rows], ["1", "0"], algorithm)

    def test_columns_are_found_by_name_in_any_order_and_others_ignored(self):
        columns = list(reversed(COLUMNS)) + ["dist", "remark"]
        rows, _ = self.query([pair(dist="99", remark="hello")], columns=columns)
        self.assertEqual(float(rows[0]["dist"]), 0.8 - 1.0)

    def test_sizes_a_shape_does_not_use_need_no_column(self):
        columns = [c for c in COLUMNS if c[0] not in "bch" and c not in ("hull1", "hull2")]
        self.assertEqual(len(self.query([pair()], columns=columns)[0]), 1)

    def test_quaternions_are_normalised(self):
        rows, _ = self.query([pair(), pair(qw2="-7"), pair(qw2="1e-200"), pair(qw2="1e200")])
        self.assertEqual(len({r["dist"] for r in rows}), 1)

    def test_line_ends_marks_and_quotes_of_other_programs_are_read(self):
        text = table([pair(id='"a,b"'), pair(id="")], end="\r\n")
        out, _ = self.run_program("query", self.file("pairs.csv", b"\xef\xbb\xbf" + text.encode()))
        rows = list(csv.DictReader(io.StringIO(out)))
        self.assertEqual([r["id"] for r in rows], ["a,b", ""])

    def test_standard_input_and_output(self):
        out, _ = self.run_program("query", "-", "-o", "-", input=table([pair()]).encode())
        self.assertTrue(out.startswith(HEADER + "\n0,"))

    def test_repeat_adds_the_time(self):
        rows, _ = self.query([pair()], "--repeat", "10")
        self.assertEqual(",".join(rows[0]), HEADER + ",ns")
        self.assertGreater(float(rows[0]["ns"]), 0)

    def test_threads_do_not_change_a_byte(self):
        pairs = self.file("pairs.csv", table([pair(id=str(i), z2=str(0.01 * i)) for i in range(300)]))
        one = self.run_program("query", pairs, "--threads", "1")[0]
        for threads in ("2", "5", "8"):
            self.assertEqual(self.run_program("query", pairs, "--threads", threads)[0], one)

    def test_seventeen_digits_survive_a_round_trip(self):
        rows, _ = self.query([pair(z2="0.7000000000000001")])
        self.assertEqual(float(rows[0]["dist"]), 0.7000000000000001 - 1.0)

    def test_json_is_one_document(self):
        document = json.loads(self.run_program("query", self.file("p.csv", table([pair(), pair(z2="3")])), "--json")[0])
        self.assertEqual((document["rows"], document["colliding"]), (2, 1))
        self.assertEqual(document["results"][0]["normal"], [0, 0, 1])
        out, _ = self.run_program("--json", "query", str(self.path / "p.csv"), "-o", str(self.path / "o.csv"))
        self.assertNotIn("results", json.loads(out))
        self.assertTrue((self.path / "o.csv").exists())

    def test_hulls_come_from_their_table(self):
        corners = [(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
        hulls = self.file("hulls.csv", "hull,vertex,x,y,z\n" + "".join("7,%d,%d,%d,%d\n" % (i, *c) for i, c in enumerate(corners)))
        rows, _ = self.query([pair(shape1="hull", hull1="7", z2="2")], "--hulls", hulls)
        self.assertAlmostEqual(float(rows[0]["dist"]), 0.5, places=12)


class RejectedQueries(CommandLine):
    def assert_rejected(self, rows, *expected, columns=COLUMNS, arguments=()):
        output = self.path / "out.csv"
        _, err = self.query(rows, "-o", str(output), *arguments, code=3, columns=columns)
        for text in expected:
            self.assertIn(text, err)
        self.assertEqual(sorted(p.name for p in self.path.iterdir() if p.name.startswith("out")), [])

    def test_bad_numbers_are_named_with_their_place(self):
        for bad in ("1e999", "0x1p3", "1.5.0", "--1", "nan", "inf", "", "one", "1 2"):
            self.assert_rejected([pair(), pair(x2=bad)], "pairs.csv:3:", "x2: found '" + bad + "', expected")

    def test_the_column_of_the_place_is_that_of_the_field(self):
        line = table([pair(x2="oops")]).splitlines()[1]
        self.assert_rejected([pair(x2="oops")], "pairs.csv:2:%d:" % (line.index("oops") + 1))

    def test_sizes_that_make_no_solid(self):
        self.assert_rejected([pair(a1="0")], "pairs.csv:2:")
        self.assert_rejected([pair(a1="-3")], "-3")

    def test_a_zero_quaternion(self):
        self.assert_rejected([pair(qw2="0")], "pairs.csv:2:", "0 0 0 0")

    def test_a_misspelt_shape_gets_the_nearest_name(self):
        self.assert_rejected([pair(shape2="capsul")], "found 'capsul'", "did you mean 'capsule'?")

    def test_a_misspelt_column_gets_the_nearest_name(self):
        columns = ["shpae1" if c == "shape1" else c for c in COLUMNS]
        self.assert_rejected([pair(shpae1="sphere")], "column 'shape1' is missing", "did you mean 'shpae1'?", columns=columns)

    def test_twenty_errors_are_listed_and_the_rest_counted(self):
        _, err = self.query([pair(id=str(i), x1="bad") for i in range(50)], code=3)
        self.assertEqual(err.count("x1: found 'bad'"), 20)
        self.assertIn("and 30 more errors", err)

    def test_hulls_that_are_missing_or_flat(self):
        self.assert_rejected([pair(shape1="hull", hull1="0")], "--hulls")
        hulls = self.file("h.csv", "hull,x,y,z\n0,0,0,0\n0,1,0,0\n0,0,1,0\n0,1,1,0\n")
        self.assert_rejected([pair(shape1="hull", hull1="0")], "h.csv:2:", arguments=("--hulls", hulls))
        self.assert_rejected([pair(shape1="hull", hull1="4")], "found '4'", arguments=("--hulls", hulls))

    def test_rows_of_another_length_and_files_that_are_no_tables(self):
        for text, expected in [("", "empty"), ("\n \n", "empty"), (b"\x00\x01\x02", "NUL"), ("id,id\n1,2\n", "occurs twice"),
                               (table([pair()]) + "1,2,3\n", "found 3 fields"), ('id,"x\n', "not closed")]:
            _, err = self.run_program("query", self.file("p.csv", text), code=3)
            self.assertIn(expected, err)

    def test_random_bytes_are_refused_quickly(self):
        started = time.monotonic()
        self.run_program("query", self.file("noise.csv", os.urandom(1 << 20)), code=3)
        self.assertLess(time.monotonic() - started, 5)

    def test_errors_are_json_when_asked(self):
        out, _ = self.run_program("query", self.file("p.csv", table([pair(a1="x")])), "--json", code=3)
        error = json.loads(out)["errors"][0]
        self.assertEqual((error["line"], error["file"]), (2, str(self.path / "p.csv")))

    def test_a_number_too_small_becomes_zero_with_a_warning(self):
        rows, err = self.query([pair(x2="1e-400")])
        self.assertEqual(rows[0]["status"], "ok")
        self.assertIn("too small", err)


class Files(CommandLine):
    def test_what_cannot_be_read_is_an_input_output_error(self):
        self.run_program("query", str(self.path / "absent.csv"), code=6)
        self.run_program("query", str(self.path), code=6)
        self.run_program("check", str(self.path / "absent.obj"), code=6)
        os.mkfifo(self.path / "pipe")
        self.run_program("query", str(self.path / "pipe"), code=6)
        self.run_program("query", "/dev/zero", code=6)

    def test_what_cannot_be_written_is_an_input_output_error(self):
        pairs = self.file("pairs.csv", table([pair()]))
        self.run_program("query", pairs, "-o", str(self.path / "no" / "folder.csv"), code=6)
        self.run_program("query", pairs, "-o", str(self.path), code=6)
        self.run_program("query", pairs, "-o", "/dev/full", code=6)

    def test_an_output_replaces_the_old_one_only_when_whole(self):
        output = self.path / "out.csv"
        output.write_text("old")
        self.query([pair(a1="bad")], "-o", str(output), code=3)
        self.assertEqual(output.read_text(), "old")
        self.query([pair()], "-o", str(output))
        self.assertTrue(output.read_text().startswith(HEADER))
        self.assertEqual(sorted(p.name for p in self.path.iterdir()), ["out.csv", "pairs.csv"])

    def test_an_interrupt_ends_with_130_and_leaves_nothing(self):
        pairs = self.file("pairs.csv", table([pair(id=str(i)) for i in range(2000)]))
        running = subprocess.Popen([PROGRAM, "query", pairs, "-o", str(self.path / "out.csv"), "--repeat", "1000000"],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        time.sleep(0.5)
        running.send_signal(signal.SIGINT)
        running.communicate(timeout=60)
        self.assertEqual(running.returncode, 130)
        self.assertEqual([p.name for p in self.path.iterdir()], ["pairs.csv"])


class Check(CommandLine):
    TETRAHEDRON = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n"

    def test_a_solid_is_reported_with_its_volume(self):
        document = json.loads(self.run_program("check", self.file("t.obj", self.TETRAHEDRON), "--json", "--solid")[0])
        self.assertTrue(document["solid"])
        self.assertAlmostEqual(document["volume_m3"], 1 / 6, places=12)
        self.assertEqual(document["findings"], [])

    def test_an_open_mesh_is_reported_and_refused_as_a_solid(self):
        opened = self.file("open.obj", self.TETRAHEDRON.rsplit("f", 1)[0])
        document = json.loads(self.run_program("check", opened, "--json")[0])
        self.assertEqual((document["watertight"], document["open_edges"]), (False, 3))
        self.assertIn("open", self.run_program("check", opened, "--solid", code=3)[1])
        self.assertIn("open", self.run_program("check", opened)[0])

    def test_broken_files_are_rejected_with_their_place(self):
        broken = self.file("broken.obj", self.TETRAHEDRON + "f 1 2 3000000\n")
        self.assertIn("9", self.run_program("check", broken, code=3)[1])
        self.run_program("check", self.file("cut.stl", b"\0" * 80 + b"\xff\xff\xff\xff" + b"\0" * 20), code=3)
        self.run_program("check", self.file("noise.obj", os.urandom(100000)), code=3)
        self.run_program("check", self.file("what.xyz", "1 2 3"), code=3)

    SCENE = '[[body]]\nname = "a"\nquaternion = [2, 0, 0, 0]\nshapes = [{ mesh = "t.obj" }]\n'

    def test_a_scene_is_reported_with_what_was_read_and_changed(self):
        self.file("t.obj", self.TETRAHEDRON)
        scene = self.file("s.toml", self.SCENE)
        document = json.loads(self.run_program("check", scene, "--json")[0])
        self.assertEqual((document["name"], document["solver"], document["bodies"]), ("s", "impulse", 1))
        notes = [(note["kind"], note["line"]) for note in document["notes"]]
        self.assertEqual(notes, [("read", 0), ("warning", 3), ("read", 4)])
        text = self.run_program("check", scene)[0]
        self.assertIn("s.toml:3:14: body 'a': quaternion of length 2 was normalised", text)
        self.assertIn("1 dynamic", text)

    PIVOT = """<mujoco><worldbody>
      <geom name="pole" type="capsule" size="0.05" fromto="0 0 0 0 0 0.5"/>
      <body name="link" pos="0 0 0.5"><joint axis="0 1 0"/>
        <geom type="capsule" size="0.05" fromto="0 0 0 0.3 0 0.3"/></body>
    </worldbody></mujoco>"""

    def test_links_that_overlap_their_base_are_listed_and_may_be_excluded(self):
        scene = self.file("pivot.xml", self.PIVOT)
        overlaps = json.loads(self.run_program("check", scene, "--json")[0])["start_overlaps"]
        self.assertEqual([(o["body1"], o["body2"], o["with_base"]) for o in overlaps], [("link", "world", True)])
        self.assertAlmostEqual(overlaps[0]["depth_m"], 0.1, places=3)
        text = self.run_program("check", scene)[0]
        self.assertIn("'link'", text)
        self.assertIn("exclude_start_overlaps", text)
        self.assertIn("20 steps OverlapNotResolved", self.run_program("run", scene, "--steps", "20")[0])
        excluded = self.run_program("run", scene, "--steps", "20", "--exclude-start-overlaps")[0]
        self.assertIn("20 steps Ok", excluded)

    def test_a_broken_scene_is_rejected_with_every_place(self):
        scene = self.file("s.toml", self.SCENE + "[simulation]\ndt = 0\nsolvr = 1\n")
        message = self.run_program("check", scene, code=3)[1]
        self.assertIn("s.toml:4:20: body 'a': shape: 't.obj': No such file", message)
        self.assertIn("s.toml:6:6: simulation: dt: found 0", message)
        self.assertIn("s.toml:7:1: simulation: found unknown key 'solvr' (did you mean 'solver'?)", message)
        document = json.loads(self.run_program("check", scene, "--json", code=3)[0])
        self.assertEqual([error["line"] for error in document["errors"]], [4, 6, 7])

    def test_scenes_end_with_the_code_of_what_is_wrong(self):
        self.run_program("check", str(self.path / "absent.toml"), code=6)
        self.run_program("check", str(self.path), code=6)
        self.run_program("check", self.file("noise.toml", os.urandom(1000000)), code=3)
        many = "count = [1000000000, 1, 1]\nspacing = [1, 0, 0]\n"
        self.run_program("check", self.file("many.toml", '[[body]]\nname = "a"\nshapes = [{ sphere = 1 }]\n' + many),
                         code=5)
        self.assertIn("no body", self.run_program("check", self.file("a.xml", "<mujoco/>"), code=3)[1])
        self.run_program("check", self.file("s.toml", self.SCENE), "--solid", code=2)


class Doctor(CommandLine):
    def test_it_names_the_machine_and_every_self_check_passes(self):
        document = json.loads(self.run_program("doctor", "--json")[0])
        self.assertTrue(all(c["passed"] for c in document["self_checks"]))
        self.assertGreater(document["threads"], 0)
        self.assertIn("self check", self.run_program("doctor")[0])


class Bench(CommandLine):
    def test_a_named_benchmark_prints_time_and_quality(self):
        rows = json.loads(self.run_program("bench", "mesh", "--json")[0])["rows"]
        self.assertTrue(rows)
        for row in rows:
            self.assertGreater(row["median_ns"], 0)
            self.assertGreaterEqual(row["p99_ns"], row["median_ns"])
            self.assertLessEqual(row["error"], row["error_limit"], row["name"])

    def test_peers_are_measured_beside_us_or_named_as_missing(self):
        document = json.loads(self.run_program("bench", "pairs", "--pair", "box-box", "--peers", "--json")[0])
        names = [name.split()[0] for name in document["peers"]]
        missing = [peer["name"] for peer in document["missing_peers"]]
        self.assertEqual(sorted(names + missing), ["bullet", "fcl", "ode"])
        for peer in document["missing_peers"]:
            self.assertTrue(peer["get"])
        contacts = [row for row in document["rows"] if row["name"] == "pairs/contacts/shallow/box-box"]
        self.assertEqual([row["library"] for row in contacts], ["tangere"] + document["peers"])
        for row in document["rows"]:
            self.assertTrue(row["name"].endswith("/box-box"))
            self.assertGreater(row["median_ns"], 0)
            if row["library"] == "tangere":
                self.assertLessEqual(row["error"], row["error_limit"], row["name"])

    def test_without_the_program_beside_it_every_peer_is_missing(self):
        alone = str(self.path / "tangere")
        shutil.copy(PROGRAM, alone)
        done = subprocess.run([alone, "bench", "pairs", "--pair", "sphere-sphere", "--peers", "--json"],
                              capture_output=True, timeout=120, check=True)
        document = json.loads(done.stdout)
        self.assertEqual(document["peers"], [])
        self.assertEqual([peer["name"] for peer in document["missing_peers"]], ["fcl", "ode", "bullet"])

    def test_an_unknown_pair_is_a_usage_error_with_the_nearest_name(self):
        self.assertIn("did you mean 'box-box'?", self.run_program("bench", "pairs", "--pair", "box-bx", code=2)[1])


if __name__ == "__main__":
    PROGRAM = ProgramTest.program = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=0)
