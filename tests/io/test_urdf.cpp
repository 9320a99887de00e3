// SPDX-License-Identifier: Apache-2.0
//
// URDF files: what becomes of each element, what is reported, and what is refused where.
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

const std::string kMass =
    "<inertial><mass value='2'/>"
    "<inertia ixx='0.1' ixy='0' ixz='0' iyy='0.1' iyz='0' izz='0.1'/></inertial>";

std::string robot(const std::string& content) {
  return "<robot name='r'>\n" + content + "</robot>\n";
}
std::string link(const std::string& name, const std::string& more = kMass) {
  return "<link name='" + name + "'>" + more + "</link>\n";
}
std::string joint(const std::string& type, const std::string& more = "",
                  const std::string& parent = "a", const std::string& child = "b") {
  return "<joint name='j_" + child + "' type='" + type + "'><parent link='" + parent +
         "'/><child link='" + child + "'/>" + more + "</joint>\n";
}
const std::string kLimit = "<limit lower='-1' upper='1' effort='5' velocity='3'/>";

/// Link a, fixed because it has no mass, and link b on it.
std::string pair(const std::string& type, const std::string& more = "") {
  return robot(link("a", "") + link("b") + joint(type, more));
}

Scene read(const std::string& text, const std::filesystem::path& folder = {},
           const SceneLimits& limits = {}) {
  return readSceneXml(text, folder, "r.xml", limits);
}

// ---- Links

TEST(Urdf, ALinkIsABodyWithItsMassAndPose) {
  const Scene scene = read(
      robot(link("base",
                 "<inertial><origin xyz='0.1 0 0' rpy='0 0 1.5707963267948966'/>"
                 "<mass value='2'/><inertia ixx='1' ixy='0' ixz='0' iyy='2' iyz='0' izz='2.5'/>"
                 "</inertial>")));
  const Model& model = scene.model;
  ASSERT_EQ(model.numBodies(), 1);
  EXPECT_EQ(model.bodyName(0), "base");
  const MassProperties& mass = model.massProperties(0);
  EXPECT_EQ(mass.mass, 2);
  EXPECT_EQ(mass.center, (Vec3{0.1, 0, 0}));
  // The frame of the inertia is turned by 90 degrees about z: x and y change places.
  EXPECT_NEAR(mass.inertia(0, 0), 2, 1e-15);
  EXPECT_NEAR(mass.inertia(1, 1), 1, 1e-15);
  EXPECT_EQ(mass.inertia(2, 2), 2.5);
  EXPECT_NEAR(mass.inertia(0, 1), 0, 1e-15);
  EXPECT_EQ(model.options().solver, SolverType::Sap);
}

TEST(Urdf, ARootWithMassFloatsAndOneWithoutStands) {
  const Scene floating = read(robot(link("base")));
  EXPECT_EQ(floating.model.numVelocities(), 6);
  EXPECT_EQ(floating.model.bodyType(0), BodyType::Dynamic);
  EXPECT_HAS(allNotesOf(floating, Kind::Read), "2: link 'base': the root floats freely");

  const Scene standing = read(pair("continuous"));
  EXPECT_EQ(standing.model.numVelocities(), 1);
  EXPECT_EQ(standing.model.bodyType(standing.model.findBody("a")), BodyType::Fixed);
  EXPECT_HAS(allNotesOf(standing, Kind::Changed), "the root has no mass: it is fixed");
}

TEST(Urdf, ALinkCalledWorldIsTheWorld) {
  const Scene scene = read(robot(link("world", "") + link("b") +
                                 joint("fixed", "<origin xyz='0 0 3'/>", "world", "b") + link("c") +
                                 joint("continuous", "<origin xyz='1 0 0'/>", "b", "c")));
  EXPECT_EQ(scene.model.findBody("world"), -1);
  EXPECT_EQ(scene.model.bodyType(scene.model.findBody("b")), BodyType::Fixed);
  EXPECT_EQ(parentNameOf(scene.model, "c"), "b");
  EXPECT_VEC_NEAR(centerOf(scene.model, "c"), (Vec3{1, 0, 3}), 1e-15);
}

TEST(Urdf, WeldedLinksStayBodiesOfTheirOwn) {
  const Scene scene = read(robot(link("a") + link("tool", "") + link("b") + joint("fixed") +
                                 joint("fixed", "<origin xyz='0 0 1'/>", "b", "tool")));
  EXPECT_EQ(scene.model.numBodies(), 3);
  EXPECT_EQ(scene.model.numVelocities(), 6);
  EXPECT_EQ(parentNameOf(scene.model, "tool"), "b");
  EXPECT_EQ(scene.model.massProperties(scene.model.findBody("tool")).mass, 0);
}

TEST(Urdf, OriginsTurnByRollThenPitchThenYawAboutFixedAxes) {
  const Scene scene =
      read(pair("continuous",
                "<origin xyz='1 2 3' rpy='1.5707963267948966 0 1.5707963267948966'/>"
                "<axis xyz='0 0 1'/>"));
  const Mat3 R = rotationOf(scene.model, "b");
  EXPECT_VEC_NEAR(R.col[0], (Vec3{0, 1, 0}), 1e-15);  // x: roll leaves it, yaw takes it to y
  EXPECT_VEC_NEAR(R.col[1], (Vec3{0, 0, 1}), 1e-15);  // y: roll takes it to z
  EXPECT_VEC_NEAR(centerOf(scene.model, "b"), (Vec3{1, 2, 3}), 1e-15);
}

