// SPDX-License-Identifier: Apache-2.0
//
// The options of a simulation: every one is read, documented, in range and part of the hash of a
// model.
#include "io/scene_parts.hpp"

#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

namespace tangere {
namespace {

using test::errorOf;
using test::hashOf;
using test::kBall;
using test::notesOf;
using test::read;
using test::simulationWith;
using Kind = ImportNote::Kind;

TEST(SceneToml, EveryOptionOfTheSimulationReachesTheModel) {
  const Scene scene = read(R"(
[simulation]
dt = 0.005
gravity = [0, 1, -2]
solver = "impulse"
joint_step = "backward_euler"
exclude_start_overlaps = true
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
  EXPECT_EQ(o.jointStep, JointStep::BackwardEuler);
  EXPECT_TRUE(o.excludeStartOverlaps);
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
  EXPECT_EQ(sizeof(SapOptions), 136u);
  EXPECT_EQ(sizeof(EventOptions), 120u);
  EXPECT_EQ(sizeof(ContactLimits), 24u);
  EXPECT_EQ(sizeof(SimulationOptions), 520u);
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
                                   "joint_step = 'backward_euler'",
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
slip_speed = 1e-5
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
  EXPECT_EQ(o.sap.slipSpeed, 1e-5);
  EXPECT_EQ(o.sap.frictionSoftness, 1e-9);
  EXPECT_EQ(o.sap.guess, SapGuess::Best);
  EXPECT_EQ(o.sap.contact, SapContactModel::HuntCrossley);
  EXPECT_EQ(o.sap.linearSolver, SapLinearSolver::ConjugateGradients);
  EXPECT_EQ(o.sap.softPreconditioner, SoftPreconditioner::TwoLevel);
  EXPECT_EQ(o.sap.maxPcgIterations, 9);
  EXPECT_EQ(o.sap.pcgTolerance, 1e-7);
  EXPECT_HAS(errorOf(simulationWith("sap.near_rigid = 0")), "found 0, expected a number above 0");
}

TEST(SceneToml, APreconditionerThatIsGoneIsToldWithWhatToTake) {
  EXPECT_HAS(errorOf(simulationWith("sap.soft_preconditioner = \"cholesky\"")),
             "\"cholesky\" is gone, whose factor filled in (21 s a step at 10,000 vertices): take "
             "\"auto\" or \"two_level\"");
  EXPECT_HAS(errorOf(simulationWith("sap.soft_preconditioner = \"choleski\"")), "block_jacobi");
}

TEST(SceneToml, OptionsOfASceneAreThoseOfTheProgram) {
  const SapOptions written, scene = read(simulationWith("solver = \"sap\"")).model.options().sap;
  EXPECT_EQ(scene.relativeTolerance, written.relativeTolerance);
  EXPECT_EQ(scene.nearRigid, written.nearRigid);
  EXPECT_EQ(scene.frictionRegularization, written.frictionRegularization);
}

TEST(SceneToml, EveryOptionOfTheEventSolverIsPartOfTheModelsHash) {
  const std::string event = "solver = \"event\"\n";
  const std::uint64_t usual = hashOf(simulationWith(event));
  for (const std::string option :
       {"method = \"adams\"", "relative_tolerance = 1e-9", "absolute_tolerance = 1e-11",
        "max_step = 0.1", "policy = \"touching\"", "damping = \"flores\"", "max_damping = 1000",
        "stiffness_reduction = 0.5", "small_speed = 0.02", "small_spin = 0.02",
        "rest_period = 2e-4", "impact_speed = 1e-5", "slip_speed = 1e-8",
        "max_correction_speed = 0.5"}) {
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
                          "rest_period = 2e-4\nimpact_speed = 1e-5\nslip_speed = 1e-8\n"
                          "max_correction_speed = 0.5\nmax_steps = 1000\nmax_memory = 1e8"))
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
  EXPECT_EQ(o.maxCorrectionSpeed, 0.5);
  EXPECT_EQ(o.maxSteps, 1000);
  EXPECT_EQ(o.maxMemory, 1e8);
}

// So a checkpoint of a run that was refused goes on under wider ones.
TEST(SceneToml, BoundsOfTheWorkOfTheEventSolverAreNotPartOfTheModelsHash) {
  const std::string event = "solver = \"event\"\n";
  for (const std::string option : {"max_steps = 1000", "max_memory = 1e8"})
    EXPECT_EQ(hashOf(simulationWith(event + "event." + option)), hashOf(simulationWith(event)));
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

}  // namespace
}  // namespace tangere
