// SPDX-License-Identifier: Apache-2.0
//
// The polygons cut from tetrahedra against a clipper in extended precision that works another way:
// it intersects the boundary lines of all half spaces in the plane, two at a time, keeps the points
// that all of them allow, and takes the hull.
#include "collision/kernels/plane_tet_slice.hpp"
#include "collision/kernels/tet_tet_surface.hpp"
#include "collision/kernels/triangle_tet_clip.hpp"
#include "core/scene_random.hpp"
#include "geometry/kernels/tet_gradient.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace tangere {
namespace {

using kernel::FlatTriangle;
using kernel::HalfSpace;
using kernel::PressurePolygon;
using kernel::PressureTet;
using test::SceneRandom;

using Long = long double;
using LongVec = Vec3T<Long>;
using LongTet = PressureTet<Long>;

LongVec toLong(const Vec3& v) { return {v.x, v.y, v.z}; }

/// The gradient by Cramer's rule from the corners alone.
LongTet toLong(const PressureTet<Real>& tet) {
  LongTet out;
  for (int k = 0; k < 4; ++k) {
    out.x[k] = toLong(tet.x[k]);
    out.pressure[k] = tet.pressure[k];
  }
  const LongVec e1 = out.x[1] - out.x[0], e2 = out.x[2] - out.x[0], e3 = out.x[3] - out.x[0];
  const Long volume6 = dot(e1, cross(e2, e3));
  out.gradient = (cross(e2, e3) * (out.pressure[1] - out.pressure[0]) +
                  cross(e3, e1) * (out.pressure[2] - out.pressure[0]) +
                  cross(e1, e2) * (out.pressure[3] - out.pressure[0])) /
                 volume6;
  return out;
}

/// normal . x <= offset.
struct LongHalfSpace {
  LongVec normal;
  Long offset;
};

void addFaces(const LongTet& tet, std::vector<LongHalfSpace>* out) {
  for (int k = 0; k < 4; ++k) {
    const LongVec &a = tet.x[(k + 1) % 4], &b = tet.x[(k + 2) % 4], &c = tet.x[(k + 3) % 4];
    LongVec n = cross(b - a, c - a);
    n = n / norm(n);
    if (dot(n, tet.x[k] - a) > 0) n = -n;
    out->push_back({n, dot(n, a)});
  }
}

struct ExactPolygon {
  Long area = 0;
  LongVec centroid{};
};

/// The part of the plane through `origin` that lies in all half spaces. `size`: of the figure.
ExactPolygon intersect(const LongVec& origin, const LongVec& normal, Long size,
                       const std::vector<LongHalfSpace>& spaces) {
  const LongVec seed = std::fabs(normal.x) < 0.6L ? LongVec{1, 0, 0} : LongVec{0, 1, 0};
  LongVec u = cross(normal, seed);
  u = u / norm(u);
  const LongVec v = cross(normal, u);
  struct Line {
    Long a, b, c;  // a s + b t <= c
  };
  std::vector<Line> lines;
  for (const LongHalfSpace& space : spaces) {
    lines.push_back(
        {dot(space.normal, u), dot(space.normal, v), space.offset - dot(space.normal, origin)});
  }
  const Long slack = 1e-14L * size;
  struct Point {
    Long s, t;
  };
  std::vector<Point> points;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    for (std::size_t j = i + 1; j < lines.size(); ++j) {
      const Long det = lines[i].a * lines[j].b - lines[i].b * lines[j].a;
      if (std::fabs(det) < 1e-15L) continue;
      const Point p{(lines[i].c * lines[j].b - lines[i].b * lines[j].c) / det,
                    (lines[i].a * lines[j].c - lines[i].c * lines[j].a) / det};
      bool isInside = true;
      for (const Line& line : lines) {
        isInside = isInside && line.a * p.s + line.b * p.t - line.c <= slack;
      }
      if (isInside) points.push_back(p);
    }
  }
  ExactPolygon out;
  if (points.size() < 3) return out;
  // Andrew's monotone chain.
  std::sort(points.begin(), points.end(),
            [](const Point& p, const Point& q) { return p.s < q.s || (p.s == q.s && p.t < q.t); });
  std::vector<Point> hull(2 * points.size());
  const auto turn = [](const Point& o, const Point& p, const Point& q) {
    return (p.s - o.s) * (q.t - o.t) - (p.t - o.t) * (q.s - o.s);
  };
  std::size_t k = 0;
  for (const Point& p : points) {
    while (k >= 2 && turn(hull[k - 2], hull[k - 1], p) <= 0) --k;
    hull[k++] = p;
  }
  const std::size_t lower = k + 1;
  for (std::size_t i = points.size() - 1; i-- > 0;) {
    while (k >= lower && turn(hull[k - 2], hull[k - 1], points[i]) <= 0) --k;
    hull[k++] = points[i];
  }
  Long s = 0, t = 0;
  for (std::size_t i = 1; i + 2 < k; ++i) {
    const Long part = turn(hull[0], hull[i], hull[i + 1]) / 2;
    out.area += part;
    s += part * (hull[0].s + hull[i].s + hull[i + 1].s) / 3;
    t += part * (hull[0].t + hull[i].t + hull[i + 1].t) / 3;
  }
  if (out.area > 0) out.centroid = origin + u * (s / out.area) + v * (t / out.area);
  return out;
}

