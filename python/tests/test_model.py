# SPDX-License-Identifier: Apache-2.0
"""Models: built, loaded, refused, pickled."""

from __future__ import annotations

import pickle
import warnings
from pathlib import Path

import numpy as np
import pytest

import tangere
from conftest import PENDULUM, make_box_model


def test_a_builder_makes_a_model_with_sorted_names(box_model: tangere.Model) -> None:
    assert box_model.body_names == ["box", "floor"]
    assert (box_model.num_bodies, box_model.num_shapes) == (2, 2)
    assert box_model.body_type("floor") == tangere.BodyType.FIXED
    assert box_model.body_type(0) == tangere.BodyType.DYNAMIC
    assert box_model.mass_properties("box").mass == pytest.approx(8.0)
    assert box_model.body_parent("box") is None
    shape = box_model.shapes("box")[0].shape
    assert isinstance(shape, tangere.Box)
    assert box_model.name == "box"
    assert "2 bodies" in repr(box_model)


def test_unknown_names_come_with_near_ones(box_model: tangere.Model) -> None:
    with pytest.raises(tangere.InvalidInput, match=r"no body is called 'bix' \(did you mean 'box'"):
        box_model.body_index("bix")
    with pytest.raises(tangere.InvalidInput, match="there is no body 7: the model has 2"):
        box_model.mass_properties(7)
    with pytest.raises(TypeError):
        box_model.mass_properties(1.5)  # type: ignore[arg-type]
    builder = tangere.ModelBuilder()
    with pytest.raises(tangere.InvalidInput, match="has no 'gravty' .did you mean 'gravity'"):
        builder.set_options(gravty=[0, 0, 0])
    with pytest.raises(AttributeError, match="did you mean 'Simulator'"):
        tangere.Simlator  # noqa: B018


def test_a_builder_refuses_what_cannot_be_and_stays_as_it_was() -> None:
    builder = tangere.ModelBuilder()
    builder.add_body(tangere.Body("a", shapes=[tangere.Sphere(1)]))
    with pytest.raises(tangere.InvalidInput):
        builder.add_body(tangere.Body("b", shapes=[tangere.Sphere(1)], pose=[0, 0, float("nan")]))
    with pytest.raises(tangere.InvalidInput):
        builder.add_material(tangere.Material("m", friction=-1))
    with pytest.raises(tangere.InvalidInput):
        builder.set_options(dt=0)
    with pytest.raises(tangere.InvalidInput):
        builder.add_body(tangere.Body("c", shapes=[tangere.Sphere(1)], pose=2 * np.eye(4)))
    assert builder.build().body_names == ["a"]
    builder.add_body(tangere.Body("a", shapes=[tangere.Sphere(2)]))
    with pytest.raises(tangere.InvalidInput, match="'a'"):
        builder.build()


def test_options_are_copies_and_fields_have_the_engines_defaults() -> None:
    options = tangere.SimulationOptions()
    assert options.dt == 0.002
    assert options.gravity.tolist() == [0, 0, -9.81]
    assert options.sap.near_rigid == 0.1
    options.sap.max_iterations = 7  # nested structs are written in place
    assert options.sap.max_iterations == 7
    model = make_box_model()
    changed = model.options()
    changed.dt = 0.001
    assert model.options().dt == 0.002
    assert model.with_options(changed).options().dt == 0.001
    assert model.hash != model.with_options(changed).hash


def test_what_is_a_copy_refuses_to_be_written() -> None:
    body = tangere.Body("a", shapes=[tangere.Sphere(1)])
    with pytest.raises(ValueError, match="read-only"):
        body.linear_velocity[0] = 1
    with pytest.raises(AttributeError):
        body.shapes.append(tangere.BodyShape(tangere.Sphere(1)))  # type: ignore[attr-defined]
    body.shapes = [*body.shapes, tangere.BodyShape(tangere.Sphere(2), pose=[0, 0, 1])]
    assert len(body.shapes) == 2
    assert repr(tangere.Material("x", friction=2)) == "Material(name='x', friction=2.0)"


def test_enumerations_may_be_named() -> None:
    assert tangere.Body("a", type="kinematic").type == tangere.BodyType.KINEMATIC
    assert tangere.Joint("j", type="prismatic").type == tangere.JointType.PRISMATIC
    assert tangere.Material("m", contact="hydroelastic").contact == tangere.ContactModel.HYDROELASTIC
    with pytest.raises(tangere.InvalidInput, match="no BodyType is called 'flying'"):
        tangere.Body("a", type="flying")


