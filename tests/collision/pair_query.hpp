// SPDX-License-Identifier: Apache-2.0
//
// Asks the functions of one family of pairs directly, with the public shapes, and judges answers
// without a reference: the signed distance of two convex solids is the maximum over all directions
// of the gap between their support planes, so a direction proves a lower bound and two points of
// the solids an upper one.
#pragma once

#include "collision/narrow_phase.hpp"
#include "geometry/shape_of_lengths.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace tangere::test {

using Family = collision::PairFunctions (*)(ShapeType, ShapeType);

/// Two shapes at their poses; the types must be in the order of the table.
struct PairUnderTest {
  Family family;
  const Shape& shape1;
  Transform X_W1;
  const Shape& shape2;
  Transform X_W2;

  [[nodiscard]] collision::PairInput input() const {
    return {shape1.flat(), X_W1, shape2.flat(), X_W2, nullptr};
  }
  [[nodiscard]] collision::PairFunctions functions() const {
    return family(shape1.type(), shape2.type());
  }
  [[nodiscard]] ContactManifold collide(CollisionOption option = {}) const {
    CollisionResult result;
    const int count = functions().collide(input(), option, result);
    EXPECT_EQ(count, result.numContacts());
    EXPECT_EQ(count > 0, result.isCollision());
    return result.numManifolds() > 0 ? result.manifolds()[0] : ContactManifold{};
  }
  [[nodiscard]] bool overlap() const { return functions().overlap(input()); }
  [[nodiscard]] DistanceResult distance(DistanceOption option = {}) const {
    DistanceResult result;
    functions().distance(input(), option, result);
    return result;
  }
};

inline Transform at(Real x, Real y, Real z) { return {Mat3::identity(), {x, y, z}}; }

/// Turned by `angle` about a unit axis, then moved.
inline Transform turned(const Vec3& axis, Real angle, const Vec3& translation = {}) {
  const Real s = std::sin(angle / 2);
  return {rotationMatrix(Quat{std::cos(angle / 2), axis.x * s, axis.y * s, axis.z * s}),
          translation};
}

/// Support value in world; infinite for a half space except along its normal.
inline Real supportAlong(const Shape& shape, const Transform& X_WS, const Vec3& n_W) {
  const Vec3 n = transposeTimes(X_WS.rotation, n_W);
  if (shape.type() == ShapeType::Plane) {
    if (n.z <= 0 || std::hypot(n.x, n.y) > 1e-9) return std::numeric_limits<Real>::infinity();
    return dot(n_W, X_WS.translation);
  }
  return dot(n, shape.support(n)) + dot(n_W, X_WS.translation);
}

/// Gap between the support planes across n (unit, from shape 2 to shape 1).
inline Real gapAcross(const PairUnderTest& pair, const Vec3& n) {
  return -supportAlong(pair.shape1, pair.X_W1, -n) - supportAlong(pair.shape2, pair.X_W2, n);
}

/// How far p is outside of a shape; negative inside.
inline Real outside(const Shape& shape, const Transform& X_WS, const Vec3& p_W) {
  return shape.signedDistance(inverseTimes(X_WS, p_W)).distance;
}

/// The worst of: the normal not achieving the distance, the witness points not being of their
/// shapes or not `distance * normal` apart. Zero up to rounding proves a distance >= 0, and for a
/// negative one that the translation separates. Relative to `scale`.
inline Real proofError(const PairUnderTest& pair, const DistanceResult& d, Real scale) {
  if (!std::isfinite(d.distance) || std::fabs(norm(d.normal) - 1) > 1e-12) return 1e300;
  Real error = std::fabs(d.distance - gapAcross(pair, d.normal));
  error = std::max(error, norm(d.point1 - d.point2 - d.normal * d.distance));
  error = std::max(error, outside(pair.shape1, pair.X_W1, d.point1));
  error = std::max(error, outside(pair.shape2, pair.X_W2, d.point2));
  return error / scale;
}

/// By how much some direction of a spiral of `count` beats the answer: positive disproves it.
inline Real betterDirection(const PairUnderTest& pair, Real distance, int count) {
  Real best = -std::numeric_limits<Real>::infinity();
  for (int i = 0; i < count; ++i) {
    const Real z = -1 + (2 * i + 1) / static_cast<Real>(count), r = std::sqrt(1 - z * z);
    const Real angle = 2.399963229728653 * i;
    best = std::max(best, gapAcross(pair, {r * std::cos(angle), r * std::sin(angle), z}));
  }
  return best - distance;
}