TEST(Urdf, InertiasThatNoBodyHasAreRefusedWithTheirValues) {
  const auto message = [](const std::string& values) {
    return robotErrorOf(robot("<link name='b'><inertial><mass value='1'/>\n  <inertia " + values +
                              "/></inertial></link>\n"));
  };
  EXPECT_HAS(message("ixx='1' ixy='0' ixz='0' iyy='1' iyz='0' izz='5'"),
             "3:3: link 'b': inertial: inertia: found principal moments of which two are less than "
             "the third (no body has such an inertia) (ixx 1, ixy 0, ixz 0, iyy 1, iyz 0, izz 5");
  EXPECT_HAS(message("ixx='1' ixy='0' ixz='0' iyy='1' iyz='0' izz='-1'"), "not positive definite");
  EXPECT_HAS(message("ixx='1' ixy='2' ixz='0' iyy='1' iyz='0' izz='1'"), "not positive definite");
  EXPECT_HAS(message("ixx='1' ixy='0' ixz='0' iyy='1' iyz='0'"), "izz is missing");
  EXPECT_HAS(message("ixx='nan' ixy='0' ixz='0' iyy='1' iyz='0' izz='1'"),
             "ixx: found 'nan', expected a finite moment of inertia");
}

TEST(Urdf, ANegativeMassIsRefusedAndNothingMovesWithoutAny) {
  EXPECT_HAS(robotErrorOf(robot("<link name='b'><inertial>\n<mass value='-1'/><inertia ixx='1' "
                                "ixy='0' ixz='0' iyy='1' iyz='0' izz='1'/></inertial></link>\n")),
             "3:14: link 'b': inertial: mass: value: found '-1', expected a mass of 0 or more");
  EXPECT_HAS(robotErrorOf(robot(link("a") + link("b", "") + joint("continuous"))),
             "4:1: link 'b': found no mass that moves with it by joint 'j_b'");
  EXPECT_EQ(robotErrorOf(robot(link("a") + link("b", "") + joint("continuous") + link("c") +
                               joint("continuous", "<axis xyz='0 1 0'/>", "b", "c"))),
            "accepted");
}

// ---- Joints

TEST(Urdf, JointTypesBecomeJointsOfTheSameKind) {
  const Scene revolute = read(pair("revolute", "<axis xyz='0 1 0'/>" + kLimit));
  const Joint& hinge = jointOf(revolute.model, "j_b");
  EXPECT_EQ(hinge.type, JointType::Revolute);
  EXPECT_EQ(hinge.axis, (Vec3{0, 1, 0}));
  EXPECT_EQ(hinge.lower, -1);
  EXPECT_EQ(hinge.upper, 1);
  EXPECT_EQ(hinge.lowerActuatorForce, -5);
  EXPECT_EQ(hinge.upperActuatorForce, 5);
  EXPECT_TRUE(revolute.model.numActuators() == 0);
  EXPECT_HAS(allNotesOf(revolute, Kind::Ignored), "1 <limit velocity>: speeds are not limited");

  const Scene wheel = read(pair("continuous", kLimit));
  EXPECT_EQ(jointOf(wheel.model, "j_b").axis, (Vec3{1, 0, 0}));  // the format's default
  EXPECT_EQ(jointOf(wheel.model, "j_b").upper, kUnlimited);
  EXPECT_HAS(allNotesOf(wheel, Kind::Ignored),
             "4: joint 'j_b': limit: lower: a continuous joint has no limits");

  EXPECT_EQ(jointOf(read(pair("prismatic", kLimit)).model, "j_b").type, JointType::Prismatic);
  const Scene planar = read(pair("planar", "<axis xyz='0 0 2'/>"));
  const Joint& plane = jointOf(planar.model, "j_b");
  EXPECT_EQ(plane.type, JointType::Planar);
  EXPECT_EQ(plane.axis, (Vec3{0, 0, 1}));
  EXPECT_EQ(plane.axis2, (Vec3{1, 0, 0}));
  EXPECT_EQ(planar.model.numVelocities(), 3);
  EXPECT_HAS(allNotesOf(planar, Kind::Changed), "axis: of length 2 was made a unit vector");
}

TEST(Urdf, AMissingLimitIsToldAndLeavesTheJointFree) {
  const Scene scene = read(pair("revolute"));
  EXPECT_EQ(jointOf(scene.model, "j_b").upper, kUnlimited);
  EXPECT_HAS(allNotesOf(scene, Kind::Warning), "4: joint 'j_b': limit is missing");
}

TEST(Urdf, AFloatingJointLeavesItsChildFree) {
  const Scene scene =
      read(robot(link("a", "") + link("b") + joint("floating", "<origin xyz='0 0 2'/>")));
  EXPECT_EQ(scene.model.numVelocities(), 6);
  EXPECT_EQ(parentNameOf(scene.model, "b"), "");
  EXPECT_VEC_NEAR(centerOf(scene.model, "b"), (Vec3{0, 0, 2}), 0);
  EXPECT_HAS(allNotesOf(scene, Kind::Changed), "its child is a free body");
}

TEST(Urdf, DrakeJointsBringBallUniversalAndScrew) {
  const auto make = [](const std::string& type, const std::string& more = "") {
    return read(robot(link("a", "") + link("b") + "<drake:joint name='j' type='" + type +
                      "'><parent link='a'/><child link='b'/>" + more + "</drake:joint>\n"))
        .model;
  };
  EXPECT_EQ(jointOf(make("ball"), "j").type, JointType::Ball);
  const Model universal = make("universal");
  EXPECT_EQ(jointOf(universal, "j").axis, (Vec3{1, 0, 0}));
  EXPECT_EQ(jointOf(universal, "j").axis2, (Vec3{0, 1, 0}));
  const Model screw = make("screw", "<axis xyz='0 0 1'/><drake:screw_thread_pitch value='0.01'/>");
  EXPECT_NEAR(jointOf(screw, "j").pitch, 0.01 / 6.283185307179586, 1e-18);
}

