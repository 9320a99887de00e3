// SPDX-License-Identifier: Apache-2.0
//
// Convex hulls in layers: scaled copies of the surface towards the centroid. Vertices of the hull
// are vertices of the mesh, and its volume is exact.
#include "core/elementary.hpp"
#include "geometry/tet_shells.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace tangere::geometry {

namespace {

constexpr Real kPi = 3.14159265358979323846;

// A hull as thin as a hundredth of its width needs about 30,000, and they grow with the square.
constexpr std::size_t kMaxTriangles = 200'000;

/// A closed surface whose long edges are cut at their midpoints, the longest first, so that
/// triangles never become much thinner than they were.
class SurfaceCutter {
 public:
  SurfaceCutter(std::vector<Vec3>* vertices, std::vector<Triangle>* triangles)
      : vertices_(*vertices), triangles_(*triangles) {
    for (int t = 0; t < static_cast<int>(triangles_.size()); ++t) attach(t);
  }

  /// False when it stopped at so many triangles.
  bool cutEdgesAbove(Real length, std::size_t maxTriangles) {
    const Real limit = length * length;
    while (longestSquared() > limit) {
      if (triangles_.size() >= maxTriangles) return false;
      cutLongest();
    }
    return true;
  }
  [[nodiscard]] Real longestSquared() const { return -by_length_.begin()->negativeSquare; }

 private:
  using Edge = std::array<int, 2>;
  struct LengthKey {
    Real negativeSquare;
    Edge edge;
    friend auto operator<=>(const LengthKey&, const LengthKey&) = default;
  };

  [[nodiscard]] static Edge edgeOf(int a, int b) { return {std::min(a, b), std::max(a, b)}; }
  [[nodiscard]] LengthKey keyOf(const Edge& edge) const {
    return {-squaredNorm(vertices_[edge[1]] - vertices_[edge[0]]), edge};
  }
  void attach(int t) {
    for (int k = 0; k < 3; ++k) {
      const Edge edge = edgeOf(triangles_[t][k], triangles_[t][(k + 1) % 3]);
      triangles_at_[edge].push_back(t);
      by_length_.insert(keyOf(edge));
    }
  }
  void detach(int t) {
    for (int k = 0; k < 3; ++k) {
      const Edge edge = edgeOf(triangles_[t][k], triangles_[t][(k + 1) % 3]);
      std::vector<int>& at = triangles_at_[edge];
      at.erase(std::find(at.begin(), at.end(), t));
      if (!at.empty()) continue;
      triangles_at_.erase(edge);
      by_length_.erase(keyOf(edge));
    }
  }
  void cutLongest() {
    const Edge edge = by_length_.begin()->edge;
    const int middle = static_cast<int>(vertices_.size());
    vertices_.push_back(vertices_[edge[0]] * 0.5 + vertices_[edge[1]] * 0.5);
    const std::vector<int> both = triangles_at_.at(edge);
    for (const int t : both) {
      detach(t);
      Triangle first = triangles_[t], second = triangles_[t];
      std::replace(first.begin(), first.end(), edge[1], middle);
      std::replace(second.begin(), second.end(), edge[0], middle);
      triangles_[t] = first;
      triangles_.push_back(second);
      attach(t);
      attach(static_cast<int>(triangles_.size()) - 1);
    }
  }

  std::vector<Vec3>& vertices_;
  std::vector<Triangle>& triangles_;
  std::map<Edge, std::vector<int>> triangles_at_;
  std::set<LengthKey> by_length_;
};

/// A quadrilateral along its shorter diagonal, larger faces from their middle.
void addFace(std::span<const int> face, std::vector<Vec3>* vertices,
             std::vector<Triangle>* triangles) {
  const std::vector<Vec3>& v = *vertices;
  if (face.size() == 3) {
    triangles->push_back({face[0], face[1], face[2]});
    return;
  }
  if (face.size() == 4) {
    const Real first = squaredNorm(v[face[2]] - v[face[0]]);
    const Real second = squaredNorm(v[face[3]] - v[face[1]]);
    const std::size_t s = second < first * (1 - 1e-9) ? 1 : 0;
    triangles->push_back({face[s], face[s + 1], face[s + 2]});
    triangles->push_back({face[s], face[s + 2], face[(s + 3) % 4]});
    return;
  }
  Vec3 sum{};
  for (const int i : face) sum += v[i];
  const int middle = static_cast<int>(v.size());
  vertices->push_back(sum / static_cast<Real>(face.size()));
  for (std::size_t i = 0; i < face.size(); ++i) {
    triangles->push_back({face[i], face[(i + 1) % face.size()], middle});
  }
}

ShellPlan planLayers(Real longestEdge, Real meanRadius, Real resolution) {
  const auto pieces = [&](Real length) {
    // Beyond, no integer holds the counts; they are refused anyway.
    return std::fmin(std::fmax(1, std::ceil(length / resolution * (1 - 1e-9))), 1e9);
  };
  const Real side = pieces(longestEdge);
  const Real prisms = std::fmax(0, pieces(meanRadius) - side);
  return {.side = static_cast<int>(side), .numPrisms = static_cast<int>(prisms)};
}

}  // namespace

LayeredMesher::LayeredMesher(const Convex& convex)
    : vertices_(convex.vertices().begin(), convex.vertices().end()) {
  const MassProperties solid = convex.massProperties(1);
  center_ = solid.center;
  mean_radius_ = core::cbrt(3 * solid.mass / (4 * kPi));
  for (int f = 0; f < convex.numFaces(); ++f) addFace(convex.face(f), &vertices_, &triangles_);
  // A triangle much wider than its distance from the centre makes flat tetrahedra in every layer.
  const Real depth = -convex.signedDistance(center_).distance;
  SurfaceCutter cutter(&vertices_, &triangles_);
  is_possible_ = cutter.cutEdgesAbove(3 * depth, kMaxTriangles + triangles_.size());
  longest_edge_ = std::sqrt(cutter.longestSquared());
}

TetCounts LayeredMesher::count(Real resolution) const {
  return planLayers(longest_edge_, mean_radius_, resolution)
      .counts(static_cast<int>(vertices_.size()), static_cast<int>(triangles_.size()));
}

TetPieces LayeredMesher::make(Real resolution) const {
  const ShellPlan plan = planLayers(longest_edge_, mean_radius_, resolution);
  const ShellLattice lattice(static_cast<int>(vertices_.size()), triangles_);
  return fillShells(lattice, plan, center_, [&](int layer, const ShellPoint& point) {
    if (layer == 0 && point.weight[0] == point.side) return vertices_[point.vertex[0]];
    Vec3 sum{};
    for (int k = 0; k < 3; ++k) {
      sum += (vertices_[point.vertex[k]] - center_) *
             (static_cast<Real>(point.weight[k]) / point.side);
    }
    return center_ + sum * (static_cast<Real>(plan.numLayers() - layer) / plan.numLayers());
  });
}

}  // namespace tangere::geometry
