// SPDX-License-Identifier: Apache-2.0
//
// Files of volume meshes.
#include "bindings.hpp"
#include "struct_binding.hpp"

#include <tangere/io.hpp>

#include <nanobind/stl/filesystem.h>

namespace tangere::python {

void bindTetFiles(nb::module_& m) {
  m.def(
      "read_tet_mesh",
      [](const std::filesystem::path& path) {
        const nb::gil_scoped_release release;
        std::vector<std::string> notes;
        TetMesh mesh = readTetMesh(path, &notes);
        return std::make_tuple(std::move(mesh), std::move(notes));
      },
      nb::arg("path"),
      "Reads the tetrahedra of a .msh, .vtk or .node/.ele file: the mesh, and what was changed or "
      "left out, one sentence each.");
  m.def(
      "write_tet_mesh",
      [](const std::filesystem::path& path, const TetMesh& mesh, bool isBinary) {
        const nb::gil_scoped_release release;
        writeTetMesh(path, mesh, isBinary ? MeshEncoding::Binary : MeshEncoding::Ascii);
      },
      nb::arg("path"), nb::arg("mesh"), nb::arg("binary") = true,
      "Writes .msh (MSH 4.1) or .vtk (legacy), by the extension.");
}

}  // namespace tangere::python