TEST(Urdf, DampingFrictionAndSpringsAreRead) {
  const Scene scene = read(pair("continuous", "<dynamics damping='0.5' friction='0.25'/>"));
  EXPECT_EQ(jointOf(scene.model, "j_b").damping, 0.5);
  EXPECT_EQ(jointOf(scene.model, "j_b").frictionLoss, 0.25);
  EXPECT_HAS(robotErrorOf(pair("continuous", "<dynamics damping='-1'/>")),
             "4:91: joint 'j_b': dynamics: damping: found '-1', expected 0 or more");
}

TEST(Urdf, AJointStartsWithinItsLimitsAndItsZeroStaysWhereItWas) {
  const Scene scene = read(pair("prismatic",
                                "<origin xyz='0 0 1'/><axis xyz='0 0 1'/>"
                                "<limit lower='0.5' upper='2' effort='1' velocity='1'/>"));
  const Joint& slide = jointOf(scene.model, "j_b");
  EXPECT_EQ(slide.reference, 0.5);
  EXPECT_VEC_NEAR(centerOf(scene.model, "b"), (Vec3{0, 0, 1.5}), 1e-15);
  EXPECT_HAS(allNotesOf(scene, Kind::Changed), "starts at 0.5, because 0 is outside its limits");
  EXPECT_EQ(State(scene.model).q[0], 0.5);

  const Scene turned =
      read(pair("revolute",
                "<axis xyz='0 0 1'/><limit lower='-2' upper='-1.5707963267948966' effort='1' "
                "velocity='1'/>"));
  EXPECT_VEC_NEAR(rotationOf(turned.model, "b").col[0], (Vec3{0, -1, 0}), 1e-15);
}

TEST(Urdf, AMimicIsAnEqualityThatHoldsAtTheStart) {
  const Scene scene =
      read(robot(link("a", "") + link("b") + link("c") + link("d") +
                 joint("prismatic", "<limit lower='0.5' upper='2' effort='1' velocity='1'/>") +
                 joint("prismatic",
                       "<mimic joint='j_b' multiplier='2' offset='0.25'/>"
                       "<limit lower='-9' upper='9' effort='1' velocity='1'/>",
                       "a", "c") +
                 joint("continuous", "<mimic joint='j_c' multiplier='-1'/>", "a", "d")));
  ASSERT_EQ(scene.model.numEqualities(), 2);
  const Equality& first = scene.model.equality(0);
  EXPECT_EQ(first.type, Equality::Type::Joint);
  EXPECT_EQ(first.first, "j_c");
  EXPECT_EQ(first.second, "j_b");
  EXPECT_EQ(first.polynomial, (std::array<Real, 5>{0, 2, 0, 0, 0}));  // from the references
  EXPECT_EQ(jointOf(scene.model, "j_c").reference, 2 * 0.5 + 0.25);
  EXPECT_EQ(jointOf(scene.model, "j_d").reference, -1.25);
}

TEST(Urdf, AMimicOfNothingOrOfItselfIsRefused) {
  EXPECT_HAS(robotErrorOf(pair("continuous", "\n<mimic joint='j_a'/>")),
             "5:15: mimic: found the joint 'j_a', expected one that exists");
  EXPECT_HAS(robotErrorOf(pair("continuous", "<mimic joint='j_b'/>")), "in a ring");
  EXPECT_HAS(robotErrorOf(pair("continuous", "<mimic/>")), "mimic: joint is missing");
}

// ---- Shapes

TEST(Urdf, CollisionShapesHaveTheSizesOfTheFile) {
  const auto shapeOf = [](const std::string& geometry) {
    const Scene scene =
        read(robot(link("b", kMass + "<collision name='c'><origin xyz='0 0 1'/><geometry>" +
                                 geometry + "</geometry></collision>")));
    EXPECT_EQ(scene.model.numShapes(), 1);
    EXPECT_EQ(scene.model.shapeName(0), "b::c");
    EXPECT_EQ(scene.model.shapePose(0).translation, (Vec3{0, 0, 1}));
    return scene.model.shape(0);
  };
  const auto box = shapeOf("<box size='2 4 6'/>");
  EXPECT_EQ(static_cast<const Box&>(*box).halfExtents(), (Vec3{1, 2, 3}));
  const auto cylinder = shapeOf("<cylinder radius='0.5' length='3'/>");
  EXPECT_EQ(static_cast<const Cylinder&>(*cylinder).radius(), 0.5);
  EXPECT_EQ(static_cast<const Cylinder&>(*cylinder).halfLength(), 1.5);
  EXPECT_EQ(shapeOf("<sphere radius='0.5'/>")->type(), ShapeType::Sphere);
  EXPECT_EQ(shapeOf("<capsule radius='0.5' length='3'/>")->type(), ShapeType::Capsule);
  EXPECT_EQ(shapeOf("<drake:ellipsoid a='1' b='2' c='3'/>")->type(), ShapeType::Ellipsoid);
}

TEST(Urdf, BadGeometryIsRefused) {
  const auto error = [](const std::string& geometry) {
    return robotErrorOf(
        robot(link("b", kMass + "\n<collision><geometry>" + geometry + "</geometry></collision>")));
  };
  EXPECT_HAS(error("<box size='1 2'/>"), "3:33: link 'b': collision: box: size: found 2 numbers");
  EXPECT_HAS(error("<box size='1 2 -1'/>"), "found '-1', expected a length above 0 [m]");
  EXPECT_HAS(error("<sphere radius='inf'/>"), "found 'inf'");
  EXPECT_HAS(error("<cylinder radius='1'/>"), "length is missing");
  EXPECT_HAS(error("<bax size='1 1 1'/>"), "found the element 'bax'");
  EXPECT_HAS(error(""), "found 0 shapes, expected one");
  EXPECT_HAS(error("<mesh filename='a.ply'/>"), "3:");
}

