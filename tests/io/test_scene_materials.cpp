// SPDX-License-Identifier: Apache-2.0
//
// The materials of a native scene, its own and published ones, and what pairs of them do.
#include <tangere/published_materials.hpp>

#include "io/scene_parts.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tangere {
namespace {

using test::errorOf;
using test::hashOf;
using test::kBall;
using test::materialWith;
using test::read;

TEST(SceneToml, CompliantContactsAreOfAMaterial) {
  for (const std::string key : {"stiffness = 1e5", "relaxation_time = 0.1", "dissipation = 2"}) {
    EXPECT_NE(hashOf(materialWith("contact = { model = \"point\", " + key + " }")),
              hashOf(materialWith("contact = { model = \"point\" }")))
        << key;
  }
  EXPECT_HAS(errorOf(materialWith("contact = { model = \"point\", stiffness = 0 }")),
             "expected a stiffness above 0 [N/m]");
}

TEST(SceneToml, ElasticContactsAreOfAMaterial) {
  const auto material = [](const std::string& contact) {
    return materialWith("contact = { " + contact + " }");
  };
  const std::string event = "[simulation]\nsolver = \"event\"\n";
  const std::string hertz = "model = \"hertz\", young = 2e11";
  const std::uint64_t usual = hashOf(event + material(hertz));
  for (const std::string key : {"poisson = 0.25", "rolling_resistance = 0.1"})
    EXPECT_NE(hashOf(event + material(hertz + ", " + key)), usual) << key;
  EXPECT_NE(hashOf(event + material("model = \"hertz\", young = 1e11")), usual);
  EXPECT_NE(hashOf(event + material("model = \"observer\"")), usual);
  EXPECT_HAS(errorOf(material("model = \"hertz\"")),
             "contact: young is missing: the law of Hertz needs Young's modulus [Pa]");
  EXPECT_HAS(errorOf(material("model = \"hertz\", young = 0")), "expected a pressure above 0");
  EXPECT_HAS(errorOf(material(hertz + ", poisson = 0.6")), "expected a number from 0 to 0.5");
  EXPECT_HAS(errorOf(material(hertz + ", yuong = 1")), "(did you mean 'young'?)");
  EXPECT_HAS(errorOf(material("model = \"point\", young = 2e11")),
             "young: expected model = \"hertz\"");
  EXPECT_HAS(errorOf(material("model = \"herz\"")), "(did you mean 'hertz'?)");
}

TEST(SceneToml, PairsSayWhatTheEventSolverNeeds) {
  const std::string scene = "[simulation]\nsolver = \"event\"\n" + kBall +
                            "[[pair]]\nmaterials = [\"default\", \"default\"]\n";
  for (const std::string key :
       {"rolling_resistance = 0.1", "small_speed = 1e-3", "small_spin = 1e-3", "restitution = 0.5"})
    EXPECT_NE(hashOf(scene + key), hashOf(scene)) << key;
  EXPECT_HAS(errorOf(scene + "small_speed = 0"), "expected a speed above 0 [m/s]");
  EXPECT_HAS(errorOf(scene + "smal_spin = 1"), "(did you mean 'small_spin'?)");
}

std::string ballsOf(const std::string& first, const std::string& second) {
  const auto ball = [](const std::string& name, const std::string& material) {
    return "[[body]]\nname = \"" + name + "\"\nshapes = [{ sphere = 0.1, material = \"" + material +
           "\" }]\n";
  };
  return "[simulation]\nsolver = \"event\"\n" + ball("a", first) + ball("b", second);
}

TEST(SceneToml, PublishedMaterialsAreKnownByName) {
  ModelBuilder builder;
  SimulationOptions options;
  options.solver = SolverType::Event;
  builder.setOptions(options);
  for (const char* name : {"Steel", "DryWood"}) builder.addMaterial(*findPublishedMaterial(name));
  for (const char* name : {"Steel", "DryWood"}) {
    builder.addPair(*findPublishedPair(name, name));
    Body body{.name = name == std::string("Steel") ? "a" : "b"};
    body.shapes.push_back({.shape = std::make_shared<Sphere>(0.1), .material = name});
    builder.addBody(body);
  }
  builder.addPair(*findPublishedPair("Steel", "DryWood"));
  EXPECT_EQ(hashOf(ballsOf("Steel", "DryWood")), builder.build().hash());
  // Mass by its density.
  EXPECT_NEAR(read(ballsOf("Steel", "Steel")).model.massProperties(0).mass,
              8000 * 4.0 / 3 * 3.14159265358979 * 1e-3, 1e-9);
  EXPECT_HAS(errorOf(ballsOf("steel", "Steel")), "(did you mean 'Steel'?)");
}

TEST(SceneToml, AScenesOwnMaterialIsNotThePublishedOne) {
  const std::string own = "[material.Steel]\nfriction = 0.1\n";
  EXPECT_EQ(hashOf(own + ballsOf("Steel", "Steel")),
            hashOf("[material.Stool]\nfriction = 0.1\n" + ballsOf("Stool", "Stool")));
  // What a pair does not say stays as published.
  const std::string pair = "[[pair]]\nmaterials = [\"Steel\", \"Steel\"]\n";
  EXPECT_EQ(hashOf(ballsOf("Steel", "Steel") + pair + "friction = 0.5\n"),
            hashOf(ballsOf("Steel", "Steel")));
  EXPECT_NE(hashOf(ballsOf("Steel", "Steel") + pair + "friction = 0.2\n"),
            hashOf(ballsOf("Steel", "Steel")));
}

TEST(SceneToml, HertzUnderAnotherSolverIsNoted) {
  const Model model = read(ballsOf("Steel", "Steel")).model;
  SimulationOptions options = model.options();
  options.solver = SolverType::Sap;
  const std::vector<std::string> unused = model.withOptions(options).unused();
  const auto has = [&](const std::string& words) {
    return std::any_of(unused.begin(), unused.end(),
                       [&](const std::string& line) { return line.find(words) == 0; });
  };
  EXPECT_TRUE(has("the law of Hertz is of the event solver"));
  EXPECT_TRUE(has("rolling resistance is not used by the SAP solver"));
  EXPECT_TRUE(model.unused().empty());
}

TEST(SceneToml, FrictionAndRestitutionHaveTheirRange) {
  for (const std::string value : {"-1", "nan", "1e6", "-0.001"})
    EXPECT_HAS(errorOf(materialWith("friction = " + value)),
               "expected a friction coefficient from 0 to 1000");
  for (const std::string value : {"-0.1", "1.1", "nan"})
    EXPECT_HAS(errorOf(materialWith("restitution = " + value)), "from 0 to 1");
  EXPECT_HAS(errorOf(materialWith("rolling_friction = -1")), "rolling_friction: found -1");
  EXPECT_EQ(errorOf(materialWith("friction = 1000\nrestitution = 1")), "accepted");
  EXPECT_HAS(errorOf(kBall + "[[pair]]\nmaterials = [\"default\", \"default\"]\nfriction = -1\n"),
             "6:12");
}

TEST(SceneToml, APairOfMaterialsIsSaidOnce) {
  EXPECT_HAS(errorOf(materialWith("friction = 1") +
                     "[[pair]]\nmaterials = [\"m\", \"default\"]\n[[pair]]\nmaterials = "
                     "[\"default\", \"m\"]\n"),
             "9:13: pair: found 'default' and 'm' twice, expected them at 7:13 alone");
}

}  // namespace
}  // namespace tangere
