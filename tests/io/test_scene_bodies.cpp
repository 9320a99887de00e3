// SPDX-License-Identifier: Apache-2.0
//
// The bodies of a native scene: what it says about them, and what no body can be.
#include <tangere/state.hpp>

#include "io/scene_parts.hpp"

#include <memory>
#include <string>

namespace tangere {
namespace {

using test::bodyOf;
using test::bodyWith;
using test::errorOf;
using test::hashOf;
using test::kBall;
using test::materialWith;
using test::notesOf;
using test::read;
using test::simulationWith;
using Kind = ImportNote::Kind;

/// What the model keeps of a body is the hash: two ways to say the same give the same.
TEST(SceneToml, ASceneIsTheModelThatTheBuilderMakes) {
  ModelBuilder builder;
  SimulationOptions options;
  options.dt = 0.004;
  builder.setOptions(options);
  builder.addMaterial({.name = "wood", .density = 600, .friction = 0.4, .restitution = 0.1});
  builder.addMaterial({.name = "ice", .friction = 0.05});
  builder.addPair({.material1 = "wood", .material2 = "ice", .friction = 0.02});
  Body table{.name = "table", .type = BodyType::Fixed};
  table.shapes.push_back({.shape = std::make_shared<Box>(Vec3{0.5, 0.5, 0.02}),
                          .pose = {Mat3::identity(), {0.5, 0, -0.02}},
                          .material = "wood"});
  builder.addBody(table);
  Body belt{.name = "belt", .type = BodyType::Kinematic, .linearVelocity = {1, 0, 0}};
  belt.shapes.push_back({.shape = std::make_shared<Capsule>(0.1, 0.4), .group = 2, .mask = 5});
  builder.addBody(belt);
  Body puck{.name = "puck",
            .pose = {rotationMatrix(Quat{0.6, 0, 0, 0.8}), {0.1, 0.2, 0.3}},
            .linearVelocity = {1, 2, 3},
            .angularVelocity = {0, 0, 4},
            .massProperties =
                MassProperties{2, {0, 0, 0.01}, {{{3, 0.1, 0.2}, {0.1, 4, 0.3}, {0.2, 0.3, 5}}}},
            .linearDamping = 0.1,
            .angularDamping = 0.2,
            .gravityScale = 0.5};
  puck.shapes.push_back({.shape = std::make_shared<Cylinder>(0.05, 0.01), .material = "ice"});
  puck.shapes.push_back({.shape = std::make_shared<Cone>(0.05, 0.02), .material = "wood"});
  builder.addBody(puck);
  builder.excludePair("puck", "belt");

  EXPECT_EQ(builder.build().hash(), hashOf(R"(
[simulation]
dt = 0.004
[[body]]
name = "puck"
material = "ice"
position = [0.1, 0.2, 0.3]
quaternion = [0.6, 0, 0, 0.8]
velocity = [1, 2, 3]
angular_velocity = [0, 0, 4]
mass = 2
center_of_mass = [0, 0, 0.01]
inertia = [3, 4, 5, 0.1, 0.2, 0.3]
linear_damping = 0.1
angular_damping = 0.2
gravity_scale = 0.5
shapes = [{ cylinder = [0.05, 0.01] }, { cone = [0.05, 0.02], material = "wood" }]
[[body]]
name = "table"
fixed = true
shapes = [{ box = [0.5, 0.5, 0.02], position = [0.5, 0, -0.02], material = "wood" }]
[[body]]
name = "belt"
kinematic = true
velocity = [1, 0, 0]
shapes = [{ capsule = [0.1, 0.4], group = 2, mask = 0x5 }]
[material.ice]
friction = 0.05
[material.wood]
density = 600
friction = 0.4
restitution = 0.1
[[pair]]
materials = ["wood", "ice"]
friction = 0.02
[[exclude]]
bodies = ["belt", "puck"]
)"));
}

TEST(SceneToml, EveryShapeIsTheOneItSays) {
  const Scene scene =
      read(bodyOf("{ sphere = 2 }, { box = [1, 2, 3] }, { capsule = [1, 2] }, "
                  "{ cylinder = [1, 2] }, { cone = [1, 2] }, "
                  "{ ellipsoid = [1, 2, 3] }, { plane = true }, "
                  "{ convex = [[0,0,0],[1,0,0],[0,1,0],[0,0,1]] }, "
                  "{ height_field = { size = [2, 4], heights = "
                  "[[0, 1, 2], [3, 4, 5]] } }"));
  ASSERT_EQ(scene.model.numShapes(), 9);
  const ShapeType expected[] = {ShapeType::Sphere,   ShapeType::Box,    ShapeType::Capsule,
                                ShapeType::Cylinder, ShapeType::Cone,   ShapeType::Ellipsoid,
                                ShapeType::Plane,    ShapeType::Convex, ShapeType::HeightField};
  for (int i = 0; i < 9; ++i) EXPECT_EQ(scene.model.shape(i)->type(), expected[i]);
  EXPECT_EQ(static_cast<const Box&>(*scene.model.shape(1)).halfExtents(), (Vec3{1, 2, 3}));
  EXPECT_EQ(static_cast<const Capsule&>(*scene.model.shape(2)).halfLength(), 2);
  const auto& field = static_cast<const HeightField&>(*scene.model.shape(8));
  EXPECT_EQ(field.numX(), 3);
  EXPECT_EQ(field.numY(), 2);
  EXPECT_EQ(field.heights()[3], 3);
}

TEST(SceneToml, RotationsMayBeGivenInThreeWays) {
  for (const std::string rotation :
       {"quaternion = [0.70710678118654757, 0, 0, 0.70710678118654757]",
        "rpy = [0, 0, 1.5707963267948966]", "axis_angle = [0, 0, 2, 1.5707963267948966]"}) {
    const Scene scene = read(bodyOf("{ box = [1, 2, 3], " + rotation + " }"));
    const Mat3& R = scene.model.shapePose(0).rotation;
    EXPECT_NEAR(norm(R.col[0] - Vec3{0, 1, 0}), 0, 1e-15) << rotation;
    EXPECT_NEAR(norm(R.col[1] - Vec3{-1, 0, 0}), 0, 1e-15) << rotation;
  }
  // Roll first, then pitch, then yaw, about fixed axes.
  const Scene scene =
      read(bodyOf("{ box = [1, 2, 3], rpy = [1.5707963267948966, 0, 1.5707963267948966] }"));
  EXPECT_NEAR(norm(scene.model.shapePose(0).rotation.col[2] - Vec3{1, 0, 0}), 0, 1e-15);
}

TEST(SceneToml, MassAloneScalesTheInertiaOfTheShapes) {
  const Scene scene = read(bodyWith("mass = 3"));
  const MassProperties own = Box(Vec3{0.1, 0.2, 0.3}).massProperties(1000);
  EXPECT_EQ(scene.model.massProperties(0).mass, 3);
  EXPECT_NEAR(scene.model.massProperties(0).inertia(0, 0), own.inertia(0, 0) * 3 / own.mass, 1e-15);
}

TEST(SceneToml, CopiesStandOnAGridAndHaveTheirPlaceInTheirName) {
  const Scene scene =
      read(bodyWith("position = [1, 2, 3]\ncount = [2, 1, 3]\nspacing = [10, 0, 0.5]"));
  EXPECT_EQ(scene.model.numBodies(), 6);
  EXPECT_EQ(scene.model.numShapes(), 6);
  for (const char* name : {"b_0_0", "b_0_1", "b_0_2", "b_1_0", "b_1_1", "b_1_2"})
    EXPECT_GE(scene.model.findBody(name), 0) << name;
  const State start(scene.model);
  const auto last = static_cast<std::size_t>(scene.model.findBody("b_1_2"));
  EXPECT_EQ(start.center[last], (Vec3{11, 2, 4}));
}

TEST(SceneToml, TheOrderOfTheBodiesDoesNotMatter) {
  const std::string a = "[[body]]\nname = \"a\"\nshapes = [{ sphere = 1 }]\n";
  const std::string b = "[[body]]\nname = \"b\"\nposition = [3, 0, 0]\nshapes = [{ sphere = 2 }]\n";
  EXPECT_EQ(hashOf(a + b), hashOf(b + a));
}

TEST(SceneToml, AMassOfZeroOnAFixedBodyIsIgnoredAndSaid) {
  const Scene scene =
      read("[[body]]\nname = \"b\"\nfixed = true\nmass = 0\nshapes = [{ sphere = 1 }]\n");
  const auto ignored = notesOf(scene, Kind::Ignored);
  ASSERT_EQ(ignored.size(), 1u);
  EXPECT_HAS(ignored[0], "4: body 'b': mass");
}

TEST(SceneToml, TheReportSaysWhatWasRead) {
  const auto notes = notesOf(read(kBall + bodyOf("{ plane = true }")), Kind::Read);
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_HAS(notes[0], "2 bodies (1 dynamic, 1 fixed, 0 kinematic) with 2 shapes");
}

TEST(SceneToml, UnitsThatLookLikeMillimetresGiveOneWarning) {
  const auto warnings = [](const std::string& text) { return notesOf(read(text), Kind::Warning); };
  const auto gravity = warnings(simulationWith("gravity = [0, 0, -9810]"));
  ASSERT_EQ(gravity.size(), 1u);
  EXPECT_HAS(gravity[0], "2: found gravity of 9810 m/s^2: is the scene in millimetres");
  const auto both = warnings(
      "[simulation]\ngravity = [0, 0, -9810]\n[[body]]\nname = \"b\"\nmass = 1e-9\n"
      "shapes = [{ sphere = 600 }]\n");
  ASSERT_EQ(both.size(), 1u);
  EXPECT_HAS(both[0], "body 'b' of 1200 m, body 'b' of 1e-09 kg");
  EXPECT_TRUE(warnings(kBall + bodyOf("{ box = [1000, 1000, 1] }")).empty());
}

TEST(SceneToml, SizesThatMakeNoSolidAreRefusedForEveryShape) {
  for (const std::string size : {"0", "-1", "nan", "inf", "1e300", "1e-300"}) {
    for (const std::string& shape :
         {"sphere = " + size, "box = [1, 1, " + size + "]", "capsule = [" + size + ", 1]",
          "capsule = [1, " + size + "]", "cylinder = [1, " + size + "]", "cone = [" + size + ", 1]",
          "ellipsoid = [1, " + size + ", 1]",
          "height_field = { size = [1, " + size + "], heights = [[0, 0], [0, 0]] }"}) {
      EXPECT_HAS(errorOf(bodyOf("{ " + shape + " }")), "expected") << shape;
    }
  }
  EXPECT_HAS(errorOf(bodyOf("{ plane = false }")), "found false, expected true");
  EXPECT_HAS(errorOf(bodyOf("{ convex = [[0,0,0],[1,0,0],[0,1,0],[1,1,0]] }")), "4:22");
  EXPECT_HAS(errorOf(bodyOf("{ height_field = { size = [1, 1], heights = [[0, 0], [0]] } }")),
             "a row of 2 heights");
  EXPECT_HAS(errorOf(bodyOf("{ sphere = 1, box = [1, 1, 1] }")), "more than one shape");
  EXPECT_HAS(errorOf(bodyOf("{ }")), "found no shape, expected one of box, sphere");
}

TEST(SceneToml, MassesThatNoBodyHasAreRefused) {
  for (const std::string mass : {"0", "-1", "nan", "1e300"}) {
    EXPECT_HAS(errorOf(bodyWith("mass = " + mass)), "expected a mass above 0");
    EXPECT_HAS(errorOf(materialWith("density = " + mass)), "expected a density above 0");
  }
  EXPECT_HAS(errorOf("[[body]]\nname = \"b\"\n"),
             "1:1: body 'b': found no shapes, expected shapes or mass and inertia");
  EXPECT_HAS(errorOf("[[body]]\nname = \"b\"\nshapes = []\n"), "found no shapes");
  EXPECT_HAS(errorOf(bodyWith("inertia = [1, 1, 1]")), "expected mass and inertia together");
  EXPECT_HAS(errorOf(bodyWith("mass = 1\ncenter_of_mass = [0, 0, 0]")),
             "expected mass and inertia together");
  EXPECT_HAS(errorOf("[[body]]\nname = \"b\"\nshapes = [{ plane = true }]\n"),
             "found a plane on a body that moves freely");
}

TEST(SceneToml, InertiaThatNoSolidHasIsRefused) {
  EXPECT_HAS(errorOf(bodyWith("mass = 1\ninertia = [1, 1, 5]")), "triangle rule");
  EXPECT_HAS(errorOf(bodyWith("mass = 1\ninertia = [1, 1, -1]")), "positive definite");
  EXPECT_HAS(errorOf(bodyWith("mass = 1\ninertia = [1, 1, 1, 2, 0, 0]")), "positive definite");
  EXPECT_EQ(errorOf(bodyWith("mass = 1\ninertia = [1, 1, 2]")), "accepted");
}

TEST(SceneToml, MassesThatDifferGreatlyGiveAWarning) {
  const auto warnings = notesOf(read(bodyWith("mass = 1e12") + kBall.substr(0, 23) +
                                     "mass = 1\nshapes = [{ sphere = 0.1 }]\n"),
                                Kind::Warning);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_HAS(warnings[0], "1: body 'b' is 1e+12 times as heavy as body 'ball'");
}

TEST(SceneToml, AQuaternionIsNormalisedWithAWarningUnlessItIsNearlyUnitOrZero) {
  const auto warnings = [](const std::string& q) {
    return notesOf(read(bodyWith("quaternion = " + q)), Kind::Warning);
  };
  EXPECT_HAS(errorOf(bodyWith("quaternion = [0, 0, 0, 0]")),
             "3:14: body 'b': quaternion: found [0, 0, 0, 0], expected a quaternion");
  EXPECT_TRUE(warnings("[1.0000005, 0, 0, 0]").empty());
  ASSERT_EQ(warnings("[2, 0, 0, 0]").size(), 1u);
  EXPECT_HAS(warnings("[2, 0, 0, 0]")[0], "3: body 'b': quaternion of length 2 was normalised");
  EXPECT_EQ(hashOf(bodyWith("quaternion = [2, 0, 0, 0]")), hashOf(bodyWith("")));
  EXPECT_EQ(warnings("[1e-5, 0, 0, 0]").size(), 1u);
  EXPECT_HAS(errorOf(bodyWith("axis_angle = [0, 0, 0, 1]")), "expected an axis");
  EXPECT_HAS(errorOf(bodyWith("rpy = [0, 0, 0]\nquaternion = [1, 0, 0, 0]")),
             "found two rotations");
}

TEST(SceneToml, ABodyIsFixedOrKinematicOrNeither) {
  EXPECT_HAS(errorOf(bodyWith("fixed = true\nkinematic = true")), "found both fixed and kinematic");
  EXPECT_HAS(errorOf(bodyWith("fixed = 1")), "found 1, expected true or false");
  EXPECT_HAS(errorOf(bodyWith("fixed = true\nvelocity = [1, 0, 0]")),
             "4:12: body 'b': found a velocity on a fixed body");
}

}  // namespace
}  // namespace tangere
