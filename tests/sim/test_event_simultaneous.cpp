// SPDX-License-Identifier: Apache-2.0
//
// Impacts of rigid bodies that happen at once under the event solver: what hangs together is solved
// together, so that no name, order or side decides anything; rows of balls still pass a blow on
// from one to the next.
#include "event_samples.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace tangere {
namespace {

using test::eventBuilder;
using test::makeBody;

constexpr Real kRadius = 0.05;

struct Ball {
  std::string name;
  Vec3 at{}, velocity{};
};

Model ballsOf(const std::vector<Ball>& balls, const Material& material) {
  ModelBuilder builder = eventBuilder(material, {});
  const auto sphere = std::make_shared<Sphere>(kRadius);
  for (const Ball& ball : balls) {
    Body body = makeBody(ball.name, sphere, ball.at);
    body.linearVelocity = ball.velocity;
    body.massProperties =
        MassProperties{.mass = 0.5, .inertia = {{{5e-4, 0, 0}, {0, 5e-4, 0}, {0, 0, 5e-4}}}};
    builder.addBody(body);
  }
  return builder.build();
}

/// Kinetic energy in halves of the mass of a ball, turning left out.
Real squaredSpeeds(const Simulator& simulator) {
  Real sum = 0;
  for (int i = 0; i < simulator.model().numBodies(); ++i)
    sum += squaredNorm(simulator.body(i).linearVelocity);
  return sum;
}

Vec3 sumOfVelocities(const Simulator& simulator) {
  Vec3 sum{};
  for (int i = 0; i < simulator.model().numBodies(); ++i) sum += simulator.body(i).linearVelocity;
  return sum;
}

// Both are hit at 30 degrees, by impulses p along the lines of centres: the cue keeps
// v - sqrt(3) p / m, the others get p / m, and e = 1 turns the approach sqrt(3)/2 v round:
// p / m = 2 sqrt(3)/2 v / (1 + 3/2) = 2 sqrt(3) v / 5.
TEST(EventSimultaneous, ABallThatHitsTwoAtOncePartsThemEvenly) {
  const Real h = std::sqrt(Real(3)) * kRadius;
  for (const Real angle : {0.0, 0.3, 1.1, 2.5, 4.0}) {
    const Vec3 x{std::cos(angle), std::sin(angle), 0}, y{-x.y, x.x, 0};
    for (const auto& [cue, left, right] :
         {std::tuple("c", "a", "b"), std::tuple("c", "b", "a"), std::tuple("a", "z", "m")}) {
      Simulator simulator(ballsOf({{cue, x * -0.3, x * 5},
                                   {left, x * h + y * kRadius, {}},
                                   {right, x * h - y * kRadius, {}}},
                                  {.name = "m", .friction = 0, .restitution = 1}));
      ASSERT_EQ(simulator.advanceTo(0.1).status, StepStatus::Ok);
      const auto velocity = [&](const char* name) {
        const Vec3 v = simulator.body(name).linearVelocity;
        return Vec3{dot(v, x), dot(v, y), v.z};
      };
      EXPECT_NEAR(norm(velocity(cue) - Vec3{-1, 0, 0}), 0, 1e-9) << angle;
      EXPECT_NEAR(norm(velocity(left) - Vec3{3, std::sqrt(Real(3)), 0}), 0, 1e-9) << angle;
      EXPECT_NEAR(norm(velocity(right) - Vec3{3, -std::sqrt(Real(3)), 0}), 0, 1e-9) << angle;
    }
  }
}

// Touching by rounding, overlapping and with gaps that are less or more than what counts as at
// once.
TEST(EventSimultaneous, ACradlePassesTheBlowOnWhateverItsGaps) {
  for (const Real gap : {-1e-11, -1e-12, 0.0, 1e-15, 1e-12, 1e-10, 1e-9, 1e-6, 1e-3}) {
    for (int numMoving = 1; numMoving <= 3; ++numMoving) {
      std::vector<Ball> balls;
      for (int i = 0; i < 5; ++i) {
        const bool isMoving = i < numMoving;
        balls.push_back({test::numbered("b", (3 * i) % 5),
                         {(2 * kRadius + gap) * i + (isMoving ? 0 : 0.02), 0, 0},
                         {isMoving ? 1.0 : 0.0, 0, 0}});
      }
      Simulator simulator(ballsOf(balls, {.name = "m", .friction = 0, .restitution = 1}));
      ASSERT_EQ(simulator.advanceTo(0.1).status, StepStatus::Ok);
      for (int i = 0; i < 5; ++i)
        EXPECT_NEAR(simulator.body(balls[static_cast<std::size_t>(i)].name).linearVelocity.x,
                    i >= 5 - numMoving ? 1 : 0, 2e-6)  // what lies 1e-11 m deep comes out again
            << "gap " << gap << ", " << numMoving << " moving, ball " << i;
    }
  }
}

// A rack of billiard balls, hit in the middle: its two sides do the same.
TEST(EventSimultaneous, ARackThatIsHitInTheMiddleBreaksEvenly) {
  for (const Real e : {1.0, 0.9, 0.5}) {
    std::vector<Ball> balls{{"cue", {-0.3, 0, 0}, {5, 0, 0}}};
    std::vector<std::pair<std::string, std::string>> twins;
    const auto nameOf = [](int row, int k) {
      return test::numbered("r", (7 * (row * 5 + k)) % 31);
    };
    for (int row = 0; row < 4; ++row) {
      for (int k = 0; k <= row; ++k) {
        balls.push_back(
            {nameOf(row, k), {row * std::sqrt(Real(3)) * kRadius, (2 * k - row) * kRadius, 0}, {}});
        twins.emplace_back(nameOf(row, k), nameOf(row, row - k));
      }
    }
    Simulator simulator(ballsOf(balls, {.name = "m", .friction = 0, .restitution = e}));
    ASSERT_EQ(simulator.advanceTo(0.1).status, StepStatus::Ok);
    for (const auto& [a, b] : twins) {
      const Vec3 v = simulator.body(a).linearVelocity, w = simulator.body(b).linearVelocity;
      EXPECT_NEAR(norm(v - Vec3{w.x, -w.y, w.z}), 0, 1e-6) << a << " and " << b << ", e " << e;
    }
    EXPECT_NEAR(norm(sumOfVelocities(simulator) - Vec3{5, 0, 0}), 0, 1e-9);
    if (e == 1)
      EXPECT_NEAR(squaredSpeeds(simulator), 25, 1e-6);
    else
      EXPECT_LT(squaredSpeeds(simulator), 25);
  }
}

// The impulses at four corners are not unique; a box that lands flat and slides must not turn.
TEST(EventSimultaneous, ABoxThatLandsFlatAndSlidesDoesNotTurn) {
  for (const Real e : {0.0, 0.5}) {
    ModelBuilder builder = eventBuilder({.name = "m", .friction = 0.2, .restitution = e});
    test::addGround(builder);
    Body box = makeBody("box", std::make_shared<Box>(Vec3{0.1, 0.15, 0.05}), {0, 0, 0.1});
    box.linearVelocity = {3, 1, -1};
    builder.addBody(box);
    Simulator simulator(builder.build());
    ASSERT_EQ(simulator.advanceTo(0.05).status, StepStatus::Ok);
    const BodyState state = simulator.body("box");
    EXPECT_LT(norm(state.linearVelocity), 3);  // it has hit the ground
    EXPECT_NEAR(state.angularVelocity.z, 0, 1e-9) << e;
  }
}

}  // namespace
}  // namespace tangere
