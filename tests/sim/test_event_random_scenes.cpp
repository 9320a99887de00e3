// SPDX-License-Identifier: Apache-2.0
//
// No contact is missed: random scenes whose motion is known in closed form, and whose contacts are
// found by an oracle that shares nothing with the integrator. It advances along the known motion by
// steps in which no distance can change its sign, so that it cannot miss one either.
#include <tangere/integrator.hpp>
#include <tangere/simulator.hpp>

#include "collision/random_shapes.hpp"
#include "geometry/shape_of_lengths.hpp"
#include "integrator/event_distance.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace tangere {
namespace {

using test::Random;
using ShapePtr = std::shared_ptr<const Shape>;

ShapePtr randomShape(Random& random) {
  const auto length = [&] { return random.uniform(0.1, 0.4); };
  const Real a = length(), b = length(), c = length();
  const int kind = random.below(7);
  if (kind < 6) return test::shapeOfLengths(static_cast<ShapeType>(kind), a, b, c);
  std::vector<Vec3> points;
  for (int i = 0; i < 12; ++i) points.push_back(random.direction() * a);
  return std::make_shared<Convex>(points);
}

/// A body in free fall that turns at a constant rate: its inertia is the same about every axis.
struct Flight {
  ShapePtr shape;
  Transform start;
  Vec3 velocity, spin, gravity;

