// SPDX-License-Identifier: Apache-2.0
//
// A program of somebody else: sees nothing but the install tree.
#include <tangere/collision.hpp>
#include <tangere/eigen.hpp>

#include <cstdio>
#include <vector>

int main() {
  std::vector<tangere::Vec3> corners;
  for (int i = 0; i < 8; ++i)
    corners.push_back({i & 1 ? 0.5 : -0.5, i & 2 ? 0.5 : -0.5, i & 4 ? 0.5 : -0.5});
  const tangere::Convex cube(corners);
  const tangere::Sphere ball(0.25);
  const tangere::Transform above{tangere::Mat3::identity(), {0, 0, 1}};
  const tangere::DistanceResult gap = tangere::distance(ball, above, cube, {});
  std::printf("gap %g m, cube has %d faces\n", gap.distance, cube.numFaces());
  return gap.distance == 0.25 && cube.numFaces() == 6 ? 0 : 1;
}
