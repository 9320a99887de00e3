// SPDX-License-Identifier: Apache-2.0
#include "geometry/mesh_data.hpp"

#include "core/arena.hpp"
#include "core/elementary.hpp"
#include "geometry/bvh_builder.hpp"
#include "geometry/bvh_nearest.hpp"
#include "geometry/limits.hpp"
#include "geometry/query_helpers.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

namespace tangere::geometry {

namespace {

/// The triangles of a mesh for its tree; sets the corners of the slots.
struct TriangleSource {
  MeshData& mesh;
  const Float4* unit;  ///< the vertices in unit coordinates

  [[nodiscard]] BvhBox box(int t) const {
    const Triangle& v = mesh.triangles[t];
    const Float4 a = unit[v[0]], b = unit[v[1]], c = unit[v[2]];
    return {min4(a, min4(b, c)) - Bvh::kRounding, max4(a, max4(b, c)) + Bvh::kRounding};
  }
  void append(int t) {
    mesh.bvh.order.push_back(t);
    for (const int v : mesh.triangles[t]) mesh.corners.push_back(mesh.vertices[v]);
  }
};

/// The half-edges that run from a lower to a higher vertex, in one list per lower vertex, and for
/// each the one that runs back. Whether an edge rises cannot be predicted, so nothing branches on
/// it.
class RisingEdges {
 public:
  RisingEdges(std::span<const Triangle> triangles, int numVertices, core::Arena& scratch)
      : triangles_(triangles), start_(scratch.allocateArray<std::int32_t>(numVertices + 2)) {
    // While the lists are filled, start[v + 1] is where the next entry of v goes; then its end.
    std::fill(start_.begin(), start_.end(), 0);
    visitEdges([&](int u, int v, int) { start_[u + 2] += u < v ? 1 : 0; });
    for (int v = 0; v < numVertices; ++v) start_[v + 2] += start_[v + 1];
    size_ = start_[numVertices + 1];
    // One entry more takes what is not wanted; reading goes on for a block behind the last.
    upper_ = scratch.allocateArray<std::int32_t>(size_ + 1 + kBlock);
    half_ = scratch.allocateArray<std::int32_t>(size_ + 1);
    match_ = scratch.allocateArray<std::int32_t>(size_ + 1);
    visitEdges([&](int u, int v, int half) {
      const int rises = u < v ? 1 : 0;
      const int place = start_[u + 1];
      const int target = rises ? place : size_;
      upper_[target] = v;
      half_[target] = half;
      start_[u + 1] = place + rises;
    });
    std::fill_n(&upper_[size_], 1 + kBlock, -1);
    std::fill(match_.begin(), match_.end(), kNone);
    sortLongLists(numVertices);
  }

  /// Finds the matches; true when every edge has two sides that run in opposite directions.
  bool match() {
    bool paired = true;
    visitEdges([&](int u, int v, int half) {
      const int lower = u < v ? u : v, upper = u < v ? v : u;
      const Found found = find(lower, upper);
      const bool falls = u > v;
      // A rising edge finds itself; twins show here too.
      const bool alone = found.count == 1 && !(falls && match_[found.first] != kNone);
      if (alone) {
        match_[falls ? found.first : size_] = half;
        return;
      }
      paired = false;
      for (int e = found.first; e < start_[lower + 1]; ++e)
        if (upper_[e] == upper) match_[e] = kSeveral;
    });
    for (int e = 0; e < size_; ++e) paired = paired && match_[e] >= 0;
    return paired;
  }

  /// visit(half, the half that runs back), both 3 * triangle + edge.
  template <class Visit>
  void visitPairs(const Visit& visit) const {
    for (int e = 0; e < size_; ++e)
      if (match_[e] >= 0) visit(half_[e], match_[e]);
  }

 private:
  static constexpr std::int32_t kNone = -1, kSeveral = -2;
  static constexpr int kBlock = 8;  // so many are compared at once
  static constexpr int kLongList = 24;

