// SPDX-License-Identifier: Apache-2.0
#include "bindings.hpp"
#include "collision_enums.hpp"
#include "struct_binding.hpp"

#include <tangere/collision.hpp>

#include <atomic>
#include <exception>

namespace tangere::python {

namespace {

using ShapePointer = std::shared_ptr<const Shape>;

CollisionOption optionOf(int maxContacts, bool wantsContacts, ConvexAlgorithm algorithm) {
  return {.enableContact = wantsContacts, .maxNumContacts = maxContacts, .algorithm = algorithm};
}

void bindPairQueries(nb::module_& m) {
  m.def(
      "collide",
      [](const Shape& shape1, const Transform& pose1, const Shape& shape2, const Transform& pose2,
         int maxContacts, ConvexAlgorithm algorithm) {
        CollisionResult result;
        collide(shape1, pose1, shape2, pose2, optionOf(maxContacts, true, algorithm), result);
        return result;
      },
      nb::arg("shape1"), nb::arg("pose1"), nb::arg("shape2"), nb::arg("pose2"),
      nb::arg("max_contacts") = 1000,
      nb::arg("algorithm").sig("ConvexAlgorithm.AUTO") = ConvexAlgorithm::Auto,
      "Contacts of two shapes. A pose is a position, a position and a quaternion (w x y z), or a "
      "4 x 4 matrix.\n\n"
      ">>> from tangere.collision import Box, Sphere, collide\n"
      ">>> result = collide(Sphere(0.5), [0, 0, 0.9], Box([1, 1, 0.5]), [0, 0, 0])\n"
      ">>> bool(result), round(result.manifolds[0].depth, 12)\n"
      "(True, 0.1)\n"
      ">>> result.contacts()['normal'].tolist()\n"
      "[[0.0, 0.0, 1.0]]\n");
  m.def(
      "overlap",
      [](const Shape& shape1, const Transform& pose1, const Shape& shape2, const Transform& pose2) {
        return overlap(shape1, pose1, shape2, pose2);
      },
      nb::arg("shape1"), nb::arg("pose1"), nb::arg("shape2"), nb::arg("pose2"),
      "Whether two shapes overlap; the fastest question.");
  m.def(
      "distance",
      [](const Shape& shape1, const Transform& pose1, const Shape& shape2, const Transform& pose2,
         Real upperBound, bool isSigned, ConvexAlgorithm algorithm) {
        return distance(
            shape1, pose1, shape2, pose2,
            {.upperBound = upperBound, .enableSigned = isSigned, .algorithm = algorithm});
      },
      nb::arg("shape1"), nb::arg("pose1"), nb::arg("shape2"), nb::arg("pose2"),
      nb::arg("upper_bound") = kUnlimited, nb::arg("signed") = true,
      nb::arg("algorithm").sig("ConvexAlgorithm.AUTO") = ConvexAlgorithm::Auto,
      "Signed distance of two shapes, with the nearest points.\n\n"
      ">>> from tangere.collision import Sphere, distance\n"
      ">>> distance(Sphere(1), [0, 0, 0], Sphere(1), [5, 0, 0]).distance\n"
      "3.0\n");
  bindResult<PairSupport>(m, "PairSupport", "Whether a pair of shape types can be asked.",
                          field("collide", &PairSupport::collide, ""),
                          field("distance", &PairSupport::distance, ""))
      .def_prop_ro(
          "reason", [](const PairSupport& self) { return std::string(self.reason); },
          "Why not; empty when both are supported.");
  m.def("pair_support", &pairSupport, nb::arg("type1"), nb::arg("type2"),
        "Whether a pair of shape types can be asked, and why not.");
  m.def("edge_contact", &edgeContact, nb::arg("manifold"),
        "The segment of a line contact, or None.");
  m.def("face_contact", &faceContact, nb::arg("shape1"), nb::arg("pose1"), nb::arg("shape2"),
        nb::arg("pose2"), nb::arg("manifold"), "The whole polygon of a flat contact, or None.");
}

void bindImpacts(nb::module_& m) {
  bindStruct<Motion>(
      m, "Motion", "Motion of a shape over one interval: constant linear and angular velocity.",
      field("start", &Motion::start, "pose at the start"),
      field("displacement", &Motion::displacement, "of the origin over the interval [m]"),
      field("rotation_vector", &Motion::rotationVector,
            "axis times angle over the interval, world [rad]"))
      .def("at", &Motion::at, nb::arg("s"), "Pose at a part of the interval, 0 to 1.");
  nb::enum_<ImpactStatus>(m, "ImpactStatus", "How two motions end.")
      .value("HIT", ImpactStatus::Hit)
      .value("MISS", ImpactStatus::Miss)
      .value("OVERLAPPING", ImpactStatus::Overlapping)
      .value("INDETERMINATE", ImpactStatus::Indeterminate);
  bindResult<ImpactResult>(m, "ImpactResult", "Conservative time of impact: never late.",
                           field("status", &ImpactResult::status, ""),
                           field("s", &ImpactResult::s, "part of the interval, apart until then"),
                           field("distance", &ImpactResult::distance, "at s [m]"),
                           field("normal", &ImpactResult::normal, "from object 2 to object 1"),
                           field("point", &ImpactResult::point, "world, at s"),
                           field("iterations", &ImpactResult::iterations, ""));
  m.def(
      "time_of_impact",
      [](const Shape& shape1, const Motion& motion1, const Shape& shape2, const Motion& motion2,
         Real tolerance, int maxIterations) {
        return timeOfImpact(shape1, motion1, shape2, motion2,
                            {.tolerance = tolerance, .maxIterations = maxIterations});
      },
      nb::arg("shape1"), nb::arg("motion1"), nb::arg("shape2"), nb::arg("motion2"),
      nb::arg("tolerance") = 1e-6, nb::arg("max_iterations") = 200,
      "When two moving shapes meet.\n\n"
      ">>> from tangere.collision import Motion, Sphere, time_of_impact\n"
      ">>> moving = Motion([-3, 0, 0], displacement=[4, 0, 0])\n"
      ">>> round(time_of_impact(Sphere(0.5), moving, Sphere(0.5), Motion()).s, 3)\n"
      "0.5\n");
}

/// A Python function as a filter. What it raises is kept, and raised when the query has ended.
class PythonFilter final : public CollisionFilter {
 public:
  explicit PythonFilter(nb::callable function) : function_(std::move(function)) {}

