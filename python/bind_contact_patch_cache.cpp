// SPDX-License-Identifier: Apache-2.0
#include "bindings.hpp"
#include "collision_enums.hpp"
#include "struct_binding.hpp"

#include <tangere/contact_patch_cache.hpp>

namespace tangere::python {

namespace {

void update(ContactPatchCache& self, const CollisionResult& result,
            const std::vector<Transform>& poses) {
  self.update(result.manifolds(), poses);
}

}  // namespace

void bindContactPatchCache(nb::module_& m) {
  using Options = ContactPatchCacheOptions;
  bindStruct<Options>(
      m, "ContactPatchCacheOptions", "How contact points are kept from step to step.",
      field("enabled", &Options::enabled, "points are kept at all"),
      field("max_points_per_pair", &Options::maxPointsPerPair, "at most 4"),
      field("max_pairs", &Options::maxPairs, "patches kept at most; 0: no cap"),
      field("max_separation_frames", &Options::maxSeparationFrames,
            "a point not found again lives this long"),
      field("position_threshold", &Options::positionThreshold, "two points are one below [m]"),
      field("normal_threshold", &Options::normalThreshold, "and above this cosine"),
      field("depth_epsilon", &Options::depthEpsilon, "depths this close are equal [m]"),
      field("separation_threshold", &Options::separationThreshold,
            "a point not found again is dropped beyond [m]"),
      field("warm_start_radius", &Options::warmStartRadius, "impulses are taken over within [m]"),
      field("allow_negative_depth", &Options::allowNegativeDepth, "for speculative contacts"));
  bindResult<ContactPatchPoint>(
      m, "ContactPatchPoint", "A contact point with its history.",
      field("contact", &ContactPatchPoint::contact, "world, this frame"),
      field("local1", &ContactPatchPoint::local1, "witness point on object 1, its frame"),
      field("local2", &ContactPatchPoint::local2, "witness point on object 2, its frame"),
      field("normal_impulse", &ContactPatchPoint::normalImpulse, "stored by a solver [N s]"),
      field("tangent_impulse", &ContactPatchPoint::tangentImpulse, "world, on object 1 [N s]"),
      field("id", &ContactPatchPoint::id, "the same for as long as the point lives"),
      field("age", &ContactPatchPoint::age, "frames since the point was last found"));
  nb::class_<ContactPatch>(m, "ContactPatch", "The contacts of one region of one pair.")
      .def_prop_ro(
          "points",
          [](const ContactPatch& self) {
            return std::vector<ContactPatchPoint>(self.contacts().begin(), self.contacts().end());
          },
          "The deepest first.")
      .def_prop_ro(
          "object1", [](const ContactPatch& self) { return self.key.object1; }, "Id of object 1.")
      .def_prop_ro(
          "object2", [](const ContactPatch& self) { return self.key.object2; }, "Id of object 2.")
      .def_prop_ro(
          "region", [](const ContactPatch& self) { return self.key.manifold; },
          "Which of the separate regions of contact of the pair.")
      .def_ro("frames_since_seen", &ContactPatch::framesSinceSeen, "Frames since it was found.")
      .def_ro("type", &ContactPatch::type, "Point, edge, face or patch.")
      .def("__len__", [](const ContactPatch& self) { return static_cast<int>(self.count); });
  nb::class_<ContactPatchCache>(
      m, "ContactPatchCache",
      "Contact patches kept between frames of any stream of contacts: stable ids, no dynamics "
      "needed.\n\n"
      ">>> from tangere.collision import *\n"
      ">>> cache = ContactPatchCache(ContactPatchCacheOptions(enabled=True))\n"
      ">>> group = CollisionGroup()\n"
      ">>> floor = group.add(Box([5, 5, 1]), [0, 0, -1])\n"
      ">>> box = group.add(Box([0.5, 0.5, 0.5]), [0, 0, 0.49])\n"
      ">>> ids = []\n"
      ">>> for frame in range(2):\n"
      "...     cache.update(group.collide(), [group.pose(floor), group.pose(box)])\n"
      "...     ids.append(sorted(point.id for point in cache.patches[0].points))\n"
      ">>> ids\n"
      "[[1, 2, 3, 4], [1, 2, 3, 4]]\n")
      .def(nb::init<const Options&>(), nb::arg("options").sig("...") = Options{})
      .def("update", &update, nb::arg("result"), nb::arg("poses"),
           "One frame: the contacts of a group, and the pose of each object by its id.")
      .def_prop_ro(
          "patches",
          [](const ContactPatchCache& self) {
            return std::vector<ContactPatch>(self.patches().begin(), self.patches().end());
          },
          "What is kept now, in order of pairs; copies.")
      .def(
          "invalidate_object",
          [](ContactPatchCache& self, ObjectId object) { self.invalidateObject(object); },
          nb::arg("object"), "Forgets every patch of one object.")
      .def("reset", &ContactPatchCache::reset, "As newly made.")
      .def_prop_ro("frame", &ContactPatchCache::frame, "Updates since the last reset.")
      .def_prop_ro("state_hash", &ContactPatchCache::stateHash,
                   "Hash of what the next update depends on.")
      .def("__len__", [](const ContactPatchCache& self) { return self.patches().size(); });
}

}  // namespace tangere::python
