// SPDX-License-Identifier: Apache-2.0
//
// Caps on contacts: a step that needs more is refused whole, and says what it needs.
#include <tangere/error.hpp>

#include "sim/soft_samples.hpp"

#include <gtest/gtest.h>

namespace tangere {
namespace {

using test::boxBody;
using test::floorBody;
using test::rubber;
using test::sapOptions;
using test::softOf;

/// Three boxes on a floor at points, one that presses on it, a soft cube on the floor and another
/// on that one.
Model allKinds(const ContactLimits& limits) {
  SimulationOptions options = sapOptions(0.005);
  options.limits = limits;
  ModelBuilder builder;
  builder.setOptions(options);
  builder.addMaterial(rubber());
  builder.addBody(floorBody());
  for (int i = 0; i < 3; ++i)
    builder.addBody(
        boxBody("box" + std::to_string(i), {0.05, 0.05, 0.05}, {Real(i) * 0.2, 0, 0.0499}, ""));
  builder.addBody(boxBody("pressing", {0.05, 0.05, 0.05}, {0, 0.3, 0.0499}, "rubber"));
  const Box cube({0.05, 0.05, 0.05});
  builder.addSoftBody(softOf("lower", cube, 0.05, {0, 0.6, 0.0499}));
  builder.addSoftBody(softOf("upper", cube, 0.05, {0.01, 0.6, 0.1497}));
  return builder.build();
}

ContactLimits limitOf(ContactKind kind, int limit) {
  ContactLimits limits;
  limits.ofKind[static_cast<std::size_t>(kind)] = limit;
  return limits;
}

TEST(ContactLimits, NameTheKindTheLimitAndTheNeedAndKeepTheState) {
  for (const ContactKind kind : {ContactKind::Points, ContactKind::RigidRigid,
                                 ContactKind::SoftRigid, ContactKind::SoftSoft}) {
    const Model model = allKinds(limitOf(kind, 1));
    Simulator simulator(model);
    const std::uint64_t before = simulator.state().hash();
    const StepReport& report = simulator.step();
    ASSERT_TRUE(has(report.status, StepStatus::TooManyContacts)) << contactKindName(kind);
    EXPECT_TRUE(isRefused(report.status));
    EXPECT_EQ(report.contactKind, kind);
    EXPECT_EQ(report.contactLimit, 1);
    EXPECT_GT(report.contactsNeeded, 1);
    EXPECT_FALSE(report.isLimitOfAll);
    EXPECT_EQ(simulator.state().hash(), before);
    const std::string text = describe(report, model, 1);
    EXPECT_EQ(text, "step 1: TooManyContacts: " + std::to_string(report.contactsNeeded) +
                        " contacts of kind '" + contactKindName(kind) + "', the limit is 1");

    // With what it needs it goes on, from the same state to the same bits as without a limit.
    SimulationOptions enough = model.options();
    enough.limits = limitOf(kind, report.contactsNeeded);
    Simulator again(model.withOptions(enough)), unlimited(allKinds({}));
    again.setState(simulator.state());
    EXPECT_FALSE(has(again.step().status, StepStatus::TooManyContacts));
    unlimited.step();
    EXPECT_EQ(again.state().hash(), unlimited.state().hash());
  }
}

TEST(ContactLimits, OfAllKindsTogetherNameTheLargest) {
  ContactLimits limits;
  limits.all = 5;
  const Model model = allKinds(limits);
  Simulator simulator(model);
  const StepReport& report = simulator.step(10);
  ASSERT_TRUE(has(report.status, StepStatus::TooManyContacts));
  EXPECT_TRUE(report.isLimitOfAll);
  EXPECT_EQ(report.contactLimit, 5);
  EXPECT_EQ(simulator.state().step, 0u);
  EXPECT_NE(describe(report, model, 1).find("contacts, most of them of kind '"), std::string::npos);
}

TEST(ContactLimits, HoldForSelfContactForPartsOfAStepAndUnderErrorControl) {
  SimulationOptions options = sapOptions(0.005);
  options.limits = limitOf(ContactKind::SoftRigid, 2);
  for (const Real accuracy : {0.0, 1e-4}) {
    options.accuracy = accuracy;
    ModelBuilder builder;
    builder.setOptions(options);
    builder.addMaterial(rubber());
    builder.addBody(floorBody());
    builder.addSoftBody(softOf("ball", Sphere(0.05), 0.02, {0, 0, 0.0501}));
    Simulator simulator(builder.build());
    for (int i = 0; i < 200 && !isRefused(simulator.report().status); ++i) simulator.step();
    ASSERT_TRUE(has(simulator.report().status, StepStatus::TooManyContacts));
    const std::uint64_t kept = simulator.state().hash();
    simulator.step();
    EXPECT_TRUE(has(simulator.report().status, StepStatus::TooManyContacts));
    EXPECT_EQ(simulator.state().hash(), kept);
  }
}

TEST(ContactLimits, HoldForTheImpulseSolverAndLetSleepersSleep) {
  SimulationOptions options;
  options.dt = 0.005;
  options.sleep.enabled = true;
  options.limits = limitOf(ContactKind::Points, 4);
  ModelBuilder builder;
  builder.setOptions(options);
  builder.addBody(floorBody());
  builder.addBody(boxBody("lower", {0.05, 0.05, 0.05}, {0, 0, 0.05}, ""));
  builder.addBody(boxBody("upper", {0.05, 0.05, 0.05}, {0, 0, 1.5}, ""));
  Simulator simulator(builder.build());
  while (!isRefused(simulator.step().status)) {
    ASSERT_LT(simulator.state().step, 500u);
  }
  EXPECT_EQ(simulator.report().contactKind, ContactKind::Points);
  EXPECT_GT(simulator.report().contactsNeeded, 4);
  const State state = simulator.state();
  EXPECT_EQ(state.isAsleep[static_cast<std::size_t>(simulator.model().findBody("lower"))], 1);
}

TEST(ContactLimits, CannotBeNegative) {
  SimulationOptions options;
  options.limits.all = -1;
  ModelBuilder builder;
  EXPECT_THROW(builder.setOptions(options), InvalidInput);
}

}  // namespace
}  // namespace tangere
