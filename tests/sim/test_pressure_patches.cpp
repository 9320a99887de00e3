// SPDX-License-Identifier: Apache-2.0
//
// Two rigid bodies that press have exactly the force and the moment of the pressures between them,
// however they are turned, named and ordered.
#include "sim/random_scene.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace tangere::test {
namespace {

constexpr Real kMass = 1000;
/// So short that what the bodies move within it changes no force.
constexpr Real kTime = 1e-8;

struct PressedScene {
  std::shared_ptr<const Shape> shape1, shape2;
  bool isFirstRigid = false;
  Transform pose{};  ///< of the second in the first
  Real modulus = 1e5;
};

struct PressedWrench {
  Vec3 force{}, moment{};  ///< on the second body, about its centre

  [[nodiscard]] Real size(Real length) const { return norm(force) + norm(moment) / length; }
};

PressedWrench difference(const PressedWrench& a, const PressedWrench& b) {
  return {a.force - b.force, a.moment - b.moment};
}

struct Pressed {
  PressedWrench applied, integrated;
  Real patchError = 0;
  int numPolygons = 0;
  StepStatus status = StepStatus::Ok;
};

std::shared_ptr<const Shape> roundOrFlat(Real size, Random& random) {
  const auto length = [&] { return size * random.uniform(0.4, 1); };
  switch (random.index(6)) {
    case 0:
      return ball(length());
    case 1:
      return box(length(), length(), length());
    case 2:
      return std::make_shared<Capsule>(length(), length());
    case 3:
      return std::make_shared<Cylinder>(length(), length());
    case 4: {
      const Real s = length();
      return std::make_shared<Convex>(
          std::vector<Vec3>{{s, 0, 0}, {-s, 0, 0}, {0, s, 0}, {0, -s, 0}, {0, 0, s}, {0, 0, -s}});
    }
    default:
      return std::make_shared<Ellipsoid>(Vec3{length(), length(), length()});
  }
}

PressedScene randomPress(std::uint64_t seed) {
  Random random(seed);
  PressedScene scene;
  scene.shape1 = roundOrFlat(0.1, random);
  scene.shape2 = roundOrFlat(0.1, random);
  scene.isFirstRigid = random.index(2) == 0;
  const Mat3 turn = random.rotation();
  const Vec3 direction = random.rotation().col[2];
  scene.pose = {turn, direction * (0.1 * random.uniform(0.6, 1.4))};
  scene.modulus = random.magnitude(1e4, 1e7);
  return scene;
}

/// The bodies at `X_WF`, the first one held; `names` in order of the bodies, `isSecondFirst` in
/// what order they are added.
Pressed press(const PressedScene& scene, const Transform& X_WF, const char* const (&names)[2],
              bool isSecondFirst, Real friction = 0) {
  SimulationOptions options;
  options.dt = kTime;
  options.gravity = {};
  options.sap.relativeTolerance = 1e-13;
  options.sap.absoluteTolerance = 1e-22;
  options.solver = SolverType::Sap;
  ModelBuilder builder;
  builder.setOptions(options);
  Material soft{.name = "soft",
                .friction = friction,
                .relaxationTime = 0,
                .contact = ContactModel::Hydroelastic};
  soft.hydroelasticModulus = scene.modulus;
  soft.hydroelasticResolution = 0.03;
  Material hard = soft;
  hard.name = "hard";
  hard.hydroelasticModulus = kUnlimited;
  builder.addMaterial(soft);
  builder.addMaterial(hard);
  const MassProperties mass{
      .mass = kMass, .center = {}, .inertia = Mat3{{{kMass, 0, 0}, {0, kMass, 0}, {0, 0, kMass}}}};
  Body first, second;
  first.name = names[0];
  first.type = BodyType::Fixed;
  first.pose = X_WF;
  first.shapes = {{.shape = scene.shape1, .material = scene.isFirstRigid ? "hard" : "soft"}};
  second.name = names[1];
  second.pose = X_WF * scene.pose;
  second.shapes = {{.shape = scene.shape2, .material = "soft"}};
  second.massProperties = mass;
  if (isSecondFirst) builder.addBody(second);
  builder.addBody(first);
  if (!isSecondFirst) builder.addBody(second);
  Simulator simulator(builder.build());
  const BodyState before = simulator.body(names[1]);
  Pressed out;
  const StepReport report = simulator.step();
  out.status = report.status;
  out.patchError = report.patchError;
  const BodyState after = simulator.body(names[1]);
  const int body = simulator.model().findBody(names[1]);
  out.applied.force = (after.linearVelocity - before.linearVelocity) * (kMass / kTime);
  out.applied.moment = (after.angularVelocity - before.angularVelocity) * (kMass / kTime);
  for (const PressurePolygon& polygon : simulator.pressureContacts()) {
    const Real sign = polygon.side1.body == body ? 1 : -1;
    const Vec3 center = before.pose.translation;
    const Vec3 a = polygon.vertices[0];
    for (int i = 1; i + 1 < polygon.numVertices; ++i) {
      const Vec3 b = polygon.vertices[i], c = polygon.vertices[i + 1];
      const Real pa = polygon.pressures[0], pb = polygon.pressures[i],
                 pc = polygon.pressures[i + 1];
      const Vec3 area = cross(b - a, c - a) * (sign / 2);
      out.integrated.force += area * ((pa + pb + pc) / 3);
      const Vec3 arm = (a - center) * (2 * pa + pb + pc) + (b - center) * (pa + 2 * pb + pc) +
                       (c - center) * (pa + pb + 2 * pc);
      out.integrated.moment += cross(arm / 12, area);
    }
    ++out.numPolygons;
  }
  // In the frame of the scene.
  for (PressedWrench* wrench : {&out.applied, &out.integrated}) {
    wrench->force = transposeTimes(X_WF.rotation, wrench->force);
    wrench->moment = transposeTimes(X_WF.rotation, wrench->moment);
  }
  return out;
}

constexpr const char* kNames[2] = {"a", "b"};
constexpr const char* kOtherNames[2] = {"zz", "aa"};

TEST(PressurePatches, OfATippedOctahedronHaveTheForceOfTheirPressures) {
  // Were points that pull cut off, the others would press with 47.5 N instead of 33.3 N.
  PressedScene scene{
      .shape1 = std::make_shared<Cylinder>(0.08, 0.1),
      .shape2 = std::make_shared<Convex>(std::vector<Vec3>{
          {0.1, 0, 0}, {-0.1, 0, 0}, {0, 0.1, 0}, {0, -0.1, 0}, {0, 0, 0.1}, {0, 0, -0.1}}),
      .isFirstRigid = true};
  scene.pose = {rotationMatrix(Quat{0.5250382522178874, 0.3281967985859342, 0.03720649271645461,
                                    0.7843706853303929}),
                {-0.048202497315377596, -0.003441553973521251, -0.07995225329933019}};
  const Pressed one = press(scene, Transform::identity(), kNames, false);
  ASSERT_GT(one.numPolygons, 10);
  EXPECT_GT(norm(one.integrated.force), 20);
  EXPECT_LT(difference(one.applied, one.integrated).size(0.1), 1e-8 * one.integrated.size(0.1));
  const Pressed other = press(scene, Transform::identity(), kOtherNames, true);
  EXPECT_LT(difference(one.applied, other.applied).size(0.1), 1e-8 * one.integrated.size(0.1));
}

TEST(PressurePatches, HaveTheForceAndTheMomentOfTheirPressures) {
  int numPressed = 0;
  Real worst = 0;
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    const PressedScene scene = randomPress(seed);
    const Pressed pressed = press(scene, Transform::identity(), kNames, false);
    ASSERT_FALSE(isRefused(pressed.status)) << seed;
    const Real size = pressed.integrated.size(0.1);
    if (!(size > 1e-6)) continue;
    ++numPressed;
    const Real error = difference(pressed.applied, pressed.integrated).size(0.1) / size;
    EXPECT_LT(error, 1e-6) << seed;
    EXPECT_LT(pressed.patchError, 1e-6) << seed;  // rounding, of the smallest patches
    worst = std::max(worst, error);
  }
  RecordProperty("worst", std::to_string(worst));
  EXPECT_GT(numPressed, 800);
}