/// What every manifold must hold: finite unit normals that are shared, depths that are not negative
/// and of which the first is the deepest, points of both shapes within `tolerance`.
inline void expectSoundManifold(const PairUnderTest& pair, const ContactManifold& manifold,
                                Real tolerance) {
  for (int i = 0; i < manifold.count; ++i) {
    const ContactPoint& p = manifold.points[i];
    EXPECT_NEAR(norm(p.normal), 1, 1e-12);
    EXPECT_EQ(p.normal, manifold.points[0].normal);
    EXPECT_GE(p.depth, 0);
    EXPECT_LE(p.depth, manifold.points[0].depth + tolerance);
    EXPECT_LE(outside(pair.shape1, pair.X_W1, p.position - p.normal * (p.depth / 2)), tolerance);
    EXPECT_LE(outside(pair.shape2, pair.X_W2, p.position + p.normal * (p.depth / 2)), tolerance);
  }
}

/// splitmix64.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t bits() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  Real uniform(Real lower, Real upper) {
    return lower + (upper - lower) * (static_cast<Real>(bits() >> 11) * 0x1p-53);
  }
  Vec3 direction() {
    for (;;) {
      const Real x = uniform(-1, 1), y = uniform(-1, 1), z = uniform(-1, 1);
      const Vec3 v{x, y, z};
      const Real l = norm(v);
      if (l > 0.1 && l <= 1) return v / l;
    }
  }
  Mat3 rotation() {
    for (;;) {
      const Real w = uniform(-1, 1), x = uniform(-1, 1), y = uniform(-1, 1), z = uniform(-1, 1);
      const Real l2 = w * w + x * x + y * y + z * z;
      if (l2 > 0.01 && l2 <= 1) return rotationMatrix(Quat{w, x, y, z});
    }
  }

 private:
  std::uint64_t state_;
};

/// One solid of each kind with random proportions, about `scale` across.
inline std::unique_ptr<Shape> randomShape(ShapeType type, Real scale, Random& random) {
  const auto size = [&] { return scale * random.uniform(0.2, 1.0); };
  const Real a = size(), b = size(), c = size();
  if (auto shape = shapeOfLengths(type, a, b, c)) return shape;
  std::vector<Vec3> points;
  for (int i = 0; i < 20; ++i) {
    const Vec3 d = random.direction();
    points.push_back({a * d.x, b * d.y, c * d.z});
  }
  return std::make_unique<Convex>(points);
}

/// Random poses of random solids: apart, touching, crossing, concentric. Each answer is proved: by
/// its own witness and normal, and by no direction being better.
inline void expectProvenAnswers(Family family, ShapeType type1, ShapeType type2, int numCases) {
  Random random(1000 * static_cast<std::uint64_t>(type1) + static_cast<std::uint64_t>(type2));
  const bool hasPlane = type1 == ShapeType::Plane || type2 == ShapeType::Plane;
  for (int i = 0; i < numCases; ++i) {
    const Real scale = std::pow(10.0, i % 3 == 0 ? random.uniform(-6, 6) : 0);
    const Vec3 far = random.direction() * (i % 5 == 0 ? 1e4 * scale : 0);
    const std::unique_ptr<Shape> shape1 = randomShape(type1, scale, random);
    const std::unique_ptr<Shape> shape2 = randomShape(type2, scale, random);
    const Vec3 offset = random.direction() * (scale * random.uniform(0, i % 4 == 0 ? 3.0 : 1.2));
    const PairUnderTest pair{
        family, *shape1, {random.rotation(), far}, *shape2, {random.rotation(), far + offset}};
    // One rounding of a far position is 2e-12 of the size here.
    const Real tolerance = i % 5 == 0 ? 1e-9 : 1e-10;
    const DistanceResult d = pair.distance();
    SCOPED_TRACE("case " + std::to_string(i));
    ASSERT_LE(proofError(pair, d, scale), tolerance);
    if (!hasPlane) {
      ASSERT_LE(betterDirection(pair, d.distance, 400), tolerance * scale);
    }
    if (std::fabs(d.distance) < tolerance * scale) continue;
    ASSERT_EQ(pair.overlap(), d.distance < 0);
    const ContactManifold manifold = pair.collide();
    ASSERT_EQ(manifold.count > 0, d.distance < 0);
    if (manifold.count == 0) continue;
    ASSERT_NEAR(manifold.depth(), -d.distance, tolerance * scale);
    ASSERT_LE(norm(manifold.points[0].normal - d.normal), 1e-9);
    // Points beside the deepest one share its normal, which may be 0.0045 rad off their own.
    expectSoundManifold(pair, manifold, manifold.count == 1 ? tolerance * scale : 2.3e-3 * scale);
    ASSERT_FALSE(::testing::Test::HasFailure());
    const ContactManifold one = pair.collide({.maxNumContacts = 1});
    ASSERT_EQ(one.count, 1);
    ASSERT_NEAR(one.points[0].depth, -d.distance, tolerance * scale);
  }
}

