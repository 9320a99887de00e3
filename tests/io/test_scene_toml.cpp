// SPDX-License-Identifier: Apache-2.0
#include <tangere/published_materials.hpp>
#include <tangere/state.hpp>

#include "io/scene_text.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>

namespace tangere {
namespace {

using test::contains;
using test::errorOf;
using test::errorsOf;
using test::notesOf;
using Kind = ImportNote::Kind;

const std::string kBall = "[[body]]\nname = \"ball\"\nshapes = [{ sphere = 0.1 }]\n";

Scene read(const std::string& text, const SceneLimits& limits = {}) {
  return readSceneToml(text, {}, "s.toml", limits);
}

/// A body with one line of its own, at line 3.
std::string bodyWith(const std::string& line) {
  return "[[body]]\nname = \"b\"\n" + line + "\nshapes = [{ box = [0.1, 0.2, 0.3] }]\n";
}

std::string bodyOf(const std::string& shape) {
  return "[[body]]\nname = \"b\"\nfixed = true\nshapes = [" + shape + "]\n";
}

std::string materialWith(const std::string& line) { return kBall + "[material.m]\n" + line + "\n"; }
std::string simulationWith(const std::string& line) {
  return "[simulation]\n" + line + "\n" + kBall;
}

// What a scene says.

TEST(SceneToml, EveryOptionOfTheSimulationReachesTheModel) {
  const Scene scene = read(R"(
[simulation]
dt = 0.005
gravity = [0, 1, -2]
solver = "impulse"
restitution_threshold = 0.25
max_impacts_per_step = 7
[simulation.impulse]
max_exact_points = 3
num_substeps = 5
num_sweeps = 6
num_projections = 7
num_projection_steps = 8
tolerance = 1e-7
correction = "baumgarte"
correction_rate = 0.3
slop = 2e-4
max_correction_speed = 4
num_correction_sweeps = 9
[simulation.cache]
enabled = false
max_points_per_pair = 3
max_pairs = 100
max_separation_frames = 5
position_threshold = 2e-4
normal_threshold = 0.9
depth_epsilon = 2e-6
separation_threshold = 2e-3
warm_start_radius = 2e-2
allow_negative_depth = false
[simulation.sleep]
enabled = false
linear_speed = 0.002
angular_speed = 0.02
duration = 0.25
)" + kBall);
  const SimulationOptions& o = scene.model.options();
  EXPECT_EQ(scene.model.options().solver, SolverType::Impulse);
  EXPECT_EQ(scene.name, "s");
  EXPECT_EQ(o.dt, 0.005);
  EXPECT_EQ(o.gravity, (Vec3{0, 1, -2}));
  EXPECT_EQ(o.restitutionThreshold, 0.25);
  EXPECT_EQ(o.maxImpactsPerStep, 7);
  EXPECT_EQ(o.impulse.maxExactPoints, 3);
  EXPECT_EQ(o.impulse.numSubsteps, 5);
  EXPECT_EQ(o.impulse.numSweeps, 6);
  EXPECT_EQ(o.impulse.numProjections, 7);
  EXPECT_EQ(o.impulse.numProjectionSteps, 8);
  EXPECT_EQ(o.impulse.tolerance, 1e-7);
  EXPECT_EQ(o.impulse.correction, PositionCorrection::Baumgarte);
  EXPECT_EQ(o.impulse.correctionRate, 0.3);
  EXPECT_EQ(o.impulse.slop, 2e-4);
  EXPECT_EQ(o.impulse.maxCorrectionSpeed, 4);
  EXPECT_EQ(o.impulse.numCorrectionSweeps, 9);
  EXPECT_FALSE(o.patchCache.enabled);
  EXPECT_EQ(o.patchCache.maxPointsPerPair, 3);
  EXPECT_EQ(o.patchCache.maxPairs, 100);
  EXPECT_EQ(o.patchCache.maxSeparationFrames, 5);
  EXPECT_EQ(o.patchCache.positionThreshold, 2e-4);
  EXPECT_EQ(o.patchCache.normalThreshold, 0.9);
  EXPECT_EQ(o.patchCache.depthEpsilon, 2e-6);
  EXPECT_EQ(o.patchCache.separationThreshold, 2e-3);
  EXPECT_EQ(o.patchCache.warmStartRadius, 2e-2);
  EXPECT_FALSE(o.patchCache.allowNegativeDepth);
  EXPECT_FALSE(o.sleep.enabled);
  EXPECT_EQ(o.sleep.linearSpeed, 0.002);
  EXPECT_EQ(o.sleep.angularSpeed, 0.02);
  EXPECT_EQ(o.sleep.duration, 0.25);
}

TEST(SceneToml, ContactsMayBeLimited) {
  EXPECT_EQ(read(simulationWith("max_contacts = 12")).model.options().limits.all, 12);
  const ContactLimits limits =
      read(simulationWith("max_contacts = { points = 1, rigid_rigid = 2, soft_rigid = 3, "
                          "soft_soft = 4, soft_self = 5, all = 6 }"))
          .model.options()
          .limits;
  EXPECT_EQ(limits.ofKind, (std::array{1, 2, 3, 4, 5}));
  EXPECT_EQ(limits.all, 6);
  EXPECT_HAS(errorOf(simulationWith("max_contacts = -1")), "a number of contacts of 0 or more");
  EXPECT_HAS(errorOf(simulationWith("max_contacts = { points = 0.5 }")), "max_contacts: points");
  EXPECT_HAS(errorOf(simulationWith("max_contacts = { point = 5 }")), "points");
  EXPECT_HAS(errorOf(simulationWith("max_contacts = 'many'")), "max_contacts");
}

TEST(SceneToml, WithoutASimulationTableTheDefaultsHold) {
  const SimulationOptions o = read(kBall).model.options();
  EXPECT_EQ(o.dt, SimulationOptions{}.dt);
  EXPECT_EQ(o.gravity, (SimulationOptions{}.gravity));
  EXPECT_TRUE(o.patchCache.enabled);
}

TEST(SceneToml, EveryOptionHasAKey) {
  // A new option changes a size: give it a key, a line in docs/scene_file.md and one in the test
  // above.
  EXPECT_EQ(sizeof(ImpulseOptions), 72u);
  EXPECT_EQ(sizeof(ContactPatchCacheOptions), 64u);
  EXPECT_EQ(sizeof(SleepOptions), 32u);
  EXPECT_EQ(sizeof(SapOptions), 112u);
  EXPECT_EQ(sizeof(EventOptions), 96u);
  EXPECT_EQ(sizeof(ContactLimits), 24u);
  EXPECT_EQ(sizeof(SimulationOptions), 464u);
}

TEST(SceneToml, TheOptionsInTheDocumentationAreTheDefaults) {
  std::ifstream file(std::filesystem::path(TANGERE_TEST_DATA) / "../../docs/scene_file.md");
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  const std::size_t begin = page.find("```toml\n# Every option");
  ASSERT_NE(begin, std::string::npos);
  const std::string options = page.substr(begin + 8, page.find("```", begin + 8) - begin - 8);
  EXPECT_HAS(options, "[simulation.impulse]");
  EXPECT_HAS(options, "[simulation.cache]");
  EXPECT_EQ(read(options + kBall).model.hash(), read(kBall).model.hash());
}

TEST(SceneToml, EveryOptionIsPartOfTheModelsHash) {
  const std::uint64_t usual = read(kBall).model.hash();
  for (const std::string option : {"dt = 0.004",
                                   "gravity = [0, 0, -9]",
                                   "restitution_threshold = 0.25",
                                   "max_impacts_per_step = 7",
                                   "impulse.max_exact_points = 3",
                                   "impulse.num_substeps = 50",
                                   "impulse.num_sweeps = 60",
                                   "impulse.num_projections = 7",
                                   "impulse.num_projection_steps = 8",
                                   "impulse.tolerance = 1e-7",
                                   "impulse.correction = 'none'",
                                   "impulse.correction_rate = 0.3",
                                   "impulse.slop = 2e-4",
                                   "impulse.max_correction_speed = 4",
                                   "impulse.num_correction_sweeps = 9",
                                   "cache.enabled = false",
                                   "cache.max_points_per_pair = 3",
                                   "cache.max_pairs = 100",
                                   "cache.max_separation_frames = 5",
                                   "cache.position_threshold = 2e-4",
                                   "cache.normal_threshold = 0.9",
                                   "cache.depth_epsilon = 2e-6",
                                   "cache.separation_threshold = 2e-3",
                                   "cache.warm_start_radius = 2e-2",
                                   "cache.allow_negative_depth = false",
                                   "sleep.enabled = true",
                                   "sleep.linear_speed = 0.002",
                                   "sleep.angular_speed = 0.02",
                                   "sleep.duration = 0.25"})
    EXPECT_NE(read(simulationWith(option)).model.hash(), usual) << option;
}

/// What the model keeps of a body is the hash: two ways to say the same give the same.
std::uint64_t hashOf(const std::string& text) { return read(text).model.hash(); }

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

// Scene text that is broken.

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

TEST(SceneToml, TheSapSolverAndEveryOneOfItsOptionsMayBeAskedFor) {
  const SimulationOptions o = read(R"([simulation]
solver = "sap"
accuracy = 1e-4
[simulation.sap]
max_iterations = 7
absolute_tolerance = 1e-12
relative_tolerance = 1e-5
tolerance_growth = 0.125
max_line_search_evaluations = 8
line_search_tolerance = 1e-4
max_step = 1.25
near_rigid = 0.75
near_rigid_bilateral = 0.25
friction_regularization = 0.01
friction_softness = 1e-9
guess = "best"
contact = "hunt_crossley"
linear_solver = "conjugate_gradients"
soft_preconditioner = "two_level"
max_pcg_iterations = 9
pcg_tolerance = 1e-7
)" + kBall)
                                  .model.options();
  EXPECT_EQ(o.solver, SolverType::Sap);
  EXPECT_EQ(o.accuracy, 1e-4);
  EXPECT_EQ(o.sap.maxIterations, 7);
  EXPECT_EQ(o.sap.absoluteTolerance, 1e-12);
  EXPECT_EQ(o.sap.relativeTolerance, 1e-5);
  EXPECT_EQ(o.sap.toleranceGrowth, 0.125);
  EXPECT_EQ(o.sap.maxLineSearchEvaluations, 8);
  EXPECT_EQ(o.sap.lineSearchTolerance, 1e-4);
  EXPECT_EQ(o.sap.maxStep, 1.25);
  EXPECT_EQ(o.sap.nearRigid, 0.75);
  EXPECT_EQ(o.sap.nearRigidBilateral, 0.25);
  EXPECT_EQ(o.sap.frictionRegularization, 0.01);
  EXPECT_EQ(o.sap.frictionSoftness, 1e-9);
  EXPECT_EQ(o.sap.guess, SapGuess::Best);
  EXPECT_EQ(o.sap.contact, SapContactModel::HuntCrossley);
  EXPECT_EQ(o.sap.linearSolver, SapLinearSolver::ConjugateGradients);
  EXPECT_EQ(o.sap.softPreconditioner, SoftPreconditioner::TwoLevel);
  EXPECT_EQ(o.sap.maxPcgIterations, 9);
  EXPECT_EQ(o.sap.pcgTolerance, 1e-7);
  EXPECT_HAS(errorOf(simulationWith("sap.near_rigid = 0")), "found 0, expected a number above 0");
}

TEST(SceneToml, CompliantContactsAreOfAMaterial) {
  for (const std::string key : {"stiffness = 1e5", "relaxation_time = 0.1", "dissipation = 2"}) {
    EXPECT_NE(hashOf(materialWith("contact = { model = \"point\", " + key + " }")),
              hashOf(materialWith("contact = { model = \"point\" }")))
        << key;
  }
  EXPECT_HAS(errorOf(materialWith("contact = { model = \"point\", stiffness = 0 }")),
             "expected a stiffness above 0 [N/m]");
}

TEST(SceneToml, WhatThisVersionCannotSimulateIsRefusedAndNotIgnored) {
  const std::string later = "not available yet in this version";
  EXPECT_HAS(errorOf(materialWith("contact = { model = \"point\", modulus = 1e6 }")),
             "expected model = \"hydroelastic\"");
  EXPECT_HAS(errorOf(bodyOf("{ mesh = \"a.obj\", representation = \"sdf\" }")), later);
  EXPECT_EQ(errorOf(materialWith("contact = { model = \"point\" }")), "accepted");
  EXPECT_HAS(errorOf(simulationWith("solver = \"spa\"")), "(did you mean 'sap'?)");
}

TEST(SceneToml, EveryOptionOfTheEventSolverIsPartOfTheModelsHash) {
  const std::string event = "solver = \"event\"\n";
  const std::uint64_t usual = hashOf(simulationWith(event));
  for (const std::string option :
       {"method = \"adams\"", "relative_tolerance = 1e-9", "absolute_tolerance = 1e-11",
        "max_step = 0.1", "policy = \"touching\"", "damping = \"flores\"", "max_damping = 1000",
        "stiffness_reduction = 0.5", "small_speed = 0.02", "small_spin = 0.02",
        "rest_period = 2e-4", "impact_speed = 1e-5", "slip_speed = 1e-8"}) {
    EXPECT_NE(hashOf(simulationWith(event + "event." + option)), usual) << option;
    // The other solvers do not read it: what they recorded stays theirs.
    EXPECT_EQ(hashOf(simulationWith("event." + option)), hashOf(simulationWith(""))) << option;
  }
}

TEST(SceneToml, OptionsOfTheEventSolverAreRead) {
  const EventOptions o =
      read(simulationWith("solver = \"event\"\n[simulation.event]\nmethod = \"adams\"\n"
                          "relative_tolerance = 1e-9\nabsolute_tolerance = 1e-11\nmax_step = 0.1\n"
                          "policy = \"touching\"\ndamping = \"flores\"\nmax_damping = 1000\n"
                          "stiffness_reduction = 0.5\nsmall_speed = 0.02\nsmall_spin = 0.03\n"
                          "rest_period = 2e-4\nimpact_speed = 1e-5\nslip_speed = 1e-8"))
          .model.options()
          .event;
  EXPECT_EQ(o.method, EventMethod::Adams);
  EXPECT_EQ(o.relativeTolerance, 1e-9);
  EXPECT_EQ(o.absoluteTolerance, 1e-11);
  EXPECT_EQ(o.maxStep, 0.1);
  EXPECT_EQ(o.policy, EventPolicy::Touching);
  EXPECT_EQ(o.damping, RestitutionDamping::Flores);
  EXPECT_EQ(o.maxDamping, 1000);
  EXPECT_EQ(o.stiffnessReduction, 0.5);
  EXPECT_EQ(o.smallSpeed, 0.02);
  EXPECT_EQ(o.smallSpin, 0.03);
  EXPECT_EQ(o.restPeriod, 2e-4);
  EXPECT_EQ(o.impactSpeed, 1e-5);
  EXPECT_EQ(o.slipSpeed, 1e-8);
}

TEST(SceneToml, MistakesInOptionsOfTheEventSolverAreLocated) {
  EXPECT_HAS(errorOf(simulationWith("event.relative_tolerence = 1e-9")),
             "(did you mean 'relative_tolerance'?)");
  EXPECT_HAS(errorOf(simulationWith("event.method = \"bfd\"")), "(did you mean 'bdf'?)");
  EXPECT_HAS(errorOf(simulationWith("event.relative_tolerance = 0")),
             "expected a number from 1e-14 to 0.1");
  EXPECT_HAS(errorOf(simulationWith("event.stiffness_reduction = 1.5")),
             "found 1.5, expected a number above 0 and at most 1");
  EXPECT_HAS(errorOf(simulationWith("event.max_step = -1")), "expected a duration of 0 or more");
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

// Physical parameters.

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

TEST(SceneToml, TimeStepsThatCannotBeTakenAreRefusedAndLongOnesWarnedOf) {
  for (const std::string dt : {"0", "-0.001", "nan", "1e6", "inf"})
    EXPECT_HAS(errorOf(simulationWith("dt = " + dt)), "2:6: simulation: dt: found");
  EXPECT_TRUE(notesOf(read(simulationWith("dt = 0.1")), Kind::Warning).empty());
  const auto warnings = notesOf(read(simulationWith("dt = 0.2")), Kind::Warning);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_HAS(warnings[0], "2: simulation: dt of more than 0.1 s");
}

TEST(SceneToml, SolverCountsAndTolerancesHaveTheirRange) {
  for (const std::string count : {"0", "-1", "2147483648", "1.5", "'2'"}) {
    EXPECT_NE(errorOf(simulationWith("impulse = { num_sweeps = " + count + " }")), "accepted");
    EXPECT_NE(errorOf(simulationWith("impulse = { num_substeps = " + count + " }")), "accepted");
  }
  for (const std::string tolerance : {"0", "nan", "-1"})
    EXPECT_HAS(errorOf(simulationWith("impulse = { tolerance = " + tolerance + " }")),
               "expected a tolerance above 0");
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
