// SPDX-License-Identifier: Apache-2.0
//
// Any bytes become two shapes and two poses, and every query is asked. Constructors may refuse;
// what they accept must be answered with finite numbers, unit normals and answers that agree.
#include <tangere/collision.hpp>
#include <tangere/error.hpp>

#include "geometry/shape_of_lengths.hpp"

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

namespace {

using namespace tangere;

/// What is being asked, for the message of a check that fails.
struct Question {
  const Shape* shape[2] = {};
  const Transform* pose[2] = {};
} question;

[[noreturn]] void fail(const char* condition, int line) {
  std::fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, line, condition);
  for (int i = 0; i < 2; ++i) {
    if (question.shape[i] == nullptr) continue;
    const std::string_view name = shapeTypeName(question.shape[i]->type());
    const Aabb& box = question.shape[i]->localAabb();
    std::fprintf(stderr, "%.*s in %.17g %.17g %.17g to %.17g %.17g %.17g\n",
                 static_cast<int>(name.size()), name.data(), box.lower.x, box.lower.y, box.lower.z,
                 box.upper.x, box.upper.y, box.upper.z);
    const Transform& X = *question.pose[i];
    std::fprintf(stderr, "  at %.17g %.17g %.17g, axes", X.translation.x, X.translation.y,
                 X.translation.z);
    for (const Vec3& axis : X.rotation.col)
      std::fprintf(stderr, " (%.17g %.17g %.17g)", axis.x, axis.y, axis.z);
    std::fprintf(stderr, "\n");
  }
  std::abort();
}

