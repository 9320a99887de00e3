// SPDX-License-Identifier: Apache-2.0
//
// What a body does and what it says it does: one that sinks moves at its velocity, and bodies far
// away and fast concern nobody whom they do not meet.
#include "sim/checked_simulation.hpp"

#include <algorithm>
#include <string>

namespace tangere::test {
namespace {

Body floorBody() {
  return {
      .name = "floor", .type = BodyType::Fixed, .shapes = {{.shape = std::make_shared<Plane>()}}};
}

Real energyOf(const Simulator& simulator) {
  return simulator.energy().kinetic + simulator.energy().potential;
}

// A 64 kg box of 0.4 m on a floor of 80 N/m sinks until 7.85 m of floor carry it.
TEST(SunkenBodies, ABoxThatSinksInAFloorMovesAtItsVelocityAndGainsNoEnergy) {
  for (const Real stiffness : {20.0, 80.0, 400.0, 3000.0}) {
    for (const Real dt : {0.002, 0.01, 0.02}) {
      SCOPED_TRACE(std::to_string(stiffness) + " N/m, " + std::to_string(dt) + " s");
      ModelBuilder builder;
      builder.setOptions({.dt = dt, .solver = SolverType::Sap});
      builder.addMaterial({.name = "soft", .density = 1000, .stiffness = stiffness});
      builder.addBody(floorBody());
      const auto box = std::make_shared<Box>(Vec3{0.2, 0.2, 0.2});
      builder.addBody({.name = "box",
                       .pose = {Mat3::identity(), {0, 0, 0.5}},
                       .shapes = {{.shape = box, .material = "soft"}}});
      Simulator simulator(builder.build());
      const int index = simulator.model().findBody("box");
      const Real before = energyOf(simulator);
      BodyState last = simulator.body(index);
      for (int i = 0; i < static_cast<int>(2 / dt); ++i) {
        ASSERT_EQ(simulator.step().status, StepStatus::Ok) << i;
        const BodyState state = simulator.body(index);
        // Between the way at the speed before and the way at the speed after.
        const Real way = state.pose.translation.z - last.pose.translation.z;
        const auto [slow, fast] = std::minmax(last.linearVelocity.z, state.linearVelocity.z);
        ASSERT_GE(way, dt * slow - 1e-12) << i;
        ASSERT_LE(way, dt * fast + 1e-12) << i;
        last = state;
        ASSERT_LT(energyOf(simulator), before * (1 + 1e-9)) << i;
      }
    }
  }
}

Simulator pileWith(SolverType solver, const Vec3& where, const Vec3& velocity) {
  ModelBuilder builder;
  builder.setOptions({.solver = solver});
  builder.addBody(floorBody());
  const auto ball = std::make_shared<Sphere>(0.1);
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j)
      for (int k = 0; k < 3; ++k)
        builder.addBody({.name = std::to_string(16 * k + 4 * j + i),
                         .pose = {Mat3::identity(), {0.3 * i, 0.3 * j, 0.5 + 0.3 * k}},
                         .shapes = {{.shape = ball}}});
  builder.addBody({.name = "away",
                   .pose = {Mat3::identity(), where},
                   .linearVelocity = velocity,
                   .shapes = {{.shape = ball}}});
  return Simulator(builder.build());
}

// 48 balls that fall and touch nothing: a ball that leaves them at 1e8 m/s took all 1128 pairs of
// them, and the floor, into one problem.
TEST(FarBodies, AFastBodyThatMeetsNobodyAddsNoContacts) {
  for (const SolverType solver : {SolverType::Impulse, SolverType::Sap}) {
    for (const Real speed : {1e3, 1e5, 1e8}) {
      Simulator simulator = pileWith(solver, {0, 0, 5}, Vec3{1, 1, 1} * speed);
      Simulator alone = pileWith(solver, {0, 0, 5}, {});
      for (int i = 0; i < 20; ++i) {
        simulator.step();
        alone.step();
        EXPECT_EQ(simulator.report().numContacts, alone.report().numContacts) << speed;
      }
      // And nobody else moves otherwise.
      for (int b = 0; b < alone.model().numBodies(); ++b) {
        if (alone.model().bodyName(b) == "away") continue;
        EXPECT_EQ(simulator.body(b).pose.translation, alone.body(b).pose.translation);
      }
    }
  }
}

TEST(FarBodies, AFastBodyThatMeetsSomebodyStillHits) {
  for (const SolverType solver : {SolverType::Impulse, SolverType::Sap}) {
    // It comes from above at 200 times its size a step, onto the ball at the corner.
    Simulator simulator = pileWith(solver, {0, 0, 12}, {0, 0, -1e4});
    const int away = simulator.model().findBody("away");
    for (int i = 0; i < 50; ++i) {
      simulator.step();
      EXPECT_GT(simulator.body(away).pose.translation.z, 0.09)
          << "step " << i << ": it is in the floor";
    }
    // Its 41,888 kg m/s have gone into the column, and through that into the floor.
    EXPECT_GT(simulator.body(away).linearVelocity.z, -100);
  }
}

}  // namespace
}  // namespace tangere::test