Long evaluate(const LongTet& tet, const LongVec& x) {
  return tet.pressure[0] + dot(tet.gradient, x - tet.x[0]);
}

/// What a contact polygon should be. `isDecided` is false where a rule sits on its threshold.
struct Expected {
  ExactPolygon polygon{};
  LongVec normal{};
  Long pressure = 0, gradient = 0;
  bool isKept = true;
  bool isDecided = true;
};

/// The rule about normals: the pressure must grow along the normal, by at least 1e-6 of its slope.
void applyNormalRule(Long growth, Long slope, Expected* out) {
  out->isKept = out->isKept && growth > 1e-6L * slope;
  out->isDecided = out->isDecided && std::fabs(growth / slope - 1e-6L) > 1e-9L;
}

Long sizeOf(const LongVec* x, int n) {
  Long size = 0;
  for (int i = 1; i < n; ++i) size = std::max(size, norm(x[i] - x[0]));
  return size;
}

/// True when a face of the tet lies in the surface value = 0 and the tet on the wrong side of it.
bool isOtherTetsFace(const Long* value, Long magnitude, int ownSide) {
  for (int k = 0; k < 4; ++k) {
    bool isInFace = true;
    for (int i = 0; i < 4; ++i)
      isInFace = isInFace && (i == k || std::fabs(value[i]) < 1e-12L * magnitude);
    if (isInFace && value[k] * ownSide < 0) return true;
  }
  return false;
}

Expected expectTetTet(const PressureTet<Real>& tet1, const PressureTet<Real>& tet2) {
  const LongTet a = toLong(tet1), b = toLong(tet2);
  Expected out;
  const LongVec difference = a.gradient - b.gradient;
  const Long slope = norm(difference), slope1 = norm(a.gradient), slope2 = norm(b.gradient);
  if (!(slope > 1e-5L * (slope1 + slope2))) {
    out.isDecided = slope1 + slope2 == 0;
    out.isKept = false;
    return out;
  }
  out.normal = difference / slope;
  const Long growth1 = dot(a.gradient, out.normal), growth2 = -dot(b.gradient, out.normal);
  applyNormalRule(growth1, slope1, &out);
  applyNormalRule(growth2, slope2, &out);
  Long at1[4], at2[4], magnitude = 0;
  for (int i = 0; i < 4; ++i) {
    at1[i] = a.pressure[i] - evaluate(b, a.x[i]);
    at2[i] = evaluate(a, b.x[i]) - b.pressure[i];
    magnitude = std::max({magnitude, std::fabs(at1[i]), std::fabs(at2[i])});
  }
  if (isOtherTetsFace(at1, magnitude, +1) || isOtherTetsFace(at2, magnitude, -1))
    out.isKept = false;
  const LongVec origin = a.x[0] - out.normal * (at1[0] / slope);
  std::vector<LongHalfSpace> spaces;
  addFaces(a, &spaces);
  addFaces(b, &spaces);
  // A face in the plane of the polygon bounds nothing there.
  std::erase_if(spaces, [&](const LongHalfSpace& s) {
    return norm(cross(s.normal, out.normal)) < 1e-12L &&
           std::fabs(dot(s.normal, origin) - s.offset) < 1e-12L * sizeOf(a.x, 4);
  });
  out.polygon = intersect(origin, out.normal, std::min(sizeOf(a.x, 4), sizeOf(b.x, 4)), spaces);
  out.pressure = evaluate(a, out.polygon.centroid);
  out.gradient = growth1 * growth2 / (growth1 + growth2);
  return out;
}

