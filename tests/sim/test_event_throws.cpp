// SPDX-License-Identifier: Apache-2.0
//
// All impacts of bodies and robots that are thrown, first and later ones, under the event solver:
// none adds energy, what struck leaves with its restitution, and friction stays in its cone.
// TANGERE_THROWS: how many, TANGERE_THROWS_SEED: the first.
#include "integrator/contact_response.hpp"
#include "sim/event_samples.hpp"
#include "sim/random_throw.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace tangere::test {
namespace {

/// Of its own motion: before and after an impact this long [s].
constexpr Real kMoment = 1e-9;

/// What slides on its edges may take many steps of the integrator: such a throw ends there.
constexpr int kMostSteps = 4000;

/// Slower ones may not get high enough to be seen by the tolerances: docs/events.md [m/s].
constexpr Real kSeenBounce = 0.02, kPressedBounce = 0.3;

enum class Kind { Alone, Pair, Heap, Robot, HangingRobot };
constexpr int kNumKinds = 5;
const char* nameOf(Kind kind) {
  constexpr const char* kNames[] = {"alone", "pair", "heap", "robot", "hanging robot"};
  return kNames[static_cast<int>(kind)];
}

struct Throw {
  Model model;
  Kind kind = Kind::Alone;
  std::string text{};
};

Body thrownBody(RandomThrow& random, const std::string& name, const Vec3& at,
                const std::string& material) {
  Body body = makeBody(name, random.shape(), at);
  body.shapes.front().material = material;
  body.pose.rotation = rotationMatrix(random.orientation());
  return body;
}

/// Links one after the other, each about the end of the one before.
void addRobot(ModelBuilder& builder, RandomThrow& random, bool isHanging) {
  constexpr JointType kTypes[] = {JointType::Revolute, JointType::Ball, JointType::Universal};
  const int numLinks = 2 + static_cast<int>(random.between(0, 2.999));
  std::string parent;
  for (int i = 0; i < numLinks; ++i) {
    const std::string name = numbered("link", i);
    const Real half = random.between(0.1, 0.25);
    Body link = makeBody(name, std::make_shared<Capsule>(0.03, half), {0, 0, -half - 0.04});
    link.pose.translation = {0, 0, i == 0 ? 2.4 : -0.6};
    link.shapes.front().pose.translation = {0, 0, -half - 0.04};
    link.parent = parent;
    if (i > 0 || isHanging) {
      Joint joint{.name = "j" + name, .type = kTypes[static_cast<int>(random.between(0, 2.999))]};
      joint.axis = {1, 0, 0};
      joint.axis2 = {0, 1, 0};
      link.joints.push_back(joint);
    } else {
      link.linearVelocity = Vec3{0, 0, -4} + random.vector(1);
      link.angularVelocity = random.vector(4);
    }
    builder.addBody(link);
    parent = name;
  }
}

Throw makeThrow(std::uint64_t seed) {
  RandomThrow random(seed * 2654435761u + 17);
  const auto kind = static_cast<Kind>(seed % kNumKinds);
  const Real friction = random.oneOf({0, 0.05, 0.3, 1, 3, 30, 1000});
  const auto restitution = [&] {
    return random.between(0, 1) < 0.3 ? random.oneOf({0, 1}) : random.between(0, 1);
  };
  const Real first = restitution();
  ModelBuilder builder = eventBuilder({.name = "m",
                                       .density = std::pow(10, random.between(1, 4)),
                                       .friction = friction,
                                       .restitution = first},
                                      random.between(0, 1) < 0.5 ? Vec3{0, 0, -9.81} : Vec3{});
  const Real second = kind == Kind::Heap ? restitution() : first;
  builder.addMaterial({.name = "n",
                       .density = std::pow(10, random.between(1, 4)),
                       .friction = friction,
                       .restitution = second});
  if (kind != Kind::Pair) addGround(builder);
  const auto add = [&](int i, const Vec3& at, const Vec3& velocity) {
    Body body = thrownBody(random, numbered("b", i), at, i % 2 == 0 ? "m" : "n");
    body.linearVelocity = velocity;
    body.angularVelocity = random.vector(8);
    builder.addBody(body);
  };
  switch (kind) {
    case Kind::Alone:
      add(0, {0, 0, 0.7}, Vec3{0, 0, -3} + random.vector(2));
      break;
    case Kind::Pair:
      add(0, {}, random.vector(0.5));
      add(1, {1.2, 0.1, 0.05}, Vec3{-3, 0, 0} + random.vector(0.5));
      break;
    case Kind::Heap: {
      const int count = 3 + static_cast<int>(random.between(0, 3.999));
      for (int i = 0; i < count; ++i)
        add(i, Vec3{0, 0, 0.6 + 0.9 * i} + random.vector(0.15), {0, 0, random.between(-4, -1)});
      break;
    }
    case Kind::Robot:
    case Kind::HangingRobot:
      addRobot(builder, random, kind == Kind::HangingRobot);
      break;
  }
  SimulationOptions options = builder.options();
  options.event.maxSteps = kMostSteps;
  builder.setOptions(options);
  Throw out{.model = builder.build(), .kind = kind};
  char text[128];
  std::snprintf(text, sizeof text, "throw %llu, %s, mu %g, e %.3f and %.3f",
                static_cast<unsigned long long>(seed), nameOf(kind), friction, first, second);
  out.text = text;
  return out;
}

Simulator startOf(const Throw& thrown, std::uint64_t seed) {
  Simulator sim(thrown.model);
  if (thrown.kind != Kind::Robot && thrown.kind != Kind::HangingRobot) return sim;
  RandomThrow random(seed + 99);
  std::vector<Real> v = sim.state().v;
  for (Real& each : v) each += random.between(-6, 6);
  sim.setVelocities(v);
  return sim;
}

Real energyOf(const Simulator& sim) { return sim.energy().kinetic + sim.energy().potential; }

/// Of its links: what flies together, before joints know of it.
Vec3 velocityAt(const Simulator& sim, int body, const Vec3& p_W) {
  if (sim.model().bodyType(body) != BodyType::Dynamic) return {};
  const auto k = static_cast<std::size_t>(body);
  return sim.state().velocity[k] +
         cross(sim.state().angularVelocity[k], p_W - sim.state().center[k]);
}

std::string said(const char* what, Real value, Real of) {
  char text[96];
  std::snprintf(text, sizeof text, "%s: %.3g, %.3g", what, value, of);
  return text;
}

struct Tally {
  int numThrows = 0, numMoments = 0, numAlone = 0, numEqual = 0, numCones = 0, numEnded = 0,
      numNotOk = 0, numElsewhere = 0, numUnseen = 0;
  Real mostGain = 0, leastBounce = 0;
  std::vector<std::string> failures{};
};

/// Records of one instant.
void checkMoment(const Throw& thrown, Simulator& sim, const std::vector<EventRecord>& at,
                 Tally* tally) {
  ++tally->numMoments;
  const auto fail = [&](const std::string& what) {
    char time[32];
    std::snprintf(time, sizeof time, " at %.9g s: ", at.front().time);
    tally->failures.push_back(thrown.text + time + what);
  };
  sim.advanceTo(at.front().time - kMoment);
  const Real before = energyOf(sim), kinetic = sim.energy().kinetic;
  const std::vector<Vec3> velocities = sim.state().velocity;
  const StepStatus status = sim.advanceTo(at.back().time + kMoment).status;
  // The integration of this moment is good to its tolerance.
  const Real gain = (energyOf(sim) - before) / kinetic;
  tally->mostGain = std::max(tally->mostGain, gain);
  if (!(gain <= 1e-8)) fail(said("gains of its energy", gain, kinetic));
  if (status != StepStatus::Ok) {
    ++tally->numNotOk;
    return;
  }
  // Hints of distance queries were once those of the last look: other last bits, which grow in a
  // heap, and impacts at other times.
  if (sim.events().empty()) {
    ++tally->numElsewhere;
    return;
  }
  if (at.size() != 1) return;
  const EventRecord& hit = at.front();
  const integrator::ContactLaw law =
      integrator::makeContactLaw(sim.model().data(), hit.shape1, hit.shape2);
  const Real e = law.restitution, mu = law.friction;
  if (!(e * hit.approachSpeed > kSeenBounce)) return;
  const Vec3 v =
      velocityAt(sim, hit.body1, hit.position) - velocityAt(sim, hit.body2, hit.position);
  // A link that others press hard would not get high either: such impacts do not bounce at all.
  const bool isUnseen = std::fabs(dot(hit.normal, v)) < 1e-6 * hit.approachSpeed;
  if (isUnseen && e * hit.approachSpeed < kPressedBounce) {
    ++tally->numUnseen;
    return;
  }
  ++tally->numAlone;
  const Real bounce = (dot(hit.normal, v) - e * hit.approachSpeed) / hit.approachSpeed;
  tally->leastBounce = std::min(tally->leastBounce, bounce);
  tally->numEqual += std::fabs(bounce) < 1e-5 ? 1 : 0;
  if (!(bounce > -1e-5))
    fail(said("leaves slower by so much of its approach", bounce, hit.approachSpeed));
  if (thrown.kind != Kind::Alone) return;
  ++tally->numCones;
  const int body = sim.model().bodyType(hit.body1) == BodyType::Dynamic ? hit.body1 : hit.body2;
  const Vec3 impulse = sim.state().velocity[static_cast<std::size_t>(body)] -
                       velocities[static_cast<std::size_t>(body)];
  const Real normal = std::fabs(dot(impulse, hit.normal));
  const Real tangent = norm(impulse - hit.normal * dot(impulse, hit.normal));
  if (!(tangent <= mu * normal * (1 + 1e-6) + 1e-7))
    fail(said("friction beyond its cone", tangent, normal));
}

void checkThrow(std::uint64_t seed, Tally* tally) {
  const Throw thrown = makeThrow(seed);
  ++tally->numThrows;
  std::vector<EventRecord> hits;
  Simulator first = startOf(thrown, seed);
  constexpr int kSteps = 80;
  constexpr std::size_t kMostHits = 60;
  Real end = 0;
  for (int i = 0; i < kSteps && hits.size() < kMostHits; ++i) {
    const StepReport& report = first.step();
    if (isRefused(report.status) || first.eventStatistics().numSteps > kMostSteps) {
      ++tally->numEnded;
      break;
    }
    end = first.state().time;
    for (const EventRecord& event : first.events())
      if (event.cause == EventCause::Impact) hits.push_back(event);
  }
  Simulator sim = startOf(thrown, seed);
  Real last = 0;
  for (std::size_t i = 0; i < hits.size();) {
    std::size_t next = i + 1;
    while (next < hits.size() && hits[next].time - hits[next - 1].time < 3 * kMoment) ++next;
    const bool isClear = hits[i].time - kMoment > last && hits[next - 1].time + kMoment < end;
    last = hits[next - 1].time + kMoment;
    if (isClear)
      checkMoment(thrown, sim,
                  {hits.begin() + static_cast<std::ptrdiff_t>(i),
                   hits.begin() + static_cast<std::ptrdiff_t>(next)},
                  tally);
    i = next;
  }
}

long fromEnvironment(const char* name, long otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::atol(text) : otherwise;
}

TEST(EventThrows, NoImpactGainsEnergyAndEachLeavesWithItsRestitution) {
  const long count = fromEnvironment("TANGERE_THROWS", 100);
  const long first = fromEnvironment("TANGERE_THROWS_SEED", 1);
  Tally tally;
  for (long seed = first; seed < first + count; ++seed)
    checkThrow(static_cast<std::uint64_t>(seed), &tally);
  std::printf(
      "%d throws, %d ended early; %d moments, %d of them not Ok, %d at other times, gain at most "
      "%.2g; %d impacts "
      "alone, %d equal to "
      "their restitution, the least %.2g below, %d not seen; %d cones; %zu failures\n",
      tally.numThrows, tally.numEnded, tally.numMoments, tally.numNotOk, tally.numElsewhere,
      tally.mostGain, tally.numAlone, tally.numEqual, tally.leastBounce, tally.numUnseen,
      tally.numCones, tally.failures.size());
  for (std::size_t i = 0; i < std::min<std::size_t>(tally.failures.size(), 40); ++i)
    ADD_FAILURE() << tally.failures[i];
  EXPECT_GT(tally.numAlone, count);
  EXPECT_EQ(tally.numElsewhere, 0) << "who looks changes what happens";
  EXPECT_LE(tally.numUnseen, 1 + tally.numAlone / 100);
}

}  // namespace
}  // namespace tangere::test