/// One row of the golden data, with the shapes in the order of the table. The format is described
/// next to the data.
struct GoldenRow {
  int id = 0;
  std::string kinds;
  std::shared_ptr<const Shape> shape1, shape2;
  Transform X_W1, X_W2;
  Real distance = 0;
  Real scale = 0;
};

/// The rows of the pairs that `family` owns.
inline std::vector<GoldenRow> goldenRows(Family family) {
  const std::string folder = std::string(TANGERE_TEST_DATA) + "/golden/collision";
  const auto split = [](const std::string& line) {
    std::vector<std::string> cells;
    std::stringstream stream(line);
    for (std::string cell; std::getline(stream, cell, ',');) cells.push_back(cell);
    return cells;
  };
  const auto open = [](const std::string& file) {
    std::ifstream stream(file);
    if (!stream) throw std::runtime_error("cannot read " + file);
    return stream;
  };
  std::string line;
  std::map<int, std::vector<Vec3>> hulls;
  std::ifstream hullFile = open(folder + "/public_hulls.csv");
  std::getline(hullFile, line);
  while (std::getline(hullFile, line)) {
    const std::vector<std::string> c = split(line);
    hulls[std::stoi(c[0])].push_back({std::stod(c[2]), std::stod(c[3]), std::stod(c[4])});
  }
  const auto makeShape = [&](const std::string& kind, Real a, Real b, Real c,
                             int hull) -> std::shared_ptr<const Shape> {
    if (kind == "sphere") return std::make_shared<Sphere>(a);
    if (kind == "box") return std::make_shared<Box>(Vec3{a, b, c});
    if (kind == "capsule") return std::make_shared<Capsule>(a, b);
    if (kind == "cylinder") return std::make_shared<Cylinder>(a, b);
    if (kind == "cone") return std::make_shared<Cone>(a, b);
    if (kind == "ellipsoid") return std::make_shared<Ellipsoid>(Vec3{a, b, c});
    if (kind == "halfspace") return std::make_shared<Plane>();
    return std::make_shared<Convex>(hulls.at(hull));
  };

  std::vector<GoldenRow> rows;
  std::ifstream caseFile = open(folder + "/public.csv");
  std::getline(caseFile, line);
  std::map<std::string, std::size_t> column;
  for (const std::string& name : split(line)) column.emplace(name, column.size());
  while (std::getline(caseFile, line)) {
    const std::vector<std::string> c = split(line);
    const auto text = [&](const std::string& name) { return c.at(column.at(name)); };
    const auto number = [&](const std::string& name) { return std::stod(text(name)); };
    const auto shape = [&](const std::string& i) {
      return makeShape(text("shape" + i), number("a" + i), number("b" + i), number("c" + i),
                       std::stoi(text("hull" + i)));
    };
    const auto pose = [&](const std::string& i) {
      return Transform{rotationMatrix(Quat{number("qw" + i), number("qx" + i), number("qy" + i),
                                           number("qz" + i)}),
                       {number("x" + i), number("y" + i), number("z" + i)}};
    };
    GoldenRow row{std::stoi(text("id")),
                  text("shape1") + "-" + text("shape2"),
                  shape("1"),
                  shape("2"),
                  pose("1"),
                  pose("2"),
                  number("dist"),
                  number("scale")};
    if (row.shape1->type() > row.shape2->type()) {
      std::swap(row.shape1, row.shape2);
      std::swap(row.X_W1, row.X_W2);
    }
    if (family(row.shape1->type(), row.shape2->type()).distance) rows.push_back(row);
  }
  return rows;
}

/// Distance, normal, witness points, depth and boolean of every row within 1e-9 of its size.
inline void expectGolden(Family family, std::size_t numRows) {
  const std::vector<GoldenRow> rows = goldenRows(family);
  EXPECT_EQ(rows.size(), numRows);
  for (const GoldenRow& row : rows) {
    SCOPED_TRACE(row.kinds + " " + std::to_string(row.id));
    const PairUnderTest pair{family, *row.shape1, row.X_W1, *row.shape2, row.X_W2};
    const Real size = std::max(std::fabs(row.distance), row.scale);
    const DistanceResult d = pair.distance();
    EXPECT_NEAR(d.distance, row.distance, 1e-9 * size);
    EXPECT_LE(proofError(pair, d, size), 1e-9);
    EXPECT_EQ(pair.overlap(), row.distance <= 0);
    const ContactManifold manifold = pair.collide();
    EXPECT_EQ(manifold.count > 0, row.distance <= 0);
    if (row.distance <= 0) {
      EXPECT_NEAR(manifold.depth(), -row.distance, 1e-9 * size);
    }
  }
}

}  // namespace tangere::test