  [[nodiscard]] bool ignoresCollision(ObjectId object1, ObjectId object2) const override {
    const nb::gil_scoped_acquire acquire;
    if (error_) return true;
    try {
      return nb::cast<bool>(function_(object1, object2));
    } catch (...) {
      error_ = std::current_exception();
      return true;
    }
  }
  [[nodiscard]] nb::handle function() const { return function_; }
  void rethrow() {
    if (!error_) return;
    std::exception_ptr error;
    std::swap(error, error_);
    std::rethrow_exception(error);
  }

 private:
  nb::callable function_;
  mutable std::exception_ptr error_;
};

/// A group with the filter it refers to.
struct Group {
  explicit Group(BroadPhaseType type) : group(type) {}

  CollisionGroup group;
  std::unique_ptr<PythonFilter> filter;
};

// A filter may well know the group it filters: the garbage collector has to see that.
int visitFilter(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (!nb::inst_ready(self)) return 0;
  const Group* group = nb::inst_ptr<Group>(self);
  if (group->filter) Py_VISIT(group->filter->function().ptr());
  return 0;
}

int clearFilter(PyObject* self) {
  Group* group = nb::inst_ptr<Group>(self);
  group->group.setFilter(nullptr);
  group->filter.reset();
  return 0;
}

PyType_Slot kGroupSlots[] = {{Py_tp_traverse, reinterpret_cast<void*>(&visitFilter)},
                             {Py_tp_clear, reinterpret_cast<void*>(&clearFilter)},
                             {0, nullptr}};

void bindGroup(nb::module_& m) {
  nb::enum_<BroadPhaseType>(m, "BroadPhaseType", "How a group finds pairs.")
      .value("BVH", BroadPhaseType::Bvh)
      .value("SWEEP", BroadPhaseType::Sweep)
      .value("BRUTE_FORCE", BroadPhaseType::BruteForce);
  bindResult<GroupRayHit>(m, "GroupRayHit", "An object of a group that a ray meets.",
                          field("object", &GroupRayHit::object, "its id"),
                          field("hit", &GroupRayHit::hit, "where"));
  bindResult<GroupCastHit>(m, "GroupCastHit", "An object of a group that a moving shape meets.",
                           field("object", &GroupCastHit::object, "its id"),
                           field("impact", &GroupCastHit::impact, "when and where"));
  nb::class_<Group>(m, "CollisionGroup", nb::type_slots(kGroupSlots),
                    "A set of objects that is asked as a whole. Answers are in order of ids and do "
                    "not depend on the order of insertion or on the number of threads.\n\n"
                    ">>> from tangere.collision import Box, CollisionGroup, Sphere\n"
                    ">>> group = CollisionGroup()\n"
                    ">>> floor = group.add(Box([5, 5, 1]), [0, 0, -1])\n"
                    ">>> ball = group.add(Sphere(0.5), [0, 0, 0.45])\n"
                    ">>> len(group.collide())\n"
                    "1\n"
                    ">>> group.ray_cast([0, 0, 9], [0, 0, -1]).object == ball\n"
                    "True\n")
      .def(nb::init<BroadPhaseType>(),
           nb::arg("broad_phase").sig("BroadPhaseType.BVH") = BroadPhaseType::Bvh)
      .def(
          "add",
          [](Group& self, const ShapePointer& shape, const Transform& pose,
             std::optional<ObjectId> id, std::uint32_t group, std::uint32_t mask) {
            if (!id) {
              const ObjectId given = self.group.add(shape, pose);
              if (group == 1 && mask == 0xffffffffu) return given;
              self.group.remove(given);
              id = given;
            }
            self.group.add({.id = *id, .shape = shape, .pose = pose, .group = group, .mask = mask});
            return *id;
          },
          nb::arg("shape"), nb::arg("pose"), nb::arg("id") = nb::none(), nb::arg("group") = 1,
          nb::arg("mask") = 0xffffffffu,
          "Adds an object and returns its id; the next free one unless one is given.")
      .def(
          "remove", [](Group& self, ObjectId id) { self.group.remove(id); }, nb::arg("id"),
          "Removes an object.")
      .def(
          "set_pose",
          [](Group& self, ObjectId id, const Transform& pose) { self.group.setPose(id, pose); },
          nb::arg("id"), nb::arg("pose"), "Moves an object.")
      .def(
          "pose", [](const Group& self, ObjectId id) { return self.group.object(id).pose; },
          nb::arg("id"), "Pose of an object, 4 x 4.")
      .def(
          "shape", [](const Group& self, ObjectId id) { return self.group.object(id).shape; },
          nb::arg("id"), "Shape of an object.")
      .def(
          "clear", [](Group& self) { self.group.clear(); }, "Removes all objects.")
      .def("__len__", [](const Group& self) { return self.group.size(); })
      .def(
          "exclude_pair",
          [](Group& self, ObjectId id1, ObjectId id2) { self.group.excludePair(id1, id2); },
          nb::arg("id1"), nb::arg("id2"), "The two are never tested.")
      .def(
          "include_pair",
          [](Group& self, ObjectId id1, ObjectId id2) { self.group.includePair(id1, id2); },
          nb::arg("id1"), nb::arg("id2"), "They are again.")
      .def(
          "set_filter",
          [](Group& self, std::optional<nb::callable> filter) {
            self.group.setFilter(nullptr);
            self.filter.reset();
            if (!filter) return;
            self.filter = std::make_unique<PythonFilter>(*filter);
            self.group.setFilter(self.filter.get());
          },
          nb::arg("filter").none(),
          "filter(id1, id2) is true for pairs to leave out; None: no filter. It must not change "
          "its "
          "mind between two changes of the group.")
      .def(
          "set_num_threads", [](Group& self, int threads) { self.group.setNumThreads(threads); },
          nb::arg("threads"), "Threads for collide(); any number gives the same bits.")
      .def(
          "collide",
          [](Group& self, int maxContacts, bool wantsContacts, ConvexAlgorithm algorithm) {
            CollisionResult result;
            {
              const nb::gil_scoped_release release;
              self.group.collide(optionOf(maxContacts, wantsContacts, algorithm), result);
            }
            if (self.filter) self.filter->rethrow();
            return result;
          },
          nb::arg("max_contacts") = 1000, nb::arg("contacts") = true,
          nb::arg("algorithm").sig("ConvexAlgorithm.AUTO") = ConvexAlgorithm::Auto,
          "Contacts of all pairs; contacts=False: only whether anything collides.")
      .def(
          "distance",
          [](Group& self, Real upperBound) {
            std::optional<DistanceResult> result;
            {
              const nb::gil_scoped_release release;
              result = self.group.distance({.upperBound = upperBound});
            }
            if (self.filter) self.filter->rethrow();
            return result;
          },
          nb::arg("upper_bound") = kUnlimited,
          "The closest pair (the deepest if some overlap), or None.")
      .def(
          "ray_cast",
          [](const Group& self, const Vec3& origin, const Vec3& direction, Real maxT) {
            return self.group.rayCast({.origin = origin, .direction = direction, .maxT = maxT});
          },
          nb::arg("origin"), nb::arg("direction"), nb::arg("max_t") = 1e300,
          "The nearest object along a ray, or None.")
      .def(
          "ray_cast_all",
          [](const Group& self, const Vec3& origin, const Vec3& direction, Real maxT) {
            std::vector<GroupRayHit> hits;
            self.group.rayCastAll({.origin = origin, .direction = direction, .maxT = maxT}, hits);
            return hits;
          },
          nb::arg("origin"), nb::arg("direction"), nb::arg("max_t") = 1e300,
          "All objects along a ray, nearest first.")
      .def(
          "shape_cast",
          [](const Group& self, const Shape& shape, const Motion& motion, Real tolerance) {
            return self.group.shapeCast(shape, motion, {.tolerance = tolerance});
          },
          nb::arg("shape"), nb::arg("motion"), nb::arg("tolerance") = 1e-6,
          "The first object that a moving shape meets, or None.");
}

}  // namespace

void bindCollision(nb::module_& m) {
  nb::enum_<ConvexAlgorithm>(m, "ConvexAlgorithm", "How two convex shapes are compared.")
      .value("AUTO", ConvexAlgorithm::Auto)
      .value("GJK", ConvexAlgorithm::Gjk)
      .value("MPR", ConvexAlgorithm::Mpr)
      .value("MPR_EXTENDED", ConvexAlgorithm::MprExtended);
  bindPairQueries(m);
  bindImpacts(m);
  bindGroup(m);
}

}  // namespace tangere::python
