// SPDX-License-Identifier: Apache-2.0
//
// Scene text that is broken, hostile or too large: refused with its place, in words that help.
#include "io/scene_parts.hpp"

#include <chrono>
#include <cstdint>
#include <string>

namespace tangere {
namespace {

using test::bodyOf;
using test::bodyWith;
using test::contains;
using test::errorOf;
using test::errorsOf;
using test::kBall;
using test::materialWith;
using test::notesOf;
using test::read;
using test::simulationWith;
using Kind = ImportNote::Kind;

TEST(SceneToml, ATextCutAnywhereIsRefusedOrAScene) {
  const std::string text =
      "[simulation]\ndt = 0.005\n[[body]]\nname = \"b\"\nshapes = [{ box = "
      "[0.1, 0.2, 0.3], material = \"m\" }]\n[material.m]\nfriction = 0.5\n";
  int refused = 0;
  for (std::size_t size = 0; size < text.size(); ++size)
    refused += errorsOf(text.substr(0, size)).empty() ? 0 : 1;
  EXPECT_GT(refused, 80);
  EXPECT_HAS(errorOf(text.substr(0, 80)), "5:3");  // inside the inline table of line 5
}

TEST(SceneToml, ATextWithoutContentIsNoScene) {
  for (const std::string text : {"", " \n\t\r\n", "\xef\xbb\xbf", "\xef\xbb\xbf \n"})
    EXPECT_HAS(errorOf(text), "no scene");
  EXPECT_HAS(errorOf("# only a comment\n"), "no scene");
  EXPECT_HAS(errorOf("[simulation]\ndt = 0.001\n"), "no scene");
}

TEST(SceneToml, AUtf8MarkBeforeASceneIsAccepted) {
  EXPECT_EQ(errorOf("\xef\xbb\xbf" + kBall), "accepted");
}

TEST(SceneToml, AMegabyteOfNoiseIsRefusedWithinASecond) {
  std::string noise(1'000'000, '\0');
  std::uint64_t state = 88172645463325252u;
  for (char& c : noise) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    c = static_cast<char>(state);
  }
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_NE(errorOf(noise), "accepted");
  for (char& c : noise) c = static_cast<char>(' ' + static_cast<unsigned char>(c) % 95);
  EXPECT_NE(errorOf(noise), "accepted");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(1));
}

TEST(SceneToml, BytesThatAreNotUtf8AreRefusedWithTheirOffset) {
  using namespace std::string_literals;
  EXPECT_HAS(errorOf("a = 1\n\0"s), "2:1: found a NUL byte at byte 6");
  EXPECT_HAS(errorOf("a = '\xff'"), "1:6: found a byte not of UTF-8 at byte 5");
  for (const std::string bad : {"\xc0\x80", "\xed\xa0\x80", "\xf5\x80\x80\x80", "\xc3", "\x80"})
    EXPECT_HAS(errorOf("# " + bad), "at byte 2");
  EXPECT_HAS(errorOf("\xff\xfe[\0"s), "UTF-16");
  EXPECT_HAS(errorOf("\xfe\xff\0["s), "UTF-16");
  EXPECT_EQ(errorOf("# \xc3\xa4 \xe2\x82\xac \xf0\x9f\x99\x82\n" + kBall), "accepted");
}

TEST(SceneToml, AnUnknownKeyIsRefusedWithTheNearestOneThatExists) {
  EXPECT_HAS(errorOf("[[boddy]]\nname = 'b'\n" + kBall),
             "1:3: found unknown key 'boddy' (did you mean 'body'?)");
  EXPECT_HAS(errorOf(materialWith("frictoin = 1")),
             "5:1: material 'm': found unknown key 'frictoin' (did you mean 'friction'?)");
  EXPECT_HAS(errorOf(bodyWith("positon = [0, 0, 0]")),
             "3:1: body 'b': found unknown key 'positon' (did you mean 'position'?)");
  EXPECT_HAS(errorOf(bodyOf("{ spere = 1 }")), "(did you mean 'sphere'?)");
  EXPECT_HAS(errorOf(bodyOf("{ sphere = 1, radius = 2 }")), "found unknown key 'radius'");
  EXPECT_HAS(errorOf(simulationWith("timestep = 1")), "expected one of dt, gravity");
  EXPECT_HAS(errorOf(simulationWith("impulse = { sweeps = 1 }")), "unknown key 'sweeps'");
}

