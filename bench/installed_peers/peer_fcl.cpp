// SPDX-License-Identifier: Apache-2.0
//
// FCL with its default solver (libccd) and tolerance.
#include "peer.hpp"

#include <fcl/fcl.h>

namespace tangere::peers {

namespace {

fcl::Vector3d convert(const Vec3& v) { return {v.x, v.y, v.z}; }
Vec3 convert(const fcl::Vector3d& v) { return {v[0], v[1], v[2]}; }

fcl::Transform3d convert(const Transform& X) {
  fcl::Transform3d result = fcl::Transform3d::Identity();
  for (int column = 0; column < 3; ++column)
    result.linear().col(column) = convert(X.rotation.col[column]);
  result.translation() = convert(X.translation);
  return result;
}

std::shared_ptr<fcl::CollisionGeometryd> convert(const Shape& shape) {
  switch (shape.type()) {
    case ShapeType::Sphere:
      return std::make_shared<fcl::Sphered>(static_cast<const Sphere&>(shape).radius());
    case ShapeType::Box: {
      const Vec3 size = static_cast<const Box&>(shape).halfExtents() * 2.0;
      return std::make_shared<fcl::Boxd>(size.x, size.y, size.z);
    }
    case ShapeType::Capsule: {
      const auto& capsule = static_cast<const Capsule&>(shape);
      return std::make_shared<fcl::Capsuled>(capsule.radius(), 2 * capsule.halfLength());
    }
    case ShapeType::Cylinder: {
      const auto& cylinder = static_cast<const Cylinder&>(shape);
      return std::make_shared<fcl::Cylinderd>(cylinder.radius(), 2 * cylinder.halfLength());
    }
    case ShapeType::Cone: {
      const auto& cone = static_cast<const Cone&>(shape);
      return std::make_shared<fcl::Coned>(cone.radius(), 2 * cone.halfHeight());
    }
    case ShapeType::Ellipsoid: {
      const Vec3& axes = static_cast<const Ellipsoid&>(shape).semiAxes();
      return std::make_shared<fcl::Ellipsoidd>(axes.x, axes.y, axes.z);
    }
    case ShapeType::Convex: {
      const auto& convex = static_cast<const Convex&>(shape);
      const auto points = std::make_shared<std::vector<fcl::Vector3d>>();
      for (const Vec3& v : convex.vertices()) points->push_back(convert(v));
      const auto faces = std::make_shared<std::vector<int>>();
      for (int f = 0; f < convex.numFaces(); ++f) {
        faces->push_back(static_cast<int>(convex.face(f).size()));
        faces->insert(faces->end(), convex.face(f).begin(), convex.face(f).end());
      }
      return std::make_shared<fcl::Convexd>(points, convex.numFaces(), faces);
    }
    default:
      return nullptr;
  }
}

class FclPair final : public PeerPair {
 public:
  explicit FclPair(const workload::PairWorkload& work)
      : shape1_(convert(*work.shape1)), shape2_(convert(*work.shape2)) {
    shape1_->computeLocalAABB();
    shape2_->computeLocalAABB();
    for (const workload::PosePair& pose : work.poses)
      poses_.push_back({convert(pose.X_W1), convert(pose.X_W2)});
    distance_request_.enable_nearest_points = true;
    collision_request_.enable_contact = true;
    collision_request_.num_max_contacts = 8;
  }
  [[nodiscard]] bool hasDistance() const override { return true; }
  PeerDistance distance(int i) override {
    const Poses& pose = poses_[static_cast<std::size_t>(i)];
    distance_result_.clear();
    fcl::distance(shape1_.get(), pose.X_W1, shape2_.get(), pose.X_W2, distance_request_,
                  distance_result_);
    const Vec3 apart =
        convert(distance_result_.nearest_points[0]) - convert(distance_result_.nearest_points[1]);
    return {distance_result_.min_distance, apart / norm(apart)};
  }
  Real collide(int i) override {
    const Poses& pose = poses_[static_cast<std::size_t>(i)];
    collision_result_.clear();
    fcl::collide(shape1_.get(), pose.X_W1, shape2_.get(), pose.X_W2, collision_request_,
                 collision_result_);
    Real deepest = 0;
    for (std::size_t k = 0; k < collision_result_.numContacts(); ++k)
      deepest = std::max(deepest, collision_result_.getContact(k).penetration_depth);
    return deepest;
  }

 private:
  struct Poses {
    fcl::Transform3d X_W1, X_W2;
  };
  std::shared_ptr<fcl::CollisionGeometryd> shape1_, shape2_;
  std::vector<Poses, Eigen::aligned_allocator<Poses>> poses_;
  fcl::DistanceRequestd distance_request_;
  fcl::DistanceResultd distance_result_;
  fcl::CollisionRequestd collision_request_;
  fcl::CollisionResultd collision_result_;
};

class Fcl final : public Peer {
 public:
  [[nodiscard]] std::string name() const override { return "fcl " FCL_VERSION; }
  [[nodiscard]] std::unique_ptr<PeerPair> makePair(const workload::PairWorkload& work) override {
    return std::make_unique<FclPair>(work);
  }
};

}  // namespace

std::unique_ptr<Peer> makeFcl() { return std::make_unique<Fcl>(); }

}  // namespace tangere::peers
