// SPDX-License-Identifier: Apache-2.0
#include "dynamics/kinematics.hpp"

#include "math/transform.hpp"

#include <algorithm>
#include <cmath>

namespace tangere::dynamics {

namespace {

void growAlong(Aabb* box, const Vec3& displacement, Real margin);
Vec3 frameVelocity(const model::ModelData& model, const State& state);
Real impactReach(const model::ModelData& model, const State& state, const Vec3& frameVelocity);
void findThrown(const model::ModelData& model, model::Workspace& ws);

/// A body that moves farther than this many times its reach may knock others about.
constexpr Real kBulletSizes = 2;

/// How a body moves over the step when it touches nothing.
model::StepMotion stepMotion(const model::ModelData& model, const model::Control& control,
                             const State& state, std::size_t index, const Mat3& R_WB) {
  const model::ModelBody& body = model.bodies[index];
  if (body.type == BodyType::Fixed || state.isAsleep[index] != 0) return {};
  const Real dt = model.options.dt;
  model::StepMotion motion{state.velocity[index] * dt, state.angularVelocity[index] * dt};
  // Of a link without shapes nobody asks more than whether it is finite.
  if (body.type != BodyType::Dynamic || (body.isJointed && body.numShapes == 0)) return motion;
  motion.displacement +=
      (model.options.gravity * body.gravityScale + control.force[index] * body.inverseMass) *
      (dt * dt);
  const Vec3& torque = control.torque[index];
  if (!(torque == Vec3{}))
    motion.rotation += R_WB * (body.inverseInertia * transposeTimes(R_WB, torque)) * (dt * dt);
  return motion;
}

void poseBody(const model::ModelData& model, const model::Control& control, const State& state,
              std::size_t index, model::Workspace& ws) {
  const model::ModelBody& body = model.bodies[index];
  Transform& X_WB = ws.bodyPose[index];
  X_WB.rotation = rotationMatrix(state.orientation[index]);
  X_WB.translation = state.center[index] - X_WB.rotation * body.mass.center;

  const bool isMoving = body.type != BodyType::Fixed && state.isAsleep[index] == 0;
  const model::StepMotion motion = stepMotion(model, control, state, index, X_WB.rotation);
  ws.stepMotion[index] = motion;
  if (body.numShapes == 0) return;
  const Real turn = norm(motion.rotation);
  for (int s = body.firstShape; s < body.firstShape + body.numShapes; ++s) {
    const model::ModelShape& shape = model.shapes[s];
    ws.shapePose[s] = X_WB * shape.pose;
    ws.sweptBox[s] = shape.shape->worldAabb(ws.shapePose[s]);
    if (isMoving)
      growAlong(&ws.sweptBox[s], motion.displacement, turn * shape.reach + ws.impactReach);
  }
}

}  // namespace

void computeKinematics(const model::ModelData& model, const model::Control& control,
                       const State& state, model::Workspace& ws) {
  ws.frameVelocity = frameVelocity(model, state);
  ws.impactReach = impactReach(model, state, ws.frameVelocity);
  const std::size_t numBodies = model.bodies.size();
  ws.bodyPose.resize(numBodies);
  ws.stepMotion.resize(numBodies);
  ws.poseAge.resize(numBodies, 0);
  ws.shapePose.resize(model.shapes.size());
  ws.sweptBox.resize(model.shapes.size());
  constexpr std::int64_t kGrain = 64, kMinShared = 256;  // fewer are not worth a message
  const auto count = static_cast<std::int64_t>(numBodies);
  core::parallelFor(
      count >= kMinShared ? ws.pool.get() : nullptr, count, kGrain,
      [&](std::int64_t begin, std::int64_t end) {
        for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
          const bool isStill = model.bodies[i].type == BodyType::Fixed || state.isAsleep[i] != 0;
          if (isStill && ws.poseAge[i] > 0) {
            ws.poseAge[i] = 2;
            continue;
          }
          poseBody(model, control, state, i, ws);
          ws.poseAge[i] = isStill ? 1 : 0;
        }
      });
  findThrown(model, ws);
}

int firstNotFinite(const model::Workspace& ws) {
  for (std::size_t i = 0; i < ws.stepMotion.size(); ++i) {
    const model::StepMotion& motion = ws.stepMotion[i];
    if (!math::isFinite(motion.displacement) || !math::isFinite(motion.rotation))
      return static_cast<int>(i);
  }
  return -1;
}

