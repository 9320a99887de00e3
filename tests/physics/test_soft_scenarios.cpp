// SPDX-License-Identifier: Apache-2.0
//
// Scenarios of soft bodies and pressure from scene files, with the tolerances by which another
// engine tests its coupler.
#include <tangere/scene.hpp>
#include <tangere/simulator.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <numbers>
#include <sstream>
#include <vector>

namespace tangere {
namespace {

Simulator simulatorOf(const std::string& name) {
  return Simulator(loadScene(std::string(TANGERE_TEST_DATA) + "/soft/" + name + ".toml").model);
}

struct Box3 {
  Vec3 lower, upper;
  [[nodiscard]] Vec3 center() const { return (lower + upper) * 0.5; }
  [[nodiscard]] Vec3 half() const { return (upper - lower) * 0.5; }
};

Box3 boundsOf(const Simulator& simulator, int soft) {
  const std::span<const Vec3> x = simulator.softPositions(soft);
  Box3 box{x[0], x[0]};
  for (const Vec3& p : x) {
    for (int k = 0; k < 3; ++k) {
      box.lower[k] = std::min(box.lower[k], p[k]);
      box.upper[k] = std::max(box.upper[k], p[k]);
    }
  }
  return box;
}

Real fastest(const Simulator& simulator, int soft) {
  Real speed = 0;
  for (const Vec3& v : simulator.softVelocities(soft)) speed = std::max(speed, norm(v));
  return speed;
}

int nearestVertex(const Simulator& simulator, int soft, const Vec3& place) {
  const std::span<const Vec3> x = simulator.softPositions(soft);
  const auto at = std::min_element(x.begin(), x.end(), [&](const Vec3& a, const Vec3& b) {
    return norm(a - place) < norm(b - place);
  });
  EXPECT_LT(norm(*at - place), 1e-9);
  return static_cast<int>(at - x.begin());
}

void expectOk(const Simulator& simulator) {
  EXPECT_EQ(simulator.report().status, StepStatus::Ok)
      << describe(simulator.report(), simulator.model(), simulator.state().step);
}

TEST(SoftScenarios, ASphereAndABoxFallOnTheFloorAndLieThere) {
  for (const auto& [name, tolerance] :
       {std::pair<std::string, Real>{"falling_sphere_and_box_linear", 1e-3},
        {"falling_sphere_and_box_corotated", 1e-2}}) {
    Simulator simulator = simulatorOf(name);
    const int sphere = simulator.model().findSoftBody("sphere");
    const int box = simulator.model().findSoftBody("box");
    EXPECT_NEAR(simulator.model().softMass(box), 1, 1e-12);
    simulator.step(120);
    expectOk(simulator);
    for (const int soft : {sphere, box}) {
      const Vec3 start = soft == sphere ? Vec3{0.4, -0.1, 0.1} : Vec3{0, 0.1, 0.3};
      const Real half = soft == sphere ? 0.1 : 0.05;
      const Box3 bounds = boundsOf(simulator, soft);
      EXPECT_LT(fastest(simulator, soft), 0.025) << name << " " << soft;
      EXPECT_NEAR(bounds.center().x, start.x, tolerance) << name << " " << soft;
      EXPECT_NEAR(bounds.center().y, start.y, tolerance) << name << " " << soft;
      for (int k = 0; k < 3; ++k) EXPECT_NEAR(bounds.half()[k], half, 5e-3) << name << " " << soft;
      EXPECT_NEAR(bounds.lower.z, 0, 1e-3) << name << " " << soft;
    }
  }
}

TEST(SoftScenarios, ABoxStaysOnASphere) {
  Simulator simulator = simulatorOf("box_on_sphere");
  simulator.step(80);
  expectOk(simulator);
  for (const char* name : {"sphere", "box"}) {
    const int soft = simulator.model().findSoftBody(name);
    const Vec3 center = boundsOf(simulator, soft).center();
    EXPECT_LT(fastest(simulator, soft), 0.05) << name;
    EXPECT_NEAR(center.x, 0, 0.02) << name;
    EXPECT_NEAR(center.y, 0, 0.02) << name;
    EXPECT_NEAR(center.z, std::string(name) == "sphere" ? 0.1 : 0.215, 5e-3) << name;
  }
}

TEST(SoftScenarios, ADrivenBoxPushesAgainstASphereHeldAtItsCentre) {
  Simulator simulator = simulatorOf("driven_box_and_sphere");
  const int box = simulator.model().findSoftBody("box");
  const int sphere = simulator.model().findSoftBody("sphere");
  // By the four corners of a face: held by two it would swing about their line.
  const std::vector<std::pair<int, Vec3>> held{
      {nearestVertex(simulator, box, {0, 0.1, 2}), {0, 0.1, 2}},
      {nearestVertex(simulator, box, {0, 0.2, 2}), {0, 0.2, 2}},
      {nearestVertex(simulator, box, {0, 0.1, 2.1}), {0, 0.1, 2.1}},
      {nearestVertex(simulator, box, {0, 0.2, 2.1}), {0, 0.2, 2.1}}};
  const Vec3 middle{0.17, -0.022, 2.05};
  const int center = nearestVertex(simulator, sphere, middle);
  const std::span<const Vec3> rest = simulator.model().softMesh(box).vertices();
  const auto isCorner = [](const Vec3& p) {
    return std::fabs(std::fabs(p.x + 0.05) - 0.05) < 1e-9 &&
           std::fabs(std::fabs(p.y - 0.15) - 0.05) < 1e-9 &&
           std::fabs(std::fabs(p.z - 2.05) - 0.05) < 1e-9;
  };
  const int count = static_cast<int>(0.5 * std::numbers::pi / 0.005);
  bool hasTouched = false;
  Real angle = 0, before = 0;
  for (int i = 0; i < count; ++i) {
    angle = 0.005 * i;
    for (int half = 1; half <= 2; ++half) {
      // On the chord of the arc within one control period of two steps.
      const Real at = i == 0 ? angle : before + (angle - before) * half / 2;
      const auto targetOf = [&](const Vec3& start) {
        return Vec3{std::sin(at) * start.y, std::cos(at) * start.y, start.z};
      };
      for (const auto& [vertex, start] : held) simulator.driveVertex(box, vertex, targetOf(start));
      simulator.step();
      for (const auto& [vertex, start] : held)
        EXPECT_LT(norm(simulator.softPositions(box)[vertex] - targetOf(start)), 1e-8);
      EXPECT_LT(norm(simulator.softPositions(sphere)[center] - middle), 1e-8);
    }
    before = angle;
    for (const PressurePolygon& polygon : simulator.pressureContacts())
      hasTouched = hasTouched || (polygon.side1.soft != polygon.side2.soft);
  }
  expectOk(simulator);
  EXPECT_TRUE(hasTouched);
  Real farthest = 0;
  for (const Vec3& p : simulator.softPositions(sphere))
    farthest = std::max(farthest, norm(p - middle));
  EXPECT_NEAR(farthest, 0.03, 0.01);
  for (std::size_t i = 0; i < rest.size(); ++i) {
    if (!isCorner(rest[i])) continue;
    const Vec3& p = simulator.softPositions(box)[i];
    const Vec3 back{std::cos(angle) * p.x - std::sin(angle) * p.y,
                    std::sin(angle) * p.x + std::cos(angle) * p.y, p.z};
    EXPECT_LT(norm(back - rest[i]), 0.02) << i;
  }
  for (const auto& [vertex, start] : held) simulator.releaseVertex(box, vertex);
  const Real high = boundsOf(simulator, box).center().z;
  simulator.step(80);
  EXPECT_NEAR(boundsOf(simulator, box).center().z - high, -0.5 * 9.81 * 0.4 * 0.4, 0.06);
  EXPECT_LT(norm(simulator.softPositions(sphere)[center] - middle), 1e-8);
}

TEST(SoftScenarios, ChainsOfRigidLinksLieOnARigidBoxByPressure) {
  Simulator simulator = simulatorOf("links_on_box");
  simulator.step(240);
  expectOk(simulator);
  EXPECT_GT(simulator.pressureContacts().size(), 0u);
  for (int i = 0; i < simulator.model().numBodies(); ++i)
    EXPECT_LT(norm(simulator.body(i).linearVelocity), 0.03) << simulator.model().bodyName(i);
  EXPECT_LT(norm(simulator.body("box").pose.translation - Vec3{0, 0, 0.1}), 2e-3);
  EXPECT_GT(simulator.body("first/link2").pose.translation.z, 0.2);
}

TEST(SoftScenarios, ARobotRidesOnASoftBall) {
  Simulator simulator = simulatorOf("robot_on_ball");
  simulator.step(100);
  expectOk(simulator);
  Vec3 mean{};
  for (const Vec3& p : simulator.softPositions(0)) mean += p;
  mean = mean * (1 / static_cast<Real>(simulator.softPositions(0).size()));
  EXPECT_NEAR(mean.x, 0, 0.01);
  EXPECT_NEAR(mean.y, 0, 0.01);
  EXPECT_LT(mean.z, 0.2);
  const Vec3 base = simulator.body("cross/base").pose.translation;
  EXPECT_NEAR(base.x, 0, 0.03);
  EXPECT_NEAR(base.y, 0, 0.03);
  EXPECT_GT(base.z, 0.38);
  // The legs hang against their stops or on the ball, all four alike.
  for (int leg = 1; leg < 4; ++leg) {
    const Model& model = simulator.model();
    const auto angleOf = [&](int i) {
      return simulator.state()
          .q[model.positionOfJoint(model.findJoint("cross/leg" + std::to_string(i)))];
    };
    EXPECT_NEAR(angleOf(leg), angleOf(0), 0.05) << leg;
    EXPECT_LT(std::fabs(angleOf(leg)), 1.1);
  }
}

TEST(SoftScenarios, AnArmPicksUpASoftBallLiftsItAndHoldsIt) {
  Simulator simulator(loadScene(std::string(TANGERE_TEST_DATA) + "/../../scenes/grasp.toml").model);
  const auto center = [&] {
    Vec3 mean{};
    for (const Vec3& p : simulator.softPositions(0)) mean += p;
    return mean * (1 / static_cast<Real>(simulator.softPositions(0).size()));
  };
  const Real low = center().z;
  simulator.step(480);  // 4 s: it is up
  expectOk(simulator);
  EXPECT_NEAR(center().z - low, 0.1, 5e-3);
  const auto inHand = [&] {
    const BodyState hand = simulator.body("arm/hand");
    return transposeTimes(hand.pose.rotation, center() - hand.pose.translation);
  };
  const Vec3 held = inHand();
  const Real energy = simulator.energy().kinetic + simulator.energy().potential;
  simulator.step(240);
  EXPECT_LT(norm(inHand() - held), 1e-6);  // 2 s; 1 mm in 60 s would be 33 um
  EXPECT_LT(simulator.energy().kinetic + simulator.energy().potential, energy + 1e-5);
}

/// The grasp with a soft box instead of the ball.
TEST(SoftScenarios, AnArmPicksUpASoftBox) {
  std::ifstream file(std::string(TANGERE_TEST_DATA) + "/../../scenes/grasp.toml");
  std::stringstream text;
  text << file.rdbuf();
  std::string scene = text.str();
  const auto replace = [&](const std::string& from, const std::string& to) {
    const std::size_t at = scene.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    scene.replace(at, from.size(), to);
  };
  replace("shape = { sphere = 0.02 }", "shape = { box = [0.02, 0.02, 0.02] }");
  replace("resolution = 0.004", "resolution = 0.01");
  replace("young = 1e5, poisson = 0.4", "young = 1e6, poisson = 0.2");
  Simulator simulator(
      readSceneToml(scene, std::filesystem::path(TANGERE_TEST_DATA) / "../../scenes").model);
  simulator.step(480);
  expectOk(simulator);
  EXPECT_NEAR(boundsOf(simulator, 0).center().z, 0.12, 5e-3);
  const Vec3 before = boundsOf(simulator, 0).center();
  simulator.step(60);
  EXPECT_LT(norm(boundsOf(simulator, 0).center() - before), 1e-5);
}

}  // namespace
}  // namespace tangere
