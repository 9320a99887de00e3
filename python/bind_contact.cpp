// SPDX-License-Identifier: Apache-2.0
#include "bindings.hpp"
#include "collision_enums.hpp"
#include "struct_binding.hpp"
#include "structured.hpp"

#include <tangere/contact.hpp>

namespace tangere::python {

namespace {

/// A row of CollisionResult.contacts(); its fields are those of kContactRow below.
struct ContactRow {
  ContactPoint point;
  std::uint32_t object1, object2;
  std::int32_t manifold;
  std::int32_t type;
};
static_assert(sizeof(ContactRow) == 80);

constexpr const char* kContactRow =
    "[('position', 'f8', 3), ('normal', 'f8', 3), ('depth', 'f8'), ('feature1', 'i4'), "
    "('feature2', 'i4'), ('object1', 'u4'), ('object2', 'u4'), ('manifold', 'i4'), "
    "('type', 'i4')]";

nb::object contactRows(const CollisionResult& result) {
  std::vector<ContactRow> rows;
  rows.reserve(static_cast<std::size_t>(result.numContacts()));
  std::int32_t index = 0;
  for (const ContactManifold& manifold : result.manifolds()) {
    for (const ContactPoint& point : manifold.contacts())
      rows.push_back({.point = point,
                      .object1 = manifold.object1,
                      .object2 = manifold.object2,
                      .manifold = index,
                      .type = static_cast<std::int32_t>(manifold.type)});
    ++index;
  }
  const nb::object fields = nb::module_::import_("ast").attr("literal_eval")(kContactRow);
  return makeStructured(rows, nb::module_::import_("numpy").attr("dtype")(fields));
}

}  // namespace

void bindContact(nb::module_& m) {
  nb::enum_<ContactType>(m, "ContactType", "Shape of a region of contact.")
      .value("POINT", ContactType::Point)
      .value("EDGE", ContactType::Edge)
      .value("FACE", ContactType::Face)
      .value("PATCH", ContactType::Patch)
      .value("UNKNOWN", ContactType::Unknown);
  nb::enum_<QueryStatus>(m, "QueryStatus", "What became of a query.")
      .value("OK", QueryStatus::Ok)
      .value("NOT_CONVERGED", QueryStatus::NotConverged, "the best answer found")
      .value("UNSUPPORTED", QueryStatus::Unsupported, "this pair has no such query")
      .value("INVALID_POSE", QueryStatus::InvalidPose, "not finite, or beyond 1e30 m");
  bindResult<ContactPoint>(
      m, "ContactPoint",
      "A contact. The normal points from object 2 to object 1; depth > 0 overlaps; the position "
      "is half way between the surfaces.",
      field("position", &ContactPoint::position, "world [m]"),
      field("normal", &ContactPoint::normal, "unit, from object 2 to object 1"),
      field("depth", &ContactPoint::depth, "> 0: overlap [m]"),
      field("feature1", &ContactPoint::feature1, "of object 1 that made the point; -1: none"),
      field("feature2", &ContactPoint::feature2, "of object 2"));
  nb::class_<ContactManifold>(m, "ContactManifold",
                              "Contact points of one pair that belong together, at most four.")
      .def_prop_ro(
          "points",
          [](const ContactManifold& self) {
            return std::vector<ContactPoint>(self.contacts().begin(), self.contacts().end());
          },
          "Its points.")
      .def_ro("type", &ContactManifold::type, "Point, edge, face or patch.")
      .def_ro("status", &ContactManifold::status, "Whether it is exact.")
      .def_ro("object1", &ContactManifold::object1, "Id of object 1 in a group.")
      .def_ro("object2", &ContactManifold::object2, "Id of object 2 in a group.")
      .def_prop_ro("depth", &ContactManifold::depth, "The deepest depth [m].")
      .def_prop_ro("normal", &ContactManifold::sharedNormal,
                   "The normal that all points share, or zero where they differ.")
      .def("__len__", &ContactManifold::numContacts);
  nb::class_<CollisionResult>(m, "CollisionResult",
                              "All contacts of a query. True where anything collides.")
      .def_prop_ro(
          "manifolds",
          [](const CollisionResult& self) {
            return std::vector<ContactManifold>(self.manifolds().begin(), self.manifolds().end());
          },
          "The manifolds, in order of pairs.")
      .def("contacts", &contactRows, nb::sig("def contacts(self) -> numpy.typing.NDArray"),
           "All points as a structured array (a copy) with the fields position, normal, depth, "
           "feature1, feature2, object1, object2, manifold, type.")
      .def_prop_ro("is_collision", &CollisionResult::isCollision, "Whether anything collides.")
      .def_prop_ro("status", &CollisionResult::status, "The worst status of all pairs.")
      .def("__bool__", &CollisionResult::isCollision)
      .def("__len__", &CollisionResult::numContacts);
  bindResult<DistanceResult>(
      m, "DistanceResult", "Signed distance of two objects, with the nearest points.",
      field("distance", &DistanceResult::distance,
            "[m]; negative: minus the smallest translation that separates them"),
      field("normal", &DistanceResult::normal, "unit, from object 2 to object 1"),
      field("point1", &DistanceResult::point1, "on object 1, world"),
      field("point2", &DistanceResult::point2, "on object 2, world"),
      field("feature1", &DistanceResult::feature1, "of object 1; -1: not known"),
      field("feature2", &DistanceResult::feature2, "of object 2; -1: not known"),
      field("object1", &DistanceResult::object1, "id in a group"),
      field("object2", &DistanceResult::object2, "id in a group"),
      field("status", &DistanceResult::status, "whether it is exact"));
  bindResult<FaceContact>(m, "FaceContact", "Flat contact: the whole polygon.",
                          field("normal", &FaceContact::normal, "unit"),
                          field("centroid", &FaceContact::centroid, "[m]"),
                          field("area", &FaceContact::area, "[m^2]"))
      .def_prop_ro(
          "polygon", [](const FaceContact& self) { return makeArray(std::span(self.polygon)); },
          "(n, 3), counter-clockwise about the normal.");
  bindResult<EdgeContact>(
      m, "EdgeContact", "Line contact: a segment with the depth at both ends.",
      field("point1", &EdgeContact::point1, "[m]"), field("point2", &EdgeContact::point2, "[m]"),
      field("direction", &EdgeContact::direction, "unit"),
      field("normal", &EdgeContact::normal, "unit"), field("depth1", &EdgeContact::depth1, "[m]"),
      field("depth2", &EdgeContact::depth2, "[m]"));
}

}  // namespace tangere::python