def every_part() -> list[object]:
    return [
        tangere.Material("m", friction=0.3, contact="hertz"),
        tangere.MaterialPair("a", "b", friction=0.7),
        tangere.Body("b", shapes=[tangere.Box([1, 2, 3])], pose=[1, 2, 3, 0, 1, 0, 0]),
        tangere.BodyShape(tangere.Capsule(1, 2), material="m", name="s"),
        tangere.Joint("j", type="screw", pitch=0.1, lower=-1),
        tangere.Site("s", body="b", half_size=[1, 1, 1]),
        tangere.Tendon("t", terms=[tangere.TendonTerm("j", 2.0)]),
        tangere.TendonVia("pulley", divisor=2),
        tangere.Actuator.position("a", "j", 10, 1),
        tangere.Equality("e", "weld", "a", "b"),
        tangere.Sensor("s", "gyro", "site"),
        tangere.Keyframe("k", q=[1.0, 2.0]),
        tangere.ControlSchedule("a", [0.0, 1.0], [0.0, 2.0]),
        tangere.StartPosition("j", 0.5),
        tangere.ShapePairRule("a", "b", 0.1),
        tangere.Elasticity("neo_hookean", young=1e4),
        tangere.SoftAttachment(3, "b"),
        tangere.ModelParameters(
            masses=[tangere.MassScale("b", 2)],
            frictions=[tangere.FrictionOf("m", 0.1)],
            gains=[tangere.GainsOf("a", [1, 0, 0], [0, 0, 0])],
        ),
        tangere.SimulationOptions(dt=0.01, solver="sap"),
        tangere.ImpulseOptions(num_sweeps=3),
        tangere.SapOptions(guess="best", linear_solver="cholesky", contact="hunt_crossley"),
        tangere.EventOptions(method="adams", policy="touching", damping="flores"),
        tangere.SleepOptions(True),
        tangere.ContactLimits(all=10),
        tangere.ContactPatchCacheOptions(enabled=True),
        tangere.MassProperties(1.0, [0, 0, 0], np.eye(3)),
    ]


@pytest.mark.parametrize("part", every_part(), ids=lambda part: type(part).__name__)
def test_every_part_survives_a_pickle_and_shows_what_it_is(part: object) -> None:
    copy = pickle.loads(pickle.dumps(part))
    assert repr(copy) == repr(part)
    assert repr(part).startswith(type(part).__name__ + "(")
    assert repr(part) != type(part).__name__ + "()"


def test_a_loaded_model_knows_its_joints_actuators_and_sensors(pendulum: tangere.Model) -> None:
    assert pendulum.joint_names == ["shoulder", "elbow", "ball_free"]
    assert pendulum.num_positions == 9
    assert pendulum.num_velocities == 8
    assert pendulum.q_slice("ball_free") == slice(2, 9)
    assert pendulum.v_slice("ball_free") == slice(2, 8)
    assert pendulum.actuator_names == ["shoulder_motor", "elbow_servo"]
    assert pendulum.actuator("shoulder_motor").upper_control == 2.0
    assert pendulum.sensor_names == ["shoulder_angle", "shoulder_rate"]
    assert pendulum.sensor_slice("shoulder_rate") == slice(1, 2)
    assert pendulum.sensor("shoulder_angle").type == tangere.SensorType.JOINT_POSITION
    assert pendulum.keyframe_names == ["raised"]
    assert pendulum.joint("elbow").damping == pytest.approx(0.1)
    assert pendulum.joint_body("elbow") == "lower"
    assert pendulum.body_parent("lower") == "upper"
    assert pendulum.num_joints == 3
    assert (pendulum.num_actuators, pendulum.num_sensors, pendulum.num_sensor_values) == (2, 2, 2)
    assert (pendulum.num_activations, pendulum.num_soft_bodies, pendulum.num_soft_vertices) == (
        0,
        0,
        0,
    )
    assert pendulum.soft_body_names == []
    assert all(note.kind in ("read", "changed", "ignored", "warning") for note in pendulum.notes)


def test_every_scene_of_the_package_loads() -> None:
    assert len(tangere.scenes.names()) >= 10
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tangere.SceneWarning)
        for name in tangere.scenes.names():
            assert tangere.load(tangere.scenes.path(name)).num_bodies > 0