TEST(Urdf, AShapeWithoutASizeIsLeftOut) {
  for (const char* geometry : {"<box size='1 2 0'/>", "<box size='0 0 0'/>",
                               "<sphere radius='0.0'/>", "<cylinder radius='0' length='1'/>"}) {
    const Scene scene = read(
        robot(link("b", kMass + "<collision><geometry>" + geometry + "</geometry></collision>")));
    EXPECT_EQ(scene.model.numShapes(), 0) << geometry;
    EXPECT_HAS(allNotesOf(scene, Kind::Changed), "has a size of 0: it is left out");
  }
}

TEST(Urdf, ANameThatResemblesOneWhichIsThereIsNoMistake) {
  const Scene scene = read(
      pair("revolute", "<limit lower='-1' upper='1' effort='5' velocity='3' k_velocity='10'/>"));
  EXPECT_HAS(allNotesOf(scene, Kind::Ignored), "attribute 'k_velocity' of <limit> is none");
  EXPECT_HAS(robotErrorOf(pair("revolute", "<limit lower='-1' upper='1' effort='5' velocty='3'/>")),
             "did you mean 'velocity'?");
}

TEST(Urdf, DrakesSurfacesBecomeMaterialsAndEqualOnesOne) {
  const std::string soft =
      "<collision><geometry><sphere radius='1'/></geometry><drake:proximity_properties>"
      "<drake:mu_static value='0.9'/><drake:mu_dynamic value='0.8'/>"
      "<drake:hunt_crossley_dissipation value='2'/><drake:relaxation_time value='0.1'/>"
      "<drake:point_contact_stiffness value='1e5'/><drake:hydroelastic_modulus value='1e7'/>"
      "</drake:proximity_properties></collision>";
  const Scene scene = read(robot(link("b", kMass + soft + soft)));
  const auto& notes = allNotesOf(scene, Kind::Ignored);
  EXPECT_HAS(notes, "drake:mu_dynamic is the one coefficient");
  EXPECT_HAS(
      notes,
      "drake:hydroelastic_modulus: without drake:compliant_hydroelastic contacts are points");
  EXPECT_HAS(robotErrorOf(
                 robot(link("b", kMass + "<collision><geometry><sphere radius='1'/></geometry>"
                                         "<drake:proximity_properties><drake:mu_dynamik value='1'/>"
                                         "</drake:proximity_properties></collision>"))),
             "did you mean 'drake:mu_dynamic'?");
}

/// A ball with these properties, and one without.
std::string pressing(const std::string& properties) {
  const std::string ball = "<collision><geometry><sphere radius='1'/></geometry>";
  return robot(link("b", kMass + ball + "<drake:proximity_properties>" + properties +
                             "</drake:proximity_properties></collision>" + ball + "</collision>"));
}

const Material& surfaceOf(const Scene& scene, std::size_t shape) {
  const model::ModelData& data = scene.model.data();
  return data.materials[data.shapes[shape].material];
}

TEST(Urdf, DrakesHydroelasticSurfacesPressOverAreas) {
  const Scene soft = read(
      pressing("<drake:mesh_resolution_hint value='0.5'/><drake:hydroelastic_modulus value='3e6'/>"
               "<drake:compliant_hydroelastic/><drake:relaxation_time value='0.03'/>"
               "<drake:hunt_crossley_dissipation value='2'/><drake:mu_dynamic value='0.7'/>"));
  EXPECT_EQ(allNotesOf(soft, Kind::Ignored), "");
  const Material& surface = surfaceOf(soft, 0);
  EXPECT_EQ(surface.contact, ContactModel::Hydroelastic);
  EXPECT_EQ(surface.hydroelasticModulus, 3e6);
  EXPECT_EQ(surface.hydroelasticResolution, 0.5);
  EXPECT_EQ(surface.relaxationTime, 0.03);
  EXPECT_EQ(surface.dissipation, 2);
  EXPECT_EQ(surface.friction, 0.7);
  EXPECT_EQ(surfaceOf(soft, 1).contact, ContactModel::Point);

  const Scene rigid =
      read(pressing("<drake:rigid_hydroelastic/>"
                    "<drake:mesh_resolution_hint value='0.5'/>"));
  EXPECT_EQ(surfaceOf(rigid, 0).contact, ContactModel::Hydroelastic);
  EXPECT_EQ(surfaceOf(rigid, 0).hydroelasticModulus, kUnlimited);

  // Equal but for the modulus: not one material.
  const std::string both = "<drake:compliant_hydroelastic/><drake:hydroelastic_modulus value='";
  EXPECT_NE(read(pressing(both + "1e6'/>")).model.hash(),
            read(pressing(both + "2e6'/>")).model.hash());
}

TEST(Urdf, WhatIsOddAboutHydroelasticSurfacesIsSaid) {
  EXPECT_HAS(robotErrorOf(pressing("<drake:rigid_hydroelastic/><drake:compliant_hydroelastic/>")),
             "found drake:compliant_hydroelastic and drake:rigid_hydroelastic, expected one");
  EXPECT_HAS(robotErrorOf(pressing("<drake:compliant_hydroelastic/>"
                                   "<drake:hydroelastic_modulus value='0'/>")),
             "found '0', expected a modulus above 0 [Pa]");
  EXPECT_HAS(robotErrorOf(pressing("<drake:rigid_hydroelastic/>"
                                   "<drake:mesh_resolution_hint value='-1'/>")),
             "expected a length above 0 [m]");
  EXPECT_HAS(allNotesOf(read(pressing("<drake:rigid_hydroelastic value='1'/>")), Kind::Ignored),
             "attribute 'value' of <drake:rigid_hydroelastic> is none of this format");
  EXPECT_HAS(robotErrorOf(pressing("<drake:compliant_hidroelastic/>")),
             "did you mean 'drake:compliant_hydroelastic'?");
  EXPECT_HAS(allNotesOf(read(pressing("<drake:compliant_hydroelastic/>")), Kind::Changed),
             "without drake:hydroelastic_modulus: the modulus is 1e7 Pa");
  const Scene rigid =
      read(pressing("<drake:rigid_hydroelastic/><drake:hydroelastic_modulus value='1e6'/>"
                    "<drake:hydroelastic_margin value='0.01'/>"));
  EXPECT_HAS(allNotesOf(rigid, Kind::Ignored), "drake:hydroelastic_modulus: the surface is rigid");
  EXPECT_HAS(allNotesOf(rigid, Kind::Ignored), "drake:hydroelastic_margin");
  EXPECT_EQ(surfaceOf(rigid, 0).hydroelasticModulus, kUnlimited);
}

