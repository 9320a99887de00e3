// SPDX-License-Identifier: Apache-2.0
//
// A scene as a value: made from a seed, transformed, run for some steps, compared, shrunk and
// written down.
#pragma once

#include <tangere/model.hpp>
#include <tangere/simulator.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tangere::test {

/// Where a joint starts; its coordinates as in articulation.hpp.
struct JointStart {
  std::vector<Real> q, v;
};

struct Case {
  SimulationOptions options{};
  std::vector<Material> materials{};
  std::vector<Body> bodies{};
  std::map<std::string, JointStart> joints{};  ///< by name of the joint
};

/// Throws InvalidInput.
[[nodiscard]] Model buildModel(const Case& scene);
/// At the start of the case, coordinates of joints included.
[[nodiscard]] Simulator startOf(const Case& scene, int numThreads = 1);

[[nodiscard]] bool isRobot(const Case& scene);
/// Largest distance of a point of the body from its origin [m]; 0 for planes.
[[nodiscard]] Real reachOf(const Body& body);

struct Motion {
  Transform pose{};
  Vec3 velocity{}, spin{};  ///< of the origin; world
  Real reach = 0;           ///< reachOf()
};

/// Where every body is, by name.
struct Snapshot {
  std::map<std::string, Motion> bodies{};
  StepStatus status = StepStatus::Ok;  ///< all bits since the start
  int numContacts = 0;                 ///< most in one step
  Real time = 0;
  Real leastSpeed = 0;  ///< what gravity adds in a step: slower is rest [m/s]
};
[[nodiscard]] Snapshot snapshotOf(const Simulator& sim, const Case& scene);

/// The case `numSteps` later as a case of its own: contacts have forgotten everything. Nothing
/// where a step was refused; `isGivenUp`, which may be null: because it took too many inside.
[[nodiscard]] std::optional<Case> advanced(const Case& scene, int numSteps,
                                           bool* isGivenUp = nullptr);

/// Steps before the one in which the first contact is found, at most `most`.
[[nodiscard]] int numStepsToContact(const Case& scene, int most);

/// The motion after `numSteps`. Nothing where that took too many steps inside.
[[nodiscard]] std::optional<Snapshot> motionOf(const Case& scene, int numSteps, int numThreads = 1);

/// Largest difference of a velocity of a point of a body over the fastest there is, or of a place
/// over the size of the largest body, whichever is larger. Of the bodies that are expected;
/// infinite where one is missing.
[[nodiscard]] Real differenceOf(const Snapshot& expected, const Snapshot& actual);

/// Steps of the integrator that a step of the event solver may take before its scene is given up:
/// TANGERE_METAMORPHIC_STEPS. Counted, not timed: every machine gives up the same scenes.
[[nodiscard]] int mostStepsInside();
/// And that all of them together may.
[[nodiscard]] bool hasTakenTooMany(const Simulator& sim);

/// A number from the environment.
[[nodiscard]] long fromEnvironment(const char* name, long otherwise);

/// Seeds in a row begin the same stream at places in a row; these begin anywhere.
[[nodiscard]] std::uint64_t scatteredSeed(std::uint64_t seed);

struct CaseLimits {
  bool hasRobots = true;
  bool hasFloor = true;     ///< may have one
  bool isIsolated = false;  ///< nothing but free bodies, no damping
  bool hasDamping = true;   ///< may have
  bool hasMeshes = true;    ///< may have
  bool hasRims = true;      ///< may have cylinders and cones
  bool hasHulls = true;     ///< may have
  bool hasHertz = true;     ///< the event solver's materials may
  int maxBodies = 12;
};
/// The same for the same seed, solver and limits.
[[nodiscard]] Case randomCase(std::uint64_t seed, SolverType solver, const CaseLimits& limits = {});

/// A ball that flies at two to six that touch each other, on their line of symmetry, to the last
/// bit: what happens at the same time must not be taken in the order of names.
[[nodiscard]] Case symmetricCase(std::uint64_t seed, SolverType solver);

/// The smallest case that still fails: bodies are left out, numbers rounded, what is not needed set
/// to zero, for as long as `fails` says so.
[[nodiscard]] Case shrunk(const Case& scene, const std::function<bool(const Case&)>& fails);

/// Writes the case as a scene file, with the meshes and robots it needs beside it. `remarks` are
/// its first lines. What a scene file cannot say is a remark too.
void writeCase(const std::filesystem::path& path, const Case& scene, const std::string& remarks);

}  // namespace tangere::test