  struct Found {
    int first = 0;
    int count = 0;  // 2: or more
  };

  template <class Visit>
  void visitEdges(const Visit& visit) const {
    for (std::size_t i = 0; i < triangles_.size(); ++i) {
      const Triangle& t = triangles_[i];
      if (t[0] == t[1] || t[1] == t[2] || t[2] == t[0]) continue;
      const int half = static_cast<int>(3 * i);
      visit(t[0], t[1], half);
      visit(t[1], t[2], half + 1);
      visit(t[2], t[0], half + 2);
    }
  }

  /// Fans with very many spokes would make the searches quadratic.
  void sortLongLists(int numVertices) {
    std::vector<std::pair<std::int32_t, std::int32_t>> entries;
    for (int v = 0; v < numVertices; ++v) {
      const int begin = start_[v], end = start_[v + 1];
      if (end - begin <= kLongList) continue;
      entries.clear();
      for (int e = begin; e < end; ++e) entries.emplace_back(upper_[e], half_[e]);
      std::sort(entries.begin(), entries.end());  // no half-edge is there twice: no ties
      for (int e = begin; e < end; ++e) {
        upper_[e] = entries[e - begin].first;
        half_[e] = entries[e - begin].second;
      }
    }
  }

  [[nodiscard]] Found find(int lower, int upper) const {
    const int begin = start_[lower], length = start_[lower + 1] - begin;
    if (length > kBlock) return findInLong(begin, begin + length, upper);
    Int4 a, b;
    std::memcpy(&a, &upper_[begin], sizeof a);
    std::memcpy(&b, &upper_[begin + 4], sizeof b);
    const Int4 wanted{upper, upper, upper, upper};
    const unsigned all = static_cast<unsigned>(maskOf(a == wanted) | (maskOf(b == wanted) << 4));
    const unsigned mask = all & ((1u << length) - 1);
    if (mask == 0) return {begin, 0};
    return {begin + std::countr_zero(mask), (mask & (mask - 1)) == 0 ? 1 : 2};
  }

  [[nodiscard]] Found findInLong(int begin, int end, int upper) const {
    const bool sorted = end - begin > kLongList;
    if (sorted)
      begin = static_cast<int>(
          std::lower_bound(upper_.begin() + begin, upper_.begin() + end, upper) - upper_.begin());
    Found out{begin, 0};
    for (int e = begin; e < end; ++e) {
      if (upper_[e] == upper) {
        if (out.count++ == 0) out.first = e;
      } else if (sorted) {
        break;
      }
    }
    return out;
  }

