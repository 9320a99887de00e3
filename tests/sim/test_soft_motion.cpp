// SPDX-License-Identifier: Apache-2.0
//
// Soft bodies and pressure at long steps: a stretched band and a coarse column on stiff contacts
// come to rest, and thin bodies are not crossed.
#include "sim/soft_samples.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace tangere {
namespace {

using test::kGravity;
using test::rubber;
using test::sapOptions;
using test::softOf;

/// A band of 10 cm, held at one end; the other is drawn out by `stretch` in half a second.
Simulator drawnBand(ElasticModel law, Real stretch) {
  constexpr Real kDt = 0.008;
  ModelBuilder builder;
  builder.setOptions(sapOptions(kDt));
  builder.addMaterial(rubber());
  SoftBody band = softOf("band", Box({0.05, 0.01, 0.002}), 0.01, {});
  band.elasticity = {.model = law, .young = 1e5, .poisson = 0.3};
  band.selfContact = false;
  builder.addSoftBody(band);
  Simulator simulator(builder.build());
  const std::span<const Vec3> rest = simulator.model().softMesh(0).vertices();
  for (int step = 1; step <= 300; ++step) {
    const Real way = 0.1 * stretch * std::min(Real(1), step * kDt / 0.5);
    for (int i = 0; i < static_cast<int>(rest.size()); ++i) {
      if (rest[i].x < -0.0499) simulator.driveVertex(0, i, rest[i]);
      if (rest[i].x > 0.0499) simulator.driveVertex(0, i, rest[i] + Vec3{way, 0, 0});
    }
    simulator.step();
    EXPECT_LT(std::fabs(simulator.energy().residual), 1e-11);  // of some 0.04 J
  }
  return simulator;
}

TEST(SoftMotion, AStretchedBandComesToRestUnderEveryLaw) {
  for (const ElasticModel law :
       {ElasticModel::Corotated, ElasticModel::NeoHookean, ElasticModel::StVenantKirchhoff}) {
    for (const Real stretch : {0.3, 0.6}) {
      const Simulator simulator = drawnBand(law, stretch);
      EXPECT_LT(test::fastestVertex(simulator), 1e-6) << elasticModelName(law) << " " << stretch;
    }
  }
}

TEST(SoftMotion, ACoarseColumnStandsStillOnContactsManyTimesItsOwnStiffness) {
  for (const Real modulus : {1e6, 1e7, 1e8}) {
    for (const Real resolution : {0.04, 0.02}) {
      ModelBuilder builder;
      builder.setOptions(sapOptions(0.01));
      builder.addMaterial(rubber(modulus));
      builder.addBody(test::floorBody());
      SoftBody column = softOf("column", Box({0.02, 0.02, 0.1}), resolution, {0, 0, 0.1});
      column.elasticity = {.young = 1e5, .poisson = 0.3};
      builder.addSoftBody(column);
      Simulator simulator(builder.build());
      for (int i = 0; i < 300; ++i) {
        simulator.step();
        const EnergyLedger& ledger = simulator.energy();
        EXPECT_LT(std::fabs(ledger.residual), 1e-10 * (ledger.kinetic + ledger.potential));
      }
      // Beyond a hundred times its own stiffness it trembles a little.
      const Real still = modulus > 1e7 ? 2e-3 : 1e-8;
      EXPECT_LT(test::fastestVertex(simulator), still) << modulus << " " << resolution;
      const Real weight = simulator.model().softMass(0) * kGravity;
      EXPECT_NEAR(test::pressureForceOn(simulator, 0).z, weight, 1e-3 * weight);
    }
  }
}

TEST(SoftMotion, ABoxLiesStillOnACoarseColumnAndTheLedgerCloses) {
  for (const BodyType type : {BodyType::Dynamic, BodyType::Kinematic}) {
    ModelBuilder builder;
    builder.setOptions(sapOptions(0.01));
    builder.addMaterial(rubber(1e7));
    builder.addBody(test::floorBody());
    SoftBody column = softOf("column", Box({0.02, 0.02, 0.05}), 0.02, {0, 0, 0.05});
    column.elasticity = {.young = 1e5, .poisson = 0.3, .damping = 0.02};
    builder.addSoftBody(column);
    Body box = test::boxBody("box", {0.03, 0.03, 0.02}, {0.002, 0, 0.12}, "", type);
    if (type == BodyType::Kinematic) box.angularVelocity = {0, 0.05, 0};
    builder.addBody(box);
    Simulator simulator(builder.build());
    for (int i = 0; i < 300; ++i) {
      simulator.step();
      const EnergyLedger& ledger = simulator.energy();
      EXPECT_LT(std::fabs(ledger.residual), 1e-9 * (ledger.kinetic + std::fabs(ledger.potential) +
                                                    std::fabs(ledger.kinematic)));
    }
    if (type == BodyType::Dynamic) {
      EXPECT_LT(test::fastestVertex(simulator), 1e-5);
      EXPECT_LT(norm(simulator.body("box").linearVelocity), 1e-5);
    }
    EXPECT_LE(simulator.energySum().contactNormal, 1e-6);  // nothing is thrown up
  }
}

TEST(SoftMotion, ABallThatIsCrumpledAtAWallComesOutOfItWithAndWithoutSelfContact) {
  for (const bool hasSelfContact : {false, true}) {
    ModelBuilder builder;
    builder.setOptions(sapOptions(2e-4, {}));
    builder.addMaterial({.name = "rubber",
                         .friction = 0.5,
                         .contact = ContactModel::Hydroelastic,
                         .hydroelasticModulus = 1e7});
    builder.addBody(test::floorBody());
    SoftBody ball = softOf("ball", Sphere(0.05), 0.025, {0, 0, 0.15});
    ball.linearVelocity = {0, 0, -20};
    ball.elasticity = {.young = 1e5, .poisson = 0.4, .damping = 0.001};
    ball.selfContact = hasSelfContact;
    builder.addSoftBody(ball);
    Simulator simulator(builder.build());
    int mostInverted = 0;
    for (int i = 0; i < 300; ++i)
      mostInverted = std::max(mostInverted, simulator.step().numInverted);
    EXPECT_GT(mostInverted, 50);
    EXPECT_EQ(simulator.report().numInverted, 0) << hasSelfContact;
    EXPECT_LT(simulator.energy().potential, 0.01 * simulator.energy().kinetic);
  }
}

/// A thin plate that presses, in the way of something fast.
struct Flight {
  bool isThrough = false;
  StepStatus status = StepStatus::Ok;
};

Flight flyAtPlate(bool isSoft, Real speed, Real dt, Real accuracy = 0) {
  SimulationOptions options = sapOptions(dt, {});
  options.accuracy = accuracy;
  ModelBuilder builder;
  builder.setOptions(options);
  builder.addMaterial(rubber());
  builder.addBody(test::boxBody("plate", {0.1, 0.1, 0.002}, {}, "rubber", BodyType::Fixed));
  const Vec3 start{0, 0, 0.1};
  if (isSoft) {
    SoftBody cube = softOf("cube", Box({0.02, 0.02, 0.02}), 0.02, start);
    cube.linearVelocity = {0, 0, -speed};
    builder.addSoftBody(cube);
  } else {
    Body box = test::boxBody("box", {0.02, 0.02, 0.02}, start, "");
    box.linearVelocity = {0, 0, -speed};
    builder.addBody(box);
  }
  Simulator simulator(builder.build());
  Flight out;
  const int steps = static_cast<int>(std::ceil(0.4 / (speed * dt)));
  for (int i = 0; i < steps; ++i) out.status = out.status | simulator.step().status;
  const Real z =
      isSoft ? test::meanPosition(simulator).z : simulator.body("box").pose.translation.z;
  out.isThrough = z < 0;
  return out;
}

TEST(ThinBodies, AreNotCrossedByWhatMovesFarWithinAStep) {
  for (const bool isSoft : {false, true}) {
    for (const Real speed : {2.0, 5.0, 10.0}) {
      const Flight flight = flyAtPlate(isSoft, speed, 0.008);
      EXPECT_FALSE(flight.isThrough) << isSoft << " " << speed;
      EXPECT_TRUE(has(flight.status, StepStatus::StepDivided));
      EXPECT_FALSE(has(flight.status, StepStatus::MayHaveCrossed));
    }
    EXPECT_FALSE(has(flyAtPlate(isSoft, 0.1, 0.004).status, StepStatus::StepDivided));
  }
}

TEST(ThinBodies, AreNotCrossedAtAbsurdSpeedsUnlessTheStepIsRefused) {
  int numRefused = 0;
  for (const bool isSoft : {false, true}) {
    for (const Real speed : {50.0, 100.0, 300.0, 1000.0}) {
      const Flight flight = flyAtPlate(isSoft, speed, 0.01);
      EXPECT_FALSE(flight.isThrough) << isSoft << " " << speed;
      EXPECT_TRUE(has(flight.status, StepStatus::StepDivided | StepStatus::MayHaveCrossed));
      numRefused += has(flight.status, StepStatus::MayHaveCrossed) ? 1 : 0;
    }
  }
  EXPECT_GT(numRefused, 0);
}

}  // namespace
}  // namespace tangere
