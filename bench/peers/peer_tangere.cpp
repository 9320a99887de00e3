// SPDX-License-Identifier: Apache-2.0
//
// Tangere as one more peer of the collision peer harness: the same poses, the same loops and the
// same CSV as the libraries it is compared with. Poses are converted before the timing starts and
// the result is reused, as with every other peer.
//
// Variants: "tangere" answers every workload; "tangere-moved" only the broad phase, asking for the
// pairs of the boxes that moved; "tangere-gjk" and "tangere-mpr" force one convex algorithm.
#include <cp/driver.hpp>

#include <tangere/collision.hpp>

#include <memory>
#include <string>
#include <vector>

namespace {

using cp::Kind;

tangere::Vec3 toVec(const cp::V3& v) { return {v.x, v.y, v.z}; }
cp::V3 fromVec(const tangere::Vec3& v) { return {v.x, v.y, v.z}; }

tangere::Transform toTransform(const cp::Pose& pose) {
  tangere::Transform X;
  for (int row = 0; row < 3; ++row)
    for (int column = 0; column < 3; ++column) X.rotation(row, column) = pose.R[3 * row + column];
  X.translation = toVec(pose.t);
  return X;
}

std::unique_ptr<tangere::Shape> makeShape(const cp::Shape& s) {
  switch (s.kind) {
    case Kind::sphere:
      return std::make_unique<tangere::Sphere>(s.a);
    case Kind::box:
      return std::make_unique<tangere::Box>(tangere::Vec3{s.a, s.b, s.c});
    case Kind::capsule:
      return std::make_unique<tangere::Capsule>(s.a, s.b);
    case Kind::cylinder:
      return std::make_unique<tangere::Cylinder>(s.a, s.b);
    case Kind::cone:
      return std::make_unique<tangere::Cone>(s.a, s.b);
    case Kind::ellipsoid:
      return std::make_unique<tangere::Ellipsoid>(tangere::Vec3{s.a, s.b, s.c});
    case Kind::halfspace:
      return std::make_unique<tangere::Plane>();
    case Kind::hull: {
      std::vector<tangere::Vec3> points;
      for (const cp::V3& v : s.verts) points.push_back(toVec(v));
      return std::make_unique<tangere::Convex>(points);
    }
  }
  return nullptr;
}

std::unique_ptr<tangere::Mesh> makeMesh(const cp::Mesh& mesh) {
  std::vector<tangere::Vec3> vertices;
  vertices.reserve(mesh.v.size());
  for (const cp::V3& v : mesh.v) vertices.push_back(toVec(v));
  return std::make_unique<tangere::Mesh>(vertices, mesh.f);
}

struct PosePair {
  tangere::Transform X_W1, X_W2;
};

class PeerTangere : public cp::PeerBase {
 public:
  explicit PeerTangere(const std::string& variant) : variant_(variant) {
    const tangere::ConvexAlgorithm algorithm =
        variant == "tangere-gjk"   ? tangere::ConvexAlgorithm::Gjk
        : variant == "tangere-mpr" ? tangere::ConvexAlgorithm::Mpr
                                   : tangere::ConvexAlgorithm::Auto;
    binary_.algorithm = algorithm;
    deepest_.algorithm = algorithm;
    full_.algorithm = algorithm;
    distance_.algorithm = algorithm;
  }
  static std::string version() { return TANGERE_VERSION_STRING; }
  [[nodiscard]] std::string note() const { return "double"; }

  // ---- W1, W4, W5, golden
  bool setup(const cp::Shape& a, const cp::Shape& b) {
    if (broadPhaseOnly()) return false;
    shape1_ = makeShape(a);
    shape2_ = makeShape(b);
    return true;
  }
  [[nodiscard]] unsigned caps() const {
    return cp::kBool | cp::kContact1 | cp::kManifold | cp::kDistance | cp::kWarmDistance |
           cp::kWarmManifold;
  }
  void poses(const std::vector<cp::PosePair>& pairs) {
    poses_.clear();
    for (const cp::PosePair& pair : pairs)
      poses_.push_back({toTransform(pair.a), toTransform(pair.b)});
  }
  bool collide(std::size_t i) {
    if (binary_.algorithm != tangere::ConvexAlgorithm::Auto) return query(i, binary_, nullptr) > 0;
    return tangere::overlap(*shape1_, poses_[i].X_W1, *shape2_, poses_[i].X_W2);
  }
  int contact1(std::size_t i) { return query(i, deepest_, nullptr); }
  int manifold(std::size_t i) { return query(i, full_, nullptr); }
  double distance(std::size_t i) { return queryDistance(i, nullptr).distance; }
  double distanceWarm(std::size_t i, bool first) {
    if (first) cache_ = {};
    return queryDistance(i, &cache_).distance;
  }
  int manifoldWarm(std::size_t i, bool first) {
    if (first) cache_ = {};
    return query(i, full_, &cache_);
  }
  void manifoldFull(std::size_t i, cp::ContactOut& out) {
    query(i, full_, nullptr);
    for (int k = 0; k < result_.numContacts(); ++k) {
      const tangere::ContactPoint& contact = result_.contact(k);
      out.normal = fromVec(-contact.normal);
      out.pos.push_back(fromVec(contact.position));
      out.depth.push_back(contact.depth);
    }
  }
  void golden(cp::GoldenOut& out) {
    out.hit = collide(0) ? 1 : 0;
    out.points = query(0, full_, nullptr);
    for (int k = 0; k < result_.numContacts(); ++k) {
      const tangere::ContactPoint& contact = result_.contact(k);
      if (k > 0 && contact.depth <= out.depth) continue;
      out.depth = contact.depth;
      out.cn = fromVec(-contact.normal);
    }
    const tangere::DistanceResult d = queryDistance(0, nullptr);
    out.dist = d.distance;
    out.n = fromVec(-d.normal);
    out.w1 = fromVec(d.point1);
    out.w2 = fromVec(d.point2);
  }