TEST(SceneToml, AKeyThatIsThereTwiceIsRefused) {
  EXPECT_HAS(errorOf(simulationWith("dt = 0.01\ndt = 0.02")), "3:");
  EXPECT_HAS(errorOf(materialWith("friction = 1\n[material.m]\nfriction = 2")), "6:");
}

TEST(SceneToml, TwoBodiesOfOneNameAreRefusedWithBothPlaces) {
  EXPECT_HAS(errorOf(kBall + kBall),
             "5:8: body 'ball': found the name twice, expected another than at 2:8");
  // Also when one of them comes from a grid.
  EXPECT_HAS(errorOf(bodyWith("count = [3, 1, 1]\nspacing = [1, 0, 0]") +
                     "[[body]]\nname = \"b_1\"\nshapes = [{ sphere = 1 }]\n"),
             "found the name twice");
}

TEST(SceneToml, AReferenceToWhatDoesNotExistIsRefusedWithCandidates) {
  EXPECT_HAS(errorOf(materialWith("friction = 1") + bodyOf("{ sphere = 1, material = \"n\" }")),
             "9:36: body 'b': shape: found the material 'n', expected one that exists (did you "
             "mean 'm'?)");
  EXPECT_HAS(
      errorOf(kBall + "[[exclude]]\nbodies = [\"ball\", \"bal\"]\n"),
      "5:10: exclude: found the body 'bal', expected one that exists (did you mean 'ball'?)");
  EXPECT_HAS(errorOf(kBall + "[[pair]]\nmaterials = [\"default\", \"something\"]\n"),
             "found the material 'something', expected one that exists (there is 'default')");
}

TEST(SceneToml, WhatIsNoFiniteNumberIsRefused) {
  for (const std::string number : {"1e999", "-1e999", "0x1p3", "1,5", "--1", "1.0.0", "nan", "inf",
                                   "-inf", "", "'1'", "true", "1979-05-27", "[1]"}) {
    const std::string error = errorOf(bodyWith("mass = " + number));
    EXPECT_EQ(error.substr(0, 2), "3:") << number << ": " << error;
    EXPECT_NE(errorOf(bodyWith("position = [0, 0, " + number + "]")), "accepted") << number;
    EXPECT_NE(errorOf(simulationWith("gravity = [0, 0, " + number + "]")), "accepted") << number;
  }
}

TEST(SceneToml, ANumberTooSmallForADoubleIsZeroWithAWarning) {
  const Scene scene = read(bodyWith("position = [0, 1e-400, 0e-400]"));
  const auto warnings = notesOf(scene, Kind::Warning);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_HAS(warnings[0], "3: body 'b': position: a number too small");
}

TEST(SceneToml, AVectorOfTheWrongLengthIsRefused) {
  EXPECT_HAS(errorOf(bodyWith("position = [1, 2]")),
             "3:12: body 'b': position: found [1, 2], expected an array of 3 numbers");
  EXPECT_HAS(errorOf(bodyWith("position = [1, 2, 3, 4]")), "expected an array of 3 numbers");
  EXPECT_HAS(errorOf(bodyWith("quaternion = [1, 0, 0]")), "expected an array of 4 numbers");
  EXPECT_HAS(errorOf(bodyWith("mass = 1\ninertia = [1, 1]")), "expected an array of 6 numbers");
  EXPECT_HAS(errorOf(bodyOf("{ capsule = [1] }")), "expected an array of 2 numbers");
  EXPECT_HAS(errorOf(bodyOf("{ convex = [[0, 0], [1, 0], [0, 1], [1, 1]] }")),
             "expected an array of 3 numbers");
}

