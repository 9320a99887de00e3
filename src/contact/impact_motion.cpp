// SPDX-License-Identifier: Apache-2.0
#include "contact/impact_motion.hpp"

#include "contact/build_problem.hpp"
#include "contact/common_place.hpp"
#include "contact/foresee_contacts.hpp"
#include "contact/solid_shape.hpp"
#include "dynamics/free_motion.hpp"
#include "dynamics/turn_body.hpp"
#include "math/quat.hpp"

#include <algorithm>

namespace tangere::contact {

namespace {

/// Shapes are measured this part of their size apart: where they touch, what is nearest has no
/// direction to rounding.
constexpr Real kApart = 1e-3;
/// Cosine of what a normal may turn by within the step and still be that of the same faces.
constexpr Real kSameFaces = 0.99;

}  // namespace

Real ImpactMotion::startOf(const solver::ImpulseGroup& group) const {
  return std::max(ws_.early[group.block1].time, ws_.early[group.block2].time);
}

PlacedBlock ImpactMotion::placeAt(int index, Real time) const {
  const solver::ImpulseBlock& block = ws_.problem.blocks[index];
  const model::EarlyMotion& early = ws_.early[index];
  const Real t = time - early.time;
  PlacedBlock out{.center = block.center + early.displacement,
                  .velocity = block.velocity,
                  .angularVelocity = block.angularVelocity,
                  .orientation = early.time > 0 ? early.orientation : state_.orientation[index]};
  if (t == 0) return out;
  if (!early.isHeld) {
    out.velocity += block.acceleration * t;
    out.angularVelocity += block.angularAcceleration * t;
  }
  out.displacement = (block.velocity + out.velocity) * (Real(0.5) * t);
  out.rotation = (block.angularVelocity + out.angularVelocity) * (Real(0.5) * t);
  out.center += out.displacement;
  if (mayMove(index)) {
    const dynamics::TurnedBody turned = dynamics::turnBody(model_.bodies[index], out.orientation,
                                                           out.angularVelocity, out.rotation, t);
    out.orientation = turned.orientation;
    out.angularVelocity = turned.angularVelocity;
    out.work = turned.work;
  } else if (!(out.rotation == Vec3{})) {
    out.orientation = math::normalized(math::quatExp(out.rotation) * out.orientation);
  }
  return out;
}

PairMotion ImpactMotion::pairAt(int block1, int block2, Real time) const {
  PairMotion out;
  for (int k = 0; k < 2; ++k) {
    const int index = k == 0 ? block1 : block2;
    const solver::ImpulseBlock& block = ws_.problem.blocks[index];
    const model::EarlyMotion& early = ws_.early[index];
    const Real t = time - early.time;
    out.displacement[k] = early.displacement;
    out.rotation[k] = early.rotation;
    out.velocity[k] = block.velocity;
    out.angularVelocity[k] = block.angularVelocity;
    if (!early.isHeld) {
      out.acceleration[k] = block.acceleration;
      out.angularAcceleration[k] = block.angularAcceleration;
      out.velocity[k] += block.acceleration * t;
      out.angularVelocity[k] += block.angularAcceleration * t;
    }
    if (t == 0) continue;
    out.displacement[k] += (block.velocity + out.velocity[k]) * (Real(0.5) * t);
    out.rotation[k] += (block.angularVelocity + out.angularVelocity[k]) * (Real(0.5) * t);
  }
  return out;
}

GapMotion ImpactMotion::motionOf(const solver::ImpulsePoint& point, const PairMotion& p) {
  const auto along = [&](const Vec3(&linear)[2], const Vec3(&angular)[2]) {
    return dot(point.normal,
               linear[0] - linear[1] + cross(angular[0], point.r1) - cross(angular[1], point.r2));
  };
  return {.gap = point.gap + along(p.displacement, p.rotation),
          .speed = along(p.velocity, p.angularVelocity),
          .acceleration = along(p.acceleration, p.angularAcceleration)};
}

Vec3 ImpactMotion::velocityAt(const solver::ImpulsePoint& point) const {
  const solver::ImpulseBlock& block1 = ws_.problem.blocks[point.block1];
  const solver::ImpulseBlock& block2 = ws_.problem.blocks[point.block2];
  return block1.velocity + cross(block1.angularVelocity, point.r1) - block2.velocity -
         cross(block2.angularVelocity, point.r2);
}

void ImpactMotion::advance(int index, Real time) {
  model::EarlyMotion& early = ws_.early[index];
  if (!(time > early.time)) return;
  solver::ImpulseBlock& block = ws_.problem.blocks[index];
  const model::ModelBody& body = model_.bodies[index];
  const PlacedBlock placed = placeAt(index, time);
  const Quat before = early.time > 0 ? early.orientation : state_.orientation[index];
  early.time = time;
  early.displacement += placed.displacement;
  early.rotation += placed.rotation;
  if (!early.isHeld) {
    early.meanDisplacement += placed.displacement;
    early.meanRotation += placed.rotation;
  }
  early.orientation = placed.orientation;
  block.velocity = placed.velocity;
  block.angularVelocity = placed.angularVelocity;
  ws_.ledger.gyroscopic += placed.work;
  if (dynamics::isIsotropic(body.mass.inertia)) return;
  // Torques stay as they are in the world, the inertia turns.
  const Mat3 R = rotationMatrix(placed.orientation);
  block.inverseInertia = dynamics::inWorld(R, body.inverseInertia);
  if (block.angularAcceleration == Vec3{}) return;
  const Mat3 R0 = rotationMatrix(before);
  block.angularAcceleration =
      block.inverseInertia *
      (R0 * (body.mass.inertia * transposeTimes(R0, block.angularAcceleration)));
}

Transform ImpactMotion::shapePoseAt(ObjectId shape, const PlacedBlock& placed) const {
  const model::ModelShape& s = model_.shapes[shape];
  const model::ModelBody& body = model_.bodies[s.body];
  if (body.type == BodyType::Fixed) return ws_.shapePose[shape];
  const Mat3 R = rotationMatrix(placed.orientation);
  return Transform{R, placed.center - R * body.mass.center} * s.pose;
}

bool ImpactMotion::measure(const model::ImpactCandidate& candidate, Real time) {
  const solver::ImpulseGroup& group = ws_.problem.groups[candidate.group];
  const std::span<solver::ImpulsePoint> points(ws_.problem.points.data() + group.first,
                                               static_cast<std::size_t>(group.count));
  const bool isSingle = group.count == 1;
  if (!isSingle && candidate.isFast) return false;
  const Vec3 last = points[0].normal;
  for (const solver::ImpulsePoint& point : points) {
    if (!(point.normal == last)) return false;
  }
  const auto [id1, id2] = ws_.groupShapes[candidate.group];
  const model::ModelShape &shape1 = model_.shapes[id1], &shape2 = model_.shapes[id2];
  const PlacedBlock placed1 = placeAt(group.block1, time), placed2 = placeAt(group.block2, time);
  const Real size = std::min(shape1.reach > 0 ? shape1.reach : shape2.reach,
                             shape2.reach > 0 ? shape2.reach : shape1.reach);
  const Vec3 apart = last * (kApart * size);
  Transform X_W1 = shapePoseAt(id1, placed1);
  X_W1.translation += apart;
  const DistanceResult nearest =
      distance(solidOf(shape1), X_W1, solidOf(shape2), shapePoseAt(id2, placed2), {});
  if (nearest.status != QueryStatus::Ok || nearest.normal == Vec3{}) return false;
  const bool isConvexPair = isConvex(solidOf(shape1).type()) && isConvex(solidOf(shape2).type());
  if (!(isSingle && isConvexPair) && !(dot(nearest.normal, last) >= kSameFaces)) return false;

  const auto setGap = [&](solver::ImpulsePoint& point, Real gap) {
    point.gap += gap - motionAt(point, time).gap;
  };
  if (isSingle) {
    solver::ImpulsePoint& point = points[0];
    const Vec3 place = (nearest.point1 - apart + nearest.point2) * Real(0.5);
    point.normal = nearest.normal;
    point.r1 = place - placed1.center;
    point.r2 = place - placed2.center;
    setTangents(ws_.problem.blocks[group.block1], ws_.problem.blocks[group.block2], &point);
    point.tangentImpulse[0] = point.tangentImpulse[1] = 0;
    setGap(point, nearest.distance - dot(apart, nearest.normal));
    return true;
  }
  // Several points move with their bodies; the nearest faces say which way is apart.
  const Mat3 R1 =
      rotationMatrix(placed1.orientation) * transpose(ws_.bodyPose[group.block1].rotation);
  const Mat3 R2 =
      rotationMatrix(placed2.orientation) * transpose(ws_.bodyPose[group.block2].rotation);
  for (int k = 0; k < group.count; ++k) {
    const model::StartPoint& start = ws_.impactMemory.start[group.first + k];
    const Vec3 place1 = placed1.center + R1 * start.r1, place2 = placed2.center + R2 * start.r2;
    const Vec3 place = commonPlace(model_, group.block1, place1, group.block2, place2);
    solver::ImpulsePoint& point = points[static_cast<std::size_t>(k)];
    point.normal = nearest.normal;
    point.r1 = place - placed1.center;
    point.r2 = place - placed2.center;
    if (k == 0) {
      setTangents(ws_.problem.blocks[group.block1], ws_.problem.blocks[group.block2], &point);
    } else {
      point.tangent1 = points[0].tangent1;
      point.tangent2 = points[0].tangent2;
    }
    point.tangentImpulse[0] = point.tangentImpulse[1] = 0;
    setGap(point, start.gap + dot(nearest.normal, place1 - place2));
  }
  return true;
}

void ImpactMotion::placeAsForeseen(const solver::ImpulseGroup& group) {
  for (int i = group.first; i < group.first + group.count; ++i) {
    const model::StartPoint& start = ws_.impactMemory.start[i];
    solver::ImpulsePoint& point = ws_.problem.points[i];
    point.normal = start.normal;
    point.r1 = start.r1;
    point.r2 = start.r2;
    point.gap = start.gap;
    setTangents(ws_.problem.blocks[group.block1], ws_.problem.blocks[group.block2], &point);
    point.tangentImpulse[0] = point.tangentImpulse[1] = 0;
  }
}

void ImpactMotion::joinArms(solver::ImpulsePoint* point) const {
  const Real time = std::max(ws_.early[point->block1].time, ws_.early[point->block2].time);
  const auto centerOf = [&](int index) {
    const solver::ImpulseBlock& block = ws_.problem.blocks[index];
    return block.center + (mayMove(index) ? ws_.early[index].displacement : block.velocity * time);
  };
  const Vec3 center1 = centerOf(point->block1), center2 = centerOf(point->block2);
  const Vec3 place =
      commonPlace(model_, point->block1, center1 + point->r1, point->block2, center2 + point->r2);
  point->r1 = place - center1;
  point->r2 = place - center2;
}

void ImpactMotion::handOver() {
  for (solver::ImpulsePoint& point : ws_.problem.points) {
    const model::EarlyMotion& early1 = ws_.early[point.block1];
    const model::EarlyMotion& early2 = ws_.early[point.block2];
    if (!(early1.time > 0) && !(early2.time > 0)) continue;
    point.gap += dot(point.normal, early1.displacement + cross(early1.rotation, point.r1) -
                                       early2.displacement - cross(early2.rotation, point.r2));
    joinArms(&point);
  }
  for (std::size_t i = 0; i < ws_.early.size(); ++i) {
    model::EarlyMotion& early = ws_.early[i];
    if (!(early.time > 0)) continue;
    solver::ImpulseBlock& block = ws_.problem.blocks[i];
    block.duration = model_.options.dt - early.time;
    if (!early.isHeld) continue;
    const Vec3 dv = block.acceleration * early.time, dw = block.angularAcceleration * early.time;
    early.meanDisplacement += (block.velocity + dv * Real(0.5)) * early.time;
    early.meanRotation += (block.angularVelocity + dw * Real(0.5)) * early.time;
    block.velocity += dv;
    block.angularVelocity += dw;
  }
}

}  // namespace tangere::contact
