// SPDX-License-Identifier: Apache-2.0
//
// The soft bodies of a native scene.
#include <tangere/tet_mesh.hpp>

#include "io/scene_parts.hpp"

#include <algorithm>
#include <cstdint>
#include <string>

namespace tangere {
namespace {

using test::errorOf;
using test::hashOf;
using test::read;

std::string softWith(const std::string& line) { return "[[soft]]\nname = \"s\"\n" + line + "\n"; }

TEST(SceneToml, SoftBodiesAreMeshedAndHeld) {
  const Scene scene = read(
      "[[body]]\nname = \"hand\"\nfixed = true\nshapes = [{ sphere = 0.1 }]\n" +
      softWith(
          "shape = { box = [0.1, 0.1, 0.1] }\nresolution = 0.1\nposition = [0, 0, 1]\n"
          "material = \"rubber\"\n"
          "elasticity = { model = \"neo_hookean\", young = 2e5, poisson = 0.4, damping = 0.01 }\n"
          "attach = [{ body = \"hand\", vertices = [0] }, { center = [0, 0, 1.1], box = [1, 1, "
          "0.01] }]") +
      "[material.rubber]\ndensity = 500\n"
      "contact = { model = \"hydroelastic\", modulus = 1e6, dissipation = 0.1 }\n");
  EXPECT_EQ(scene.model.options().solver, SolverType::Sap);
  ASSERT_EQ(scene.model.numSoftBodies(), 1);
  EXPECT_EQ(scene.model.softBodyName(0), "s");
  EXPECT_NEAR(scene.model.softMass(0), 500 * 0.008, 1e-12);
}

TEST(SceneToml, SoftBodiesMayBeExcludedAndStandOnTheirVertices) {
  const std::string ground =
      "[[body]]\nname = \"ground\"\nfixed = true\nshapes = [{ plane = true }]\n";
  const std::string soft = softWith("shape = { box = [0.1, 0.1, 0.1] }\nresolution = 0.1\n");
  const auto exclude = [](const std::string& one, const std::string& other) {
    return "[[exclude]]\nbodies = [\"" + one + "\", \"" + other + "\"]\n";
  };
  const std::uint64_t usual = hashOf(ground + soft);
  EXPECT_NE(hashOf(ground + soft + exclude("s", "ground")), usual);
  EXPECT_EQ(hashOf(ground + soft + exclude("s", "ground")),
            hashOf(ground + soft + exclude("ground", "s")));
  EXPECT_HAS(errorOf(ground + soft + exclude("s", "grund")), "did you mean 'ground'?");
  const auto on = [&](const std::string& plane) {
    return hashOf(ground + soft + "[material.default]\ncontact = { model = \"hydroelastic\"" +
                  plane + " }\n");
  };
  EXPECT_EQ(on(", plane = \"elements\""), on(""));
  EXPECT_NE(on(", plane = \"vertices\""), on(""));
  EXPECT_HAS(errorOf(ground + "[material.a]\ncontact = { plane = \"vertices\" }\n"),
             "plane: expected model = \"hydroelastic\"");
}

TEST(SceneToml, SoftBodiesWhoseTetrahedraAreSplitSaySo) {
  const Scene scene = read(softWith("shape = { box = [0.1, 0.1, 0.1] }\nresolution = 0.1"));
  const std::size_t given = meshShape(Box({0.1, 0.1, 0.1}), {.resolution = 0.1}).vertices().size();
  const std::size_t made = scene.model.softMesh(0).vertices().size();
  ASSERT_GT(made, given);
  const std::string expected =
      std::to_string(given) + " vertices became " + std::to_string(made) + ": tetrahedra";
  EXPECT_TRUE(std::any_of(scene.report.notes.begin(), scene.report.notes.end(),
                          [&](const ImportNote& note) {
                            return note.kind == ImportNote::Kind::Changed &&
                                   note.message.find(expected) != std::string::npos;
                          }));
}

TEST(SceneToml, MistakesInSoftBodiesAreLocated) {
  EXPECT_HAS(errorOf(softWith("")), "expected one of shape");
  EXPECT_HAS(errorOf(softWith("shape = { sphere = 0.1 }\nvolume = \"a.msh\"")),
             "expected one of shape");
  EXPECT_HAS(errorOf(softWith("shape = { plane = true }")), "has no inside");
  EXPECT_HAS(errorOf(softWith("shape = { sphere = 0.1 }\nresolution = 0")),
             "length of an edge above 0");
  EXPECT_HAS(errorOf(softWith("shape = { sphere = 0.1 }\nelasticity = { young = -1 }")),
             "a modulus above 0");
  EXPECT_HAS(errorOf(softWith("shape = { sphere = 0.1 }\nelasticity = { model = \"corotate\" }")),
             "corotated");
  EXPECT_HAS(errorOf(softWith("shape = { sphere = 0.1 }\nattach = [{ vertices = [99999] }]")),
             "a vertex of the mesh");
  EXPECT_HAS(
      errorOf(softWith(
          "shape = { sphere = 0.1 }\nattach = [{ box = [0.1, 0.1, 0.1], center = [9, 9, 9] }]")),
      "no vertex in the box");
  EXPECT_HAS(
      errorOf(softWith("shape = { sphere = 0.1 }\nattach = [{ body = \"arm\", vertices = [0] }]")),
      "'arm'");
  EXPECT_HAS(errorOf(softWith("volume = \"../a.msh\"")), "in the folder of the scene");
  EXPECT_HAS(errorOf(softWith("shape = { sphere = 0.1 }\nstifness = 3")), "stifness");
  EXPECT_HAS(errorOf("[simulation]\nsolver = \"impulse\"\n" + softWith("shape = { sphere = 0.1 }")),
             "need the SAP solver");
}

}  // namespace
}  // namespace tangere
