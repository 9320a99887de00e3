// SPDX-License-Identifier: Apache-2.0
#include "geometry/mesh_data.hpp"

#include "core/elementary.hpp"
#include "geometry/bvh_nearest.hpp"
#include "geometry/limits.hpp"
#include "geometry/query_helpers.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

namespace tangere::geometry {

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
  takeTriangles(inputTriangles);
  if (closed) turnOutward();
  buildTree();

  type = ShapeType::Mesh;
  mesh = this;
  convex.center = center;
  convex.boundingRadius = radius;
}

void MeshData::takeTriangles(std::span<const Triangle> input) {
  const int n = static_cast<int>(vertices.size());
  triangles.reserve(input.size());
  normals.reserve(input.size());
  std::vector<int> kept(input.size(), -1);
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
      continue;
    }
    kept[i] = static_cast<int>(triangles.size());
    triangles.push_back(t);
    normals.push_back(normal / std::sqrt(area2));
  }
  TANGERE_REQUIRE(!triangles.empty(), "mesh has no triangle with an area", input.size());
  connect(input, kept);

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
void MeshData::connect(std::span<const Triangle> all, std::span<const int> kept) {
  struct Rising {
    std::int32_t upper;
    std::int32_t half;   // in `all`
    std::int32_t match;  // -1: none yet; -2: more than one
  };
  const auto isPoint = [](const Triangle& t) {
    return t[0] == t[1] || t[1] == t[2] || t[2] == t[0];
  };
  const int numVertices = static_cast<int>(vertices.size());
  std::vector<std::int32_t> start(numVertices + 1, 0);
  for (const Triangle& t : all)
    for (int k = 0; k < 3 && !isPoint(t); ++k) {
      const int u = t[k], v = t[k == 2 ? 0 : k + 1];
      if (u < v) ++start[u + 1];
    }
  for (int v = 0; v < numVertices; ++v) start[v + 1] += start[v];
  std::vector<Rising> rising(start[numVertices]);
  {
    std::vector<std::int32_t> next(start.begin(), start.end() - 1);
    for (std::size_t i = 0; i < all.size(); ++i)
      for (int k = 0; k < 3 && !isPoint(all[i]); ++k) {
        const int u = all[i][k], v = all[i][k == 2 ? 0 : k + 1];
        if (u < v) rising[next[u]++] = {v, static_cast<std::int32_t>(3 * i + k), -1};
      }
  }
  bool paired = true;
  const auto rawHalf = [&](std::size_t i, int k) { return static_cast<std::int32_t>(3 * i + k); };
  constexpr int kLongList = 24;
  // Fans with very many spokes would make the searches quadratic: sort those lists.
  std::vector<char> sorted;
  for (int v = 0; v < numVertices; ++v) {
    if (start[v + 1] - start[v] <= kLongList) continue;
    if (sorted.empty()) sorted.assign(numVertices, 0);
    sorted[v] = 1;
    std::sort(rising.begin() + start[v], rising.begin() + start[v + 1],
              [](const Rising& a, const Rising& b) {
                return a.upper != b.upper ? a.upper < b.upper : a.half < b.half;
              });
  }
  for (std::size_t i = 0; i < all.size(); ++i)
    for (int k = 0; k < 3 && !isPoint(all[i]); ++k) {
      const int u = all[i][k], v = all[i][k == 2 ? 0 : k + 1];
      if (u <= v) continue;
      int begin = start[v], end = start[v + 1];
      if (!sorted.empty() && sorted[v]) {
        const auto lower =
            std::lower_bound(rising.begin() + begin, rising.begin() + end, u,
                             [](const Rising& a, int value) { return a.upper < value; });
        begin = static_cast<int>(lower - rising.begin());
        int stop = begin;
        while (stop < end && rising[stop].upper == u) ++stop;
        end = stop;
      }
      int found = -1, number = 0;
      for (int e = begin; e < end; ++e)
        if (rising[e].upper == u) {
          ++number;
          found = e;
        }
      if (number == 1 && rising[found].match == -1) {
        rising[found].match = rawHalf(i, k);
      } else {
        paired = false;
        for (int e = begin; e < end; ++e)
          if (rising[e].upper == u) rising[e].match = -2;
      }
    }
  opposite.assign(3 * triangles.size(), -1);
  for (const Rising& e : rising) {
    if (e.match < 0) {
      paired = false;
      continue;
    }
    const int t1 = kept[e.half / 3], t2 = kept[e.match / 3];
    if (t1 < 0 || t2 < 0) continue;
    const int h1 = 3 * t1 + e.half % 3, h2 = 3 * t2 + e.match % 3;
    opposite[h1] = h2;
    opposite[h2] = h1;
  }
  sharpEdges.assign(triangles.size(), 0);
  for (int h = 0; h < static_cast<int>(opposite.size()); ++h) {
    const int other = opposite[h];
    if (other > h) continue;  // done from the other side
    if (other >= 0 && dot(normals[h / 3], normals[other / 3]) > kSharpCosine) continue;
    sharpEdges[h / 3] |= static_cast<std::uint8_t>(1 << h % 3);
    if (other >= 0) sharpEdges[other / 3] |= static_cast<std::uint8_t>(1 << other % 3);
  }
  closed = paired;
  bool complete = true;
  for (const std::int32_t half : opposite) complete = complete && half >= 0;
  hasPseudonormals = closed && complete;
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

void MeshData::buildTree() {
  bvh.setFrame(bounds);
  // Not cleared first: that shows.
  const auto primitives = std::make_unique_for_overwrite<BvhPrimitive[]>(triangles.size());
  {
    const auto unit = std::make_unique_for_overwrite<Float4[]>(vertices.size());
    for (std::size_t v = 0; v < vertices.size(); ++v) {
      const Vec3 u = bvh.toUnit(vertices[v]);
      unit[v] = Float4{float(u.x), float(u.y), float(u.z), 0};
    }
    for (int t = 0; t < numTriangles(); ++t) {
      const Float4 a = unit[triangles[t][0]], b = unit[triangles[t][1]], c = unit[triangles[t][2]];
      primitives[t] = Bvh::primitive(min4(a, min4(b, c)), max4(a, max4(b, c)), t);
    }
  }
  bvh.build({primitives.get(), triangles.size()});
  corners.resize(3 * triangles.size());
  for (std::size_t s = 0; s < bvh.order.size(); ++s)
    for (int k = 0; k < 3; ++k) corners[3 * s + k] = corner(bvh.order[s], k);
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

Vec3 supportOfMesh(const MeshData& mesh, const Vec3& direction) {
  const Bvh& bvh = mesh.bvh;
  const Vec3 d = scaledDirection(direction);
  Vec3 best = mesh.corners[0];
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