TEST(SceneToml, DeepNestingIsRefusedWithoutExhaustingTheStack) {
  const auto repeated = [](const std::string& part, int count) {
    std::string out;
    for (int i = 0; i < count; ++i) out += part;
    return out;
  };
  EXPECT_HAS(errorOf("a = " + repeated("[", 1'000'000)), "nested");
  EXPECT_HAS(errorOf("a = " + repeated("{a=", 300'000)), "nested");
  EXPECT_HAS(errorOf("a" + repeated(".a", 500'000) + " = 1"), "nesting");
  EXPECT_HAS(errorOf("a" + repeated(" . a", 200'000) + " = 1"), "nesting");
  EXPECT_HAS(errorOf("['a'" + repeated(".\"a\"", 200'000) + "]"), "nesting");
  EXPECT_EQ(errorOf("# " + repeated(".", 1000) + "\n" + kBall), "accepted");
  EXPECT_HAS(errorOf("x = '''\n" + repeated(".", 1000) + "'''\n" + kBall), "unknown key 'x'");
}

TEST(SceneToml, WhatThisVersionCannotSimulateIsRefusedAndNotIgnored) {
  const std::string later = "not available yet in this version";
  EXPECT_HAS(errorOf(materialWith("contact = { model = \"point\", modulus = 1e6 }")),
             "expected model = \"hydroelastic\"");
  EXPECT_HAS(errorOf(bodyOf("{ mesh = \"a.obj\", representation = \"sdf\" }")), later);
  EXPECT_EQ(errorOf(materialWith("contact = { model = \"point\" }")), "accepted");
  EXPECT_HAS(errorOf(simulationWith("solver = \"spa\"")), "(did you mean 'sap'?)");
}

TEST(SceneToml, TheFirstTwentyErrorsAreListedInOrder) {
  std::string text;
  for (int i = 0; i < 30; ++i)
    text += "[[body]]\nname = \"b" + std::to_string(i) + "\"\nshapes = [{ sphere = 0 }]\n";
  try {
    (void)read(text);
    FAIL() << "accepted";
  } catch (const SceneError& error) {
    EXPECT_EQ(error.numErrors(), 30u);
    ASSERT_EQ(error.errors().size(), 20u);
    for (int i = 0; i < 20; ++i)
      EXPECT_EQ(error.errors()[static_cast<std::size_t>(i)].line, 3 * i + 3);
    EXPECT_EQ(error.cause(), SceneError::Cause::Content);
    EXPECT_HAS(std::string(error.what()), "s.toml:3:22: body 'b0': shape: sphere: found 0");
    EXPECT_HAS(std::string(error.what()), "and 10 more");
  }
}

TEST(SceneToml, MistakesOfManyKindsAreFoundInOneReading) {
  const auto errors = errorsOf(
      "[simulation]\ndt = -1\n[[body]]\nname = \"b\"\nmass = 1\n"
      "inertia = [1, 1, 5]\n[[body]]\nname = \"c\"\n"
      "shapes = [{ box = [1, 1, 0] }]\n[material.m]\nrestitution = 2\n");
  ASSERT_EQ(errors.size(), 4u);
  EXPECT_HAS(errors[0], "2:6: simulation: dt");
  EXPECT_HAS(errors[1], "3:1: body 'b': inertia breaks the triangle rule");
  EXPECT_HAS(errors[2], "9:26: body 'c': shape: box: found 0");
  EXPECT_HAS(errors[3], "11:15: material 'm': restitution");
}

TEST(SceneToml, ABillionCopiesAreRefusedBeforeMemoryIsTaken) {
  for (const std::string count :
       {"[1000000000, 1, 1]", "[1000, 1000, 1000]",
        "[9223372036854775807, 9223372036854775807, 9223372036854775807]"}) {
    try {
      (void)read(bodyWith("count = " + count + "\nspacing = [1, 1, 1]"));
      FAIL() << "accepted";
    } catch (const SceneError& error) {
      EXPECT_EQ(error.cause(), SceneError::Cause::Limit);
      EXPECT_HAS(std::string(error.what()), "s.toml:3:9: body 'b': found more than 1000000 bodies");
    }
  }
  EXPECT_HAS(errorOf(bodyWith("count = [0, 1, 1]\nspacing = [1, 1, 1]")), "three integers above 0");
  EXPECT_HAS(errorOf(bodyWith("count = [2, 1, 1]")), "expected [dx, dy, dz]");
}

TEST(SceneToml, LimitsOfTheCallerHold) {
  EXPECT_HAS(errorOf(kBall + bodyOf("{ sphere = 1 }"), {}, {.maxBodies = 1}), "more than 1 bodies");
  EXPECT_HAS(errorOf(bodyOf("{ sphere = 1 }, { sphere = 2 }"), {}, {.maxShapes = 1}),
             "more than 1 shapes");
  EXPECT_HAS(errorOf(kBall, {}, {.maxBytes = 10}), "the limit is 10");
  try {
    (void)read(kBall, {.maxBytes = 10});
  } catch (const SceneError& error) {
    EXPECT_EQ(error.cause(), SceneError::Cause::Limit);
  }
}

TEST(SceneToml, NamesThatAreHostileAreShownCutAndWithoutControlCharacters) {
  const std::string error = errorOf("[[body]]\nname = \"" + std::string(100'000, 'x') +
                                    "\"\nshapes = [{ sphere = 1 }]\n");
  EXPECT_HAS(error, "2:8: body: name: found 100000 bytes, expected at most 256");
  EXPECT_LT(error.size(), 200u);
  EXPECT_FALSE(contains(errorOf("\"\\u001b[31m\" = 1\n" + kBall), "\x1b"));
}

TEST(SceneToml, TablesOfTheWrongKindAreRefused) {
  EXPECT_HAS(errorOf("[body]\nname = \"b\"\n"), "expected tables headed [[body]]");
  EXPECT_HAS(errorOf("body = 3\n"), "expected tables headed [[body]]");
  EXPECT_HAS(errorOf("body = [3]\n"), "found 3, expected a table");
  EXPECT_HAS(errorOf("material = [1]\n" + kBall), "expected tables headed [material.NAME]");
  EXPECT_HAS(errorOf("simulation = 1\n" + kBall), "simulation: found 1, expected a table");
  EXPECT_HAS(errorOf(kBall + "[pair]\n"), "expected tables headed [[pair]]");
  EXPECT_HAS(errorOf(kBall + "[exclude]\n"), "expected tables headed [[exclude]]");
  EXPECT_HAS(errorOf("[[body]]\nname = \"b\"\nshapes = { sphere = 1 }\n"), "an array of tables");
  EXPECT_HAS(errorOf("[[body]]\nname = \"b\"\nshapes = [1]\n"), "found 1, expected a table");
  EXPECT_HAS(errorOf("[[body]]\nname = 3\nshapes = [{ sphere = 1 }]\n"),
             "name: found 3, expected a string");
  EXPECT_HAS(errorOf("[[body]]\nshapes = [{ sphere = 1 }]\n"), "1:1: body: name is missing");
  EXPECT_HAS(errorOf(kBall + "[[exclude]]\nbodies = [\"ball\"]\n"), "an array of 2 strings");
  EXPECT_HAS(errorOf(kBall + "[[exclude]]\nbodies = [\"ball\", \"ball\"]\n"),
             "never touches itself");
}

}  // namespace
}  // namespace tangere
