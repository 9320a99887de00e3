// SPDX-License-Identifier: Apache-2.0
#include "collision/pressure_small_sets.hpp"

#include "collision/kernels/tet_tet_surface.hpp"
#include "core/stable_sort.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace tangere::collision {

namespace {

using kernel::ComparedField;
using kernel::FlatTriangle;
using kernel::PressureTet;

constexpr std::size_t kMaxElements = 512;
constexpr Real kInfinity = std::numeric_limits<Real>::infinity();

/// Room for rounding in a bound on pressures, relative to the largest.
constexpr Real kPressureSlack = 1e-9;

/// What a vertex is compared by: its place in the frames of both bodies, along the line between
/// them, and its pressure.
constexpr int kNumMeasures = 8;
constexpr int kAlongLine = 6, kPressure = 7;
using Measures = std::array<Real, kNumMeasures>;

struct Bounds {
  Measures lower, upper;
};

/// The vertices of one body, and those of the elements that are left.
struct SmallSet {
  std::vector<Measures> measures;
  std::vector<std::uint16_t> beyond;  ///< of each vertex: the bounds that it lies beyond
  std::vector<std::int32_t> place;    ///< of each vertex in the arrays below; -1: in none
  std::vector<Vec3> x;                ///< in the frame of the first body
  std::vector<Real> pressure;
  std::vector<std::array<std::int32_t, 4>> corner;  ///< places, of each tet that is left
};

struct SmallPair {
  SmallSet a, b;
  std::vector<Real> value;         ///< of each vertex that is left
  std::vector<std::uint8_t> isUp;  ///< likewise: that value is positive
};

SmallPair& smallMemory() {
  thread_local SmallPair pair;
  return pair;
}

/// `inFrames(vertex, inA, inB)` gives the place in both frames.
template <class InFrames>
Bounds measure(const PressureMesh& mesh, const InFrames& inFrames, const Vec3& line,
               bool hasPressure, SmallSet* set) {
  const std::size_t n = mesh.vertices.size();
  Bounds bounds;
  bounds.lower.fill(kInfinity);
  bounds.upper.fill(-kInfinity);
  set->measures.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    Vec3 inA, inB;
    inFrames(mesh.vertices[i], &inA, &inB);
    const Measures m{inA.x, inA.y, inA.z,          inB.x,
                     inB.y, inB.z, dot(line, inA), hasPressure ? mesh.pressure[i] : Real(0)};
    for (int k = 0; k < kNumMeasures; ++k) {
      bounds.lower[k] = m[k] < bounds.lower[k] ? m[k] : bounds.lower[k];
      bounds.upper[k] = m[k] > bounds.upper[k] ? m[k] : bounds.upper[k];
    }
    set->measures[i] = m;
  }
  return bounds;
}

/// Where both bodies are; false when that is nowhere.
bool intersect(const Bounds& a, const Bounds& b, const Measures& margin, Bounds* out) {
  bool isSomewhere = true;
  for (int k = 0; k < kNumMeasures; ++k) {
    out->lower[k] = (a.lower[k] > b.lower[k] ? a.lower[k] : b.lower[k]) - margin[k];
    out->upper[k] = (a.upper[k] < b.upper[k] ? a.upper[k] : b.upper[k]) + margin[k];
    isSomewhere = isSomewhere && out->lower[k] <= out->upper[k];
  }
  return isSomewhere;
}

/// One bit for each bound that the vertex lies beyond.
unsigned boundsPassed(const Bounds& bounds, const Measures& m) {
  unsigned bits = 0;
#if defined(__SSE2__)
  for (int k = 0; k < kNumMeasures; k += 2) {
    const __m128d two = _mm_loadu_pd(&m[k]);
    const __m128d isBelow = _mm_cmplt_pd(two, _mm_loadu_pd(&bounds.lower[k]));
    const __m128d isAbove = _mm_cmpgt_pd(two, _mm_loadu_pd(&bounds.upper[k]));
    bits |= static_cast<unsigned>(_mm_movemask_pd(isBelow)) << k;
    bits |= static_cast<unsigned>(_mm_movemask_pd(isAbove)) << (k + kNumMeasures);
  }
#else
  for (int k = 0; k < kNumMeasures; ++k) {
    bits |= unsigned{m[k] < bounds.lower[k]} << k;
    bits |= unsigned{m[k] > bounds.upper[k]} << (k + kNumMeasures);
  }
#endif
  return bits;
}

void markBeyond(const Bounds& bounds, SmallSet* set) {
  const std::size_t n = set->measures.size();
  set->beyond.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    set->beyond[i] = static_cast<std::uint16_t>(boundsPassed(bounds, set->measures[i]));
  }
}