  // ---- W2
  bool meshSetup(const cp::Mesh& a, const cp::Mesh* b, const cp::Shape* s) {
    if (variant_ != "tangere") return false;
    shape1_ = makeMesh(a);
    if (b != nullptr)
      shape2_ = makeMesh(*b);
    else
      shape2_ = makeShape(*s);
    full_.maxNumContacts = 100000;
    return true;
  }
  bool meshCollide(std::size_t i) { return collide(i); }
  int meshContacts(std::size_t i) { return query(i, full_, nullptr); }
  double meshDistance(std::size_t i) { return queryDistance(i, nullptr).distance; }

  bool hfieldSetup(const cp::HField& field, const cp::Shape& s) {
    if (variant_ != "tangere") return false;
    shape1_ =
        std::make_unique<tangere::HeightField>(field.nx, field.ny, field.sx, field.sy, field.h);
    shape2_ = makeShape(s);
    full_.maxNumContacts = 10000;
    return true;
  }
  void hfieldPoses(const std::vector<cp::Pose>& poses) {
    poses_.clear();
    for (const cp::Pose& pose : poses) poses_.push_back({{}, toTransform(pose)});
  }
  int hfieldContacts(std::size_t i) { return query(i, full_, nullptr); }

  // ---- W3
  bool bpSetup(const cp::Boxes& boxes) {
    if (variant_ != "tangere" && !broadPhaseOnly()) return false;
    broad_phase_ = std::make_unique<tangere::BvhBroadPhase>();
    std::vector<tangere::ObjectId> ids;
    std::vector<tangere::Aabb> aabbs;
    for (int i = 0; i < boxes.n; ++i) {
      ids.push_back(static_cast<tangere::ObjectId>(i));
      aabbs.push_back(aabbOf(boxes, i));
    }
    broad_phase_->addBulk(ids, aabbs);
    (void)broad_phase_->computePotentialPairs();
    return true;
  }
  std::int64_t bpStep(const cp::Boxes& boxes) {
    for (const int i : boxes.movers)
      broad_phase_->update(static_cast<tangere::ObjectId>(i), aabbOf(boxes, i));
    return broadPhaseOnly()
               ? static_cast<std::int64_t>(broad_phase_->computeMovedPairs().size())
               : static_cast<std::int64_t>(broad_phase_->computePotentialPairs().size());
  }
  [[nodiscard]] std::string bpNote() const {
    return broadPhaseOnly() ? "BvhBroadPhase movers' pairs only; sorted"
                            : "BvhBroadPhase all pairs kept current; sorted";
  }

 private:
  [[nodiscard]] bool broadPhaseOnly() const { return variant_ == "tangere-moved"; }
  static tangere::Aabb aabbOf(const cp::Boxes& boxes, int i) {
    const auto k = static_cast<std::size_t>(i);
    return {toVec(boxes.c[k] - boxes.h[k]), toVec(boxes.c[k] + boxes.h[k])};
  }
  int query(std::size_t i, const tangere::CollisionOption& option, tangere::PairCache* cache) {
    result_.clear();
    return tangere::collide(*shape1_, poses_[i].X_W1, *shape2_, poses_[i].X_W2, option, result_,
                            cache);
  }
  tangere::DistanceResult queryDistance(std::size_t i, tangere::PairCache* cache) {
    return tangere::distance(*shape1_, poses_[i].X_W1, *shape2_, poses_[i].X_W2, distance_, cache);
  }

  std::string variant_;
  std::unique_ptr<tangere::Shape> shape1_, shape2_;
  std::vector<PosePair> poses_;
  tangere::CollisionOption binary_ = tangere::CollisionOption::binaryCheck();
  tangere::CollisionOption deepest_ = tangere::CollisionOption::fullContacts(1);
  tangere::CollisionOption full_ = tangere::CollisionOption::fullContacts();
  tangere::DistanceOption distance_;
  tangere::CollisionResult result_;
  tangere::PairCache cache_;
  std::unique_ptr<tangere::BvhBroadPhase> broad_phase_;
};

}  // namespace

int main(int argc, char** argv) {
  return cp::peerMain<PeerTangere>(argc, argv,
                                   {"tangere", "tangere-moved", "tangere-gjk", "tangere-mpr"});
}
