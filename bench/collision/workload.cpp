// SPDX-License-Identifier: Apache-2.0
#include "workload.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace tangere::workload {

std::uint64_t Random::bits() {
  std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ull);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

Real Random::uniform() { return static_cast<Real>(bits() >> 11) * 0x1.0p-53; }

int Random::index(int count) {
  return static_cast<int>(bits() % static_cast<std::uint64_t>(count));
}

Real Random::magnitude(Real low, Real high) {
  // Decade by decade, without a logarithm: whole powers of ten, then uniform within the decade.
  int decades = 0;
  for (Real x = low; x * 10 <= high * (1 + 1e-9); x *= 10) ++decades;
  if (decades == 0) return uniform(low, high);
  Real value = low * uniform(1, 10);
  for (int k = index(decades); k > 0; --k) value *= 10;
  return std::fmin(value, high);
}

Vec3 Random::pointInCube(Real halfSize) {
  const Real x = uniform(-halfSize, halfSize), y = uniform(-halfSize, halfSize);
  return {x, y, uniform(-halfSize, halfSize)};
}

Vec3 Random::direction() {
  for (;;) {
    const Vec3 v = pointInCube(1);
    const Real length = norm(v);
    if (length > 0.1 && length <= 1) return v / length;
  }
}

Vec3 Random::vector(Real maxLength) {
  // Two statements: the order of two calls in one expression is up to the compiler.
  const Vec3 d = direction();
  return d * uniform(0, maxLength);
}

Mat3 Random::rotation() {
  for (;;) {
    const Vec3 v = pointInCube(1);
    const Quat q{uniform(-1, 1), v.x, v.y, v.z};
    const Real squared = q.w * q.w + squaredNorm(v);
    if (squared > 0.01 && squared <= 1) return rotationMatrix(q);
  }
}

ShapePtr standardShape(ShapeType type) {
  switch (type) {
    case ShapeType::Sphere:
      return std::make_shared<Sphere>(0.5);
    case ShapeType::Box:
      return std::make_shared<Box>(Vec3{0.5, 0.4, 0.3});
    case ShapeType::Capsule:
      return std::make_shared<Capsule>(0.3, 0.4);
    case ShapeType::Cylinder:
      return std::make_shared<Cylinder>(0.4, 0.5);
    case ShapeType::Cone:
      return std::make_shared<Cone>(0.45, 0.5);
    case ShapeType::Ellipsoid:
      return std::make_shared<Ellipsoid>(Vec3{0.5, 0.4, 0.3});
    case ShapeType::Plane:
      return std::make_shared<Plane>();
    case ShapeType::Convex: {
      Random random(77);
      return randomConvex(ShapeType::Convex, 0.45, 1.25, random);
    }
    case ShapeType::Mesh:
      return bumpySphere(16);
    case ShapeType::HeightField:
      return rollingHills(65, 8);
    case ShapeType::PointCloud: {
      Random random(5);
      std::vector<Vec3> points(400);
      for (Vec3& point : points) point = random.direction() * 0.5;
      return std::make_shared<PointCloud>(points, 0.02);
    }
    case ShapeType::Compound: {
      std::vector<Compound::Child> children;
      children.push_back({std::make_shared<Box>(Vec3{0.4, 0.1, 0.1}), {}});
      children.push_back({std::make_shared<Sphere>(0.2), {Mat3::identity(), Vec3{0.5, 0, 0.1}}});
      children.push_back(
          {std::make_shared<Capsule>(0.1, 0.2), {Mat3::identity(), Vec3{-0.4, 0, 0.2}}});
      return std::make_shared<Compound>(std::move(children));
    }
  }
  return nullptr;
}

ShapePtr randomConvex(ShapeType type, Real size, Real maxAspect, Random& random) {
  const auto extent = [&] { return size / random.magnitude(1, maxAspect); };
  const Real a = extent(), b = extent(), c = extent();
  switch (type) {
    case ShapeType::Box:
      return std::make_shared<Box>(Vec3{a, b, c});
    case ShapeType::Capsule:
      return std::make_shared<Capsule>(a, b);
    case ShapeType::Cylinder:
      return std::make_shared<Cylinder>(a, b);
    case ShapeType::Cone:
      return std::make_shared<Cone>(a, b);
    case ShapeType::Ellipsoid:
      return std::make_shared<Ellipsoid>(Vec3{a, b, c});
    case ShapeType::Convex: {
      std::vector<Vec3> points;
      for (int i = 0; i < 32; ++i) {
        const Vec3 d = random.direction();
        points.push_back({a * d.x, b * d.y, c * d.z});
      }
      return std::make_shared<Convex>(points);
    }
    default:
      return std::make_shared<Sphere>(a);
  }
}

