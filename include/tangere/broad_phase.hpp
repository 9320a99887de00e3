// SPDX-License-Identifier: Apache-2.0
//
// Broad phase: which boxes of a moving set overlap. Works on ids and boxes alone.
#pragma once

#include <tangere/contact.hpp>
#include <tangere/types.hpp>

#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace tangere {

/// Two objects with first < second.
struct ObjectPair {
  ObjectId first = kNoObject;
  ObjectId second = kNoObject;
  friend bool operator==(const ObjectPair&, const ObjectPair&) = default;
  friend auto operator<=>(const ObjectPair&, const ObjectPair&) = default;
};

/// A set of boxes that answers overlap questions. Every answer is exact for the boxes given (not
/// for the enlarged ones an implementation may keep) and sorted, so that all implementations
/// answer alike whatever the order of insertion.
class BroadPhase {
 public:
  virtual ~BroadPhase() = default;

  /// Throws InvalidInput when the id is taken or the box is not a box (NaN, lower > upper).
  virtual void add(ObjectId id, const Aabb& box) = 0;
  /// Throws InvalidInput when the id is unknown; so does update().
  virtual void remove(ObjectId id) = 0;
  virtual void update(ObjectId id, const Aabb& box) = 0;
  virtual void clear() = 0;
  [[nodiscard]] virtual int size() const = 0;

  /// All overlapping pairs, sorted. The span stays valid until the set changes.
  [[nodiscard]] virtual std::span<const ObjectPair> computePotentialPairs() = 0;

  /// Ids of the boxes that overlap `box`, sorted, appended to `out`.
  virtual void queryOverlap(const Aabb& box, std::vector<ObjectId>& out) const = 0;
  /// Visits the boxes hit by origin + t direction, t in [0, maxT]. The visitor returns the new
  /// maxT (to cut the ray short) for each; order of visits is not specified.
  virtual void queryRay(const Vec3& origin, const Vec3& direction, Real maxT,
                        const std::function<Real(ObjectId)>& visit) const = 0;
  /// Visits boxes in no particular order until none is nearer to `box` than the bound; the visitor
  /// returns the new bound on the distance.
  virtual void queryNearest(const Aabb& box, Real maxDistance,
                            const std::function<Real(ObjectId)>& visit) const = 0;
};

/// All against all: the reference for the others.
class BruteForceBroadPhase final : public BroadPhase {
 public:
  BruteForceBroadPhase();
  ~BruteForceBroadPhase() override;
  void add(ObjectId id, const Aabb& box) override;
  void remove(ObjectId id) override;
  void update(ObjectId id, const Aabb& box) override;
  void clear() override;
  [[nodiscard]] int size() const override;
  [[nodiscard]] std::span<const ObjectPair> computePotentialPairs() override;
  void queryOverlap(const Aabb& box, std::vector<ObjectId>& out) const override;
  void queryRay(const Vec3& origin, const Vec3& direction, Real maxT,
                const std::function<Real(ObjectId)>& visit) const override;
  void queryNearest(const Aabb& box, Real maxDistance,
                    const std::function<Real(ObjectId)>& visit) const override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Dynamic tree of enlarged boxes with a cache of the current pairs: what moved is looked at again,
/// what rests costs nothing.
class BvhBroadPhase final : public BroadPhase {
 public:
  BvhBroadPhase();
  ~BvhBroadPhase() override;
  void add(ObjectId id, const Aabb& box) override;
  /// Many at once: one balanced build instead of single insertions.
  void addBulk(std::span<const ObjectId> ids, std::span<const Aabb> boxes);
  void remove(ObjectId id) override;
  void update(ObjectId id, const Aabb& box) override;
  void clear() override;
  [[nodiscard]] int size() const override;
  [[nodiscard]] std::span<const ObjectPair> computePotentialPairs() override;
  /// Only the pairs in which a box took part that was added or updated since the last call of
  /// computePotentialPairs() or of this; sorted.
  [[nodiscard]] std::span<const ObjectPair> computeMovedPairs();
  void queryOverlap(const Aabb& box, std::vector<ObjectId>& out) const override;
  void queryRay(const Vec3& origin, const Vec3& direction, Real maxT,
                const std::function<Real(ObjectId)>& visit) const override;
  void queryNearest(const Aabb& box, Real maxDistance,
                    const std::function<Real(ObjectId)>& visit) const override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Sort and sweep along the axis of greatest spread.
class SweepBroadPhase final : public BroadPhase {
 public:
  SweepBroadPhase();
  ~SweepBroadPhase() override;
  void add(ObjectId id, const Aabb& box) override;
  void remove(ObjectId id) override;
  void update(ObjectId id, const Aabb& box) override;
  void clear() override;
  [[nodiscard]] int size() const override;
  [[nodiscard]] std::span<const ObjectPair> computePotentialPairs() override;
  void queryOverlap(const Aabb& box, std::vector<ObjectId>& out) const override;
  void queryRay(const Vec3& origin, const Vec3& direction, Real maxT,
                const std::function<Real(ObjectId)>& visit) const override;
  void queryNearest(const Aabb& box, Real maxDistance,
                    const std::function<Real(ObjectId)>& visit) const override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tangere