const std::string kTetrahedron =
    "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";

std::string meshLink(const std::string& file, const std::string& more = "") {
  return robot(link("b", kMass + "\n<collision><geometry><mesh filename='" + file + "' " + more +
                             "/></geometry></collision>"));
}

class UrdfFiles : public test::SceneFolder {};

TEST_F(UrdfFiles, MeshesAreFoundByPlainFileAndPackageNamesAndScaled) {
  write("pkg/urdf/meshes/t.obj", kTetrahedron);
  write("pkg/package.xml", "<package/>");
  const auto urdf = folder() / "pkg/urdf";
  for (const std::string& file :
       {std::string("meshes/t.obj"), std::string("./meshes/../meshes/t.obj"),
        std::string("file://meshes/t.obj"), std::string("package://meshes/t.obj"),
        (urdf / "meshes/t.obj").string(), "file://" + (urdf / "meshes/t.obj").string()}) {
    const Scene scene = read(meshLink(file, "scale='2 3 -4'"), urdf);
    ASSERT_EQ(scene.model.numShapes(), 1) << file;
    EXPECT_EQ(scene.model.shape(0)->localAabb().upper, (Vec3{2, 3, 0})) << file;
    EXPECT_EQ(scene.model.shape(0)->localAabb().lower, (Vec3{0, 0, -4})) << file;
    EXPECT_HAS(allNotesOf(scene, Kind::Changed), "hulled: 4 triangles");
  }
}

TEST_F(UrdfFiles, MeshesOfTheOwnPackageAreFoundWithoutAnyFlag) {
  write("pkg/meshes/t.obj", kTetrahedron);
  write("pkg/other/t.obj", kTetrahedron);
  write("pkg/urdf/empty", "");
  const auto urdf = folder() / "pkg/urdf";
  // The usual place of meshes is beside the folder of the file.
  EXPECT_EQ(robotErrorOf(meshLink("package://pkg/meshes/t.obj"), urdf), "accepted");
  EXPECT_EQ(robotErrorOf(meshLink("../meshes/t.obj"), urdf), "accepted");
  EXPECT_HAS(robotErrorOf(meshLink("../other/t.obj"), urdf), "expected one in the folder of");
  // A package.xml says how far the package goes.
  write("pkg/package.xml", "<package/>");
  EXPECT_EQ(robotErrorOf(meshLink("../other/t.obj"), urdf), "accepted");
  EXPECT_EQ(robotErrorOf(meshLink("package://pkg/other/t.obj"), urdf), "accepted");
  write("secret.obj", kTetrahedron);
  EXPECT_HAS(robotErrorOf(meshLink("../../secret.obj"), urdf), "expected one in the folder of");
  EXPECT_NE(robotErrorOf(meshLink("package://pkg/../secret.obj"), urdf), "accepted");
  // Any other folder: as an asset root.
  write("elsewhere/a.urdf", "");
  const std::string far = meshLink("package://pkg/meshes/t.obj");
  EXPECT_HAS(robotErrorOf(far, folder() / "elsewhere"), "looked for its package in");
  EXPECT_EQ(robotErrorOf(far, folder() / "elsewhere", {.assetRoots = {folder() / "pkg"}}),
            "accepted");
  EXPECT_EQ(robotErrorOf(far, folder() / "elsewhere", {.assetRoots = {folder()}}), "accepted");
}

TEST_F(UrdfFiles, APackageIsCalledWhatItsPackageXmlSays) {
  write("clone_of_arm/package.xml", "<package>\n<name>arm_description</name>\n</package>");
  write("clone_of_arm/meshes/t.obj", kTetrahedron);
  write("clone_of_arm/robots/v2/a.urdf", "");
  EXPECT_EQ(robotErrorOf(meshLink("package://arm_description/meshes/t.obj"),
                         folder() / "clone_of_arm/robots/v2"),
            "accepted");
}

TEST_F(UrdfFiles, PackagesOfRosAreFoundByTheirPathsAndNothingElseOfThem) {
  write("ros1/arm/meshes/t.obj", kTetrahedron);
  write("ros2/share/hand/meshes/t.obj", kTetrahedron);
  write("ros2/share/secret.obj", kTetrahedron);
  write("model/a.urdf", "");
  const auto read = [&](const std::string& name) {
    return robotErrorOf(meshLink(name), folder() / "model");
  };
  EXPECT_NE(read("package://arm/meshes/t.obj"), "accepted");
  ::setenv("ROS_PACKAGE_PATH", (folder() / "ros1").c_str(), 1);
  ::setenv("AMENT_PREFIX_PATH", ("relative:" + (folder() / "ros2").string()).c_str(), 1);
  EXPECT_EQ(read("package://arm/meshes/t.obj"), "accepted");
  EXPECT_EQ(read("package://hand/meshes/t.obj"), "accepted");
  EXPECT_NE(read("package://hand/../secret.obj"), "accepted");
  EXPECT_NE(read("package://legs/meshes/t.obj"), "accepted");
  EXPECT_NE(read((folder() / "ros2/share/hand/meshes/t.obj").string()), "accepted");
  ::unsetenv("ROS_PACKAGE_PATH");
  ::unsetenv("AMENT_PREFIX_PATH");
}

