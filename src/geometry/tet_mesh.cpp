// SPDX-License-Identifier: Apache-2.0
//
// Solids of tetrahedra: checks, surface and quality. Everything is in order of the input, so the
// same input gives the same bits.
#include <tangere/tet_mesh.hpp>

#include "core/elementary.hpp"
#include "geometry/limits.hpp"
#include "geometry/tet_faces.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace tangere {

namespace {

using geometry::faceOf;
using geometry::matchFaces;
using geometry::sixVolumes;

/// Below this part of its longest edge cubed a tetrahedron has no volume.
constexpr Real kFlatness = 1e-12;

constexpr int kMaxTetsInMesh = 500000000;  // 4 t + k has to fit an index

Real longestEdgeSquared(const std::array<Vec3, 4>& x) {
  Real longest = 0;
  for (int i = 0; i < 4; ++i) {
    for (int j = i + 1; j < 4; ++j) longest = std::fmax(longest, squaredNorm(x[j] - x[i]));
  }
  return longest;
}

std::array<Vec3, 4> cornersOf(std::span<const Vec3> vertices, const Tet& tet) {
  return {vertices[tet[0]], vertices[tet[1]], vertices[tet[2]], vertices[tet[3]]};
}

void checkVertices(std::span<const Vec3> vertices) {
  for (std::size_t i = 0; i < vertices.size(); ++i) {
    const auto& [x, y, z] = vertices[i];
    TANGERE_REQUIRE(geometry::isCoordinate(vertices[i]),
                    "tetrahedral mesh vertex must be finite and within 1e12 of the origin [m]", i,
                    x, y, z);
  }
}

void checkIndices(std::span<const Tet> tets, int numVertices) {
  std::vector<std::uint8_t> used(static_cast<std::size_t>(numVertices), 0);
  for (std::size_t i = 0; i < tets.size(); ++i) {
    const auto [a, b, c, d] = tets[i];
    TANGERE_REQUIRE(std::min({a, b, c, d}) >= 0 && std::max({a, b, c, d}) < numVertices,
                    "tetrahedron has an index out of range", i, a, b, c, d, numVertices);
    TANGERE_REQUIRE(a != b && a != c && a != d && b != c && b != d && c != d,
                    "tetrahedron names a vertex twice", i, a, b, c, d);
    for (const int v : tets[i]) used[v] = 1;
  }
  for (int vertex = 0; vertex < numVertices; ++vertex) {
    TANGERE_REQUIRE(used[vertex] != 0, "no tetrahedron uses this vertex: leave it out", vertex);
  }
}

/// Turns tetrahedra of negative volume; refuses those without one. The sum of all volumes.
Real turnTets(std::span<const Vec3> vertices, std::span<Tet> tets) {
  Real sum = 0;
  for (std::size_t i = 0; i < tets.size(); ++i) {
    const std::array<Vec3, 4> x = cornersOf(vertices, tets[i]);
    const Real volume = sixVolumes(x[0], x[1], x[2], x[3]) / 6;
    const Real longest2 = longestEdgeSquared(x);
    const Real longest = std::sqrt(longest2);
    TANGERE_REQUIRE(
        std::fabs(volume) > kFlatness * longest2 * longest,
        "tetrahedron is flat: its volume must be above 1e-12 of its longest edge cubed [m^3, m]", i,
        volume, longest);
    if (volume < 0) std::swap(tets[i][2], tets[i][3]);
    sum += std::fabs(volume);
  }
  return sum;
}

/// Collects the extremes of one tetrahedron after the other.
class QualityMeter {
 public:
  void add(const std::array<Vec3, 4>& x);
  /// Everything but the counts.
  [[nodiscard]] TetMeshQuality result() const;

 private:
  TetMeshQuality quality_{.minVolume = std::numeric_limits<Real>::infinity(),
                          .shortestEdge = std::numeric_limits<Real>::infinity()};
  // Of dihedral angles. Angles are compared by their cotangents: those fall as the angle rises and
  // need no inverse function.
  Real min_cotangent_ = std::numeric_limits<Real>::infinity();
  Real max_cotangent_ = -std::numeric_limits<Real>::infinity();
};

void QualityMeter::add(const std::array<Vec3, 4>& x) {
  const Real six = sixVolumes(x[0], x[1], x[2], x[3]);
  std::array<Vec3, 4> normal;  // outward, twice the area long
  Real largest = 0;
  for (int k = 0; k < 4; ++k) {
    const auto& [a, b, c] = geometry::kTetFaces[k];
    normal[k] = cross(x[b] - x[a], x[c] - x[a]);
    largest = std::fmax(largest, norm(normal[k]));
  }
  Real longest = 0;
  for (int i = 0; i < 4; ++i) {
    for (int j = i + 1; j < 4; ++j) {
      // Faces i and j meet at the other edge; |n_i x n_j| is its length times six volumes.
      const int k = i == 0 ? (j == 1 ? 2 : 1) : 0;
      const int l = 6 - i - j - k;
      const Real edge = norm(x[l] - x[k]);
      const Real cotangent = -dot(normal[i], normal[j]) / (six * edge);
      min_cotangent_ = std::fmin(min_cotangent_, cotangent);
      max_cotangent_ = std::fmax(max_cotangent_, cotangent);
      longest = std::fmax(longest, edge);
      quality_.shortestEdge = std::fmin(quality_.shortestEdge, edge);
    }
  }
  quality_.longestEdge = std::fmax(quality_.longestEdge, longest);
  quality_.minVolume = std::fmin(quality_.minVolume, six / 6);
  quality_.maxVolume = std::fmax(quality_.maxVolume, six / 6);
  quality_.maxAspect = std::fmax(quality_.maxAspect, longest * largest / six);
}

TetMeshQuality QualityMeter::result() const {
  TetMeshQuality out = quality_;
  out.minDihedral = core::atan2(1, max_cotangent_);
  out.maxDihedral = core::atan2(1, min_cotangent_);
  return out;
}

int findRoot(std::vector<std::int32_t>& parent, int i) {
  while (parent[i] != i) {
    parent[i] = parent[parent[i]];
    i = parent[i];
  }
  return i;
}

int countParts(std::span<const std::int32_t> glued) {
  const int numTets = static_cast<int>(glued.size() / 4);
  std::vector<std::int32_t> parent(static_cast<std::size_t>(numTets));
  std::iota(parent.begin(), parent.end(), 0);
  int numParts = numTets;
  for (int face = 0; face < 4 * numTets; ++face) {
    if (glued[face] <= face) continue;
    const int a = findRoot(parent, face / 4), b = findRoot(parent, glued[face] / 4);
    if (a == b) continue;
    parent[std::max(a, b)] = std::min(a, b);
    --numParts;
  }
  return numParts;
}

}  // namespace