TEST(PressurePatches, DoNotDependOnFramesAndNames) {
  int numPressed = 0;
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    const PressedScene scene = randomPress(100000 + seed);
    Random random(seed);
    const Transform moved{random.rotation(), random.vector(2)};
    const Pressed pressed = press(scene, Transform::identity(), kNames, false);
    const Real size = pressed.integrated.size(0.1);
    if (!(size > 1e-6)) continue;
    ++numPressed;
    const Pressed other = press(scene, moved, kOtherNames, random.index(2) == 0);
    EXPECT_LT(difference(pressed.applied, other.applied).size(0.1), 1e-6 * size) << seed;
  }
  EXPECT_GT(numPressed, 800);
}

TEST(PressurePatches, ResistTiltingAsTheirPolygonsDo) {
  // A box of 0.2 m x 0.2 m on a layer that tilts by dt omega: its moment changes by
  // -g integral(y^2) dt omega, of a force that stays the same.
  constexpr Real kDt = 1e-3, kOmega = 1e-3, kGrowth = 1e6;
  for (const char* const name : {"a", "z"}) {
    Real moment[2] = {};
    for (int turns = 0; turns < 2; ++turns) {
      SimulationOptions options;
      options.dt = kDt;
      options.gravity = {};
      options.solver = SolverType::Sap;
      options.sap.relativeTolerance = 1e-13;
      options.sap.absoluteTolerance = 1e-22;
      ModelBuilder builder;
      builder.setOptions(options);
      builder.addMaterial({.name = "layer",
                           .friction = 0,
                           .relaxationTime = 0,
                           .contact = ContactModel::Hydroelastic,
                           .hydroelasticModulus = 0.1 * kGrowth,
                           .hydroelasticThickness = 0.1});
      builder.addMaterial({.name = "hard", .friction = 0, .relaxationTime = 0});
      Body floor = floorOf("layer");
      floor.name = "m";
      builder.addBody(floor);
      Body lid = bodyOf(name, box(0.1, 0.1, 0.1), {0, 0, 0.099}, Mat3::identity(), "hard");
      lid.massProperties = MassProperties{
          .mass = 1e6, .center = {}, .inertia = Mat3{{{1e6, 0, 0}, {0, 1e6, 0}, {0, 0, 1e6}}}};
      lid.angularVelocity = {turns * kOmega, 0, 0};
      builder.addBody(lid);
      Simulator simulator(builder.build());
      simulator.step();
      moment[turns] = (simulator.body(name).angularVelocity.x - turns * kOmega) * 1e6 / kDt;
    }
    const Real expected = -kGrowth * (0.04 * 0.01 / 3) * kDt * kOmega;
    EXPECT_NEAR(moment[1] - moment[0], expected, 1e-3 * std::fabs(expected)) << name;
  }
}

}  // namespace
}  // namespace tangere::test