TEST_F(UrdfFiles, NothingOutsideTheFolderIsOpened) {
  write("inside/in.obj", kTetrahedron);
  write("secret.obj", kTetrahedron);
  std::filesystem::create_symlink(folder() / "secret.obj", folder() / "inside/link.obj");
  for (const std::string& file : std::vector<std::string>{
           "../secret.obj", "package://../secret.obj", "package://inside/../../secret.obj",
           "package://inside/%2e%2e/secret.obj", "file:///etc/passwd", "/etc/passwd",
           "http://host/a.obj", "link.obj", "model://../secret.obj", "C:\\secret.obj", ""}) {
    EXPECT_HAS(robotErrorOf(meshLink(file), folder() / "inside"), "3:") << file;
    EXPECT_HAS(robotErrorOf(meshLink(file), folder() / "inside"), "expected one in the folder of")
        << file;
  }
  EXPECT_EQ(robotErrorOf(meshLink("in.obj"), folder() / "inside"), "accepted");
  EXPECT_HAS(robotErrorOf(meshLink("absent.stl"), folder() / "inside"),
             "3:38: 'absent.stl': No such file");
}

// ---- Drives and filters

TEST(Urdf, ASimpleTransmissionIsAMotor) {
  const Scene scene = read(robot(
      link("a", "") + link("b") + joint("revolute", kLimit) +
      "<transmission name='t'><type>transmission_interface/SimpleTransmission</type>"
      "<joint name='j_b'><hardwareInterface>hardware_interface/PositionJointInterface"
      "</hardwareInterface></joint><actuator name='m'><mechanicalReduction>50"
      "</mechanicalReduction><drake:rotor_inertia value='1e-4'/><drake:gear_ratio value='100'/>"
      "</actuator></transmission>\n"));
  ASSERT_EQ(scene.model.numActuators(), 1);
  const Actuator& motor = scene.model.actuator(0);
  EXPECT_EQ(motor.name, "m");
  EXPECT_EQ(motor.targetName, "j_b");
  EXPECT_EQ(motor.gear[0], 50);
  EXPECT_NEAR(jointOf(scene.model, "j_b").armature, 1, 1e-15);
  EXPECT_HAS(allNotesOf(scene, Kind::Changed), "the drive takes an effort");
}

TEST(Urdf, DrakesGainsMakeAPositionDrive) {
  const Scene scene = read(
      robot(link("a", "") + link("b") + joint("revolute", kLimit) +
            "<transmission><type>SimpleTransmission</type><joint name='j_b'/><actuator name='m'>"
            "<drake:controller_gains p='30' d='4'/></actuator></transmission>\n"));
  const Actuator& drive = scene.model.actuator(0);
  EXPECT_EQ(drive.gain[0], 30);
  EXPECT_EQ(drive.bias[1], -30);
  EXPECT_EQ(drive.bias[2], -4);
}

TEST(Urdf, TransmissionsThatMakeNoDriveAreTold) {
  const std::string start = link("a", "") + link("b") + joint("continuous");
  const Scene scene =
      read(robot(start + "<transmission name='t'><type>x/DifferentialTransmission</type>"
                         "<joint name='j_b'/><actuator name='m'/></transmission>\n"));
  EXPECT_TRUE(scene.model.numActuators() == 0);
  EXPECT_HAS(allNotesOf(scene, Kind::Warning), "makes no drive");
  const Scene wrong =
      read(robot(start + "<transmission><type>SimpleTransmission</type><joint name='jb'/>"
                         "<actuator name='m'/></transmission>\n"));
  EXPECT_TRUE(wrong.model.numActuators() == 0);
  EXPECT_HAS(allNotesOf(wrong, Kind::Warning),
             "found the joint 'jb', which does not exist: makes no drive (did you mean 'j_b'?)");
}

TEST(Urdf, DrakesFramesAreSites) {
  const Scene scene =
      read(robot(link("b") + "<frame name='f' link='b' xyz='0 0 1' rpy='0 0 0'/>\n"));
  ASSERT_EQ(scene.model.numSites(), 1);
  EXPECT_EQ(scene.model.site(0).name, "f");
  EXPECT_EQ(scene.model.site(0).body, "b");
  EXPECT_EQ(scene.model.site(0).pose.translation, (Vec3{0, 0, 1}));
  EXPECT_HAS(robotErrorOf(robot(link("b") + "<frame name='f' link='x'/>\n")),
             "3:1: frame: found name 'f' and link 'x'");
}

TEST(Urdf, AttributesOfOtherProgramsAreCounted) {
  const Scene scene = read(robot("<link name='b' my:own='1'>" + kMass + "</link>\n"));
  EXPECT_HAS(allNotesOf(scene, Kind::Ignored), "2: 1 element of another program");
}

TEST(Urdf, CollisionFilterGroupsExcludeTheirPairs) {
  const std::string groups =
      "<drake:collision_filter_group name='g'><drake:member link='a'/><drake:member link='c'/>"
      "<drake:ignored_collision_filter_group name='g'/></drake:collision_filter_group>\n";
  const std::string bodies = link("a", "") + link("b") + link("c") + joint("continuous") +
                             joint("continuous", "", "b", "c");
  EXPECT_NE(read(robot(bodies)).model.hash(), read(robot(bodies + groups)).model.hash());
  EXPECT_HAS(
      robotErrorOf(robot(bodies + "<drake:collision_filter_group name='g'><drake:member link='x'/>"
                                  "</drake:collision_filter_group>\n")),
      "found the link 'x', expected one that exists");
}

// ---- Reports