  std::span<const Triangle> triangles_;
  std::span<std::int32_t> start_;
  std::span<std::int32_t> upper_, half_, match_;
  int size_ = 0;
};

}  // namespace

MeshData::MeshData(std::span<const Vec3> inputVertices, std::span<const Triangle> inputTriangles) {
  TANGERE_REQUIRE(!inputTriangles.empty(), "mesh needs at least one triangle");
  TANGERE_REQUIRE(inputVertices.size() < (1u << 30) && inputTriangles.size() < (1u << 29),
                  "mesh has too many vertices or triangles", inputVertices.size(),
                  inputTriangles.size());
  for (std::size_t i = 0; i < inputVertices.size(); ++i) {
    const Vec3& v = inputVertices[i];
    TANGERE_REQUIRE(isCoordinate(v), "mesh vertex must be finite and within 1e12 m", i, v.x, v.y,
                    v.z);
  }
  vertices.assign(inputVertices.begin(), inputVertices.end());
  // Fresh pages cost as much as the work on them: all phases share one room for what they drop.
  core::Arena scratch(sizeof(Float4) * vertices.size() + 24 * inputTriangles.size() + 4096);
  takeTriangles(inputTriangles, scratch);
  if (closed) turnOutward();
  buildTree(scratch);

  type = ShapeType::Mesh;
  mesh = this;
  convex.center = center;
  convex.boundingRadius = radius;
}

void MeshData::takeTriangles(std::span<const Triangle> input, core::Arena& scratch) {
  const core::ArenaScope scope(scratch);
  const int n = static_cast<int>(vertices.size());
  triangles.reserve(input.size());
  normals.reserve(input.size());
  const std::span<std::int32_t> kept = scratch.allocateArray<std::int32_t>(input.size());
  for (std::size_t i = 0; i < input.size(); ++i) {
    const Triangle& t = input[i];
    const bool inRange = t[0] >= 0 && t[0] < n && t[1] >= 0 && t[1] < n && t[2] >= 0 && t[2] < n;
    TANGERE_REQUIRE(inRange, "mesh triangle has an index out of range", i, t[0], t[1], t[2], n);
    const Vec3& a = vertices[t[0]];
    const Vec3 ab = vertices[t[1]] - a, ac = vertices[t[2]] - a;
    const Vec3 normal = cross(ab, ac);
    const Real area2 = squaredNorm(normal);
    const Real ab2 = squaredNorm(ab), ac2 = squaredNorm(ac);
    const Real longest2 = ab2 > ac2 ? ab2 : ac2;
    // Thinner than a part in 1e12 of its length a triangle has no direction. The square of a tiny
    // area may underflow: lengths are at least some 1e-70 m here.
    if (!(area2 > Real(1e-24) * longest2 * longest2) || !(area2 > Real(1e-280))) {
      ++numDropped;
      kept[i] = -1;
      continue;
    }
    kept[i] = static_cast<int>(triangles.size());
    triangles.push_back(t);
    normals.push_back(normal / std::sqrt(area2));
  }
  TANGERE_REQUIRE(!triangles.empty(), "mesh has no triangle with an area", input.size());
  connect(input, kept, scratch);

  // Vertices that no triangle uses have no part in anything.
  std::vector<char> used(vertices.size(), 0);
  for (const Triangle& t : triangles) used[t[0]] = used[t[1]] = used[t[2]] = 1;
  bounds = {vertices[triangles[0][0]], vertices[triangles[0][0]]};
  for (std::size_t v = 0; v < vertices.size(); ++v)
    if (used[v]) bounds.merge(vertices[v]);
  center = bounds.center();
  Real r2 = 0;
  for (std::size_t v = 0; v < vertices.size(); ++v) {
    const Real d2 = used[v] ? squaredNorm(vertices[v] - center) : 0;
    r2 = d2 > r2 ? d2 : r2;
  }
  radius = std::sqrt(r2) * (1 + Real(1e-15));
}

// Finds the opposite of every half-edge. Closedness is that of the input with its slivers, so that
// dropping one does not open a solid; triangles with two equal indices have no part in it.
void MeshData::connect(std::span<const Triangle> all, std::span<const std::int32_t> kept,
                       core::Arena& scratch) {
  RisingEdges edges(all, static_cast<int>(vertices.size()), scratch);
  closed = edges.match();
  hasPseudonormals = closed;
  opposite.assign(3 * triangles.size(), -1);
  sharpEdges.assign(triangles.size(), 0);
  const auto markSharp = [&](int half) {
    sharpEdges[half / 3] |= static_cast<std::uint8_t>(1 << half % 3);
  };
  edges.visitPairs([&](int half1, int half2) {
    const int t1 = kept[half1 / 3], t2 = kept[half2 / 3];
    if (t1 < 0 || t2 < 0) return;
    const int h1 = 3 * t1 + half1 % 3, h2 = 3 * t2 + half2 % 3;
    opposite[h1] = h2;
    opposite[h2] = h1;
    if (dot(normals[t1], normals[t2]) > kSharpCosine) return;
    markSharp(h1);
    markSharp(h2);
  });
  std::int32_t anyMissing = 0;
  for (const std::int32_t half : opposite) anyMissing |= half;
  if (anyMissing >= 0) return;
  hasPseudonormals = false;
  for (int h = 0; h < static_cast<int>(opposite.size()); ++h)
    if (opposite[h] < 0) markSharp(h);
}

void MeshData::turnOutward() {
  Real sixVolumes = 0;
  for (const Triangle& t : triangles) {
    const Vec3 a = vertices[t[0]] - center;
    sixVolumes += dot(a, cross(vertices[t[1]] - center, vertices[t[2]] - center));
  }
  if (sixVolumes >= 0) return;
  flipped = true;
  for (int t = 0; t < numTriangles(); ++t) {
    std::swap(triangles[t][1], triangles[t][2]);
    normals[t] = -normals[t];
    std::swap(opposite[3 * t], opposite[3 * t + 2]);
    const int sharp = sharpEdges[t];
    sharpEdges[t] =
        static_cast<std::uint8_t>((sharp & 2) | ((sharp & 1) << 2) | ((sharp & 4) >> 2));
  }
  // Vertices 1 and 2 changed places, so edges 0 and 2 did.
  for (std::int32_t& h : opposite)
    if (h >= 0 && h % 3 != 1) h += h % 3 == 0 ? 2 : -2;
}

VolumeIntegrals MeshData::integrals() const {
  VolumeIntegrals volume;
  volume.origin = center;
  for (const Triangle& t : triangles)
    volume.addTriangle(vertices[t[0]], vertices[t[1]], vertices[t[2]]);
  return volume;
}

void MeshData::buildTree(core::Arena& scratch) {
  const core::ArenaScope scope(scratch);
  bvh.setFrame(bounds);
  bvh.order.reserve(triangles.size());
  corners.reserve(3 * triangles.size());
  const std::span<Float4> unit = scratch.allocateArray<Float4>(vertices.size());
  for (std::size_t v = 0; v < vertices.size(); ++v) {
    const Vec3 u = bvh.toUnit(vertices[v]);
    unit[v] = Float4{float(u.x), float(u.y), float(u.z), 0};
  }
  const std::span<CellItem> room = scratch.allocateArray<CellItem>(triangles.size());
  TriangleSource source{*this, unit.data()};
  BvhBuilder<TriangleSource>(source, room, bvh.nodes).run();
}

const std::vector<NodeFacing>& MeshData::nodeFacing() const {
  std::call_once(facing_once_, [this] {
    facing_ = makeNodeFacing();
    unit_corners_.resize(3 * (corners.size() + 3 * Bvh::kLeafSize));
    float* out = unit_corners_.data();
    for (const Vec3& corner : corners) {
      const Vec3 u = bvh.toUnit(corner);
      for (int k = 0; k < 3; ++k) *out++ = float(u[k]);
    }
  });
  return facing_;
}

const std::vector<float>& MeshData::unitCorners() const {
  (void)nodeFacing();
  return unit_corners_;
}

std::vector<NodeFacing> MeshData::makeNodeFacing() const {
  // How far normals at a vertex are from their mean; a rim takes part in every direction.
  std::vector<Vec3> mean(vertices.size());
  std::vector<Real> least(vertices.size(), 1);
  for (int t = 0; t < numTriangles(); ++t)
    for (int k = 0; k < 3; ++k) {
      mean[triangles[t][k]] += normals[t];
      if (opposite[3 * t + k] < 0) least[triangles[t][k]] = least[triangles[t][(k + 1) % 3]] = -1;
    }
  for (Vec3& m : mean) {
    const Real length = norm(m);
    m = length > 0 ? m / length : Vec3{};
  }
  const auto smaller = [](Real a, Real b) { return a < b ? a : b; };
  const auto larger = [](Real a, Real b) { return a > b ? a : b; };
  for (int t = 0; t < numTriangles(); ++t)
    for (const int v : triangles[t]) least[v] = smaller(least[v], dot(mean[v], normals[t]));

  constexpr Real kPi = 3.14159265358979;
  struct Facing {
    Vec3 axis{0, 0, 1};
    Real lower = -4, upper = 4;  // beyond all unit coordinates
    Real angle = kPi;
  };
  const auto around = [&](int begin, int end) {
    Facing out;
    Vec3 sum{};
    for (int s = begin; s < end; ++s) sum += normals[bvh.order[s]];
    const Real length = norm(sum);
    if (!(length > 0)) return out;
    out.axis = sum / length;
    Real lower = std::numeric_limits<Real>::infinity(), upper = -lower;
    Real toMean = 1, fromMean = 1;
    for (int s = begin; s < end; ++s)
      for (int k = 0; k < 3; ++k) {
        const int v = triangles[bvh.order[s]][k];
        const Real height = dot(out.axis, corners[3 * s + k] - bvh.center);
        lower = smaller(lower, height);
        upper = larger(upper, height);
        toMean = smaller(toMean, dot(out.axis, mean[v]));
        fromMean = smaller(fromMean, least[v]);
      }
    constexpr Real kRound = 4 * Real(Bvh::kUnitSlack);
    out.lower = lower * bvh.inverseScale - kRound;
    out.upper = upper * bvh.inverseScale + kRound;
    if (fromMean > 0 && toMean > 0) out.angle = core::acos(toMean) + core::acos(fromMean);
    return out;
  };
  // From the leaves up: the builder puts children behind their parents.
  std::vector<NodeFacing> out(bvh.nodes.size());
  std::vector<std::pair<int, int>> slots(bvh.nodes.size());
  for (int n = static_cast<int>(bvh.nodes.size()) - 1; n >= 0; --n) {
    const BvhNode& node = bvh.nodes[n];
    int begin = static_cast<int>(bvh.order.size()), end = 0;
    for (int i = 0; i < 4; ++i) {
      Facing facing;
      if (node.count[i] >= 0) {
        const int first = node.count[i] > 0 ? node.child[i] : slots[node.child[i]].first;
        const int last =
            node.count[i] > 0 ? node.child[i] + node.count[i] : slots[node.child[i]].second;
        begin = std::min(begin, first);
        end = std::max(end, last);
        // So many triangles face everywhere: not worth the sums.
        if (last - first <= 4096) facing = around(first, last);
      }
      const bool all = !(facing.angle < kPi / 2);
      for (int k = 0; k < 3; ++k) out[n].axis[k][i] = float(facing.axis[k]);
      out[n].lower[i] = float(facing.lower);
      out[n].upper[i] = float(facing.upper);
      out[n].cosine[i] = all ? -1 : float(core::cos(facing.angle));
      out[n].sine[i] = all ? 0 : float(core::sin(facing.angle));
    }
    slots[n] = {begin, end};
  }
  return out;
}

Vec3 supportOfMesh(const MeshData& mesh, const Vec3& direction, const Vec3* start) {
  const Bvh& bvh = mesh.bvh;
  const Vec3 d = scaledDirection(direction);
  Vec3 best = start ? *start : mesh.corners[0];
  if (d == Vec3{}) return best;
  Real bestDot = dot(best, d);
  const Float4 dx = splat(float(d.x)), dy = splat(float(d.y)), dz = splat(float(d.z));

  // Heights with the sign turned, so that the highest come first.
  const auto depths = [&](const BvhNode& node) {
    return -(max4(node.lower[0] * dx, node.upper[0] * dx) +
             max4(node.lower[1] * dy, node.upper[1] * dy) +
             max4(node.lower[2] * dz, node.upper[2] * dz));
  };
  const Real centerDot = dot(bvh.center, d);
  const auto reached = [&] { return 4e-6f - float((bestDot - centerDot) * bvh.inverseScale); };
  visitNearestFirst(bvh, depths, reached, [&](int slot, int count) {
    for (int i = 3 * slot; i < 3 * (slot + count); ++i) {
      const Real s = dot(mesh.corners[i], d);
      if (s > bestDot) {
        bestDot = s;
        best = mesh.corners[i];
      }
    }
    return false;
  });
  return best;
}

}  // namespace tangere::geometry