Expected expectTriangleTet(const PressureTet<Real>& tet, const Vec3* triangle) {
  const LongTet a = toLong(tet);
  const LongVec t[3] = {toLong(triangle[0]), toLong(triangle[1]), toLong(triangle[2])};
  Expected out;
  out.normal = cross(t[1] - t[0], t[2] - t[0]);
  out.normal = out.normal / norm(out.normal);
  const Long slope = norm(a.gradient), least = 1e-6L * slope;
  const Long growth = dot(a.gradient, out.normal);
  const Long farSide = -0.38268343236508977L * slope;  // cos(5 pi/8)
  out.gradient = std::max(growth, least);
  Long height[4], magnitude = 0;
  for (int i = 0; i < 4; ++i) {
    height[i] = dot(out.normal, a.x[i] - t[0]);
    magnitude = std::max(magnitude, std::fabs(height[i]));
  }
  if (isOtherTetsFace(height, magnitude, +1)) out.isKept = false;
  std::vector<LongHalfSpace> spaces;
  addFaces(a, &spaces);
  std::erase_if(spaces, [&](const LongHalfSpace& s) {
    return norm(cross(s.normal, out.normal)) < 1e-12L &&
           std::fabs(dot(s.normal, t[0]) - s.offset) < 1e-12L * sizeOf(a.x, 4);
  });
  for (int k = 0; k < 3; ++k) {
    LongVec outward = cross(t[(k + 1) % 3] - t[k], out.normal);
    outward = outward / norm(outward);
    spaces.push_back({outward, dot(outward, t[k])});
  }
  out.polygon = intersect(t[0], out.normal, std::min(sizeOf(a.x, 4), sizeOf(t, 3)), spaces);
  out.pressure = evaluate(a, out.polygon.centroid);
  // What presses is kept whether or not it presses harder farther in, but not on the far side.
  out.isKept = out.isKept && growth > farSide && (growth > least || out.pressure > 0);
  out.isDecided = (growth > 2 * least || std::fabs(out.pressure) > 1e-12L) &&
                  (slope == 0 || std::fabs(growth - farSide) > 1e-9L * slope);
  return out;
}

Expected expectPlaneTet(const PressureTet<Real>& tet, const HalfSpace<Real>& space) {
  const LongTet a = toLong(tet);
  Expected out;
  out.normal = toLong(space.normal);
  out.normal = out.normal / norm(out.normal);
  const Long growth = dot(a.gradient, out.normal), least = 1e-6L * norm(a.gradient);
  out.gradient = std::max(growth, least);
  Long height[4], magnitude = 0;
  for (int i = 0; i < 4; ++i) {
    height[i] = dot(out.normal, a.x[i]) - space.offset;
    magnitude = std::max(magnitude, std::fabs(height[i]));
  }
  if (isOtherTetsFace(height, magnitude, +1)) out.isKept = false;
  std::vector<LongHalfSpace> spaces;
  addFaces(a, &spaces);
  std::erase_if(spaces, [&](const LongHalfSpace& s) {
    return norm(cross(s.normal, out.normal)) < 1e-12L &&
           std::fabs(dot(s.normal, out.normal) * space.offset - s.offset) < 1e-12L * sizeOf(a.x, 4);
  });
  out.polygon = intersect(out.normal * Long(space.offset), out.normal, sizeOf(a.x, 4), spaces);
  out.pressure = evaluate(a, out.polygon.centroid);
  // What presses is kept whether or not it presses harder farther in.
  out.isKept = out.isKept && (growth > least || out.pressure > 0);
  out.isDecided = out.isDecided && (growth > 2 * least || std::fabs(out.pressure) > 1e-12L);
  return out;
}

