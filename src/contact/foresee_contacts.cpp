// SPDX-License-Identifier: Apache-2.0
#include "contact/foresee_contacts.hpp"

#include "contact/common_place.hpp"
#include "contact/flush_contacts.hpp"
#include "contact/solid_shape.hpp"
#include "math/contact_frame.hpp"

#include <algorithm>
#include <span>

namespace tangere::contact {

namespace {

/// Part of its size that a body may move in one step and still meet others where they are nearest.
constexpr Real kFastPart = 0.25;
/// Part of the slop at which two bodies have met.
constexpr Real kMeetingPart = 0.01;
/// Part of its size that a fast body may sink into what it touches until the next step.
constexpr Real kTouchingPart = 0.02;
/// Cosine of what two normals of the same faces differ by at most.
constexpr Real kSameDirection = 0.999;

/// Many small faces that stand for one that bends.
bool isSurface(ShapeType type) {
  return type == ShapeType::Mesh || type == ShapeType::HeightField || type == ShapeType::PointCloud;
}

struct PairMotion {
  const model::StepMotion& motion1;
  const model::StepMotion& motion2;
  Vec3 relative{};
  Real turning = 0, falling = 0;

  [[nodiscard]] Real closing() const { return norm(relative) + turning + falling; }
};

PairMotion motionOf(const model::ModelData& model, const model::Workspace& ws,
                    const model::ShapePair& pair) {
  const model::ModelShape& shape1 = model.shapes[pair.shape1];
  const model::ModelShape& shape2 = model.shapes[pair.shape2];
  PairMotion m{ws.stepMotion[shape1.body], ws.stepMotion[shape2.body]};
  m.relative = m.motion1.displacement - m.motion2.displacement;
  m.turning = norm(m.motion1.rotation) * shape1.reach + norm(m.motion2.rotation) * shape2.reach;
  // Gravity may act on one of them alone when the other is held from below.
  m.falling = norm(model.options.gravity) * model.options.dt * model.options.dt;
  return m;
}

/// A half space has none.
Real smallerReach(const model::ModelShape& shape1, const model::ModelShape& shape2) {
  return std::min(shape1.reach > 0 ? shape1.reach : shape2.reach,
                  shape2.reach > 0 ? shape2.reach : shape1.reach);
}

/// How far an impact with others may throw the two together or apart.
Real throwReach(const model::ModelData& model, const model::Workspace& ws,
                const model::ShapePair& pair) {
  const model::ModelShape& shape1 = model.shapes[pair.shape1];
  const model::ModelShape& shape2 = model.shapes[pair.shape2];
  Real reach = 0;
  if (model.contactMaterial(shape1.material, shape2.material).restitution > 0)
    reach = ws.impactReach;
  if (!ws.throwReach.empty())
    reach = std::max(reach, ws.throwReach[shape1.body] + ws.throwReach[shape2.body]);
  return reach;
}

/// Path of a shape whose body moves by `displacement` (of the centre) and `rotation`.
Motion pathOf(const model::ModelData& model, const State& state, const model::Workspace& ws,
              ObjectId shape, const Vec3& displacement, const Vec3& rotation) {
  const Transform& start = ws.shapePose[shape];
  const Vec3 arm = start.translation - state.center[model.shapes[shape].body];
  return {.start = start,
          .displacement = displacement + cross(rotation, arm),
          .rotationVector = rotation};
}

/// The points of the smaller shape that are nearest to the tangent plane of the other where they
/// first meet, at that time: a body that lands on a corner has the next corner down before the step
/// ends. Returns how many; the shape is at X_W then, `outward` points to it.
int pointsOverPlane(const model::ModelShape& small, const Transform& X_W, const Vec3& on,
                    const Vec3& outward, Real reach, CollisionResult& scratch) {
  static const Plane plane;
  const Mat3 frame = math::contactFrame(outward);
  scratch.clear();
  // All of the shape is pushed below the plane, and the depths are taken back after.
  return collide(solidOf(small), {X_W.rotation, X_W.translation - outward * reach}, plane,
                 {frame, on}, {}, scratch) > 0
             ? scratch.manifolds()[0].count
             : 0;
}

/// The arms of a point that both bodies have yet to come to.
void setArms(const model::ModelData& model, const State& state, const model::ShapePair& pair,
             const Vec3& place1, const Vec3& place2, int k, model::ForeseenManifold* arms) {
  const int body1 = model.shapes[pair.shape1].body, body2 = model.shapes[pair.shape2].body;
  const Vec3 place = commonPlace(model, body1, place1, body2, place2);
  arms->r1[k] = place - state.center[body1];
  arms->r2[k] = place - state.center[body2];
}

void addNearest(const model::ModelData& model, const State& state, const model::ShapePair& pair,
                const DistanceResult& nearest, CollisionResult& result,
                std::vector<model::ForeseenManifold>& foreseen) {
  model::ForeseenManifold& arms = foreseen.emplace_back();
  arms.manifold = result.numManifolds();
  setArms(model, state, pair, nearest.point1, nearest.point2, 0, &arms);
  ContactManifold& manifold = result.beginManifold();
  manifold.points[0] = {.position = (nearest.point1 + nearest.point2) * Real(0.5),
                        .normal = nearest.normal,
                        .depth = -nearest.distance};
  manifold.count = 1;
  manifold.type = ContactType::Point;
  result.commitManifold();
}

/// Contacts of the pair once it has come together by `closing` along the normal: a box that lands
/// flat lands on four corners, one that is a little askew on the next ones within the step. Those
/// of faces that would then be between them do not count. False where there is nothing left.
bool addClosing(const model::ModelData& model, const State& state, const model::Workspace& ws,
                const model::ShapePair& pair, const DistanceResult& nearest, Real closing,
                CollisionResult& result, std::vector<model::ForeseenManifold>& foreseen) {
  thread_local CollisionResult scratch;
  scratch.clear();
  const Vec3 push = nearest.normal * closing;
  const Transform& X_W1 = ws.shapePose[pair.shape1];
  collide(solidOf(model.shapes[pair.shape1]), {X_W1.rotation, X_W1.translation - push},
          solidOf(model.shapes[pair.shape2]), ws.shapePose[pair.shape2], {}, scratch);
  constexpr Real kSameGap = 1.01;
  const auto isAlong = [&](const ContactPoint& point) {
    return dot(point.normal, nearest.normal) >= kSameDirection;
  };
  Real least = closing;
  for (ContactManifold& manifold : scratch.manifolds()) {
    const std::span<const ContactPoint> points = manifold.contacts();
    if (!std::all_of(points.begin(), points.end(), isAlong)) manifold.count = 0;
    moveBack(push, &manifold);
    for (const ContactPoint& point : manifold.contacts()) least = std::min(least, -point.depth);
  }
  if (!(least <= kSameGap * nearest.distance)) return false;
  for (const ContactManifold& manifold : scratch.manifolds()) {
    if (manifold.count == 0) continue;
    addArms(model, state, pair, result.numManifolds(), manifold, foreseen);
    result.beginManifold() = manifold;
    result.commitManifold();
  }
  return true;
}

/// The manifold of a pair that meets at impact.s. False when it does not close with the velocity
/// that it has at the start.
bool addImpact(const model::ModelData& model, const State& state, const model::ShapePair& pair,
               const PairMotion& m, const Motion& path1, const Motion& path2,
               const ImpactResult& impact, CollisionResult& result,
               std::vector<model::ForeseenManifold>& foreseen) {
  const model::ModelShape& shape1 = model.shapes[pair.shape1];
  const model::ModelShape& shape2 = model.shapes[pair.shape2];
  const Vec3 center1 = state.center[shape1.body] + m.motion1.displacement * impact.s;
  const Vec3 center2 = state.center[shape2.body] + m.motion2.displacement * impact.s;
  const auto approach = [&](const Vec3& r1, const Vec3& r2) {
    const Vec3 slide = m.relative + cross(m.motion1.rotation, r1) - cross(m.motion2.rotation, r2);
    return -dot(impact.normal, slide);
  };
  const Real first = approach(impact.point - center1, impact.point - center2);
  if (!(first > 0)) return false;

  // The shape with points: the smaller one.
  const bool isFirst = shape1.reach > 0 && (!(shape2.reach > 0) || shape1.reach <= shape2.reach);
  const model::ModelShape& small = isFirst ? shape1 : shape2;
  const Vec3 outward = isFirst ? impact.normal : -impact.normal;
  // As far down as it may come within the step.
  const Real reach = std::min(2 * small.reach, m.closing());
  thread_local CollisionResult scratch;
  const int count = solidOf(small).type() == ShapeType::Sphere
                        ? 0
                        : pointsOverPlane(small, (isFirst ? path1 : path2).at(impact.s),
                                          impact.point, outward, reach, scratch);

  // Arms as they will be then, and gaps that close by then with the velocity there.
  model::ForeseenManifold& arms = foreseen.emplace_back();
  arms.manifold = result.numManifolds();
  arms.isFast = true;
  ContactManifold& manifold = result.beginManifold();
  const Vec3 back = (m.motion1.displacement + m.motion2.displacement) * (impact.s / 2);
  const auto add = [&](const Vec3& point, Real gap) {
    const int k = manifold.count++;
    arms.r1[k] = point - center1;
    arms.r2[k] = point - center2;
    manifold.points[k] = {.position = point - back,
                          .normal = impact.normal,
                          .depth = -(gap + approach(arms.r1[k], arms.r2[k]) * impact.s)};
  };
  manifold.count = 0;
  for (int k = 0; k < count; ++k) {
    const ContactPoint& below = scratch.manifolds()[0].points[k];
    const Vec3 point = below.position + outward * (reach - below.depth / 2);
    add(point, std::max<Real>(reach - below.depth, 0));
  }
  if (count == 0) add(impact.point, 0);
  manifold.type = manifold.count == 1 ? ContactType::Point : ContactType::Unknown;
  result.commitManifold();
  return true;
}

/// How two bodies move from the last impact of either on, or from the start where there is none.
class LastLeg {
 public:
  LastLeg(const model::ModelData& model, const State& state, const model::Workspace& ws, int body1,
          int body2)
      : model_(model),
        state_(state),
        ws_(ws),
        begin_(std::max(timeOfLastImpact(body1), timeOfLastImpact(body2))) {}

