// SPDX-License-Identifier: Apache-2.0
#include "metamorphic/check_relation.hpp"
#include "sim/random_scene.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace tangere::test {

namespace {

constexpr Real kOff = 1e-10;
constexpr int kMostStepsToContact = 600;
constexpr int kMostListed = 20;
constexpr int kMostReported = 3;  ///< shrunk and written, of one test

bool isUnsolved(StepStatus status) {
  return isRefused(status) ||
         has(status, StepStatus::SolverNotConverged | StepStatus::QueryNotConverged |
                         StepStatus::ImpactsCut | StepStatus::MayHaveCrossed);
}

Case displaced(const Case& scene, Random& random) {
  Case result = scene;
  Real speed = 0;
  for (const Body& body : scene.bodies) speed = std::max(speed, norm(body.linearVelocity));
  for (Body& body : result.bodies) {
    if (body.type != BodyType::Dynamic) continue;
    const Real reach = reachOf(body);
    body.pose.translation += random.vector(kOff * reach);
    body.pose.rotation = turnAbout({1, 1, 1}, kOff) * body.pose.rotation;
    if (!body.parent.empty() || !body.joints.empty()) continue;
    body.linearVelocity += random.vector(kOff * speed);
    body.angularVelocity += random.vector(kOff * speed / reach);
  }
  for (auto& [name, start] : result.joints) {
    for (Real& q : start.q) q += random.uniform(-kOff, kOff);
    for (Real& v : start.v) v *= 1 + random.uniform(-kOff, kOff);
  }
  return result;
}

/// What happened to the cases of a test.
struct Tally {
  int numTried = 0, numCompared = 0, numWithContacts = 0, numSensitive = 0, numFailed = 0;
  int numGivenUp = 0;  ///< that took too many steps inside
  Real worst = 0;
};

std::string number(Real value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", value);
  return text;
}

/// Shrinks the case and writes it down with its image; what to say of it.
std::string report(const RelationCheck& check, const Case& scene, SolverType solver, long seed,
                   int numSteps, std::uint64_t relationSeed, Real tolerance) {
  const auto fails = [&](const Case& smaller) {
    const Real violation = violationOf(smaller, check.relation, relationSeed, numSteps);
    return violation > tolerance &&
           (check.cases || violation > 10 * sensitivityOf(smaller, numSteps));
  };
  const Case smallest = shrunk(scene, fails);
  const Real violation = violationOf(smallest, check.relation, relationSeed, numSteps);
  const std::string name = check.name + "_" + solverTypeName(solver) + "_" + std::to_string(seed);
  const std::string path = outputFolder() + "/" + name + ".toml";
  const std::string remarks = check.name + ", seed " + std::to_string(seed) + ": after " +
                              std::to_string(numSteps) + " steps the image differs by " +
                              number(violation) + " of size or speed\n";
  writeCase(path, smallest, remarks);
  if (const auto image = check.relation(smallest, relationSeed))
    writeCase(outputFolder() + "/" + name + "_image.toml", image->scene, "the image of " + remarks);
  return "TANGERE_METAMORPHIC=1 TANGERE_METAMORPHIC_SEED=" + std::to_string(seed) + "\n" + remarks +
         "  shrunk to " + std::to_string(smallest.bodies.size()) + " bodies in " + path + "\n";
}

}  // namespace

std::string outputFolder() {
  const char* folder = std::getenv("TANGERE_METAMORPHIC_OUT");
  return folder != nullptr
             ? folder
             : (std::filesystem::temp_directory_path() / "tangere_metamorphic").string();
}

Real toleranceOf(SolverType solver) {
  switch (solver) {
    case SolverType::Impulse:
      return 1e-8;
    case SolverType::Sap:
      return 1e-7;
    case SolverType::Event:
      return 1e-5;
  }
  return 0;
}

Real violationOf(const Case& scene, const Relation& relation, std::uint64_t seed, int numSteps,
                 int* numContacts) {
  const std::optional<Image> image = relation(scene, seed);
  if (!image) return kNotCompared;
  const std::optional<Snapshot> original = motionOf(scene, numSteps);
  if (!original) return kGivenUp;
  if (isUnsolved(original->status)) return kNotCompared;
  const std::optional<Snapshot> actual = motionOf(image->scene, numSteps);
  if (!actual) return kGivenUp;
  if (isUnsolved(actual->status)) return kNotCompared;
  if (numContacts != nullptr) *numContacts = original->numContacts;
  return differenceOf(image->expected(*original), *actual);
}

