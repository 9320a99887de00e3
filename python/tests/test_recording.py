# SPDX-License-Identifier: Apache-2.0
"""Recordings: written, read, compared, plotted."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tangere
from conftest import make_box_model


def record(path: Path, push: float = 0.0, steps: int = 30) -> tangere.Simulator:
    sim = tangere.Simulator(make_box_model(height=0.101), num_envs=2)
    with tangere.Recorder(path, sim, env=1) as recorder:
        for step in range(steps):
            if step == 20:
                sim.body("box").apply_force([push, 0, 0])
            sim.step()
            recorder.append()
        assert recorder.num_frames == steps
    return sim


def test_what_was_recorded_is_read_as_arrays(tmp_path: Path) -> None:
    sim = record(tmp_path / "a.h5")
    recording = tangere.Recording(tmp_path / "a.h5")
    assert len(recording) == 30
    assert recording.body_names == ["box", "floor"]
    assert recording.model_hash == sim.model.hash
    assert recording.soft_body_names == [] and recording.sensor_names == []
    data = recording.read()
    assert data["time"] == pytest.approx(0.002 * np.arange(1, 31))
    assert recording.times.tolist() == data["time"].tolist()
    assert data["position"].shape == (30, 2, 3)
    assert data["quaternion"].shape == (30, 2, 4)
    assert data["position"][-1, 0].tolist() == sim.body("box", env=1).position.tolist()
    assert data["linear_velocity"][-1, 0].tolist() == sim.body("box", env=1).linear_velocity.tolist()
    assert int(data["state_hash"][-1]) == sim.state_hash(1)
    assert data["num_contacts"][-1] == 4
    assert data["energy_kinetic"].shape == (30,)
    contacts = recording.contacts(-1)
    assert contacts["force1"].tobytes() == sim.contacts(1)["force1"].tobytes()
    assert set(contacts["name1"]) <= {"box", "floor"}
    assert len(recording.pressure_contacts(0)) == 0
    assert recording.read(start=10, stop=20, stride=5)["step"].tolist() == [11, 16]
    assert "30 frames" in repr(recording)
    with pytest.raises(IndexError):
        recording.contacts(30)
    with pytest.raises(TypeError, match="frame must be an integer"):
        recording.contacts("last")  # type: ignore[arg-type]
    for call in (recording.soft_surface, recording.soft_tets, recording.soft_slice):
        with pytest.raises(tangere.InvalidInput, match="no soft body is called 'ball'"):
            call("ball")
    with pytest.raises(tangere.InvalidInput, match="stride must be at least 1, found 0"):
        recording.read(stride=0)
    assert recording.read(start=-2)["step"].tolist() == [29, 30]
    assert len(recording.read(start=40)["step"]) == 0
    assert not data["is_asleep"].any() and data["is_asleep"].shape == (30, 2)
    series = recording.series()
    for name, column in series.items():
        assert np.array_equal(column, data[name]), name
    assert "energy_kinetic" in series and "position" not in series


def test_what_was_simulated_is_in_the_recording(pendulum: tangere.Model, tmp_path: Path) -> None:
    sim = tangere.Simulator(pendulum)
    with tangere.Recorder(tmp_path / "a.h5", sim) as recorder:
        sim.step()
        recorder.append()
        recorder.flush()
        assert len(tangere.Recording(tmp_path / "a.h5.partial")) == 1
    assert recorder.num_frames == 1
    recording = tangere.Recording(tmp_path / "a.h5")
    names = recording.body_names
    assert names == pendulum.body_names
    assert recording.body_types == [pendulum.body_type(name) for name in names]
    assert recording.body_parents[names.index("lower")] == names.index("upper")
    assert recording.body_parents[names.index("ball")] == -1
    joints = {joint.name: joint for joint in recording.joints}
    assert set(joints) == {"shoulder", "elbow"}
    assert isinstance(joints["elbow"], tangere.RecordedJoint)
    assert (joints["elbow"].type, joints["elbow"].body) == ("revolute", names.index("lower"))
    assert joints["elbow"].axis.tolist() == [0, 1, 0]
    assert joints["elbow"].position.tolist() == [0, 0, 0]
    ball = next(shape for shape in recording.shapes if shape.body == names.index("ball"))
    assert isinstance(ball, tangere.RecordedShape)
    assert (ball.type, ball.size[0], ball.pose.shape) == ("sphere", 0.1, (4, 4))
    assert ball.shape >= 0 and len(ball.color) == 4
    assert ball.vertices.shape == ball.triangles.shape == (0, 3)
    assert recording.visuals == []
    rates = recording.read()["sensors"][:, recording.sensor_slice("shoulder_rate")]
    assert rates.shape == (1, 1) and rates[0, 0] == sim.sensors()[0, 1]
    with pytest.raises(tangere.InvalidInput, match="did you mean 'shoulder_rate'"):
        recording.sensor_slice("shoulder_rat")


def test_soft_bodies_are_recorded_with_their_stress(tmp_path: Path) -> None:
    sim = tangere.Simulator(tangere.load(tangere.scenes.path("soft_ball.toml")))
    sim.step(3)
    with tangere.Recorder(tmp_path / "a.h5", sim) as recorder:
        sim.step()
        recorder.append()
    recording = tangere.Recording(tmp_path / "a.h5")
    name = recording.soft_body_names[0]
    soft = sim.soft(name, env=0)
    vertices = recording.read()["soft_vertices"][0, recording.soft_slice(name)]
    assert np.array_equal(vertices, soft.positions)
    assert np.array_equal(recording.soft_surface(name), soft.surface)
    assert np.array_equal(recording.soft_tets(name), soft.tets)
    stress = recording.soft_stress(name, -1)
    assert np.allclose(stress, soft.stress(), rtol=1e-9, atol=1e-6 * np.abs(stress).max())
    assert name in repr(soft)


def test_foxglove_gets_its_file(tmp_path: Path) -> None:
    record(tmp_path / "a.h5")
    recording = tangere.Recording(tmp_path / "a.h5")
    assert recording.export_mcap(tmp_path / "a.mcap") == 30
    assert recording.export_mcap(tmp_path / "slow.mcap", rate=100, compressed=False) < 10
    magic = b"\x89MCAP0\r\n"
    for name in ("a", "slow"):
        data = (tmp_path / f"{name}.mcap").read_bytes()
        assert data.startswith(magic) and data.endswith(magic)
    with pytest.raises(tangere.InvalidInput, match="rate"):
        recording.export_mcap(tmp_path / "b.mcap", rate=-1)
    with pytest.raises(tangere.FileError):
        recording.export_mcap(tmp_path / "no" / "b.mcap")


def test_the_first_difference_is_found(tmp_path: Path) -> None:
    record(tmp_path / "a.h5")
    record(tmp_path / "b.h5")
    record(tmp_path / "c.h5", push=1.0)
    a, b, c = (tangere.Recording(tmp_path / f"{name}.h5") for name in "abc")
    assert tangere.first_difference(a, b) is None
    found = tangere.first_difference(a, c)
    assert found is not None
    assert found["step"] == 21
    assert tangere.first_difference(a, c, tolerance=10.0) is None


def test_an_unfinished_recording_is_readable_and_bad_ones_are_refused(tmp_path: Path) -> None:
    sim = tangere.Simulator(make_box_model())
    recorder = tangere.Recorder(tmp_path / "a.h5", sim)
    sim.step()
    recorder.append()
    assert not (tmp_path / "a.h5").exists()
    recorder.close()
    recorder.close()
    assert (tmp_path / "a.h5").exists()
    with pytest.raises(RuntimeError, match="closed"):
        recorder.append()
    (tmp_path / "b.h5").write_bytes(b"no recording")
    with pytest.raises((tangere.InvalidInput, tangere.FileError)):
        tangere.Recording(tmp_path / "b.h5")
    with pytest.raises(tangere.FileError):
        tangere.Recording(tmp_path / "missing.h5")
    with pytest.raises(tangere.FileError):
        tangere.Recorder(tmp_path / "no" / "a.h5", sim)


def test_recordings_are_plotted(tmp_path: Path) -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    import tangere.plot

    record(tmp_path / "a.h5")
    path = tmp_path / "a.h5"
    _, (one, two, three) = plt.subplots(3)
    tangere.plot.contact_force(path, "box", axes=one)
    size = one.get_lines()[0].get_ydata()
    assert float(size[-1]) == pytest.approx(8 * 9.81, rel=0.2)
    tangere.plot.energy(tangere.Recording(path), axes=two)
    assert {"kinetic", "potential", "total"} <= {t.get_text() for t in two.get_legend().get_texts()}
    tangere.plot.iterations(path, axes=three)
    assert len(three.get_lines()[0].get_ydata()) == 30
    plt.savefig(tmp_path / "a.png")
    assert (tmp_path / "a.png").stat().st_size > 1000
    assert tangere.plot.energy(path) is plt.gca()
    with pytest.raises(tangere.InvalidInput, match="did you mean 'box'"):
        tangere.plot.contact_force(path, "bax")
