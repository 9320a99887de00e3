// SPDX-License-Identifier: Apache-2.0
//
// What a collision query answers with: contact points, manifolds, distances.
//
// One convention everywhere: the normal is unit and points FROM OBJECT 2 TO OBJECT 1 (it pushes
// object 1 away); depth > 0 overlaps; positions are in world, half way between the two surfaces,
// so the point on object 1 is position - normal * depth/2 and that on object 2 is
// position + normal * depth/2.
#pragma once

#include <tangere/types.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tangere {

/// Stable name of a collision object. Pairs and results are ordered by it, never by address.
using ObjectId = std::uint32_t;
inline constexpr ObjectId kNoObject = 0xffffffffu;

template <class S>
struct ContactPointT {
  Vec3T<S> position{};
  Vec3T<S> normal{};
  S depth{};
  /// Vertex, edge, face, triangle or cell of each object that made the point; the same feature
  /// gives the same number in the next query. -1 where a shape has no features.
  std::int32_t feature1 = -1;
  std::int32_t feature2 = -1;
};
using ContactPoint = ContactPointT<Real>;
static_assert(sizeof(ContactPoint) == 64);  // one cache line

/// Shape of the region of contact, filled truthfully by the narrow phase.
enum class ContactType : std::uint8_t {
  Point,  ///< One point: sphere on anything, vertex on face, two crossing edges.
  Edge,   ///< A line: edge on face, capsule or cylinder lying on a face.
  Face,   ///< A flat polygon.
  Patch,  ///< Points with different normals: a curved or concave region.
  Unknown,
};

/// What became of a query. Anything but Ok still comes with finite numbers.
enum class QueryStatus : std::uint8_t {
  Ok,
  NotConverged,  ///< An iteration cap was reached: the answer is the best one found.
  Unsupported,   ///< This pair of shape types has no such query: see pairSupport().
  InvalidPose,   ///< A pose was not finite, or beyond 1e30 m; nothing was computed.
};

/// Contact points of one pair of objects that belong together.
template <class S>
struct ContactManifoldT {
  static constexpr int kMaxPoints = 4;

  ContactPointT<S> points[kMaxPoints];
  std::int32_t count = 0;
  ContactType type = ContactType::Unknown;
  QueryStatus status = QueryStatus::Ok;
  ObjectId object1 = kNoObject;
  ObjectId object2 = kNoObject;
  std::int32_t firstContact = 0;  ///< flat index of points[0] in the CollisionResult it is in

  [[nodiscard]] TANGERE_HD int numContacts() const { return count; }
  [[nodiscard]] std::span<const ContactPointT<S>> contacts() const {
    return {points, static_cast<std::size_t>(count)};
  }
  /// The deepest depth; 0 without points.
  [[nodiscard]] TANGERE_HD S depth() const {
    S deepest{};
    for (int i = 0; i < count; ++i)
      if (i == 0 || points[i].depth > deepest) deepest = points[i].depth;
    return deepest;
  }
  /// The normal that all points share, or zero where they differ.
  [[nodiscard]] TANGERE_HD Vec3T<S> sharedNormal() const {
    for (int i = 1; i < count; ++i)
      if (!(points[i].normal == points[0].normal)) return {};
    return count > 0 ? points[0].normal : Vec3T<S>{};
  }
};
using ContactManifold = ContactManifoldT<Real>;

