// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a volume file of each format (TetGen's two parted by the first '|'): refused, or a
// solid that holds its promises.
#include "fuzz/mesh_checks.hpp"

namespace {

using tangere::fuzz::require;

void checkSolid(const tangere::TetMesh& mesh) {
  const int n = static_cast<int>(mesh.vertices().size());
  require(!mesh.tets().empty(), "a solid has tetrahedra");
  std::vector<bool> isUsed(mesh.vertices().size(), false);
  for (const tangere::Tet& tet : mesh.tets()) {
    for (const int v : tet) {
      require(v >= 0 && v < n, "indices are in range");
      isUsed[static_cast<std::size_t>(v)] = true;
    }
    const auto at = [&](std::size_t i) {
      return mesh.vertices()[static_cast<std::size_t>(tet[i])];
    };
    require(dot(cross(at(1) - at(0), at(2) - at(0)), at(3) - at(0)) > 0, "volumes are positive");
  }
  for (const bool used : isUsed) require(used, "every vertex has a tetrahedron");
  for (std::size_t i = 0; i < mesh.vertices().size(); ++i)
    for (std::size_t k = i + 1; k < mesh.vertices().size(); ++k)
      require(!(mesh.vertices()[i] == mesh.vertices()[k]), "vertices are at different places");
  require(mesh.surface().size() >= 4, "a solid has a surface");
  const tangere::TetMeshQuality quality = mesh.quality();
  require(std::isfinite(mesh.volume()) && mesh.volume() > 0, "the volume is positive");
  require(quality.numParts >= 1, "a solid has parts");
}

template <class Read>
void check(const Read& read) {
  try {
    std::vector<std::string> notes;
    checkSolid(read(&notes));
  } catch (const tangere::InvalidInput&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string_view nodes = text.substr(0, text.find('|'));
  const std::string_view elements = text.substr(std::min(size, nodes.size() + 1));
  const tangere::TetMeshReadLimits limits{.maxTets = 10'000};
  using Notes = std::vector<std::string>;
  check([&](Notes* notes) { return tangere::readMsh(bytes, "input", notes, limits); });
  check([&](Notes* notes) { return tangere::readVtk(bytes, "input", notes, limits); });
  check([&](Notes* notes) {
    return tangere::readTetGen(nodes, elements, "nodes", "elements", notes, limits);
  });
  return 0;
}