namespace geometry {

std::vector<std::int32_t> matchFaces(int numVertices, std::span<const Tet> tets) {
  // Faces are put into one bucket per lowest vertex; a bucket is small and sorted by the others.
  struct Entry {
    std::int32_t middle, upper, face;
  };
  const int numFaces = 4 * static_cast<int>(tets.size());
  const auto sortedFace = [&](int face) {
    Triangle t = faceOf(tets[face / 4], face % 4);
    if (t[0] > t[1]) std::swap(t[0], t[1]);
    if (t[1] > t[2]) std::swap(t[1], t[2]);
    if (t[0] > t[1]) std::swap(t[0], t[1]);
    return t;
  };
  std::vector<std::int32_t> start(static_cast<std::size_t>(numVertices) + 1, 0);
  for (int face = 0; face < numFaces; ++face) ++start[sortedFace(face)[0] + 1];
  std::partial_sum(start.begin(), start.end(), start.begin());
  std::vector<Entry> entries(static_cast<std::size_t>(numFaces));
  std::vector<std::int32_t> next(start.begin(), start.end() - 1);
  for (int face = 0; face < numFaces; ++face) {
    const Triangle t = sortedFace(face);
    entries[next[t[0]]++] = {t[1], t[2], face};
  }

  std::vector<std::int32_t> glued(static_cast<std::size_t>(numFaces), -1);
  for (int v = 0; v < numVertices; ++v) {
    const auto begin = entries.begin() + start[v], end = entries.begin() + start[v + 1];
    std::sort(begin, end, [](const Entry& a, const Entry& b) {
      if (a.middle != b.middle) return a.middle < b.middle;
      if (a.upper != b.upper) return a.upper < b.upper;
      return a.face < b.face;  // no ties
    });
    for (auto it = begin; it != end;) {
      auto last = it + 1;
      while (last != end && last->middle == it->middle && last->upper == it->upper) ++last;
      TANGERE_REQUIRE(last - it <= 2, "a face is in more than two tetrahedra: vertices", v,
                      it->middle, it->upper);
      if (last - it == 2) {
        glued[it->face] = (it + 1)->face;
        glued[(it + 1)->face] = it->face;
      }
      it = last;
    }
  }
  return glued;
}

}  // namespace geometry

TetMesh::TetMesh(std::vector<Vec3> vertices, std::vector<Tet> tets)
    : vertices_(std::move(vertices)), tets_(std::move(tets)) {
  TANGERE_REQUIRE(!tets_.empty(), "a tetrahedral mesh needs at least one tetrahedron");
  TANGERE_REQUIRE(tets_.size() <= kMaxTetsInMesh && vertices_.size() <= kMaxTetsInMesh,
                  "a tetrahedral mesh holds at most 500 million tetrahedra", tets_.size(),
                  vertices_.size());
  const int numVertices = static_cast<int>(vertices_.size());
  checkVertices(vertices_);
  checkIndices(tets_, numVertices);
  volume_ = turnTets(vertices_, tets_);

  const std::vector<std::int32_t> glued = matchFaces(numVertices, tets_);
  is_on_surface_.assign(vertices_.size(), 0);
  for (int face = 0; face < static_cast<int>(glued.size()); ++face) {
    if (glued[face] >= 0) continue;
    surface_.push_back(faceOf(tets_[face / 4], face % 4));
    tet_of_surface_.push_back(face / 4);
    for (const int v : surface_.back()) is_on_surface_[v] = 1;
  }
}

TetMeshQuality TetMesh::quality() const {
  QualityMeter meter;
  int numSurfaceTets = 0;
  for (const Tet& tet : tets_) {
    meter.add(cornersOf(vertices_, tet));
    const bool isSurfaceTet = is_on_surface_[tet[0]] != 0 && is_on_surface_[tet[1]] != 0 &&
                              is_on_surface_[tet[2]] != 0 && is_on_surface_[tet[3]] != 0;
    numSurfaceTets += isSurfaceTet ? 1 : 0;
  }
  TetMeshQuality out = meter.result();
  out.numParts = countParts(matchFaces(static_cast<int>(vertices_.size()), tets_));
  out.numSurfaceTets = numSurfaceTets;
  return out;
}

TetMesh TetMesh::transformed(const Transform& pose) const {
  std::vector<Vec3> moved;
  moved.reserve(vertices_.size());
  for (const Vec3& v : vertices_) moved.push_back(pose * v);
  return TetMesh(std::move(moved), tets_);
}

}  // namespace tangere