Real largestOf(const Real* values) {
  Real largest = 0;
  for (int k = 0; k < 4; ++k) largest = std::max(largest, std::fabs(values[k]));
  return largest;
}

/// What must hold of any polygon.
void expectWellFormed(const PressurePolygon<Real>& polygon, int maxVertices, Real size) {
  ASSERT_GE(polygon.count, 3);
  ASSERT_LE(polygon.count, maxVertices);
  EXPECT_NEAR(norm(polygon.normal), 1, 1e-14);
  EXPECT_GT(polygon.area, 0);
  EXPECT_GT(polygon.gradient, 0);
  for (int i = 0; i < polygon.count; ++i) {
    const Vec3& p = polygon.vertex[i];
    const Vec3& q = polygon.vertex[(i + 1) % polygon.count];
    const Vec3& r = polygon.vertex[(i + 2) % polygon.count];
    EXPECT_GT(norm(q - p), 0) << "a vertex is doubled";
    EXPECT_GT(dot(cross(q - p, r - q), polygon.normal), -1e-12 * size * size) << "not convex";
    EXPECT_TRUE(std::isfinite(polygon.vertexPressure[i]));
  }
}

/// Counts, so that a test can say that it met enough of both kinds.
struct Tally {
  int numContacts = 0, numUndecided = 0, numLargest = 0;
};

/// Compares one result. Tolerances are 1e-9 of the sizes of the smaller element.
void compare(bool isFound, const PressurePolygon<Real>& polygon, const Expected& expected,
             Real size, Real pressureScale, int maxVertices, Tally* tally) {
  if (!expected.isDecided) {
    ++tally->numUndecided;
    return;
  }
  const Real area = expected.isKept ? static_cast<Real>(expected.polygon.area) : 0;
  if (!isFound) {
    EXPECT_LE(area, 1e-9 * size * size) << "a polygon was lost";
    return;
  }
  ++tally->numContacts;
  expectWellFormed(polygon, maxVertices, size);
  if (polygon.count == maxVertices) ++tally->numLargest;
  EXPECT_NEAR(polygon.area, area, 1e-9 * size * size);
  if (area < 1e-6 * size * size) return;  // the centroid of nearly nothing says nothing
  const Vec3 centroid{static_cast<Real>(expected.polygon.centroid.x),
                      static_cast<Real>(expected.polygon.centroid.y),
                      static_cast<Real>(expected.polygon.centroid.z)};
  EXPECT_LE(norm(polygon.centroid - centroid), 1e-9 * size);
  EXPECT_NEAR(polygon.pressure, static_cast<Real>(expected.pressure), 1e-9 * pressureScale);
  const Real gradient = static_cast<Real>(expected.gradient);
  EXPECT_NEAR(polygon.gradient, gradient, 1e-9 * gradient + 1e-14 * pressureScale / size);
  EXPECT_NEAR(static_cast<Real>(dot(toLong(polygon.normal), expected.normal)), 1, 1e-12);
}

template <class Point>
void expectWeights(const Point* x, int n, const Real* weight, const Vec3& centroid, Real size) {
  Vec3 sum{};
  Real total = 0;
  for (int k = 0; k < n; ++k) {
    sum += (x[k] - centroid) * weight[k];
    total += weight[k];
    EXPECT_GE(weight[k], -1e-9);
  }
  EXPECT_NEAR(total, 1, 1e-12);
  EXPECT_LE(norm(sum), 1e-9 * size);
}

void setGradient(PressureTet<Real>* tet) {
  ASSERT_TRUE(kernel::tetGradient(tet->x, tet->pressure, &tet->gradient));
}

/// Corners in a cube about `center`; not flat, but of any other shape and either orientation.
PressureTet<Real> randomTet(SceneRandom& random, const Vec3& center, Real size) {
  PressureTet<Real> tet;
  for (;;) {
    for (Vec3& x : tet.x) x = center + random.vec(-size, size);
    const Vec3 e1 = tet.x[1] - tet.x[0], e2 = tet.x[2] - tet.x[0], e3 = tet.x[3] - tet.x[0];
    if (std::fabs(dot(e1, cross(e2, e3))) > 0.02 * size * size * size) break;
  }
  for (Real& p : tet.pressure) p = random.real(0, 1);
  setGradient(&tet);
  return tet;
}

