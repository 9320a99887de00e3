// SPDX-License-Identifier: Apache-2.0
//
// Impacts with friction under the event solver: every point bounces by its coefficient, whatever
// the friction, and none adds energy. Where the two together would, friction gives way.
#include "sim/event_samples.hpp"
#include "sim/random_throw.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace tangere::test {
namespace {

/// Of all bodies [J].
Real kineticEnergy(const Simulator& sim) {
  Real sum = 0;
  for (int i = 0; i < sim.model().numBodies(); ++i) {
    if (sim.model().bodyType(i) != BodyType::Dynamic) continue;
    const auto k = static_cast<std::size_t>(i);
    const MassProperties& mass = sim.model().massProperties(i);
    const Vec3 spin =
        transposeTimes(rotationMatrix(sim.state().orientation[k]), sim.state().angularVelocity[k]);
    sum +=
        mass.mass * squaredNorm(sim.state().velocity[k]) / 2 + dot(spin, mass.inertia * spin) / 2;
  }
  return sum;
}

/// Of a place of a body.
Vec3 velocityAt(const Simulator& sim, int body, const Vec3& p_W) {
  if (sim.model().bodyType(body) != BodyType::Dynamic) return {};
  const auto k = static_cast<std::size_t>(body);
  return sim.state().velocity[k] +
         cross(sim.state().angularVelocity[k], p_W - sim.state().center[k]);
}

/// A rod that comes down on its end, without spin and weight: by Newton's law alone, and with what
/// Coulomb's law would do to it.
struct RodLanding {
  Real tilt = 0.6;   ///< of the rod from upright
  Real slide = 0.3;  ///< speed across, to where the rod leans
  Real friction = 0.9, restitution = 0.9;
};

TEST(EventImpactEnergy, WhereFrictionWouldAddEnergyItGivesWayAndNotTheBounce) {
  int numGaining = 0;
  for (int k = 0; k < 400; ++k) {
    const RodLanding rod{.tilt = 0.1 + 0.06 * (k % 20),
                         .slide = -2 + 0.2 * (k / 20),
                         .friction = k % 7 == 0 ? 100 : 0.3 + 0.3 * (k % 3),
                         .restitution = 0.6 + 0.1 * (k % 5)};
    const Real half = 0.25, fall = 2, m = 1.3, i = 0.02;
    const Vec3 axis{std::sin(rod.tilt), 0, std::cos(rod.tilt)};
    const Vec3 arm = axis * -half;  // of the end, seen from the centre
    ModelBuilder builder = eventBuilder(
        {.name = "m", .friction = rod.friction, .restitution = rod.restitution}, {}, 1e-3);
    addGround(builder);
    Body body = makeBody("rod", std::make_shared<Capsule>(1e-9, half), {0, 0, -arm.z + 1e-3});
    body.pose.rotation = rotationMatrix(Quat{std::cos(rod.tilt / 2), 0, std::sin(rod.tilt / 2), 0});
    body.linearVelocity = {rod.slide, 0, -fall};
    body.massProperties = MassProperties{.mass = m, .inertia = {{{i, 0, 0}, {0, i, 0}, {0, 0, i}}}};
    builder.addBody(body);
    Simulator sim(builder.build());
    const Real before = kineticEnergy(sim);
    sim.step();
    const std::string what = numbered("landing ", k);
    ASSERT_EQ(sim.report().status, StepStatus::Ok) << what;
    const Vec3 v = sim.state().velocity[1], w = sim.state().angularVelocity[1];
    EXPECT_NEAR((v + cross(w, arm)).z, rod.restitution * fall, 1e-6) << what;
    const Real after = kineticEnergy(sim);
    EXPECT_LE(after, before * (1 + 1e-12)) << what;
    const Vec3 p = (v - Vec3{rod.slide, 0, -fall}) * m;
    EXPECT_LE(std::fabs(p.x), rod.friction * p.z * (1 + 1e-12)) << what;
    // By hand: friction that stops the end, or as much as there is.
    const Real wxx = 1 / m + arm.z * arm.z / i, wzz = 1 / m + arm.x * arm.x / i;
    const Real wxz = -arm.x * arm.z / i, jump = (1 + rod.restitution) * fall;
    Real pz = (wxx * jump + wxz * rod.slide) / (wxx * wzz - wxz * wxz);
    Real px = (-rod.slide - wxz * pz) / wxx;
    if (std::fabs(px) > rod.friction * pz) {
      const Real side = px > 0 ? rod.friction : -rod.friction;
      pz = jump / (wzz + side * wxz);
      px = side * pz;
    }
    const Real work =
        px * rod.slide - pz * fall + (wxx * px * px + 2 * wxz * px * pz + wzz * pz * pz) / 2;
    if (work > 0) {
      ++numGaining;
      EXPECT_NEAR(after, before, 1e-9 * before) << what << ": all the friction that may be";
    } else {
      EXPECT_NEAR(p.x, px, 1e-6 * p.z) << what;
      EXPECT_NEAR(p.z, pz, 1e-6 * p.z) << what;
    }
  }
  EXPECT_GT(numGaining, 20);
}

/// One body on the floor, or two in flight.
Model thrown(RandomThrow& random, Real restitution, Real friction) {
  ModelBuilder builder = eventBuilder({.name = "m",
                                       .density = std::pow(10, random.between(0, 6)),
                                       .friction = friction,
                                       .restitution = restitution},
                                      {}, 1e-3);
  const bool isPair = random.between(0, 1) < 0.4;
  const auto add = [&](const char* name, const Vec3& at, const Vec3& velocity) {
    Body body = makeBody(name, random.shape(), at);
    body.pose.rotation = rotationMatrix(random.orientation());
    body.linearVelocity = velocity;
    body.angularVelocity = random.vector(8);
    builder.addBody(body);
  };
  if (isPair) {
    add("a", {0, 0, 0}, random.vector(0.5));
    add("b", {1.2, 0.1, 0.05}, Vec3{-3, 0, 0} + random.vector(0.5));
  } else {
    addGround(builder);
    add("a", {0, 0, 0.9}, Vec3{0, 0, -3} + random.vector(2));
  }
  return builder.build();
}

// The first impact of each throw, seen just before and after it: flight has errors of its own.
TEST(EventImpactEnergy, WhateverIsThrownBouncesByItsRestitutionAndGainsNothing) {
  int numImpacts = 0;
  for (int k = 0; k < 600; ++k) {
    RandomThrow random(static_cast<std::uint64_t>(k) + 1);
    const Real e = random.oneOf({0, 0.3, 0.8, 1}), mu = random.oneOf({0, 0.1, 1, 100});
    const Model model = thrown(random, e, mu);
    Simulator first(model);
    const EventRecord* hit = nullptr;
    for (int i = 0; i < 400 && hit == nullptr; ++i) {
      first.step();
      for (const EventRecord& event : first.events())
        if (hit == nullptr && event.cause == EventCause::Impact) hit = &event;
    }
    if (hit == nullptr) continue;
    const EventRecord at = *hit;
    Simulator sim(model);
    sim.advanceTo(at.time - 1e-9);
    const Real before = kineticEnergy(sim);
    sim.advanceTo(at.time + 1e-9);
    const std::string what =
        numbered("throw ", k) + ", e " + std::to_string(e) + ", mu " + std::to_string(mu);
    EXPECT_EQ(sim.report().status, StepStatus::Ok) << what;
    EXPECT_LE(kineticEnergy(sim), before * (1 + 1e-9)) << what;
    if (sim.events().size() != 1) continue;  // another point has struck since
    ++numImpacts;
    const Vec3 v = velocityAt(sim, at.body1, at.position) - velocityAt(sim, at.body2, at.position);
    EXPECT_NEAR(dot(at.normal, v), e * at.approachSpeed, 1e-6 * (1 + at.approachSpeed)) << what;
  }
  EXPECT_GT(numImpacts, 400);
}

}  // namespace
}  // namespace tangere::test
