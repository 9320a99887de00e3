// SPDX-License-Identifier: Apache-2.0
//
// Where the points of a solid on a half space go (see kernels/plane_contact.hpp), for the pairs
// that have the half space as shape 2 (normal up, towards the solid) and as shape 1 (normal down).
#pragma once

#include "collision/narrow_phase.hpp"

#include <cstdint>

namespace tangere::collision {

/// Which shape of the pair is the half space.
enum class PlaneSide : std::uint8_t { Shape1, Shape2 };

/// The solid's origin and the plane's normal.
template <PlaneSide kSide>
struct PlaneFrame {
  explicit PlaneFrame(const PairInput& input)
      : origin((kSide == PlaneSide::Shape2 ? input.X_W1 : input.X_W2).translation),
        normal((kSide == PlaneSide::Shape2 ? input.X_W2 : input.X_W1).rotation.col[2]) {}

  /// The point `down` below a point of the solid.
  [[gnu::always_inline]] void write(const Vec3& point, Real down, Vec3& out) const {
    out.x = origin.x + (point.x - normal.x * down);
    out.y = origin.y + (point.y - normal.y * down);
    out.z = origin.z + (point.z - normal.z * down);
  }
  /// From shape 2 to shape 1.
  [[gnu::always_inline]] void writeNormal(Vec3& out) const {
    out.x = kSide == PlaneSide::Shape2 ? normal.x : -normal.x;
    out.y = kSide == PlaneSide::Shape2 ? normal.y : -normal.y;
    out.z = kSide == PlaneSide::Shape2 ? normal.z : -normal.z;
  }

  // Copies: as references they would be read again after every number that is written.
  const Vec3 origin;
  const Vec3 normal;
};

/// Points become contact points of one manifold, straight in place.
template <PlaneSide kSide>
class PlaneManifold {
 public:
  PlaneManifold(const PairInput& input, CollisionResult& result)
      : frame_(input), half_normal_(frame_.normal * Real(0.5)), result_(result) {}

  [[gnu::always_inline]] void add(const Vec3& point, Real height, std::int32_t feature) {
    if (count_ == 0) manifold_ = &result_.beginManifold();
    addIf(true, point, height, feature);
  }
  /// After add(): written in any case and counted or not, which is no branch to mispredict.
  [[gnu::always_inline]] void addIf(bool condition, const Vec3& point, Real height,
                                    std::int32_t feature) {
    ContactPoint& to = manifold_->points[count_];
    count_ += condition ? 1 : 0;
    // Half way down, with the half taken from what is known long before the height is.
    to.position.x = frame_.origin.x + (point.x - half_normal_.x * height);
    to.position.y = frame_.origin.y + (point.y - half_normal_.y * height);
    to.position.z = frame_.origin.z + (point.z - half_normal_.z * height);
    frame_.writeNormal(to.normal);
    to.depth = 0 - height;  // not -height: no negative zeros
    to.feature1 = kSide == PlaneSide::Shape2 ? feature : -1;
    to.feature2 = kSide == PlaneSide::Shape2 ? -1 : feature;
  }

  /// Keeps the first `maxNumContacts` points and returns their number.
  [[gnu::always_inline]] int commit(int maxNumContacts) {
    if (count_ == 0) return 0;
    // By what the solid has below the plane, not by how much of it was asked for.
    constexpr int kFace = static_cast<int>(ContactType::Face);
    static_assert(static_cast<int>(ContactType::Point) == 0 &&
                  static_cast<int>(ContactType::Edge) == 1 && kFace == 2);
    manifold_->type = static_cast<ContactType>(count_ - 1 < kFace ? count_ - 1 : kFace);
    if (count_ > maxNumContacts) count_ = maxNumContacts;
    manifold_->count = count_;
    result_.commitManifold();
    return count_;
  }

 private:
  PlaneFrame<kSide> frame_;
  Vec3 half_normal_;
  CollisionResult& result_;
  ContactManifold* manifold_ = nullptr;
  int count_ = 0;
};

/// Only whether there is a point.
struct PlaneOverlap {
  void add(const Vec3&, Real, std::int32_t) { found = true; }
  bool found = false;
};

/// The lowest point becomes the answer of a distance query.
template <PlaneSide kSide>
class PlaneDistance {
 public:
  PlaneDistance(const PairInput& input, const DistanceOption& option, DistanceResult& result)
      : frame_(input), option_(option), out_(result) {}

  [[gnu::always_inline]] void add(const Vec3& point, Real height, std::int32_t feature) {
    Real solidDown = 0, planeDown = height;
    out_.distance = height;
    if (height < 0 && !option_.enableSigned) {
      out_.distance = 0;
      solidDown = planeDown = Real(0.5) * height;
    }
    frame_.write(point, solidDown, kSide == PlaneSide::Shape2 ? out_.point1 : out_.point2);
    frame_.write(point, planeDown, kSide == PlaneSide::Shape2 ? out_.point2 : out_.point1);
    frame_.writeNormal(out_.normal);
    out_.feature1 = kSide == PlaneSide::Shape2 ? feature : -1;
    out_.feature2 = kSide == PlaneSide::Shape2 ? -1 : feature;
  }

 private:
  PlaneFrame<kSide> frame_;
  const DistanceOption& option_;
  DistanceResult& out_;
};

}  // namespace tangere::collision
