// SPDX-License-Identifier: Apache-2.0
#include "model/pressure_core.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace tangere::model {

namespace {

/// Of the lengths of the gradients around a vertex, what their sum may be at most. At the middle of
/// a plate it is 0, at the edge of a box 0.7, at its corner 0.58.
constexpr Real kCancelled = 0.5;

/// Vertices with this part of the highest pressure are core in any case: ends of the middle of a
/// box, where the gradients of three sides do not cancel.
constexpr Real kHighest = 0.999;

/// Pieces of an edge of the core at most.
constexpr int kMostPieces = 32;

Real volumeOf(std::span<const Vec3> vertices, const Tet& tet) {
  const Vec3& a = vertices[tet[0]];
  return std::fabs(dot(cross(vertices[tet[1]] - a, vertices[tet[2]] - a), vertices[tet[3]] - a)) /
         6;
}

/// A point of a triangle or an edge, of corners that are all core.
CorePoint mean(std::span<const Vec3> vertices, std::span<const Real> pressure,
               std::span<const std::int32_t> corner, std::span<const Real> weight) {
  CorePoint out;
  for (std::size_t k = 0; k < corner.size(); ++k) {
    out.place += vertices[corner[k]] * weight[k];
    out.pressure += pressure[corner[k]] * weight[k];
  }
  return out;
}

int piecesOf(Real length, Real spacing) {
  return std::clamp(static_cast<int>(std::ceil(std::min(length / spacing, Real(kMostPieces)))), 1,
                    kMostPieces);
}

/// Edges and triangles of the core, each once, in order of their vertices.
template <int N>
std::vector<std::array<std::int32_t, N>> simplicesOf(std::span<const Tet> tets,
                                                     std::span<const std::int32_t> core) {
  std::vector<std::array<std::int32_t, N>> out;
  const auto isCore = [&](std::int32_t v) {
    return std::binary_search(core.begin(), core.end(), v);
  };
  for (const Tet& tet : tets) {
    for (unsigned chosen = 0; chosen < 16; ++chosen) {
      std::array<std::int32_t, N> corner{};
      int count = 0;
      bool isTaken = true;
      for (unsigned k = 0; k < 4; ++k) {
        if ((chosen >> k & 1u) == 0) continue;
        isTaken = isTaken && count < N && isCore(tet[k]);
        if (isTaken) corner[static_cast<std::size_t>(count++)] = tet[k];
      }
      if (!isTaken || count != N) continue;
      std::stable_sort(corner.begin(), corner.end());
      out.push_back(corner);
    }
  }
  std::stable_sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

}  // namespace

std::vector<std::int32_t> coreVertices(std::span<const Vec3> vertices, std::span<const Tet> tets,
                                       std::span<const Real> pressure,
                                       std::span<const Vec3> gradient) {
  std::vector<Vec3> sum(vertices.size(), Vec3{});
  std::vector<Real> length(vertices.size(), 0);
  for (std::size_t t = 0; t < tets.size(); ++t) {
    const Real volume = volumeOf(vertices, tets[t]);
    for (const std::int32_t v : tets[t]) {
      sum[v] += gradient[t] * volume;
      length[v] += norm(gradient[t]) * volume;
    }
  }
  const Real most = *std::max_element(pressure.begin(), pressure.end());
  std::vector<std::int32_t> out;
  for (std::size_t v = 0; v < vertices.size(); ++v) {
    const bool isHighest = pressure[v] >= kHighest * most;
    const bool isRidge = pressure[v] > 0 && norm(sum[v]) < kCancelled * length[v];
    if (isHighest || isRidge) out.push_back(static_cast<std::int32_t>(v));
  }
  return out;
}

std::vector<CorePoint> sampleCore(std::span<const Vec3> vertices, std::span<const Tet> tets,
                                  std::span<const Real> pressure, std::span<const Vec3> gradient,
                                  Real spacing) {
  const std::vector<std::int32_t> core = coreVertices(vertices, tets, pressure, gradient);
  std::vector<CorePoint> out;
  for (const std::int32_t v : core) out.push_back({vertices[v], pressure[v]});
  for (const auto& edge : simplicesOf<2>(tets, core)) {
    const int n = piecesOf(norm(vertices[edge[1]] - vertices[edge[0]]), spacing);
    for (int i = 1; i < n; ++i) {
      const Real part = Real(i) / Real(n);
      const Real weight[2] = {1 - part, part};
      out.push_back(mean(vertices, pressure, edge, weight));
    }
  }
  for (const auto& face : simplicesOf<3>(tets, core)) {
    Real longest = 0;
    for (std::size_t k = 0; k < 3; ++k)
      longest = std::max(longest, norm(vertices[face[k]] - vertices[face[(k + 1) % 3]]));
    const int n = piecesOf(longest, spacing);
    for (int i = 1; i < n; ++i) {
      for (int j = 1; i + j < n; ++j) {
        const Real weight[3] = {Real(i) / n, Real(j) / n, Real(n - i - j) / n};
        out.push_back(mean(vertices, pressure, face, weight));
      }
    }
  }
  return out;
}

}  // namespace tangere::model