  /// Moves far for its size, seen from the other: what both do alike brings nobody past anything.
  [[nodiscard]] bool isFast(const model::ModelShape& shape, const model::ModelShape& other) const {
    if (!(ws_.problem.blocks[shape.body].inverseMass > 0)) return false;
    const Vec3 way = displacementOf(shape.body) - displacementOf(other.body);
    return norm(way) + norm(rotationOf(shape.body)) * shape.reach > kFastPart * shape.reach;
  }
  /// Fast, and not on the way that was foreseen.
  [[nodiscard]] bool isDiverted(const model::ModelShape& shape,
                                const model::ModelShape& other) const {
    if (!isFast(shape, other)) return false;
    Vec3 total = ws_.problem.blocks[shape.body].displacement;
    if (!ws_.early.empty()) total += ws_.early[shape.body].displacement;
    return norm(total - ws_.stepMotion[shape.body].displacement) > kFastPart * shape.reach;
  }
  [[nodiscard]] Motion pathOf(ObjectId shape) const {
    const int body = model_.shapes[shape].body;
    const model::StepMotion whole = motionOf(body);
    const Real done = partDone(body);
    Vec3 displacement = whole.displacement * done, rotation = whole.rotation * done;
    if (isMovedByForces(body) && !ws_.early.empty()) {
      displacement += ws_.early[body].displacement;
      rotation += ws_.early[body].rotation;
    }
    Motion path =
        contact::pathOf(model_, state_, ws_, shape, displacementOf(body), rotationOf(body));
    path.start = contact::pathOf(model_, state_, ws_, shape, displacement, rotation).at(1);
    return path;
  }