def test_a_refused_scene_says_file_line_column_and_near_names(tmp_path: Path) -> None:
    path = tmp_path / "bad.toml"
    path.write_text('[simulation]\ndtt = 0.1\n[[body]]\nname = "a"\nshapes = [{ spere = 1 }]\n')
    with pytest.raises(tangere.SceneError) as caught:
        tangere.load(path)
    error = caught.value
    assert isinstance(error, ValueError)
    assert error.num_errors == len(error.errors) >= 2
    first = error.errors[0]
    assert (first.file, first.line, first.column) == (str(path), 2, 1)
    assert "did you mean 'dt'" in first.message
    assert f"{path}:2:1" in str(error)
    assert "sphere" in str(error)
    copy = pickle.loads(pickle.dumps(error))
    assert copy.errors == error.errors and str(copy) == str(error)


def test_files_that_cannot_be_read_and_limits_have_their_own_errors(tmp_path: Path) -> None:
    with pytest.raises(tangere.SceneFileError) as caught:
        tangere.load(tmp_path / "missing.toml")
    assert isinstance(caught.value, OSError)
    with pytest.raises(tangere.LimitExceeded) as limit:
        tangere.load(tangere.scenes.path("bin.toml"), max_bytes=10)
    assert isinstance(limit.value, tangere.SceneError)
    with pytest.raises(tangere.SceneError):
        tangere.loads("")


def test_what_a_loader_doubts_is_a_warning() -> None:
    text = '[simulation]\ngravity = [0, 0, -9810]\n[[body]]\nname = "a"\nshapes = [{ sphere = 1 }]\n'
    with pytest.warns(tangere.SceneWarning) as caught:
        model = tangere.loads(text, name="mm.toml")
    assert "mm.toml:2" in str(caught[0].message)
    assert caught[0].filename == __file__
    assert any(note.kind == "warning" and note.line == 2 for note in model.notes)
    assert str(model.notes[0])


@pytest.mark.parametrize("kind", ["build", "loads", "load", "options", "parameters"])
def test_a_model_survives_a_pickle(kind: str, tmp_path: Path) -> None:
    if kind == "build":
        model = make_box_model()
    elif kind == "loads":
        model = tangere.loads(PENDULUM)
    elif kind == "load":
        model = tangere.load(tangere.scenes.path("stack.toml"))
    elif kind == "options":
        model = make_box_model().with_options(tangere.SimulationOptions(dt=0.01, solver="sap"))
    else:
        scale = tangere.ModelParameters(masses=[tangere.MassScale("box", 2.0)])
        model = make_box_model().with_parameters(scale)
        assert model.mass_properties("box").mass == pytest.approx(16.0)
    copy = pickle.loads(pickle.dumps(model))
    assert copy.hash == model.hash
    assert copy.body_names == model.body_names


def test_what_a_solver_does_not_use_is_said() -> None:
    assert make_box_model().unused() == []
    text = """
    [simulation]
    solver = "sap"
    [material.rubber]
    restitution = 0.5
    [[body]]
    name = "a"
    shapes = [{ sphere = 1, material = "rubber" }]
    """
    with pytest.warns(tangere.SceneWarning, match="restitution is not used"):
        model = tangere.loads(text, name="bouncy.toml")
    assert len(model.unused()) == 1


def test_a_pickled_model_whose_file_changed_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_text('[[body]]\nname = "a"\nshapes = [{ sphere = 1 }]\n')
    saved = pickle.dumps(tangere.load(path))
    path.write_text('[[body]]\nname = "a"\nshapes = [{ sphere = 2 }]\n')
    with pytest.raises(tangere.InvalidInput, match="not the same any more"):
        pickle.loads(saved)


