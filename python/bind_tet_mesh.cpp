// SPDX-License-Identifier: Apache-2.0
#include "bindings.hpp"
#include "collision_enums.hpp"
#include "struct_binding.hpp"

#include <tangere/tet_mesh.hpp>

namespace tangere::python {

namespace {

void makeTetMesh(TetMesh* self, const ArrayLike& vertices, const ArrayLike& tets) {
  const InputArray<std::int32_t> numbers = toArray<std::int32_t>(tets, "tets", {kAny, 4});
  std::vector<Tet> rows(numbers.shape[0]);
  if (!rows.empty()) std::memcpy(rows.data(), numbers.data, numbers.size * sizeof(std::int32_t));
  new (self) TetMesh(toVectors(vertices, "vertices"), std::move(rows));
}

}  // namespace

void bindTetMesh(nb::module_& m) {
  bindResult<TetMeshQuality>(
      m, "TetMeshQuality", "How good the tetrahedra of a mesh are.",
      field("min_dihedral", &TetMeshQuality::minDihedral, "[rad]"),
      field("max_dihedral", &TetMeshQuality::maxDihedral, "[rad]"),
      field("min_volume", &TetMeshQuality::minVolume, "[m^3]"),
      field("max_volume", &TetMeshQuality::maxVolume, "[m^3]"),
      field("max_aspect", &TetMeshQuality::maxAspect, "longest edge over shortest height"),
      field("shortest_edge", &TetMeshQuality::shortestEdge, "[m]"),
      field("longest_edge", &TetMeshQuality::longestEdge, "[m]"),
      field("num_parts", &TetMeshQuality::numParts, "connected over faces"),
      field("num_surface_tets", &TetMeshQuality::numSurfaceTets,
            "with all four vertices on the surface"));
  bindResult<TetMeshReport>(
      m, "TetMeshReport", "What the mesher did.",
      field("quality", &TetMeshReport::quality, "of the tetrahedra"),
      field("resolution", &TetMeshReport::resolution, "that was used [m]"),
      field("volume_error", &TetMeshReport::volumeError, "relative to the input"),
      field("surface_error", &TetMeshReport::surfaceError,
            "farthest vertex of the mesh's surface from the input's [m]"),
      field("lost_feature", &TetMeshReport::lostFeature,
            "farthest vertex of the input's surface from the mesh's [m]"),
      field("method", &TetMeshReport::method, "structured, layered or stuffing"),
      field("findings", &TetMeshReport::findings, "what a user should know"));
  nb::class_<TetMesh>(m, "TetMesh", "A solid of tetrahedra. Immutable.")
      .def("__init__", &makeTetMesh, nb::arg("vertices"), nb::arg("tets"))
      .def_prop_ro(
          "vertices", [](const TetMesh& self) { return makeArray(self.vertices()); }, "(n, 3) [m]")
      .def_prop_ro(
          "tets", [](const TetMesh& self) { return makeIndexArray(self.tets()); }, "(n, 4)")
      .def_prop_ro(
          "surface", [](const TetMesh& self) { return makeIndexArray(self.surface()); },
          "Triangles of the surface, (n, 3), counter-clockwise seen from outside.")
      .def_prop_ro("volume", &TetMesh::volume, "[m^3]")
      .def_prop_ro("quality", &TetMesh::quality, "How good its tetrahedra are.")
      .def("transformed", &TetMesh::transformed, nb::arg("pose"), "The same solid elsewhere.")
      .def("__repr__",
           [](const TetMesh& self) {
             return nb::str("TetMesh({} vertices, {} tets)")
                 .attr("format")(self.vertices().size(), self.tets().size());
           })
      .def("__getstate__",
           [](const TetMesh& self) {
             return nb::make_tuple(makeArray(self.vertices()), makeIndexArray(self.tets()));
           })
      .def("__setstate__", [](TetMesh& self, const std::tuple<ArrayLike, ArrayLike>& parts) {
        makeTetMesh(&self, std::get<0>(parts), std::get<1>(parts));
      });
  m.def(
      "mesh_shape",
      [](const Shape& shape, Real resolution, int maxTets) {
        TetMeshReport report;
        TetMesh mesh = [&] {
          const nb::gil_scoped_release release;
          return meshShape(shape, {.resolution = resolution, .maxTets = maxTets}, &report);
        }();
        return std::make_tuple(std::move(mesh), std::move(report));
      },
      nb::arg("shape"), nb::arg("resolution") = 0.0, nb::arg("max_tets") = 4000000,
      "Fills a shape with tetrahedra: the mesh, and a report about it.\n\n"
      ">>> from tangere.collision import Box, mesh_shape\n"
      ">>> mesh, report = mesh_shape(Box([0.1, 0.1, 0.1]), resolution=0.1)\n"
      ">>> round(mesh.volume, 9)\n"
      "0.008\n");
}

}  // namespace tangere::python
