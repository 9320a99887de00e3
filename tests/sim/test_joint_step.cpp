// SPDX-License-Identifier: Apache-2.0
//
// Springs, damping and drives over many steps: amplitude, period, decay and stability.
#include <tangere/simulator.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

namespace tangere {
namespace {

/// What pulls a mass of 1 kg back with 400 N/m: 20 rad/s.
enum class Pull { Joint, Drive, LimitedDrive, FixedTendon, SpatialTendon, TendonDrive };
constexpr Pull kPulls[] = {Pull::Joint,       Pull::Drive,         Pull::LimitedDrive,
                           Pull::FixedTendon, Pull::SpatialTendon, Pull::TendonDrive};

struct Oscillator {
  Pull pull = Pull::Joint;
  Real dt = 0.002;
  Real stiffness = 400, damping = 0, mass = 1;
  JointStep step = JointStep::Midpoint;
};

Simulator make(const Oscillator& o) {
  ModelBuilder builder;
  SimulationOptions options;
  options.solver = SolverType::Sap;
  options.dt = o.dt;
  options.gravity = {};
  options.jointStep = o.step;
  builder.setOptions(options);
  Body body;
  body.name = "b";
  body.joints = {{.name = "j", .type = JointType::Prismatic, .axis = {1, 0, 0}}};
  body.massProperties = MassProperties{.mass = o.mass, .inertia = Mat3::identity()};
  if (o.pull == Pull::Joint) {
    body.joints[0].stiffness = o.stiffness;
    body.joints[0].damping = o.damping;
  }
  builder.addBody(body);
  if (o.pull == Pull::Drive || o.pull == Pull::LimitedDrive) {
    Actuator servo = Actuator::position("a", "j", o.stiffness, o.damping);
    if (o.pull == Pull::LimitedDrive) servo.lowerForce = -1e6, servo.upperForce = 1e6;
    builder.addActuator(servo);
  }
  const bool isSpatial = o.pull == Pull::SpatialTendon || o.pull == Pull::TendonDrive;
  if (isSpatial || o.pull == Pull::FixedTendon) {
    Tendon tendon{.name = "t"};
    if (isSpatial) {
      builder.addSite({.name = "w", .body = "", .pose = {Mat3::identity(), {-1, 0, 0}}});
      builder.addSite({.name = "s", .body = "b"});
      tendon.path = {{.site = "w"}, {.site = "s"}};
    } else {
      tendon.terms = {{.joint = "j", .coefficient = 1}};
    }
    if (o.pull != Pull::TendonDrive) {
      tendon.stiffness = o.stiffness;
      tendon.damping = o.damping;
    }
    builder.addTendon(tendon);
    if (o.pull == Pull::TendonDrive) {
      Actuator servo;
      servo.name = "a";
      servo.target = Actuator::Target::Tendon;
      servo.targetName = "t";
      servo.gain = {0, 0, 0};
      servo.bias = {o.stiffness, -o.stiffness, -o.damping};  // at rest at a length of 1 m
      builder.addActuator(servo);
    }
  }
  Simulator sim(builder.build());
  sim.setPositions(std::vector<Real>{0.1});
  return sim;
}

struct Swing {
  Real amplitude = 0;  ///< over the last periods
  Real period = 0;
};

Swing swing(Simulator& sim, Real duration, Real last) {
  const Real dt = sim.model().options().dt;
  Swing out;
  Real before = sim.state().q[0], first = 0, latest = 0;
  int crossings = 0;
  const int steps = static_cast<int>(std::lround(duration / dt));
  for (int i = 0; i < steps; ++i) {
    sim.step();
    const Real now = sim.state().q[0];
    if (before > 0 && now <= 0) {
      latest = sim.state().time + dt * now / (before - now);
      if (crossings++ == 0) first = latest;
    }
    before = now;
    if (i * dt > duration - last) out.amplitude = std::max(out.amplitude, std::fabs(now));
  }
  if (crossings > 1) out.period = (latest - first) / (crossings - 1);
  return out;
}

TEST(JointStep, ASpringWithoutDampingKeepsItsAmplitude) {
  for (const Pull pull : kPulls) {
    for (const Real dt : {0.02, 0.01, 0.002, 0.0005}) {
      Simulator sim = make({.pull = pull, .dt = dt});
      const Swing found = swing(sim, 5, 1);
      // (omega dt)^2/8 from the start between two steps, and steps that miss the top.
      const Real phase = 20 * dt;
      EXPECT_NEAR(found.amplitude, 0.1, 0.1 * (0.01 + 0.2 * phase * phase))
          << static_cast<int>(pull) << " at " << dt;
    }
  }
}

TEST(JointStep, ThePeriodIsOfSecondOrder) {
  const Real exact = 2 * M_PI / 20;
  for (const Pull pull : kPulls) {
    Real errors[3];
    for (int i = 0; i < 3; ++i) {
      Simulator sim = make({.pull = pull, .dt = 0.008 / (1 << i)});
      errors[i] = std::fabs(swing(sim, 60, 1).period - exact) / exact;
    }
    // The midpoint rule turns by 2 atan(w dt/2): (w dt)^2/12 too slow.
    EXPECT_NEAR(errors[0], 0.16 * 0.16 / 12, 0.1 * errors[0]) << static_cast<int>(pull);
    EXPECT_NEAR(errors[0] / errors[1], 4, 0.4) << static_cast<int>(pull);
    EXPECT_NEAR(errors[1] / errors[2], 4, 0.4) << static_cast<int>(pull);
  }
}

TEST(JointStep, BackwardEulerLosesWhatTheDocumentationSays) {
  // exp(-w^2 dt t / 2): 86 % in 5 s at 2 ms.
  for (const Pull pull : kPulls) {
    Simulator sim = make({.pull = pull, .step = JointStep::BackwardEuler});
    const Real expected = 0.1 * std::exp(-400 * 0.002 * 4.85 / 2);
    EXPECT_NEAR(swing(sim, 5, 0.32).amplitude, expected, 0.1 * expected) << static_cast<int>(pull);
  }
}

TEST(JointStep, DampingDecaysAsItShouldToSecondOrder) {
  // v = exp(-d t/m) for a joint with damping alone.
  for (const Pull pull : {Pull::Joint, Pull::LimitedDrive, Pull::SpatialTendon}) {
    Real errors[2];
    for (int i = 0; i < 2; ++i) {
      Simulator sim = make({.pull = pull, .dt = 0.02 / (1 << i), .stiffness = 0, .damping = 10});
      sim.setVelocities(std::vector<Real>{1});
      sim.step(20 * (1 << i));
      errors[i] = std::fabs(sim.state().v[0] / std::exp(-4.0) - 1);
    }
    EXPECT_LT(errors[0], 1e-3) << static_cast<int>(pull);  // (0.2)^3 in 20 steps; Euler: 40 %
    EXPECT_GT(errors[0] / errors[1], 3.6) << static_cast<int>(pull);
  }
}

TEST(JointStep, StiffDrivesStayStableAndComeToRest) {
  // From far softer to far stiffer than the step, with little, right and very much damping.
  for (const Pull pull : kPulls) {
    for (const Real stiffness : {1e2, 1e4, 1e6, 1e9}) {
      for (const Real damping : {0.05, 1.0, 20.0}) {
        for (const Real dt : {0.02, 0.002}) {
          const Real kd = 2 * damping * std::sqrt(stiffness);
          Simulator sim = make({.pull = pull, .dt = dt, .stiffness = stiffness, .damping = kd});
          for (int i = 0; i < 4000; ++i) {
            ASSERT_EQ(sim.step().status, StepStatus::Ok);
            ASSERT_LT(std::fabs(sim.state().q[0]), 0.12)
                << static_cast<int>(pull) << " " << stiffness << " " << damping << " at " << dt;
          }
          if (damping > 2) continue;  // creeps back at k/d
          EXPECT_LT(std::fabs(sim.state().q[0]), 1e-3)
              << static_cast<int>(pull) << " " << stiffness << " " << damping << " at " << dt;
        }
      }
    }
  }
}

TEST(JointStep, TheLedgerClosesWithSpringsInJointsDrivesAndTendons) {
  for (const JointStep step : {JointStep::Midpoint, JointStep::BackwardEuler}) {
    for (const Pull pull : kPulls) {
      Simulator sim = make({.pull = pull, .dt = 0.005, .damping = 0.3, .step = step});
      Real lost = 0;
      for (int i = 0; i < 400; ++i) {
        sim.step();
        ASSERT_LT(std::fabs(sim.energy().residual), 1e-14) << static_cast<int>(pull);
        lost += sim.energy().damping;
      }
      if (pull == Pull::Drive || pull == Pull::LimitedDrive || pull == Pull::TendonDrive) continue;
      EXPECT_EQ(sim.energySum().external, 0) << static_cast<int>(pull);
      // 2 J at the start, of which exp(-d/m t) is left after 2 s.
      if (step == JointStep::BackwardEuler) continue;
      EXPECT_NEAR(lost, -2 * (1 - std::exp(-0.6)), 0.02) << static_cast<int>(pull);
    }
  }
}

/// The string of a mass that circles: energy is kept to the order of the step, with the armature of
/// the string, which needs the term of the turning of the string.
TEST(JointStep, TendonArmatureKeepsEnergy) {
  const auto worst = [](Real dt) {
    ModelBuilder builder;
    SimulationOptions options;
    options.solver = SolverType::Sap;
    options.dt = dt;
    builder.setOptions(options);
    Body body;
    body.name = "b";
    body.pose.translation = {1, 0, 0};
    body.joints = {{.name = "x", .type = JointType::Prismatic, .axis = {1, 0, 0}},
                   {.name = "z", .type = JointType::Prismatic, .axis = {0, 0, 1}}};
    body.massProperties = MassProperties{.mass = 1, .inertia = Mat3::identity()};
    builder.addBody(body);
    builder.addSite({.name = "w", .body = ""});
    builder.addSite({.name = "s", .body = "b"});
    Tendon string{.name = "t"};
    string.path = {{.site = "w"}, {.site = "s"}};
    string.armature = 5;
    string.stiffness = 100;
    string.springLower = string.springUpper = 0.5;
    builder.addTendon(string);
    Simulator sim(builder.build());
    sim.setVelocities(std::vector<Real>{0, 2});
    const Real start = sim.energy().kinetic + sim.energy().potential;
    Real most = 0;
    for (int i = 0; i < static_cast<int>(std::lround(2 / dt)); ++i) {
      sim.step();
      most = std::max(most, std::fabs(sim.energy().kinetic + sim.energy().potential - start));
    }
    return most / start;
  };
  const Real coarse = worst(1e-3), fine = worst(2.5e-4);
  EXPECT_LT(coarse, 0.05);
  EXPECT_NEAR(coarse / fine, 4, 0.8);  // of first order, as all forces of rotation
}

}  // namespace
}  // namespace tangere