namespace {

/// The mean velocity of what no force moves, or else that of the centre of mass of all: a world
/// that moves as a whole is the same world, and nothing in it is fast for that.
Vec3 frameVelocity(const model::ModelData& model, const State& state) {
  Vec3 driven{}, momentum{};
  Real mass = 0;
  int numDriven = 0;
  for (std::size_t i = 0; i < model.bodies.size(); ++i) {
    const model::ModelBody& body = model.bodies[i];
    if (body.type == BodyType::Dynamic) {
      if (numDriven > 0) continue;
      momentum += state.velocity[i] * body.mass.mass;
      mass += body.mass.mass;
    } else {
      if (body.type == BodyType::Kinematic) driven += state.velocity[i];
      ++numDriven;
    }
  }
  if (numDriven > 0) return driven / static_cast<Real>(numDriven);
  return mass > 0 ? momentum / mass : Vec3{};
}

/// A body at rest may be hit, and hit the next, all within one step: no one leaves an impact faster
/// than twice the fastest came.
Real impactReach(const model::ModelData& model, const State& state, const Vec3& frameVelocity) {
  if (!model.hasRestitution) return 0;
  Real fastest = 0;
  for (std::size_t i = 0; i < model.bodies.size(); ++i) {
    if (state.isAsleep[i] == 0)
      fastest = std::max(fastest, squaredNorm(state.velocity[i] - frameVelocity));
  }
  const Real speed = std::sqrt(fastest);
  return speed > model.options.restitutionThreshold ? 2 * speed * model.options.dt : 0;
}

/// Whether anything else may be in the way of a body.
bool isMet(const model::ModelData& model, const model::Workspace& ws, int body) {
  const int first = model.bodies[body].firstShape, end = first + model.bodies[body].numShapes;
  for (std::size_t s = 0; s < model.shapes.size(); ++s) {
    if (model.shapes[s].body == body) continue;
    for (int own = first; own < end; ++own)
      if (ws.sweptBox[s].overlaps(ws.sweptBox[own])) return true;
  }
  return false;
}

/// A bullet that meets something is turned aside and may go anywhere; what it may hit is thrown
/// within the same step, and may hit the next. One that meets nothing flies straight on: two of
/// them in a pile would otherwise reach for all of it.
void findThrown(const model::ModelData& model, model::Workspace& ws) {
  ws.throwReach.clear();
  // How far two bodies may move against each other: what all do alike is no speed.
  Aabb displacements{};
  for (const model::ModelShape& shape : model.shapes) {
    const Vec3& displacement = ws.stepMotion[shape.body].displacement;
    if (&shape == model.shapes.data()) displacements = {displacement, displacement};
    displacements.merge(displacement);
  }
  const Real farthest = norm(displacements.upper - displacements.lower);
  const Vec3 frame = ws.frameVelocity * model.options.dt;
  ws.isAnyFast = false;
  std::vector<std::pair<Aabb, Real>>& bullets = ws.bullets;
  bullets.clear();
  std::vector<int>&straight = ws.straightBullets, &met = ws.turnedBullets;
  straight.clear();
  met.clear();
  for (const model::ModelShape& shape : model.shapes) {
    const Real length = norm(ws.stepMotion[shape.body].displacement - frame);
    if (model.bodies[shape.body].type == BodyType::Dynamic)
      ws.isAnyFast =
          ws.isAnyFast || farthest + norm(ws.stepMotion[shape.body].rotation) * shape.reach >
                              Real(0.1) * shape.reach;
    if (!(shape.reach > 0 && length > kBulletSizes * shape.reach)) continue;
    // All ways are straight while they are compared.
    const int s = static_cast<int>(&shape - model.shapes.data());
    const bool isAlone = !model.bodies[shape.body].isJointed && !isMet(model, ws, shape.body);
    (isAlone ? straight : met).push_back(s);
  }
  const auto turnAside = [&](int s) {
    const Real length = norm(ws.stepMotion[model.shapes[s].body].displacement - frame);
    ws.sweptBox[s].expand(length);
    bullets.emplace_back(ws.sweptBox[s], 2 * length);
  };
  for (const int s : met) turnAside(s);
  if (bullets.empty()) return;
  ws.throwReach.assign(model.bodies.size(), 0);
  for (std::size_t k = 0; k < bullets.size(); ++k) {
    const auto [box, reach] = bullets[k];
    for (std::size_t i = 0; i < straight.size();) {
      const int body = model.shapes[straight[i]].body;
      if (!box.overlaps(ws.sweptBox[straight[i]])) {
        ++i;
        continue;
      }
      const auto isOfBody = [&](int s) { return model.shapes[s].body == body; };
      for (const int s : straight)
        if (isOfBody(s)) turnAside(s);
      std::erase_if(straight, isOfBody);
      i = 0;
    }
    for (std::size_t s = 0; s < model.shapes.size(); ++s) {
      const auto body = static_cast<std::size_t>(model.shapes[s].body);
      if (model.bodies[body].type != BodyType::Dynamic || ws.throwReach[body] > 0 ||
          reach < 2 * norm(ws.stepMotion[body].displacement - frame) ||
          !box.overlaps(ws.sweptBox[s]) ||
          norm(ws.stepMotion[body].displacement - frame) > kBulletSizes * model.shapes[s].reach) {
        continue;
      }
      ws.throwReach[body] = reach;
      ws.poseAge[body] = 0;  // its box is for this step only
      for (int t = model.bodies[body].firstShape;
           t < model.bodies[body].firstShape + model.bodies[body].numShapes; ++t) {
        ws.sweptBox[t].expand(reach);
        bullets.emplace_back(ws.sweptBox[t], reach);
      }
    }
  }
}

void growAlong(Aabb* box, const Vec3& displacement, Real margin) {
  box->lower +=
      Vec3{std::min<Real>(displacement.x, 0) - margin, std::min<Real>(displacement.y, 0) - margin,
           std::min<Real>(displacement.z, 0) - margin};
  box->upper +=
      Vec3{std::max<Real>(displacement.x, 0) + margin, std::max<Real>(displacement.y, 0) + margin,
           std::max<Real>(displacement.z, 0) + margin};
}

}  // namespace

}  // namespace tangere::dynamics