/// All contacts of a query, by manifold or flat. clear() keeps the memory.
class CollisionResult {
 public:
  void clear() {
    num_manifolds_ = 0;
    num_contacts_ = 0;
    colliding_ = false;
    status_ = QueryStatus::Ok;
  }
  void addManifold(const ContactManifold& manifold);
  /// Room for one manifold without points, to be written in place; follow with commitManifold() or
  /// discardManifold(). Its points hold old values: write every field of those that count.
  [[nodiscard]] ContactManifold& beginManifold() {
    if (num_manifolds_ == num_stored_) growStorage();
    ContactManifold& manifold = storage_[num_manifolds_++];
    manifold.count = 0;
    manifold.type = ContactType::Unknown;
    manifold.status = QueryStatus::Ok;
    manifold.object1 = kNoObject;
    manifold.object2 = kNoObject;
    return manifold;
  }
  void commitManifold() {
    ContactManifold& manifold = storage_[num_manifolds_ - 1];
    manifold.firstContact = num_contacts_;
    num_contacts_ += manifold.count;
    colliding_ = true;
  }
  void discardManifold() { --num_manifolds_; }
  /// For queries without contacts (binaryCheck): collision without a manifold.
  void markColliding() { colliding_ = true; }
  /// Keeps the worst status seen.
  void raiseStatus(QueryStatus status) {
    if (status > status_) status_ = status;
  }

  [[nodiscard]] bool isCollision() const { return colliding_; }
  explicit operator bool() const { return colliding_; }
  [[nodiscard]] int numManifolds() const { return static_cast<int>(num_manifolds_); }
  [[nodiscard]] int numContacts() const { return num_contacts_; }
  [[nodiscard]] std::span<const ContactManifold> manifolds() const {
    return {storage_.data(), num_manifolds_};
  }
  [[nodiscard]] std::span<ContactManifold> manifolds() { return {storage_.data(), num_manifolds_}; }
  /// Flat access: contact i in manifold order; i in [0, numContacts()).
  [[nodiscard]] const ContactPoint& contact(int i) const;
  [[nodiscard]] const ContactManifold& manifoldOfContact(int i) const;
  /// The worst status of all pairs that were tested.
  [[nodiscard]] QueryStatus status() const { return status_; }

 private:
  // Out of line: a query that finds room does not pay for the code of one that does not.
  void growStorage();

  // Manifolds beyond num_manifolds_ are kept: filling 280 bytes with zeros anew would cost more
  // than a whole sphere-sphere query.
  std::vector<ContactManifold> storage_;
  std::size_t num_manifolds_ = 0;
  std::size_t num_stored_ = 0;  // storage_.size(), without its division by 280
  int num_contacts_ = 0;
  bool colliding_ = false;
  QueryStatus status_ = QueryStatus::Ok;
};

/// Signed distance of two objects: negative is minus the smallest translation that separates them.
struct DistanceResult {
  Real distance = 0;
  Vec3 normal{};  ///< Unit, from object 2 to object 1.
  Vec3 point1{};  ///< On object 1, world; point1 - point2 = distance * normal.
  Vec3 point2{};
  /// As in ContactPoint. -1 also where the pair is measured by support points (hulls, cylinders,
  /// cones, ellipsoids): these tell the nearest points, and not which face they lie on.
  std::int32_t feature1 = -1;
  std::int32_t feature2 = -1;
  ObjectId object1 = kNoObject;
  ObjectId object2 = kNoObject;
  QueryStatus status = QueryStatus::Ok;
};

/// Line contact: the segment from point1 to point2 with the depth at both ends.
struct EdgeContact {
  Vec3 point1{}, point2{};
  Vec3 direction{};
  Vec3 normal{};
  Real depth1 = 0, depth2 = 0;
};

/// Flat contact: the whole polygon (counter-clockwise about the normal), not only four points.
struct FaceContact {
  std::vector<Vec3> polygon;
  Vec3 normal{};
  Vec3 centroid{};
  Real area = 0;
};

/// Local geometry of the two surfaces at a smooth contact: fundamental forms in the shared tangent
/// frame (u, v, normal), the second form positive where the solid curves away from the contact.
struct ParametricContact {
  Vec3 u{}, v{};
  Real firstForm1[3] = {1, 0, 1};  ///< E, F, G of object 1
  Real secondForm1[3] = {};        ///< L, M, N of object 1
  Real firstForm2[3] = {1, 0, 1};
  Real secondForm2[3] = {};
};

}  // namespace tangere
