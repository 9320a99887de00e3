// SPDX-License-Identifier: Apache-2.0
#include "bindings.hpp"
#include "collision_enums.hpp"
#include "struct_binding.hpp"

#include <tangere/broad_phase.hpp>

namespace tangere::python {

namespace {

NumpyArray<std::uint32_t> pairArray(std::span<const ObjectPair> pairs) {
  static_assert(sizeof(ObjectPair) == 2 * sizeof(std::uint32_t));
  std::vector<std::uint32_t> ids(2 * pairs.size());
  if (!pairs.empty()) std::memcpy(ids.data(), pairs.data(), pairs.size_bytes());
  return makeArray<std::uint32_t>(std::move(ids), {pairs.size(), 2});
}

}  // namespace

void bindBroadPhase(nb::module_& m) {
  nb::class_<BroadPhase>(m, "BroadPhase",
                         "A set of boxes that answers which of them overlap. All answers are exact "
                         "and sorted: every kind of broad phase gives the same.")
      .def("add", &BroadPhase::add, nb::arg("id"), nb::arg("box"), "Adds a box under a new id.")
      .def("remove", &BroadPhase::remove, nb::arg("id"), "Removes a box.")
      .def("update", &BroadPhase::update, nb::arg("id"), nb::arg("box"), "Moves a box.")
      .def("clear", &BroadPhase::clear, "Removes all boxes.")
      .def("__len__", &BroadPhase::size)
      .def(
          "pairs", [](BroadPhase& self) { return pairArray(self.computePotentialPairs()); },
          "All overlapping pairs, (n, 2), sorted; a copy.")
      .def(
          "overlaps",
          [](const BroadPhase& self, const Aabb& box) {
            std::vector<ObjectId> ids;
            self.queryOverlap(box, ids);
            const std::size_t count = ids.size();
            return makeArray<std::uint32_t>(std::move(ids), {count});
          },
          nb::arg("box"), "Ids of the boxes that overlap a box, sorted.");
  nb::class_<BvhBroadPhase, BroadPhase>(m, "BvhBroadPhase",
                                        "A dynamic tree with a cache of pairs: what rests costs "
                                        "nothing.\n\n"
                                        ">>> from tangere.collision import Aabb, BvhBroadPhase\n"
                                        ">>> boxes = BvhBroadPhase()\n"
                                        ">>> boxes.add(0, Aabb([0, 0, 0], [1, 1, 1]))\n"
                                        ">>> boxes.add(1, Aabb([1, 0, 0], [2, 1, 1]))\n"
                                        ">>> boxes.pairs().tolist()\n"
                                        "[[0, 1]]\n")
      .def(nb::init<>())
      .def(
          "moved_pairs", [](BvhBroadPhase& self) { return pairArray(self.computeMovedPairs()); },
          "Only pairs of a box that was added or updated since the last question for pairs.");
  nb::class_<SweepBroadPhase, BroadPhase>(m, "SweepBroadPhase",
                                          "Sort and sweep along the axis of greatest spread.")
      .def(nb::init<>());
  nb::class_<BruteForceBroadPhase, BroadPhase>(m, "BruteForceBroadPhase",
                                               "All against all: the reference for the others.")
      .def(nb::init<>());
}

}  // namespace tangere::python
