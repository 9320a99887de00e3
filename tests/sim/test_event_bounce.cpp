// SPDX-License-Identifier: Apache-2.0
//
// The bouncing steel sphere of the Modia3D tools, and what must hold of any series of bounces.
#include <tangere/integrator.hpp>
#include <tangere/simulator.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

namespace tangere {
namespace {

SimulationOptions eventOptions() {
  SimulationOptions options;
  options.solver = SolverType::Event;
  options.dt = 0.01;
  return options;
}

/// A sphere (1 g, radius 0.1 m) on a vertical slide above a fixed box; the slide is zero where they
/// touch.
Model steelSphere(const SimulationOptions& options, Real height, Real restitution) {
  ModelBuilder builder;
  builder.setOptions(options);
  builder.addMaterial({.name = "steel",
                       .friction = 0.5,
                       .restitution = restitution,
                       .contact = ContactModel::Hertz,
                       .youngsModulus = 2e11,
                       .poissonRatio = 0.3});
  Body ground{.name = "ground", .type = BodyType::Fixed};
  ground.pose.translation = {0, 0, -0.2};
  ground.shapes.push_back({.shape = std::make_shared<Box>(Vec3{1, 1, 0.1}), .material = "steel"});
  builder.addBody(ground);
  Body sphere{.name = "sphere"};
  sphere.pose.translation = {0, 0, height};
  sphere.joints.push_back(
      {.name = "z", .type = JointType::Prismatic, .axis = {0, 0, 1}, .reference = height});
  sphere.shapes.push_back({.shape = std::make_shared<Sphere>(0.1), .material = "steel"});
  sphere.massProperties =
      MassProperties{.mass = 0.001, .inertia = {{{1e-6, 0, 0}, {0, 1e-6, 0}, {0, 0, 1e-6}}}};
  builder.addBody(sphere);
  return builder.build();
}

std::vector<EventRecord> eventsUntil(Simulator& simulator, Real time) {
  std::vector<EventRecord> all;
  while (simulator.state().time < time - 1e-9) {
    const StepReport& report = simulator.step();
    EXPECT_EQ(report.status, StepStatus::Ok)
        << describe(report, simulator.model(), simulator.state().step);
    if (report.status != StepStatus::Ok) break;
    for (const EventRecord& event : simulator.events()) all.push_back(event);
  }
  return all;
}

/// The contact that begins next to a time, and its end.
std::size_t contactNear(const std::vector<EventRecord>& events, Real time) {
  std::size_t best = 0;
  for (std::size_t i = 0; i + 1 < events.size(); ++i) {
    const bool isBegin = events[i].cause == EventCause::ContactBegins;
    if (isBegin && std::fabs(events[i].time - time) < std::fabs(events[best].time - time)) best = i;
  }
  return best;
}

SimulationOptions published() {
  SimulationOptions options = eventOptions();
  options.event.damping = RestitutionDamping::Flores;
  return options;
}

TEST(EventBounce, SteelSphereReproducesThePublishedEvents) {
  Simulator simulator(steelSphere(published(), 1, 0.7));
  const std::vector<EventRecord> events = eventsUntil(simulator, 2.4);
  ASSERT_GE(events.size(), 16u);
  const std::size_t at = contactNear(events, 2.38509);
  // The published run (relative tolerance 1e-8) is itself 1.2e-6 s from the exact solution.
  EXPECT_NEAR(events[at].time, 2.3850903177319287, 2e-6);
  EXPECT_NEAR(events[at + 1].time, 2.3851135168512942, 2e-6);
  EXPECT_NEAR(events[at + 1].time - events[at].time, 2.3851135168512942 - 2.3850903177319287, 1e-9);
  EXPECT_EQ(events[at].cause, EventCause::ContactBegins);
  EXPECT_EQ(events[at + 1].cause, EventCause::ContactEnds);
}

TEST(EventBounce, LogHasTheFormOfThePublishedOne) {
  Simulator simulator(steelSphere(published(), 1, 0.7));
  const std::vector<EventRecord> events = eventsUntil(simulator, 2.4);
  ASSERT_GE(events.size(), 16u);
  const std::size_t at = contactNear(events, 2.38509);
  const std::string begin = describe(events[at], simulator.model());
  EXPECT_EQ(begin.find("State event (zero-crossing) at time = 2.38509"), 0u) << begin;
  EXPECT_NE(begin.find(" s (due to z[2])\n    distance(ground,sphere) = -2."), std::string::npos)
      << begin;
  EXPECT_NE(begin.find("e-13 became <= 0\n    contact normal = [0.0, 0.0, 1.0], contact position = "
                       "[0.0, 0.0, -0.1], c_res = 1.1e11 d_res = 22.0\n    restart = Restart\n"),
            std::string::npos)
      << begin;
  const std::string end = describe(events[at + 1], simulator.model());
  EXPECT_NE(end.find(" s (due to z[1])\n    distance(ground,sphere) = "), std::string::npos) << end;
  EXPECT_NE(end.find(" became > 0\n    restart = Restart\n"), std::string::npos) << end;
}

TEST(EventBounce, SteelSphereMeetsThePublishedEndState) {
  Simulator simulator(steelSphere(published(), 1, 0.7));
  simulator.advanceTo(2.2);
  EXPECT_DOUBLE_EQ(simulator.state().time, 2.2);
  EXPECT_NEAR(simulator.state().q[0], 3.869e-4, 1e-6);
  EXPECT_NEAR(simulator.state().v[0], -0.4417983, 2e-5);
}

TEST(EventBounce, AnInterruptedStepIsNotTakenAndMayBeTakenLater) {
  SimulationOptions options = eventOptions();
  options.event.relativeTolerance = 1e-12;
  options.event.absoluteTolerance = 1e-14;
  const Model model = steelSphere(options, 0.05, 0.7);
  Simulator simulator(model), undisturbed(model);
  std::atomic<bool> flag = false;
  simulator.setInterrupt(&flag);
  simulator.step();
  undisturbed.step();
  const Real time = simulator.state().time;
  const std::vector<Real> q(simulator.state().q.begin(), simulator.state().q.end());
  flag = true;
  EXPECT_EQ(simulator.step().status, StepStatus::Interrupted);
  EXPECT_EQ(simulator.state().time, time);
  EXPECT_TRUE(std::equal(q.begin(), q.end(), simulator.state().q.begin()));
  flag = false;
  EXPECT_EQ(simulator.step().status, StepStatus::Ok);
  undisturbed.step();
  // Both hold the tolerances, and have restarted at different times.
  EXPECT_NEAR(simulator.state().q[0], undisturbed.state().q[0], 1e-9);
}

TEST(EventBounce, TighterTolerancesConvergeToTheExactSolution) {
  // Ballistic arcs in closed form and contacts in arbitrary precision.
  constexpr Real kPosition = 0.00038626815811454646, kVelocity = -0.4418119278449595;
  Real last = 1;
  for (const Real tolerance : {1e-8, 1e-10, 1e-12}) {
    SimulationOptions options = published();
    options.event.relativeTolerance = tolerance;
    options.event.absoluteTolerance = 1e-2 * tolerance;
    Simulator simulator(steelSphere(options, 1, 0.7));
    simulator.advanceTo(2.2);
    const Real error = std::fabs(simulator.state().q[0] - kPosition);
    EXPECT_LT(error, last / 5);
    last = error;
    EXPECT_NEAR(simulator.state().v[0], kVelocity, 1e4 * tolerance);
  }
  EXPECT_LT(last, 1e-9);
}

TEST(EventBounce, ThousandBouncesNoneMissedNoneDoubled) {
  SimulationOptions options = eventOptions();
  options.dt = 1;
  constexpr Real kHeight = 0.01;
  Simulator simulator(steelSphere(options, kHeight, 1));
  const Real period = 2 * std::sqrt(2 * kHeight / 9.81);
  const std::vector<EventRecord> events = eventsUntil(simulator, std::ceil(1000.4 * period));
  ASSERT_GE(events.size(), 2000u);
  for (std::size_t i = 0; i < events.size(); ++i) {
    const bool isBegin = i % 2 == 0;
    ASSERT_EQ(events[i].cause, isBegin ? EventCause::ContactBegins : EventCause::ContactEnds) << i;
    if (i == 0) continue;
    const Real since = events[i].time - events[i - 1].time;
    if (isBegin)
      ASSERT_NEAR(since, period, 1e-2 * period) << i;
    else
      ASSERT_NEAR(since, events[1].time - events[0].time, 1e-8) << i;
  }
  const EnergyLedger& sum = simulator.energySum();
  EXPECT_NEAR(sum.residual / (0.001 * 9.81 * kHeight), 0, 1e-2);  // 1e-5 a bounce
}

TEST(EventBounce, WhenOneLooksChangesNothing) {
  const Model model = steelSphere(published(), 1, 0.7);
  SimulationOptions fine = published();
  fine.dt = 0.0007;
  Simulator a(model), b(model.withOptions(fine)), c(model);
  const std::vector<EventRecord> eventsA = eventsUntil(a, 2.0), eventsB = eventsUntil(b, 2.0);
  c.advanceTo(2.0);
  const std::span<const EventRecord> eventsC = c.events();
  ASSERT_EQ(eventsA.size(), eventsB.size());
  ASSERT_EQ(eventsA.size(), eventsC.size());
  for (std::size_t i = 0; i < eventsA.size(); ++i) {
    EXPECT_EQ(eventsA[i].time, eventsB[i].time);
    EXPECT_EQ(eventsA[i].time, eventsC[i].time);
  }
}

TEST(EventBounce, RerunGivesTheSameBits) {
  const Model model = steelSphere(published(), 1, 0.7);
  Simulator a(model), b(model);
  a.step(200);
  b.step(200);
  EXPECT_EQ(a.state().hash(), b.state().hash());
}

TEST(EventBounce, SavedStateContinuesWithinAContact) {
  const Model model = steelSphere(published(), 1, 0.7);
  Simulator whole(model), first(model), second(model);
  constexpr Real kInContact = 0.451526;  // it lasts from 0.4515236 to 0.4515322
  first.advanceTo(kInContact);
  ASSERT_EQ(first.state().eventContacts.size(), 1u);
  EXPECT_NEAR(first.state().eventContacts[0].approachSpeed, 4.42945, 1e-4);
  second.setState(State::load(model, first.state().save(model)));
  ASSERT_EQ(second.contactResults().size(), 1u);
  whole.advanceTo(1);
  second.advanceTo(1);
  // Its damping is that of the approach at the start of the contact, not of the middle.
  EXPECT_NEAR(second.state().q[0], whole.state().q[0], 2e-6);
  EXPECT_NEAR(second.state().v[0], whole.state().v[0], 2e-6);
}

TEST(EventBounce, TouchingPolicyFindsTheSameContacts) {
  SimulationOptions touching = published();
  touching.event.policy = EventPolicy::Touching;
  Simulator a(steelSphere(published(), 1, 0.7)), b(steelSphere(touching, 1, 0.7));
  const std::vector<EventRecord> eventsA = eventsUntil(a, 2.0), eventsB = eventsUntil(b, 2.0);
  ASSERT_EQ(eventsA.size(), eventsB.size());
  for (std::size_t i = 0; i < eventsA.size(); ++i)
    EXPECT_NEAR(eventsA[i].time, eventsB[i].time, 1e-6);
}

TEST(EventBounce, AdamsAgreesWithBdf) {
  SimulationOptions adams = published();
  adams.event.method = EventMethod::Adams;
  Simulator a(steelSphere(published(), 1, 0.7)), b(steelSphere(adams, 1, 0.7));
  a.advanceTo(1.5);
  b.advanceTo(1.5);
  EXPECT_NEAR(a.state().q[0], b.state().q[0], 2e-6);
}

TEST(EventBounce, ContactResultFollowsTheForceLaw) {
  Simulator simulator(steelSphere(published(), 1, 0.7));
  simulator.advanceTo(0.451526);
  const std::vector<ContactResult> results = simulator.contactResults();
  ASSERT_EQ(results.size(), 1u);
  const ContactResult& r = results[0];
  const Real modulus = 2e11 / (1 - 0.09) / 2, stiffness = modulus * 4 / 3 * std::sqrt(0.1);
  const Real damping = 8 * 0.3 / (5 * 0.7 * simulator.state().eventContacts[0].approachSpeed);
  const Real force =
      stiffness * r.penetration * std::sqrt(r.penetration) * (1 + damping * r.penetrationRate);
  EXPECT_NEAR(r.normalForce / force, 1, 1e-12);
  EXPECT_NEAR(r.force.z, -r.normalForce, 1e-9);  // on the ground, body 1
  EXPECT_NEAR(r.normal.z, -1, 1e-15);            // from the sphere to the ground
  const std::vector<ContactResult> seen =
      simulator.contactResults(simulator.model().findBody("sphere"));
  EXPECT_NEAR(seen[0].position.z, -0.1 - 0.5 * r.penetration + r.penetration, 1e-7);
}

}  // namespace
}  // namespace tangere
