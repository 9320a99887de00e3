// SPDX-License-Identifier: Apache-2.0
//
// Malformed and hostile MJCF: a located error each, nothing opened outside the model's folders, and
// no long wait.
#include <tangere/scene.hpp>

#include "io/scene_text.hpp"

#include <gtest/gtest.h>

#include <sys/stat.h>

#include <chrono>
#include <string>
#include <vector>

namespace tangere {
namespace {

using test::contains;
using test::SceneFolder;

/// "file:line:column: message" of every error; empty when the text is accepted.
std::vector<std::string> errorsIn(const std::string& text,
                                  const std::filesystem::path& folder = "no/such/folder",
                                  const SceneLimits& limits = {}) {
  try {
    (void)readSceneXml(text, folder, "m.xml", limits);
    return {};
  } catch (const SceneError& error) {
    std::vector<std::string> out;
    for (const ImportNote& note : error.errors()) {
      EXPECT_EQ(note.kind, ImportNote::Kind::Error);
      out.push_back(describe(note));
    }
    return out;
  }
}

/// The one error of a text, or what is wrong with that.
std::string errorIn(const std::string& text, const std::filesystem::path& folder = "no/such/folder",
                    const SceneLimits& limits = {}) {
  const std::vector<std::string> errors = errorsIn(text, folder, limits);
  if (errors.empty()) return "accepted";
  return errors.size() == 1 ? errors[0] : errors[0] + " | " + errors[1];
}

std::string mujoco(const std::string& content) { return "<mujoco>\n" + content + "\n</mujoco>"; }
std::string inWorld(const std::string& content) {
  return mujoco("<worldbody>\n" + content + "\n</worldbody>");
}
/// A body with something wrong in line 3, at column 7: "<body>" comes before it.
std::string inBody(const std::string& content) {
  return inWorld("<body>" + content + "<freejoint/><geom size='1'/></body>");
}

struct Case {
  const char* name;
  std::string text;
  std::string expected;  // place and part of the message
};

std::vector<Case> cases() {
  const std::string ball = "<body><freejoint/><geom size='1'/></body>";
  return {
      {"EntityBomb", "<!DOCTYPE a [<!ENTITY x 'ha'><!ENTITY y '&x;&x;'>]>\n<mujoco>&y;</mujoco>",
       "m.xml:1:1: found '<', expected an element: document types and entities"},
      {"ExternalEntity", mujoco("<!ENTITY x SYSTEM 'file:///etc/passwd'>"), "m.xml:2:1: found '<'"},
      {"UnknownEntity", mujoco("&xxe;"), "m.xml:2:1: found the entity 'xxe'"},
      {"Truncated", "<mujoco>\n<worldbody>\n<body name='a",
       "m.xml:3:14: found the end of the file"},
      {"NotClosed", "<mujoco>\n<worldbody>\n</mujoco>", "m.xml:3:1: found '</mujoco>', expected"},
      {"BinaryJunk", std::string("<\x80\xff\x01junk"), "found a byte not of UTF-8 at byte 1"},
      {"OtherRoot", "<html><body/></html>",
       "m.xml:1:1: found the element 'html', expected <mujoco>"},
      {"Empty", "   \n", "m.xml: no scene: the file is empty"},
      {"NoBodies", "<mujoco/>", "m.xml: no scene: found no body"},
      {"UnknownElement", inWorld("<boddy/>"),
       "m.xml:3:1: worldbody: found the element 'boddy', expected one that belongs here (did you "
       "mean 'body'"},
      {"UnknownAttribute", inBody("<geom size='1' frictoin='1'/>"),
       "m.xml:3:22: geom: found the attribute 'frictoin', expected one of MJCF's (did you mean "
       "'friction'"},
      {"ElementInTheWrongPlace", mujoco("<joint/>"),
       "m.xml:2:1: mujoco: found the element 'joint'"},
      {"TextBetweenElements", inWorld("hello" + ball),
       "m.xml:3:1: worldbody: found the text 'hello"},
      {"AttributeTwice", inBody("<geom size='1' size='2'/>"),
       "m.xml:3:22: found the attribute 'size' twice, first at 3:13"},
      {"NanSize", inBody("<geom size='nan'/>"),
       "m.xml:3:19: geom: size: found 'nan', expected a size"},
      {"InfinitePosition", inWorld("<body pos='inf 0 0'/>"),
       "m.xml:3:12: body: pos: found 'inf', expected a position"},
      {"HugeNumber", inBody("<geom size='1e999'/>"), "m.xml:3:19: geom: size: found '1e999'"},
      {"HexNumber", inBody("<geom size='0x1p3'/>"), "m.xml:3:19: geom: size: found '0x1p3'"},
      {"CommaNumber", inBody("<geom size='1,5'/>"), "m.xml:3:19: geom: size: found '1,5'"},
      {"TwoNumbersForThree", inWorld("<body pos='0 0'/>"),
       "m.xml:3:12: body: pos: found 2 numbers, expected 3 numbers"},
      {"EmptyNumber", inWorld("<body pos=''/>"), "m.xml:3:12: body: pos: found nothing"},
      {"ZeroSize", inBody("<geom size='0'/>"),
       "m.xml:3:19: geom: size: found '0', expected a radius"},
      {"MissingSize", inBody("<geom type='box'/>"), "m.xml:3:7: geom: size: found nothing"},
      {"NegativeMass", inBody("<geom size='1' mass='-1'/>"),
       "m.xml:3:28: geom: mass: found '-1', expected a mass of 0 or more"},
      {"NegativeFriction", inBody("<geom size='1' friction='-1'/>"),
       "m.xml:3:32: geom: friction: found '-1'"},
      {"WrongEnumeration", inBody("<geom type='spere' size='1'/>"),
       "m.xml:3:19: geom: type: found 'spere', expected 'plane', 'hfield', 'sphere'"},
      {"WrongBoolean", inBody("<geom size='1' shellinertia='yes'/>"),
       "m.xml:3:36: geom: shellinertia: found 'yes', expected 'true' or 'false'"},
      {"WrongContactDimension", inBody("<geom size='1' condim='2'/>"), "condim: found '2'"},
      {"ZeroAxis", inWorld("<body><joint axis='0 0 0'/><geom size='1'/></body>"),
       "m.xml:3:20: joint: axis: found '0 0 0', expected a direction other than zero"},
      {"ZeroQuaternion", inWorld("<body quat='0 0 0 0'/>"),
       "m.xml:3:13: body: quat: found '0 0 0 0', expected a quaternion other than zero"},
      {"TwoOrientations", inWorld("<body quat='1 0 0 0' euler='0 0 0'/>"),
       "m.xml:3:29: body: found more than one orientation"},
      {"LimitsTheWrongWay", inWorld("<body><joint range='2 1'/><geom size='1'/></body>"),
       "m.xml:3:21: joint: range: found '2 1', expected the lower number first"},
      {"ImpossibleInertia",
       inWorld("<body><freejoint/><inertial pos='0 0 0' mass='1' diaginertia='1 1 5'/></body>"),
       "m.xml:3:1: body: found principal moments of inertia"},
      {"IndefiniteInertia",
       inWorld(
           "<body><freejoint/><inertial pos='0 0 0' mass='1' fullinertia='1 1 1 2 0 0'/></body>"),
       "fullinertia: found '1 1 1 2 0 0', expected a positive definite inertia"},
      {"NoMass", inWorld("<body name='a'><joint/></body>"),
       "m.xml:3:1: body 'a': found joints but neither mass nor inertia"},
      {"NameTwice", inWorld("<body name='a'/>\n<body name='a'/>"),
       "m.xml:4:13: body 'a': found the name twice, expected another than at 3:13"},
      {"JointInTheWorld", inWorld("<frame><joint/></frame>" + ball),
       "m.xml:3:8: joint: found a joint in the world"},
      {"FreeJointBelow",
       inWorld("<body><geom size='1'/><body><freejoint/><geom size='1'/></body></body>"),
       "m.xml:3:29: freejoint: found a free joint, expected it in a body directly in the world"},
      {"PlaneThatMoves", inBody("<geom type='plane' size='1 1 1'/>"),
       "m.xml:3:1: body 'body0': a plane"},
      {"UnknownMesh", inBody("<geom type='mesh' mesh='x'/>"),
       "m.xml:3:31: geom: mesh: found 'x', expected the name of a mesh"},
      {"UnknownClass", inBody("<geom class='x' size='1'/>"),
       "m.xml:3:20: geom: class: found 'x', expected a default class (there is 'main')"},
      {"UnknownJoint",
       mujoco("<worldbody>" + ball +
              "</worldbody>\n<actuator><motor joint='elbwo'/>"
              "</actuator>"),
       "m.xml:3:25: motor: joint: found 'elbwo', expected the name of a joint"},
      {"NoTarget", mujoco("<worldbody>" + ball + "</worldbody>\n<actuator><motor/></actuator>"),
       "m.xml:3:11: motor: found no joint, tendon or site"},
      {"Muscle",
       mujoco("<worldbody>" + ball + "</worldbody>\n<actuator><muscle joint='j'/></actuator>"),
       "m.xml:3:11: muscle: found <muscle>, which is not available in this version"},
      {"Flex",
       mujoco("<worldbody>" + ball + "</worldbody>\n<deformable><flex name='f'/></deformable>"),
       "m.xml:3:13: flex: flexible objects are not available"},
      {"Composite", inWorld("<composite type='cable'/>" + ball), "m.xml:3:1: found <composite>"},
      {"Plugin", inBody("<plugin plugin='a'/>"), "m.xml:3:7: found <plugin>"},
      {"GlobalCoordinates", mujoco("<compiler coordinate='global'/>"),
       "m.xml:2:23: compiler: coordinate: found 'global'"},
      {"WrongEulerSequence", mujoco("<compiler eulerseq='abc'/>"),
       "m.xml:2:21: compiler: eulerseq"},
      {"NegativeTimeStep", mujoco("<option timestep='-0.001'/>"),
       "m.xml:2:19: option: timestep: found '-0.001', expected a time step above 0"},
      {"HugeTimeStep", mujoco("<option timestep='1e6'/>"), "m.xml:2:19: option: timestep"},
      {"ClassTwice", mujoco("<default><default class='a'/><default class='a'/></default>"),
       "m.xml:2:46: default: class: found 'a', expected a name that no other class has"},
      {"KeyframeOfAnotherSize",
       mujoco("<worldbody>" + ball +
              "</worldbody>\n<keyframe><key qpos='1 2'/>"
              "</keyframe>"),
       "m.xml:3:22: key: qpos: found 2 numbers, expected 7 numbers"},
      {"WrappingTendon",
       mujoco("<worldbody>" + ball +
              "<site name='s'/></worldbody>\n<tendon><spatial><site site='s'/>"
              "<geom geom='g'/></spatial></tendon>"),
       "m.xml:3:34: spatial: geom: strings that wrap around geoms are not available"},
      {"OpenMeshAsExact",
       mujoco(
           "<asset><mesh name='m' inertia='exact' vertex='0 0 0 1 0 0 0 1 0 0 0 1' face='0 2 1 0 1 "
           "3'/></asset>\n<worldbody><body><freejoint/><geom type='mesh' mesh='m'/></body>"
           "</worldbody>"),
       "m.xml:2:8: mesh 'm': found inertia=\"exact\" of a mesh that is no closed solid"},
      {"FaceBeyondTheVertices",
       mujoco("<asset><mesh name='m' vertex='0 0 0 1 0 0 0 1 0 0 0 1' face='0 2 7'/></asset>"),
       "mesh 'm': face: found '7', expected indices"},
      {"FlatMesh",
       mujoco("<asset><mesh name='m' vertex='0 0 0 1 0 0 0 1 0 1 1 0'/></asset>\n<worldbody><body>"
              "<freejoint/><geom type='mesh' mesh='m'/></body></worldbody>"),
       "m.xml:2:31: mesh 'm': "},
      {"Picture", mujoco("<asset><hfield file='t.png' size='1 1 1 1'/></asset>"),
       "hfield 't': file: found 't.png', expected heights"},
  };
}

class MjcfRefused : public ::testing::TestWithParam<Case> {};

TEST_P(MjcfRefused, SaysWhereAndWhy) { EXPECT_HAS(errorIn(GetParam().text), GetParam().expected); }

INSTANTIATE_TEST_SUITE_P(Cases, MjcfRefused, ::testing::ValuesIn(cases()),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(MjcfLimits, AbsurdCountsAreRefusedAtOnce) {
  const auto begin = std::chrono::steady_clock::now();
  const std::string copies = "<replicate count='1000000000' offset='1 0 0'>";
  EXPECT_HAS(errorIn(inWorld(copies + "<body/></replicate>")),
             "m.xml:3:19: replicate: found more than 1000000 copies");
  EXPECT_HAS(errorIn(inWorld(copies + "</replicate>")), "replicate: found more than");
  // Copies of copies: none is large by itself.
  std::string nested, end;
  for (int i = 0; i < 12; ++i) {
    nested += "<replicate count='100'>";
    end += "</replicate>";
  }
  EXPECT_HAS(errorIn(inWorld(nested + end)), "copies in the file, the limit");
  EXPECT_HAS(errorIn(mujoco("<asset><hfield name='h' nrow='1000000' ncol='1000000' size='1 1 1 1'/>"
                            "</asset>")),
             "hfield 'h': found more cells than the limit");
  SceneLimits few;
  few.maxBodies = 3;
  EXPECT_HAS(errorIn(inWorld("<body/><body/><body/><body/>"), "", few), "found more than 3 bodies");
  const auto seconds = std::chrono::steady_clock::now() - begin;
  EXPECT_LT(std::chrono::duration<double>(seconds).count(), 10);
}

TEST(MjcfLimits, AreTheCauseOfTheError) {
  try {
    (void)readSceneXml(inWorld("<replicate count='1000000000'/>"), "", "m.xml");
    FAIL();
  } catch (const SceneError& error) {
    EXPECT_EQ(error.cause(), SceneError::Cause::Limit);
  }
}

TEST(MjcfLimits, DeepNestingDoesNotExhaustTheStack) {
  std::string deep;
  for (int i = 0; i < 20'000; ++i) deep += "<body>";
  EXPECT_HAS(errorIn("<mujoco><worldbody>" + deep), "nesting");
  // As deep as is allowed.
  std::string open, close;
  for (int i = 0; i < 125; ++i) {
    open += "<body pos='0 0 1'><joint type='slide'/><geom size='0.1'/>";
    close += "</body>";
  }
  EXPECT_EQ(errorIn("<mujoco><worldbody>" + open + close + "</worldbody></mujoco>"), "accepted");
}

TEST(MjcfLimits, TwentyErrorsAreListedAndAllAreCounted) {
  std::string bodies;
  for (int i = 0; i < 30; ++i) bodies += "<body><freejoint/><geom size='-1'/></body>\n";
  try {
    (void)readSceneXml(inWorld(bodies), "", "m.xml");
    FAIL();
  } catch (const SceneError& error) {
    EXPECT_EQ(error.errors().size(), 20u);
    EXPECT_GE(error.numErrors(), 30u);
  }
}

class MjcfOutside : public SceneFolder {
 protected:
  /// The error of a main file in "model", beside which there are other folders.
  std::string errorOfMain(const std::string& text) {
    const auto path = write("model/main.xml", text);
    try {
      (void)loadScene(path);
      return "accepted";
    } catch (const SceneError& error) {
      return describe(error.errors()[0]);
    }
  }
  std::string errorOfMesh(const std::string& file) {
    return errorOfMain("<mujoco><asset><mesh name='m' file='" + file +
                       "'/></asset><worldbody><body><freejoint/><geom type='mesh' "
                       "mesh='m'/></body></worldbody></mujoco>");
  }
};

constexpr const char* kTetrahedron =
    "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";

TEST_F(MjcfOutside, NoFileOutsideTheFolderIsOpened) {
  // They exist and are fine: only their place is wrong.
  write("secret/t.obj", kTetrahedron);
  write("secret/part.xml", "<mujoco><worldbody/></mujoco>");
  const std::string absolute = (folder() / "secret/t.obj").string();
  for (const std::string& file :
       {std::string("../secret/t.obj"), absolute, std::string("a/../../secret/t.obj"),
        "file://" + absolute, std::string("%2e%2e/secret/t.obj"), std::string("..\\secret\\t.obj"),
        std::string("C:/t.obj"), std::string("package://../secret/t.obj"),
        std::string("package://secret/../../secret/t.obj")}) {
    EXPECT_HAS(errorOfMesh(file), "main.xml:1:") << file;
    EXPECT_HAS(errorOfMesh(file), "expected one in the folder of the model") << file;
  }
  EXPECT_HAS(errorOfMain("<mujoco><include file='../secret/part.xml'/></mujoco>"),
             "expected one in the folder of the model");
  EXPECT_HAS(errorOfMain("<mujoco><include file='/etc/passwd'/></mujoco>"),
             "expected one in the folder of the model");
  EXPECT_HAS(
      errorOfMain("<mujoco><compiler meshdir='../secret'/><asset><mesh file='t.obj'/></asset>"
                  "<worldbody><body><freejoint/><geom type='mesh' mesh='t'/></body>"
                  "</worldbody></mujoco>"),
      "expected one in the folder of the model");
}

TEST_F(MjcfOutside, ALinkOutOfTheFolderIsNotFollowed) {
  write("secret/t.obj", kTetrahedron);
  write("model/inside.obj", kTetrahedron);
  std::filesystem::create_symlink("../secret/t.obj", folder() / "model/link.obj");
  std::filesystem::create_symlink("inside.obj", folder() / "model/fine.obj");
  EXPECT_HAS(errorOfMesh("link.obj"), "expected one in the folder of the model");
  EXPECT_EQ(errorOfMesh("fine.obj"), "accepted");
  EXPECT_EQ(errorOfMesh("sub/../inside.obj"), "accepted");  // lexically inside
}

TEST_F(MjcfOutside, OnlyRegularFilesAreRead) {
  std::filesystem::create_directories(folder() / "model/folder.obj");
  ASSERT_EQ(::mkfifo((folder() / "model/pipe.obj").c_str(), 0600), 0);
  EXPECT_HAS(errorOfMesh("folder.obj"), "main.xml:1:");
  EXPECT_HAS(errorOfMesh("pipe.obj"), "main.xml:1:");
  EXPECT_HAS(errorOfMesh("missing.obj"), "No such file");
}

TEST_F(MjcfOutside, IncludeRingsAreToldWithTheirChain) {
  write("model/a.xml", "<mujoco><include file='b.xml'/></mujoco>");
  write("model/b.xml", "<mujoco>\n<include file='a.xml'/></mujoco>");
  EXPECT_HAS(errorOfMain("<mujoco><include file='main.xml'/></mujoco>"),
             "found a file that includes itself: ");
  const std::string ring = errorOfMain("<mujoco><include file='a.xml'/></mujoco>");
  EXPECT_HAS(ring, "b.xml:2:16: include: found a file that includes itself: ");
  EXPECT_HAS(ring, "a.xml -> ");
  EXPECT_HAS(ring, "b.xml -> ");
}

TEST_F(MjcfOutside, IncludesHaveLimits) {
  for (int i = 0; i < 20; ++i) {
    write("model/f" + std::to_string(i) + ".xml",
          "<mujoco><include file='f" + std::to_string(i + 1) + ".xml'/></mujoco>");
  }
  EXPECT_HAS(errorOfMain("<mujoco><include file='f0.xml'/></mujoco>"), "deeper than 16");
  std::string many;
  for (int i = 0; i < 300; ++i) {
    write("model/g" + std::to_string(i) + ".xml", "<mujoco/>");
    many += "<include file='g" + std::to_string(i) + ".xml'/>";
  }
  EXPECT_HAS(errorOfMain("<mujoco>" + many + "</mujoco>"), "more than 256 included files");
  EXPECT_HAS(errorOfMain("<mujoco><include file='g1.xml'/><include file='g1.xml'/></mujoco>"),
             "found 'g1.xml' twice");
  EXPECT_HAS(errorOfMain("<mujoco><include/></mujoco>"), "main.xml:1:9: include: file is missing");
  write("model/broken.xml", "<mujoco>\n<worldbody>");
  EXPECT_HAS(errorOfMain("<mujoco><include file='broken.xml'/></mujoco>"), "broken.xml:2:12: ");
}

}  // namespace
}  // namespace tangere
