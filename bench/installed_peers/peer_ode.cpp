// SPDX-License-Identifier: Apache-2.0
//
// ODE: contacts only. It keeps poses in its objects, so storing them is part of the timed call.
#include "peer.hpp"

#include <ode/ode.h>

#include <algorithm>
#include <utility>

namespace tangere::peers {

namespace {

/// Null for the shapes that ODE does not have; its hulls are left out, because they ask for planes
/// and have no collider with most of the others.
dGeomID convert(const Shape& shape) {
  switch (shape.type()) {
    case ShapeType::Sphere:
      return dCreateSphere(nullptr, static_cast<const Sphere&>(shape).radius());
    case ShapeType::Box: {
      const Vec3 size = static_cast<const Box&>(shape).halfExtents() * 2.0;
      return dCreateBox(nullptr, size.x, size.y, size.z);
    }
    case ShapeType::Capsule: {
      const auto& capsule = static_cast<const Capsule&>(shape);
      return dCreateCapsule(nullptr, capsule.radius(), 2 * capsule.halfLength());
    }
    case ShapeType::Cylinder: {
      const auto& cylinder = static_cast<const Cylinder&>(shape);
      return dCreateCylinder(nullptr, cylinder.radius(), 2 * cylinder.halfLength());
    }
    default:
      return nullptr;
  }
}

struct OdePose {
  dMatrix3 rotation = {};
  Vec3 translation{};
};

OdePose convert(const Transform& X) {
  OdePose pose;
  for (int row = 0; row < 3; ++row)
    for (int column = 0; column < 3; ++column)
      pose.rotation[4 * row + column] = X.rotation(row, column);
  pose.translation = X.translation;
  return pose;
}

class OdePair final : public PeerPair {
 public:
  explicit OdePair(const workload::PairWorkload& work)
      : shape1_(convert(*work.shape1)), shape2_(convert(*work.shape2)) {
    for (const workload::PosePair& pose : work.poses)
      poses_.emplace_back(convert(pose.X_W1), convert(pose.X_W2));
  }
  ~OdePair() override {
    if (shape1_ != nullptr) dGeomDestroy(shape1_);
    if (shape2_ != nullptr) dGeomDestroy(shape2_);
  }
  /// ODE answers "no contact" for a pair it has no collider for, so some pose must give one.
  [[nodiscard]] bool isKnown() {
    if (shape1_ == nullptr || shape2_ == nullptr) return false;
    for (int i = 0; i < static_cast<int>(poses_.size()); ++i)
      if (collide(i) > 0) return true;
    return false;
  }
  Real collide(int i) override {
    const auto& [pose1, pose2] = poses_[static_cast<std::size_t>(i)];
    place(shape1_, pose1);
    place(shape2_, pose2);
    const int count = dCollide(shape1_, shape2_, kMaxContacts, contacts_, sizeof(dContactGeom));
    Real deepest = 0;
    for (int k = 0; k < count; ++k) deepest = std::max<Real>(deepest, contacts_[k].depth);
    return deepest;
  }

 private:
  static constexpr int kMaxContacts = 8;

  static void place(dGeomID shape, const OdePose& pose) {
    dGeomSetRotation(shape, pose.rotation);
    dGeomSetPosition(shape, pose.translation.x, pose.translation.y, pose.translation.z);
  }

  dGeomID shape1_, shape2_;
  std::vector<std::pair<OdePose, OdePose>> poses_;
  dContactGeom contacts_[kMaxContacts];
};

class Ode final : public Peer {
 public:
  Ode() {
    dInitODE2(0);
    dAllocateODEDataForThread(dAllocateMaskAll);
  }
  ~Ode() override { dCloseODE(); }
  [[nodiscard]] std::string name() const override { return "ode " TANGERE_ODE_VERSION; }
  [[nodiscard]] std::unique_ptr<PeerPair> makePair(const workload::PairWorkload& work) override {
    auto pair = std::make_unique<OdePair>(work);
    return pair->isKnown() ? std::move(pair) : nullptr;
  }
};

}  // namespace

std::unique_ptr<Peer> makeOde() { return std::make_unique<Ode>(); }

}  // namespace tangere::peers