  /// Of the centre of the body over the leg.
  [[nodiscard]] Vec3 displacementOf(int body) const {
    return motionOf(body).displacement * (1 - partDone(body));
  }
  [[nodiscard]] Vec3 rotationOf(int body) const {
    return motionOf(body).rotation * (1 - partDone(body));
  }
  /// How far the bodies of a point come together there over the leg.
  [[nodiscard]] Real closingOf(const solver::ImpulsePoint& point) const {
    const Vec3 way1 = displacementOf(point.block1) + cross(rotationOf(point.block1), point.r1);
    const Vec3 way2 = displacementOf(point.block2) + cross(rotationOf(point.block2), point.r2);
    return -dot(way1 - way2, point.normal);
  }
  /// What two bodies that forces move share: the way of their common centre of mass.
  [[nodiscard]] Vec3 commonDisplacement(int body1, int body2) const {
    const Real w1 = ws_.problem.blocks[body1].inverseMass;
    const Real w2 = ws_.problem.blocks[body2].inverseMass;
    return (displacementOf(body1) * w2 + displacementOf(body2) * w1) / (w1 + w2);
  }
  /// The leg of a body ends after the part `s` of it, and it turns for that time alone.
  void cut(int body, Real s, const Vec3& along, solver::ImpulseBlock* block) const {
    const Real part = takeAlong(body, s, along, block);
    block->rotation *= part;
    block->duration *= part;
  }
  /// After the part `s` of the leg the body goes `along`, a way of the whole leg. Returns the part
  /// of its own motion that this leaves.
  Real takeAlong(int body, Real s, const Vec3& along, solver::ImpulseBlock* block) const {
    const Real done = partDone(body);
    const Real part = done + (1 - done) * s;
    block->displacement = block->displacement * part + along * (1 - s);
    return part;
  }
  [[nodiscard]] bool isMovedByForces(int body) const {
    return ws_.problem.blocks[body].inverseMass > 0;
  }
  /// At the start of the leg. The gap of the point knows how far forces moved the bodies by then; a
  /// driven one has moved, too.
  [[nodiscard]] Real depthAt(const solver::ImpulsePoint& point) const {
    const auto drivenAt = [&](int body, const Vec3& arm) {
      const solver::ImpulseBlock& block = ws_.problem.blocks[body];
      return isMovedByForces(body) ? Vec3{}
                                   : (block.velocity + cross(block.angularVelocity, arm)) * begin_;
    };
    return -point.gap -
           dot(point.normal, drivenAt(point.block1, point.r1) - drivenAt(point.block2, point.r2));
  }

