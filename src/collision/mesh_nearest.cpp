// SPDX-License-Identifier: Apache-2.0
#include "collision/mesh_nearest.hpp"

#include "collision/kernels/convex_manifold.hpp"
#include "collision/kernels/triangle_triangle.hpp"
#include "collision/mesh_dual_tree.hpp"
#include "geometry/signed_distance.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

namespace tangere::collision {

using geometry::MeshPoint;

namespace {

/// The point of the surface nearest to p that the walk downhill from `at` over neighbouring
/// triangles leads to.
MeshPoint walkTowards(const MeshData& mesh, const Vec3& p, MeshPoint at) {
  using kernel::TriangleFeature;
  const auto look = [&](int t, MeshPoint& best) {
    const kernel::TrianglePoint<Real> q =
        kernel::closestOnTriangle(p, mesh.corner(t, 0), mesh.corner(t, 1), mesh.corner(t, 2));
    const Real d2 = squaredNorm(p - q.point);
    if (d2 < best.squaredDistance) best = {d2, q.point, t, q.feature};
  };
  at.squaredDistance = std::numeric_limits<Real>::infinity();
  look(at.triangle, at);
  constexpr int kMaxSteps = 200;
  for (int step = 0; step < kMaxSteps && at.feature != TriangleFeature::Face; ++step) {
    MeshPoint next = at;
    if (at.feature >= TriangleFeature::Edge0) {
      const int k = static_cast<int>(at.feature) - static_cast<int>(TriangleFeature::Edge0);
      const int half = mesh.opposite[3 * at.triangle + k];
      if (half >= 0) look(half / 3, next);
    } else {
      mesh.visitFan(at.triangle, static_cast<int>(at.feature), [&](int t, int) {
        look(t, next);
        return true;
      });
    }
    if (next.triangle == at.triangle) break;
    at = next;
  }
  return at;
}

/// Goes to and fro between the surfaces by such walks until that gains little.
void walkToAndFro(const MeshData& a, const MeshData& b, const Transform& X_AB, MeshPoint onA,
                  MeshPoint onB, NearestPair& best) {
  constexpr int kMaxRounds = 24;
  for (int round = 0; round < kMaxRounds; ++round) {
    const Vec3 q = X_AB * onB.point;
    onA = walkTowards(a, q, onA);
    const Real d = std::sqrt(onA.squaredDistance);
    if (!(d < best.distance)) return;
    const bool settled = best.distance - d < Real(1e-5) * d;
    best = {d, onA.point, q, onA.triangle, onB.triangle};
    if (settled) return;
    onB = walkTowards(b, inverseTimes(X_AB, onA.point), onB);
  }
}

}  // namespace

NearestPair guessNearest(const MeshData& a, const MeshData& b, const Transform& X_AB, Real bound) {
  NearestPair best{bound};
  Vec3 p = a.center + (X_AB * b.center - a.center) * Real(0.5);
  // The search through a tree is for places that a walk does not lead to: it need not be exact.
  constexpr Real kShare = 0.9;
  constexpr int kMaxRounds = 4;
  for (int round = 0; round < kMaxRounds; ++round) {
    const bool first = best.triangleA < 0;
    const Real within = first ? std::numeric_limits<Real>::infinity() : best.distance;
    const MeshPoint onB = geometry::closeOnMesh(b, inverseTimes(X_AB, p), within, kShare);
    if (onB.triangle < 0) break;
    const Vec3 q = X_AB * onB.point;
    const Real back = first ? std::numeric_limits<Real>::infinity()
                            : std::sqrt(onB.squaredDistance) * (1 + Real(1e-12));
    const MeshPoint onA = geometry::closeOnMesh(a, q, back, kShare);
    if (onA.triangle < 0) break;
    const Real before = best.distance;
    walkToAndFro(a, b, X_AB, onA, onB, best);
    if (best.triangleA < 0 || before - best.distance < Real(1e-4) * best.distance) break;
    p = best.onA;
  }
  return best;
}

namespace {

// std::fmax is a call into libm.
Real larger(Real x, Real y) { return x > y ? x : y; }

/// Takes two triangles, v being that of B in the frame of A, when they are nearer than the best.
bool compareTriangles(const MeshData& a, const MeshData& b, int slotA, int slotB, const Vec3* v,
                      NearestPair& best) {
  const Real bound2 = best.distance * best.distance;
  const Vec3* const u = &a.corners[3 * slotA];
  if (kernel::areFarApart(u, v, bound2)) return false;
  Vec3 p, q;
  const Real d2 = kernel::squaredDistanceTriangles(u, v, bound2, &p, &q);
  if (!(d2 < bound2)) return false;
  best = {std::sqrt(d2), p, q, a.bvh.order[slotA], b.bvh.order[slotB]};
  return true;
}

/// A triangle with how far it reaches along a direction.
struct Reach {
  Real value;
  int slot;
};

/// Triangles of a mesh that reach at least to `limit` along `direction`; false when there are more
/// than `most`.
bool gatherReach(const MeshData& mesh, const Vec3& direction, Real limit, std::size_t most,
                 std::vector<Reach>& out) {
  const Bvh& bvh = mesh.bvh;
  Float4 n[3];
  for (int k = 0; k < 3; ++k) n[k] = splat(float(direction[k]));
  const float bound = float((limit - dot(direction, bvh.center)) * bvh.inverseScale) - 4e-6f;
  std::int32_t stack[Bvh::kStackSize];
  int size = 0;
  stack[size++] = 0;
  while (size > 0) {
    const BvhNode& node = bvh.nodes[stack[--size]];
    const Float4 top = max4(node.lower[0] * n[0], node.upper[0] * n[0]) +
                       max4(node.lower[1] * n[1], node.upper[1] * n[1]) +
                       max4(node.lower[2] * n[2], node.upper[2] * n[2]);
    int mask = maskOf(top >= splat(bound));
    for (int i = 0; mask != 0; ++i, mask >>= 1) {
      if (!(mask & 1) || node.count[i] < 0) continue;
      if (node.count[i] == 0) {
        stack[size++] = node.child[i];
        continue;
      }
      for (int s = node.child[i]; s < node.child[i] + node.count[i]; ++s) {
        const Vec3* v = &mesh.corners[3 * s];
        const Real reach =
            larger(dot(direction, v[0]), larger(dot(direction, v[1]), dot(direction, v[2])));
        if (!(reach >= limit)) continue;
        if (out.size() == most) return false;
        out.push_back({reach, s});
      }
    }
  }
  return true;
}

/// Compares triangles of A that reach far along n with triangles of B that reach far against it.
/// `shiftB` is what turns a reach of B into a height along n.
void compareReaches(const MeshData& a, const MeshData& b, const Transform& X_AB,
                    std::span<const Reach> nearA, std::span<const Reach> nearB, Real shiftB,
                    NearestPair& best) {
  for (const Reach& rb : nearB) {
    const Real low = shiftB - rb.value;
    Vec3 v[3];
    bool moved = false;
    for (const Reach& ra : nearA) {
      if (low - ra.value >= best.distance) continue;
      if (!moved)
        for (int k = 0; k < 3; ++k) v[k] = X_AB * b.corners[3 * rb.slot + k];
      moved = true;
      compareTriangles(a, b, ra.slot, rb.slot, v, best);
    }
  }
}

/// A triangle seen along the direction of the reaches: its box across, and how far it reaches.
struct Shadow {
  Real lower[2], upper[2];
  Real height;  // along the direction: the top of a triangle of A, the bottom of one of B
  int slot;
};

/// `axis` are the directions across in the frame of the mesh, `shift` what turns coordinates along
/// them into those of A.
void castShadows(const MeshData& mesh, std::span<const Reach> reaches, const Vec3* axis,
                 const Real* shift, std::vector<Shadow>& out) {
  out.clear();
  for (const Reach& r : reaches) {
    const Vec3* const v = &mesh.corners[3 * r.slot];
    Shadow shadow;
    for (int k = 0; k < 2; ++k) {
      const Real x = dot(axis[k], v[0]), y = dot(axis[k], v[1]), z = dot(axis[k], v[2]);
      shadow.upper[k] = larger(x, larger(y, z)) + shift[k];
      shadow.lower[k] = -larger(-x, larger(-y, -z)) + shift[k];
    }
    shadow.height = r.value;
    shadow.slot = r.slot;
    out.push_back(shadow);
  }
  std::sort(out.begin(), out.end(), [](const Shadow& x, const Shadow& y) {
    return x.lower[0] != y.lower[0] ? x.lower[0] < y.lower[0] : x.slot < y.slot;
  });
}

/// The same as compareReaches() for long lists: where the bodies are all but touching along the
/// direction, triangles that are not across from each other are too far apart. Sweeps over the
/// shadows in the order of one axis. `gap` is between the bodies, along n.
void compareShadows(const MeshData& a, const MeshData& b, const Transform& X_AB, const Vec3& n,
                    std::span<const Reach> nearA, std::span<const Reach> nearB, Real shiftB,
                    Real gap, NearestPair& best) {
  thread_local std::vector<Shadow> shadowsA, shadowsB;
  Vec3 across[2];
  kernel::completeFrame(n, &across[0], &across[1]);
  const Vec3 across_B[2] = {transposeTimes(X_AB.rotation, across[0]),
                            transposeTimes(X_AB.rotation, across[1])};
  const Real none[2] = {0, 0};
  const Real shift[2] = {dot(across[0], X_AB.translation), dot(across[1], X_AB.translation)};
  castShadows(a, nearA, across, none, shadowsA);
  castShadows(b, nearB, across_B, shift, shadowsB);
  const Real sideways = std::sqrt(larger(best.distance * best.distance - gap * gap, 0)) +
                        Real(1e-12) * (a.radius + b.radius);
  Real widest = 0;
  for (const Shadow& s : shadowsB) widest = larger(widest, s.upper[0] - s.lower[0]);
  std::size_t first = 0;
  for (const Shadow& sa : shadowsA) {
    while (first < shadowsB.size() && shadowsB[first].lower[0] < sa.lower[0] - sideways - widest)
      ++first;
    for (std::size_t j = first; j < shadowsB.size(); ++j) {
      const Shadow& sb = shadowsB[j];
      if (sb.lower[0] > sa.upper[0] + sideways) break;
      const Real up = larger(shiftB - sb.height - sa.height, 0);
      const Real x = larger(larger(sa.lower[0] - sb.upper[0], sb.lower[0] - sa.upper[0]), 0);
      const Real y = larger(larger(sa.lower[1] - sb.upper[1], sb.lower[1] - sa.upper[1]), 0);
      // Short of the bound by more than rounding.
      if ((up * up + x * x + y * y) * (1 - Real(1e-12)) >= best.distance * best.distance) continue;
      Vec3 v[3];
      for (int k = 0; k < 3; ++k) v[k] = X_AB * b.corners[3 * sb.slot + k];
      compareTriangles(a, b, sa.slot, sb.slot, v, best);
    }
  }
}

}  // namespace

PlaneRefinement refineAcrossPlane(const MeshData& a, const MeshData& b, const Transform& X_AB,
                                  NearestPair& best) {
  constexpr std::size_t kMost = 1000, kFewPairs = 10000, kMostPairs = 40000;
  thread_local std::vector<Reach> nearA, nearB;
  if (!(best.distance > 0)) return PlaneRefinement::Unknown;
  const Vec3 n = (best.onB - best.onA) / best.distance;  // from A to B
  const Vec3 n_B = transposeTimes(X_AB.rotation, n);
  const Real shiftB = dot(n, X_AB.translation);
  const Real topA = dot(n, geometry::supportOfMesh(a, n, &best.onA));
  const Vec3 onB_B = inverseTimes(X_AB, best.onB);
  const Real lowB = shiftB + dot(n_B, geometry::supportOfMesh(b, -n_B, &onB_B));
  if (!(lowB > topA)) return PlaneRefinement::Unknown;
  nearA.clear();
  nearB.clear();
  if (!gatherReach(a, n, lowB - best.distance, kMost, nearA) ||
      !gatherReach(b, -n_B, shiftB - (topA + best.distance), kMost, nearB))
    return PlaneRefinement::Separated;
  if (nearA.size() * nearB.size() > kMostPairs) return PlaneRefinement::Separated;
  if (nearA.size() * nearB.size() <= kFewPairs)
    compareReaches(a, b, X_AB, nearA, nearB, shiftB, best);
  else
    compareShadows(a, b, X_AB, n, nearA, nearB, shiftB, lowB - topA, best);
  return PlaneRefinement::Nearest;
}

void searchNearest(const MeshData& a, const MeshData& b, const Transform& X_AB, NearestPair& best) {
  DualTraversal both(a, b, X_AB);
  Vec3 n{};
  const auto turn = [&] {
    if (best.triangleA < 0 || !(best.distance > 0)) return;
    n = (best.onB - best.onA) / best.distance;
    both.setDirection(n, X_AB);
  };
  turn();
  both.visitNearest(best.distance, [&](int slotA, int countA, int slotB, int countB) {
    bool nearer = false;
    Real top[Bvh::kLeafSize];
    for (int i = 0; i < countA; ++i) {
      const Vec3* u = &a.corners[3 * (slotA + i)];
      top[i] = larger(dot(n, u[0]), larger(dot(n, u[1]), dot(n, u[2])));
    }
    for (int j = slotB; j < slotB + countB; ++j) {
      Vec3 v[3];
      for (int k = 0; k < 3; ++k) v[k] = X_AB * b.corners[3 * j + k];
      const Real low = -larger(-dot(n, v[0]), larger(-dot(n, v[1]), -dot(n, v[2])));
      for (int i = 0; i < countA; ++i)
        if (low - top[i] < best.distance) nearer |= compareTriangles(a, b, slotA + i, j, v, best);
    }
    if (nearer) turn();
  });
}

}  // namespace tangere::collision
