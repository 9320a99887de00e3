// SPDX-License-Identifier: Apache-2.0
//
// Scenes and their meshes as files: what is opened, what is not, and what is said about it.
#include "io/scene_text.hpp"

#include <sys/stat.h>

#include <chrono>

namespace tangere {
namespace {

using test::contains;
using test::errorOf;
using test::notesOf;
using test::SceneFolder;
using Kind = ImportNote::Kind;

const std::string kTetrahedron =
    "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
const std::string kOpen = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\n";

std::string bodyOf(const std::string& shape, const std::string& more = "") {
  return "[[body]]\nname = \"b\"\n" + more + "shapes = [{ " + shape + " }]\n";
}
const std::string kFixed = "fixed = true\n";

class SceneFile : public SceneFolder {
 protected:
  [[nodiscard]] Scene read(const std::string& text) const {
    return readSceneToml(text, folder(), "s.toml");
  }
  [[nodiscard]] std::string error(const std::string& text, const SceneLimits& limits = {}) const {
    return errorOf(text, folder(), limits);
  }
};

SceneError::Cause causeOf(const std::filesystem::path& path, const SceneLimits& limits = {}) {
  try {
    (void)loadScene(path, limits);
  } catch (const SceneError& error) {
    EXPECT_EQ(error.errors()[0].file, path.string());
    return error.cause();
  }
  ADD_FAILURE() << "accepted: " << path;
  return SceneError::Cause::Content;
}

TEST_F(SceneFile, IsReadWithItsMeshesFromItsFolder) {
  write("parts/t.obj", kTetrahedron);
  const auto path = write("my_scene.toml", bodyOf("mesh = \"parts/t.obj\""));
  const Scene scene = loadScene(path);
  EXPECT_EQ(scene.name, "my_scene");
  EXPECT_NEAR(scene.model.massProperties(0).mass, 1000.0 / 6, 1e-9);
  const auto notes = notesOf(scene, Kind::Read);
  ASSERT_EQ(notes.size(), 2u);
  EXPECT_HAS(notes[1], "3: mesh 'parts/t.obj': 4 triangles, a closed solid, used as they are");
}

TEST_F(SceneFile, ThatCannotBeReadIsAFaultOfTheFile) {
  EXPECT_EQ(causeOf(folder() / "absent.toml"), SceneError::Cause::File);
  EXPECT_EQ(causeOf(folder()), SceneError::Cause::File);
  EXPECT_EQ(causeOf("/dev/zero"), SceneError::Cause::File);
  ASSERT_EQ(mkfifo((folder() / "pipe.toml").c_str(), 0600), 0);
  EXPECT_EQ(causeOf(folder() / "pipe.toml"), SceneError::Cause::File);
  EXPECT_EQ(causeOf(write("large.toml", std::string(100, ' ')), {.maxBytes = 99}),
            SceneError::Cause::Limit);
}

TEST_F(SceneFile, IsARobotFileWhereItsRootElementSaysSoWhateverItIsCalled) {
  const std::string body = "<body name='b'><freejoint/><geom size='1'/></body>";
  EXPECT_EQ(loadScene(write("a.toml", "<mujoco><worldbody>" + body + "</worldbody></mujoco>"))
                .model.bodyName(0),
            "b");
  EXPECT_EQ(loadScene(write("a.toml",
                            "<?xml version='1.0'?>\n<robot name='r'><link name='l'/>"
                            "</robot>"))
                .model.bodyName(0),
            "l");
  EXPECT_EQ(loadScene(write("a.toml",
                            "\xef\xbb\xbf\n <sdf version='1.9'><model name='m'>"
                            "<link name='k'/></model></sdf>"))
                .model.bodyName(0),
            "k");
}

TEST_F(SceneFile, OfAnotherFormatIsRefusedByNameWhateverItIsCalled) {
  const auto message = [&](const std::string& content) {
    try {
      (void)loadScene(write("a.toml", content));
    } catch (const SceneError& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  EXPECT_HAS(message("<html/>"),
             "1:1: found the element 'html', expected <mujoco> (MJCF), <robot>");
  EXPECT_HAS(message("{\"body\": []}"), "found JSON");
  EXPECT_HAS(message("glTF\x02"), "found a binary glTF mesh");
  EXPECT_HAS(message(""), "no scene");
}

TEST_F(SceneFile, MeshesOutsideTheFolderAreNotOpened) {
  write("scene/in.obj", kTetrahedron);
  write("secret.obj", kTetrahedron);
  std::filesystem::create_symlink(folder() / "secret.obj", folder() / "scene/link.obj");
  std::filesystem::create_directory_symlink(folder(), folder() / "scene/up");
  std::filesystem::create_symlink("in.obj", folder() / "scene/inside.obj");
  const auto inside = [&](const std::string& file) {
    return errorOf(bodyOf("mesh = '" + file + "'"), folder() / "scene");
  };
  const std::string outside = (folder() / "secret.obj").string();
  for (const std::string& file : std::vector<std::string>{
           "../secret.obj", "a/../../secret.obj", outside, "link.obj", "up/secret.obj",
           "C:\\secret.obj", "\\\\host\\share\\a.obj", "%2e%2e/secret.obj", "http://host/a.obj",
           "file:///etc/passwd", "/etc/passwd", "", ".."}) {
    EXPECT_HAS(inside(file), "expected one in the folder of the scene or below it") << file;
  }
  EXPECT_EQ(inside("in.obj"), "accepted");
  EXPECT_EQ(inside("inside.obj"), "accepted");
  EXPECT_EQ(inside("./in.obj"), "accepted");
}

TEST_F(SceneFile, MeshesThatAreNoRegularFilesAreRefusedAtOnce) {
  EXPECT_HAS(error(bodyOf("mesh = \"absent.obj\"")),
             "3:20: body 'b': shape: 'absent.obj': No such file");
  std::filesystem::create_directory(folder() / "folder.obj");
  EXPECT_HAS(error(bodyOf("mesh = \"folder.obj\"")), "not a regular file");
  ASSERT_EQ(mkfifo((folder() / "pipe.obj").c_str(), 0600), 0);
  EXPECT_HAS(error(bodyOf("mesh = \"pipe.obj\"")), "not a regular file");
  write("what.xyz", "1 2 3");
  EXPECT_HAS(error(bodyOf("mesh = \"what.xyz\"")), "mesh files end in .obj, .stl, .glb or .dae");
  write("what.gltf", "{}");
  EXPECT_HAS(error(bodyOf("mesh = \"what.gltf\"")), "export it as .glb");
}

TEST_F(SceneFile, AnOpenMeshHasNoMassAndSaysWhereItIsOpen) {
  write("open.obj", kOpen);
  EXPECT_HAS(error(bodyOf("mesh = \"open.obj\"")),
             "found a mesh with 3 open edges, the first at (");
  EXPECT_HAS(error(bodyOf("mesh = \"open.obj\"", "mass = 1\n")), "3 open edges");
  EXPECT_EQ(error(bodyOf("mesh = \"open.obj\"", "mass = 1\ninertia = [1, 1, 1]\n")), "accepted");
  const Scene scene = read(bodyOf("mesh = \"open.obj\"", kFixed));
  EXPECT_HAS(notesOf(scene, Kind::Read)[1], "an open surface");
}

TEST_F(SceneFile, AnInsideOutMeshIsTurnedWithAWarningAndAMixedOneRefused) {
  write("in.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\nf 1 4 2\nf 1 3 4\nf 2 4 3\n");
  const Scene scene = read(bodyOf("mesh = \"in.obj\""));
  EXPECT_NEAR(scene.model.massProperties(0).mass, 1000.0 / 6, 1e-9);
  ASSERT_EQ(notesOf(scene, Kind::Warning).size(), 1u);
  EXPECT_HAS(notesOf(scene, Kind::Warning)[0], "faced inward and were turned");
  write("mixed.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\nf 1 2 4\nf 1 4 3\nf 2 3 4\n");
  for (const std::string& more : {std::string(), kFixed})
    EXPECT_HAS(error(bodyOf("mesh = \"mixed.obj\"", more)), "triangles that face opposite ways");
}

TEST_F(SceneFile, AMeshWithAnEdgeOfThreeTrianglesIsASurfaceAndNoSolid) {
  write("fin.obj", kTetrahedron + "v 1 -1 0\nf 1 2 5\n");
  const Scene scene = read(bodyOf("mesh = \"fin.obj\"", kFixed));
  ASSERT_EQ(notesOf(scene, Kind::Warning).size(), 1u);
  EXPECT_HAS(notesOf(scene, Kind::Warning)[0], "used as a surface");
  EXPECT_HAS(error(bodyOf("mesh = \"fin.obj\"")), "expected a closed one to take the mass from");
}

TEST_F(SceneFile, TrianglesWithoutAnAreaAreDroppedAndCounted) {
  write("t.obj", kTetrahedron + "f 1 1 2\nv 2 0 0\nf 1 2 5\n");
  const Scene scene = read(bodyOf("mesh = \"t.obj\"", kFixed));
  ASSERT_EQ(notesOf(scene, Kind::Changed).size(), 1u);
  EXPECT_HAS(notesOf(scene, Kind::Changed)[0], "mesh 't.obj': 2 triangles without an area dropped");
  write("line.obj", "v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n");
  EXPECT_NE(error(bodyOf("mesh = \"line.obj\"", kFixed)), "accepted");
  EXPECT_NE(error(bodyOf("convex = \"line.obj\"", kFixed)), "accepted");
}

TEST_F(SceneFile, ABrokenMeshFileIsRefusedWithItsOwnLine) {
  write("bad.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3000000\n");
  EXPECT_HAS(error(bodyOf("mesh = \"bad.obj\"")),
             "3:20: body 'b': shape: bad.obj:4: vertex reference");
  for (const std::string index : {"0", "-9"}) {
    write("bad.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 " + index + "\n");
    EXPECT_HAS(error(bodyOf("mesh = \"bad.obj\"")), "bad.obj:4:");
  }
  write("cut.stl", std::string(80, ' ') + "\xff\xff\xff\xef" + std::string(16, ' '));
  EXPECT_HAS(error(bodyOf("mesh = \"cut.stl\"")), "cut.stl: binary STL with 4026531839 triangles");
  write("nan.stl", "solid\nfacet normal 0 0 1\nouter loop\nvertex nan 0 0\n");
  EXPECT_HAS(error(bodyOf("mesh = \"nan.stl\"")), "nan.stl:4:");
}

TEST_F(SceneFile, AMeshIsScaledOnceAndHulledOnlyWhenAsked) {
  write("t.obj", kTetrahedron);
  const Scene scene = read(bodyOf("mesh = \"t.obj\", scale = [2, 1, 1]") +
                           "[[body]]\nname = \"c\"\nshapes = [{ mesh = \"t.obj\", scale = 0.5, "
                           "representation = \"convex\" }, { convex = \"t.obj\" }]\n");
  EXPECT_EQ(scene.model.shape(0)->type(), ShapeType::Mesh);
  EXPECT_EQ(scene.model.shape(0)->localAabb().upper, (Vec3{2, 1, 1}));
  EXPECT_EQ(scene.model.shape(1)->type(), ShapeType::Convex);
  EXPECT_EQ(scene.model.shape(1)->localAabb().upper, (Vec3{0.5, 0.5, 0.5}));
  EXPECT_EQ(scene.model.shape(2)->localAabb().upper, (Vec3{1, 1, 1}));
  const auto changed = notesOf(scene, Kind::Changed);
  ASSERT_EQ(changed.size(), 2u);
  EXPECT_HAS(changed[0],
             "6: mesh 't.obj': 4 triangles replaced by their convex hull of 4 vertices");
  for (const std::string scale : {"0", "-1", "nan", "[1, 1]", "'2'"})
    EXPECT_NE(error(bodyOf("mesh = \"t.obj\", scale = " + scale)), "accepted");
  EXPECT_HAS(error(bodyOf("sphere = 1, scale = 2")), "unknown key 'scale'");
}

TEST_F(SceneFile, OneFileMakesOneShapeHoweverOftenItIsUsed) {
  write("t.obj", kTetrahedron);
  const Scene scene = read(bodyOf("mesh = \"t.obj\"", "count = [10, 1, 1]\nspacing = [1, 0, 0]\n") +
                           "[[body]]\nname = \"c\"\nshapes = [{ mesh = \"t.obj\" }]\n");
  for (int i = 1; i < scene.model.numShapes(); ++i)
    EXPECT_EQ(scene.model.shape(i), scene.model.shape(0));
  EXPECT_EQ(notesOf(scene, Kind::Read).size(), 2u);
}

TEST_F(SceneFile, SeamsOfAMeshAreWeldedWhenThatClosesIt) {
  std::string seams;
  const char* corners[4][3] = {{"0 0 0", "0 1 0", "1 0 0"},
                               {"0 0 0", "1 0 0", "0 0 1"},
                               {"0 0 0", "0 0 1", "0 1 0"},
                               {"1 0 0", "0 1 0", "0 0 1"}};
  for (const auto& triangle : corners)
    for (const char* corner : triangle) seams += std::string("v ") + corner + "\n";
  write("seams.obj", seams + "f 1 2 3\nf 4 5 6\nf 7 8 9\nf 10 11 12\n");
  const Scene scene = read(bodyOf("mesh = \"seams.obj\""));
  ASSERT_EQ(notesOf(scene, Kind::Changed).size(), 1u);
  EXPECT_HAS(notesOf(scene, Kind::Changed)[0], "made one (8 fewer), which closes the mesh");
}

TEST_F(SceneFile, MeshesOfAnOddSizeGiveAWarning) {
  write("t.obj", kTetrahedron);
  const auto warnings = [&](const std::string& scale) {
    return notesOf(read(bodyOf("mesh = \"t.obj\", scale = " + scale, kFixed)), Kind::Warning);
  };
  EXPECT_TRUE(warnings("1").empty());
  ASSERT_EQ(warnings("1000").size(), 1u);
  EXPECT_HAS(warnings("1000")[0], "more than 50 m across");
  ASSERT_EQ(warnings("1e-6").size(), 1u);
  EXPECT_HAS(warnings("1e-6")[0], "less than 0.1 mm across");
}

TEST_F(SceneFile, LimitsOnMeshesHoldForTheSceneAsAWhole) {
  write("a.obj", kTetrahedron);
  write("b.obj", kTetrahedron);
  const std::string two = bodyOf("mesh = \"a.obj\" }, { mesh = \"b.obj\"");
  EXPECT_EQ(error(two, {.maxMeshFiles = 2, .mesh = {.maxTriangles = 8}}), "accepted");
  EXPECT_HAS(error(two, {.maxMeshFiles = 1}), "more than 1 mesh file");
  EXPECT_HAS(error(two, {.mesh = {.maxTriangles = 7}}), "more than 7 triangles together");
  EXPECT_HAS(error(two, {.mesh = {.maxBytes = 20}}), "more than the limit of 20");
}

TEST_F(SceneFile, AFileThatWasRefusedIsNotReadAgain) {
  write("bad.obj", std::string(5'000'000, '\n') + "f 1 2 3\n");
  std::string text = "[[body]]\nname = \"b\"\nshapes = [";
  for (int i = 1; i <= 5000; ++i)
    text += "{ mesh = \"bad.obj\", scale = " + std::to_string(i) + " }, ";
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_HAS(error(text + "]\n"), "bad.obj:5000001");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
}

TEST(ShippedScenes, LoadWithoutAWarning) {
  int count = 0;
  const auto folder = std::filesystem::path(TANGERE_TEST_DATA) / "../../scenes";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".toml") continue;
    ++count;
    const Scene scene = loadScene(entry.path());
    EXPECT_EQ(scene.name, entry.path().stem().string());
    EXPECT_TRUE(notesOf(scene, Kind::Warning).empty()) << entry.path();
    EXPECT_TRUE(scene.model.numSoftBodies() > 0 || notesOf(scene, Kind::Changed).empty())
        << entry.path();
    EXPECT_GE(scene.model.numBodies() + scene.model.numSoftBodies(), 2) << entry.path();
  }
  EXPECT_GE(count, 9);
}

}  // namespace
}  // namespace tangere