 private:
  [[nodiscard]] Real timeOfLastImpact(int body) const {
    return isMovedByForces(body) && !ws_.early.empty() ? ws_.early[body].time : 0;
  }
  /// From its own last impact to the end of the step.
  [[nodiscard]] model::StepMotion motionOf(int body) const {
    if (!isMovedByForces(body)) return ws_.stepMotion[body];
    const solver::ImpulseBlock& block = ws_.problem.blocks[body];
    return {block.displacement, block.rotation};
  }
  /// How much of that lies before the leg.
  [[nodiscard]] Real partDone(int body) const {
    const Real own = timeOfLastImpact(body), left = model_.options.dt - own;
    return begin_ > own && left > 0 ? (begin_ - own) / left : 0;
  }

  const model::ModelData& model_;
  const State& state_;
  const model::Workspace& ws_;
  Real begin_;  // [s] of the step
};

}  // namespace

Real closingReach(const model::ModelData& model, const model::Workspace& ws,
                  const model::ShapePair& pair) {
  return std::max(motionOf(model, ws, pair).closing(), throwReach(model, ws, pair));
}

Real approachAlong(const model::ModelData& model, const model::Workspace& ws,
                   const model::ShapePair& pair, const Vec3& normal) {
  const PairMotion m = motionOf(model, ws, pair);
  return -dot(normal, m.relative) + m.turning + m.falling;
}

Real reachOfForeseen(const model::ModelData& model, const model::Workspace& ws,
                     const model::ShapePair& pair, const Vec3& normal, Real gap) {
  const Real size = smallerReach(model.shapes[pair.shape1], model.shapes[pair.shape2]);
  return std::clamp(approachAlong(model, ws, pair, normal), gap, std::max(gap, kFastPart * size)) +
         model.options.impulse.slop;
}

void addArms(const model::ModelData& model, const State& state, const model::ShapePair& pair,
             int index, const ContactManifold& manifold,
             std::vector<model::ForeseenManifold>& foreseen) {
  const auto after = std::upper_bound(
      foreseen.begin(), foreseen.end(), index,
      [](int value, const model::ForeseenManifold& f) { return value < f.manifold; });
  model::ForeseenManifold& arms = *foreseen.insert(after, {.manifold = index});
  for (int k = 0; k < manifold.count; ++k) {
    const ContactPoint& point = manifold.points[k];
    const Vec3 half = point.normal * (Real(-0.5) * point.depth);
    setArms(model, state, pair, point.position + half, point.position - half, k, &arms);
  }
}

void moveBack(const Vec3& push, ContactManifold* manifold) {
  for (int k = 0; k < manifold->count; ++k) {
    ContactPoint& point = manifold->points[k];
    point.depth -= dot(push, point.normal);
    point.position += push * Real(0.5);
  }
}

void foreseePair(const model::ModelData& model, const State& state, const model::Workspace& ws,
                 const model::ShapePair& pair, const DistanceResult& nearest,
                 CollisionResult& result, std::vector<model::ForeseenManifold>& foreseen) {
  const model::ModelShape& shape1 = model.shapes[pair.shape1];
  const model::ModelShape& shape2 = model.shapes[pair.shape2];
  const PairMotion m = motionOf(model, ws, pair);
  const bool isThrown = throwReach(model, ws, pair) > 0;
  // Where both are convex they stay apart along the normal for as long as the gap lasts.
  const bool isSeparated = isConvex(solidOf(shape1).type()) && isConvex(solidOf(shape2).type());
  const Real approach =
      isSeparated ? -dot(nearest.normal, m.relative) + m.turning + m.falling : m.closing();
  if (approach < nearest.distance && !isThrown) return;

  const Real size = smallerReach(shape1, shape2);
  if (m.closing() > kFastPart * size) {
    const Motion path1 =
        pathOf(model, state, ws, pair.shape1, m.motion1.displacement, m.motion1.rotation);
    const Motion path2 =
        pathOf(model, state, ws, pair.shape2, m.motion2.displacement, m.motion2.rotation);
    const ImpactResult impact =
        timeOfImpact(solidOf(shape1), path1, solidOf(shape2), path2,
                     {.tolerance = kMeetingPart * model.options.impulse.slop});
    if (impact.status == ImpactStatus::Miss) return;
    // A way too wild to be followed to its end: holdFastBodies() cuts it short.
    if (impact.status == ImpactStatus::Hit &&
        addImpact(model, state, pair, m, path1, path2, impact, result, foreseen)) {
      return;
    }
  }
  // A surface that bends has other faces near by: of it only what is as near as the nearest.
  const Real closing = isSeparated ? std::clamp(approach, nearest.distance,
                                                std::max(nearest.distance, kFastPart * size))
                                   : nearest.distance;
  if (addClosing(model, state, ws, pair, nearest, closing + model.options.impulse.slop, result,
                 foreseen))
    return;
  addNearest(model, state, pair, nearest, result, foreseen);
}

void foreseeBeside(const model::ModelData& model, const State& state, const model::Workspace& ws,
                   const model::ShapePair& pair, int manifold, CollisionResult& result,
                   std::vector<model::ForeseenManifold>& foreseen) {
  ContactManifold& touching = result.manifolds()[static_cast<std::size_t>(manifold)];
  const model::ModelShape& shape1 = model.shapes[pair.shape1];
  const model::ModelShape& shape2 = model.shapes[pair.shape2];
  const Real slop = model.options.impulse.slop;
  if (touching.count == ContactManifold::kMaxPoints || touching.count == 0) return;
  if (!isConvex(solidOf(shape1).type()) || !isConvex(solidOf(shape2).type())) return;
  if (!(model.contactMaterial(shape1.material, shape2.material).restitution > 0)) return;
  if (solidOf(shape1).type() == ShapeType::Sphere || solidOf(shape2).type() == ShapeType::Sphere)
    return;
  // What is too slow to bounce is not turned by an impact of its own, and has nothing to come down.
  const Real bouncing = model.options.restitutionThreshold * model.options.dt;
  if (!(motionOf(model, ws, pair).closing() > std::max(slop, bouncing))) return;
  const Real size = smallerReach(shape1, shape2);
  const Real reach = std::min(closingReach(model, ws, pair), kFastPart * size);
  if (!(reach > slop)) return;

  thread_local CollisionResult scratch;
  scratch.clear();
  const Vec3 normal = touching.points[0].normal, push = normal * reach;
  const Transform& X_W1 = ws.shapePose[pair.shape1];
  collide(solidOf(shape1), {X_W1.rotation, X_W1.translation - push}, solidOf(shape2),
          ws.shapePose[pair.shape2], {}, scratch);
  if (scratch.numManifolds() != 1) return;
  ContactManifold& found = scratch.manifolds()[0];
  moveBack(push, &found);
  model::ForeseenManifold arms;
  arms.manifold = manifold;
  for (int k = 0; k < touching.count; ++k) {
    arms.r1[k] = touching.points[k].position - state.center[shape1.body];
    arms.r2[k] = touching.points[k].position - state.center[shape2.body];
  }
  const int numTouching = touching.count;
  for (int k = 0; k < found.count && touching.count < ContactManifold::kMaxPoints; ++k) {
    const ContactPoint& point = found.points[k];
    // Other faces of the two have other normals: pushed that deep, they may be nearer.
    if (!(-point.depth > slop) || !(dot(point.normal, normal) >= kSameDirection)) continue;
    const Vec3 half = point.normal * (Real(-0.5) * point.depth);
    setArms(model, state, pair, point.position + half, point.position - half, touching.count,
            &arms);
    touching.points[touching.count++] = point;
  }
  if (touching.count == numTouching) return;
  touching.type = found.type;
  foreseen.push_back(arms);
}

void holdFastBodies(const model::ModelData& model, const State& state, model::Workspace& ws) {
  if (!ws.isAnyFast) return;
  // Both lists are in order of pairs.
  std::size_t group = 0;
  for (const model::ShapePair& pair : ws.pairs) {
    const std::pair<ObjectId, ObjectId> key{pair.shape1, pair.shape2};
    while (group < ws.groupShapes.size() && ws.groupShapes[group] < key) ++group;
    const bool isTouching = group < ws.groupShapes.size() && ws.groupShapes[group] == key;
    const model::ModelShape& shape1 = model.shapes[pair.shape1];
    const model::ModelShape& shape2 = model.shapes[pair.shape2];
    const LastLeg leg(model, state, ws, shape1.body, shape2.body);
    const bool isHeld1 = isTouching ? leg.isFast(shape1, shape2) : leg.isDiverted(shape1, shape2);
    const bool isHeld2 = isTouching ? leg.isFast(shape2, shape1) : leg.isDiverted(shape2, shape1);
    if (!isHeld1 && !isHeld2) continue;

    Motion path1 = leg.pathOf(pair.shape1), path2 = leg.pathOf(pair.shape2);
    if (isTouching) {
      // Another corner, or another part of the same surface, may be in the way. What the body
      // touches it may go on touching, and deeper where that may bend towards it.
      const bool isFlat = !isSurface(solidOf(shape1).type()) && !isSurface(solidOf(shape2).type());
      const Real part = isFlat ? kTouchingPart : kFastPart;
      const solver::ImpulseGroup& touching = ws.problem.groups[group];
      const Vec3& normal = ws.problem.points[touching.first].normal;
      Real depth = 0, sinking = 0;
      for (int i = touching.first; i < touching.first + touching.count; ++i) {
        const solver::ImpulsePoint& point = ws.problem.points[i];
        depth = std::max(depth, leg.depthAt(point));
        sinking = std::max(sinking, leg.closingOf(point) - std::max<Real>(point.gap, 0));
      }
      // What was made to yield lets it sink as the solver found: where that way was cut, and the
      // velocity was not, it went on gathering speed in place. A half space has no other side;
      // out of anything else a body must not come there.
      const bool isYielding =
          model.contactMaterial(shape1.material, shape2.material).stiffness < kUnlimited;
      const auto lift = [&](const model::ModelShape& shape, const model::ModelShape& other) {
        const bool isEndless = other.shape->type() == ShapeType::Plane;
        const Real most = isEndless ? kUnlimited : kFastPart * shape.reach;
        const Real yielding = isYielding ? std::min(sinking + model.options.impulse.slop, most) : 0;
        return depth + std::max(part * shape.reach, yielding);
      };
      path1.start.translation += normal * (isHeld1 ? lift(shape1, shape2) : 0);
      path2.start.translation -= normal * (isHeld2 ? lift(shape2, shape1) : 0);
    }
    const auto meet = [&] {
      return timeOfImpact(solidOf(shape1), path1, solidOf(shape2), path2,
                          {.tolerance = kMeetingPart * model.options.impulse.slop});
    };
    ImpactResult impact = meet();
    if (impact.status == ImpactStatus::Miss) continue;
    const Real part = kTouchingPart * std::min(isHeld1 ? shape1.reach : shape2.reach,
                                               isHeld2 ? shape2.reach : shape1.reach);
    const HiddenBy hiding = findHiding(model, ws, pair, impact.normal, impact.point, part);
    if (hiding.normal != Vec3{}) {
      path1.start.translation += hiding.normal * (hiding.depth + part);
      impact = meet();
      if (impact.status == ImpactStatus::Miss) continue;
    }
    // What it has met takes it along: two that forces move go on as one, so that their common
    // centre of mass stays on its way, and with it their angular momentum.
    const bool areBothFree = leg.isMovedByForces(shape1.body) && leg.isMovedByForces(shape2.body);
    const Vec3 common = areBothFree ? leg.commonDisplacement(shape1.body, shape2.body) : Vec3{};
    const auto hold = [&](const model::ModelShape& shape, const model::ModelShape& other,
                          const Motion& otherPath, bool isOtherHeld) {
      const Vec3 along = areBothFree ? common : otherPath.displacement;
      // In a cleft there is no way to look along: then it moves as little as a slow body.
      const Real way = norm(leg.displacementOf(shape.body) - along) +
                       norm(leg.rotationOf(shape.body)) * shape.reach;
      const Real s = impact.status == ImpactStatus::Overlapping
                         ? std::min<Real>(kFastPart * shape.reach / way, 1)
                         : impact.s;
      leg.cut(shape.body, s, along, &ws.problem.blocks[shape.body]);
      if (areBothFree && !isOtherHeld)
        leg.takeAlong(other.body, s, along, &ws.problem.blocks[other.body]);
    };
    if (isHeld1) hold(shape1, shape2, path2, isHeld2);
    if (isHeld2) hold(shape2, shape1, path1, isHeld1);
  }
}

}  // namespace tangere::contact
