// SPDX-License-Identifier: Apache-2.0
//
// Convex solids of triangles stand under the event solver as the same solids made of boxes do.
#include <tangere/integrator.hpp>
#include <tangere/simulator.hpp>

#include "mesh_reference/generated_shapes.hpp"
#include "sim/event_samples.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

namespace tangere::test {
namespace {

using ShapePtr = std::shared_ptr<const Shape>;

constexpr Vec3 kPlank{0.6, 0.2, 0.05}, kSlab{2, 2, 0.2};
constexpr Real kMass = 500 * 8 * 0.6 * 0.2 * 0.05;  // 24 kg

ShapePtr meshOf(const reference::SurfaceParts& s) {
  return std::make_shared<Mesh>(s.vertices, s.triangles);
}

struct Rest {
  Transform pose;
  Real speed = 0;
  std::vector<ContactResult> contacts;
};

/// Let down flat from 1 mm, off the middle and turned about the vertical; after 0.3 s.
Rest letDown(const ShapePtr& shape, const ShapePtr& ground, Real top) {
  ModelBuilder builder = eventBuilder({.name = "m", .density = 500, .friction = 0.6});
  Body fixed = makeBody("ground", ground, {0, 0, -top});
  fixed.type = BodyType::Fixed;
  builder.addBody(fixed);
  Body body = makeBody("body", shape, {0.3, -0.2, 0.05 + 0.001});
  const Real c = 0.8, s = 0.6;
  body.pose.rotation = Mat3{{Vec3{c, s, 0}, Vec3{-s, c, 0}, Vec3{0, 0, 1}}};
  builder.addBody(body);
  Simulator simulator(builder.build());
  for (int i = 0; i < 30; ++i) EXPECT_EQ(simulator.step().status, StepStatus::Ok);
  return {simulator.body("body").pose, norm(simulator.body("body").linearVelocity),
          simulator.contactResults()};
}

const ContactResult& nearestOf(const std::vector<ContactResult>& contacts, const Vec3& position) {
  return *std::min_element(contacts.begin(), contacts.end(), [&](const auto& a, const auto& b) {
    return norm(a.position - position) < norm(b.position - position);
  });
}

TEST(EventMeshes, APlankOfTrianglesRestsAsItsTwinOfBoxes) {
  const ShapePtr plank = meshOf(reference::boxSurface(kPlank));
  const Rest twin = letDown(std::make_shared<Box>(kPlank), std::make_shared<Box>(kSlab), 0.2);
  ASSERT_FALSE(twin.contacts.empty());
  const struct {
    const char* name;
    ShapePtr shape, ground;
    Real top;
  } samples[] = {
      {"plank on box", plank, std::make_shared<Box>(kSlab), 0.2},
      {"plank on slab", plank, meshOf(reference::boxSurface(kSlab)), 0.2},
      {"box on slab", std::make_shared<Box>(kPlank), meshOf(reference::boxSurface(kSlab)), 0.2},
      {"plank on terrain", plank,
       std::make_shared<HeightField>(8, 8, 4, 4, std::vector<Real>(64, 0)), 0},
      {"box on terrain", std::make_shared<Box>(kPlank),
       std::make_shared<HeightField>(8, 8, 4, 4, std::vector<Real>(64, 0)), 0},
  };
  for (const auto& sample : samples) {
    SCOPED_TRACE(sample.name);
    const Rest rest = letDown(sample.shape, sample.ground, sample.top);
    EXPECT_LT(norm(rest.pose.translation - twin.pose.translation), 1e-9);
    EXPECT_GT(rest.pose.rotation.col[2].z, 1 - 1e-15);
    EXPECT_LT(rest.speed, 1e-6);
    Real sum = 0;
    for (const ContactResult& contact : rest.contacts) sum += contact.normalForce;
    EXPECT_NEAR(sum / (kMass * 9.81), 1, 1e-6);
    ASSERT_EQ(rest.contacts.size(), twin.contacts.size());
    // Corners come in another order.
    for (const ContactResult& contact : rest.contacts) {
      const ContactResult& same = nearestOf(twin.contacts, contact.position);
      EXPECT_LT(norm(contact.position - same.position), 1e-9);
      EXPECT_NEAR(contact.normalForce / same.normalForce, 1, 1e-6);
    }
  }
}

TEST(EventMeshes, APlankThatHangsOverAnEdgeTipsAsItsTwinOfBoxes) {
  const auto tip = [](const ShapePtr& shape, const ShapePtr& ground) {
    ModelBuilder builder = eventBuilder({.name = "m", .density = 500, .friction = 0.6});
    Body fixed = makeBody("ground", ground, {0, 0, -0.2});
    fixed.type = BodyType::Fixed;
    builder.addBody(fixed);
    builder.addBody(makeBody("body", shape, {2.1, 0.1, 0.05}));
    Simulator simulator(builder.build());
    for (int i = 0; i < 30; ++i) EXPECT_EQ(simulator.step().status, StepStatus::Ok);
    return simulator.body("body").pose;
  };
  const Transform twin = tip(std::make_shared<Box>(kPlank), std::make_shared<Box>(kSlab));
  EXPECT_LT(twin.rotation.col[2].z, 1 - 1e-3);  // it is on its way down
  const Transform mesh = tip(meshOf(reference::boxSurface(kPlank)), std::make_shared<Box>(kSlab));
  EXPECT_LT(norm(mesh.translation - twin.translation), 1e-6);
  const Transform both =
      tip(meshOf(reference::boxSurface(kPlank)), meshOf(reference::boxSurface(kSlab)));
  EXPECT_LT(norm(both.translation - twin.translation), 1e-6);
}

}  // namespace
}  // namespace tangere::test
