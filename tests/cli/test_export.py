#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tangere export: an MCAP file that holds what the recording holds, read by rules of the format written down here and, where
it is installed, by the package `mcap`.

  test_export.py TANGERE [unittest options]"""
import json
import os
import pathlib
import random
import signal
import struct
import subprocess
import sys
import time
import unittest
import zlib

from program_test import FLOOR, ProgramTest

PROGRAM = ""
ROOT = pathlib.Path(__file__).resolve().parents[2]
# Everything that can be drawn, on a floor; a hinge with sensors would need MJCF.
SCENE = FLOOR + """
[[body]]
name = "box \\"a\\" \u00e4"
position = [0, 0, 0.12]
shapes = [{ box = [0.1, 0.1, 0.1] }]
[[body]]
name = "world"
position = [1, 0, 0.2]
shapes = [{ capsule = [0.05, 0.1] }, { sphere = 0.02, position = [0, 0, 0.2] }]
[[body]]
name = "round"
position = [2, 0, 0.2]
shapes = [{ cylinder = [0.05, 0.1] }, { ellipsoid = [0.05, 0.06, 0.07], position = [0, 0, 0.2] }, { cone = [0.05, 0.05], position = [0, 0, 0.4] }]
"""
SOFT = """
[[soft]]
name = "jelly"
shape = { sphere = 0.1 }
resolution = 0.06
position = [-1, 0, 0.099]
"""
MAGIC = b"\x89MCAP0\r\n"


def lz4_blocks(frame):
    """What an LZ4 frame holds: written from its description, to check the writer by another hand."""
    magic, flags, size = struct.unpack_from("<IBB", frame)
    assert magic == 0x184D2204 and flags == 0x60 and size == 0x70, "an unexpected kind of frame"
    at, out = 7, bytearray()
    while True:
        (length,) = struct.unpack_from("<I", frame, at)
        at += 4
        if length == 0:
            assert at == len(frame), "bytes behind the frame"
            return bytes(out)
        stored, length = length >> 31, length & 0x7FFFFFFF
        block, at = frame[at:at + length], at + length
        if stored:
            out += block
            continue
        begin, i = len(out), 0
        while i < len(block):
            token = block[i]
            i += 1

            def extended(value):
                nonlocal i
                if value == 15:
                    while True:
                        value += block[i]
                        i += 1
                        if block[i - 1] != 255:
                            break
                return value

            literals = extended(token >> 4)
            out += block[i:i + literals]
            i += literals
            if i == len(block):
                break
            (offset,) = struct.unpack_from("<H", block, i)
            i += 2
            length = extended(token & 15) + 4
            assert 0 < offset <= len(out) - begin, "a match before its block"
            for _ in range(length):
                out.append(out[-offset])


class Fields:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, kind):
        (value,) = struct.unpack_from("<" + kind, self.data, self.at)
        self.at += struct.calcsize("<" + kind)
        return value

    def bytes(self, kind="I"):
        size = self.take(kind)
        self.at += size
        assert self.at <= len(self.data), "a length beyond its record"
        return self.data[self.at - size:self.at]

    def text(self):
        return self.bytes().decode()


def records(data, begin=0, end=None):
    end = len(data) if end is None else end
    while begin < end:
        opcode, length = struct.unpack_from("<BQ", data, begin)
        assert begin + 9 + length <= end, "a record beyond its section"
        yield opcode, begin, data[begin + 9:begin + 9 + length]
        begin += 9 + length


class Mcap:
    """A whole file, with everything that the format says about itself checked."""

    def __init__(self, path):
        data = pathlib.Path(path).read_bytes()
        assert data[:8] == MAGIC and data[-8:] == MAGIC, "no MCAP file"
        footer = Fields(data[-8 - 20:-8])
        summary, offsets, crc = footer.take("Q"), footer.take("Q"), footer.take("I")
        assert zlib.crc32(data[summary:-8 - 4]) == crc, "CRC of the summary"
        self.messages, self.topics, self.schemas, self.chunks, self.metadata = [], {}, {}, [], {}
        self.indexes, self.statistics, self.compression = [], None, set()
        for opcode, begin, content in records(data, 8, summary):
            fields = Fields(content)
            if opcode == 0x06:
                self.read_chunk(begin, len(content) + 9, fields)
            elif opcode == 0x07:
                self.check_index(fields)
            elif opcode == 0x0C:
                self.metadata_at = (begin, len(content) + 9)
                name, pairs = fields.text(), Fields(fields.bytes())
                while pairs.at < len(pairs.data):
                    key = pairs.text()
                    self.metadata[key] = pairs.text()
            elif opcode == 0x0F:
                assert zlib.crc32(data[:begin]) == fields.take("I"), "CRC of the data"
                assert begin + 13 == summary, "the summary does not begin where it should"
            else:
                assert opcode == 0x01, f"record {opcode} outside chunks"
        groups = {}
        for opcode, begin, content in records(data, summary, offsets):
            groups.setdefault(opcode, [begin, begin])[1] = begin + 9 + len(content)
            self.read_summary(opcode, content)
        for opcode, begin, content in records(data, offsets, len(data) - 8 - 29):
            fields = Fields(content)
            group, start, length = fields.take("B"), fields.take("Q"), fields.take("Q")
            assert opcode == 0x0E and groups.pop(group) == [start, start + length], "a summary offset"
        assert not groups, "a group without a summary offset"

    def read_chunk(self, begin, length, fields):
        first, last, size, crc = fields.take("Q"), fields.take("Q"), fields.take("Q"), fields.take("I")
        compression, content = fields.text(), fields.bytes("Q")
        self.compression.add(compression)
        self.chunk = lz4_blocks(content) if compression == "lz4" else content
        assert len(self.chunk) == size and zlib.crc32(self.chunk) == crc, "CRC of a chunk"
        self.offsets = {}
        times = []
        for opcode, at, inner in records(self.chunk):
            fields = Fields(inner)
            if opcode == 0x03:
                number, name, encoding = fields.take("H"), fields.text(), fields.text()
                assert encoding == "jsonschema" and number > 0
                self.schemas[number] = (name, json.loads(fields.text()))
            elif opcode == 0x04:
                number, schema, topic, encoding = fields.take("H"), fields.take("H"), fields.text(), fields.text()
                assert encoding == "json" and schema in self.schemas
                self.topics[number] = (topic, self.schemas[schema][0])
            else:
                assert opcode == 0x05
                channel, sequence, log, publish = fields.take("H"), fields.take("I"), fields.take("Q"), fields.take("Q")
                assert log == publish
                times.append(log)
                self.offsets.setdefault(channel, []).append((log, at))
                self.messages.append((self.topics[channel][0], log, json.loads(inner[22:])))
        assert times == sorted(times) and (first, last) == (times[0], times[-1]), "times of a chunk"
        self.chunks.append((first, last, begin, length))

    def check_index(self, fields):
        channel, pairs = fields.take("H"), Fields(fields.bytes())
        found = [(pairs.take("Q"), pairs.take("Q")) for _ in range(len(pairs.data) // 16)]
        assert found == self.offsets.pop(channel), "a message index"

    def read_summary(self, opcode, content):
        fields = Fields(content)
        if opcode == 0x0B:
            self.statistics = [fields.take(k) for k in "QHIIIIQQ"]
            counts = Fields(fields.bytes())
            self.counts = {counts.take("H"): counts.take("Q") for _ in range(len(counts.data) // 10)}
        elif opcode == 0x08:
            assert tuple(fields.take("Q") for _ in range(4)) == self.chunks[len(self.indexes)], "a chunk index"
            self.indexes.append(content)
        elif opcode == 0x0D:
            assert (fields.take("Q"), fields.take("Q")) == self.metadata_at and fields.text() == "tangere"

    def of(self, topic):
        return [m[2] for m in self.messages if m[0] == topic]


def python_with(*modules):
    """An interpreter that has them: this one, that of `make python`, or Debian's."""
    for program in (sys.executable, str(ROOT / "build/python/bin/python"), "/usr/bin/python3"):
        script = "; ".join(f"import {module}" for module in modules)
        if os.path.exists(program) and subprocess.run([program, "-c", script], capture_output=True).returncode == 0:
            return program
    return None