namespace {

/// Smooth bumps without a transcendental function: products of coordinates.
Real bumpyRadius(const Vec3& d) {
  const Real low = d.x * d.y * 0.3 + d.y * d.z * 0.25 - d.x * d.z * 0.2;
  const Real u = 3 * d.x + 2 * d.y, v = 4 * d.z - 2 * d.x;
  const Real high = 0.04 * u * v / (1 + 0.2 * (u * u + v * v));
  return 0.5 * (1 + low + high);
}

}  // namespace

std::shared_ptr<const Mesh> bumpySphere(int frequency) {
  const Real p = (1 + std::sqrt(5.0)) / 2;
  const Vec3 corners[12] = {{-1, p, 0}, {1, p, 0}, {-1, -p, 0}, {1, -p, 0},
                            {0, -1, p}, {0, 1, p}, {0, -1, -p}, {0, 1, -p},
                            {p, 0, -1}, {p, 0, 1}, {-p, 0, -1}, {-p, 0, 1}};
  const int faces[20][3] = {{0, 11, 5}, {0, 5, 1},  {0, 1, 7},   {0, 7, 10}, {0, 10, 11},
                            {1, 5, 9},  {5, 11, 4}, {11, 10, 2}, {10, 7, 6}, {7, 1, 8},
                            {3, 9, 4},  {3, 4, 2},  {3, 2, 6},   {3, 6, 8},  {3, 8, 9},
                            {4, 9, 5},  {2, 4, 11}, {6, 2, 10},  {8, 6, 7},  {9, 8, 1}};
  // A vertex is named by the corners it mixes and their weights, so that neighbours share it.
  std::map<std::vector<std::pair<int, int>>, int> known;
  std::vector<Vec3> vertices;
  std::vector<Triangle> triangles;
  for (const auto& face : faces) {
    const auto vertex = [&](int i, int j) {
      const int weights[3] = {frequency - i - j, i, j};
      std::vector<std::pair<int, int>> name;
      Vec3 q;
      for (int k = 0; k < 3; ++k)
        if (weights[k] > 0) name.emplace_back(face[k], weights[k]);
      std::sort(name.begin(), name.end());
      for (const auto& [corner, weight] : name) q += corners[corner] * static_cast<Real>(weight);
      const auto [entry, isNew] = known.try_emplace(name, static_cast<int>(vertices.size()));
      if (isNew) {
        const Vec3 d = q / norm(q);
        vertices.push_back(d * bumpyRadius(d));
      }
      return entry->second;
    };
    for (int i = 0; i < frequency; ++i)
      for (int j = 0; i + j < frequency; ++j) {
        triangles.push_back({vertex(i, j), vertex(i + 1, j), vertex(i, j + 1)});
        if (i + j + 1 < frequency)
          triangles.push_back({vertex(i + 1, j), vertex(i + 1, j + 1), vertex(i, j + 1)});
      }
  }
  return std::make_shared<Mesh>(vertices, triangles);
}

std::shared_ptr<const HeightField> rollingHills(int samples, Real size) {
  std::vector<Real> heights;
  for (int j = 0; j < samples; ++j)
    for (int i = 0; i < samples; ++i) {
      const Real x = static_cast<Real>(i) / (samples - 1) * 6 - 3;
      const Real y = static_cast<Real>(j) / (samples - 1) * 6 - 3;
      const Real fx = x - std::floor(x), fy = y - std::floor(y);
      heights.push_back(0.6 * fx * (1 - fx) + 0.8 * fy * (1 - fy) + 0.05 * x * y);
    }
  return std::make_shared<HeightField>(samples, samples, size, size, heights);
}

