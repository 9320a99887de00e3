// SPDX-License-Identifier: Apache-2.0
#include "geometry/tet_shells.hpp"

#include "core/assert.hpp"

#include <algorithm>
#include <limits>

namespace tangere::geometry {

void TetPieces::addPrism(const Triangle& t0, const Triangle& t1) {
  std::array<int, 3> order{0, 1, 2};
  if (t0[order[0]] > t0[order[1]]) std::swap(order[0], order[1]);
  if (t0[order[1]] > t0[order[2]]) std::swap(order[1], order[2]);
  if (t0[order[0]] > t0[order[1]]) std::swap(order[0], order[1]);
  const auto [a, b, c] = order;
  tets.push_back({t0[a], t0[b], t0[c], t1[c]});
  tets.push_back({t0[a], t0[b], t1[b], t1[c]});
  tets.push_back({t0[a], t1[a], t1[b], t1[c]});
}

void TetPieces::addOctahedron(const std::array<std::int32_t, 3>& p,
                              const std::array<std::int32_t, 3>& q) {
  // Of diagonals that differ by rounding alone the first, so that equal octahedra are cut alike.
  int best = 0;
  Real least = std::numeric_limits<Real>::infinity();
  for (int k = 0; k < 3; ++k) {
    const Real length2 = squaredNorm(vertices[q[k]] - vertices[p[k]]);
    if (length2 >= least * (1 - 1e-9)) continue;
    best = k;
    least = length2;
  }
  const int b = (best + 1) % 3, c = (best + 2) % 3;
  const std::array<std::int32_t, 4> ring{p[b], p[c], q[b], q[c]};
  for (int k = 0; k < 4; ++k) tets.push_back({p[best], q[best], ring[k], ring[(k + 1) % 4]});
}

ShellLattice::ShellLattice(int numVertices, std::vector<Triangle> triangles)
    : num_vertices_(numVertices), triangles_(std::move(triangles)) {
  for (const Triangle& t : triangles_) {
    for (int k = 0; k < 3; ++k) {
      const int a = t[k], b = t[(k + 1) % 3];
      if (a < b) edges_.push_back({a, b});
    }
  }
  std::sort(edges_.begin(), edges_.end());  // each edge once: in a closed surface it runs both ways
  for (const Triangle& t : triangles_) {
    std::array<int, 3> of{};
    for (int k = 0; k < 3; ++k) {
      const std::array<int, 2> edge{std::min(t[k], t[(k + 1) % 3]), std::max(t[k], t[(k + 1) % 3])};
      const auto it = std::lower_bound(edges_.begin(), edges_.end(), edge);
      TANGERE_ASSERT(it != edges_.end() && *it == edge);
      of[k] = static_cast<int>(it - edges_.begin());
    }
    edges_of_.push_back(of);
  }
}

int ShellLattice::size(int k) const {
  if (k == 0) return 1;
  return num_vertices_ + static_cast<int>(edges_.size()) * (k - 1) +
         static_cast<int>(triangles_.size()) * ((k - 1) * (k - 2) / 2);
}

int ShellLattice::onEdge(int triangle, int edge, int k, int steps) const {
  const bool isRising = triangles_[triangle][edge] < triangles_[triangle][(edge + 1) % 3];
  const int along = isRising ? steps : k - steps;  // from the lower vertex
  return num_vertices_ + edges_of_[triangle][edge] * (k - 1) + along - 1;
}

int ShellLattice::index(int triangle, int k, int i, int j) const {
  if (k == 0) return 0;
  const int l = k - i - j;
  if (l == k) return triangles_[triangle][0];
  if (i == k) return triangles_[triangle][1];
  if (j == k) return triangles_[triangle][2];
  if (j == 0) return onEdge(triangle, 0, k, i);
  if (l == 0) return onEdge(triangle, 1, k, j);
  if (i == 0) return onEdge(triangle, 2, k, l);
  const int inFace = (k - 1) * (k - 2) / 2;
  // Rows of constant i hold k - 1 - i points.
  const int before = (i - 1) * (k - 1) - (i - 1) * i / 2;
  return num_vertices_ + static_cast<int>(edges_.size()) * (k - 1) + triangle * inFace + before +
         j - 1;
}

std::vector<ShellPoint> ShellLattice::points(int k) const {
  std::vector<ShellPoint> out(static_cast<std::size_t>(size(k)));
  for (int v = 0; v < num_vertices_; ++v) out[v] = {{v, v, v}, {k, 0, 0}, k};
  int next = num_vertices_;
  for (const auto& [a, b] : edges_) {
    for (int s = 1; s < k; ++s) out[next++] = {{a, b, b}, {k - s, s, 0}, k};
  }
  for (const Triangle& t : triangles_) {
    for (int i = 1; i < k - 1; ++i) {
      for (int j = 1; i + j < k; ++j) out[next++] = {{t[0], t[1], t[2]}, {k - i - j, i, j}, k};
    }
  }
  return out;
}

TetCounts ShellPlan::counts(int numVertices, int numTriangles) const {
  // In doubles: the wish may be beyond any integer.
  const Real v = numVertices, t = numTriangles, e = 1.5 * t, n = side, prisms = numPrisms;
  const auto shell = [&](Real k) { return v + e * (k - 1) + t * (k - 1) * (k - 2) / 2; };
  // Sums over k = 1..n of k^0, k - 1 and (k - 1)(k - 2) / 2.
  const Real taper = v * n + e * n * (n - 1) / 2 + t * n * (n - 1) * (n - 2) / 6;
  return {.vertices = 1 + taper + prisms * shell(n), .tets = t * (n * n * n + 3 * n * n * prisms)};
}

}  // namespace tangere::geometry