/// A field that grows along `direction` and is one half at `point`.
void setField(const Vec3& point, const Vec3& direction, Real slope, PressureTet<Real>* tet) {
  for (int k = 0; k < 4; ++k) tet->pressure[k] = 0.5 + slope * dot(direction, tet->x[k] - point);
  setGradient(tet);
}

Real scaleOf(SceneRandom& random) {
  constexpr Real kScales[] = {1e-6, 1e-4, 1e-2, 1, 1e2, 1e4, 1e6};
  return kScales[random.below(7)];
}

Real ratioOf(SceneRandom& random) {
  constexpr Real kRatios[] = {0.01, 0.2, 0.5, 1, 1, 2, 5, 100};
  return kRatios[random.below(8)];
}

Real smallerSize(const Vec3* a, int numA, const Vec3* b, int numB) {
  Real sizeA = 0, sizeB = 0;
  for (int i = 1; i < numA; ++i) sizeA = std::max(sizeA, norm(a[i] - a[0]));
  for (int i = 1; i < numB; ++i) sizeB = std::max(sizeB, norm(b[i] - b[0]));
  return std::min(sizeA, sizeB);
}

TEST(TetTetSurface, RandomPairsAgreeWithAClipperInExtendedPrecision) {
  SceneRandom random(1);
  Tally tally;
  for (int trial = 0; trial < 100000 && !::testing::Test::HasFailure(); ++trial) {
    const Real size1 = scaleOf(random), size2 = size1 * ratioOf(random);
    const Vec3 center = random.vec(-size1, size1);
    PressureTet<Real> tet1 = randomTet(random, center, size1);
    PressureTet<Real> tet2 = randomTet(random, center + random.vec(-0.3, 0.3) * size1, size2);
    if (trial % 2 == 0) {  // fields that meet in the middle and push against each other
      const Vec3 point = (tet2.x[0] + tet2.x[1] + tet2.x[2] + tet2.x[3]) * 0.25;
      const Vec3 direction = random.direction();
      setField(point, direction, random.real(0.1, 1) / size1, &tet1);
      setField(point, random.vec(-0.5, 0.5) - direction, random.real(0.1, 1) / size2, &tet2);
    }
    PressurePolygon<Real> polygon;
    const bool isFound = kernel::tetTetSurface(tet1, tet2, &polygon);
    const Real size = smallerSize(tet1.x, 4, tet2.x, 4);
    const Real pressureScale = std::max(largestOf(tet1.pressure), largestOf(tet2.pressure));
    compare(isFound, polygon, expectTetTet(tet1, tet2), size, pressureScale, 8, &tally);
    if (isFound) {
      expectWeights(tet1.x, 4, polygon.weight1, polygon.centroid, size1);
      expectWeights(tet2.x, 4, polygon.weight2, polygon.centroid, size2);
    }
    if (::testing::Test::HasFailure()) FAIL() << "in trial " << trial;
  }
  EXPECT_GT(tally.numContacts, 15000);
  EXPECT_LT(tally.numUndecided, 10);
}

TEST(TetTetSurface, ExchangedTetrahedraGiveTheSamePolygonWithTheNormalTurned) {
  SceneRandom random(2);
  int numContacts = 0;
  for (int trial = 0; trial < 20000; ++trial) {
    PressureTet<Real> tet1 = randomTet(random, {}, 1);
    PressureTet<Real> tet2 = randomTet(random, random.vec(-0.3, 0.3), 1);
    PressurePolygon<Real> there, back;
    const bool isThere = kernel::tetTetSurface(tet1, tet2, &there);
    ASSERT_EQ(isThere, kernel::tetTetSurface(tet2, tet1, &back)) << trial;
    if (!isThere) continue;
    ++numContacts;
    EXPECT_NEAR(there.area, back.area, 1e-11) << trial;
    EXPECT_NEAR(there.pressure, back.pressure, 1e-11) << trial;
    EXPECT_NEAR(there.gradient, back.gradient, 1e-11 * there.gradient) << trial;
    EXPECT_LE(norm(there.normal + back.normal), 1e-11) << trial;
    if (there.area > 1e-6) {
      EXPECT_LE(norm(there.centroid - back.centroid), 1e-9) << trial;
    }
  }
  EXPECT_GT(numContacts, 1000);
}

