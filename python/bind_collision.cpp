// SPDX-License-Identifier: Apache-2.0
#include "bindings.hpp"
#include "collision_enums.hpp"
#include "exclusive_use.hpp"
#include "struct_binding.hpp"

#include <tangere/collision.hpp>

#include <cmath>
#include <exception>
#include <memory>

namespace tangere::python {

namespace {

using ShapePointer = std::shared_ptr<const Shape>;

using Pose = Argument<Transform>;

/// A pose as queries take it: a reflection or a stretched one has no distance and no depth. (For
/// numbers that are not finite queries have a status.)
Transform rigid(const Pose& pose, const std::string& name) {
  const Transform X = pose.as(name);
  const Mat3& R = X.rotation;
  bool isRigid = !(dot(R.col[0], cross(R.col[1], R.col[2])) <= 0);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      const Real off = dot(R.col[i], R.col[j]) - (i == j ? 1 : 0);
      isRigid = isRigid && !(std::fabs(off) > 1e-6);
    }
  if (!isRigid)
    throw InvalidInput(name + " must be a rigid motion (|R^T R - 1| <= 1e-6, det R > 0)");
  return X;
}

CollisionOption optionOf(int maxContacts, bool wantsContacts,
                         const Argument<ConvexAlgorithm>& algorithm) {
  if (maxContacts < 0)
    throw InvalidInput("max_contacts must not be negative, found " + std::to_string(maxContacts));
  return {.enableContact = wantsContacts,
          .maxNumContacts = maxContacts,
          .algorithm = algorithm.as("algorithm")};
}

void bindPairQueries(nb::module_& m) {
  m.def(
      "collide",
      [](const Shape& shape1, const Pose& pose1, const Shape& shape2, const Pose& pose2,
         int maxContacts, const Argument<ConvexAlgorithm>& algorithm) {
        CollisionResult result;
        collide(shape1, rigid(pose1, "pose1"), shape2, rigid(pose2, "pose2"),
                optionOf(maxContacts, true, algorithm), result);
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
      [](const Shape& shape1, const Pose& pose1, const Shape& shape2, const Pose& pose2) {
        return overlap(shape1, rigid(pose1, "pose1"), shape2, rigid(pose2, "pose2"));
      },
      nb::arg("shape1"), nb::arg("pose1"), nb::arg("shape2"), nb::arg("pose2"),
      "Whether two shapes overlap; the fastest question.");
  m.def(
      "distance",
      [](const Shape& shape1, const Pose& pose1, const Shape& shape2, const Pose& pose2,
         Real upperBound, bool isSigned, const Argument<ConvexAlgorithm>& algorithm) {
        return distance(shape1, rigid(pose1, "pose1"), shape2, rigid(pose2, "pose2"),
                        {.upperBound = upperBound,
                         .enableSigned = isSigned,
                         .algorithm = algorithm.as("algorithm")});
      },
      nb::arg("shape1"), nb::arg("pose1"), nb::arg("shape2"), nb::arg("pose2"),
      nb::arg("upper_bound") = kUnlimited, nb::arg("signed") = true,
      nb::arg("algorithm").sig("ConvexAlgorithm.AUTO") = ConvexAlgorithm::Auto,
      "Signed distance of two shapes, with the nearest points.\n\n"
      ">>> from tangere.collision import Sphere, distance\n"
      ">>> distance(Sphere(1), [0, 0, 0], Sphere(1), [5, 0, 0]).distance\n"
      "3.0\n");
  bindResult<PairSupport>(m, "PairSupport", "Whether a pair of shape types can be asked.",
                          field("collide", &PairSupport::collide, "contacts can be asked for"),
                          field("distance", &PairSupport::distance, "distances can be asked for"))
      .def_prop_ro(
          "reason", [](const PairSupport& self) { return std::string(self.reason); },
          "Why not; empty when both are supported.");
  m.def(
      "pair_support",
      [](const Argument<ShapeType>& type1, const Argument<ShapeType>& type2) {
        return pairSupport(type1.as("type1"), type2.as("type2"));
      },
      nb::arg("type1"), nb::arg("type2"),
      "Whether a pair of shape types can be asked, and why not.");
  m.def("edge_contact", &edgeContact, nb::arg("manifold"),
        "The segment of a line contact, or None.");
  m.def(
      "face_contact",
      [](const Shape& shape1, const Pose& pose1, const Shape& shape2, const Pose& pose2,
         const ContactManifold& manifold) {
        return faceContact(shape1, rigid(pose1, "pose1"), shape2, rigid(pose2, "pose2"), manifold);
      },
      nb::arg("shape1"), nb::arg("pose1"), nb::arg("shape2"), nb::arg("pose2"), nb::arg("manifold"),
      "The whole polygon of a flat contact, or None.");
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
                           field("status", &ImpactResult::status, "how the motions end"),
                           field("s", &ImpactResult::s, "part of the interval, apart until then"),
                           field("distance", &ImpactResult::distance, "at s [m]"),
                           field("normal", &ImpactResult::normal, "from object 2 to object 1"),
                           field("point", &ImpactResult::point, "world, at s"),
                           field("iterations", &ImpactResult::iterations, "of the search"));
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
      return convert<bool>(function_(object1, object2), "what a filter returns");
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

/// A group with the filter it refers to. A query may call the filter, and releases the
/// interpreter's lock: whoever else comes in meanwhile is refused.
class Group {
 public:
  explicit Group(BroadPhaseType type) : group_(std::make_unique<CollisionGroup>(type)) {}
  ~Group() {
    // To end it would be to wait for threads that are in another process.
    if (exclusive_.isForked()) (void)group_.release();
  }
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  /// function(group)
  template <class Function>
  auto use(const Function& function) {
    const ExclusiveUse use(exclusive_);
    return function(*group_);
  }
  /// The same without the interpreter's lock; raises what the filter raised.
  template <class Function>
  auto ask(const Function& function) {
    const ExclusiveUse use(exclusive_);
    auto answer = [&] {
      const nb::gil_scoped_release release;
      return function(*group_);
    }();
    if (filter_) filter_->rethrow();
    return answer;
  }
  void setFilter(std::optional<nb::callable> filter) {
    const ExclusiveUse use(exclusive_);
    clearFilter();
    if (!filter) return;
    filter_ = std::make_unique<PythonFilter>(std::move(*filter));
    group_->setFilter(filter_.get());
  }
  void setNumThreads(int count) {
    constexpr int kMost = 4096;
    if (count > kMost)
      throw InvalidInput("threads must be from 1 to " + std::to_string(kMost) + ", found " +
                         std::to_string(count));
    const ExclusiveUse use(exclusive_);
    group_->setNumThreads(count);
    exclusive_.hasThreads = count > 1;
  }

  [[nodiscard]] const PythonFilter* filter() const { return filter_.get(); }
  void clearFilter() {
    group_->setFilter(nullptr);
    filter_.reset();
  }

 private:
  Exclusive exclusive_{"CollisionGroup"};
  std::unique_ptr<CollisionGroup> group_;
  std::unique_ptr<PythonFilter> filter_;
};

ObjectId addObject(Group& self, const ShapePointer& shape, const Pose& given,
                   std::optional<ObjectId> id, std::uint32_t bits, std::uint32_t mask) {
  const Transform pose = given.as("pose");
  return self.use([&](CollisionGroup& group) {
    if (!id) {
      const ObjectId free = group.add(shape, pose);
      if (bits == 1 && mask == 0xffffffffu) return free;
      group.remove(free);
      id = free;
    }
    group.add({.id = *id, .shape = shape, .pose = pose, .group = bits, .mask = mask});
    return *id;
  });
}

// A filter may well know the group it filters: the garbage collector has to see that.
int visitFilter(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (!nb::inst_ready(self)) return 0;
  const Group* group = nb::inst_ptr<Group>(self);
  if (group->filter() != nullptr) Py_VISIT(group->filter()->function().ptr());
  return 0;
}

int clearFilter(PyObject* self) {
  if (nb::inst_ready(self)) nb::inst_ptr<Group>(self)->clearFilter();
  return 0;
}

PyType_Slot kGroupSlots[] = {{Py_tp_traverse, reinterpret_cast<void*>(&visitFilter)},
                             {Py_tp_clear, reinterpret_cast<void*>(&clearFilter)},
                             {0, nullptr}};

void bindGroupResults(nb::module_& m) {
  nb::enum_<BroadPhaseType>(m, "BroadPhaseType", "How a group finds pairs.")
      .value("BVH", BroadPhaseType::Bvh, "a dynamic tree with a cache of pairs")
      .value("SWEEP", BroadPhaseType::Sweep, "sort and sweep")
      .value("BRUTE_FORCE", BroadPhaseType::BruteForce, "all against all");
  bindResult<GroupRayHit>(m, "GroupRayHit", "An object of a group that a ray meets.",
                          field("object", &GroupRayHit::object, "its id"),
                          field("hit", &GroupRayHit::hit, "where"));
  bindResult<GroupCastHit>(m, "GroupCastHit", "An object of a group that a moving shape meets.",
                           field("object", &GroupCastHit::object, "its id"),
                           field("impact", &GroupCastHit::impact, "when and where"));
}

void bindObjects(nb::class_<Group>& cls) {
  cls.def("add", &addObject, nb::arg("shape"), nb::arg("pose"), nb::arg("id") = nb::none(),
          nb::arg("group") = 1, nb::arg("mask") = 0xffffffffu,
          "Adds an object and returns its id; the next free one unless one is given.")
      .def(
          "remove",
          [](Group& self, ObjectId id) {
            self.use([&](CollisionGroup& group) { group.remove(id); });
          },
          nb::arg("id"), "Removes an object.")
      .def(
          "set_pose",
          [](Group& self, ObjectId id, const Pose& pose) {
            self.use([&](CollisionGroup& group) { group.setPose(id, pose.as("pose")); });
          },
          nb::arg("id"), nb::arg("pose"), "Moves an object.")
      .def(
          "pose",
          [](Group& self, ObjectId id) {
            return self.use(
                [&](CollisionGroup& group) { return Transform(group.object(id).pose); });
          },
          nb::arg("id"), "Pose of an object, 4 x 4.")
      .def(
          "shape",
          [](Group& self, ObjectId id) {
            return self.use(
                [&](CollisionGroup& group) { return ShapePointer(group.object(id).shape); });
          },
          nb::arg("id"), "Shape of an object.")
      .def(
          "clear", [](Group& self) { self.use([](CollisionGroup& group) { group.clear(); }); },
          "Removes all objects.")
      .def("__len__", [](Group& self) {
        return self.use([](CollisionGroup& group) { return group.size(); });
      });
}

void bindFilters(nb::class_<Group>& cls) {
  cls.def(
         "exclude_pair",
         [](Group& self, ObjectId id1, ObjectId id2) {
           self.use([&](CollisionGroup& group) { group.excludePair(id1, id2); });
         },
         nb::arg("id1"), nb::arg("id2"), "The two are never tested.")
      .def(
          "include_pair",
          [](Group& self, ObjectId id1, ObjectId id2) {
            self.use([&](CollisionGroup& group) { group.includePair(id1, id2); });
          },
          nb::arg("id1"), nb::arg("id2"), "They are again.")
      .def("set_filter", &Group::setFilter, nb::arg("filter").none(),
           "filter(id1, id2) is true for pairs to leave out; None: no filter. It must not change "
           "its mind between two changes of the group. What it raises, the query raises; it may "
           "not call the group.")
      .def("set_num_threads", &Group::setNumThreads, nb::arg("threads"),
           "Threads for collide(); any number gives the same bits.");
}

void bindQueries(nb::class_<Group>& cls) {
  cls.def(
         "collide",
         [](Group& self, int maxContacts, bool wantsContacts,
            const Argument<ConvexAlgorithm>& algorithm) {
           const CollisionOption option = optionOf(maxContacts, wantsContacts, algorithm);
           return self.ask([&](CollisionGroup& group) {
             CollisionResult result;
             group.collide(option, result);
             return result;
           });
         },
         nb::arg("max_contacts") = 1000, nb::arg("contacts") = true,
         nb::arg("algorithm").sig("ConvexAlgorithm.AUTO") = ConvexAlgorithm::Auto,
         "Contacts of all pairs; contacts=False: only whether anything collides.")
      .def(
          "distance",
          [](Group& self, Real upperBound) {
            return self.ask(
                [&](CollisionGroup& group) { return group.distance({.upperBound = upperBound}); });
          },
          nb::arg("upper_bound") = kUnlimited,
          "The closest pair (the deepest if some overlap), or None.")
      .def(
          "ray_cast",
          [](Group& self, const Argument<Vec3>& origin, const Argument<Vec3>& direction,
             Real maxT) {
            const Ray ray{origin.as("origin"), direction.as("direction"), maxT};
            return self.ask([&](CollisionGroup& group) { return group.rayCast(ray); });
          },
          nb::arg("origin"), nb::arg("direction"), nb::arg("max_t") = 1e300,
          "The nearest object along a ray, or None.")
      .def(
          "ray_cast_all",
          [](Group& self, const Argument<Vec3>& origin, const Argument<Vec3>& direction,
             Real maxT) {
            const Ray ray{origin.as("origin"), direction.as("direction"), maxT};
            return self.ask([&](CollisionGroup& group) {
              std::vector<GroupRayHit> hits;
              group.rayCastAll(ray, hits);
              return hits;
            });
          },
          nb::arg("origin"), nb::arg("direction"), nb::arg("max_t") = 1e300,
          "All objects along a ray, nearest first.")
      .def(
          "shape_cast",
          [](Group& self, const Shape& shape, const Motion& motion, Real tolerance) {
            return self.ask([&](CollisionGroup& group) {
              return group.shapeCast(shape, motion, {.tolerance = tolerance});
            });
          },
          nb::arg("shape"), nb::arg("motion"), nb::arg("tolerance") = 1e-6,
          "The first object that a moving shape meets, or None.");
}

void bindGroup(nb::module_& m) {
  bindGroupResults(m);
  nb::class_<Group> cls(
      m, "CollisionGroup", nb::type_slots(kGroupSlots),
      "A set of objects that is asked as a whole. Answers are in order of ids and do "
      "not depend on the order of insertion or on the number of threads.\n\n"
      ">>> from tangere.collision import Box, CollisionGroup, Sphere\n"
      ">>> group = CollisionGroup()\n"
      ">>> floor = group.add(Box([5, 5, 1]), [0, 0, -1])\n"
      ">>> ball = group.add(Sphere(0.5), [0, 0, 0.45])\n"
      ">>> len(group.collide())\n"
      "1\n"
      ">>> group.ray_cast([0, 0, 9], [0, 0, -1]).object == ball\n"
      "True\n");
  cls.def(
      "__init__",
      [](Group* self, const Argument<BroadPhaseType>& type) {
        new (self) Group(type.as("broad_phase"));
      },
      nb::arg("broad_phase").sig("BroadPhaseType.BVH") = BroadPhaseType::Bvh);
  bindObjects(cls);
  bindFilters(cls);
  bindQueries(cls);
}

}  // namespace

void bindCollision(nb::module_& m) {
  nb::enum_<ConvexAlgorithm>(m, "ConvexAlgorithm", "How two convex shapes are compared.")
      .value("AUTO", ConvexAlgorithm::Auto, "closed forms where there are, or GJK")
      .value("GJK", ConvexAlgorithm::Gjk, "Gilbert, Johnson and Keerthi")
      .value("MPR", ConvexAlgorithm::Mpr, "Minkowski portal refinement")
      .value("MPR_EXTENDED", ConvexAlgorithm::MprExtended,
             "the same in double-double arithmetic: to the last digit, slow");
  bindPairQueries(m);
  bindImpacts(m);
  bindGroup(m);
}

}  // namespace tangere::python
