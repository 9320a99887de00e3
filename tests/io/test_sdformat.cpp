// SPDX-License-Identifier: Apache-2.0
//
// SDFormat files: what becomes of each element, what is reported, and what is refused where.
#include "io/robot_text.hpp"
#include "model/model_data.hpp"

#include <chrono>
#include <cmath>

namespace tangere {
namespace {

using test::allNotesOf;
using test::centerOf;
using test::jointOf;
using test::parentNameOf;
using test::robotErrorOf;
using test::robotErrorsOf;
using test::rotationOf;
using Kind = ImportNote::Kind;

std::string sdf(const std::string& content, const std::string& version = "1.9") {
  return "<sdf version='" + version + "'>\n" + content + "</sdf>\n";
}
std::string model(const std::string& content, const std::string& version = "1.9") {
  return sdf("<model name='m'>\n" + content + "</model>\n", version);
}
std::string world(const std::string& content) {
  return sdf("<world name='w'>\n" + content + "</world>\n");
}
std::string link(const std::string& name, const std::string& more = "") {
  return "<link name='" + name + "'>" + more + "</link>\n";
}
std::string joint(const std::string& type, const std::string& more = "",
                  const std::string& parent = "a", const std::string& child = "b") {
  return "<joint name='j_" + child + "' type='" + type + "'><parent>" + parent +
         "</parent><child>" + child + "</child>" + more + "</joint>\n";
}
std::string axis(const std::string& xyz, const std::string& more = "") {
  return "<axis><xyz>" + xyz + "</xyz>" + more + "</axis>";
}
/// Link a, fixed to the world, and link b one metre above it.
std::string pair(const std::string& type, const std::string& more = "",
                 const std::string& version = "1.9") {
  return model(link("a") + link("b", "<pose>0 0 1 0 0 0</pose>") +
                   joint("fixed", "", "world", "a") + joint(type, more),
               version);
}
Scene read(const std::string& text, const std::filesystem::path& folder = {},
           const SceneLimits& limits = {}) {
  return readSceneXml(text, folder, "r.xml", limits);
}

// ---- Links and frames

TEST(Sdformat, ALinkIsABodyWithItsMassAndPose) {
  const Scene scene = read(model(
      link("b",
           "<pose>1 2 3 0 0 1.5707963267948966</pose><inertial><pose>0.5 0 0 0 0 "
           "1.5707963267948966</pose><mass>2</mass><inertia><ixx>1</ixx><iyy>2</iyy><izz>2.5</izz>"
           "</inertia></inertial>")));
  ASSERT_EQ(scene.model.numBodies(), 1);
  EXPECT_EQ(scene.model.bodyName(0), "b");
  EXPECT_EQ(scene.model.numVelocities(), 6);
  EXPECT_EQ(scene.model.massProperties(0).mass, 2);
  EXPECT_NEAR(scene.model.massProperties(0).inertia(0, 0), 2, 1e-15);
  EXPECT_VEC_NEAR(centerOf(scene.model, "b"), (Vec3{1, 2.5, 3}), 1e-15);
}

TEST(Sdformat, ALinkWithoutInertialHasTheFormatsOne) {
  const Scene scene = read(model(link("b")));
  EXPECT_EQ(scene.model.massProperties(0).mass, 1);
  EXPECT_EQ(scene.model.massProperties(0).inertia, Mat3::identity());
  EXPECT_HAS(allNotesOf(scene, Kind::Changed), "3: 1 link without <inertial>");
}

TEST(Sdformat, AutomaticInertiaComesFromShapesAndDensities) {
  const Scene scene = read(model(link(
      "b",
      "<inertial auto='true'><density>500</density></inertial>"
      "<collision name='c'><geometry><box><size>1 1 2</size></box></geometry></collision>"
      "<collision name='d'><pose>0 0 2 0 0 0</pose><density>1000</density><geometry><box><size>1 1 "
      "2</size></box></geometry></collision>")));
  EXPECT_NEAR(scene.model.massProperties(0).mass, 3000, 1e-9);          // 2 * 500 + 2 * 1000
  EXPECT_NEAR(scene.model.massProperties(0).center.z, 4.0 / 3, 1e-12);  // 2 * 2000 / 3000
}

TEST(Sdformat, PosesMayBeRelativeToAnyFrameInAnyOrder) {
  const Scene scene =
      read(model(link("c", "<pose relative_to='f'>0 0 1 0 0 0</pose>") +
                 "<frame name='f' attached_to='b'><pose>0 1 0 0 0 0</pose></frame>" +
                 "<frame name='g'><pose relative_to='j_b'>0 0 0 0 0 0</pose></frame>" +
                 link("d", "<pose relative_to='g'/>") +
                 link("b", "<pose relative_to='__model__' degrees='true'>1 0 0 0 0 90</pose>") +
                 joint("continuous", "<pose>5 0 0 0 0 0</pose>" + axis("0 0 1"), "c", "b") +
                 "<pose>0 0 10 0 0 0</pose>"));
  EXPECT_VEC_NEAR(centerOf(scene.model, "b"), (Vec3{1, 0, 10}), 1e-15);
  EXPECT_VEC_NEAR(centerOf(scene.model, "c"), (Vec3{0, 0, 11}), 1e-15);  // y of b is -x
  EXPECT_VEC_NEAR(centerOf(scene.model, "d"), (Vec3{1, 5, 10}), 1e-14);  // x of b is y
}

TEST(Sdformat, PosesMayBeQuaternions) {
  const Scene scene =
      read(model(link("b",
                      "<pose rotation_format='quat_xyzw'>0 0 0 0 0 0.7071067811865476 "
                      "0.7071067811865476</pose>")));
  EXPECT_VEC_NEAR(rotationOf(scene.model, "b").col[0], (Vec3{0, 1, 0}), 1e-15);
  EXPECT_HAS(robotErrorOf(model(link("b",
                                     "<pose rotation_format='quat_xyzw'>0 0 0 0 0 0 "
                                     "0</pose>"))),
             "found a quaternion of length 0");
}

TEST(Sdformat, AStaticModelStands) {
  const Scene scene = read(
      world("<model name='ground'><static>true</static>" +
            link("l",
                 "<collision name='c'><geometry><plane><normal>0 1 0</normal><size>9 9</size>"
                 "</plane></geometry></collision>") +
            "</model>\n<model name='ball'><pose>0 0 5 0 0 0</pose>" + link("l") + "</model>\n"));
  EXPECT_EQ(scene.model.bodyType(scene.model.findBody("ground::l")), BodyType::Fixed);
  EXPECT_EQ(scene.model.bodyType(scene.model.findBody("ball::l")), BodyType::Dynamic);
  EXPECT_VEC_NEAR(scene.model.shapePose(0).rotation.col[2], (Vec3{0, 1, 0}), 1e-15);
  EXPECT_HAS(allNotesOf(scene, Kind::Ignored), "<size>: a plane has no end");
}

TEST(Sdformat, AWorldSetsStepAndGravity) {
  const Scene scene =
      read(world("<physics type='ode'><max_step_size>0.004</max_step_size>"
                 "<real_time_factor>1</real_time_factor></physics>"
                 "<gravity>0 0 -3.7</gravity><model name='m'>" +
                 link("l") + "</model>\n"));
  EXPECT_EQ(scene.model.options().dt, 0.004);
  EXPECT_EQ(scene.model.options().gravity, (Vec3{0, 0, -3.7}));
  EXPECT_HAS(allNotesOf(scene, Kind::Ignored), "physics: <real_time_factor>");
  EXPECT_EQ(read(world("<model name='m'>" + link("l") + "</model>")).model.options().gravity,
            (Vec3{0, 0, -9.8}));  // the format's own
}

TEST(Sdformat, NestedModelsHaveScopedNames) {
  const Scene scene =
      read(model(link("base") + "<model name='arm'><pose>0 0 1 0 0 0</pose>" +
                 link("hand", "<pose>1 0 0 0 0 0</pose>") + "</model>\n" +
                 joint("fixed", "", "world", "base") +
                 "<joint name='j' type='revolute'><parent>base</parent><child>arm::hand</child>" +
                 axis("0 0 1") + "</joint>"));
  EXPECT_EQ(parentNameOf(scene.model, "arm::hand"), "base");
  EXPECT_VEC_NEAR(centerOf(scene.model, "arm::hand"), (Vec3{1, 0, 1}), 1e-15);
}

TEST(Sdformat, AModelMayBePlacedByAFrameInIt) {
  const Scene scene =
      read(sdf("<model name='m' placement_frame='tip'><pose>0 0 5 0 0 0</pose>" + link("base") +
               "<frame name='tip'><pose>0 0 2 0 0 0</pose></frame></model>\n"));
  EXPECT_VEC_NEAR(centerOf(scene.model, "base"), (Vec3{0, 0, 3}), 1e-15);
}

// ---- Joints

TEST(Sdformat, AnAxisIsInTheFrameOfTheJointOrInTheOneItNames) {
  const std::string turned = "<pose>0 0 -0.5 0 1.5707963267948966 0</pose>";
  const Scene scene = read(pair("revolute", turned + axis("0 0 1")));
  EXPECT_VEC_NEAR(jointOf(scene.model, "j_b").axis, (Vec3{1, 0, 0}), 1e-15);
  EXPECT_VEC_NEAR(jointOf(scene.model, "j_b").position, (Vec3{0, 0, -0.5}), 1e-15);
  const Scene named =
      read(pair("revolute", turned + "<axis><xyz expressed_in='__model__'>0 0 1</xyz></axis>"));
  EXPECT_VEC_NEAR(jointOf(named.model, "j_b").axis, (Vec3{0, 0, 1}), 1e-15);
  // 1.4 had all axes in the frame of the model, 1.5 and 1.6 by a flag.
  EXPECT_VEC_NEAR(jointOf(read(pair("revolute", turned + axis("0 0 1"), "1.4")).model, "j_b").axis,
                  (Vec3{0, 0, 1}), 1e-15);
  EXPECT_VEC_NEAR(
      jointOf(
          read(pair("revolute",
                    turned + axis("0 0 1", "<use_parent_model_frame>1</use_parent_model_frame>"),
                    "1.6"))
              .model,
          "j_b")
          .axis,
      (Vec3{0, 0, 1}), 1e-15);
}

TEST(Sdformat, LimitsAndDynamicsAreRead) {
  const Scene scene = read(
      pair("revolute",
           axis("0 0 1",
                "<limit><lower>-1</lower><upper>2</upper><effort>7</effort><velocity>3</velocity>"
                "<stiffness>1e8</stiffness></limit><dynamics><damping>0.5</damping><friction>0.25"
                "</friction><spring_reference>0.1</spring_reference><spring_stiffness>4"
                "</spring_stiffness></dynamics>")));
  const Joint& j = jointOf(scene.model, "j_b");
  EXPECT_EQ(j.lower, -1);
  EXPECT_EQ(j.upper, 2);
  EXPECT_EQ(j.upperActuatorForce, 7);
  EXPECT_EQ(j.damping, 0.5);
  EXPECT_EQ(j.frictionLoss, 0.25);
  EXPECT_EQ(j.springReference, 0.1);
  EXPECT_EQ(j.stiffness, 4);
  EXPECT_HAS(allNotesOf(scene, Kind::Ignored), "<velocity> of a limit");
  EXPECT_HAS(allNotesOf(scene, Kind::Ignored), "limits are as stiff as the step allows");
  // How old files write no limit.
  const Joint& old =
      jointOf(read(pair("revolute", axis("0 0 1",
                                         "<limit><lower>-1e16</lower><upper>1e16</upper>"
                                         "<effort>-1</effort></limit>")))
                  .model,
              "j_b");
  EXPECT_EQ(old.lower, -kUnlimited);
  EXPECT_EQ(old.upperActuatorForce, kUnlimited);
}

TEST(Sdformat, JointTypesBecomeJointsOfTheSameKind) {
  EXPECT_EQ(jointOf(read(pair("prismatic", axis("1 0 0"))).model, "j_b").type,
            JointType::Prismatic);
  EXPECT_EQ(jointOf(read(pair("ball")).model, "j_b").type, JointType::Ball);
  const Scene screw =
      read(pair("screw", axis("0 0 1") + "<screw_thread_pitch>0.02</screw_thread_pitch>"));
  EXPECT_NEAR(jointOf(screw.model, "j_b").pitch, 0.02 / 6.283185307179586, 1e-18);
  const Scene thread = read(pair("screw", axis("0 0 1") + "<thread_pitch>-100</thread_pitch>"));
  EXPECT_NEAR(jointOf(thread.model, "j_b").pitch, 0.01, 1e-18);
  const std::string second = "<axis2><xyz>0 1 0</xyz></axis2>";
  const Scene universal = read(pair("universal", axis("1 0 0") + second));
  EXPECT_EQ(jointOf(universal.model, "j_b").type, JointType::Universal);
  EXPECT_EQ(jointOf(universal.model, "j_b").axis2, (Vec3{0, 1, 0}));
  // Axes of a revolute2 need not be perpendicular.
  const Scene two = read(pair("revolute2", axis("1 0 0") + "<axis2><xyz>1 1 0</xyz></axis2>"));
  EXPECT_EQ(two.model.numVelocities(), 2);
  EXPECT_EQ(jointOf(two.model, "j_b::axis2").type, JointType::Revolute);
  EXPECT_HAS(robotErrorOf(pair("gearbox", axis("1 0 0"))), "gearbox: is not available yet");
}

TEST(Sdformat, MimicsMayHaveAReference) {
  const Scene scene =
      read(model(link("a") + link("b") + link("c") + joint("fixed", "", "world", "a") +
                 joint("continuous", axis("0 0 1")) +
                 joint("continuous",
                       axis("0 0 1",
                            "<mimic joint='j_b'><multiplier>2</multiplier><offset>1</offset>"
                            "<reference>0.25</reference></mimic>"),
                       "a", "c")));
  ASSERT_EQ(scene.model.numEqualities(), 1);
  EXPECT_EQ(scene.model.equality(0).polynomial, (std::array<Real, 5>{0, 2, 0, 0, 0}));
  EXPECT_EQ(jointOf(scene.model, "j_c").reference, 0.5);  // 2 (0 - 0.25) + 1
}

TEST(Sdformat, AFrameMayStandForALinkInAJoint) {
  const Scene scene =
      read(model(link("a") + link("b", "<pose>0 0 1 0 0 0</pose>") +
                 "<frame name='f' attached_to='b'><pose>0 0 1 0 0 0</pose></frame>" +
                 joint("fixed", "", "world", "a") +
                 "<joint name='j' type='revolute'><parent>a</parent>"
                 "<child>f</child>" +
                 axis("0 1 0") + "</joint>"));
  EXPECT_EQ(parentNameOf(scene.model, "b"), "a");
  EXPECT_EQ(jointOf(scene.model, "j").position, (Vec3{0, 0, 1}));
}

// ---- Shapes

TEST(Sdformat, CollisionShapesHaveTheSizesOfTheFile) {
  const auto shapeOf = [](const std::string& geometry) {
    const Scene scene = read(
        model(link("b", "<collision name='c'><geometry>" + geometry + "</geometry></collision>")));
    EXPECT_EQ(scene.model.numShapes(), 1) << geometry;
    EXPECT_EQ(scene.model.shapeName(0), "b::c");
    return scene.model.shape(0);
  };
  const auto box = shapeOf("<box><size>2 4 6</size></box>");
  EXPECT_EQ(static_cast<const Box&>(*box).halfExtents(), (Vec3{1, 2, 3}));
  const auto capsule = shapeOf("<capsule><radius>0.5</radius><length>3</length></capsule>");
  EXPECT_EQ(static_cast<const Capsule&>(*capsule).halfLength(), 1.5);
  EXPECT_EQ(shapeOf("<cylinder><radius>1</radius><length>2</length></cylinder>")->type(),
            ShapeType::Cylinder);
  EXPECT_EQ(shapeOf("<cone><radius>1</radius><length>2</length></cone>")->type(), ShapeType::Cone);
  EXPECT_EQ(shapeOf("<sphere><radius>1</radius></sphere>")->type(), ShapeType::Sphere);
  EXPECT_EQ(shapeOf("<ellipsoid><radii>1 2 3</radii></ellipsoid>")->localAabb().upper,
            (Vec3{1, 2, 3}));
}

TEST(Sdformat, WhatCannotCollideIsRefused) {
  const auto error = [](const std::string& geometry) {
    return robotErrorOf(model(
        link("b", "\n<collision name='c'><geometry>" + geometry + "</geometry></collision>")));
  };
  EXPECT_HAS(error("<heightmap><uri>a.png</uri></heightmap>"),
             "4:31: link 'm::b': collision 'c': "
             "heightmap: is not available yet");
  EXPECT_HAS(error("<polyline><point>0 0</point></polyline>"), "not available yet");
  EXPECT_HAS(error("<box><size>1 1</size></box>"), "found 2 numbers, expected 3");
  EXPECT_HAS(error("<spere><radius>1</radius></spere>"), "did you mean 'sphere'?");
  EXPECT_HAS(error("<plane><normal>0 0 1</normal></plane>"), "plane");  // on a link that moves
}

TEST(Sdformat, SurfacesBecomeMaterialsAndBitsFilters) {
  const auto hash = [](const std::string& surface) {
    return read(model(link("b",
                           "<collision name='c'><geometry><sphere><radius>1</radius></sphere>"
                           "</geometry>" +
                               surface + "</collision>")))
        .model.hash();
  };
  const auto plain = hash("");
  EXPECT_EQ(hash("<surface><friction><ode><mu>1</mu></ode></friction></surface>"), plain);
  EXPECT_NE(hash("<surface><friction><ode><mu>0.3</mu></ode></friction></surface>"), plain);
  EXPECT_EQ(hash("<drake:proximity_properties><drake:mu_dynamic>0.3</drake:mu_dynamic>"
                 "</drake:proximity_properties>"),
            hash("<surface><friction><ode><mu>0.3</mu></ode></friction></surface>"));
  EXPECT_NE(hash("<surface><contact><collide_bitmask>2</collide_bitmask></contact></surface>"),
            plain);
  const std::string bits = "<surface><contact><collide_bitmask>";
  EXPECT_EQ(hash(bits + "0x0f</collide_bitmask></contact></surface>"),
            hash(bits + "15</collide_bitmask></contact></surface>"));
  EXPECT_HAS(robotErrorOf(model(link("b",
                                     "<collision name='c'><geometry><sphere><radius>1</radius>"
                                     "</sphere></geometry>" +
                                         bits +
                                         "0x1ffff</collide_bitmask></contact></surface>"
                                         "</collision>"))),
             "collide_bitmask: found '0x1ffff', expected 16 bits");
}

TEST(Sdformat, DrakesHydroelasticSurfacesPressOverAreas) {
  const auto surface = [](const std::string& properties) {
    const Scene scene = read(
        model(link("b",
                   "<collision name='c'><geometry><sphere><radius>1</radius></sphere></geometry>"
                   "<drake:proximity_properties>" +
                       properties + "</drake:proximity_properties></collision>")));
    const model::ModelData& data = scene.model.data();
    return data.materials[data.shapes[0].material];
  };
  const Material soft = surface(
      "<drake:compliant_hydroelastic/><drake:hydroelastic_modulus>3e6</drake:hydroelastic_modulus>"
      "<drake:mesh_resolution_hint>0.5</drake:mesh_resolution_hint>"
      "<drake:relaxation_time>0.03</drake:relaxation_time><drake:mu_static>0.7</drake:mu_static>");
  EXPECT_EQ(soft.contact, ContactModel::Hydroelastic);
  EXPECT_EQ(soft.hydroelasticModulus, 3e6);
  EXPECT_EQ(soft.hydroelasticResolution, 0.5);
  EXPECT_EQ(soft.relaxationTime, 0.03);
  EXPECT_EQ(soft.friction, 0.7);
  EXPECT_EQ(surface("<drake:rigid_hydroelastic/>").hydroelasticModulus, kUnlimited);
  EXPECT_EQ(surface("<drake:rigid_hydroelastic/>").contact, ContactModel::Hydroelastic);
  EXPECT_EQ(surface("<drake:hydroelastic_modulus>3e6</drake:hydroelastic_modulus>").contact,
            ContactModel::Point);
}

TEST(Sdformat, BeforeVersion17AJointMayBeCalledAsALink) {
  const std::string twins = link("a") + link("b") +
                            "<joint name='b' type='revolute'><parent>a</parent><child>b</child>" +
                            axis("0 0 1") + "</joint>";
  EXPECT_EQ(robotErrorOf(model(twins, "1.6")), "accepted");
  EXPECT_HAS(robotErrorOf(model(twins, "1.7")), "found the name twice");
}

TEST(Sdformat, LinksOfOneModelTouchOnlyWhenItSaysSo) {
  const std::string ball =
      "<collision name='c'><geometry><sphere><radius>1</radius></sphere></geometry></collision>";
  const auto with = [&](const std::string& flag) {
    return read(model(flag + link("a", ball) + link("b", ball)));
  };
  EXPECT_HAS(allNotesOf(with(""), Kind::Read), "its links do not touch each other");
  EXPECT_FALSE(test::contains(allNotesOf(with("<self_collide>true</self_collide>"), Kind::Read),
                              "do not touch"));
  EXPECT_NE(with("").model.hash(), with("<self_collide>true</self_collide>").model.hash());
}

// ---- Includes

class SdformatFiles : public test::SceneFolder {
 protected:
  [[nodiscard]] std::string error(const std::string& text) const {
    return robotErrorOf(text, folder());
  }
};

std::string include(const std::string& uri, const std::string& more = "") {
  return "<include><uri>" + uri + "</uri>" + more + "</include>\n";
}

TEST_F(SdformatFiles, ModelsAreIncludedFromFilesFoldersAndByModelNames) {
  const std::string crate =
      sdf("<model name='crate'><pose>9 9 9 0 0 0</pose>" +
          link("l",
               "<collision name='c'><geometry><mesh><uri>t.obj</uri><scale>2 2 2</scale></mesh>"
               "</geometry></collision>") +
          "</model>\n");
  write("crate/model.sdf", crate);
  write("crate/old.sdf", "<sdf version='1.4'/>");
  write("crate/t.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n");
  write("crate/model.config",
        "<model><sdf version='1.4'>old.sdf</sdf><sdf version='1.9'>model.sdf</sdf></model>");
  for (const std::string uri : {"crate", "model://crate", "crate/model.sdf", "file://crate"}) {
    const Scene scene = read(
        world(include(uri) + include(uri, "<name>box</name><pose>0 0 1 0 0 0</pose>")), folder());
    ASSERT_GE(scene.model.findBody("crate::l"), 0) << uri;
    const int box = scene.model.findBody("box::l");
    ASSERT_GE(box, 0) << uri;
    EXPECT_VEC_NEAR(centerOf(scene.model, "crate::l"), (Vec3{9, 9, 9}), 1e-15);
    EXPECT_VEC_NEAR(centerOf(scene.model, "box::l"), (Vec3{0, 0, 1}), 1e-15);
    EXPECT_EQ(scene.model.shape(0)->localAabb().upper, (Vec3{2, 2, 2}));
  }
  EXPECT_HAS(error(world(include("crate") + include("crate"))), "found the name twice");
}

TEST_F(SdformatFiles, RingsAndEscapesAreRefused) {
  write("in/a.sdf", model(include("b.sdf", "<name>b</name>")));
  write("in/b.sdf", model(include("a.sdf", "<name>a</name>")));
  write("secret.sdf", model(link("l")));
  const auto inside = [&](const std::string& uri) {
    return robotErrorOf(world(include(uri)), folder() / "in");
  };
  EXPECT_HAS(inside("a.sdf"), "files that include each other: 'a.sdf' -> 'b.sdf' -> 'a.sdf'");
  for (const std::string uri :
       {"../secret.sdf", "model://../secret.sdf", "file:///etc/passwd", "/etc/passwd.sdf", ""}) {
    EXPECT_HAS(inside(uri), "expected one in the folder of the model") << uri;
  }
  EXPECT_HAS(inside("https://fuel/x"), "3:15: include: found the address 'https://fuel/x'");
  EXPECT_HAS(inside("absent.sdf"), "No such file");
}

TEST_F(SdformatFiles, IncludesEndAtTheLimits) {
  write("deep/0.sdf", model(link("l")));
  for (int i = 1; i <= 20; ++i)
    write("deep/" + std::to_string(i) + ".sdf", model(include(std::to_string(i - 1) + ".sdf")));
  EXPECT_HAS(robotErrorOf(world(include("20.sdf")), folder() / "deep"), "deeper than 16");
  EXPECT_EQ(robotErrorOf(world(include("15.sdf")), folder() / "deep"), "accepted");
  // Each file includes the next one ten times: it ends with the number of files, not of copies.
  std::string ten;
  write("bomb/0.sdf", model(link("l")));
  for (int i = 1; i <= 9; ++i) {
    ten.clear();
    for (int k = 0; k < 10; ++k)
      ten += include(std::to_string(i - 1) + ".sdf", "<name>n" + std::to_string(k) + "</name>");
    write("bomb/" + std::to_string(i) + ".sdf", model(ten));
  }
  EXPECT_HAS(robotErrorOf(world(include("9.sdf")), folder() / "bomb"),
             "more than 256 included files");
}

TEST_F(SdformatFiles, ErrorsInIncludedFilesNameThem) {
  write("bad.sdf", "<sdf version='1.9'>\n<model name='m'>\n<lnk name='x'/></model></sdf>");
  EXPECT_HAS(error(world(include("bad.sdf"))), "bad.sdf:3:1: model 'm': found the element 'lnk'");
  write("robot.urdf", "<robot name='r'><link name='l'/></robot>");
  EXPECT_HAS(error(world(include("robot.urdf"))), "found <robot>, expected <sdf>");
}

// ---- Files that mean harm

TEST(SdformatHostile, FramesInARingAreRefused) {
  EXPECT_HAS(robotErrorOf(model(link("a", "<pose relative_to='b'/>") +
                                link("b", "<pose relative_to='a'/>"))),
             "found frames that are placed relative to each other in a ring");
  EXPECT_HAS(robotErrorOf(model(link("a") +
                                "<frame name='f' attached_to='g'/>"
                                "<frame name='g' attached_to='f'/>" +
                                joint("fixed", "", "a", "f"))),
             "in a ring");
  EXPECT_HAS(robotErrorOf(sdf("<model name='m' placement_frame='n'>" + link("a") +
                              "<model name='n' placement_frame='a'>" + link("a", "<pose/>") +
                              "<pose relative_to='n'/></model></model>")),
             "in a ring");
}

TEST(SdformatHostile, LoopsOfLinksAndSecondParentsAreRefused) {
  EXPECT_HAS(
      robotErrorOf(model(link("a") + link("b") + joint("ball") + joint("ball", "", "b", "a"))),
      "found a ring of links");
  EXPECT_HAS(robotErrorOf(model(link("a") + link("b") + joint("ball") +
                                "<joint name='k' type='ball'><parent>world</parent>"
                                "<child>b</child></joint>")),
             "found the link 'm::b' as child again");
  EXPECT_HAS(robotErrorOf(model(link("a") + joint("ball", "", "a", "world"))),
             "found the world as child");
  EXPECT_HAS(robotErrorOf(model(link("a") + joint("ball", "", "a", "x"))),
             "child: found the frame 'x', expected a link, joint, frame or model");
  EXPECT_HAS(robotErrorOf(model(link("a") + joint("ball", "", "a", "j_j_b"))), "found the frame");
}

TEST(SdformatHostile, NamesNumbersAndVersionsAreChecked) {
  EXPECT_HAS(robotErrorOf(model(link("a") + link("a"))), "4:1: link 'm::a': found the name twice");
  EXPECT_HAS(robotErrorOf(model(link("a") + "<frame name='a'/>")), "found the name twice");
  EXPECT_HAS(robotErrorOf(model(link("a::b"))), "expected a name without '::'");
  EXPECT_HAS(robotErrorOf(model(link("a", "<pose>0 0 nan 0 0 0</pose>"))),
             "3:22: link 'm::a': pose");
  EXPECT_HAS(robotErrorOf(model(link("a", "<inertial><mass>-1</mass></inertial>"))),
             "mass: found '-1'");
  EXPECT_HAS(robotErrorOf(model(link("a",
                                     "<inertial><inertia><ixx>1</ixx><iyy>1</iyy>"
                                     "<izz>9</izz></inertia></inertial>"))),
             "principal moments of which two are less than the third");
  EXPECT_HAS(robotErrorOf(pair("revolute", axis("0 0 0"))), "expected an axis other than 0");
  EXPECT_HAS(robotErrorOf(pair("revolute")), "axis is missing");
  EXPECT_HAS(robotErrorOf(pair("revolute", axis("0 0 1",
                                                "<limit><lower>2</lower><upper>1</upper>"
                                                "</limit>"))),
             "found lower 2 above upper 1");
  EXPECT_HAS(robotErrorOf(sdf("", "1.3")), "1:15: sdf: version: found '1.3', expected 1.4 to 1.");
  EXPECT_HAS(robotErrorOf(sdf("", "2")), "expected 1.4 to 1.");
  EXPECT_HAS(robotErrorOf(sdf("")), "found no world and no model");
  EXPECT_HAS(robotErrorOf(model("")), "found no link");
  EXPECT_HAS(robotErrorOf(model(link("a") + "<boddy/>")), "found the element 'boddy'");
}

TEST(SdformatHostile, ManyNestedModelsAndFramesTakeNoTime) {
  const auto begin = std::chrono::steady_clock::now();
  // Placement frames within placement frames: each asks for all below it.
  std::string nested = link("l");
  for (int i = 0; i < 40; ++i) {
    std::string outer = "<model name='n' placement_frame='";
    outer.append(i == 0 ? "l" : "n").append("'>").append(nested).append("</model>");
    nested = outer;
  }
  EXPECT_EQ(robotErrorOf(world(nested)), "accepted");
  std::string chain = link("a");
  for (int i = 5000; i > 0; --i) {
    chain.append("<frame name='f").append(std::to_string(i)).append("' attached_to='");
    if (i == 1) {
      chain.append("a'/>\n");
    } else {
      chain.append("f").append(std::to_string(i - 1)).append("'/>\n");
    }
  }
  EXPECT_EQ(robotErrorOf(model(chain + joint("fixed", "", "world", "f5000"))), "accepted");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
}

}  // namespace
}  // namespace tangere
