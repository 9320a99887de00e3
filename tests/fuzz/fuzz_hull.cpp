// SPDX-License-Identifier: Apache-2.0
//
// Any bytes become a primitive or the hull of a point set. The constructor may refuse; what it
// accepts must answer every query with finite numbers that agree with each other.
#include <tangere/error.hpp>
#include <tangere/shape.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

namespace {

using namespace tangere;

void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

class Bytes {
 public:
  Bytes(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}
  [[nodiscard]] bool empty() const { return at_ >= size_; }
  std::uint8_t byte() { return at_ < size_ ? data_[at_++] : std::uint8_t{0}; }
  /// Any double, a small integer (points on common lines and planes), or one with a little noise.
  Real number(int kind) {
    if (kind % 4 == 0) {
      std::uint64_t bits = 0;
      for (int i = 0; i < 8; ++i) bits |= std::uint64_t{byte()} << (8 * i);
      return std::bit_cast<Real>(bits);
    }
    const Real value = static_cast<Real>(byte()) - 128;
    if (kind % 4 == 1) return value;
    if (kind % 4 == 2) return std::floor(value / 32);
    return value * (1 + 1e-15 * byte()) + 1e4;
  }
  Vec3 vector(int kind) {
    const Real x = number(kind), y = number(kind);
    return {x, y, number(kind)};
  }

 private:
  const std::uint8_t* data_;
  std::size_t size_;
  std::size_t at_ = 0;
};

std::unique_ptr<Shape> makeShape(Bytes& bytes) {
  const int type = bytes.byte() % 16, kind = bytes.byte();
  switch (type) {
    case 0:
      return std::make_unique<Sphere>(bytes.number(kind));
    case 1:
      return std::make_unique<Box>(bytes.vector(kind));
    case 2:
    case 3:
    case 4: {
      const Real radius = bytes.number(kind), half = bytes.number(kind);
      if (type == 2) return std::make_unique<Capsule>(radius, half);
      if (type == 3) return std::make_unique<Cylinder>(radius, half);
      return std::make_unique<Cone>(radius, half);
    }
    case 5:
      return std::make_unique<Ellipsoid>(bytes.vector(kind));
    default: {
      // Half of the hulls are flattened or shrunk: that is where they break.
      Vec3 scale{1, 1, 1};
      if (type > 10) scale[type % 3] = 1e-6;
      if (type > 13) scale = scale * 1e-6;
      std::vector<Vec3> points;
      const int count = bytes.byte();
      for (int i = 0; i < count && !bytes.empty(); ++i) {
        const Vec3 p = bytes.vector(kind);
        points.push_back({p.x * scale.x, p.y * scale.y, p.z * scale.z});
      }
      return std::make_unique<Convex>(points);
    }
  }
}

Real maxAbs(const Vec3& v) {
  return std::fmax(std::fabs(v.x), std::fmax(std::fabs(v.y), std::fabs(v.z)));
}

bool isFinite(const Vec3& v) {
  return std::isfinite(v.x) && std::isfinite(v.y) && std::isfinite(v.z);
}

void checkHull(const Convex& hull) {
  int corners = 0;
  for (int f = 0; f < hull.numFaces(); ++f) {
    require(hull.face(f).size() >= 3, "a face has three corners");
    corners += static_cast<int>(hull.face(f).size());
  }
  require(static_cast<int>(hull.vertices().size()) - corners / 2 + hull.numFaces() == 2,
          "the hull is a sphere");
}

void checkQueries(const Shape& shape, Bytes& bytes) {
  const Vec3 extent = shape.localAabb().upper - shape.localAabb().lower;
  const Real size = norm(extent);
  const Real farthest = norm(shape.localAabb().lower) + norm(shape.localAabb().upper);
  require(std::isfinite(size) && size > 0, "the box is finite");
  const MassProperties mass = shape.massProperties(1);
  require(mass.mass >= 0 && isFinite(mass.center) && isFinite(mass.inertia.col[0]),
          "mass properties are finite");
  for (int i = 0; i < 4; ++i) {
    const int kind = bytes.byte();
    const Vec3 p = bytes.vector(kind), d = bytes.vector(kind);
    if (!isFinite(p) || !isFinite(d)) continue;
    require(isFinite(shape.support(d)), "support is finite");
    const SignedDistance distance = shape.signedDistance(p);
    require(std::isfinite(distance.distance), "distance is finite");
    require(isFinite(distance.closest), "closest is finite");
    require(std::fabs(norm(distance.normal) - 1) < 1e-9, "normal is unit");
    require(shape.localAabb().lower.x - 1e-9 * farthest <= distance.closest.x &&
                distance.closest.x <= shape.localAabb().upper.x + 1e-9 * farthest,
            "closest is in the box");
    if (norm(p) < 1e3 * farthest) {
      require(norm(distance.closest + distance.normal * distance.distance - p) <=
                  1e-9 * (farthest + norm(p)),
              "the point is on the normal");
    }
    const std::optional<RayHit> hit = shape.rayCast({p, d});
    if (hit) {
      require(std::isfinite(hit->t) && hit->t >= 0, "t is finite");
      require(isFinite(hit->position), "hit is finite");
      require(std::fabs(norm(hit->normal) - 1) < 1e-9, "hit normal is unit");
      const Real scale = farthest + norm(p) / 1e3;
      require(std::fabs(shape.signedDistance(hit->position).distance) <= 1e-6 * scale,
              "hit is on the surface");
    }
    // A ray from inside must leave, unless its direction is so short that t is beyond every maxT.
    if (distance.distance < -1e-6 * farthest && farthest < 1e290 * maxAbs(d)) {
      require(hit.has_value(), "a ray from inside leaves");
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Bytes bytes(data, size);
  std::unique_ptr<Shape> shape;
  try {
    shape = makeShape(bytes);
  } catch (const InvalidInput&) {
    return 0;
  }
  if (shape->type() == ShapeType::Convex) checkHull(static_cast<const Convex&>(*shape));
  checkQueries(*shape, bytes);
  return 0;
}
