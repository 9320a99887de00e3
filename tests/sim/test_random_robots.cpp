// SPDX-License-Identifier: Apache-2.0
//
// Robots made at random, with contacts, limits, drives and loops: a step never throws, hangs or
// loses a number, and the ledger closes. TANGERE_RANDOM_ROBOTS=10000 for a long run.
#include <tangere/simulator.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <random>

namespace tangere {
namespace {

class Dice {
 public:
  explicit Dice(unsigned seed) : engine_(seed) {}
  Real in(Real low, Real high) {
    return low + (high - low) * (static_cast<Real>(engine_()) / 4294967296.0);
  }
  int below(int count) { return static_cast<int>(engine_() % static_cast<unsigned>(count)); }
  bool chance(Real p) { return in(0, 1) < p; }
  Vec3 vector(Real size) { return {in(-size, size), in(-size, size), in(-size, size)}; }
  Mat3 rotation() {
    const Quat q{in(-1, 1), in(-1, 1), in(-1, 1), in(-1, 1)};
    return rotationMatrix(q);
  }

 private:
  std::mt19937 engine_;
};

std::shared_ptr<const Shape> randomShape(Dice& dice, Real size) {
  switch (dice.below(4)) {
    case 0:
      return std::make_shared<Sphere>(size);
    case 1:
      return std::make_shared<Capsule>(size, size);
    case 2:
      return std::make_shared<Cylinder>(size, size);
    default:
      return std::make_shared<Box>(Vec3{size, 0.7 * size, 1.3 * size});
  }
}

Joint randomJoint(Dice& dice, int index) {
  constexpr JointType kTypes[] = {JointType::Revolute, JointType::Prismatic, JointType::Ball,
                                  JointType::Screw,    JointType::Universal, JointType::Planar};
  Joint joint{.name = "joint" + std::to_string(index), .type = kTypes[dice.below(6)]};
  joint.position = dice.vector(0.1);
  joint.axis = dice.rotation().col[0];
  joint.axis2 = std::fabs(joint.axis.x) < 0.9 ? cross(joint.axis, Vec3{1, 0, 0})
                                              : cross(joint.axis, Vec3{0, 1, 0});
  joint.pitch = dice.in(-0.1, 0.1);
  // A tree that turns by a radian in a step is beyond any explicit Coriolis force.
  joint.damping = dice.in(0.1, 1);
  if (dice.chance(0.3)) joint.armature = dice.in(0, 0.1);
  if (dice.chance(0.3)) joint.frictionLoss = dice.in(0, 1);
  if (dice.chance(0.3)) joint.stiffness = dice.in(0, 100);
  if (dice.chance(0.4)) {
    joint.lower = dice.in(-1, 0);
    joint.upper = dice.in(0, 1);
  }
  if (joint.type == JointType::Ball) joint.lower = -kUnlimited;
  return joint;
}

Model randomRobots(unsigned seed) {
  Dice dice(seed);
  ModelBuilder builder;
  SimulationOptions options;
  options.solver = SolverType::Sap;
  options.dt = dice.chance(0.5) ? 0.002 : 0.005;
  builder.setOptions(options);
  builder.addMaterial({.name = "default",
                       .friction = dice.chance(0.1) ? 0 : dice.in(0, 2),
                       .stiffness = dice.chance(0.3) ? dice.in(1e3, 1e6) : kUnlimited});
  Body ground{.name = "ground", .type = BodyType::Fixed};
  ground.shapes = {{.shape = std::make_shared<Plane>()}};
  builder.addBody(ground);
  const int numBodies = 1 + dice.below(10);
  std::vector<std::string> jointed;
  bool lastIsWelded = false;  // it may be of one piece with the first
  for (int i = 0; i < numBodies; ++i) {
    Body body{.name = "body" + std::to_string(i)};
    const Real size = dice.in(0.03, 0.15);
    body.shapes = {{.shape = randomShape(dice, size)}};
    body.pose.rotation = dice.rotation();
    const bool isFree = dice.chance(0.3);
    if (!isFree) {
      if (!jointed.empty() && dice.chance(0.8))
        body.parent =
            jointed[static_cast<std::size_t>(dice.below(static_cast<int>(jointed.size())))];
      if (!(dice.chance(0.1) && !body.parent.empty())) body.joints = {randomJoint(dice, i)};
    }
    lastIsWelded = !body.parent.empty() && body.joints.empty();
    const bool isRoot = body.parent.empty();
    // Apart at the start: what begins deep in itself is another test's business.
    body.pose.translation =
        isRoot ? Vec3{1.5 * i, dice.in(-0.2, 0.2), dice.in(0.6, 1)} : dice.rotation().col[0] * 0.5;
    if (!isFree) jointed.push_back(body.name);
    if (body.joints.size() == 1 && dice.chance(0.5)) {
      const JointType type = body.joints[0].type;
      const bool isOne = type == JointType::Revolute || type == JointType::Prismatic;
      if (isOne) {
        Actuator drive = dice.chance(0.5)
                             ? Actuator::position("drive" + std::to_string(i), body.joints[0].name,
                                                  dice.in(0, 1e4), dice.in(20, 200))
                             : Actuator::motor("drive" + std::to_string(i), body.joints[0].name);
        if (dice.chance(0.5)) {
          drive.lowerForce = -dice.in(0, 50);
          drive.upperForce = dice.in(0, 50);
        }
        builder.addActuator(drive);
      }
    }
    builder.addBody(body);
  }
  if (numBodies > 2 && !lastIsWelded && dice.chance(0.3)) {
    builder.addEquality({.name = "loop",
                         .type = dice.chance(0.5) ? Equality::Type::Connect : Equality::Type::Weld,
                         .first = "body0",
                         .second = "body" + std::to_string(numBodies - 1),
                         .anchor = dice.vector(0.2)});
  }
  return builder.build();
}

TEST(RandomRobots, AStepNeverLosesANumberAndTheLedgerCloses) {
  const char* wanted = std::getenv("TANGERE_RANDOM_ROBOTS");
  const int count = wanted != nullptr ? std::atoi(wanted) : 150;
  int numNotConverged = 0, numSteps = 0;
  for (int seed = 0; seed < count; ++seed) {
    Simulator sim(randomRobots(static_cast<unsigned>(seed)));
    Dice dice(static_cast<unsigned>(seed) + 77);
    Real scale = 1;
    for (int k = 0; k < 150; ++k) {
      for (int a = 0; a < sim.model().numActuators(); ++a) sim.setControl(a, dice.in(-0.1, 0.1));
      const StepReport& report = sim.step();
      ++numSteps;
      if (k == 0 && report.maxDepth > 1e-3) break;  // born inside itself
      ASSERT_FALSE(has(report.status, StepStatus::StateNotFinite))
          << seed << " " << describe(report, sim.model(), sim.state().step);
      numNotConverged += has(report.status, StepStatus::SolverNotConverged) ? 1 : 0;
      const EnergyLedger& e = sim.energy();
      // What passes through the ledger: a stiff spring may move far more than is left of it.
      scale = std::max(scale, std::fabs(e.kinetic) + std::fabs(e.potential) +
                                  std::fabs(e.external) + std::fabs(e.constraint) +
                                  std::fabs(e.integration) + std::fabs(e.contactNormal));
      ASSERT_LT(std::fabs(e.residual), 1e-6 * scale) << seed << " at " << k;
    }
  }
  EXPECT_LE(numNotConverged, numSteps / 1000);
}

}  // namespace
}  // namespace tangere