def test_a_robot_may_be_built_from_parts() -> None:
    builder = tangere.ModelBuilder()
    builder.set_options(tangere.SimulationOptions(solver="sap"), dt=0.001)
    assert builder.options().dt == 0.001
    builder.add_material(tangere.Material("steel", density=7800))
    builder.add_material(tangere.Material("ice", friction=0.01))
    builder.add_pair(tangere.MaterialPair("steel", "ice", friction=0.02))
    builder.add_body(tangere.Body("floor", type="fixed", shapes=[tangere.Plane()]))
    shape = tangere.BodyShape(tangere.Capsule(0.05, 0.2), [0, 0, -0.2], "steel", name="rod")
    hinge = tangere.Joint("hinge", axis=[0, 1, 0], lower=-1, upper=1)
    builder.add_body(tangere.Body("rod", joints=[hinge], pose=[0, 0, 1], shapes=[shape]))
    slide = tangere.Joint("slide", "prismatic", axis=[0, 0, 1])
    knob = tangere.BodyShape(tangere.Sphere(0.05), name="knob")
    builder.add_body(
        tangere.Body("slider", parent="rod", joints=[slide], pose=[0, 0, -0.6], shapes=[knob])
    )
    builder.exclude_pair("rod", "floor")
    builder.add_shape_pair(tangere.ShapePairRule("rod", "knob"))
    builder.add_site(tangere.Site("tip", "slider"))
    builder.add_actuator(tangere.Actuator.motor("motor", "hinge"))
    builder.add_actuator(tangere.Actuator.velocity("brake", "slide", 5))
    builder.add_tendon(tangere.Tendon("sum", terms=[tangere.TendonTerm("hinge")]))
    builder.add_equality(tangere.Equality("half", "joint", "slide", "hinge", polynomial=[0, 0.1, 0, 0, 0]))
    builder.add_sensor(tangere.Sensor("where", "frame_position", "tip"))
    builder.add_keyframe(tangere.Keyframe("bent", q=[0.5, 0.05]))
    builder.add_schedule(tangere.ControlSchedule("motor", [0, 1], [0, 1]))
    builder.add_start_position(tangere.StartPosition("hinge", 0.25))
    model = builder.build("robot")
    sim = tangere.Simulator(model)
    assert sim.q[0, 0] == 0.25
    assert sim.sensors().shape == (1, 3)
    sim.step(10)
    assert sim.running.all()
    assert pickle.loads(pickle.dumps(model)).hash == model.hash


def test_tetrahedra_are_written_and_read(tmp_path: Path) -> None:
    mesh, _ = tangere.mesh_shape(tangere.Box([0.1, 0.1, 0.1]), resolution=0.1)
    tangere.write_tet_mesh(tmp_path / "box.msh", mesh)
    again, notes = tangere.read_tet_mesh(tmp_path / "box.msh")
    assert again.vertices.tobytes() == mesh.vertices.tobytes()
    assert notes == []
    with pytest.raises(tangere.InvalidInput):
        tangere.write_tet_mesh(tmp_path / "box.xyz", mesh)
    with pytest.raises(tangere.FileError):
        tangere.write_tet_mesh(tmp_path / "no" / "box.msh", mesh)


def test_every_enumeration_has_the_member_the_engine_starts_with() -> None:
    options = tangere.SimulationOptions()
    assert options.solver == tangere.SolverType.IMPULSE
    assert options.joint_step == tangere.JointStep.MIDPOINT
    assert options.impulse.correction == tangere.PositionCorrection.SPLIT_IMPULSE
    assert options.sap.guess == tangere.SapGuess.IMPULSE
    assert options.sap.contact == tangere.SapContactModel.LINEAR
    assert options.sap.linear_solver == tangere.SapLinearSolver.AUTO
    assert options.sap.soft_preconditioner == tangere.SoftPreconditioner.AUTO
    assert options.event.method == tangere.EventMethod.BDF
    assert options.event.policy == tangere.EventPolicy.PENETRATING
    assert options.event.damping == tangere.RestitutionDamping.EXACT
    assert tangere.Material().contact == tangere.ContactModel.POINT
    assert tangere.Material().plane_contact == tangere.PlaneContact.ELEMENTS
    assert tangere.Actuator().target == tangere.ActuatorTarget.JOINT
    assert tangere.Actuator().dynamics == tangere.ActuatorDynamics.NONE
    assert tangere.TendonVia().kind == tangere.ViaKind.SITE
    assert tangere.Equality().type == tangere.EqualityType.CONNECT
    assert tangere.Sensor().object_frame == tangere.SensorFrame.SITE
    assert tangere.Elasticity().model == tangere.ElasticModel.COROTATED
    assert [kind.name for kind in tangere.ContactKind] == [
        "POINTS",
        "RIGID_RIGID",
        "SOFT_RIGID",
        "SOFT_SOFT",
        "SOFT_SELF",
    ]
    assert tangere.Sphere(1).type == tangere.ShapeType.SPHERE
    assert isinstance(tangere.load(tangere.scenes.path("arm.xml")).notes[0], tangere.ImportNote)


def test_errors_are_one_family() -> None:
    assert issubclass(tangere.SceneLimitExceeded, (tangere.LimitExceeded, tangere.SceneError))
    assert issubclass(tangere.LimitExceeded, tangere.InvalidInput)
    assert issubclass(tangere.FileError, OSError)
    assert issubclass(tangere.InvalidInput, ValueError)
    assert issubclass(tangere.SceneWarning, UserWarning)
