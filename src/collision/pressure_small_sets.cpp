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
#include <numeric>

namespace tangere::collision {

namespace {

using kernel::ComparedField;
using kernel::FlatTriangle;
using kernel::PressureTet;

constexpr std::size_t kMaxElements = 512;
/// Of so few vertices none is worth leaving out.
constexpr std::size_t kFewVertices = 24;
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
  std::vector<std::int32_t> tets;      ///< that may reach the other body, ascending
  std::vector<std::int32_t> vertices;  ///< of these; all where there are few
  std::vector<std::uint8_t> isNear;    ///< of each vertex: it is on the other body's side
  std::vector<Measures> measures;
  std::vector<std::uint16_t> beyond;  ///< of each vertex: the bounds that it lies beyond
  std::vector<std::int32_t> place;    ///< of each vertex in the arrays below; -1: in none
  std::vector<Vec3> x;                ///< in the frame of the first body
  std::vector<Real> pressure;
  std::vector<std::array<std::int32_t, 4>> corner;  ///< places, of each tet that is left
};

/// Values of the vertices that are left, of some row after row.
struct VertexValues {
  std::vector<Real> value;
  std::vector<std::uint8_t> isUp;  ///< that value is positive
};

struct SmallPair {
  SmallSet a, b;
  VertexValues values, values1;
};

SmallPair& smallMemory() {
  thread_local SmallPair pair;
  return pair;
}

/// `inFrames(vertex, inA, inB)` gives the place in both frames.
template <class InFrames>
Bounds measure(const PressureMesh& mesh, const InFrames& inFrames, const Vec3& line,
               bool hasPressure, SmallSet* set) {
  Bounds bounds;
  bounds.lower.fill(kInfinity);
  bounds.upper.fill(-kInfinity);
  set->measures.resize(mesh.vertices.size());
  for (const std::int32_t i : set->vertices) {
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

void takeAll(const PressureMesh& mesh, SmallSet* set) {
  set->tets.resize(mesh.tets.size());
  set->vertices.resize(mesh.vertices.size());
  std::iota(set->tets.begin(), set->tets.end(), 0);
  std::iota(set->vertices.begin(), set->vertices.end(), 0);
}

/// A half space that a body lies in: direction . x >= offset, not a unit vector.
struct FarSide {
  Vec3 direction{};
  Real offset = -kInfinity;
};

/// The one farthest from `center` that holds the other body, given by its box or by its sphere; all
/// in the frame of that body. None that is farther away than `margin`: all of space.
FarSide farSideOf(const Aabb& bounds, Real radius, const Vec3& center, Real margin) {
  Vec3 toBox;
  for (int k = 0; k < 3; ++k) {
    const Real below = bounds.lower[k] - center[k], above = bounds.upper[k] - center[k];
    toBox[k] = below > 0 ? below : above < 0 ? above : 0;
  }
  const Vec3 toCenter = bounds.center() - center;
  const Real length = norm(toCenter), boxDistance = norm(toBox), sphereDistance = length - radius;
  if (!(boxDistance > margin || sphereDistance > margin)) return {};
  if (boxDistance >= sphereDistance)
    return {toBox, dot(toBox, center) + boxDistance * (boxDistance - margin)};
  return {toCenter, dot(toCenter, center) + length * (sphereDistance - margin)};
}

/// Takes the tets with a corner on the other body's side of a plane between the two.
void takeNear(const PressureMesh& mesh, const Aabb& bounds, const Aabb& otherBounds,
              Real otherRadius, const Transform& X_OM, Real margin, SmallSet* set) {
  if (mesh.vertices.size() <= kFewVertices) return takeAll(mesh, set);
  const FarSide side = farSideOf(otherBounds, otherRadius, X_OM * bounds.center(), margin);
  if (!(side.offset > -kInfinity)) return takeAll(mesh, set);
  const Vec3 direction = transposeTimes(X_OM.rotation, side.direction);
  const Real limit = side.offset - dot(side.direction, X_OM.translation);
  const std::size_t n = mesh.vertices.size();
  set->isNear.resize(n);
  for (std::size_t i = 0; i < n; ++i) set->isNear[i] = dot(direction, mesh.vertices[i]) >= limit;
  set->tets.clear();
  set->vertices.clear();
  set->place.assign(n, -1);
  for (std::size_t i = 0; i < mesh.tets.size(); ++i) {
    const Tet& tet = mesh.tets[i];
    const int numNear =
        set->isNear[tet[0]] + set->isNear[tet[1]] + set->isNear[tet[2]] + set->isNear[tet[3]];
    if (numNear == 0) continue;
    set->tets.push_back(static_cast<std::int32_t>(i));
    for (const std::int32_t v : tet) {
      if (set->place[v] >= 0) continue;
      set->place[v] = 0;
      set->vertices.push_back(v);
    }
  }
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
  set->beyond.resize(set->measures.size());
  for (const std::int32_t i : set->vertices) {
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
  const Real margin =
      kTouchMargin * (norm(boundsA.lower) + norm(boundsA.upper) + norm(boundsB.lower) +
                      norm(boundsB.upper) + norm(X_AB.translation));
  takeNear(a, boundsA, boundsB, b.radius, X_BA, margin, &pair->a);
  if (byPressure)
    takeNear(b, boundsB, boundsA, a.radius, X_AB, margin, &pair->b);
  else
    takeAll(b, &pair->b);  // its triangles count
  const Bounds ofA = measure(a, placeA, line, byPressure, &pair->a);
  const Bounds ofB = measure(b, placeB, line, byPressure, &pair->b);
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
  for (const std::int32_t i : set->tets) {
    const Tet& tet = mesh.tets[i];
    const unsigned beyond =
        set->beyond[tet[0]] & set->beyond[tet[1]] & set->beyond[tet[2]] & set->beyond[tet[3]];
    if (beyond != 0 || mesh.gradient[i] == Vec3{}) continue;
    out->index.push_back(i);
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

/// Fills row `row` with valueOf(place).
template <class ValueOf>
void evaluate(std::size_t row, std::size_t size, const ValueOf& valueOf, VertexValues* out) {
  out->value.resize(std::max(out->value.size(), (row + 1) * size));
  out->isUp.resize(out->value.size());
  Real* const values = out->value.data() + row * size;
  std::uint8_t* const isUp = out->isUp.data() + row * size;
  for (std::size_t i = 0; i < size; ++i) {
    const Real value = valueOf(i);
    values[i] = value;
    isUp[i] = value > 0;
  }
}

/// Row `row` of the excess of the pressures of the vertices over the field of the tet.
void evaluateExcess(const PressureTet<Real>& tet, std::size_t row, const SmallSet& set,
                    VertexValues* out) {
  const ComparedField<Real> field(tet);
  evaluate(
      row, set.x.size(),
      [&](std::size_t v) { return kernel::excessOver(field, set.x[v], set.pressure[v]); }, out);
}

bool isCut(const std::array<std::int32_t, 4>& corner, const std::uint8_t* isUp) {
  const int sum = isUp[corner[0]] + isUp[corner[1]] + isUp[corner[2]] + isUp[corner[3]];
  return sum != 0 && sum != 4;
}

void takeCorners(const std::array<std::int32_t, 4>& corner, const Real* value, Real* out) {
  for (int k = 0; k < 4; ++k) out[k] = value[corner[k]];
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
  const Vec3 centerA = boundsA.center(), centerB = X_AB * boundsB.center();
  const Real margin =
      kTouchMargin * (kernel::absoluteSum(boundsA.lower) + kernel::absoluteSum(boundsA.upper) +
                      kernel::absoluteSum(boundsB.lower) + kernel::absoluteSum(boundsB.upper) +
                      kernel::absoluteSum(X_AB.translation));
  const auto isBeyond = [&](Real squared, Real radius) {
    return squared > (radius + margin) * (radius + margin);
  };
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
  const std::size_t n1 = pair.a.x.size();
  for (std::size_t j = 0; j < out->tets2.size(); ++j) {
    evaluateExcess(out->tets2.element[j], j, pair.a, &pair.values1);
  }
  for (std::size_t i = 0; i < out->tets1.size(); ++i) {
    const std::array<std::int32_t, 4>& corner1 = pair.a.corner[i];
    evaluateExcess(out->tets1.element[i], 0, pair.b, &pair.values);
    for (std::size_t j = 0; j < out->tets2.size(); ++j) {
      const std::array<std::int32_t, 4>& corner2 = pair.b.corner[j];
      if (!isCut(corner2, pair.values.isUp.data())) continue;
      if (!isCut(corner1, pair.values1.isUp.data() + j * n1)) continue;
      TetCut& cut = out->tetCuts.emplace_back();
      cut.pair = {static_cast<std::int32_t>(i), static_cast<std::int32_t>(j)};
      takeCorners(corner1, pair.values1.value.data() + j * n1, cut.cut.excess1);
      takeCorners(corner2, pair.values.value.data(), cut.cut.excess2);
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
        0, first.x.size(),
        [&](std::size_t v) { return kernel::heightOver(triangle, edge, first.x[v]); },
        &pair.values);
    for (std::size_t i = 0; i < out->tets1.size(); ++i) {
      const std::array<std::int32_t, 4>& corner = first.corner[i];
      if (!isCut(corner, pair.values.isUp.data())) continue;
      TriangleCut cut{.pair = {static_cast<std::int32_t>(i), static_cast<std::int32_t>(j)},
                      .height = {}};
      takeCorners(corner, pair.values.value.data(), cut.height);
      out->triangleCuts.push_back(cut);
    }
  }
  core::stableSortByKey(out->triangleCuts, out->triangleScratch, [](const TriangleCut& cut) {
    return static_cast<std::uint64_t>(cut.pair.first) << 32 |
           static_cast<std::uint64_t>(cut.pair.second);
  });
}

}  // namespace tangere::collision
