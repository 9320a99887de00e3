// SPDX-License-Identifier: Apache-2.0
//
// Signed distances to a mesh for another program to compare: stdin has the numbers of vertices,
// triangles and points, then the coordinates, the indices and the points; stdout gets a first line
// "closed" or "open", then for each point its distance and the winding number of the mesh there.
#include <tangere/shape.hpp>

#include "geometry/mesh_data.hpp"
#include "geometry/signed_distance.hpp"

#include <cstdio>
#include <iostream>

namespace {

std::vector<tangere::Vec3> readPoints(std::size_t count) {
  std::vector<tangere::Vec3> points(count);
  for (tangere::Vec3& p : points) std::cin >> p.x >> p.y >> p.z;
  return points;
}

}  // namespace

int main() {
  std::ios::sync_with_stdio(false);
  std::size_t numVertices = 0, numTriangles = 0, numPoints = 0;
  std::cin >> numVertices >> numTriangles >> numPoints;
  const std::vector<tangere::Vec3> vertices = readPoints(numVertices);
  std::vector<tangere::Triangle> triangles(numTriangles);
  for (tangere::Triangle& t : triangles) std::cin >> t[0] >> t[1] >> t[2];
  const std::vector<tangere::Vec3> points = readPoints(numPoints);
  if (!std::cin) {
    std::fprintf(stderr, "print_signed_distance: the input ends too early\n");
    return 3;
  }
  const tangere::geometry::MeshData data(vertices, triangles);
  std::printf("%s\n", data.closed ? "closed" : "open");
  for (const tangere::Vec3& p : points)
    std::printf("%.17g %.17g\n", tangere::geometry::signedDistanceToMesh(data, p).distance,
                tangere::geometry::windingNumber(data, p));
  return 0;
}
