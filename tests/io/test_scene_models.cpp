// SPDX-License-Identifier: Apache-2.0
//
// [[model]] of a native scene: robot files, placed and named.
#include "io/robot_text.hpp"
#include "model/model_data.hpp"

namespace tangere {
namespace {

using test::allNotesOf;
using test::centerOf;
using test::parentNameOf;
using Kind = ImportNote::Kind;

const std::string kArm =
    "<robot name='arm'><link name='base'><inertial><mass value='5'/><inertia ixx='1' ixy='0' "
    "ixz='0' iyy='1' iyz='0' izz='1'/></inertial></link>\n"
    "<link name='tip'><inertial><mass value='1'/><inertia ixx='1' ixy='0' ixz='0' iyy='1' iyz='0' "
    "izz='1'/></inertial><collision><geometry><mesh filename='meshes/t.obj'/></geometry>"
    "<drake:proximity_properties><drake:mu_dynamic value='0.7'/></drake:proximity_properties>"
    "</collision></link>\n"
    "<joint name='j' type='continuous'><parent link='base'/><child link='tip'/><origin xyz='1 0 "
    "0'/>"
    "<axis xyz='0 0 1'/></joint></robot>\n";
const std::string kTetrahedron =
    "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";

class SceneModel : public test::SceneFolder {
 protected:
  void SetUp() override {
    SceneFolder::SetUp();
    write("robots/arm.urdf", kArm);
    write("robots/meshes/t.obj", kTetrahedron);
  }
  [[nodiscard]] Scene read(const std::string& text) const {
    return readSceneToml(text, folder(), "s.toml");
  }
  [[nodiscard]] std::string error(const std::string& text, const SceneLimits& limits = {}) const {
    try {
      (void)readSceneToml(text, folder(), "s.toml", limits);
    } catch (const SceneError& refused) {
      return refused.what();
    }
    return "accepted";
  }
};

std::string model(const std::string& more) {
  return "[[model]]\nfile = \"robots/arm.urdf\"\n" + more + "\n";
}

TEST_F(SceneModel, IsPlacedAndNamed) {
  const Scene scene =
      read(model("name = \"left\"\nposition = [0, 0, 2]\nrpy = [0, 0, "
                 "1.5707963267948966]") +
           model("name = \"right\"\nfixed = true") +
           "[[body]]\nname = \"floor\"\nfixed = true\nshapes = [{ plane = true }]\n");
  const Model& m = scene.model;
  EXPECT_EQ(m.options().solver, SolverType::Sap);
  EXPECT_EQ(m.numBodies(), 5);
  EXPECT_EQ(parentNameOf(m, "left/tip"), "left/base");
  EXPECT_VEC_NEAR(centerOf(m, "left/tip"), (Vec3{0, 1, 2}), 1e-15);
  EXPECT_VEC_NEAR(centerOf(m, "right/tip"), (Vec3{1, 0, 0}), 1e-15);
  EXPECT_EQ(m.bodyType(m.findBody("left/base")), BodyType::Dynamic);
  EXPECT_EQ(m.bodyType(m.findBody("right/base")), BodyType::Fixed);
  EXPECT_GE(m.findJoint("left/j"), 0);
  EXPECT_GE(m.findJoint("right/j"), 0);
  EXPECT_EQ(m.numVelocities(), 6 + 1 + 1);
}

TEST_F(SceneModel, WithoutANameKeepsTheNamesOfTheFile) {
  const Scene scene = read(model(""));
  EXPECT_GE(scene.model.findBody("tip"), 0);
  EXPECT_HAS(error(model("") + model("")), "body 'base': found the name twice");
  EXPECT_HAS(
      error("[[body]]\nname = \"tip\"\nshapes = [{ sphere = 1 }]\n" + model("")),
      "robots/arm.urdf:2:13: body 'tip': found the name twice, expected another than at 2:8");
}

TEST_F(SceneModel, ItsBodiesMayBeExcludedAndItsMaterialsDoNotClash) {
  EXPECT_EQ(error(model("name = \"a\"") + model("name = \"b\"") +
                  "[material.\"a/surface0\"]\nfriction = 0.1\n"
                  "[[exclude]]\nbodies = [\"a/tip\", \"b/tip\"]\n"),
            "accepted");
  EXPECT_HAS(error(model("name = \"a\"") + "[[exclude]]\nbodies = [\"a/tip\", \"a/tap\"]\n"),
             "found the body 'a/tap'");
}

TEST_F(SceneModel, MistakesNameTheirFile) {
  write("bad.urdf", "<robot name='r'>\n<lnk/></robot>");
  EXPECT_HAS(error("[[model]]\nfile = \"bad.urdf\"\n"), "bad.urdf:2:1: robot: found the element");
  EXPECT_HAS(error("[[model]]\nfile = \"absent.urdf\"\n"), "s.toml:2:8: model: 'absent.urdf'");
  EXPECT_HAS(error("[[model]]\nfile = \"../x.urdf\"\n"), "expected one in the folder");
  EXPECT_HAS(error("[[model]]\nfile = \"/etc/passwd\"\n"), "expected one in the folder");
  write("scene.toml", "[[body]]\n");
  EXPECT_HAS(error("[[model]]\nfile = \"scene.toml\"\n"), "is no XML, expected MJCF, URDF");
  EXPECT_HAS(error("[[model]]\nname = \"a\"\n"), "file is missing");
  EXPECT_HAS(error(model("name = \"a/b\"")), "without '/'");
  EXPECT_HAS(error(model("nam = \"a\"")), "did you mean 'name'?");
  EXPECT_HAS(error("[simulation]\nsolver = \"impulse\"\n" + model("")), "SAP solver");
}

TEST_F(SceneModel, MayBeMjcf) {
  write("m.xml",
        "<mujoco><worldbody><body name='b' pos='1 0 0'><joint name='j' axis='0 0 1'/>"
        "<geom size='0.1'/></body></worldbody></mujoco>");
  const std::string text = "[[model]]\nfile = \"m.xml\"\nname = \"x\"\nposition = [0, 0, 2]\n";
  const Scene scene = read(text);
  EXPECT_VEC_NEAR(centerOf(scene.model, "x/b"), (Vec3{1, 0, 2}), 1e-15);
  EXPECT_GE(scene.model.findJoint("x/j"), 0);
  EXPECT_HAS(error(text + "fixed = true\n"),
             "s.toml:5:9: model 'x': found fixed = true for an MJCF");
}

TEST_F(SceneModel, MayYieldAndStartAsTheSceneSays) {
  const Scene scene =
      read(model("contact = { model = \"hydroelastic\", modulus = 2e6 }\n"
                 "positions = { j = 0.25 }"));
  bool isFound = false;
  for (const Material& material : scene.model.data().materials) {
    if (material.friction != 0.7) continue;  // that of the file stays
    isFound = true;
    EXPECT_EQ(material.contact, ContactModel::Hydroelastic);
    EXPECT_EQ(material.hydroelasticModulus, 2e6);
  }
  EXPECT_TRUE(isFound);
  ASSERT_EQ(scene.model.data().initialPositions.size(), 1u);
  EXPECT_EQ(scene.model.data().initialPositions[0].position, 0.25);
  EXPECT_HAS(error(model("positions = { elbow = 1 }")), "no joint is called 'elbow'");
  EXPECT_HAS(error(model("contact = { modulus = 1e6 }")), "expected model");
}

TEST_F(SceneModel, CountsGoForTheWholeScene) {
  std::string many;
  for (int i = 0; i < 10; ++i) many += model("name = \"m" + std::to_string(i) + "\"");
  EXPECT_HAS(error(many, {.maxBodies = 15}), "found more than 15 bodies, the limit");
  EXPECT_HAS(error(many, {.maxBytes = 3000}), "bytes together, the limit");
}

TEST_F(SceneModel, TheSceneDecidesAboutTimeAndGravity) {
  write("w.sdf",
        "<sdf version='1.9'><world name='w'><physics type='ode'><max_step_size>0.01"
        "</max_step_size></physics><model name='m'><link name='l'/></model></world></sdf>");
  const Scene scene = read("[[model]]\nfile = \"w.sdf\"\nname = \"x\"\n");
  EXPECT_EQ(scene.model.options().dt, 0.002);
  EXPECT_GE(scene.model.findBody("x/m::l"), 0);
  EXPECT_HAS(allNotesOf(scene, Kind::Ignored), "[simulation] decides");
}

}  // namespace
}  // namespace tangere
