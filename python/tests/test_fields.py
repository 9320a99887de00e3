# SPDX-License-Identifier: Apache-2.0
"""Every field of every struct: those that users make can be given, read, changed and pickled;
those that the engine makes hold what they say."""

from __future__ import annotations

import enum
import pickle
from pathlib import Path

import numpy as np
import pytest

import tangere
from conftest import make_box_model
from tangere import collision


def structs() -> list[type]:
    """Classes whose fields are arguments of their constructor."""
    names = {**{n: getattr(tangere, n) for n in tangere.__all__ if n not in ("gym", "plot")},
             **{n: getattr(collision, n) for n in collision.__all__}}
    return [
        value for _, value in sorted(names.items())
        if isinstance(value, type) and value.__module__.startswith("tangere._")
        and "__setstate__" in vars(value) and fields(value)
    ]


def fields(struct: type) -> list[str]:
    """Properties that can be set."""
    return [
        name for name, value in vars(struct).items()
        if isinstance(value, property) and value.fset is not None
    ]


def others(value: object) -> list[object]:
    """Values that may stand where this one does, and are another one."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, enum.Enum):
        return [next(member for member in type(value) if member is not value)]
    if isinstance(value, int):
        return [value + 1 if value < 2**31 else 1]
    if isinstance(value, float):
        return [value + 0.25 if np.isfinite(value) else 2.5]
    if isinstance(value, str):
        return ["other"]
    if isinstance(value, np.ndarray):
        changed = np.array(value)
        changed[(0, 3) if value.shape == (4, 4) else 0] += 1.5
        return [changed]
    if isinstance(value, list):
        return [[*value[:-1], value[-1] + 1]]
    if value == ():
        parts = [struct() for struct in structs()]
        return [(1.5, 2.5), *((part,) for part in parts)]
    if value is None:
        mesh = collision.mesh_shape(collision.Box([1, 1, 1]), resolution=1.0)[0]
        return [0.75, tangere.MassProperties(2.0), tangere.Sphere(0.5), mesh]
    if fields(type(value)):  # a struct in a struct
        changed = pickle.loads(pickle.dumps(value))
        set_another(changed, fields(type(value))[0])
        return [changed]
    raise AssertionError(f"no other value for {value!r}")


def set_another(instance: object, field: str) -> object:
    """Sets a field to another value, and returns that."""
    for other in others(getattr(instance, field)):
        try:
            setattr(instance, field, other)
        except TypeError:
            continue
        return other
    raise AssertionError(f"{type(instance).__name__}.{field} takes nothing")


@pytest.mark.parametrize("struct", structs(), ids=lambda struct: struct.__name__)
def test_every_field_is_given_read_and_pickled(struct: type) -> None:
    for field in fields(struct):
        instance, plain = struct(), repr(struct())
        other = set_another(instance, field)
        shown = repr(instance)
        # Of parts whose repr() has an address, only that they are there can be seen.
        if " at 0x" not in shown:
            assert shown != plain, field
            assert repr(struct(**{field: other})) == shown, field
            assert repr(pickle.loads(pickle.dumps(instance))) == shown, field
        else:
            assert getattr(pickle.loads(pickle.dumps(instance)), field) is not None
        with pytest.raises((TypeError, ValueError), match=rf"{struct.__name__}\.{field}"):
            setattr(instance, field, object())


def test_there_are_many_structs() -> None:
    assert len(structs()) > 30
    assert tangere.Body in structs() and collision.Motion in structs()


def test_the_report_of_a_step() -> None:
    sim = tangere.Simulator(make_box_model())
    sim.step(100)
    report = sim.report()
    assert (report.status, report.num_contacts, report.num_islands) == (tangere.StepStatus.OK, 4, 1)
    assert (report.num_impacts, report.num_inverted, report.num_pressure_polygons) == (0, 0, 0)
    assert report.iterations >= 0 and report.linear_iterations >= 0
    assert 0 <= report.max_depth < 1e-3 and report.residual < 1e-3 and 0 <= report.error_bound < 1e-3
    assert (report.body1, report.body2, report.soft, report.soft2) == (-1, -1, -1, -1)
    assert report.patch_error == 0  # no pressure contacts


def test_the_ledger_of_a_sliding_box() -> None:
    sim = tangere.Simulator(make_box_model())
    sim.step(100)
    before = sim.energy()
    sim.body("box").set_velocity([1, 0, 0], [0, 0, 0])
    sim.step()
    ledger = sim.energy()
    assert ledger.contact_friction < 0 and ledger.external == 0 and ledger.gyroscopic == 0
    assert (ledger.kinematic, ledger.constraint, ledger.correction) == (0, 0, 0)
    # The SAP solver ends at 1e-9 of the momentum.
    assert abs(ledger.residual) < 1e-9 * (ledger.kinetic + ledger.potential)
    flows = ledger.contact_friction + ledger.contact_normal + ledger.integration + ledger.damping
    gained = ledger.kinetic + ledger.potential - before.potential - 0.5 * 8.0
    assert gained == pytest.approx(flows, abs=1e-6) and gained < 0


def test_friction_of_a_kicked_box_is_coulombs_and_the_cone_lifts_it() -> None:
    fastest = {}
    for law in (tangere.SapFriction.COULOMB, tangere.SapFriction.CONE):
        model = make_box_model()
        options = model.options()
        options.sap.friction = law
        sim = tangere.Simulator(model.with_options(options))
        sim.step(100)
        sim.body("box").set_velocity([1, 0, 0], [0, 0, 0])
        sim.step()
        report = sim.report()
        assert report.friction_updates >= 0 and report.friction_residual <= 1e-8
        fastest[law] = sim.body("box").linear_velocity[0, 2]
    assert abs(fastest[tangere.SapFriction.COULOMB]) < 1e-6
    assert fastest[tangere.SapFriction.CONE] > 0.01


def test_links_that_overlap_at_the_start_are_named() -> None:
    link = '<joint type="hinge" axis="0 1 0"/><geom type="box" size=".1 .1 .1"/>'
    xml = f"""<mujoco><worldbody><body name="arm" pos="0 0 1">{link}
    <body name="hand" pos=".25 0 0">{link}<body name="finger" pos="-.15 0 0">{link}</body></body>
    </body></worldbody></mujoco>"""
    overlaps = tangere.loads(xml, name="arm.xml").start_overlaps()
    assert [(pair[0], pair[1]) for pair in overlaps] == [("arm", "finger")]
    assert overlaps[0][2] == pytest.approx(0.1) and not overlaps[0][3]


def test_the_results_of_the_event_solver() -> None:
    sim = tangere.Simulator(tangere.load(tangere.scenes.path("bouncing_sphere_steel.toml")))
    events: list[tangere.EventRecord] = []
    for _ in range(2000):
        sim.step()
        events += sim.events()
        if sim.contact_results():
            break
    (contact,) = sim.contact_results()
    assert contact.penetration > 0 and contact.normal_force > 0
    first = next(event for event in events if event.shape2 == contact.shape2)
    assert (contact.shape1, first.body1, first.body2) == (first.shape1, contact.body1, contact.body2)
    assert contact.tangential_speed == pytest.approx(0, abs=1e-9)
    assert contact.tangential_force == pytest.approx(0, abs=1e-9)
    assert (contact.angular_speed, contact.torque_size) == (0, 0)
    assert contact.torque == pytest.approx([0, 0, 0]) and contact.force.shape == (3,)
    assert np.abs(contact.normal) == pytest.approx([0, 0, 1]) and contact.position.shape == (3,)
    assert contact.penetration_rate != 0
    assert first.cause == tangere.EventCause.CONTACT_BEGINS and first.is_restart
    assert first.stiffness > 0 and first.damping >= 0 and first.approach_speed > 0
    assert first.time > 0 and abs(first.distance) < 1e-6 and first.position.shape == (3,)
    statistics = sim.event_statistics()
    assert statistics.num_derivatives >= statistics.num_steps > 0
    assert statistics.num_events >= 1 and statistics.num_restarts >= 1
    assert statistics.num_zero_crossings > 0 and statistics.num_jacobians >= 0
    sim.reset()


def test_the_report_of_a_broken_mesh() -> None:
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [9, 9, 9], [0, 0, 0]], float)
    triangles = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [5, 1, 1], [0, 2, 1]]
    report = collision.TriangleMesh(corners, triangles).inspect()
    assert (report.num_vertices, report.num_triangles) == (6, 5)
    assert (report.num_unused_vertices, report.num_duplicate_vertices) == (1, 1)
    assert (report.num_degenerate_triangles, report.num_duplicate_triangles) == (1, 1)
    assert report.num_open_edges > 0 and report.num_components >= 1
    assert report.num_non_manifold_edges >= 0 and report.num_inconsistent_edges >= 0
    assert not report.would_close_when_welded and report.area > 1
    assert not report.is_watertight and not report.is_solid and report.findings
    assert not report.passes_through_itself  # only asked of closed meshes


def test_the_quality_of_a_filled_box() -> None:
    mesh, report = collision.mesh_shape(collision.Box([0.1, 0.2, 0.3]), resolution=0.1)
    quality = report.quality
    assert 0 < quality.min_dihedral < quality.max_dihedral < np.pi
    assert 0 < quality.min_volume <= quality.max_volume < mesh.volume
    assert 0 < quality.shortest_edge <= quality.longest_edge < 0.5 and quality.max_aspect > 1
    assert quality.num_parts == 1 and 0 <= quality.num_surface_tets <= len(mesh.tets)
    assert abs(report.volume_error) < 1e-9 and report.surface_error < 1e-9
    assert report.lost_feature < 1e-9 and report.resolution > 0
    assert report.method == "structured"


def test_shapes_say_what_they_were_made_of() -> None:
    assert (collision.Capsule(0.1, 0.2).radius, collision.Capsule(0.1, 0.2).half_length) == (0.1, 0.2)
    assert collision.Cylinder(0.1, 0.3).half_length == 0.3
    assert collision.Cone(0.1, 0.4).half_height == 0.4
    assert collision.Ellipsoid([1, 2, 3]).semi_axes.tolist() == [1, 2, 3]
    field = collision.HeightField(np.zeros((3, 4)), 2.0, 5.0)
    assert (field.size_x, field.size_y, field.heights.shape) == (2.0, 5.0, (3, 4))
    assert collision.PointCloud([[0, 0, 0]], 0.25).point_radius == 0.25
    corners = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
    inward = [[0, 1, 2], [0, 3, 1], [1, 3, 2], [0, 2, 3], [0, 1, 1]]
    mesh = collision.Mesh(corners, inward)
    assert mesh.num_dropped_triangles == 1 and mesh.was_inside_out and mesh.is_closed
    assert mesh.mass_properties(6.0).center == pytest.approx([0.25] * 3)


def test_the_results_of_queries() -> None:
    box = collision.Box([1, 1, 1])
    result = collision.collide(box, [0, 0, 1.9], box, [0, 0, 0])
    assert result.is_collision
    assert all(point.feature1 >= -1 and point.feature2 >= -1 for point in result.manifolds[0].points)
    face = collision.face_contact(box, [0, 0, 1.9], box, [0, 0, 0], result.manifolds[0])
    assert face is not None and face.centroid == pytest.approx([0, 0, 0.95])
    nearest = collision.distance(box, [0, 0, 4], box, [0, 0, 0])
    assert nearest.feature1 >= -1 and nearest.feature2 >= -1
    capsule = collision.Capsule(0.5, 1.0)
    lying = ([0, 0, 1.4], [np.sqrt(0.5), 0, np.sqrt(0.5), 0])
    edge = collision.edge_contact(collision.collide(capsule, lying, box, [0, 0, 0]).manifolds[0])
    assert edge is not None and edge.depth1 == pytest.approx(0.1) == edge.depth2
    hit = collision.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]]).ray_cast(
        [0.2, 0.2, 1], [0, 0, -1]
    )
    assert hit is not None and hit.feature == 0
    turned = collision.Motion([0, 0, 0], rotation_vector=[0, 0, np.pi / 2]).at(1.0)
    assert turned[:2, :2] == pytest.approx(np.array([[0, -1], [1, 0]]), abs=1e-12)


def test_points_of_a_patch_remember() -> None:
    cache = collision.ContactPatchCache(collision.ContactPatchCacheOptions(enabled=True))
    group = collision.CollisionGroup()
    poses = [[0, 0, 0], [0, 0, 1.9]]
    for pose in poses:
        group.add(collision.Box([1, 1, 1]), pose)
    cache.update(group.collide(), poses)
    point = cache.patches[0].points[0]
    assert np.abs(point.local1).max() <= 1 and np.abs(point.local2).max() <= 1
    assert point.normal_impulse == 0 and point.tangent_impulse.tolist() == [0, 0, 0]
    assert point.age == 0


def test_materials_that_were_published() -> None:
    names = [material.name for material in tangere.published_materials()]
    assert names == sorted(names) and "Steel" in names
    steel = next(m for m in tangere.published_materials() if m.name == "Steel")
    assert steel.youngs_modulus == pytest.approx(2e11, rel=0.1)
    assert all(pair.material1 <= pair.material2 for pair in tangere.published_pairs())


def test_named_tuples_have_what_they_say(tmp_path: Path) -> None:
    diagnostic = tangere.Diagnostic("a.toml", 2, 1, "wrong", "warning")
    assert (diagnostic.file, diagnostic.line, diagnostic.column) == ("a.toml", 2, 1)
    assert (diagnostic.message, diagnostic.kind) == ("wrong", "warning")