TEST(Urdf, WhatIsNotSimulatedIsReportedWithItsPlace) {
  const Scene scene = read(robot(
      "<material name='red'><color rgba='1 0 0 1'/></material>\n" + link("a", "") +
      link("b", kMass + "<visual><geometry><mesh filename='http://x/y.dae'/></geometry></visual>") +
      joint("revolute", kLimit + "\n<safety_controller k_velocity='1'/><calibration rising='0'/>") +
      "<gazebo reference='b'><mu1>1</mu1></gazebo>\n"));
  const std::string ignored = allNotesOf(scene, Kind::Ignored);
  EXPECT_HAS(ignored, "2: 1 <material>: colours are not simulated");
  EXPECT_HAS(ignored, "4: 1 <visual>: what is simulated are collision shapes");
  EXPECT_HAS(ignored, "6: joint 'j_b': <safety_controller> is for the controller");
  EXPECT_HAS(ignored, "6: joint 'j_b': <calibration>");
  EXPECT_HAS(ignored, "7: 1 element of another program");
  EXPECT_HAS(allNotesOf(scene, Kind::Read), "robot 'r': 2 links, 1 joint (1 moving)");
}

TEST(Urdf, UnknownElementsAndAttributesAreRefusedWithNearNames) {
  EXPECT_HAS(robotErrorOf(robot("<lnik name='a'/>\n" + link("b"))),
             "2:1: robot: found the element 'lnik', expected one that belongs here (did you mean "
             "'link'?)");
  EXPECT_HAS(robotErrorOf(robot(link("b", kMass + "<colision/>"))), "did you mean 'collision'?");
  EXPECT_HAS(robotErrorOf(pair("revolute", "<limit lower='0' uper='1' effort='1' velocity='1'/>")),
             "4:87: joint 'j_b': limit: found the attribute 'uper'");
  EXPECT_HAS(robotErrorOf(pair("revolutte", kLimit)), "did you mean 'revolute'?");
  EXPECT_HAS(allNotesOf(read("<robot><link name='a'/></robot>"), Kind::Warning),
             "1: robot: name is missing, which URDF asks for");
  EXPECT_HAS(robotErrorOf(robot("")), "found no link");
}

TEST(Urdf, NamesThatResembleNothingOfUrdfAreNotedOnceAndNotRead) {
  // As exporters of well-known robots write them.
  const Scene scene =
      read(robot(link("a", "") + link("b", kMass + "<self_collision_checking/>") + link("c") +
                 joint("revolute",
                       "<limit lower='-1' upper='1' effort='5' velocity='3' current='2'/>"
                       "<dynamics D='1' K='7000' mu_coulomb='0'/><joint_properties x='1'/>") +
                 joint("revolute",
                       "<limit lower='-1' upper='1' effort='5' velocity='3' current='2'/>"
                       "<axis xyz='0 0 1' rpy='0 0 0'/>",
                       "b", "c")));
  const std::string ignored = allNotesOf(scene, Kind::Ignored);
  EXPECT_HAS(ignored,
             "5: attribute 'current' of <limit> is none of this format: it is not read (found 2 "
             "times, this the first)");
  EXPECT_HAS(ignored, "5: attribute 'D' of <dynamics> is none of this format: it is not read\n");
  EXPECT_HAS(ignored, "3: element <self_collision_checking> in link is none of this format");
  EXPECT_HAS(ignored, "5: element <joint_properties> in joint is none of this format");
  EXPECT_HAS(ignored, "attribute 'rpy' of <axis>");
  EXPECT_EQ(jointOf(scene.model, "j_b").damping, 0);
  EXPECT_EQ(jointOf(scene.model, "j_b").upper, 1);
  // The world of a scene has other files as well: there a mistake is one again.
  EXPECT_HAS(robotErrorOf("<mujoco><worldbody blue='1'/></mujoco>"), "found the attribute 'blue'");
}

TEST(Urdf, AShapeThatUrdfDoesNotHaveIsRefused) {
  EXPECT_HAS(robotErrorOf(robot(link("a", kMass + "<collision><geometry><torus r='1'/></geometry>"
                                                  "</collision>"))),
             "found a shape that URDF does not have, expected one of box, cylinder");
}

TEST(Urdf, AMovingLinkWithoutAnInertialHasTheMassOfItsCollisionShapes) {
  const std::string box = "<collision><geometry><box size='0.1 0.2 0.3'/></geometry></collision>";
  const Scene scene = read(robot(link("a", box) + link("b", box) + joint("revolute", kLimit)));
  const MassProperties& mass = scene.model.massProperties(scene.model.findBody("b"));
  EXPECT_NEAR(mass.mass, 1000 * 0.1 * 0.2 * 0.3, 1e-12);
  EXPECT_NEAR(mass.inertia(0, 0), mass.mass * (0.2 * 0.2 + 0.3 * 0.3) / 12, 1e-12);
  EXPECT_HAS(allNotesOf(scene, Kind::Changed),
             "3: link 'b': no mass is given, it is that of its collision shapes at 1000 kg/m^3");
  // The root without a mass stands, as before.
  EXPECT_HAS(allNotesOf(scene, Kind::Changed), "2: link 'a': the root has no mass");
}

TEST(Urdf, ALinkThatIsSaidToHaveNoMassTakesThatOfItsShapesOnlyWhereNothingElseMoves) {
  const std::string box = "<collision><geometry><box size='0.1 0.1 0.1'/></geometry></collision>";
  const std::string none =
      "<inertial><mass value='0'/>"
      "<inertia ixx='1' ixy='0' ixz='0' iyy='1' iyz='0' izz='1'/></inertial>";
  const auto massOf = [&](const std::string& behind) {
    const Scene scene = read(robot(link("a", "") + link("b", none + box) + link("c", behind) +
                                   joint("revolute", kLimit) + joint("fixed", "", "b", "c")));
    EXPECT_HAS(allNotesOf(scene, Kind::Changed),
               "found a mass of 0 kg with an inertia (ixx 1, ixy 0, ixz 0, iyy 1, iyz 0, izz 1): "
               "read as a link without an inertial");
    return scene.model.massProperties(scene.model.findBody("b")).mass;
  };
  EXPECT_EQ(massOf(kMass), 0);
  EXPECT_NEAR(massOf(""), 1, 1e-12);
  // Behind a fixed joint, where the moving link has neither mass nor shapes.
  const Scene scene = read(robot(link("a", "") + link("b", "") + link("c", box) +
                                 joint("revolute", kLimit) + joint("fixed", "", "b", "c")));
  EXPECT_NEAR(scene.model.massProperties(scene.model.findBody("c")).mass, 1, 1e-12);
}

