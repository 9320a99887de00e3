// SPDX-License-Identifier: Apache-2.0
//
// What must hold for every mesh a reader returns, whatever the bytes were.
#pragma once

#include <tangere/error.hpp>
#include <tangere/io.hpp>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace tangere::fuzz {

inline void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

inline void checkMesh(const TriangleMesh& mesh) {
  const int n = static_cast<int>(mesh.vertices.size());
  require(!mesh.triangles.empty(), "a mesh has triangles");
  for (const Triangle& t : mesh.triangles) {
    for (const int v : t) require(v >= 0 && v < n, "indices are in range");
  }
  for (const Vec3& v : mesh.vertices) {
    require(std::isfinite(v.x) && std::isfinite(v.y) && std::isfinite(v.z), "vertices are finite");
  }
  const TriangleMesh welded = weldVertices(mesh);
  require(welded.triangles.size() == mesh.triangles.size(), "welding keeps the triangles");
  require(weldVertices(welded) == welded, "welding twice changes nothing");

  const MeshReport report = inspectMesh(mesh);  // throws for coordinates beyond 1e12 m
  require(std::isfinite(report.volume) && std::isfinite(report.area), "volume and area are finite");
  require(report.area >= 0, "area is not negative");
  require(report.numComponents <= report.numTriangles, "components hold triangles");
  require(report.isSolid() + report.isInsideOut() <= 1, "not inside out and outside out");
  require(report.numOpenEdges + 2 * report.numInconsistentEdges + 3 * report.numNonManifoldEdges <=
              3 * report.numTriangles,
          "every triangle has three edges");
  require(report.findings().empty() ==
              (report.isSolid() && report.numDegenerateTriangles == 0 &&
               report.numDuplicateTriangles == 0 && report.numUnusedVertices == 0 &&
               report.numDuplicateVertices == 0 && report.scale == MeshScale::Plausible),
          "a clean solid has no findings");
}

}  // namespace tangere::fuzz
