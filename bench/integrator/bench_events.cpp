// SPDX-License-Identifier: Apache-2.0
//
// The bouncing steel sphere (case A04 of the accuracy set): the event solver against a program
// written for this one problem straight on CVODE, in one process, at equal tolerances, run in turn.
// A row is a tolerance: time, work and error against the reference of both, and the overhead.
//
// Both have the same two unknowns (the sphere of ours slides on a vertical line), method,
// tolerances and events. What only ours does counts as overhead: three quadratures of the energy
// ledger, the log, forces of contacts, the search for contacts missed between steps.
//
// usage: bench_events [REPEATS]
#include <tangere/simulator.hpp>

#include "hand_written_bounce.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

using namespace tangere;
using bench::BounceProblem;
using bench::BounceResult;

constexpr Real kRadius = 0.1, kYoung = 2e11, kPoisson = 0.3;
/// Height and speed at 2.2 s, in 30 digits rounded.
constexpr Real kReferenceHeight = 0.00038626815811454646, kReferenceSpeed = -0.4418119278449595;
constexpr Real kReferenceTouch = 0.4515236409857309;

BounceProblem steelSphere(Real relativeTolerance, Real absoluteTolerance) {
  const Real c = kYoung / (1 - kPoisson * kPoisson);
  return {.stiffness = 0.5 * c * 4 / 3 * std::sqrt(kRadius),
          .restitution = 0.7,
          .smallSpeed = 0.01,
          .maxDamping = 2000,
          .endTime = 2.2,
          .relativeTolerance = relativeTolerance,
          .absoluteTolerance = absoluteTolerance};
}

/// A sphere that slides along a vertical line above a fixed box.
Model modelOf(const BounceProblem& problem) {
  ModelBuilder builder;
  SimulationOptions options;
  options.solver = SolverType::Event;
  options.gravity = {0, 0, -problem.g};
  options.dt = problem.endTime;
  options.event.relativeTolerance = problem.relativeTolerance;
  options.event.absoluteTolerance = problem.absoluteTolerance;
  options.event.damping = RestitutionDamping::Flores;
  options.event.smallSpeed = problem.smallSpeed;
  options.event.maxDamping = problem.maxDamping;
  builder.setOptions(options);
  builder.addMaterial({.name = "steel",
                       .restitution = problem.restitution,
                       .contact = ContactModel::Hertz,
                       .youngsModulus = kYoung,
                       .poissonRatio = kPoisson});
  Body ground{.name = "ground", .type = BodyType::Fixed};
  ground.pose.translation = {0, 0, -0.05};
  ground.shapes.push_back(
      {.shape = std::make_shared<Box>(Vec3{0.5, 0.5, 0.05}), .material = "steel"});
  builder.addBody(ground);
  Body sphere{.name = "sphere"};
  sphere.pose.translation = {0, 0, kRadius};
  sphere.joints = {{.name = "up", .type = JointType::Prismatic, .axis = {0, 0, 1}}};
  sphere.shapes.push_back({.shape = std::make_shared<Sphere>(kRadius), .material = "steel"});
  const Real moment = 0.4 * problem.mass * kRadius * kRadius;
  sphere.massProperties = MassProperties{
      .mass = problem.mass, .inertia = {{{moment, 0, 0}, {0, moment, 0}, {0, 0, moment}}}};
  builder.addBody(sphere);
  builder.addStartPosition({.joint = "up", .position = problem.height});
  return builder.build();
}

BounceResult runOurs(Simulator& simulator, const BounceProblem& problem) {
  simulator.reset();
  const StepReport& report = simulator.advanceTo(problem.endTime);
  const EventStatistics& work = simulator.eventStatistics();
  BounceResult out{.height = simulator.state().q[0],
                   .speed = simulator.state().v[0],
                   .numSteps = work.numSteps,
                   .numDerivatives = work.numDerivatives,
                   .numJacobians = work.numJacobians,
                   .numRoots = work.numZeroCrossings,
                   .numEvents = static_cast<int>(simulator.events().size()),
                   .isDone = report.status == StepStatus::Ok};
  if (!simulator.events().empty()) out.firstTouch = simulator.events()[0].time;
  return out;
}

template <class Run>
Real timed(const Run& run) {
  const auto start = std::chrono::steady_clock::now();
  run();
  return std::chrono::duration<Real, std::micro>(std::chrono::steady_clock::now() - start).count();
}

Real median(std::vector<Real> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void print(const char* name, const BounceResult& result, const std::vector<Real>& times) {
  std::printf(
      "  %-12s best %8.1f us  median %8.1f us  steps %5lld  derivatives %5lld  roots %5lld  "
      "events %d  errors: height %.2e  speed %.2e  first touch %.2e%s\n",
      name, *std::min_element(times.begin(), times.end()), median(times),
      static_cast<long long>(result.numSteps), static_cast<long long>(result.numDerivatives),
      static_cast<long long>(result.numRoots), result.numEvents,
      std::fabs(result.height - kReferenceHeight), std::fabs(result.speed - kReferenceSpeed),
      std::fabs(result.firstTouch - kReferenceTouch), result.isDone ? "" : "  FAILED");
}

}  // namespace

int main(int argc, char** argv) {
  const int repeats = argc > 1 ? std::max(1, std::atoi(argv[1])) : 200;
  bool isDone = true;
  for (const auto& [relative, absolute] :
       {std::pair{1e-8, 1e-10}, std::pair{1e-10, 1e-12}, std::pair{1e-12, 1e-14}}) {
    const BounceProblem problem = steelSphere(relative, absolute);
    Simulator simulator(modelOf(problem));
    std::vector<Real> hand, ours;
    BounceResult handResult, ourResult;
    for (int i = 0; i < repeats; ++i) {
      hand.push_back(timed([&] { handResult = runHandWrittenBounce(problem); }));
      ours.push_back(timed([&] { ourResult = runOurs(simulator, problem); }));
    }
    std::printf("relative tolerance %.0e, absolute %.0e\n", relative, absolute);
    print("hand-written", handResult, hand);
    print("tangere", ourResult, ours);
    const auto least = [](const std::vector<Real>& v) {
      return *std::min_element(v.begin(), v.end());
    };
    std::printf("  overhead %+.1f %% (best), %+.1f %% (median)\n",
                100 * (least(ours) / least(hand) - 1), 100 * (median(ours) / median(hand) - 1));
    isDone = isDone && handResult.isDone && ourResult.isDone;
  }
  return isDone ? 0 : 1;
}