class ExportTest(ProgramTest):
    def record(self, scene=SCENE, steps=150):
        document = json.loads(self.run_program("run", self.file("scene.toml", scene), "--steps", str(steps), "--record", self.name("a.h5"), "--json")[0])
        return document

    def export(self, *options):
        document = json.loads(self.run_program("export", self.name("a.h5"), "-o", self.name("a.mcap"), "--json", *options)[0])
        self.assertEqual(document["bytes"], (self.path / "a.mcap").stat().st_size)
        self.assertFalse((self.path / "a.mcap.partial").exists())
        return document


class Files(ExportTest):
    def test_holds_every_frame_of_the_recording_with_its_numbers(self):
        for options in ([], ["--plain"]):
            run = self.record()
            document = self.export(*options)
            self.assertEqual(document["frames"], 151)
            file = Mcap(self.name("a.mcap"))
            self.assertEqual(file.compression, {""} if options else {"lz4"})
            self.assertEqual(file.statistics[0], len(file.messages))
            self.assertEqual(document["messages"], len(file.messages))
            self.assertEqual(file.statistics[5], len(file.chunks))
            self.assertEqual(len(file.indexes), len(file.chunks))
            self.assertEqual([m[1] for m in file.messages], sorted(m[1] for m in file.messages))
            topics = {topic: schema for topic, schema in file.topics.values()}
            self.assertEqual(topics, {"/shapes": "foxglove.SceneUpdate", "/tf": "foxglove.FrameTransforms",
                                      "/tf_static": "foxglove.FrameTransforms", "/contact_scene": "foxglove.SceneUpdate",
                                      "/bodies": "tangere.Bodies", "/contacts": "tangere.Contacts",
                                      "/solver": "tangere.Solver", "/energy": "tangere.Energy"})
            for topic in topics:
                self.assertEqual(len(file.of(topic)), 1 if topic in ("/shapes", "/tf_static") else 151, topic)
            self.assertEqual([m["step"] for m in file.of("/solver")], list(range(151)))
            self.assertEqual(sum(m["count"] for m in file.of("/contacts")[1:]), round(run["contacts_mean"] * 150))
            self.assertEqual(max(m["max_depth"] for m in file.of("/solver")), run["max_depth_m"])
            last = {b["name"]: b for b in file.of("/bodies")[-1]["bodies"]}
            for name, body in run["bodies"].items():  # every digit
                self.assertEqual([last[name]["position"][k] for k in "xyz"], body["position"])
                self.assertEqual([last[name]["quaternion"][k] for k in "wxyz"], body["quaternion"])
            self.assertEqual(file.of("/energy")[-1]["kinetic"], run["energy"]["kinetic"])
            self.assertEqual(file.of("/solver")[-1]["state_hash"], run["state_hash"])
            (self.path / "a.mcap").unlink()

    def test_contacts_are_drawn_one_by_one(self):
        self.record()
        self.export()
        file = Mcap(self.name("a.mcap"))
        some = 0
        for numbers, scene in zip(file.of("/contacts"), file.of("/contact_scene")):
            (entity,) = scene["entities"]
            self.assertEqual(len(entity["spheres"]), numbers["count"])
            pressing = [c for c in numbers["contacts"] if any(c["force"].values())]
            self.assertEqual(len(entity["arrows"]), len(pressing))
            some += len(pressing)
            for contact, arrow in zip(pressing, entity["arrows"]):
                q = arrow["pose"]["orientation"]  # +x turned by it is the direction of the force
                along = (1 - 2 * (q["y"]**2 + q["z"]**2), 2 * (q["x"] * q["y"] + q["w"] * q["z"]), 2 * (q["x"] * q["z"] - q["w"] * q["y"]))
                length = sum(v * v for v in contact["force"].values()) ** 0.5
                for k, value in zip("xyz", along):
                    self.assertAlmostEqual(value, contact["force"][k] / length, delta=1e-5)  # digits of a float
                    self.assertAlmostEqual(arrow["pose"]["position"][k], contact["position"][k], delta=1e-6)
        self.assertGreater(some, 100)

    def test_shapes_are_drawn_in_the_frames_of_their_bodies(self):
        self.record(steps=2)
        self.export()
        file = Mcap(self.name("a.mcap"))
        entities = {e["id"]: e for e in file.of("/shapes")[0]["entities"]}
        self.assertEqual(entities['box "a" \u00e4']["cubes"][0]["size"], {"x": 0.2, "y": 0.2, "z": 0.2})
        counts = {name: {k: len(e[k]) for k in ("cubes", "spheres", "cylinders", "triangles")} for name, e in entities.items()}
        self.assertEqual(counts["world"], {"cubes": 0, "spheres": 3, "cylinders": 1, "triangles": 0})
        self.assertEqual(counts["round"], {"cubes": 0, "spheres": 1, "cylinders": 2, "triangles": 0})
        self.assertEqual([c["top_scale"] for c in entities["round"]["cylinders"]], [1, 0])
        # A body called "world" is not its own parent, and each entity is in a frame that exists.
        transforms = file.of("/tf")[0]["transforms"] + file.of("/tf_static")[0]["transforms"]
        frames = {t["child_frame_id"]: t["parent_frame_id"] for t in transforms}
        self.assertEqual(set(frames), set(entities))
        self.assertEqual(set(frames.values()), {file.metadata["frame"]})
        self.assertNotIn(file.metadata["frame"], frames)

    def test_soft_bodies_and_their_pressure(self):
        self.record(SCENE + SOFT, steps=60)
        self.export()
        file = Mcap(self.name("a.mcap"))
        jelly = file.of("/soft_bodies")
        self.assertEqual(len(jelly), 61)
        mesh = jelly[-1]["entities"][0]["triangles"][0]
        self.assertEqual(max(mesh["indices"]), len(mesh["points"]) - 1)
        self.assertEqual(set(mesh["indices"]), set(range(len(mesh["points"]))))
        self.assertLess(max(abs(p["x"] + 1) for p in mesh["points"]), 0.2)
        polygons = [m["count"] for m in file.of("/pressure")]
        self.assertGreater(max(polygons), 0)
        for count, scene in zip(polygons, file.of("/contact_scene")):
            self.assertEqual(len(scene["entities"][0]["triangles"]), int(count > 0))

    def test_rate_thins_the_frames(self):
        self.record()
        document = self.export("--rate", "50")  # 0.3 s in steps of 2 ms
        self.assertEqual(document["frames"], 16)
        times = [m["time"] for m in Mcap(self.name("a.mcap")).of("/solver")]
        for i, value in enumerate(times):
            self.assertAlmostEqual(value, 0.02 * i, delta=1e-9)
        self.assertEqual(self.export("--rate", "1e9")["frames"], 151)
        for rate in ("-1", "nan", "inf"):
            self.run_program("export", self.name("a.h5"), "-o", self.name("b.mcap"), "--rate", rate, code=2)

    def test_equal_recordings_give_equal_files(self):
        self.record()
        self.export()
        first = (self.path / "a.mcap").read_bytes()
        self.record()
        self.export()
        self.assertEqual(first, (self.path / "a.mcap").read_bytes())

    def test_the_file_is_never_in_memory(self):
        script = "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, capture_output=True); " \
                 "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
        self.record(steps=12000)
        done = subprocess.run([sys.executable, "-c", script, PROGRAM, "export", self.name("a.h5"), "-o", self.name("a.mcap"), "--plain"],
                              capture_output=True, timeout=300, check=True)
        self.assertGreater((self.path / "a.mcap").stat().st_size, 128e6)
        self.assertLess(int(done.stdout) * 1024, 64e6)  # HDF5 keeps up to 1 MB of each of its 50 columns


