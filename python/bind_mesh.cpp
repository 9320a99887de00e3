// SPDX-License-Identifier: Apache-2.0
#include "bindings.hpp"
#include "collision_enums.hpp"
#include "struct_binding.hpp"

#include <tangere/mesh.hpp>

namespace tangere::python {

namespace {

TriangleMesh toMesh(const ArrayLike& vertices, const ArrayLike& triangles) {
  TriangleMesh mesh;
  mesh.vertices = toVectors(vertices, "vertices");
  const InputArray<std::int32_t> numbers = toArray<std::int32_t>(triangles, "triangles", {kAny, 3});
  mesh.triangles.resize(numbers.shape[0]);
  if (!mesh.triangles.empty())
    std::memcpy(mesh.triangles.data(), numbers.data, numbers.size * sizeof(std::int32_t));
  return mesh;
}

}  // namespace

void bindMesh(nb::module_& m) {
  nb::class_<TriangleMesh>(m, "TriangleMesh",
                           "Vertices and triangles as files hold them, before they are a shape.")
      .def(
          "__init__",
          [](TriangleMesh* self, const ArrayLike& vertices, const ArrayLike& triangles) {
            new (self) TriangleMesh(toMesh(vertices, triangles));
          },
          nb::arg("vertices"), nb::arg("triangles"))
      .def_prop_ro(
          "vertices", [](const TriangleMesh& self) { return makeArray(std::span(self.vertices)); },
          "(n, 3) [m]")
      .def_prop_ro(
          "triangles",
          [](const TriangleMesh& self) {
            return makeIndexArray(std::span<const Triangle>(self.triangles));
          },
          "(n, 3)")
      .def(
          "weld", [](const TriangleMesh& self) { return weldVertices(self); },
          "The mesh with every vertex at one place made one.")
      .def(
          "inspect", [](const TriangleMesh& self) { return inspectMesh(self); },
          "What can be said about the mesh.")
      .def(
          "to_shape",
          [](const TriangleMesh& self) -> std::shared_ptr<const Shape> {
            return std::make_shared<Mesh>(self.vertices, self.triangles);
          },
          "The collision shape.")
      .def(
          "convex_hull",
          [](const TriangleMesh& self) -> std::shared_ptr<const Shape> {
            return std::make_shared<Convex>(self.vertices);
          },
          "The convex hull of the vertices as a collision shape.")
      .def("__repr__", [](const TriangleMesh& self) {
        return nb::str("TriangleMesh({} vertices, {} triangles)")
            .attr("format")(self.vertices.size(), self.triangles.size());
      });
  bindResult<MeshReport>(
      m, "MeshReport", "What inspecting a mesh found.",
      field("num_vertices", &MeshReport::numVertices, "vertices"),
      field("num_triangles", &MeshReport::numTriangles, "triangles"),
      field("num_unused_vertices", &MeshReport::numUnusedVertices, "in no triangle"),
      field("num_duplicate_vertices", &MeshReport::numDuplicateVertices,
            "at the place of an earlier one"),
      field("num_degenerate_triangles", &MeshReport::numDegenerateTriangles, "without an area"),
      field("num_duplicate_triangles", &MeshReport::numDuplicateTriangles,
            "of the vertices of an earlier one"),
      field("num_open_edges", &MeshReport::numOpenEdges, "in one triangle only"),
      field("num_non_manifold_edges", &MeshReport::numNonManifoldEdges, "in more than two"),
      field("num_inconsistent_edges", &MeshReport::numInconsistentEdges,
            "in two that run the same way along it"),
      field("would_close_when_welded", &MeshReport::wouldCloseWhenWelded,
            "it is open only because vertices at one place are not one"),
      field("num_components", &MeshReport::numComponents, "connected over edges"),
      field("area", &MeshReport::area, "[m^2]"), field("volume", &MeshReport::volume, "[m^3]"))
      .def_prop_ro("is_watertight", &MeshReport::isWatertight, "Every edge in two triangles.")
      .def_prop_ro("is_solid", &MeshReport::isSolid,
                   "A solid that looks outward and does not pass through itself.")
      .def_prop_ro(
          "passes_through_itself",
          [](const MeshReport& self) { return self.firstIntersection.has_value(); },
          "Whether an edge of a closed mesh passes through one of its triangles: what is inside "
          "twice counts twice in the volume.")
      .def_prop_ro("findings", &MeshReport::findings,
                   "One sentence per finding, the gravest first.");
}

}  // namespace tangere::python