/// Takes both sets to where the bodies overlap. False when they do not.
bool overlapSets(const PressureMesh& a, const Aabb& boundsA, const PressureMesh& b,
                 const Aabb& boundsB, const Transform& X_AB, bool byPressure, SmallPair* pair) {
  const Vec3 line = X_AB * boundsB.center() - boundsA.center();
  const Transform X_BA = inverse(X_AB);
  const auto placeA = [&](const Vec3& x, Vec3* inA, Vec3* inB) {
    *inA = x;
    *inB = X_BA * x;
  };
  const auto placeB = [&](const Vec3& x, Vec3* inA, Vec3* inB) {
    *inA = X_AB * x;
    *inB = x;
  };
  const Bounds ofA = measure(a, placeA, line, byPressure, &pair->a);
  const Bounds ofB = measure(b, placeB, line, byPressure, &pair->b);
  const Real margin =
      kTouchMargin * (norm(boundsA.lower) + norm(boundsA.upper) + norm(boundsB.lower) +
                      norm(boundsB.upper) + norm(X_AB.translation));
  Measures margins;
  margins.fill(margin);
  margins[kAlongLine] = margin * kernel::absoluteSum(line);
  const auto largest = [](const Bounds& of) {
    return std::max(std::fabs(of.lower[kPressure]), std::fabs(of.upper[kPressure]));
  };
  margins[kPressure] = kPressureSlack * std::max(largest(ofA), largest(ofB));
  Bounds both;
  if (!intersect(ofA, ofB, margins, &both)) return false;
  markBeyond(both, &pair->a);
  markBeyond(both, &pair->b);
  return true;
}

std::int32_t placeOf(std::int32_t vertex, const PressureMesh& mesh, SmallSet* set) {
  std::int32_t& place = set->place[vertex];
  if (place < 0) {
    place = static_cast<std::int32_t>(set->x.size());
    const Measures& m = set->measures[vertex];
    set->x.push_back({m[0], m[1], m[2]});
    set->pressure.push_back(mesh.pressure[vertex]);
  }
  return place;
}

/// The tets that are not beyond one of the bounds with all corners, in the frame of the first body.
void gatherTets(const PressureMesh& mesh, const Mat3& R, SmallSet* set, TetCandidates* out) {
  out->clear();
  set->place.assign(mesh.vertices.size(), -1);
  set->x.clear();
  set->pressure.clear();
  set->corner.clear();
  for (std::size_t i = 0; i < mesh.tets.size(); ++i) {
    const Tet& tet = mesh.tets[i];
    const unsigned beyond =
        set->beyond[tet[0]] & set->beyond[tet[1]] & set->beyond[tet[2]] & set->beyond[tet[3]];
    if (beyond != 0 || mesh.gradient[i] == Vec3{}) continue;
    out->index.push_back(static_cast<std::int32_t>(i));
    PressureTet<Real>& element = out->element.emplace_back();
    std::array<std::int32_t, 4>& corner = set->corner.emplace_back();
    for (int k = 0; k < 4; ++k) {
      const std::int32_t place = placeOf(tet[k], mesh, set);
      corner[k] = place;
      element.x[k] = set->x[place];
      element.pressure[k] = set->pressure[place];
    }
    element.gradient = R * mesh.gradient[i];
  }
}

/// Likewise the triangles.
void gatherTriangles(const PressureMesh& mesh, const Transform& X, const SmallSet& set,
                     TriangleCandidates* out) {
  out->clear();
  for (std::size_t i = 0; i < mesh.surface.size(); ++i) {
    const Triangle& t = mesh.surface[i];
    if ((set.beyond[t[0]] & set.beyond[t[1]] & set.beyond[t[2]]) != 0) continue;
    FlatTriangle<Real> triangle;
    if (!triangleOf(mesh, static_cast<std::int32_t>(i), &triangle)) continue;
    for (Vec3& x : triangle.x) x = X * x;
    triangle.normal = X.rotation * triangle.normal;
    out->index.push_back(static_cast<std::int32_t>(i));
    out->element.push_back(triangle);
  }
}

/// Fills pair->value of the places of `set` with valueOf(place), and isUp.
template <class ValueOf>
void evaluate(std::size_t size, const ValueOf& valueOf, SmallPair* pair) {
  pair->value.resize(size);
  pair->isUp.resize(size);
  for (std::size_t i = 0; i < size; ++i) {
    const Real value = valueOf(i);
    pair->value[i] = value;
    pair->isUp[i] = value > 0;
  }
}

bool isCut(const std::array<std::int32_t, 4>& corner, const std::vector<std::uint8_t>& isUp) {
  const int sum = isUp[corner[0]] + isUp[corner[1]] + isUp[corner[2]] + isUp[corner[3]];
  return sum != 0 && sum != 4;
}

}  // namespace

bool areSmall(const PressureMesh& a, const PressureMesh& b) {
  return a.tets.size() <= kMaxElements && b.tets.size() <= kMaxElements &&
         a.surface.size() <= kMaxElements && b.surface.size() <= kMaxElements;
}