const char* regimeName(Regime regime) {
  switch (regime) {
    case Regime::Separated:
      return "separated";
    case Regime::Shallow:
      return "shallow";
    case Regime::Deep:
      return "deep";
  }
  return "";
}

namespace {

Real wantedGap(Regime regime, Random& random) {
  switch (regime) {
    case Regime::Separated:
      return random.uniform(0.05, 1);
    case Regime::Shallow:
      return -random.uniform(0.005, 0.015);
    case Regime::Deep:
      return -random.uniform(0.2, 0.5);
  }
  return 0;
}

Real boundingRadius(const Shape& shape) {
  if (shape.type() == ShapeType::Plane) return 1;
  const Aabb& box = shape.localAabb();
  return norm(box.halfExtents()) + norm(box.center());
}

}  // namespace

std::string pairName(ShapeType type1, ShapeType type2) {
  return std::string(shapeTypeName(type1)) + "-" + std::string(shapeTypeName(type2));
}

PairWorkload makePairs(ShapeType type1, ShapeType type2, Regime regime, int count,
                       std::uint64_t seed) {
  PairWorkload work{standardShape(type1), standardShape(type2), {}};
  Random random(seed * 1000 + static_cast<std::uint64_t>(type1) * 100 +
                static_cast<std::uint64_t>(type2) * 7 + static_cast<std::uint64_t>(regime));
  const Real reach1 = boundingRadius(*work.shape1), reach2 = boundingRadius(*work.shape2);
  while (static_cast<int>(work.poses.size()) < count) {
    PosePair pose;
    pose.X_W1 = {random.rotation(), random.pointInCube(2)};
    pose.X_W2 = {random.rotation(), pose.X_W1.translation};
    // From well apart straight towards the contact: the normal stays the same until they touch.
    pose.X_W2.translation += random.direction() * ((reach1 + reach2) * 1.5);
    const DistanceResult apart = distance(*work.shape1, pose.X_W1, *work.shape2, pose.X_W2);
    if (!(apart.distance > 0)) continue;  // a plane fills half of the space
    const Real gap = wantedGap(regime, random) * std::fmin(reach1, reach2) * 0.8;
    pose.X_W2.translation += apart.normal * (apart.distance - gap);
    work.poses.push_back(pose);
  }
  return work;
}

Real certificateGap(const Shape& shape1, const Shape& shape2, const PosePair& pose,
                    const DistanceResult& answer) {
  const Vec3& n = answer.normal;
  const Mat3 &R1 = pose.X_W1.rotation, &R2 = pose.X_W2.rotation;
  const Vec3 low1 = R1 * shape1.support(-transposeTimes(R1, n));
  const Vec3 high2 = R2 * shape2.support(transposeTimes(R2, n));
  const Real between =
      dot(n, pose.X_W1.translation - pose.X_W2.translation) + dot(n, low1) - dot(n, high2);
  return std::fabs(answer.distance - between);
}

MovingBoxes::MovingBoxes(int count, int moveEvery, std::uint64_t seed) {
  Random random(seed + static_cast<std::uint64_t>(count));
  Real low = 1, high = 1e4;  // cube root by bisection: side^3 = count * 8/3
  for (int i = 0; i < 100; ++i) {
    side_ = (low + high) / 2;
    (side_ * side_ * side_ < count * 8.0 / 3.0 ? low : high) = side_;
  }
  for (int i = 0; i < count; ++i) {
    const Vec3 center = random.pointInCube(side_ / 2);
    const Vec3 half = Vec3{0.5, 0.5, 0.5} + random.pointInCube(0.25);
    boxes_.push_back({center - half, center + half});
    ids_.push_back(static_cast<ObjectId>(i));
    velocities_.push_back(random.direction() * 0.05);
    if (i % moveEvery == 0) movers_.push_back(i);
  }
}

void MovingBoxes::step() {
  for (const int i : movers_) {
    Aabb& box = boxes_[static_cast<std::size_t>(i)];
    Vec3& velocity = velocities_[static_cast<std::size_t>(i)];
    const Vec3 center = box.center();
    for (int k = 0; k < 3; ++k)
      if (std::fabs(center[k] + velocity[k]) > side_ / 2) velocity[k] = -velocity[k];
    box.lower += velocity;
    box.upper += velocity;
  }
}

}  // namespace tangere::workload
