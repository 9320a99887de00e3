// SPDX-License-Identifier: Apache-2.0
//
// Bullet in double precision with its default collision margins.
#include "peer.hpp"

#include <BulletCollision/CollisionDispatch/btCollisionObjectWrapper.h>
#include <BulletCollision/NarrowPhaseCollision/btGjkEpaPenetrationDepthSolver.h>
#include <BulletCollision/NarrowPhaseCollision/btGjkPairDetector.h>
#include <BulletCollision/NarrowPhaseCollision/btPointCollector.h>
#include <BulletCollision/NarrowPhaseCollision/btVoronoiSimplexSolver.h>
#include <btBulletCollisionCommon.h>

#include <algorithm>
#include <utility>

namespace tangere::peers {

namespace {

btVector3 convert(const Vec3& v) { return {v.x, v.y, v.z}; }

btTransform convert(const Transform& X) {
  const Mat3& R = X.rotation;
  const btMatrix3x3 rotation(R(0, 0), R(0, 1), R(0, 2), R(1, 0), R(1, 1), R(1, 2), R(2, 0), R(2, 1),
                             R(2, 2));
  return btTransform(rotation, convert(X.translation));
}

/// Null for the ellipsoid: Bullet has no exact one.
std::unique_ptr<btConvexShape> convert(const Shape& shape) {
  switch (shape.type()) {
    case ShapeType::Sphere:
      return std::make_unique<btSphereShape>(static_cast<const Sphere&>(shape).radius());
    case ShapeType::Box:
      return std::make_unique<btBoxShape>(convert(static_cast<const Box&>(shape).halfExtents()));
    case ShapeType::Capsule: {
      const auto& capsule = static_cast<const Capsule&>(shape);
      return std::make_unique<btCapsuleShapeZ>(capsule.radius(), 2 * capsule.halfLength());
    }
    case ShapeType::Cylinder: {
      const auto& cylinder = static_cast<const Cylinder&>(shape);
      return std::make_unique<btCylinderShapeZ>(
          btVector3(cylinder.radius(), cylinder.radius(), cylinder.halfLength()));
    }
    case ShapeType::Cone: {
      const auto& cone = static_cast<const Cone&>(shape);
      return std::make_unique<btConeShapeZ>(cone.radius(), 2 * cone.halfHeight());
    }
    case ShapeType::Convex: {
      auto hull = std::make_unique<btConvexHullShape>();
      for (const Vec3& v : static_cast<const Convex&>(shape).vertices())
        hull->addPoint(convert(v), false);
      hull->recalcLocalAabb();
      return hull;
    }
    default:
      return nullptr;
  }
}

class BulletPair final : public PeerPair {
 public:
  BulletPair(const workload::PairWorkload& work, btCollisionDispatcher& dispatcher)
      : dispatcher_(dispatcher), shape1_(convert(*work.shape1)), shape2_(convert(*work.shape2)) {
    for (const workload::PosePair& pose : work.poses)
      poses_.emplace_back(convert(pose.X_W1), convert(pose.X_W2));
    if (!isKnown()) return;
    object1_.setCollisionShape(shape1_.get());
    object2_.setCollisionShape(shape2_.get());
    const btCollisionObjectWrapper wrap1 = wrapped(object1_), wrap2 = wrapped(object2_);
    algorithm_ = dispatcher_.findAlgorithm(&wrap1, &wrap2, nullptr, BT_CONTACT_POINT_ALGORITHMS);
    detector_ = std::make_unique<btGjkPairDetector>(shape1_.get(), shape2_.get(), &simplex_, &epa_);
  }
  ~BulletPair() override {
    if (algorithm_ == nullptr) return;
    algorithm_->~btCollisionAlgorithm();
    dispatcher_.freeCollisionAlgorithm(algorithm_);
  }
  [[nodiscard]] bool isKnown() const { return shape1_ != nullptr && shape2_ != nullptr; }

  [[nodiscard]] bool hasDistance() const override { return true; }
  PeerDistance distance(int i) override {
    const auto& [pose1, pose2] = poses_[static_cast<std::size_t>(i)];
    btGjkPairDetector::ClosestPointInput input;
    input.m_transformA = pose1;
    input.m_transformB = pose2;
    btPointCollector nearest;
    detector_->setCachedSeparatingAxis(btVector3(0, 1, 0));
    detector_->getClosestPoints(input, nearest, nullptr);
    const btVector3& n = nearest.m_normalOnBInWorld;
    return {nearest.m_distance, {n.x(), n.y(), n.z()}};
  }
  Real collide(int i) override {
    const auto& [pose1, pose2] = poses_[static_cast<std::size_t>(i)];
    object1_.setWorldTransform(pose1);
    object2_.setWorldTransform(pose2);
    const btCollisionObjectWrapper wrap1 = wrapped(object1_), wrap2 = wrapped(object2_);
    for (int m = 0; m < manifolds_.size(); ++m) manifolds_[m]->clearManifold();
    btManifoldResult result(&wrap1, &wrap2);
    algorithm_->processCollision(&wrap1, &wrap2, info_, &result);
    manifolds_.resizeNoInitialize(0);
    algorithm_->getAllContactManifolds(manifolds_);
    Real deepest = 0;
    for (int m = 0; m < manifolds_.size(); ++m)
      for (int k = 0; k < manifolds_[m]->getNumContacts(); ++k)
        deepest = std::max<Real>(deepest, -manifolds_[m]->getContactPoint(k).getDistance());
    return deepest;
  }

 private:
  static btCollisionObjectWrapper wrapped(const btCollisionObject& object) {
    return {nullptr, object.getCollisionShape(), &object, object.getWorldTransform(), -1, -1};
  }

  btCollisionDispatcher& dispatcher_;
  std::unique_ptr<btConvexShape> shape1_, shape2_;
  std::vector<std::pair<btTransform, btTransform>> poses_;
  btCollisionObject object1_, object2_;
  btCollisionAlgorithm* algorithm_ = nullptr;
  btVoronoiSimplexSolver simplex_;
  btGjkEpaPenetrationDepthSolver epa_;
  std::unique_ptr<btGjkPairDetector> detector_;
  btDispatcherInfo info_;
  btManifoldArray manifolds_;
};

class Bullet final : public Peer {
 public:
  [[nodiscard]] std::string name() const override { return "bullet " TANGERE_BULLET_VERSION; }
  [[nodiscard]] std::unique_ptr<PeerPair> makePair(const workload::PairWorkload& work) override {
    auto pair = std::make_unique<BulletPair>(work, dispatcher_);
    return pair->isKnown() ? std::move(pair) : nullptr;
  }

 private:
  btDefaultCollisionConfiguration configuration_;
  btCollisionDispatcher dispatcher_{&configuration_};
};

}  // namespace

std::unique_ptr<Peer> makeBullet() { return std::make_unique<Bullet>(); }

}  // namespace tangere::peers