bool areApart(const PressureMesh& a, const Aabb& boundsA, const PressureMesh& b,
              const Aabb& boundsB, const Transform& X_AB) {
  const auto squaredDistance = [](const Vec3& x, const Aabb& box) {
    Vec3 d;
    for (int k = 0; k < 3; ++k) {
      const Real below = box.lower[k] - x[k], above = x[k] - box.upper[k];
      const Real outside = below > above ? below : above;
      d[k] = outside > 0 ? outside : 0;
    }
    return squaredNorm(d);
  };
  const auto isBeyond = [](Real squared, Real radius) {
    return squared > radius * radius * (1 + kPressureSlack);
  };
  const Vec3 centerA = boundsA.center(), centerB = X_AB * boundsB.center();
  return isBeyond(squaredNorm(centerA - centerB), a.radius + b.radius) ||
         isBeyond(squaredDistance(centerB, boundsA), b.radius) ||
         isBeyond(squaredDistance(inverse(X_AB) * centerA, boundsB), a.radius);
}

void findSmallTetTetCuts(const PressureMesh& a, const PressureMesh& b, const Transform& X_AB,
                         PressureCandidates* out) {
  out->tetCuts.clear();
  SmallPair& pair = smallMemory();
  const Aabb boundsA = boundsOf(a.tetTree, a.vertices), boundsB = boundsOf(b.tetTree, b.vertices);
  if (areApart(a, boundsA, b, boundsB, X_AB)) return;
  if (!overlapSets(a, boundsA, b, boundsB, X_AB, true, &pair)) return;
  gatherTets(a, Mat3::identity(), &pair.a, &out->tets1);
  gatherTets(b, X_AB.rotation, &pair.b, &out->tets2);
  const SmallSet& second = pair.b;
  for (std::size_t i = 0; i < out->tets1.size(); ++i) {
    const PressureTet<Real>& tet1 = out->tets1.element[i];
    const ComparedField<Real> field1(tet1);
    evaluate(
        second.x.size(),
        [&](std::size_t v) { return kernel::excessOver(field1, second.x[v], second.pressure[v]); },
        &pair);
    for (std::size_t j = 0; j < out->tets2.size(); ++j) {
      const std::array<std::int32_t, 4>& corner = second.corner[j];
      if (!isCut(corner, pair.isUp)) continue;
      TetCut cut{.pair = {static_cast<std::int32_t>(i), static_cast<std::int32_t>(j)}, .cut = {}};
      kernel::excessPressure(tet1, out->tets2.element[j], cut.cut.excess1);
      if (!kernel::isCut(cut.cut.excess1)) continue;
      for (int k = 0; k < 4; ++k) cut.cut.excess2[k] = pair.value[corner[k]];
      out->tetCuts.push_back(cut);
    }
  }
}

void findSmallTetSurfaceCuts(const PressureMesh& a, const PressureMesh& b, const Transform& X_AB,
                             PressureCandidates* out) {
  out->triangleCuts.clear();
  SmallPair& pair = smallMemory();
  const Aabb boundsA = boundsOf(a.tetTree, a.vertices);
  const Aabb boundsB = boundsOf(b.surfaceTree, b.vertices);
  if (areApart(a, boundsA, b, boundsB, X_AB)) return;
  if (!overlapSets(a, boundsA, b, boundsB, X_AB, false, &pair)) return;
  gatherTets(a, Mat3::identity(), &pair.a, &out->tets1);
  gatherTriangles(b, X_AB, pair.b, &out->triangles2);
  const SmallSet& first = pair.a;
  for (std::size_t j = 0; j < out->triangles2.size(); ++j) {
    const FlatTriangle<Real>& triangle = out->triangles2.element[j];
    const Real edge = kernel::absoluteSum(triangle.x[1] - triangle.x[0]);
    evaluate(
        first.x.size(),
        [&](std::size_t v) { return kernel::heightOver(triangle, edge, first.x[v]); }, &pair);
    for (std::size_t i = 0; i < out->tets1.size(); ++i) {
      const std::array<std::int32_t, 4>& corner = first.corner[i];
      if (!isCut(corner, pair.isUp)) continue;
      TriangleCut cut{.pair = {static_cast<std::int32_t>(i), static_cast<std::int32_t>(j)},
                      .height = {}};
      for (int k = 0; k < 4; ++k) cut.height[k] = pair.value[corner[k]];
      out->triangleCuts.push_back(cut);
    }
  }
  core::stableSortByKey(out->triangleCuts, out->triangleScratch, [](const TriangleCut& cut) {
    return static_cast<std::uint64_t>(cut.pair.first) << 32 |
           static_cast<std::uint64_t>(cut.pair.second);
  });
}

}  // namespace tangere::collision
