# SPDX-License-Identifier: Apache-2.0
"""tangere.collision: shapes and queries, usable alone."""

from __future__ import annotations

import gc
import itertools
import pickle
import subprocess
import sys
import weakref

import numpy as np
import pytest

from tangere import collision as tc
from tangere.errors import FileError, InvalidInput

CUBE = np.array(list(itertools.product([-1.0, 1.0], repeat=3)))
TRIANGLES = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
CORNERS = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], dtype=float)


def every_shape() -> list[tc.Shape]:
    return [
        tc.Sphere(0.5),
        tc.Box([0.5, 0.4, 0.3]),
        tc.Capsule(0.2, 0.4),
        tc.Cylinder(0.3, 0.5),
        tc.Cone(0.4, 0.5),
        tc.Ellipsoid([0.5, 0.4, 0.3]),
        tc.Plane(),
        tc.Convex(0.5 * CUBE),
        tc.Mesh(CORNERS, TRIANGLES),
        tc.HeightField(np.zeros((3, 4)), 2.0, 2.0),
        tc.PointCloud(CORNERS, 0.1),
        tc.Compound([(tc.Sphere(0.2), [0, 0, 0]), (tc.Box([0.1, 0.1, 0.1]), [0.5, 0, 0])]),
    ]


def test_importing_the_collision_library_loads_no_dynamics() -> None:
    code = (
        "import sys, tangere.collision as c; c.distance(c.Sphere(1), [0,0,0], c.Sphere(1), [3,0,0]);"
        "bad = [m for m in sys.modules if m in ('tangere._core', 'tangere._recording')];"
        "maps = open('/proc/self/maps').read();"
        "sys.exit(bool(bad) or 'libtangere.so' in maps or 'hdf5' in maps)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("shape", every_shape(), ids=lambda shape: shape.type.name)
def test_every_shape_survives_a_pickle(shape: tc.Shape) -> None:
    copy = pickle.loads(pickle.dumps(shape))
    assert type(copy) is type(shape)
    points = np.random.default_rng(1).uniform(-1, 1, (20, 3))
    for point in points:
        assert copy.signed_distance(point).distance == shape.signed_distance(point).distance


def test_a_support_point_and_a_box_bound_the_shape() -> None:
    box = tc.Box([1, 2, 3])
    assert box.support([1, 1, 1]).tolist() == [1, 2, 3]
    assert box.world_aabb([10, 0, 0]).lower.tolist() == [9, -2, -3]
    assert box.local_aabb.contains([0, 0, 0])
    assert not box.local_aabb.overlaps(tc.Aabb([5, 5, 5], [6, 6, 6]))
    assert repr(box) == "Box([1.0, 2.0, 3.0])"
    assert box.half_extents.tolist() == [1, 2, 3]


def test_mass_properties_of_a_box_are_those_of_the_textbook() -> None:
    mass = tc.Box([0.5, 1.0, 1.5]).mass_properties(2.0)
    assert mass.mass == pytest.approx(2.0 * 1 * 2 * 3)
    assert np.diag(mass.inertia) == pytest.approx(mass.mass / 3 * np.array([3.25, 2.5, 1.25]))
    with pytest.raises(InvalidInput):
        tc.Plane().mass_properties(1.0)


@pytest.mark.parametrize("size", [0.0, -1.0, float("nan"), float("inf")])
def test_sizes_that_make_no_solid_are_refused(size: float) -> None:
    with pytest.raises(ValueError, match="radius"):
        tc.Sphere(size)


def test_poses_may_be_given_in_four_ways() -> None:
    s = np.sqrt(0.5)
    turned = np.array([[0, -1, 0, 1], [1, 0, 0, 2], [0, 0, 1, 3], [0, 0, 0, 1]], dtype=float)
    box, ball = tc.Box([2, 1, 1]), tc.Sphere(0.5)
    poses = [turned, [1, 2, 3, s, 0, 0, s], ([1, 2, 3], [s, 0, 0, s])]
    distances = [tc.distance(box, pose, ball, [1, 9, 3]).distance for pose in poses]
    assert distances == pytest.approx([9 - 2 - 2 - 0.5] * 3, abs=1e-12)
    assert tc.distance(box, [1, 2, 3], ball, [1, 9, 3]).distance == pytest.approx(5.5)


def test_a_pose_that_is_not_finite_is_a_status_and_one_of_another_shape_an_error() -> None:
    result = tc.collide(tc.Sphere(1), [0, 0, float("nan")], tc.Sphere(1), [0, 0, 0])
    assert result.status == tc.QueryStatus.INVALID_POSE
    assert not result
    with pytest.raises(TypeError):
        tc.collide(tc.Sphere(1), [0, 0], tc.Sphere(1), [0, 0, 0])  # type: ignore[arg-type]


def test_contacts_of_a_box_on_a_box_are_four_with_one_normal() -> None:
    upper, lower = tc.Box([0.5, 0.5, 0.5]), tc.Box([1, 1, 1])
    result = tc.collide(upper, [0, 0, 1.49], lower, [0, 0, 0])
    contacts = result.contacts()
    assert len(result) == len(contacts) == 4
    assert contacts["depth"] == pytest.approx([0.01] * 4)
    assert np.all(contacts["normal"] == [0, 0, 1])
    manifold = result.manifolds[0]
    assert manifold.type == tc.ContactType.FACE
    assert manifold.status == tc.QueryStatus.OK
    assert manifold.normal.tolist() == [0, 0, 1]
    assert len(manifold) == 4
    assert isinstance(manifold, tc.ContactManifold) and isinstance(result, tc.CollisionResult)
    assert isinstance(manifold.points[0], tc.ContactPoint)
    assert manifold.points[0].depth == pytest.approx(0.01)
    assert manifold.points[0].feature1 >= 0
    face = tc.face_contact(upper, [0, 0, 1.49], lower, [0, 0, 0], manifold)
    assert isinstance(face, tc.FaceContact)
    assert face.area == pytest.approx(1.0)
    assert face.polygon.shape == (4, 3)
    assert tc.edge_contact(manifold) is None
    deepest = tc.collide(upper, [0, 0, 1.49], lower, [0, 0, 0], max_contacts=1)
    assert len(deepest) == 1


def test_a_capsule_on_a_box_touches_along_a_line() -> None:
    capsule, box = tc.Capsule(0.1, 0.5), tc.Box([1, 1, 1])
    lying = [0, 0, 1.09, np.sqrt(0.5), 0, np.sqrt(0.5), 0]
    manifold = tc.collide(capsule, lying, box, [0, 0, 0]).manifolds[0]
    edge = tc.edge_contact(manifold)
    assert isinstance(edge, tc.EdgeContact)
    assert np.linalg.norm(edge.point2 - edge.point1) == pytest.approx(1.0)
    assert edge.depth1 == pytest.approx(0.01)
    inside = tc.Box([1, 1, 1]).signed_distance([0.9, 0, 0])
    assert isinstance(inside, tc.SignedDistance)
    assert inside.closest.tolist() == [1, 0, 0] and inside.normal.tolist() == [1, 0, 0]


def test_contact_arrays_are_copies() -> None:
    result = tc.collide(tc.Sphere(1), [0, 0, 1.5], tc.Sphere(1), [0, 0, 0])
    first = result.contacts()
    first["depth"] = 9
    assert result.contacts()["depth"][0] == pytest.approx(0.5)


def test_algorithms_may_be_named() -> None:
    a, b = tc.Box([1, 1, 1]), tc.Cylinder(0.5, 0.5)
    values = [
        tc.distance(a, [0, 0, 0], b, [4, 0, 0], algorithm=name).distance
        for name in ("auto", "gjk", tc.ConvexAlgorithm.GJK)
    ]
    assert values == pytest.approx([2.5] * 3)
    with pytest.raises(ValueError, match="no ConvexAlgorithm is called 'newton'"):
        tc.distance(a, [0, 0, 0], b, [4, 0, 0], algorithm="newton")


def test_distance_has_witness_points() -> None:
    result = tc.distance(tc.Box([1, 1, 1]), [0, 0, 0], tc.Sphere(1), [5, 0, 0])
    assert isinstance(result, tc.DistanceResult)
    assert result.point1.tolist() == [1, 0, 0]
    assert result.point2.tolist() == [4, 0, 0]
    assert result.normal.tolist() == [-1, 0, 0]
    assert result.status == tc.QueryStatus.OK
    far = tc.distance(tc.Sphere(1), [0, 0, 0], tc.Sphere(1), [9, 0, 0], upper_bound=1.0)
    assert far.distance >= 1.0
    inside = tc.distance(tc.Sphere(1), [0, 0, 0], tc.Sphere(1), [1, 0, 0], signed=False)
    assert inside.distance == 0
    assert tc.overlap(tc.Sphere(1), [0, 0, 0], tc.Sphere(1), [1, 0, 0])


def test_pairs_that_cannot_be_asked_say_why() -> None:
    assert isinstance(tc.pair_support("sphere", "box"), tc.PairSupport)
    assert tc.pair_support("sphere", "box").reason == ""
    plane = tc.pair_support(tc.ShapeType.PLANE, tc.ShapeType.PLANE)
    assert not plane.collide
    assert plane.reason


def test_a_ray_finds_the_surface_and_its_normal() -> None:
    hit = tc.Box([1, 1, 1]).ray_cast([0, 0, 5], [0, 0, -2])
    assert isinstance(hit, tc.RayHit)
    assert hit.t == 2.0
    assert hit.position.tolist() == [0, 0, 1]
    assert hit.normal.tolist() == [0, 0, 1]
    assert tc.Box([1, 1, 1]).ray_cast([0, 0, 5], [0, 0, 1]) is None
    assert tc.Box([1, 1, 1]).ray_cast([0, 0, 5], [0, 0, -2], max_t=1) is None


def test_time_of_impact_of_two_spheres() -> None:
    result = tc.time_of_impact(
        tc.Sphere(1), tc.Motion([-5, 0, 0], displacement=[10, 0, 0]), tc.Sphere(1), tc.Motion()
    )
    assert isinstance(result, tc.ImpactResult)
    assert result.status == tc.ImpactStatus.HIT
    assert result.s == pytest.approx(0.3, abs=1e-6)
    assert tc.Motion([0, 0, 0], displacement=[2, 0, 0]).at(0.5)[0, 3] == 1.0


@pytest.mark.parametrize("kind", ["bvh", "sweep", "brute_force"])
def test_a_group_answers_alike_with_every_broad_phase(kind: str) -> None:
    rng = np.random.default_rng(3)
    group = tc.CollisionGroup(kind)
    for position in rng.uniform(-2, 2, (60, 3)):
        group.add(tc.Sphere(0.4), position)
    reference = tc.CollisionGroup("brute_force")
    for i in range(60):
        reference.add(group.shape(i), group.pose(i))
    found, expected = group.collide().contacts(), reference.collide().contacts()
    assert len(found) > 10
    assert found.tobytes() == expected.tobytes()
    group.set_num_threads(2)
    assert group.collide().contacts().tobytes() == expected.tobytes()
    nearest = group.distance()
    assert nearest is not None
    assert nearest.distance < 0


def test_a_group_keeps_ids_masks_and_excluded_pairs() -> None:
    group = tc.CollisionGroup(tc.BroadPhaseType.SWEEP)
    a = group.add(tc.Sphere(1), [0, 0, 0])
    b = group.add(tc.Sphere(1), [1, 0, 0], id=7)
    assert (a, b, len(group)) == (0, 7, 2)
    assert group.collide().manifolds[0].object2 == 7
    group.exclude_pair(a, b)
    assert not group.collide()
    group.include_pair(a, b)
    assert group.collide(contacts=False)
    group.add(tc.Sphere(1), [0.5, 0, 0], group=2, mask=2)
    assert len(group.collide().manifolds) == 1
    group.set_pose(b, [10, 0, 0])
    assert not group.collide()
    with pytest.raises(InvalidInput):
        group.add(tc.Sphere(1), [0, 0, 0], id=7)
    group.remove(b)
    group.clear()
    assert len(group) == 0


def test_a_filter_may_be_a_function_and_may_raise() -> None:
    group = tc.CollisionGroup()
    for x in range(3):
        group.add(tc.Sphere(1), [x, 0, 0])
    group.set_filter(lambda one, two: one == 0)
    assert {(m.object1, m.object2) for m in group.collide().manifolds} == {(1, 2)}

    def angry(one: int, two: int) -> bool:
        raise KeyError("no")

    group.set_filter(angry)
    with pytest.raises(KeyError):
        group.collide()
    group.set_filter(None)
    assert len(group.collide().manifolds) == 3


def test_a_group_that_its_filter_knows_is_collected() -> None:
    class Watcher:
        pass

    watcher = Watcher()
    group = tc.CollisionGroup()
    group.set_filter(lambda one, two, known=(group, watcher): False)
    gone = weakref.ref(watcher)
    del group, watcher
    gc.collect()
    assert gone() is None


def test_rays_and_moving_shapes_through_a_group() -> None:
    group = tc.CollisionGroup()
    for x in (2, 5, 8):
        group.add(tc.Sphere(0.5), [x, 0, 0])
    hits = group.ray_cast_all([0, 0, 0], [1, 0, 0])
    assert [hit.object for hit in hits] == [0, 1, 2]
    assert [hit.hit.t for hit in hits] == [1.5, 4.5, 7.5]
    first = group.ray_cast([10, 0, 0], [-1, 0, 0])
    assert isinstance(first, tc.GroupRayHit) and first.object == 2
    cast = group.shape_cast(tc.Sphere(0.25), tc.Motion([0, 0, 0], displacement=[10, 0, 0]))
    assert isinstance(cast, tc.GroupCastHit)
    assert cast.object == 0
    assert cast.impact.s == pytest.approx(0.125, abs=1e-5)


@pytest.mark.parametrize(
    "kind", [tc.BvhBroadPhase, tc.SweepBroadPhase, tc.BruteForceBroadPhase]
)
def test_a_broad_phase_lists_exact_sorted_pairs(kind: type[tc.BroadPhase]) -> None:
    boxes = kind()
    for i in range(5):
        boxes.add(i, tc.Aabb([i, 0, 0], [i + 1, 1, 1]))
    assert boxes.pairs().tolist() == [[0, 1], [1, 2], [2, 3], [3, 4]]
    boxes.update(4, tc.Aabb([100, 0, 0], [101, 1, 1]))
    boxes.remove(0)
    assert boxes.pairs().tolist() == [[1, 2], [2, 3]]
    assert boxes.overlaps(tc.Aabb([2.2, 0, 0], [2.5, 1, 1])).tolist() == [2]
    if isinstance(boxes, tc.BvhBroadPhase):
        boxes.update(1, tc.Aabb([1, 0, 0], [2, 1, 1]))
        assert boxes.moved_pairs().tolist() == [[1, 2]]
    with pytest.raises(InvalidInput):
        boxes.add(1, tc.Aabb([0, 0, 0], [1, 1, 1]))
    boxes.clear()
    assert len(boxes) == 0


def test_patches_keep_their_ids_and_points_age() -> None:
    cache = tc.ContactPatchCache(tc.ContactPatchCacheOptions(enabled=True))
    group = tc.CollisionGroup()
    floor = group.add(tc.Box([5, 5, 1]), [0, 0, -1])
    box = group.add(tc.Box([0.5, 0.5, 0.5]), [0, 0, 0.49])
    poses = [group.pose(floor), group.pose(box)]
    cache.update(group.collide(), poses)
    before = {point.id for point in cache.patches[0].points}
    state = cache.state_hash
    cache.update(group.collide(), poses)
    assert {point.id for point in cache.patches[0].points} == before
    assert (cache.frame, len(cache), len(cache.patches[0])) == (2, 1, 4)
    assert isinstance(cache.patches[0], tc.ContactPatch)
    assert isinstance(cache.patches[0].points[0], tc.ContactPatchPoint)
    assert cache.patches[0].points[0].age == 0
    assert cache.patches[0].type == tc.ContactType.FACE
    assert (cache.patches[0].object1, cache.patches[0].object2) == (floor, box)
    assert cache.patches[0].region == 0
    assert cache.patches[0].frames_since_seen == 0
    assert cache.state_hash != state
    cache.invalidate_object(box)
    assert len(cache) == 0
    cache.reset()
    assert cache.frame == 0


def test_meshes_are_inspected_welded_and_filled() -> None:
    soup = tc.TriangleMesh(CORNERS[TRIANGLES].reshape(-1, 3), np.arange(12).reshape(4, 3))
    report = soup.inspect()
    assert isinstance(report, tc.MeshReport)
    assert not report.is_watertight
    assert report.would_close_when_welded
    assert report.findings
    solid = soup.weld()
    assert solid.inspect().is_solid
    assert solid.inspect().volume == pytest.approx(1 / 6)
    shape = solid.to_shape()
    assert isinstance(shape, tc.Mesh) and shape.is_closed
    assert shape.vertices.shape == (4, 3)
    assert isinstance(solid.convex_hull(), tc.Convex)
    mesh, facts = tc.mesh_shape(tc.Sphere(0.1), resolution=0.05)
    assert isinstance(mesh, tc.TetMesh) and isinstance(facts, tc.TetMeshReport)
    assert isinstance(mesh.quality, tc.TetMeshQuality)
    assert mesh.tets.shape[1] == 4
    assert mesh.surface.shape[1] == 3
    assert facts.method == "structured"
    assert mesh.quality.num_parts == 1
    assert mesh.transformed([1, 0, 0]).vertices.mean(axis=0)[0] == pytest.approx(1.0)
    copy = pickle.loads(pickle.dumps(mesh))
    assert copy.vertices.tobytes() == mesh.vertices.tobytes()
    with pytest.raises(InvalidInput):
        tc.mesh_shape(tc.Plane())


def test_arrays_of_other_types_and_layouts_are_taken_and_wrong_ones_named() -> None:
    fortran = np.asfortranarray(CUBE.astype(np.float32))
    assert tc.Convex(fortran).num_faces == 6
    assert tc.Convex(CUBE[::-1]).face(0).tolist() == tc.Convex(CUBE).face(0).tolist()
    with pytest.raises(InvalidInput, match=r"points must have the shape \(n, 3\), found \(8, 2\)"):
        tc.Convex(CUBE[:, :2])
    with pytest.raises(InvalidInput, match="points must be an array of numbers"):
        tc.Convex("cube")
    with pytest.raises(InvalidInput, match="triangles must be an array of integers"):
        tc.Mesh(CORNERS, TRIANGLES + 0.5)
    with pytest.raises(InvalidInput):
        tc.Mesh(CORNERS, TRIANGLES + 100)
    with pytest.raises(IndexError):
        tc.Convex(CUBE).face(99)


def test_reading_a_mesh_file_names_the_line(tmp_path: object) -> None:
    path = f"{tmp_path}/bad.obj"
    with open(path, "w") as file:
        file.write("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 9\n")
    with pytest.raises(InvalidInput, match="bad.obj:4"):
        tc.read_mesh(path)
    with open(path, "w") as file:
        file.write("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    assert tc.read_mesh(path).triangles.tolist() == [[0, 1, 2]]
    with pytest.raises((InvalidInput, FileError)):
        tc.read_mesh(f"{tmp_path}/missing.obj")


def test_poses_that_are_no_rigid_motions_are_refused() -> None:
    ball, box = tc.Sphere(0.5), tc.Box([1, 1, 1])
    mirror, stretched, flat = np.eye(4), np.eye(4), np.eye(4)
    mirror[0, 0], stretched[1, 1], flat[2, 2] = -1, 1.01, 0
    for pose in (mirror, stretched, flat):
        for ask in (tc.collide, tc.distance, tc.overlap):
            with pytest.raises(ValueError, match="pose1 must be a rigid motion"):
                ask(ball, pose, box, [0, 0, 0])
            with pytest.raises(ValueError, match="pose2 must be a rigid motion"):
                ask(ball, [0, 0, 0], box, pose)
    nearly = np.eye(4)
    nearly[0, 0] = 1 + 4e-7
    assert tc.overlap(ball, nearly, box, [0, 0, 0])