TEST(TriangleTetClip, RandomPairsAgreeWithAClipperInExtendedPrecision) {
  SceneRandom random(3);
  Tally tally;
  for (int trial = 0; trial < 100000; ++trial) {
    const Real size1 = scaleOf(random), size2 = size1 * ratioOf(random);
    const Vec3 center = random.vec(-size1, size1);
    const PressureTet<Real> tet = randomTet(random, center, size1);
    Vec3 t[3];
    FlatTriangle<Real> triangle;
    do {
      for (Vec3& x : t) x = center + random.vec(-0.3, 0.3) * size1 + random.vec(-size2, size2);
    } while (norm(cross(t[1] - t[0], t[2] - t[0])) < 0.02 * size2 * size2);
    ASSERT_TRUE(kernel::makeFlatTriangle(t[0], t[1], t[2], &triangle));
    PressurePolygon<Real> polygon;
    const bool isFound = kernel::triangleTetClip(tet, triangle, &polygon);
    const Real size = smallerSize(tet.x, 4, t, 3);
    compare(isFound, polygon, expectTriangleTet(tet, t), size, largestOf(tet.pressure), 7, &tally);
    if (isFound) {
      expectWeights(tet.x, 4, polygon.weight1, polygon.centroid, size1);
      expectWeights(t, 3, polygon.weight2, polygon.centroid, size2);
    }
    if (::testing::Test::HasFailure()) FAIL() << "in trial " << trial;
  }
  EXPECT_GT(tally.numContacts, 10000);
  EXPECT_LT(tally.numUndecided, 10);
}

TEST(PlaneTetSlice, RandomPairsAgreeWithAClipperInExtendedPrecision) {
  SceneRandom random(4);
  Tally tally;
  for (int trial = 0; trial < 20000; ++trial) {
    const Real size = scaleOf(random);
    const PressureTet<Real> tet = randomTet(random, random.vec(-size, size), size);
    const HalfSpace<Real> space{random.direction(), random.real(-size, size), size};
    PressurePolygon<Real> polygon;
    const bool isFound = kernel::planeTetSlice(tet, space, &polygon);
    compare(isFound, polygon, expectPlaneTet(tet, space), size, largestOf(tet.pressure), 4, &tally);
    if (::testing::Test::HasFailure()) FAIL() << "in trial " << trial;
  }
  EXPECT_GT(tally.numContacts, 4000);
}

/// Corners and pressures from a few small integers: faces coincide, planes meet corners and edges.
PressureTet<Real> latticeTet(SceneRandom& random, Real scale) {
  PressureTet<Real> tet;
  do {
    for (Vec3& x : tet.x) {
      const int i = random.below(3), j = random.below(3), k = random.below(3);
      x = Vec3{Real(i), Real(j), Real(k)} * scale;
    }
    for (Real& p : tet.pressure) p = random.below(4);
  } while (!kernel::tetGradient(tet.x, tet.pressure, &tet.gradient) || tet.gradient == Vec3{});
  return tet;
}

TEST(TetTetSurface, PairsOnALatticeReportEachSharedFaceOnItsOwnSideOnly) {
  SceneRandom random(5);
  Tally tally;
  for (int trial = 0; trial < 40000; ++trial) {
    const Real scale = trial % 2 == 0 ? 1 : 1.0 / 3;
    const PressureTet<Real> tet1 = latticeTet(random, scale), tet2 = latticeTet(random, scale);
    PressurePolygon<Real> polygon;
    const bool isFound = kernel::tetTetSurface(tet1, tet2, &polygon);
    compare(isFound, polygon, expectTetTet(tet1, tet2), scale, 3, 8, &tally);
    if (::testing::Test::HasFailure()) FAIL() << "in trial " << trial;
  }
  EXPECT_GT(tally.numContacts, 2000);
}

