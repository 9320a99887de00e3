// SPDX-License-Identifier: Apache-2.0
//
// Files of surface meshes; those of volume meshes are in bind_tet_files.cpp, with what they need.
#include "bindings.hpp"
#include "struct_binding.hpp"

#include <tangere/io.hpp>

#include <nanobind/stl/filesystem.h>

namespace tangere::python {

void bindIo(nb::module_& m) {
  m.def(
      "read_mesh",
      [](const std::filesystem::path& path) {
        const nb::gil_scoped_release release;
        return readMesh(path);
      },
      nb::arg("path"),
      "Reads a .obj, .stl, .glb or .dae file, by its extension. Numbers are taken as metres.");
}

}  // namespace tangere::python