Real sensitivityOf(const Case& scene, int numSteps) {
  const std::optional<Snapshot> original = motionOf(scene, numSteps);
  if (!original) return 0;
  Random random(99);
  Real largest = 0;
  for (int i = 0; i < 6; ++i) {
    const std::optional<Snapshot> other = motionOf(displaced(scene, random), numSteps);
    if (other) largest = std::max(largest, differenceOf(*original, *other));
  }
  return largest;
}

void expectRelation(const RelationCheck& check, SolverType solver, int few) {
  const bool isOne = check.onlySeed > 0;
  const long count = isOne ? 1 : fromEnvironment("TANGERE_METAMORPHIC", few);
  const long first = isOne ? check.onlySeed : fromEnvironment("TANGERE_METAMORPHIC_SEED", 1);
  const long maxFailures = fromEnvironment("TANGERE_METAMORPHIC_FAILURES", 3);
  const Real tolerance = check.tolerance > 0 ? check.tolerance : toleranceOf(solver);
  Tally tally;
  std::string reports;
  for (long seed = first;
       seed < first + count && (tally.numFailed < maxFailures || check.maxDifferent > 0); ++seed) {
    ++tally.numTried;
    const auto bits = static_cast<std::uint64_t>(seed);
    Random random(scatteredSeed(bits + 1000003));
    // In a third of the cases the first contact begins in the steps that are compared.
    const int numAfter = random.index(3) == 0 ? 0 : random.index(check.maxAdvance + 1);
    const int numSteps = 1 + random.index(check.maxSteps);
    const std::uint64_t relationSeed = random.bits();
    const Case start =
        check.cases ? check.cases(bits, solver) : randomCase(bits, solver, check.limits);
    bool isGivenUp = false;
    const std::optional<Case> scene =
        advanced(start, numStepsToContact(start, kMostStepsToContact) + numAfter, &isGivenUp);
    tally.numGivenUp += isGivenUp ? 1 : 0;
    if (!scene) continue;
    int numContacts = 0;
    const Real violation =
        violationOf(*scene, check.relation, relationSeed, numSteps, &numContacts);
    tally.numGivenUp += violation == kGivenUp ? 1 : 0;
    if (violation < 0) continue;
    ++tally.numCompared;
    tally.numWithContacts += numContacts > 0 ? 1 : 0;
    if (violation <= tolerance) {
      tally.worst = std::max(tally.worst, violation);
      continue;
    }
    // Cases made to be symmetric are sensitive by nature, and have to hold all the same.
    if (!check.cases && violation <= 10 * sensitivityOf(*scene, numSteps)) {
      ++tally.numSensitive;
      continue;
    }
    if (++tally.numFailed <= kMostReported)
      reports += report(check, *scene, solver, seed, numSteps, relationSeed, tolerance);
    else if (tally.numFailed <= kMostListed)
      reports += "seed " + std::to_string(seed) + ": differs by " + number(violation) + "\n";
  }
  std::printf(
      "%s, %s: seeds %ld to %ld, %d compared, %d of them with contacts, largest difference %.1e, "
      "%d sensitive, %d given up, %d failed\n",
      check.name.c_str(), solverTypeName(solver), first, first + tally.numTried - 1,
      tally.numCompared, tally.numWithContacts, tally.worst, tally.numSensitive, tally.numGivenUp,
      tally.numFailed);
  // A single case that is looked at has to fail.
  const bool isMany = count >= 20 && check.maxDifferent > 0;
  const Real allowed = isMany ? 1 + check.maxDifferent * tally.numCompared : 0;
  if (tally.numFailed > allowed)
    ADD_FAILURE() << tally.numFailed << " of " << tally.numCompared << " differ\n" << reports;
  else
    std::fputs(reports.c_str(), stdout);
  if (count < 20 || tally.numFailed > allowed) return;
  EXPECT_LE(tally.numSensitive, 1 + check.maxSensitive * tally.numCompared);
  EXPECT_GE(tally.numWithContacts, tally.numCompared / 4) << "the cases say too little";
  EXPECT_GT(tally.numCompared, 0);
}

}  // namespace tangere::test