#define CHECK(condition)                          \
  do {                                            \
    if (!(condition)) fail(#condition, __LINE__); \
  } while (false)

class Bytes {
 public:
  Bytes(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}
  std::uint8_t byte() { return at_ < size_ ? data_[at_++] : std::uint8_t{0}; }
  /// A number of one of several kinds: any double, a nice decimal, a fraction.
  Real number() {
    const std::uint8_t kind = byte();
    if (kind < 32) {
      std::uint8_t raw[8];
      for (std::uint8_t& b : raw) b = byte();
      Real value;
      std::memcpy(&value, raw, sizeof value);
      return value;
    }
    const Real sign = kind & 1 ? -1 : 1;
    if (kind < 96) return sign * (byte() & 15);
    const int high = byte();
    const Real fraction = (high * 256 + byte()) / 65536.0;
    if (kind < 160) return sign * fraction;
    Real value = fraction + 0.1;
    const int decade = byte() % 13 - 6;
    for (int k = 0; k < decade; ++k) value *= 10;
    for (int k = 0; k > decade; --k) value /= 10;
    return sign * value;
  }
  Vec3 vector() {
    const Real x = number(), y = number();
    return {x, y, number()};
  }

 private:
  const std::uint8_t* data_;
  std::size_t size_;
  std::size_t at_ = 0;
};

std::shared_ptr<const Shape> readShape(Bytes& bytes, bool allowCompound) {
  const int type = bytes.byte() % (allowCompound ? 12 : 11);
  const Real a = bytes.number(), b = bytes.number(), c = bytes.number();
  if (auto shape = test::shapeOfLengths(static_cast<ShapeType>(type), a, b, c)) return shape;
  switch (static_cast<ShapeType>(type)) {
    case ShapeType::Convex: {
      std::vector<Vec3> points;
      for (int i = 0, n = bytes.byte() % 20; i < n; ++i) points.push_back(bytes.vector());
      return std::make_shared<Convex>(points);
    }
    case ShapeType::Mesh: {
      std::vector<Vec3> vertices;
      for (int i = 0, n = bytes.byte() % 12; i < n; ++i) vertices.push_back(bytes.vector());
      std::vector<Triangle> triangles;
      for (int i = 0, n = bytes.byte() % 16; i < n; ++i) {
        const int u = bytes.byte() % 13, v = bytes.byte() % 13;
        triangles.push_back({u, v, bytes.byte() % 13});
      }
      return std::make_shared<Mesh>(vertices, triangles);
    }
    case ShapeType::HeightField: {
      const int numX = bytes.byte() % 5, numY = bytes.byte() % 5;
      std::vector<Real> heights;
      for (int i = 0; i < numX * numY; ++i) heights.push_back(bytes.number());
      return std::make_shared<HeightField>(numX, numY, a, b, heights);
    }
    case ShapeType::PointCloud: {
      std::vector<Vec3> points;
      for (int i = 0, n = bytes.byte() % 10; i < n; ++i) points.push_back(bytes.vector());
      return std::make_shared<PointCloud>(points, a);
    }
    case ShapeType::Compound: {
      std::vector<Compound::Child> children;
      for (int i = 0, n = bytes.byte() % 4; i < n; ++i) {
        auto child = readShape(bytes, false);
        children.push_back({std::move(child), {Mat3::identity(), bytes.vector()}});
      }
      return std::make_shared<Compound>(std::move(children));
    }
    default:
      return nullptr;
  }
}

Transform readPose(Bytes& bytes) {
  const Real w = bytes.number();
  const Vec3 v = bytes.vector();
  Transform pose;
  // The square of a tiny quaternion underflows and leaves no rotation: scaled first. Zero, NaN and
  // infinity stay what they are, poses that are not finite.
  const Real largest =
      std::fmax(std::fmax(std::fabs(w), std::fabs(v.x)), std::fmax(std::fabs(v.y), std::fabs(v.z)));
  pose.rotation = rotationMatrix(Quat{w / largest, v.x / largest, v.y / largest, v.z / largest});
  pose.translation = bytes.vector();
  return pose;
}

bool isFinite(const Vec3& v) {
  return std::isfinite(v.x) && std::isfinite(v.y) && std::isfinite(v.z);
}
bool isFinite(const Transform& X) {
  return isFinite(X.translation) && isFinite(X.rotation.col[0]) && isFinite(X.rotation.col[1]) &&
         isFinite(X.rotation.col[2]);
}

/// Size of what takes part, for tolerances; a plane adds none.
Real reach(const Shape& shape) {
  if (shape.type() == ShapeType::Plane) return 0;
  const Aabb& box = shape.localAabb();
  return norm(box.lower) + norm(box.upper);
}

void checkContacts(const CollisionResult& result) {
  for (const ContactManifold& manifold : result.manifolds()) {
    CHECK(manifold.count >= 1 && manifold.count <= ContactManifold::kMaxPoints);
    for (const ContactPoint& contact : manifold.contacts()) {
      CHECK(isFinite(contact.position));
      CHECK(std::fabs(norm(contact.normal) - 1) < 1e-9);
      CHECK(std::isfinite(contact.depth) && contact.depth >= 0);
    }
  }
}

/// Where distances can be told at all: beyond, one ulp of a position is larger than any shape, and
/// only finite numbers are promised.
constexpr Real kFarthest = 1e12;
/// Where a query answers at all. The bound is an order of magnitude: next to it either is right.
constexpr Real kBeyond = 1e31;

/// False for NaN.
bool isWithin(const Transform& X, Real bound) {
  const Vec3& p = X.translation;
  return std::fabs(p.x) <= bound && std::fabs(p.y) <= bound && std::fabs(p.z) <= bound;
}

void checkPair(const Shape& shape1, const Transform& X_W1, const Shape& shape2,
               const Transform& X_W2) {
  question = {{&shape1, &shape2}, {&X_W1, &X_W2}};
  const bool posesUsable =
      isFinite(X_W1) && isFinite(X_W2) && isWithin(X_W1, kBeyond) && isWithin(X_W2, kBeyond);
  const bool isNear = isWithin(X_W1, kFarthest) && isWithin(X_W2, kFarthest);
  const PairSupport support = pairSupport(shape1.type(), shape2.type());
  CHECK(support.collide == pairSupport(shape2.type(), shape1.type()).collide);
  for (const ConvexAlgorithm algorithm :
       {ConvexAlgorithm::Auto, ConvexAlgorithm::Gjk, ConvexAlgorithm::Mpr}) {
    CollisionOption option;
    option.algorithm = algorithm;
    CollisionResult result, binary;
    const int added = collide(shape1, X_W1, shape2, X_W2, option, result);
    CHECK(added == result.numContacts());
    if (!posesUsable) CHECK(result.status() == QueryStatus::InvalidPose && added == 0);
    checkContacts(result);
    option.enableContact = false;
    option.maxNumContacts = 1;
    collide(shape1, X_W1, shape2, X_W2, option, binary);
    CHECK(binary.numContacts() == 0);

    DistanceOption distanceOption;
    distanceOption.algorithm = algorithm;
    const DistanceResult d = distance(shape1, X_W1, shape2, X_W2, distanceOption);
    CHECK(std::isfinite(d.distance) && isFinite(d.normal));
    CHECK(isFinite(d.point1) && isFinite(d.point2));
    if (!posesUsable) CHECK(d.status == QueryStatus::InvalidPose);
    if (d.status != QueryStatus::Ok) continue;
    CHECK(support.distance);
    CHECK(std::fabs(norm(d.normal) - 1) < 1e-9);
    if (!isNear) continue;
    const Real size = reach(shape1) + reach(shape2) + norm(X_W1.translation) +
                      norm(X_W2.translation) + std::fabs(d.distance);
    CHECK(norm(d.point1 - d.point2 - d.normal * d.distance) <= 1e-6 * size);
    if (result.status() == QueryStatus::Ok && std::fabs(d.distance) > 1e-6 * size) {
      CHECK(result.isCollision() == (d.distance < 0));
      CHECK(binary.isCollision() == (d.distance < 0));
    }
  }
}

void checkMotion(Bytes& bytes, const Shape& shape1, const Transform& X_W1, const Shape& shape2,
                 const Transform& X_W2) {
  Motion motion1{X_W1, bytes.vector(), bytes.vector()};
  Motion motion2{X_W2, {}, {}};
  const ImpactResult impact = timeOfImpact(shape1, motion1, shape2, motion2);
  CHECK(impact.s >= 0 && impact.s <= 1);
  CHECK(std::isfinite(impact.distance) && isFinite(impact.normal) && isFinite(impact.point));
}

void checkShape(Bytes& bytes, const Shape& shape) {
  const Vec3 point = bytes.vector();
  const Ray ray{bytes.vector(), bytes.vector(), 1e6};
  if (!isFinite(point) || !isFinite(ray.origin) || !isFinite(ray.direction)) return;
  const SignedDistance d = shape.signedDistance(point);
  CHECK(!std::isnan(d.distance) && !std::isnan(norm(d.normal)));
  if (const auto hit = shape.rayCast(ray)) {
    CHECK(hit->t >= 0 && hit->t <= ray.maxT);
    CHECK(std::fabs(norm(hit->normal) - 1) < 1e-9);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Bytes bytes(data, size);
  question = {};
  try {
    const auto shape1 = readShape(bytes, true), shape2 = readShape(bytes, true);
    const Transform X_W1 = readPose(bytes), X_W2 = readPose(bytes);
    const bool posesFinite = isFinite(X_W1) && isFinite(X_W2);
    checkPair(*shape1, X_W1, *shape2, X_W2);
    if (posesFinite) checkMotion(bytes, *shape1, X_W1, *shape2, X_W2);
    checkShape(bytes, *shape1);
  } catch (const InvalidInput&) {
    // A shape was refused: that is an answer.
  }
  return 0;
}