  [[nodiscard]] Transform at(Real t) const {
    const Real angle = norm(spin) * t;
    Mat3 turn = Mat3::identity();
    if (angle > 0) {
      const Vec3 axis = spin * (std::sin(angle / 2) / norm(spin));
      turn = rotationMatrix(Quat{std::cos(angle / 2), axis.x, axis.y, axis.z});
    }
    return {turn * start.rotation,
            start.translation + velocity * t + gravity * (Real(0.5) * t * t)};
  }
  [[nodiscard]] integrator::BodyMotion motionAt(Real t) const {
    return {velocity + gravity * t, spin, norm(gravity), 0};
  }
};

struct Crossing {
  Real time = 0;
  int body1 = 0, body2 = 0;
  bool isBegin = false;
};

/// All crossings of one pair up to `end`. False where it is not sure: a graze of less than a
/// micrometre.
bool findCrossings(const Flight& a, const Flight& b, int body1, int body2, Real end,
                   std::vector<Crossing>& out) {
  constexpr Real kSure = 1e-6, kLeastStep = 2e-8;
  const auto distanceAt = [&](Real t) {
    return integrator::pairDistance(*a.shape, a.at(t), *b.shape, b.at(t),
                                    std::numeric_limits<Real>::infinity(), nullptr);
  };
  Real t = 0, d = distanceAt(0);
  if (std::fabs(d) < kSure) return false;
  Real before = std::fabs(d);
  bool wasFalling = false;
  while (t < end) {
    integrator::ClosingBound bound =
        integrator::closingBound(*a.shape, {}, a.motionAt(t), *b.shape, {}, b.motionAt(t));
    // Both fall alike.
    if (a.gravity == b.gravity) bound.acceleration = 0;
    const Real step =
        std::max(integrator::safeStep(std::fabs(d), bound.speed, bound.acceleration), kLeastStep);
    const Real next = std::min(t + step, end), dNext = distanceAt(next);
    if ((d < 0) != (dNext < 0)) {
      Real low = t, high = next;
      for (int i = 0; i < 60 && low < high; ++i) {
        const Real middle = (low + high) / 2;
        ((distanceAt(middle) < 0) == (d < 0) ? low : high) = middle;
      }
      if (!out.empty() && out.back().body1 == body1 && out.back().body2 == body2 &&
          high - out.back().time < 1e-5)
        return false;
      out.push_back({high, body1, body2, dNext < 0});
      wasFalling = false;
    } else {
      const bool isFalling = std::fabs(dNext) < before;
      if (wasFalling && !isFalling && before < kSure) return false;
      wasFalling = isFalling;
    }
    before = std::fabs(dNext);
    t = next;
    d = dNext;
  }
  return before >= kSure;
}

struct FlightScene {
  std::vector<Flight> flights;  // the last one is the floor
  Real duration = 0.5;
};

FlightScene randomFlights(Random& random) {
  FlightScene scene;
  const Vec3 gravity{0, 0, -9.81};
  const int count = 2 + random.below(3);
  for (int i = 0; i < count; ++i)
    scene.flights.push_back({randomShape(random),
                             {random.rotation(), Vec3{random.uniform(-1, 1), random.uniform(-1, 1),
                                                      random.uniform(0, 2)}},
                             random.direction() * random.uniform(0, 6),
                             random.direction() * random.uniform(0, 12),
                             gravity});
  scene.flights.push_back({std::make_shared<Plane>(), {}, {}, {}, {}});
  return scene;
}

Model observedModel(const FlightScene& scene) {
  ModelBuilder builder;
  SimulationOptions options;
  options.solver = SolverType::Event;
  options.dt = scene.duration;
  builder.setOptions(options);
  Material glass;
  glass.name = "glass";
  glass.contact = ContactModel::Observer;
  builder.addMaterial(glass);
  for (std::size_t i = 0; i < scene.flights.size(); ++i) {
    const Flight& flight = scene.flights[i];
    Body body;
    body.name = std::string("b").append(std::to_string(i));
    body.pose = flight.start;
    body.linearVelocity = flight.velocity;
    body.angularVelocity = flight.spin;
    body.shapes.push_back({.shape = flight.shape, .material = "glass"});
    if (i + 1 == scene.flights.size())
      body.type = BodyType::Fixed;
    else
      body.massProperties = MassProperties{1, {}, {{{0.1, 0, 0}, {0, 0.1, 0}, {0, 0, 0.1}}}};
    builder.addBody(body);
  }
  return builder.build();
}

/// What the simulator found, in the order of bodies.
std::vector<Crossing> observe(const FlightScene& scene) {
  Simulator simulator(observedModel(scene));
  const StepReport& report = simulator.advanceTo(scene.duration);
  EXPECT_EQ(report.status, StepStatus::Ok);
  std::vector<Crossing> found;
  for (const EventRecord& event : simulator.events()) {
    const bool isBegin = event.cause == EventCause::ContactBegins;
    if (!isBegin && event.cause != EventCause::ContactEnds) continue;
    found.push_back({event.time, std::min(event.body1, event.body2),
                     std::max(event.body1, event.body2), isBegin});
  }
  return found;
}

std::vector<Crossing> ofPair(const std::vector<Crossing>& all, int body1, int body2) {
  std::vector<Crossing> out;
  for (const Crossing& c : all)
    if (c.body1 == body1 && c.body2 == body2) out.push_back(c);
  return out;
}

TEST(EventRandomScenes, EveryEntryAndExitOfShapesInFlightIsFound) {
  // 10,000 by TANGERE_RANDOM_EVENTS=10000: ten times as long.
  const char* wanted = std::getenv("TANGERE_RANDOM_EVENTS");
  const int numScenes = wanted != nullptr ? std::atoi(wanted) : 1000;
  int numChecked = 0, numCrossings = 0;
  for (int i = 0; i < numScenes && !HasFailure(); ++i) {
    Random random(1000 + static_cast<std::uint64_t>(i));
    const FlightScene scene = randomFlights(random);
    const int count = static_cast<int>(scene.flights.size());
    std::vector<Crossing> expected;
    bool isSure = true;
    for (int a = 0; a < count && isSure; ++a)
      for (int b = a + 1; b < count && isSure; ++b)
        isSure = findCrossings(scene.flights[static_cast<std::size_t>(a)],
                               scene.flights[static_cast<std::size_t>(b)], a, b, scene.duration,
                               expected);
    if (!isSure) continue;
    ++numChecked;
    numCrossings += static_cast<int>(expected.size());
    const std::vector<Crossing> found = observe(scene);
    EXPECT_EQ(found.size(), expected.size()) << "scene " << i;
    for (int a = 0; a < count; ++a)
      for (int b = a + 1; b < count; ++b) {
        const std::vector<Crossing> e = ofPair(expected, a, b), f = ofPair(found, a, b);
        ASSERT_EQ(f.size(), e.size()) << "scene " << i << ", bodies " << a << " and " << b;
        const Flight &first = scene.flights[static_cast<std::size_t>(a)],
                     &second = scene.flights[static_cast<std::size_t>(b)];
        for (std::size_t k = 0; k < e.size(); ++k) {
          EXPECT_EQ(f[k].isBegin, e[k].isBegin) << "scene " << i;
          EXPECT_NEAR(f[k].time, e[k].time, 1e-3) << "scene " << i;
          // A graze has no sharp time, but a sharp distance.
          const Real t = f[k].time;
          EXPECT_NEAR(integrator::pairDistance(*first.shape, first.at(t), *second.shape,
                                               second.at(t), 1, nullptr),
                      0, 1e-6)
              << "scene " << i;
        }
      }
  }
  EXPECT_GT(numChecked, numScenes * 95 / 100);
  EXPECT_GT(numCrossings, numScenes);
}

/// Elastic balls without gravity: from impact to impact by the formula.
struct Balls {
  std::vector<Vec3> position, velocity;
  std::vector<Real> radius, mass;
};

/// The next impact after now: its time from now and the pair. False: there is none.
bool nextImpact(const Balls& balls, Real* time, std::size_t* first, std::size_t* second) {
  *time = std::numeric_limits<Real>::infinity();
  for (std::size_t i = 0; i < balls.position.size(); ++i)
    for (std::size_t k = i + 1; k < balls.position.size(); ++k) {
      const Vec3 x = balls.position[i] - balls.position[k];
      const Vec3 v = balls.velocity[i] - balls.velocity[k];
      const Real r = balls.radius[i] + balls.radius[k];
      const Real b = dot(x, v), c = squaredNorm(x) - r * r;
      const Real discriminant = b * b - squaredNorm(v) * c;
      if (!(b < 0) || !(discriminant > 0)) continue;
      const Real t = c / (-b + std::sqrt(discriminant));
      if (t < *time) {
        *time = t;
        *first = i;
        *second = k;
      }
    }
  return std::isfinite(*time);
}

void bounce(Balls& balls, std::size_t i, std::size_t k) {
  Vec3 n = balls.position[i] - balls.position[k];
  n = n / norm(n);
  const Real closing = dot(n, balls.velocity[i] - balls.velocity[k]);
  const Real impulse = -2 * closing / (1 / balls.mass[i] + 1 / balls.mass[k]);
  balls.velocity[i] += n * (impulse / balls.mass[i]);
  balls.velocity[k] -= n * (impulse / balls.mass[k]);
}

TEST(EventRandomScenes, EveryImpactOfElasticBallsIsFound) {
  constexpr int kNumScenes = 1000;
  constexpr Real kDuration = 1;
  int numImpacts = 0;
  for (int scene = 0; scene < kNumScenes && !HasFailure(); ++scene) {
    Random random(50000 + static_cast<std::uint64_t>(scene));
    Balls balls;
    ModelBuilder builder;
    SimulationOptions options;
    options.solver = SolverType::Event;
    options.gravity = {};
    options.dt = kDuration;
    builder.setOptions(options);
    Material ivory;
    ivory.name = "ivory";
    ivory.friction = 0;
    ivory.restitution = 1;
    builder.addMaterial(ivory);
    while (balls.position.size() < 5) {
      const Vec3 p = random.direction() * random.uniform(0, 1);
      const Real r = random.uniform(0.1, 0.3);
      bool isFree = true;
      for (std::size_t i = 0; i < balls.position.size(); ++i)
        isFree = isFree && norm(p - balls.position[i]) > r + balls.radius[i] + 0.01;
      if (!isFree) continue;
      const std::size_t i = balls.position.size();
      balls.position.push_back(p);
      balls.velocity.push_back(p * -1 + random.direction() * random.uniform(0, 1));
      balls.radius.push_back(r);
      balls.mass.push_back(random.uniform(0.5, 2));
      Body body;
      body.name = std::string("ball").append(std::to_string(i));
      body.pose.translation = p;
      body.linearVelocity = balls.velocity.back();
      body.shapes.push_back({.shape = std::make_shared<Sphere>(r), .material = "ivory"});
      const Real inertia = Real(0.4) * balls.mass.back() * r * r;
      body.massProperties = MassProperties{
          balls.mass.back(), {}, {{{inertia, 0, 0}, {0, inertia, 0}, {0, 0, inertia}}}};
      builder.addBody(body);
    }
    Simulator simulator(builder.build());
    EXPECT_EQ(simulator.advanceTo(kDuration).status, StepStatus::Ok);
    std::vector<Crossing> found;
    for (const EventRecord& event : simulator.events())
      if (event.cause == EventCause::Impact)
        found.push_back({event.time, std::min(event.body1, event.body2),
                         std::max(event.body1, event.body2), true});
    // Every impact multiplies what is uncertain; two that are close in time may change places.
    Real now = 0, tolerance = 1e-7;
    std::size_t at = 0;
    for (;;) {
      Real wait = 0;
      std::size_t i = 0, k = 0;
      if (!nextImpact(balls, &wait, &i, &k) || now + wait > kDuration - tolerance) break;
      for (std::size_t b = 0; b < balls.position.size(); ++b)
        balls.position[b] += balls.velocity[b] * wait;
      now += wait;
      ASSERT_LT(at, found.size()) << "scene " << scene << ": the impact at " << now << " s of " << i
                                  << " and " << k << " is missing";
      EXPECT_EQ(found[at].body1, static_cast<int>(i)) << "scene " << scene;
      EXPECT_EQ(found[at].body2, static_cast<int>(k)) << "scene " << scene;
      EXPECT_NEAR(found[at].time, now, tolerance) << "scene " << scene;
      bounce(balls, i, k);
      ++at;
      ++numImpacts;
      tolerance *= 10;
      if (tolerance > 1e-3) break;
    }
  }
  EXPECT_GT(numImpacts, kNumScenes);
}

}  // namespace
}  // namespace tangere