class Faults(ExportTest):
    def test_what_is_no_recording_is_refused(self):
        (self.path / "a.h5").write_bytes(b"no recording")
        for recording, code in (("a.h5", 3), ("missing.h5", 6)):
            _, error = self.run_program("export", self.name(recording), "-o", self.name("a.mcap"), code=code)
            self.assertIn(recording, error)
        self.assertEqual(sorted(p.name for p in self.path.iterdir()), ["a.h5"])

    def test_a_damaged_recording_is_refused_and_leaves_nothing(self):
        self.record(steps=300)
        data = bytearray((self.path / "a.h5").read_bytes())
        for cut in (len(data) // 2, len(data) - 9):
            (self.path / "a.h5").write_bytes(data[:cut])
            _, error = self.run_program("export", self.name("a.h5"), "-o", self.name("a.mcap"), code=3)
            self.assertIn("a.h5", error)
            self.assertEqual(list(self.path.glob("a.mcap*")), [])

    def test_wrong_bits_end_in_one_line_that_names_the_file(self):
        self.record(steps=100)
        data = (self.path / "a.h5").read_bytes()
        refused = 0
        for seed in range(40):
            damaged = bytearray(data)
            numbers = random.Random(seed)
            for _ in range(8):
                damaged[numbers.randrange(20000)] ^= 1 << numbers.randrange(8)
            (self.path / "b.h5").write_bytes(damaged)
            done = subprocess.run([PROGRAM, "export", self.name("b.h5"), "-o", self.name("b.mcap"), "-q"], capture_output=True, timeout=20)
            self.assertIn(done.returncode, (0, 3), done.stderr)
            if done.returncode == 3:
                refused += 1
                self.assertRegex(done.stderr.decode(), r"^tangere: \S*b\.h5: [^\n]+\n$")
                self.assertEqual(list(self.path.glob("b.mcap*")), [])
            else:
                Mcap(self.name("b.mcap"))
                (self.path / "b.mcap").unlink()
        self.assertGreater(refused, 20)

    def test_places_that_cannot_hold_the_file_are_named(self):
        self.record(steps=2)
        for place, code in ((self.name("missing/a.mcap"), 6), (self.name("a.txt"), 2)):
            self.run_program("export", self.name("a.h5"), "-o", place, code=code)
        os.link(self.name("a.h5"), self.name("b.mcap"))
        self.run_program("export", self.name("a.h5"), "-o", self.name("b.mcap"), code=2)
        self.assertEqual(list(self.path.glob("*.partial")), [])

    def test_a_full_disk_is_an_error_and_leaves_nothing(self):
        self.record(steps=2000)
        limited = f"ulimit -f 400; exec {PROGRAM} export {self.name('a.h5')} -o {self.name('a.mcap')}"
        done = subprocess.run(["bash", "-c", limited], capture_output=True, timeout=100)
        self.assertEqual(done.returncode, 6, done.stderr)
        self.assertIn(b"a.mcap: cannot be written", done.stderr)
        self.assertEqual(list(self.path.glob("a.mcap*")), [])

    def test_an_interrupt_leaves_nothing(self):
        self.record(steps=20000)
        run = subprocess.Popen([PROGRAM, "export", self.name("a.h5"), "-o", self.name("a.mcap")], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        while run.poll() is None and not (self.path / "a.mcap.partial").exists():
            time.sleep(0.002)
        run.send_signal(signal.SIGINT)
        _, error = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 130, error)
        self.assertEqual(list(self.path.glob("a.mcap*")), [])


class WithThePackage(ExportTest):
    SCRIPT = """
import json, sys
from mcap.reader import make_reader
from mcap.stream_reader import StreamReader
from mcap.records import Message
path = sys.argv[1]
with open(path, "rb") as file:
    reader = make_reader(file, validate_crcs=True)
    summary = reader.get_summary()
    counts, last = {}, 0
    for schema, channel, message in reader.iter_messages():
        assert message.log_time >= last
        last = message.log_time
        json.loads(message.data)
        counts[channel.topic] = counts.get(channel.topic, 0) + 1
    some = sum(1 for _ in reader.iter_messages(topics=["/energy"], start_time=100_000_000, end_time=200_000_000))
with open(path, "rb") as file:
    streamed = sum(isinstance(record, Message) for record in StreamReader(file, validate_crcs=True).records)
named = {summary.channels[k].topic: v for k, v in summary.statistics.channel_message_counts.items()}
with open(path, "rb") as file:
    metadata = [(m.name, m.metadata) for m in make_reader(file).iter_metadata()]
print(json.dumps({"counts": counts, "named": named, "streamed": streamed, "all": summary.statistics.message_count, "some": some,
                  "chunks": len(summary.chunk_indexes), "schemas": sorted(s.name for s in summary.schemas.values()), "metadata": metadata}))
"""

    def test_reads_the_same(self):
        python = python_with("mcap", "lz4")
        if python is None:
            print("\nSKIPPED: no Python with the package mcap; `make python` brings one, or pip install mcap", file=sys.stderr)
            self.skipTest("no package mcap")
        self.record(SCENE + SOFT)
        for options in ([], ["--plain"]):
            self.export(*options)
            done = subprocess.run([python, "-c", self.SCRIPT, self.name("a.mcap")], capture_output=True, timeout=100)
            self.assertEqual(done.returncode, 0, done.stderr.decode())
            seen = json.loads(done.stdout)
            self.assertEqual(seen["counts"], seen["named"])
            self.assertEqual(seen["all"], sum(seen["counts"].values()))
            self.assertEqual(seen["streamed"], seen["all"])
            self.assertEqual(seen["some"], 50)
            self.assertEqual(seen["counts"]["/tf"], 151)
            self.assertEqual(seen["counts"]["/shapes"], 1)
            self.assertIn("foxglove.SceneUpdate", seen["schemas"])
            self.assertEqual(seen["metadata"][0][0], "tangere")


if __name__ == "__main__":
    PROGRAM = ProgramTest.program = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=1)
