// SPDX-License-Identifier: Apache-2.0
//
// Collision queries on two shapes, and on a group of objects.
//
// Queries never throw: poses that are not finite or beyond 1e30 m and unsupported pairs come back
// as a status. Contacts, normals and signs are those of <tangere/contact.hpp>.
#pragma once

#include <tangere/broad_phase.hpp>
#include <tangere/contact.hpp>
#include <tangere/shape.hpp>

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace tangere {

/// How two general convex shapes are compared. The closed forms are used by Auto alone.
/// MprExtended: portal refinement in double-double arithmetic, for signed distances, normals and
/// nearest points to the last digit, also where shapes touch; about 100 times slower than Mpr.
enum class ConvexAlgorithm : std::uint8_t { Auto, Gjk, Mpr, MprExtended };

struct CollisionOption {
  /// false: only whether they overlap (faster).
  bool enableContact = true;
  /// 0: nothing is tested and the answer is no; 1: the deepest point.
  int maxNumContacts = 1000;
  ConvexAlgorithm algorithm = ConvexAlgorithm::Auto;

  [[nodiscard]] static CollisionOption binaryCheck() {
    return {.enableContact = false, .maxNumContacts = 1};
  }
  [[nodiscard]] static CollisionOption fullContacts(int max = 1000) {
    return {.enableContact = true, .maxNumContacts = max};
  }
};

struct DistanceOption {
  /// Beyond this distance the search may stop: the result is then a lower bound above it [m].
  Real upperBound = std::numeric_limits<Real>::infinity();
  /// false: 0 for overlapping shapes instead of the negative depth (faster).
  bool enableSigned = true;
  ConvexAlgorithm algorithm = ConvexAlgorithm::Auto;
};

/// What one query leaves for the next one on the same two shapes: the last separating axis or
/// simplex, and what was proved about an overlap. Purely a hint, whatever query left it: polytopes
/// give the same bits with and without it, curved shapes the same answer to within the tolerance of
/// their iteration.
struct PairCache {
  Vec3 axis{};  ///< in the frame of shape 1; zero: nothing known
  std::uint8_t count = 0;
  std::int16_t index1[4] = {-1, -1, -1, -1};
  std::int16_t index2[4] = {-1, -1, -1, -1};
  Vec3 drift{};        ///< how the axis changed last
  Real clearance = 0;  ///< with shape 2 at X_12, every other way out is at least this long [m]
  Transform X_12{};    ///< pose of shape 2 in the frame of shape 1
  Real shapesKey = 0;  ///< of the shapes that `clearance` is about

  /// Shapes that were apart stay so until they have moved far enough to close the gap: a proof for
  /// all poses near X_W1 and X_W2.
  struct Apart {
    Real gap = 0;  ///< what the last query found to be between the shapes at least; 0: nothing [m]
    Real limit = 0;                        ///< square of the gap of the proof; 0: there is none
    Real weight1 = 0, weight2 = 0;         ///< squares of the radii about the origins, halved
    std::uint64_t shape1 = 0, shape2 = 0;  ///< which shapes this is about
    Transform X_W1{}, X_W2{};
  };
  Apart apart{};
};

/// Tests two shapes and appends what it finds to `result`. Returns the number of contacts added
/// (with enableContact off: 1 or 0).
int collide(const Shape& shape1, const Transform& X_W1, const Shape& shape2, const Transform& X_W2,
            const CollisionOption& option, CollisionResult& result, PairCache* cache = nullptr);

/// Whether two shapes overlap; the fastest question.
[[nodiscard]] bool overlap(const Shape& shape1, const Transform& X_W1, const Shape& shape2,
                           const Transform& X_W2, PairCache* cache = nullptr);

/// Signed distance with witness points.
[[nodiscard]] DistanceResult distance(const Shape& shape1, const Transform& X_W1,
                                      const Shape& shape2, const Transform& X_W2,
                                      const DistanceOption& option = {},
                                      PairCache* cache = nullptr);

/// Whether a pair of shape types can be asked, and why not.
struct PairSupport {
  bool collide = false;
  bool distance = false;
  std::string_view reason;  ///< Empty when both are supported.
};
[[nodiscard]] PairSupport pairSupport(ShapeType type1, ShapeType type2);

/// The contact region of one manifold in more detail than four points, on request.
[[nodiscard]] std::optional<EdgeContact> edgeContact(const ContactManifold& manifold);
[[nodiscard]] std::optional<FaceContact> faceContact(const Shape& shape1, const Transform& X_W1,
                                                     const Shape& shape2, const Transform& X_W2,
                                                     const ContactManifold& manifold);
[[nodiscard]] std::optional<ParametricContact> parametricContact(const Shape& shape1,
                                                                 const Transform& X_W1,
                                                                 const Shape& shape2,
                                                                 const Transform& X_W2,
                                                                 const ContactPoint& contact);

/// Motion of a shape over one interval, s in [0, 1]: constant linear and angular velocity.
struct Motion {
  Transform start{};
  Vec3 displacement{};    ///< of the shape's origin over the interval [m]
  Vec3 rotationVector{};  ///< axis times angle over the interval, world [rad]

  [[nodiscard]] Transform at(Real s) const;
};

enum class ImpactStatus : std::uint8_t {
  Hit,            ///< They come within `tolerance` at `s`.
  Miss,           ///< Proved apart for the whole interval.
  Overlapping,    ///< They overlap at the start.
  Indeterminate,  ///< Iteration cap: apart up to `s`, unknown beyond.
};

/// Conservative time of impact: never late. Apart on [0, s] with certainty.
struct ImpactResult {
  ImpactStatus status = ImpactStatus::Miss;
  Real s = 1;
  Real distance = 0;  ///< at s
  Vec3 normal{};      ///< from object 2 to object 1, at s
  Vec3 point{};       ///< world, at s
  int iterations = 0;
};

struct ImpactOption {
  Real tolerance = 1e-6;  ///< gap at which a hit is reported [m]
  int maxIterations = 200;
};

[[nodiscard]] ImpactResult timeOfImpact(const Shape& shape1, const Motion& motion1,
                                        const Shape& shape2, const Motion& motion2,
                                        const ImpactOption& option = {});

/// Decides which pairs are tested at all.
class CollisionFilter {
 public:
  virtual ~CollisionFilter() = default;
  [[nodiscard]] virtual bool ignoresCollision(ObjectId object1, ObjectId object2) const = 0;
};

/// A shape at a pose with a stable id.
struct CollisionObject {
  ObjectId id = kNoObject;
  std::shared_ptr<const Shape> shape{};
  Transform pose{};
  std::uint32_t group = 1;           ///< bits this object belongs to
  std::uint32_t mask = 0xffffffffu;  ///< bits it collides with; both sides must agree
};

enum class BroadPhaseType : std::uint8_t { Bvh, Sweep, BruteForce };

/// First hit of a ray or of a moving shape against a group.
struct GroupRayHit {
  ObjectId object = kNoObject;
  RayHit hit;
};
struct GroupCastHit {
  ObjectId object = kNoObject;
  ImpactResult impact;
};

/// A set of objects that is asked as a whole. Results are ordered by the ids of the objects and do
/// not depend on the order of insertion or on the number of threads.
class CollisionGroup {
 public:
  explicit CollisionGroup(BroadPhaseType type = BroadPhaseType::Bvh);
  ~CollisionGroup();
  CollisionGroup(CollisionGroup&&) noexcept;
  CollisionGroup& operator=(CollisionGroup&&) noexcept;

  /// Throws InvalidInput on a taken id, no shape, or a pose that is not rigid or beyond 1e30 m.
  void add(const CollisionObject& object);
  /// The same with the next free id, which is returned.
  ObjectId add(std::shared_ptr<const Shape> shape, const Transform& pose);
  void remove(ObjectId id);
  void setPose(ObjectId id, const Transform& pose);
  [[nodiscard]] const CollisionObject& object(ObjectId id) const;
  [[nodiscard]] int size() const;
  void clear();

  /// Pairs the narrow phase is never asked about.
  void excludePair(ObjectId id1, ObjectId id2);
  void includePair(ObjectId id1, ObjectId id2);
  /// Further filter; not owned, may be null. Must not change its mind between two changes of the
  /// group.
  void setFilter(const CollisionFilter* filter);
  /// Worker threads for collide(); 1 by default. Any number gives the same bits.
  void setNumThreads(int numThreads);

  /// All pairs of the group; what is found is appended to `result`. Returns whether anything
  /// collides; at most option.maxNumContacts contacts in all, in order of pair ids.
  bool collide(const CollisionOption& option, CollisionResult& result);
  /// The closest pair within option.upperBound (the deepest if some overlap).
  [[nodiscard]] std::optional<DistanceResult> distance(const DistanceOption& option = {});
  /// The nearest object along the ray; all objects along it, sorted by t.
  [[nodiscard]] std::optional<GroupRayHit> rayCast(const Ray& ray) const;
  void rayCastAll(const Ray& ray, std::vector<GroupRayHit>& out) const;
  /// The first object that `shape` meets on its way; of the impact, object 1 is `shape`. An
  /// Indeterminate impact counts at the time up to which it is known to be apart.
  [[nodiscard]] std::optional<GroupCastHit> shapeCast(const Shape& shape, const Motion& motion,
                                                      const ImpactOption& option = {}) const;

  [[nodiscard]] const BroadPhase& broadPhase() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tangere