TEST(TriangleTetClip, PairsOnALatticeReportEachSharedFaceOnItsOwnSideOnly) {
  SceneRandom random(6);
  Tally tally;
  for (int trial = 0; trial < 40000; ++trial) {
    const Real scale = trial % 2 == 0 ? 1 : 1.0 / 3;
    const PressureTet<Real> tet = latticeTet(random, scale);
    const PressureTet<Real> corners = latticeTet(random, trial % 3 == 0 ? 2 * scale : scale);
    FlatTriangle<Real> triangle;
    ASSERT_TRUE(kernel::makeFlatTriangle(corners.x[0], corners.x[1], corners.x[2], &triangle));
    PressurePolygon<Real> polygon;
    const bool isFound = kernel::triangleTetClip(tet, triangle, &polygon);
    compare(isFound, polygon, expectTriangleTet(tet, corners.x), scale, 3, 7, &tally);
    if (::testing::Test::HasFailure()) FAIL() << "in trial " << trial;
  }
  EXPECT_GT(tally.numContacts, 2000);
}

TEST(SliceTet, GoesAroundTheGradientInEveryCaseOfSigns) {
  const Vec3 x[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  for (int above = 1; above < 15; ++above) {
    Real value[4];
    int numAbove = 0;
    for (int i = 0; i < 4; ++i) {
      value[i] = (above >> i & 1) != 0 ? 1 : -1;
      numAbove += above >> i & 1;
    }
    Vec3 gradient;
    ASSERT_TRUE(kernel::tetGradient(x, value, &gradient));
    kernel::CutPolygon<Real> polygon;
    kernel::sliceTet(x, value, Vec3{}, &polygon);
    ASSERT_EQ(polygon.count, numAbove == 2 ? 4 : 3);
    for (int i = 0; i < polygon.count; ++i) {
      const Vec3& p = polygon.vertex[i];
      const Vec3& q = polygon.vertex[(i + 1) % polygon.count];
      const Vec3& r = polygon.vertex[(i + 2) % polygon.count];
      EXPECT_NEAR(value[0] + dot(gradient, p), 0, 1e-15);
      EXPECT_GT(dot(cross(q - p, r - q), gradient), 0.1) << above;
    }
  }
}

TEST(PlaneTetSlice, AFaceInThePlaneBelongsToTheTetrahedronAboveIt) {
  PressureTet<Real> upper{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {0, 0, 0, 1}, {}};
  PressureTet<Real> lower{{{0, 0, 0}, {0, 1, 0}, {1, 0, 0}, {0, 0, -1}}, {1, 1, 1, 0}, {}};
  setGradient(&upper);
  setGradient(&lower);
  const HalfSpace<Real> floor{{0, 0, 1}, 0, 1};
  PressurePolygon<Real> polygon;
  ASSERT_TRUE(kernel::planeTetSlice(upper, floor, &polygon));
  EXPECT_EQ(polygon.count, 3);
  EXPECT_DOUBLE_EQ(polygon.area, 0.5);
  EXPECT_EQ(polygon.pressure, 0);
  EXPECT_DOUBLE_EQ(polygon.gradient, 1);
  EXPECT_FALSE(kernel::planeTetSlice(lower, floor, &polygon));
}

TEST(LayerTriangleClip, ATriangleInThePlaneHasItsPatchAndOneThatLooksUpHasNone) {
  FlatTriangle<Real> down, up;
  ASSERT_TRUE(kernel::makeFlatTriangle(Vec3{0, 0, 0}, Vec3{0, 2, 0}, Vec3{1, 0, 0}, &down));
  ASSERT_TRUE(kernel::makeFlatTriangle(Vec3{0, 0, 0}, Vec3{1, 0, 0}, Vec3{0, 2, 0}, &up));
  const HalfSpace<Real> layer{{0, 0, 1}, 0, 1};
  PressurePolygon<Real> polygon;
  ASSERT_TRUE(kernel::layerTriangleClip(down, layer, 100.0, &polygon));
  EXPECT_DOUBLE_EQ(polygon.area, 1);
  EXPECT_EQ(polygon.pressure, 0);
  EXPECT_DOUBLE_EQ(polygon.gradient, 100);
  EXPECT_EQ(polygon.normal, (Vec3{0, 0, 1}));
  EXPECT_FALSE(kernel::layerTriangleClip(up, layer, 100.0, &polygon));
}

/// Everything in a polygon is a number.
void expectFinite(const PressurePolygon<Real>& p) {
  ASSERT_GE(p.count, 3);
  ASSERT_LE(p.count, 8);
  Real sum = p.area + p.pressure + p.gradient;
  const auto add = [&](const Vec3& v) { sum += v.x + v.y + v.z; };
  add(p.centroid);
  add(p.normal);
  for (int i = 0; i < p.count; ++i) {
    add(p.vertex[i]);
    sum += p.vertexPressure[i];
  }
  for (int k = 0; k < 4; ++k) sum += p.weight1[k] + p.weight2[k];
  EXPECT_TRUE(std::isfinite(sum));
}

/// One of the coordinates a broken mesh may hold.
Real oddNumber(SceneRandom& random) {
  constexpr Real kInfinity = std::numeric_limits<Real>::infinity();
  constexpr Real kOdd[] = {0,       0,         -0.0,      1,
                           1,       1 + 1e-15, -1,        1e-15,
                           1e-9,    1e6,       1e12,      -1e6,
                           1e-300,  1e300,     0.5,       2,
                           1.0 / 3, -1e-6,     kInfinity, std::numeric_limits<Real>::quiet_NaN()};
  // The last two are rare, or nothing else would be tried.
  const int n = random.below(40) == 0 ? 20 : 18;
  return kOdd[random.below(n)];
}

PressureTet<Real> oddTet(SceneRandom& random) {
  PressureTet<Real> tet;
  for (Vec3& x : tet.x) {
    const Real a = oddNumber(random), b = oddNumber(random), c = oddNumber(random);
    x = {a, b, c};
  }
  if (random.below(3) == 0) tet.x[3] = (tet.x[0] + tet.x[1] + tet.x[2]) * (1.0 / 3);  // flat
  if (random.below(8) == 0) tet.x[2] = tet.x[1];
  for (Real& p : tet.pressure) p = oddNumber(random);
  kernel::tetGradient(tet.x, tet.pressure, &tet.gradient);
  return tet;
}

TEST(PressurePolygons, OddInputGivesNothingOrNumbers) {
  SceneRandom random(7);
  int numContacts = 0;
  PressurePolygon<Real> polygon;
  const auto check = [&](bool isFound) {
    if (!isFound) return;
    ++numContacts;
    expectFinite(polygon);
  };
  for (int trial = 0; trial < 100000; ++trial) {
    const PressureTet<Real> tet1 = oddTet(random);
    PressureTet<Real> tet2 = oddTet(random);
    const int kind = random.below(4);
    for (int k = 0; k < 4 && kind == 1; ++k) tet2.x[k] = tet1.x[k];      // identical
    for (int k = 0; k < 3 && kind == 2; ++k) tet2.x[k] = tet1.x[2 - k];  // a shared face
    if (kind == 1 || kind == 2) kernel::tetGradient(tet2.x, tet2.pressure, &tet2.gradient);
    check(kernel::tetTetSurface(tet1, tet2, &polygon));
    FlatTriangle<Real> triangle;
    if (kernel::makeFlatTriangle(tet2.x[0], tet2.x[1], tet2.x[2], &triangle)) {
      check(kernel::triangleTetClip(tet1, triangle, &polygon));
      check(kernel::layerTriangleClip(triangle, {{0, 0, 1}, oddNumber(random), 1}, 10.0, &polygon));
    }
    check(kernel::planeTetSlice(tet1, {{0, 0, 1}, oddNumber(random), 1}, &polygon));
    check(kernel::layerTetSlice(tet1, {{0, 1, 0}, oddNumber(random), 1}, 10.0, &polygon));
    if (::testing::Test::HasFailure()) FAIL() << "in trial " << trial;
  }
  EXPECT_GT(numContacts, 1000);
}

}  // namespace
}  // namespace tangere
