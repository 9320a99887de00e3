// SPDX-License-Identifier: Apache-2.0
//
// Reproducible inputs for benchmarks and tests: random numbers, shapes, poses, meshes and moving
// boxes. The same seed gives the same bits everywhere: only +, -, *, / and square roots are used.
#pragma once

#include <tangere/collision.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tangere::workload {

/// splitmix64.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15ull + 0x2545f491ull) {}
  std::uint64_t bits();
  /// In [0, 1).
  Real uniform();
  Real uniform(Real low, Real high) { return low + (high - low) * uniform(); }
  /// In [0, count).
  int index(int count);
  /// Log-uniform in [low, high): every decade alike.
  Real magnitude(Real low, Real high);
  Vec3 pointInCube(Real halfSize);
  Vec3 direction();
  /// Any direction, a length in [0, maxLength).
  Vec3 vector(Real maxLength);
  Mat3 rotation();

 private:
  std::uint64_t state_;
};

using ShapePtr = std::shared_ptr<const Shape>;

/// The types a support function describes: they may meet in every query.
inline constexpr ShapeType kConvexTypes[] = {
    ShapeType::Sphere, ShapeType::Box,       ShapeType::Capsule, ShapeType::Cylinder,
    ShapeType::Cone,   ShapeType::Ellipsoid, ShapeType::Convex};

/// One fixed body of each type, about 1 m across.
[[nodiscard]] ShapePtr standardShape(ShapeType type);
/// A body of a convex type about 2 `size` across whose extents differ by at most `maxAspect`.
[[nodiscard]] ShapePtr randomConvex(ShapeType type, Real size, Real maxAspect, Random& random);
/// Closed, not convex: 20 frequency^2 triangles on a sphere of radius about 0.5 m with bumps.
[[nodiscard]] std::shared_ptr<const Mesh> bumpySphere(int frequency);
[[nodiscard]] std::shared_ptr<const HeightField> rollingHills(int samples, Real size);

struct PosePair {
  Transform X_W1, X_W2;
};

/// How two shapes of one pair lie: gap 5 to 100 % of their size, overlap about 1 %, overlap 20 to
/// 50 %.
enum class Regime { Separated, Shallow, Deep };
[[nodiscard]] const char* regimeName(Regime regime);

struct PairWorkload {
  ShapePtr shape1, shape2;
  std::vector<PosePair> poses;
};
/// "box-sphere".
[[nodiscard]] std::string pairName(ShapeType type1, ShapeType type2);
[[nodiscard]] PairWorkload makePairs(ShapeType type1, ShapeType type2, Regime regime, int count,
                                     std::uint64_t seed);

/// How far the answer to a distance query on two bounded convex shapes is from proving itself [m].
/// The signed distance is the maximum over unit n (from 2 to 1) of the gap between the supporting
/// planes along n, so a valid normal whose gap equals the distance is the answer.
[[nodiscard]] Real certificateGap(const Shape& shape1, const Shape& shape2, const PosePair& pose,
                                  const DistanceResult& answer);

/// Boxes that bounce in a cube, about 1.4 overlapping pairs per box whatever their number.
class MovingBoxes {
 public:
  /// `moveEvery`: 1 all move, 100 one in a hundred.
  MovingBoxes(int count, int moveEvery, std::uint64_t seed);
  void step();
  [[nodiscard]] int size() const { return static_cast<int>(boxes_.size()); }
  [[nodiscard]] const std::vector<Aabb>& boxes() const { return boxes_; }
  [[nodiscard]] const std::vector<ObjectId>& ids() const { return ids_; }
  [[nodiscard]] const std::vector<int>& movers() const { return movers_; }

 private:
  Real side_ = 0;
  std::vector<Aabb> boxes_;
  std::vector<ObjectId> ids_;
  std::vector<Vec3> velocities_;
  std::vector<int> movers_;
};

}  // namespace tangere::workload
