// SPDX-License-Identifier: Apache-2.0
//
// Laws of pairs of shapes: radii, published values and rules of materials; forces of each law, and
// their derivatives against differences.
#include "integrator/contact_response.hpp"

#include <tangere/error.hpp>
#include <tangere/published_materials.hpp>

#include "math/quat.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace tangere::integrator {
namespace {

using Kind = ContactLaw::Kind;

Real uniform(std::mt19937_64& random, Real lower, Real upper) {
  return lower + (upper - lower) * (static_cast<Real>(random() >> 11) * 0x1p-53);
}

/// Two bodies, "a" and "b", with one shape each: shapes 0 and 1.
struct TwoShapes {
  ModelBuilder builder;
  SimulationOptions options{.solver = SolverType::Event};

  void add(const char* name, std::shared_ptr<const Shape> shape, const std::string& material,
           bool isFixed = false) {
    Body body{.name = name, .type = isFixed ? BodyType::Fixed : BodyType::Dynamic};
    body.shapes.push_back({.shape = std::move(shape), .material = material});
    builder.addBody(body);
  }
  Model build() {
    builder.setOptions(options);
    return builder.build();
  }
};

TwoShapes steelSphereOnBox(Real radius) {
  TwoShapes scene;
  scene.builder.addMaterial(*findPublishedMaterial("Steel"));
  scene.builder.addPair(*findPublishedPair("Steel", "Steel"));
  scene.add("a", std::make_shared<Box>(Vec3{2, 0.05, 0.35}), "Steel", true);
  scene.add("b", std::make_shared<Sphere>(radius), "Steel");
  return scene;
}

Material hertz(const std::string& name, Real young) {
  Material out{.name = name};
  out.contact = ContactModel::Hertz;
  out.youngsModulus = young;
  return out;
}

TEST(ContactRadius, IsThatOfTheTable) {
  const auto is = [](const Shape& shape, Real radius, bool isFlat) {
    const ContactRadius found = contactRadiusOf(shape);
    EXPECT_DOUBLE_EQ(found.radius, radius) << shapeTypeName(shape.type());
    EXPECT_EQ(found.isFlat, isFlat) << shapeTypeName(shape.type());
  };
  is(Sphere(0.3), 0.3, false);
  is(Ellipsoid({0.3, 0.2, 0.4}), 0.2, false);
  is(Box({0.3, 0.2, 0.1}), 0.1, true);
  is(Cylinder(0.3, 0.2), 0.2, false);
  is(Cylinder(0.1, 0.2), 0.1, false);
  is(Cone(0.3, 0.2), 0.15, false);
  is(Capsule(0.3, 0.2), 0.3, false);
  is(Plane(), kUnlimited, true);
  const std::vector<Vec3> corners{{0, 0, 0}, {1, 0, 0}, {0, 0.5, 0}, {0, 0, 2}};
  is(Convex(corners), 0.25, false);
  const std::vector<Triangle> faces{{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};
  is(Mesh(corners, faces), 0.25, false);
  const std::vector<Real> heights(12, 0.0);
  is(HeightField(4, 3, 0.6, 0.6, heights), 0.1, true);
  is(PointCloud(corners, 0.02), 0.02, false);
}

TEST(ContactRadius, OfTwoIsTheRoundOnesOrTheirSeries) {
  EXPECT_DOUBLE_EQ(combinedRadius({0.2, false}, {0.3, false}), 0.12);
  EXPECT_DOUBLE_EQ(combinedRadius({0.2, true}, {0.3, true}), 0.12);
  EXPECT_EQ(combinedRadius({0.2, true}, {0.3, false}), 0.3);
  EXPECT_EQ(combinedRadius({0.2, false}, {0.3, true}), 0.2);
  EXPECT_EQ(combinedRadius({kUnlimited, true}, {0.3, true}), 0.3);
  EXPECT_EQ(combinedRadius({0.3, true}, {kUnlimited, true}), 0.3);
  EXPECT_EQ(combinedRadius({kUnlimited, true}, {0.3, false}), 0.3);
}

TEST(ContactLaw, OfSteelIsThePublishedOne) {
  TwoShapes scene = steelSphereOnBox(0.1);
  scene.options.event.damping = RestitutionDamping::Flores;
  const Model model = scene.build();
  ContactLaw law = makeContactLaw(model.data(), 0, 1);
  EXPECT_EQ(law.kind, Kind::Hertz);
  EXPECT_NEAR(law.surfaceModulus, 1.099e11, 0.0005e11);
  EXPECT_EQ(law.loggedStiffness(), law.surfaceModulus);
  EXPECT_EQ(law.contactRadius, 0.1);  // that of the sphere: the box is flat
  EXPECT_DOUBLE_EQ(law.stiffness, law.surfaceModulus * 4 / 3 * std::sqrt(0.1));
  EXPECT_EQ(law.friction, 0.5);
  EXPECT_EQ(law.restitution, 0.7);
  EXPECT_DOUBLE_EQ(law.spinArm, 0.001 * 0.1);
  EXPECT_EQ(law.smallSpeed, 0.01);
  EXPECT_EQ(law.smallSpin, 0.01);
  beginContact(model.options().event, 0.0312, &law);
  EXPECT_NEAR(law.damping, 22.0, 0.05);
}

TEST(ContactLaw, DampsByTheSpeedOfApproach) {
  const Model model = steelSphereOnBox(0.1).build();
  const EventOptions& options = model.options().event;
  ContactLaw law = makeContactLaw(model.data(), 0, 1);
  beginContact(options, 2, &law);
  EXPECT_NEAR(law.damping, 0.634828 / 2, 1e-6);
  EXPECT_NEAR(dampingSlope(options, 2, law), -law.damping / 2, 1e-15);
  ContactLaw faster = law;
  beginContact(options, 2 + 1e-6, &faster);
  EXPECT_NEAR((faster.damping - law.damping) / 1e-6, dampingSlope(options, 2, law), 1e-6);
  // At or below the small speed that speed says nothing.
  beginContact(options, 0.01, &law);
  EXPECT_DOUBLE_EQ(law.damping, (1 - 0.49) / (1 + 0.49) * options.maxDamping);
  EXPECT_EQ(dampingSlope(options, 0.01, law), 0);
}

TEST(ContactLaw, OfASlowBeginningHasTheHysteresisOfItsRestitution) {
  const EventOptions options;
  constexpr Real kDepth = 1e-5;
  for (const Real e : {0.0, 0.2, 0.7, 0.99, 1.0}) {
    for (const Real approach : {0.0, 1e-7, 0.01}) {
      ContactLaw law{.kind = Kind::Hertz, .stiffness = 1e9};
      law.restitution = e;
      law.impactSpeed = 0.01;
      beginContact(options, approach, &law);
      const auto at = [&](Real rate) {
        return evaluateForce(law, {.depth = kDepth, .rate = rate, .normal = {0, 0, 1}}).normalForce;
      };
      const Real elastic = 1e9 * kDepth * std::sqrt(kDepth);
      EXPECT_NEAR(at(0), elastic, 1e-12 * elastic);
      for (const Real speed : {0.002, 0.1, 30.0}) {
        // Opening gives back e^2 of the work of deepening, at any speed.
        EXPECT_NEAR(at(-speed), e * e * at(speed), 1e-12 * elastic) << e;
        EXPECT_NEAR(at(speed) + at(-speed), 2 * elastic, 1e-12 * elastic) << e;
      }
      const Real slope = (at(1e-9) - at(-1e-9)) / 2e-9;
      EXPECT_NEAR(slope, law.damping * elastic, 1e-4 * elastic) << e;
      EXPECT_LE(law.damping, options.maxDamping);
      if (e == 1) {
        EXPECT_EQ(law.damping, 0);
      }
    }
  }
}

TEST(ContactLaw, IsSofterByTheReduction) {
  TwoShapes scene = steelSphereOnBox(0.1);
  const ContactLaw stiff = makeContactLaw(scene.build().data(), 0, 1);
  scene.options.event.stiffnessReduction = 1e-4;
  const ContactLaw soft = makeContactLaw(scene.build().data(), 0, 1);
  EXPECT_DOUBLE_EQ(soft.stiffness, 1e-4 * stiff.stiffness);
  EXPECT_DOUBLE_EQ(soft.surfaceModulus, 1e-4 * stiff.surfaceModulus);
}

TEST(ContactLaw, OfOneRigidSideIsThatOfTheOther) {
  TwoShapes scene;
  scene.builder.addMaterial(hertz("soft", 1e6));
  scene.builder.addMaterial(hertz("hard", 1e26));
  scene.add("a", std::make_shared<Plane>(), "hard", true);
  scene.add("b", std::make_shared<Sphere>(0.1), "soft");
  const ContactLaw law = makeContactLaw(scene.build().data(), 0, 1);
  EXPECT_NEAR(law.surfaceModulus / (1e6 / (1 - 0.09)), 1, 1e-15);
}

TEST(ContactLaw, IsTheSameSeenFromBothSides) {
  const Model model = steelSphereOnBox(0.1).build();
  const ContactLaw law = makeContactLaw(model.data(), 0, 1);
  const ContactLaw swapped = makeContactLaw(model.data(), 1, 0);
  EXPECT_EQ(law.stiffness, swapped.stiffness);
  EXPECT_EQ(law.friction, swapped.friction);
  EXPECT_EQ(law.contactRadius, swapped.contactRadius);
}

TEST(ContactLaw, OfPairsTakesWhatThePairSays) {
  TwoShapes scene;
  scene.builder.addMaterial(hertz("x", 1e9));
  scene.builder.addMaterial(hertz("y", 1e9));
  MaterialPair pair{.material1 = "y", .material2 = "x"};
  pair.friction = 0.25;
  pair.restitution = 0.5;
  pair.rollingResistance = 0.02;
  pair.smallSpeed = 1e-3;
  pair.smallSpin = 2e-3;
  scene.builder.addPair(pair);
  scene.add("a", std::make_shared<Sphere>(0.2), "x");
  scene.add("b", std::make_shared<Sphere>(0.2), "y");
  const ContactLaw law = makeContactLaw(scene.build().data(), 0, 1);
  EXPECT_EQ(law.friction, 0.25);
  EXPECT_EQ(law.restitution, 0.5);
  EXPECT_DOUBLE_EQ(law.spinArm, 0.02 * 0.1);
  EXPECT_EQ(law.smallSpeed, 1e-3);
  EXPECT_EQ(law.impactSpeed, 1e-3);
  EXPECT_EQ(law.smallSpin, 2e-3);
}

TEST(ContactLaw, WithoutAPairIsTheGeometricMean) {
  TwoShapes scene;
  Material x = hertz("x", 1e9), y = hertz("y", 1e9);
  x.friction = 0.4, y.friction = 0.9;
  x.restitution = 0.25, y.restitution = 1;
  x.rollingResistance = 0.01, y.rollingResistance = 0.04;
  scene.builder.addMaterial(x);
  scene.builder.addMaterial(y);
  scene.add("a", std::make_shared<Plane>(), "x", true);
  scene.add("b", std::make_shared<Sphere>(0.5), "y");
  const ContactLaw law = makeContactLaw(scene.build().data(), 0, 1);
  EXPECT_DOUBLE_EQ(law.friction, 0.6);
  EXPECT_DOUBLE_EQ(law.restitution, 0.5);
  EXPECT_DOUBLE_EQ(law.spinArm, 0.02 * 0.5);
}

TEST(ContactLaw, PublishedMaterialsAreComplete) {
  std::string last;
  for (const Material& material : publishedMaterials()) {
    EXPECT_LT(last, material.name);
    last = material.name;
    ModelBuilder builder;
    EXPECT_NO_THROW(builder.addMaterial(material));
    EXPECT_EQ(findPublishedMaterial(material.name), &material);
  }
  for (const MaterialPair& pair : publishedPairs()) {
    EXPECT_LE(pair.material1, pair.material2);
    EXPECT_NE(findPublishedMaterial(pair.material1), nullptr);
    EXPECT_NE(findPublishedMaterial(pair.material2), nullptr);
    EXPECT_EQ(findPublishedPair(pair.material2, pair.material1), &pair);
  }
  EXPECT_EQ(findPublishedMaterial("steel"), nullptr);
  const MaterialPair* const table = findPublishedPair("BilliardTable", "BilliardBall");
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(table->restitution, 0);
  EXPECT_EQ(table->friction, 0.8);
  EXPECT_EQ(table->rollingResistance, 0.01);
}

std::string refusalOf(TwoShapes& scene) {
  try {
    (void)scene.build();
  } catch (const InvalidInput& error) {
    return error.what();
  }
  return "accepted";
}

TEST(ContactLaw, OfHertzIsRefusedWithoutYoungsModulus) {
  TwoShapes scene;
  scene.builder.addMaterial(hertz("x", 0));
  scene.add("a", std::make_shared<Plane>(), "x", true);
  scene.add("b", std::make_shared<Sphere>(0.5), "x");
  EXPECT_NE(refusalOf(scene).find("material 'x': the law of Hertz needs Young's modulus"),
            std::string::npos)
      << refusalOf(scene);
  scene.options.solver = SolverType::Sap;
  EXPECT_EQ(refusalOf(scene), "accepted");

  TwoShapes other;
  other.builder.addMaterial(hertz("x", 1e9));
  other.add("a", std::make_shared<Plane>(), "", true);
  other.add("b", std::make_shared<Sphere>(0.5), "x");
  EXPECT_NE(refusalOf(other).find("material 'default' meets 'x'"), std::string::npos)
      << refusalOf(other);
  // A model that was built for another solver is refused when it is turned to this one.
  other.options.solver = SolverType::Sap;
  const Model model = other.build();
  SimulationOptions event = model.options();
  event.solver = SolverType::Event;
  EXPECT_THROW((void)model.withOptions(event), InvalidInput);
}

TEST(ContactLaw, OfPointsIsThatOfTheConvexSolver) {
  TwoShapes scene;
  Material x{.name = "x"};
  x.stiffness = 2e5;
  x.relaxationTime = 0.01;
  x.dissipation = 3;
  x.friction = 0.3;
  scene.builder.addMaterial(x);
  scene.add("a", std::make_shared<Plane>(), "x", true);
  scene.add("b", std::make_shared<Sphere>(0.5), "x");
  const ContactLaw linear = makeContactLaw(scene.build().data(), 0, 1);
  EXPECT_EQ(linear.kind, Kind::Linear);
  EXPECT_EQ(linear.smallSpeed, EventOptions{}.slipSpeed);
  const PointMotion motion{.depth = 1e-3,
                           .rate = 0.05,
                           .normal = {0, 0, 1},
                           .relativeVelocity = {0.5, 0, -0.05},
                           .count = 2};
  const PointForce force = evaluateForce(linear, motion);
  EXPECT_NEAR(force.normalForce, 2 * 1e5 * (1e-3 + 0.02 * 0.05), 1e-9);
  EXPECT_NEAR(force.force.x, -0.3 * force.normalForce, 1e-9);
  EXPECT_NEAR(force.force.z, force.normalForce, 1e-9);

  scene.options.sap.contact = SapContactModel::HuntCrossley;
  const ContactLaw huntCrossley = makeContactLaw(scene.build().data(), 0, 1);
  EXPECT_EQ(huntCrossley.kind, Kind::HuntCrossley);
  EXPECT_NEAR(evaluateForce(huntCrossley, motion).normalForce, 2 * 1e5 * 1e-3 * (1 + 3 * 0.05),
              1e-9);
}

TEST(ContactLaw, OfTheDefaultMaterialIsRigid) {
  TwoShapes scene;
  scene.add("a", std::make_shared<Plane>(), "", true);
  scene.add("b", std::make_shared<Sphere>(0.5), "");
  const ContactLaw law = makeContactLaw(scene.build().data(), 0, 1);
  EXPECT_TRUE(law.isRigid());
  EXPECT_EQ(law.impactSpeed, EventOptions{}.impactSpeed);
  // A mass on it swings with the period and is damped critically: it follows (1 + w t) exp(-w t).
  const Real w = 2 * 3.14159265358979323846 / 1e-4;
  EXPECT_DOUBLE_EQ(law.frequency, w);
  const PointForce force =
      evaluateForce(law, {.depth = 1e-6, .rate = -1e-3, .normal = {0, 0, 1}, .effectiveMass = 3});
  EXPECT_NEAR(force.normalForce, 3 * (w * w * 1e-6 - 2 * w * 1e-3), 1e-6);
}

TEST(ContactLaw, OfAnObserverNeverPushes) {
  TwoShapes scene;
  scene.builder.addMaterial(*findPublishedMaterial("Observer"));
  scene.builder.addMaterial(*findPublishedMaterial("Steel"));
  scene.add("a", std::make_shared<Sphere>(0.5), "Observer");
  scene.add("b", std::make_shared<Sphere>(0.5), "Steel");
  const ContactLaw law = makeContactLaw(scene.build().data(), 0, 1);
  EXPECT_TRUE(law.isObserver());
  const PointForce force = evaluateForce(law, {.depth = 1, .rate = 1, .normal = {0, 0, 1}});
  EXPECT_EQ(force.force, Vec3{});
  EXPECT_EQ(force.torque, Vec3{});
  EXPECT_GT(force.tensionSignal, 0);
}

TEST(ContactLaw, OfARuleAboutTwoShapesHasItsFriction) {
  TwoShapes scene;
  scene.builder.addMaterial(hertz("x", 1e9));
  for (const char* name : {"a", "b"}) {
    Body body{.name = name};
    body.shapes.push_back({.shape = std::make_shared<Sphere>(0.1), .material = "x", .name = name});
    scene.builder.addBody(body);
  }
  scene.builder.addShapePair({.shape1 = "a", .shape2 = "b", .friction = 0.125});
  const Model model = scene.build();
  EXPECT_EQ(makeContactLaw(model.data(), 0, 1).friction, 0.125);
  EXPECT_EQ(makeContactLaw(model.data(), 1, 0).friction, 0.125);
}

/// A law with everything in it.
ContactLaw lawOf(Kind kind) {
  ContactLaw law{.kind = kind, .stiffness = kind == Kind::Hertz ? 1e9 : 1e6};
  law.damping = 0.3;
  law.relaxationTime = 1e-3;
  law.frequency = 1e3;
  law.friction = 0.4;
  law.spinArm = 0.02;
  law.torsionArm = 0.03;
  law.rollingArm = 0.05;
  law.smallSpeed = 0.1;
  law.smallSpin = 0.2;
  return law;
}

PointMotion randomMotion(std::mt19937_64& random) {
  const auto vector = [&](Real size) {
    return Vec3{uniform(random, -size, size), uniform(random, -size, size),
                uniform(random, -size, size)};
  };
  PointMotion out{.depth = uniform(random, 1e-5, 1e-3), .effectiveMass = 2, .share = 0.25};
  out.weight = 0.5;
  out.count = 0.7;
  const Vec3 n = vector(1);
  out.normal = n / norm(n);
  out.relativeVelocity = vector(uniform(random, 0.01, 1));
  out.relativeSpin = vector(uniform(random, 0.01, 1));
  out.rate = -dot(out.normal, out.relativeVelocity);
  return out;
}

TEST(ContactLaw, ForcesAreCoulombsAndOpposeTheMotion) {
  std::mt19937_64 random(11);
  for (const Kind kind : {Kind::Hertz, Kind::Linear, Kind::HuntCrossley, Kind::Rigid}) {
    const ContactLaw law = lawOf(kind);
    for (int sample = 0; sample < 500; ++sample) {
      const PointMotion motion = randomMotion(random);
      const PointForce out = evaluateForce(law, motion);
      EXPECT_GE(out.normalForce, 0);
      EXPECT_EQ(out.tensionSignal > 0, out.normalForce > 0);
      EXPECT_NEAR(dot(out.force, motion.normal), out.normalForce, 1e-12 * out.normalForce);
      const Vec3 tangential = out.force - motion.normal * out.normalForce;
      EXPECT_LE(norm(tangential), law.friction * out.normalForce * (1 + 1e-12));
      EXPECT_LE(dot(tangential, motion.relativeVelocity), 0);
      EXPECT_LE(dot(out.torque, motion.relativeSpin), 0);
    }
  }
}

TEST(ContactLaw, DerivativesAreThoseOfDifferences) {
  std::mt19937_64 random(13);
  for (const Kind kind : {Kind::Hertz, Kind::Linear, Kind::HuntCrossley, Kind::Rigid}) {
    const ContactLaw law = lawOf(kind);
    int numCompared = 0;
    for (int sample = 0; sample < 300; ++sample) {
      const PointMotion motion = randomMotion(random);
      if (!(evaluateForce(law, motion).normalForce > 1)) continue;  // away from the clamp
      ++numCompared;
      const PointForceDerivatives at = differentiateForce(law, motion);
      const auto differ = [&](const std::function<void(PointMotion&, Real)>& move, Real h,
                              const Vec3& force, const Vec3& torque) {
        PointMotion plus = motion, minus = motion;
        move(plus, h);
        move(minus, -h);
        plus.rate = -dot(plus.normal, plus.relativeVelocity);
        minus.rate = -dot(minus.normal, minus.relativeVelocity);
        const PointForce a = evaluateForce(law, plus), b = evaluateForce(law, minus);
        const Real scale = evaluateForce(law, motion).normalForce / h;
        for (int k = 0; k < 3; ++k) {
          EXPECT_NEAR((a.force[k] - b.force[k]) / (2 * h), force[k], 2e-9 * scale);
          EXPECT_NEAR((a.torque[k] - b.torque[k]) / (2 * h), torque[k], 2e-9 * scale);
        }
      };
      differ([](PointMotion& m, Real h) { m.depth += h; }, 1e-6 * motion.depth, at.dForce_dDepth,
             at.dTorque_dDepth);
      for (int k = 0; k < 3; ++k) {
        differ([k](PointMotion& m, Real h) { m.relativeVelocity[k] += h; }, 1e-6,
               at.dForce_dVelocity.col[k], at.dTorque_dVelocity.col[k]);
        differ([k](PointMotion& m, Real h) { m.relativeSpin[k] += h; }, 1e-6, {},
               at.dTorque_dSpin.col[k]);
      }
    }
    EXPECT_GT(numCompared, 50) << static_cast<int>(kind);
  }
}

/// A rigid box on a layer that yields: its pressure is its depth times modulus over thickness.
struct BoxOnLayer {
  TwoShapes scene;
  static constexpr Real kGradient = 1e7 / 0.5;
  static constexpr Real kArea = 0.4 * 0.2;

  BoxOnLayer() {
    Material layer{.name = "layer", .friction = 0.3};
    layer.contact = ContactModel::Hydroelastic;
    layer.hydroelasticModulus = 1e7;
    layer.hydroelasticThickness = 0.5;
    layer.relaxationTime = 0.01;
    layer.dissipation = 2;
    scene.builder.addMaterial(layer);
    Material box{.name = "box", .friction = 0.3};
    box.relaxationTime = 0.01;
    scene.builder.addMaterial(box);
    scene.add("a", std::make_shared<Box>(Vec3{0.2, 0.1, 0.05}), "box");
    scene.add("b", std::make_shared<Plane>(), "layer", true);
  }
};

TEST(Foundation, CarriesItsPressureTimesItsArea) {
  const Model model = BoxOnLayer().scene.build();
  const ContactLaw law = makeContactLaw(model.data(), 0, 1);
  ASSERT_EQ(law.kind, Kind::Foundation);
  std::vector<collision::ContactPolygon> polygons;
  FoundationForce out;
  PairMotion motion{};
  motion.X_W1.translation = {3, 4, 0.05 - 1e-3};
  evaluateFoundation(model.data(), 0, 1, law, motion, &polygons, &out);
  EXPECT_NEAR(out.area, BoxOnLayer::kArea, 1e-15);
  EXPECT_NEAR(out.normalForce, BoxOnLayer::kGradient * 1e-3 * BoxOnLayer::kArea, 1e-9);
  EXPECT_NEAR(out.force.z, out.normalForce, 1e-9);
  EXPECT_NEAR(out.position.x, 3, 1e-12);
  EXPECT_NEAR(out.position.y, 4, 1e-12);
  EXPECT_NEAR(norm(out.torque), 0, 1e-9);
  EXPECT_NEAR(out.depth, 1e-3, 1e-12);
  EXPECT_EQ(out.normal.z, 1);

  motion.velocity1 = {0.7, 0, -0.1};
  evaluateFoundation(model.data(), 0, 1, law, motion, &polygons, &out);
  const Real pushed = BoxOnLayer::kGradient * (1e-3 + 0.02 * 0.1) * BoxOnLayer::kArea;
  EXPECT_NEAR(out.normalForce, pushed, 1e-8);
  EXPECT_NEAR(out.force.x, -0.3 * pushed, 1e-8);
  EXPECT_NEAR(out.rate, 0.1, 1e-15);
  // Pulled away faster than it relaxes: nothing, and never a pull.
  motion.velocity1 = {0, 0, 1};
  evaluateFoundation(model.data(), 0, 1, law, motion, &polygons, &out);
  EXPECT_EQ(out.force, Vec3{});
  EXPECT_GT(out.area, 0);
}

TEST(Foundation, DissipatesByHuntAndCrossleyWhereThatIsChosen) {
  BoxOnLayer box;
  box.scene.options.sap.contact = SapContactModel::HuntCrossley;
  const Model model = box.scene.build();
  const ContactLaw law = makeContactLaw(model.data(), 0, 1);
  std::vector<collision::ContactPolygon> polygons;
  FoundationForce out;
  PairMotion motion{};
  motion.X_W1.translation = {0, 0, 0.05 - 1e-3};
  motion.velocity1 = {0, 0, -0.25};
  evaluateFoundation(model.data(), 0, 1, law, motion, &polygons, &out);
  EXPECT_NEAR(out.normalForce,
              BoxOnLayer::kGradient * 1e-3 * BoxOnLayer::kArea * (1 + law.damping * 0.25), 1e-8);
}

TEST(Foundation, ActsOppositelyOnTheOtherBody) {
  const Model model = BoxOnLayer().scene.build();
  const ContactLaw law = makeContactLaw(model.data(), 0, 1);
  std::vector<collision::ContactPolygon> polygons;
  FoundationForce out, other;
  PairMotion motion{};
  motion.X_W1 = {rotationMatrix(math::quatFromAxisAngle({0, 0.01, 0}, 0.01)), {0.3, 0.1, 0.048}};
  motion.velocity1 = {0.3, 0.1, -0.01};
  motion.spin1 = {0.1, -0.2, 0.3};
  const PairMotion swapped{.X_W1 = motion.X_W2,
                           .X_W2 = motion.X_W1,
                           .velocity1 = motion.velocity2,
                           .velocity2 = motion.velocity1,
                           .spin1 = motion.spin2,
                           .spin2 = motion.spin1};
  evaluateFoundation(model.data(), 0, 1, law, motion, &polygons, &out);
  evaluateFoundation(model.data(), 1, 0, law, swapped, &polygons, &other);
  ASSERT_GT(out.normalForce, 0);
  const Vec3 moved = out.torque + cross(out.position, out.force);
  const Vec3 otherMoved = other.torque + cross(other.position, other.force);
  for (int k = 0; k < 3; ++k) {
    EXPECT_NEAR(out.force[k], -other.force[k], 1e-10 * out.normalForce);
    EXPECT_NEAR(moved[k], -otherMoved[k], 1e-10 * out.normalForce);
  }
}

TEST(Foundation, OfASphereFollowsItsOwnSum) {
  TwoShapes scene;
  Material rubber{.name = "rubber", .friction = 0};
  rubber.contact = ContactModel::Hydroelastic;
  rubber.hydroelasticModulus = 1e6;
  rubber.hydroelasticResolution = 0.01;
  scene.builder.addMaterial(rubber);
  scene.add("a", std::make_shared<Sphere>(0.1), "rubber");
  scene.add("b", std::make_shared<Plane>(), "", true);
  const Model model = scene.build();
  const ContactLaw law = makeContactLaw(model.data(), 0, 1);
  ASSERT_EQ(law.kind, Kind::Foundation);
  std::vector<collision::ContactPolygon> polygons;
  FoundationForce out;
  Real last = 0;
  for (const Real depth : {0.01, 0.015, 0.02, 0.03}) {
    PairMotion motion{};
    motion.X_W1.translation = {0, 0, 0.1 - depth};
    evaluateFoundation(model.data(), 0, 1, law, motion, &polygons, &out);
    // p = E (1 - r / R) over the disc at the height h: the ball itself, which the field's
    // tetrahedra fill from inside.
    const Real R = 0.1, h = R - depth;
    const Real smooth =
        2 * 3.14159265358979 * 1e6 * ((R * R - h * h) / 2 - (R * R * R - h * h * h) / (3 * R));
    EXPECT_LT(out.normalForce, smooth) << depth;
    EXPECT_GT(out.normalForce, 0.96 * smooth) << depth;
    EXPECT_GT(out.normalForce, last);
    last = out.normalForce;
    Real sum = 0, area = 0;
    for (const collision::ContactPolygon& polygon : polygons) {
      sum += polygon.area * polygon.pressure;
      area += polygon.area;
    }
    EXPECT_NEAR(out.normalForce, sum, 1e-12 * sum);
    EXPECT_NEAR(out.area, area, 1e-15);
  }
}

}  // namespace
}  // namespace tangere::integrator