TEST(Urdf, XacroIsRefusedWithAdvice) {
  for (const std::string& macro : std::vector<std::string>{
           "<xacro:macro name='m'/>", "<link name='${prefix}a'/>", "<link name='$(arg x)'/>",
           "<link name='a'><visual><origin xyz='${x} 0 0'/></visual></link>"}) {
    EXPECT_HAS(robotErrorOf("<robot name='r' xmlns:xacro='http://ros.org/wiki/xacro'>\n" + macro +
                            "</robot>"),
               "run 'xacro FILE -o robot.urdf' first");
    EXPECT_HAS(robotErrorOf("<robot name='r'>\n" + macro + "</robot>"), "2:");
  }
}

// ---- Files that mean harm

TEST(UrdfHostile, RingsOfJointsAreRefusedWithTheRing) {
  const std::string ring = link("a") + link("b") + link("c") + joint("continuous", "", "a", "b") +
                           joint("continuous", "", "b", "c") + joint("continuous", "", "c", "a");
  EXPECT_HAS(robotErrorOf(robot(ring)), "found a ring of links 'a' -> ");
  EXPECT_HAS(robotErrorOf(robot(link("a") + joint("continuous", "", "a", "a"))),
             "found one link as parent and child");
}

TEST(UrdfHostile, TwoRootsAndNoParentAreRefused) {
  EXPECT_HAS(robotErrorOf(robot(link("a") + link("b"))),
             "3:1: link 'b': found a root besides 'a' at 2:1, expected one link");
  EXPECT_HAS(robotErrorOf(robot(link("b") + joint("continuous"))),
             "3:51: joint 'j_b': parent: found the link 'a', expected one that exists");
  EXPECT_HAS(
      robotErrorOf(robot(link("b") + "<joint name='j' type='fixed'><child link='b'/></joint>")),
      "3:1: joint 'j': parent is missing");
}

TEST(UrdfHostile, ALinkWithTwoParentsIsRefusedWithBothPlaces) {
  EXPECT_HAS(robotErrorOf(robot(link("a") + link("b") + link("c") + joint("continuous") +
                                joint("continuous", "", "b", "c") +
                                "<joint name='k' type='fixed'><parent link='a'/>"
                                "<child link='c'/></joint>\n")),
             "7:1: joint 'k': found the link 'c' as child again (of 'j_c' at 6:1 before)");
}

TEST(UrdfHostile, NamesTakenTwiceAreRefused) {
  EXPECT_HAS(robotErrorOf(robot(link("a") + link("a"))),
             "3:13: body 'a': found the name twice, expected another than at 2:13");
  EXPECT_HAS(robotErrorOf(robot(link("a") + link("b") + joint("fixed") + joint("fixed"))),
             "joint 'j_b': found the name twice");
}

TEST(UrdfHostile, NumbersThatAreNoneAreRefused) {
  for (const std::string word : {"nan", "inf", "1e999", "0x1p3", "1,5", "--1", "1.0.0", ""}) {
    EXPECT_HAS(robotErrorOf(pair("continuous", "<origin xyz='0 0 " + word + "'/>")), "origin: xyz")
        << word;
  }
  EXPECT_HAS(robotErrorOf(pair("continuous", "<axis xyz='0 0 0'/>")),
             "axis: xyz: found '0 0 0', expected an axis other than 0");
  EXPECT_HAS(robotErrorOf(pair("revolute", "<limit lower='1' upper='0' effort='1' velocity='1'/>")),
             "found lower 1 above upper 0");
  EXPECT_HAS(robotErrorOf(pair("revolute", "<limit lower='nan' upper='0' effort='1'/>")), "'nan'");
}

TEST(UrdfHostile, AbsurdCountsEndAtTheLimitAndInTime) {
  std::string many;
  for (int i = 0; i < 2000; ++i) many += "<link name='" + std::to_string(i) + "'/>\n";
  try {
    (void)readSceneXml(robot(many), "", "r.xml", {.maxBodies = 100});
    FAIL();
  } catch (const SceneError& error) {
    EXPECT_HAS(std::string(error.what()), "found more than 100 bodies, the limit");
  }
  // A long chain, held and mimicked in the worst order, is no trouble.
  constexpr int kLinks = 5000;
  std::string chain = link("0", "");
  for (int i = kLinks; i > 0; --i) chain += link(std::to_string(i), i == kLinks ? kMass : "");
  for (int i = kLinks; i > 1; --i)
    chain += joint("continuous", "<mimic joint='j_" + std::to_string(i - 1) + "'/>",
                   std::to_string(i - 1), std::to_string(i));
  chain += joint("continuous", "<mimic joint='absent'/>", "0", "1");
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_FALSE(robotErrorsOf(robot(chain)).empty());
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
}

TEST(UrdfHostile, DocumentTypesAreRefused) {
  EXPECT_HAS(robotErrorOf("<!DOCTYPE r [<!ENTITY x SYSTEM 'file:///etc/passwd'>]>\n"
                          "<robot name='r'>&x;</robot>"),
             "1:1: ");
}

}  // namespace
}  // namespace tangere
