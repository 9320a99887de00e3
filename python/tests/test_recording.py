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
    with pytest.raises(tangere.InvalidInput):
        recording.soft_surface("ball")


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
