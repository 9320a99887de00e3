// SPDX-License-Identifier: Apache-2.0
//
// What MJCF becomes, with numbers that can be checked by hand, and what the report says about it.
// test_mjcf_reference.cpp compares whole files with MuJoCo.
#include <tangere/scene.hpp>

#include "io/scene_text.hpp"
#include "model/model_data.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace tangere {
namespace {

using test::contains;
using test::notesOf;
using test::SceneFolder;

constexpr Real kPi = 3.14159265358979323846;

Scene read(const std::string& content, const std::filesystem::path& folder = {}) {
  return readSceneXml("<mujoco>" + content + "</mujoco>", folder, "m.xml");
}

/// A body with one ball of 1 kg that moves, so that a file is a scene.
const char* const kBall =
    "<body name='ball'><freejoint/><geom name='g' size='0.1' mass='1'/></body>";

std::string world(const std::string& content) { return "<worldbody>" + content + "</worldbody>"; }

Joint jointOf(const Scene& scene, const std::string& name) {
  const int index = scene.model.findJoint(name);
  EXPECT_GE(index, 0) << name;
  return scene.model.joint(std::max(index, 0));
}

const model::ModelShape& shapeOf(const Scene& scene, const std::string& name) {
  const auto& shapes = scene.model.data().shapes;
  for (const model::ModelShape& shape : shapes) {
    if (shape.name == name) return shape;
  }
  ADD_FAILURE() << "no shape " << name;
  return shapes.front();
}

bool hasNote(const Scene& scene, ImportNote::Kind kind, const std::string& part) {
  const auto notes = notesOf(scene, kind);
  return std::any_of(notes.begin(), notes.end(),
                     [&](const std::string& note) { return contains(note, part); });
}

TEST(Mjcf, RunsUnderTheSapSolverWithItsOwnOptions) {
  const Scene scene = read("<option timestep='0.004' gravity='0 0 -1.62'/>" + world(kBall));
  EXPECT_EQ(scene.model.options().solver, SolverType::Sap);
  EXPECT_EQ(scene.model.options().dt, 0.004);
  EXPECT_EQ(scene.model.options().gravity, (Vec3{0, 0, -1.62}));
  EXPECT_EQ(scene.name, "m");
}

TEST(Mjcf, HasMuJoCosDefaultsWithoutOptions) {
  const Scene scene = read(world(kBall));
  EXPECT_EQ(scene.model.options().dt, 0.002);
  EXPECT_EQ(scene.model.options().gravity, (Vec3{0, 0, -9.81}));
}

TEST(Mjcf, AnglesAreDegreesUnlessTheCompilerSaysRadians) {
  const std::string body =
      world("<body name='b'><joint name='j' range='-90 45' ref='180'/><geom size='0.1'/></body>");
  const Joint& degrees = jointOf(read(body), "j");
  EXPECT_NEAR(degrees.lower, -kPi / 2, 1e-15);
  EXPECT_NEAR(degrees.upper, kPi / 4, 1e-15);
  EXPECT_NEAR(degrees.reference, kPi, 1e-15);
  const Joint& radians = jointOf(read("<compiler angle='radian'/>" + body), "j");
  EXPECT_EQ(radians.upper, 45);
  EXPECT_EQ(radians.reference, 180);
}

TEST(Mjcf, SlideJointsAreInMetresWhateverTheAngle) {
  const Scene scene =
      read(world("<body name='b'><joint name='j' type='slide' range='-1 2' ref='0.5' axis='3 0 0'/>"
                 "<geom size='0.1'/></body>"));
  const Joint& joint = jointOf(scene, "j");
  EXPECT_EQ(joint.type, JointType::Prismatic);
  EXPECT_EQ(joint.upper, 2);
  EXPECT_EQ(joint.axis, (Vec3{1, 0, 0}));
  EXPECT_EQ(joint.reference, 0.5);
}

TEST(Mjcf, LimitsFollowTheRangeUnlessToldOtherwise) {
  const auto upper = [](const std::string& joint, const std::string& compiler = "") {
    const Scene scene = read(compiler + world("<body><joint name='j' type='slide' " + joint +
                                              "/><geom size='0.1'/></body>"));
    return jointOf(scene, "j").upper;
  };
  EXPECT_EQ(upper("range='0 1'"), 1);
  EXPECT_EQ(upper("range='0 1' limited='false'"), kUnlimited);
  EXPECT_EQ(upper(""), kUnlimited);
  EXPECT_EQ(upper("range='0 1' limited='true'", "<compiler autolimits='false'/>"), 1);
}

TEST(Mjcf, NamesWhatHasNoNameAlwaysTheSame) {
  const Scene scene =
      read(world("<body><joint/><geom size='0.1'/><body name='body1'><joint name='joint0'/><geom "
                 "size='0.1'/><body><joint/><geom size='0.1'/></body></body></body>"));
  EXPECT_GE(scene.model.findBody("body0"), 0);
  EXPECT_GE(scene.model.findBody("body1"), 0);
  EXPECT_GE(scene.model.findBody("body2"), 0);  // body1 is taken further on
  EXPECT_EQ(scene.model.joint(0).name, "joint1");
  EXPECT_EQ(scene.model.joint(1).name, "joint0");
}

TEST(Mjcf, BodiesWithoutJointsAreWeldedOrStand) {
  const Scene scene = read(world(
      "<geom name='floor' type='plane' size='1 1 1'/>"
      "<body name='table' pos='0 0 1'><geom size='0.1'/><body name='vase' pos='0 0 0.5'><geom "
      "size='0.1'/><body name='lid' pos='0 0 0.1'><joint/><geom size='0.1'/><body "
      "name='knob'><geom "
      "size='0.1'/></body></body></body></body>"));
  const Model& model = scene.model;
  EXPECT_EQ(model.bodyType(model.findBody("world")), BodyType::Fixed);
  EXPECT_EQ(model.bodyType(model.findBody("table")), BodyType::Fixed);
  EXPECT_EQ(model.bodyType(model.findBody("vase")), BodyType::Fixed);
  EXPECT_EQ(model.bodyType(model.findBody("lid")), BodyType::Dynamic);
  EXPECT_EQ(model.parentOf(model.findBody("knob")), model.findBody("lid"));
  EXPECT_NEAR(model.data().bodies[model.findBody("lid")].startPose.translation.z, 1.6, 1e-15);
  EXPECT_EQ(model.numVelocities(), 1);
}

TEST(Mjcf, AMocapBodyIsKinematic) {
  const Scene scene = read(world(
      "<body name='hand' mocap='true' pos='1 2 3'><geom size='0.1'/></body>" + std::string(kBall)));
  EXPECT_EQ(scene.model.bodyType(scene.model.findBody("hand")), BodyType::Kinematic);
}

TEST(Mjcf, MassAndInertiaOfAHandCheckedBox) {
  // 0.2 x 0.4 x 0.6 m at 1000 kg/m^3: 48 kg; Ixx = 48/12 (0.4^2 + 0.6^2) = 2.08
  const Scene scene = read(
      world("<body name='b'><freejoint/><geom type='box' size='0.1 0.2 0.3' pos='1 0 0'/></body>"));
  const MassProperties& mass = scene.model.massProperties(scene.model.findBody("b"));
  EXPECT_NEAR(mass.mass, 48, 1e-12);
  EXPECT_NEAR(mass.center.x, 1, 1e-15);
  EXPECT_NEAR(mass.inertia(0, 0), 2.08, 1e-13);
  EXPECT_NEAR(mass.inertia(2, 2), 48.0 / 12 * (0.04 + 0.16), 1e-13);
}

TEST(Mjcf, VisualGeomsCountForMassAlone) {
  const Scene scene = read(
      world("<body name='b'><freejoint/><geom size='0.1' mass='2' contype='0' conaffinity='0'/>"
            "<geom name='c' size='0.1' mass='3' group='3'/></body>"));
  EXPECT_EQ(scene.model.numShapes(), 1);
  EXPECT_NEAR(scene.model.massProperties(0).mass, 5, 1e-14);
}

TEST(Mjcf, GeomBitsBecomeGroupsOfWhichOneSideIsEnough) {
  const Scene scene = read(world(
      "<body name='b'><freejoint/><geom name='g' size='0.1' contype='5' conaffinity='2'/></body>"));
  const model::ModelShape& shape = shapeOf(scene, "g");
  EXPECT_EQ(shape.group, 5u);
  EXPECT_EQ(shape.mask, 2u);
  EXPECT_TRUE(shape.isOneSideEnough);
}

/// Friction between two geoms as the model has it.
Real frictionOf(const std::string& first, const std::string& second) {
  const Scene scene =
      read(world("<geom name='a' type='plane' size='1 1 1' " + first +
                 "/><body><freejoint/><geom name='b' size='0.1' " + second + "/></body>"));
  const model::ModelData& data = scene.model.data();
  return data.contactMaterial(shapeOf(scene, "a").material, shapeOf(scene, "b").material).friction;
}

TEST(Mjcf, FrictionOfTwoGeomsIsTheLarger) {
  EXPECT_EQ(frictionOf("friction='0.3'", "friction='0.7'"), 0.7);
  EXPECT_EQ(frictionOf("friction='0.9'", "friction='0.7'"), 0.9);
  EXPECT_EQ(frictionOf("", ""), 1);
}

TEST(Mjcf, FrictionFollowsPriorityAndContactDimension) {
  EXPECT_EQ(frictionOf("friction='0.3' priority='1'", "friction='0.7'"), 0.3);
  EXPECT_EQ(frictionOf("condim='1'", "condim='1'"), 0);
  EXPECT_EQ(frictionOf("condim='1'", "friction='0.7'"), 1);  // the larger dimension counts: 3
  EXPECT_EQ(frictionOf("condim='1' priority='2'", "friction='0.7'"), 0);
}

TEST(Mjcf, ContactPairsCollideWhateverTheBits) {
  const Scene scene = read(world("<geom name='floor' type='plane' size='1 1 1' contype='0' "
                                 "conaffinity='0'/><body name='b'><freejoint/><geom name='g' "
                                 "size='0.1' contype='0' conaffinity='0'/></body>") +
                           "<contact><pair geom1='floor' geom2='g' friction='0.4'/></contact>");
  ASSERT_EQ(scene.model.data().shapePairs.size(), 1u);
  EXPECT_EQ(scene.model.data().shapePairs[0].friction, 0.4);
  EXPECT_EQ(scene.model.numShapes(), 2);
}

TEST(Mjcf, FlagsSwitchThingsOff) {
  const std::string body = world(
      "<body name='b'><joint name='j' type='slide' range='0 1' damping='1' stiffness='2' "
      "frictionloss='3'/><geom size='0.1'/></body>");
  const Joint& on = jointOf(read(body), "j");
  EXPECT_EQ(on.damping, 1);
  const Scene off = read(
      "<option><flag gravity='disable' limit='disable' damper='disable' "
      "spring='disable' frictionloss='disable' contact='disable'/></option>" +
      body);
  EXPECT_EQ(off.model.options().gravity, (Vec3{0, 0, 0}));
  EXPECT_EQ(off.model.numShapes(), 0);
  const Joint& joint = jointOf(off, "j");
  EXPECT_EQ(joint.upper, kUnlimited);
  EXPECT_EQ(joint.damping + joint.stiffness + joint.frictionLoss, 0);
}

TEST(Mjcf, HeightFieldsBeginWithTheFarthestRow) {
  const Scene scene = read(
      "<asset><hfield name='h' nrow='2' ncol='3' size='3 2 1.5 0.1' elevation='1 1 1  1 1 "
      "5'/></asset>" +
      world("<geom name='t' type='hfield' hfield='h'/>" + std::string(kBall)));
  const auto& field = static_cast<const HeightField&>(*shapeOf(scene, "t").shape);
  EXPECT_EQ(field.numX(), 3);
  EXPECT_EQ(field.numY(), 2);
  EXPECT_EQ(field.sizeX(), 6);
  EXPECT_EQ(field.heights()[2], 1.5);  // the last number of the last row: nearest, scaled to 1.5
  EXPECT_EQ(field.heights()[5], 0);
}

TEST(Mjcf, SensorsAreReadOrReported) {
  const Scene scene =
      read(world("<body name='b'><joint name='j'/><geom size='0.1'/><site name='s'/></body>") +
           "<sensor><jointpos joint='j'/><gyro name='spin' site='s' cutoff='5'/><framepos "
           "objtype='xbody' "
           "objname='b'/><rangefinder site='s'/><clock/></sensor>");
  ASSERT_EQ(scene.model.numSensors(), 4);
  EXPECT_EQ(scene.model.sensor(1).name, "spin");
  EXPECT_EQ(scene.model.sensor(1).cutoff, 5);
  EXPECT_EQ(scene.model.sensor(2).objectFrame, Sensor::Frame::Body);
  EXPECT_EQ(scene.model.numSensorValues(), 1 + 3 + 3 + 1);
  EXPECT_TRUE(hasNote(scene, ImportNote::Kind::Ignored, "rangefinder"));
}

TEST(Mjcf, ReportsEveryAttributeThatItDoesNotUse) {
  const Scene scene = readSceneXml(
      "<mujoco>\n<option integrator='RK4' impratio='10'/>\n<visual><map znear='1'/></visual>\n"
      "<worldbody>\n<light pos='0 0 3'/>\n<body><freejoint/>\n<geom size='0.1' rgba='1 0 0 1' "
      "solref='0.01 1' margin='0.01'/></body></worldbody>\n</mujoco>",
      {}, "m.xml");
  const auto ignored = notesOf(scene, ImportNote::Kind::Ignored);
  ASSERT_EQ(ignored.size(), 5u);
  EXPECT_HAS(ignored[0], "2: option: integrator: ");
  EXPECT_HAS(ignored[1], "2: option: impratio: ");
  EXPECT_HAS(ignored[2], "3: visual: it has no effect on the motion");
  EXPECT_HAS(ignored[3], "5: light: ");
  EXPECT_HAS(ignored[4], "7: geom: rgba: it has no effect on the motion");
  const auto changed = notesOf(scene, ImportNote::Kind::Changed);
  ASSERT_EQ(changed.size(), 2u);
  EXPECT_HAS(changed[0], "7: geom: solref: ");
  EXPECT_HAS(changed[1], "7: geom: margin: ");
  EXPECT_TRUE(hasNote(scene, ImportNote::Kind::Read, "1 bodies with 6 degrees of freedom"));
}

class MjcfFiles : public SceneFolder {};

TEST_F(MjcfFiles, IncludesTakeTheirPlaceAndReportTheirOwnLines) {
  write("parts/leg.xml",
        "<mujocoinclude>\n<body name='leg'><freejoint/><geom size='0.1' rgba='1 1 1 1'/></body>\n"
        "</mujocoinclude>");
  write("common.xml",
        "<mujoco><compiler angle='radian'/><default><geom density='1'/></default></mujoco>");
  const Scene scene = loadScene(write("main.xml",
                                      "<mujoco><include file='common.xml'/><worldbody><include "
                                      "file='parts/leg.xml'/></worldbody></mujoco>"));
  EXPECT_EQ(scene.model.numBodies(), 1);
  EXPECT_NEAR(scene.model.massProperties(0).mass, 4.0 / 3 * kPi * 0.001, 1e-15);
  bool isFound = false;
  for (const ImportNote& note : scene.report.notes) {
    if (!contains(note.message, "rgba")) continue;
    isFound = true;
    EXPECT_HAS(note.file, "parts/leg.xml");
    EXPECT_EQ(note.line, 2);
  }
  EXPECT_TRUE(isFound);
}

const char* const kTetrahedron =
    "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";

TEST_F(MjcfFiles, MeshesCollideAsHullsAndSaySo) {
  write("assets/t.obj", kTetrahedron);
  const Scene scene = loadScene(
      write("m.xml",
            "<mujoco><compiler meshdir='assets'/><asset><mesh file='t.obj' scale='2 1 1'/></asset>"
            "<worldbody><body name='b'><freejoint/><geom name='g' type='mesh' mesh='t'/></body>"
            "</worldbody></mujoco>"));
  EXPECT_EQ(shapeOf(scene, "g").shape->type(), ShapeType::Convex);
  EXPECT_NEAR(scene.model.massProperties(0).mass, 1000.0 * 2 / 6, 1e-10);
  EXPECT_TRUE(hasNote(scene, ImportNote::Kind::Changed, "hulled"));
}

TEST_F(MjcfFiles, AMeshThatIsOnlyLookedAtIsNotOpened) {
  const Scene scene = loadScene(
      write("m.xml",
            "<mujoco><asset><mesh name='v' file='missing.obj'/></asset><worldbody><body "
            "name='b'><freejoint/><inertial pos='0 0 0' mass='1' diaginertia='1 1 1'/><geom "
            "type='mesh' mesh='v' contype='0' conaffinity='0'/></body></worldbody></mujoco>"));
  EXPECT_EQ(scene.model.numShapes(), 0);
  EXPECT_TRUE(hasNote(scene, ImportNote::Kind::Ignored, "its file was not opened"));
}

TEST_F(MjcfFiles, AssetRootsOpenOtherFolders) {
  write("shared/t.obj", kTetrahedron);
  const auto model =
      write("robots/m.xml",
            "<mujoco><compiler meshdir='../shared'/><asset><mesh file='t.obj'/></asset>"
            "<worldbody><body name='b'><freejoint/><geom type='mesh' mesh='t'/></body>"
            "</worldbody></mujoco>");
  EXPECT_THROW((void)loadScene(model), SceneError);
  SceneLimits limits;
  limits.assetRoots.push_back(folder() / "shared");
  EXPECT_EQ(loadScene(model, limits).model.numShapes(), 1);
}

}  // namespace
}  // namespace tangere
