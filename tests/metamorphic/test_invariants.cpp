// SPDX-License-Identifier: Apache-2.0
//
// What every step of every solver keeps, on random scenes: momentum, energy, restitution, Coulomb's
// law, and that nothing pushes across a gap. Numbers of scenes and seeds as in test_relations.cpp.
#include "integrator/event_driven_integrator.hpp"
#include "metamorphic/check_relation.hpp"
#include "metamorphic/scene_case.hpp"
#include "metamorphic/solver_parameter.hpp"
#include "metamorphic/step_way.hpp"
#include "sim/random_scene.hpp"

#include <tangere/collision.hpp>
#include <tangere/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <optional>
#include <span>

namespace tangere::test {
namespace {

/// How far a run breaks what it must keep, and what it says; at most 1 where all is well.
struct Finding {
  Real size = 0;
  std::string text{};
  int numChecked = 0;
  bool isGivenUp = false;  ///< it took too many steps inside

  void note(Real value, Real allowed, const std::string& what) {
    ++numChecked;
    if (!(value / allowed > size)) return;
    size = value / allowed;
    char number[64];
    std::snprintf(number, sizeof number, ": %.3g, allowed %.3g", value, allowed);
    text = what + number;
  }
};

using Check = std::function<Finding(const Case&)>;

constexpr long kMostListed = 100;

/// Runs the check on random cases; those that fail are shrunk and written down.
/// `maxDifferent`: the part of the cases that may, for a reason that docs/metamorphic.md tells.
void expectInvariant(const std::string& name, SolverType solver, const CaseLimits& limits,
                     const std::function<void(Case&)>& change, const Check& check, int few,
                     Real maxDifferent = 0) {
  const long count = fromEnvironment("TANGERE_METAMORPHIC", few);
  const long first = fromEnvironment("TANGERE_METAMORPHIC_SEED", 1);
  const long maxFailures = fromEnvironment("TANGERE_METAMORPHIC_FAILURES", 3);
  long numFailed = 0, numChecked = 0, numGivenUp = 0, seed = first;
  std::string reports;
  Real worst = 0;
  for (; seed < first + count && (numFailed < maxFailures || maxDifferent > 0); ++seed) {
    Case scene = randomCase(static_cast<std::uint64_t>(seed), solver, limits);
    change(scene);
    const Finding found = check(scene);
    numChecked += found.numChecked;
    numGivenUp += found.isGivenUp ? 1 : 0;
    if (found.size <= 1) {
      worst = std::max(worst, found.size);
      continue;
    }
    if (++numFailed > 3) {
      if (numFailed <= kMostListed)
        reports += "seed " + std::to_string(seed) + ": " + found.text + "\n";
      continue;
    }
    const Case smallest =
        shrunk(scene, [&](const Case& smaller) { return check(smaller).size > 1; });
    const std::string path = outputFolder() + "/" + name + "_" + solverTypeName(solver) + "_" +
                             std::to_string(seed) + ".toml";
    const std::string text = name + ", seed " + std::to_string(seed) + ": " + check(smallest).text;
    writeCase(path, smallest, text + "\n");
    reports += "TANGERE_METAMORPHIC=1 TANGERE_METAMORPHIC_SEED=" + std::to_string(seed) + "\n" +
               text + "\n  shrunk to " + std::to_string(smallest.bodies.size()) + " bodies in " +
               path + "\n";
  }
  std::printf(
      "%s, %s: seeds %ld to %ld, %ld values, the largest %.2g of what is allowed, %ld given up, "
      "%ld failed\n",
      name.c_str(), solverTypeName(solver), first, seed - 1, numChecked, worst, numGivenUp,
      numFailed);
  const bool isMany = count >= 20 && maxDifferent > 0;
  const Real allowed = isMany ? 1 + maxDifferent * static_cast<Real>(count) : 0;
  if (static_cast<Real>(numFailed) > allowed)
    ADD_FAILURE() << numFailed << " of " << seed - first << " fail\n" << reports;
  else
    std::fputs(reports.c_str(), stdout);
  if (count >= 20) {
    EXPECT_GT(numChecked, count) << "the cases say too little";
  }
}

Mat3 inertiaInWorld(const Simulator& sim, int body) {
  const Mat3 R = sim.body(body).pose.rotation;
  return R * sim.model().massProperties(body).inertia * transpose(R);
}

/// Steps up to the first contact and `numAfter` on; `each` is called after every step. A scene that
/// takes too many steps inside is given up, with what it has shown so far.
template <class Each>
void stepPastContact(Simulator& sim, int numAfter, Finding* found, const Each& each) {
  constexpr int kMost = 600;
  int numLeft = kMost + numAfter;
  for (bool hasTouched = false; numLeft > 0; --numLeft) {
    const StepStatus status = sim.step().status;
    found->isGivenUp = has(status, StepStatus::TooMuchWork);
    if (isRefused(status)) return;
    each();
    found->isGivenUp = hasTakenTooMany(sim);
    if (found->isGivenUp) return;
    if (hasTouched || (sim.report().numContacts == 0 && sim.events().empty())) continue;
    hasTouched = true;
    numLeft = std::min(numLeft, numAfter);
  }
}

/// A step of the event solver may take long: it has steps to spare for few.
int numAfterContact(SolverType solver) { return solver == SolverType::Event ? 10 : 40; }

std::string atStep(const Simulator& sim) { return "step " + std::to_string(sim.state().step); }

// ---- momentum ----------------------------------------------------------------------------------

struct TotalMomentum {
  Vec3 linear{}, angular{};
  Real size = 0, turning = 0;  ///< sums of magnitudes
};

TotalMomentum momentumOf(const Simulator& sim) {
  TotalMomentum sum;
  for (int i = 0; i < sim.model().numBodies(); ++i) {
    const auto k = static_cast<std::size_t>(i);
    const Real mass = sim.model().massProperties(i).mass;
    const Vec3& x = sim.state().center[k];
    const Vec3 p = sim.state().velocity[k] * mass;
    const Vec3 spin = inertiaInWorld(sim, i) * sim.state().angularVelocity[k];
    sum.linear += p;
    sum.angular += cross(x, p) + spin;
    sum.size += norm(p);
    sum.turning += norm(x) * norm(p) + norm(spin);
  }
  return sum;
}

Finding momentumChange(const Case& scene) {
  Finding found;
  Simulator sim = startOf(scene);
  const TotalMomentum before = momentumOf(sim);
  const bool isEvent = scene.options.solver == SolverType::Event;
  // The event solver integrates the way of the origin and the turning, to its tolerance.
  const Real linear = isEvent ? 1e-7 : 1e-12, angular = isEvent ? 1e-6 : 1e-9;
  stepPastContact(sim, numAfterContact(scene.options.solver), &found, [&] {
    const TotalMomentum now = momentumOf(sim);
    const Real steps = static_cast<Real>(sim.state().step);
    found.note(norm(now.linear - before.linear), linear * steps * std::max(now.size, before.size),
               atStep(sim) + ", linear momentum changed");
    found.note(norm(now.angular - before.angular), angular * std::max(now.turning, before.turning),
               atStep(sim) + ", angular momentum changed");
  });
  return found;
}

class Invariants : public testing::TestWithParam<SolverType> {
 protected:
  static int few() { return GetParam() == SolverType::Event ? 10 : 60; }
};

TEST_P(Invariants, MomentumOfAnIsolatedGroupStays) {
  const auto change = [](Case& scene) {
    scene.options.gravity = {};
    // Bodies that are pushed out of each other turn about each other.
    scene.options.impulse.correction = PositionCorrection::None;
  };
  expectInvariant("momentum", GetParam(),
                  {.hasRobots = false, .isIsolated = true, .hasDamping = false}, change,
                  momentumChange, few(), 0.001);
}

// ---- energy ------------------------------------------------------------------------------------

Real energyOf(const Simulator& sim) {
  Real sum = 0;
  for (int i = 0; i < sim.model().numBodies(); ++i) {
    if (sim.model().bodyType(i) != BodyType::Dynamic) continue;
    const auto k = static_cast<std::size_t>(i);
    const State& state = sim.state();
    const Real mass = sim.model().massProperties(i).mass;
    const Vec3& w = state.angularVelocity[k];
    sum += 0.5 * mass * squaredNorm(state.velocity[k]) + 0.5 * dot(w, inertiaInWorld(sim, i) * w) -
           mass * dot(sim.model().options().gravity, state.center[k]);
  }
  return sum;
}

Finding energyGain(const Case& scene) {
  Finding found;
  Simulator sim = startOf(scene);
  const Real start = energyOf(sim);
  const Real gravity = norm(scene.options.gravity);
  Real allowed = 0, scale = energyScale(sim);
  std::vector<Vec3> last = sim.state().velocity;
  stepPastContact(sim, numAfterContact(scene.options.solver), &found, [&] {
    // x += dt v with the new velocity, and what pushing bodies apart lifts.
    for (int i = 0; i < sim.model().numBodies(); ++i) {
      const auto k = static_cast<std::size_t>(i);
      if (sim.model().bodyType(i) == BodyType::Dynamic)
        allowed += 0.5 * sim.model().massProperties(i).mass * gravity * scene.options.dt *
                   norm(sim.state().velocity[k] - last[k]);
    }
    last = sim.state().velocity;
    allowed += std::max<Real>(sim.energy().correction, 0);
    scale = std::max(scale, energyScale(sim));
    const Real rounding = scene.options.solver == SolverType::Event ? 1e-6 : 1e-9;
    found.note(energyOf(sim) - start, allowed + rounding * scale, atStep(sim) + ", energy gained");
  });
  return found;
}

TEST_P(Invariants, EnergyIsNeverGained) {
  const auto change = [](Case& scene) {
    for (Body& body : scene.bodies)
      if (body.type == BodyType::Kinematic) body.type = BodyType::Dynamic;
  };
  expectInvariant("energy", GetParam(), {.hasRobots = false, .hasDamping = false}, change,
                  energyGain, few());
}

// ---- Coulomb, and depth against force ----------------------------------------------------------

Vec3 velocityAt(const Simulator& sim, const std::vector<Vec3>& centers, int body, const Vec3& p) {
  const auto k = static_cast<std::size_t>(body);
  return sim.state().velocity[k] + cross(sim.state().angularVelocity[k], p - centers[k]);
}

/// One coefficient for all, so that nobody has to know who touches whom.
void shareFriction(Case& scene) {
  for (Material& material : scene.materials) {
    material.friction = scene.materials[0].friction;
    material.torsionalFriction = material.rollingFriction = 0;
  }
}

/// How far the way of a point of a body leaves a straight line within a step [m].
Real bendOf(const Simulator& sim, const Case& scene, int body) {
  const std::string name(sim.model().bodyName(body));
  const Real turn =
      norm(sim.state().angularVelocity[static_cast<std::size_t>(body)]) * scene.options.dt;
  for (const Body& one : scene.bodies)
    if (one.name == name && one.type == BodyType::Dynamic) return turn * turn * reachOf(one);
  return 0;
}

/// What an impulse at the contact changes of the relative velocity there, along itself [m/s].
Real changeBy(const Simulator& sim, const ContactForce& contact, const Vec3& impulse) {
  Real change = 0;
  for (const int body : {contact.body1, contact.body2}) {
    if (sim.model().bodyType(body) != BodyType::Dynamic) continue;
    const Vec3 arm = contact.position - sim.state().center[static_cast<std::size_t>(body)];
    const Vec3 turn = cross(arm, impulse);
    const Mat3 I = inertiaInWorld(sim, body);
    const Vec3 rows[3] = {cross(I.col[1], I.col[2]), cross(I.col[2], I.col[0]),
                          cross(I.col[0], I.col[1])};  // of its inverse, times its determinant
    const Vec3 scaled{dot(rows[0], turn), dot(rows[1], turn), dot(rows[2], turn)};
    change += norm(impulse) / sim.model().massProperties(body).mass +
              dot(turn, scaled) / (dot(I.col[0], rows[0]) * norm(impulse));
  }
  return change;
}

/// The event solver beside a simulator that takes the same steps: it tells what the readings of
/// contacts are made of.
class ContactSums {
 public:
  explicit ContactSums(const Simulator& sim)
      : state_(sim.state()), integrator_(sim.model().data(), control_) {
    control_.force.resize(sim.state().center.size());
    control_.torque.resize(sim.state().center.size());
    control_.jointForce.resize(sim.state().v.size());
  }

  /// Null where no time has passed.
  const integrator::ContactImpulses* until(Real time) {
    if (isRefused(integrator_.advance(time, state_).status)) return nullptr;
    return integrator_.impulsesUntil(time);
  }

 private:
  model::Control control_;
  State state_;
  integrator::EventDrivenIntegrator integrator_;
};

/// Mean forces of a step of the event solver. Normals n turn within it, and a sum of forces, each
/// in its own cone, need not be in the cone about the mean of n. What holds for the sums of
/// friction T and of normal forces N is |sum T| <= sum |T| <= mu sum N.
void noteMeanFriction(const Simulator& sim, Real mu, Real largest, ContactSums& sums,
                      Finding* found) {
  const integrator::ContactImpulses* impulses = sums.until(sim.state().time);
  const std::span<const ContactForce> contacts = sim.contacts();
  const std::size_t numPairs = impulses != nullptr ? impulses->pairs().size() : 0;
  const bool isSame = numPairs == contacts.size();
  found->note(isSame ? 0 : 2, 1, atStep(sim) + ", other contacts than the integrator has");
  if (!isSame) return;
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    const integrator::ContactLoad& sum = impulses->pairs()[i].sum;
    const Real seconds = impulses->elapsed();
    found->note(norm(sum.force / seconds - contacts[i].force), 1e-12 * largest,
                atStep(sim) + ", not the mean of what was integrated");
    found->note((norm(sum.force - sum.normal) - mu * sum.normalForce) / seconds, 1e-6 * largest,
                atStep(sim) + ", more friction than its normal forces hold");
  }
}

/// Forces and slips at the end of the step, about the places of its start.
Finding coulombError(const Case& given) {
  Finding found;
  Case scene = given;
  shareFriction(scene);
  const Real mu = scene.materials[0].friction;
  // Under SAP what is held slips by a tenth of what its friction changes: in no direction more than
  // three.
  const bool isSap = scene.options.solver == SolverType::Sap;
  const Real slipping = isSap ? 0.3 : 0.05;
  const bool isEvent = scene.options.solver == SolverType::Event;
  Simulator sim = startOf(scene);
  std::optional<ContactSums> sums;
  if (isEvent) sums.emplace(sim);
  std::vector<Vec3> centers = sim.state().center;
  stepPastContact(sim, numAfterContact(scene.options.solver), &found, [&] {
    const std::vector<Vec3> now = sim.state().center;
    const Real fastest = fastestOf(sim);
    Real largest = 0;
    for (const ContactForce& contact : sim.contacts())
      largest = std::max(largest, norm(contact.force));
    if (isEvent) noteMeanFriction(sim, mu, largest, *sums, &found);
    for (const ContactForce& contact : sim.contacts()) {
      const Real normal = dot(contact.force, contact.normal);
      const Vec3 tangent = contact.force - contact.normal * normal;
      found.note(-normal, 1e-9 * largest, atStep(sim) + ", a contact pulls");
      // Normals turn and slips change within a step of the event solver, slips also in impacts.
      if (isEvent) continue;
      found.note(norm(tangent) - mu * normal, 1e-6 * largest,
                 atStep(sim) + ", friction beyond its cone");
      if (sim.report().numImpacts > 0 || has(sim.report().status, StepStatus::SolverNotConverged) ||
          !(norm(tangent) > 0))
        continue;
      const Vec3 slip = velocityAt(sim, centers, contact.body1, contact.position) -
                        velocityAt(sim, centers, contact.body2, contact.position);
      const Vec3 sliding = slip - contact.normal * dot(contact.normal, slip);
      const Real speed = norm(sliding);
      const Real bend = bendOf(sim, scene, contact.body1) + bendOf(sim, scene, contact.body2);
      if (speed < slipping * fastest || bend > 0.02 * speed * scene.options.dt) continue;
      if (isSap && speed < slipping * changeBy(sim, contact, tangent * scene.options.dt)) continue;
      found.note(dot(tangent, sliding) / speed + norm(tangent),
                 1e-2 * norm(tangent) + 1e-9 * largest,
                 atStep(sim) + ", friction not against the slip");
      found.note(mu * normal - norm(tangent), 1e-4 * largest,
                 atStep(sim) + ", friction of a slip below its cone");
    }
    centers = now;
  });
  return found;
}

TEST_P(Invariants, FrictionIsInItsConeAndAgainstTheSlip) {
  expectInvariant("coulomb", GetParam(), {.hasRobots = false}, shareFriction, coulombError, few(),
                  0.001);
}

/// A million times the force that the rounding of momenta may leave.
Real roundingForce(const Simulator& sim) {
  Real mass = 0;
  for (int i = 0; i < sim.model().numBodies(); ++i)
    if (sim.model().bodyType(i) == BodyType::Dynamic) mass += sim.model().massProperties(i).mass;
  return 1e-8 * mass * fastestOf(sim) / sim.model().options().dt;
}

std::string between(const Simulator& sim, const ContactForce& contact) {
  return ", " + std::string(sim.model().bodyName(contact.body1)) + " and " +
         std::string(sim.model().bodyName(contact.body2));
}

std::vector<Transform> posesOf(const Simulator& sim) {
  std::vector<Transform> poses;
  for (int i = 0; i < sim.model().numBodies(); ++i) poses.push_back(sim.body(i).pose);
  return poses;
}

/// Of the two shapes of a contact, by the shapes themselves; negative: they are apart.
Real overlapOf(const Simulator& sim, const std::vector<Transform>& poses,
               const ContactForce& contact) {
  const Model& model = sim.model();
  const Transform X_W1 =
      poses[static_cast<std::size_t>(contact.body1)] * model.shapePose(contact.shape1);
  const Transform X_W2 =
      poses[static_cast<std::size_t>(contact.body2)] * model.shapePose(contact.shape2);
  const DistanceResult found =
      distance(*model.shape(contact.shape1), X_W1, *model.shape(contact.shape2), X_W2, {});
  EXPECT_EQ(found.status, QueryStatus::Ok);
  return -found.distance;
}

Finding complementarityError(const Case& scene) {
  Finding found;
  Simulator sim = startOf(scene);
  const Real dt = scene.options.dt;
  State start = sim.state();
  std::vector<Transform> poses = posesOf(sim);
  stepPastContact(sim, numAfterContact(scene.options.solver), &found, [&] {
    const bool isSolved =
        sim.report().numImpacts == 0 && !has(sim.report().status, StepStatus::SolverNotConverged);
    Real largest = roundingForce(sim);
    for (const ContactForce& contact : sim.contacts())
      largest = std::max(largest, norm(contact.force));
    for (const ContactForce& contact : sim.contacts()) {
      if (!isSolved || scene.options.solver == SolverType::Event) break;
      const Real force = dot(contact.force, contact.normal);
      Way way1 = wayOf(sim, scene, start, contact.body1);
      Way way2 = wayOf(sim, scene, start, contact.body2);
      // One that nothing pushes tells no time: it may have come along to where the other landed.
      // The gap they had at the start says whether the depth is of then.
      const Real startGap = -overlapOf(sim, poses, contact);
      const auto error = [&](const Way& one, const Way& two) {
        const Vec3 closed = one.early + cross(one.earlyTurn, contact.position - one.landing) -
                            two.early - cross(two.earlyTurn, contact.position - two.landing);
        return std::fabs(startGap + contact.depth + dot(contact.normal, closed));
      };
      const Way later1 =
          way1.isPushed ? way1 : flown(way1, scene, sim, start, contact.body1, way2.time);
      const Way later2 =
          way2.isPushed ? way2 : flown(way2, scene, sim, start, contact.body2, way1.time);
      if (error(later1, later2) < error(way1, way2)) {
        way1 = later1;
        way2 = later2;
      }
      const Vec3 moved = way1.rest + cross(way1.turn, contact.position - way1.landing) - way2.rest -
                         cross(way2.turn, contact.position - way2.landing);
      // What counts as closed, and the curvature of the way.
      const Real closed = 0.1 * scene.options.impulse.slop + 1e-6 * fastestOf(sim) * dt +
                          2 * bendOf(sim, scene, contact.body1) +
                          2 * bendOf(sim, scene, contact.body2) + way1.unexplained +
                          way2.unexplained;
      const Real gap = -contact.depth + dot(contact.normal, moved);
      if (force > 1e-6 * largest)
        found.note(gap - std::max<Real>(-contact.depth, 0) * 1e-9,
                   closed + std::max<Real>(contact.depth, 0),
                   atStep(sim) + between(sim, contact) + ", a force across a gap");
      else
        found.note(-gap - std::max<Real>(contact.depth, 0), closed,
                   atStep(sim) + between(sim, contact) + ", an approach without a force");
    }
    for (const ContactResult& contact : sim.contactResults()) {
      found.note(-contact.normalForce, 1e-9 * (std::fabs(contact.normalForce) + 1e-12),
                 atStep(sim) + ", a contact pulls");
      found.note(-contact.penetration, 1e-9, atStep(sim) + ", a contact across a gap");
    }
    start = sim.state();
    poses = posesOf(sim);
  });
  return found;
}

TEST_P(Invariants, WhatPushesTouchesAndWhatApproachesIsPushed) {
  expectInvariant(
      "complementarity", GetParam(), {.hasRobots = false, .hasMeshes = false}, [](Case&) {},
      complementarityError, few(), 0.005);
}

// ---- restitution -------------------------------------------------------------------------------

std::vector<Vec3> cornersOf(const Body& body) {
  std::vector<Vec3> corners;
  for (const BodyShape& shape : body.shapes) {
    if (shape.shape->type() == ShapeType::Convex)
      for (const Vec3& p : static_cast<const Convex&>(*shape.shape).vertices())
        corners.push_back(shape.pose * p);
    if (shape.shape->type() == ShapeType::Box) {
      const Vec3 h = static_cast<const Box&>(*shape.shape).halfExtents();
      for (int i = 0; i < 8; ++i)
        corners.push_back(shape.pose * Vec3{(i & 1) != 0 ? h.x : -h.x, (i & 2) != 0 ? h.y : -h.y,
                                            (i & 4) != 0 ? h.z : -h.z});
    }
  }
  return corners;
}

/// A polyhedron above a plane at z = 0. Its corners tell, without asking the engine, when one lands
/// and how fast it leaves.
Case randomLanding(std::uint64_t seed, SolverType solver) {
  Random random(scatteredSeed(seed));
  Case scene;
  const Real size = random.magnitude(0.05, 1), speed = std::sqrt(2 * kGravity * size);
  scene.options.solver = solver;
  scene.options.dt = 5e-4 * size / speed;
  scene.options.restitutionThreshold = 1e-3 * speed;
  scene.options.impulse.slop = 1e-4 * size;
  scene.materials = {{.name = "m0",
                      .density = random.magnitude(100, 8000),
                      .friction = random.index(2) == 0 ? 0 : random.uniform(0, 1),
                      .restitution = random.uniform(0.1, 1)}};
  scene.bodies = {floorOf("m0")};
  std::shared_ptr<const Shape> shape;
  if (random.index(2) == 0) {
    const Real x = size * random.uniform(0.1, 1), y = size * random.uniform(0.1, 1);
    shape = box(x, y, size * random.uniform(0.05, 0.5));
  } else {
    std::vector<Vec3> points;
    for (int i = 0; i < 10; ++i) points.push_back(random.vector(size));
    shape = std::make_shared<Convex>(points);
  }
  // A little askew: one corner lands, and soon the next.
  const Mat3 turn = random.index(2) == 0 ? random.rotation()
                                         : turnAbout(random.vector(1), random.uniform(0.002, 0.1));
  Body body = bodyOf("body", shape, {}, turn, "m0");
  Real lowest = 0;
  for (const Vec3& p : cornersOf(body)) lowest = std::min(lowest, (turn * p).z);
  body.pose.translation = {0, 0, -lowest + 0.02 * size};
  body.linearVelocity = {random.uniform(-1, 1) * speed, 0, -speed * random.uniform(0.3, 1.5)};
  if (random.index(2) == 0) body.angularVelocity = random.vector(speed / size);
  scene.bodies.push_back(body);
  return scene;
}

struct Corner {
  Real height = 0, rate = 0;
};

std::vector<Corner> cornersNow(const Simulator& sim, const std::vector<Vec3>& local) {
  const BodyState state = sim.body("body");
  std::vector<Corner> corners;
  for (const Vec3& p : local) {
    const Vec3 arm = state.pose.rotation * p;
    corners.push_back({(state.pose.translation + arm).z,
                       (state.linearVelocity + cross(state.angularVelocity, arm)).z});
  }
  return corners;
}

struct Restitution {
  Finding found;
  int numFirst = 0, numLater = 0, numDivided = 0, numLeftOut = 0;
};

/// Takes `numSteps` steps and measures every corner that lands in one.
void followCorners(const Case& scene, int numSteps, Simulator& sim, Restitution* result) {
  constexpr int kParts = 16;
  constexpr Real kLeastStep = 1e-3;  // of that of the scene
  const Body& body = scene.bodies[1];
  const std::vector<Vec3> local = cornersOf(body);
  const Real e = scene.materials[0].restitution, dt = sim.model().options().dt;
  const Real reach = reachOf(body);
  std::vector<Corner> before = cornersNow(sim, local);
  // One that has come this far down may land in the next step.
  const Real slop = scene.options.impulse.slop;
  const Real closed = 0.01 * slop;  // what counts as touching
  bool hasTouched = false;
  for (int step = 0; step < numSteps && !hasTakenTooMany(sim); ++step) {
    const State start = sim.state();
    const Vec3 lastSpin = sim.body("body").angularVelocity;
    if (isRefused(sim.step().status)) break;
    const std::vector<Corner> after = cornersNow(sim, local);
    const Real spin = std::max(norm(lastSpin), norm(sim.body("body").angularVelocity));
    // Within the step rates change by gravity and by turning.
    const Real drift = 2 * (kGravity + spin * spin * reach) * dt;
    std::size_t landing = local.size();
    int numLanding = 0, numNear = 0;
    for (std::size_t i = 0; i < local.size(); ++i) {
      const bool isLanding = before[i].height > -slop &&
                             before[i].height + (before[i].rate + drift) * dt < 0 &&
                             before[i].rate < -20 * drift;
      if (isLanding) landing = i;
      numLanding += isLanding ? 1 : 0;
      // One that rests or nearly lands too: its impulse would be in the balance.
      const auto isNearAt = [&](const Corner& corner) {
        return corner.height < closed + 2 * dt * (std::fabs(corner.rate) + drift);
      };
      const bool isNear = isNearAt(before[i]) || isNearAt(after[i]);
      numNear += !isLanding && isNear ? 1 : 0;
    }
    // A second impact within the step may throw the corner down again, or up: the event solver
    // tells how many there were.
    const bool isOne = scene.options.solver != SolverType::Event || sim.report().numImpacts == 1;
    const bool hasLanded = isOne && numLanding == 1 &&
                           !(after[landing].height > -slop && after[landing].rate < -drift);
    if (hasLanded) {
      const Real approach = -before[landing].rate;
      // Where others touch too, or land in the same step, their impulses may throw it up faster, or
      // take some of its speed.
      const Real lacking = e * approach - after[landing].rate;
      const Real error = numNear == 0 ? std::fabs(lacking) : lacking;
      const Real allowed = drift + (numNear == 0 ? 1e-3 : 0.5 * e) * approach;
      ++(hasTouched ? result->numLater : result->numFirst);
      if (error > allowed && sim.report().numImpacts > 1) {
        // They are told apart in parts of the step; what clatters to rest has no end of them.
        ++(dt > kLeastStep * scene.options.dt ? result->numDivided : result->numLeftOut);
        if (dt > kLeastStep * scene.options.dt) {
          SimulationOptions options = sim.model().options();
          options.dt = dt / kParts;
          Simulator parts(sim.model().withOptions(options));
          parts.setState(start);
          followCorners(scene, kParts, parts, result);
        }
      } else {
        result->found.note(error, allowed,
                           "corner " + std::to_string(landing) + " lands at " +
                               std::to_string(approach) + " m/s in " + atStep(sim) +
                               (numNear > 0 ? " beside others" : "") + " and leaves at " +
                               std::to_string(after[landing].rate) + " instead of " +
                               std::to_string(e * approach) + ", off by");
      }
    }
    hasTouched = hasTouched || numLanding > 0;
    before = after;
  }
}

Restitution restitutionError(const Case& scene) {
  Restitution result;
  if (scene.bodies.size() < 2) return result;
  Simulator sim = startOf(scene);
  followCorners(scene, 1500, sim, &result);
  result.found.isGivenUp =
      has(sim.report().status, StepStatus::TooMuchWork) || hasTakenTooMany(sim);
  return result;
}

TEST_P(Invariants, EveryCornerThatLandsLeavesWithItsRestitution) {
  if (GetParam() == SolverType::Sap) GTEST_SKIP() << "the convex solver knows no restitution";
  const long count = fromEnvironment("TANGERE_METAMORPHIC", few());
  const long first = fromEnvironment("TANGERE_METAMORPHIC_SEED", 1);
  const long maxFailures = fromEnvironment("TANGERE_METAMORPHIC_FAILURES", 3);
  int numFirst = 0, numLater = 0, numDivided = 0, numLeftOut = 0;
  long numFailed = 0, numGivenUp = 0;
  Real worst = 0;
  for (long seed = first; seed < first + count && numFailed < maxFailures; ++seed) {
    const Case scene = randomLanding(static_cast<std::uint64_t>(seed), GetParam());
    const Restitution result = restitutionError(scene);
    numFirst += result.numFirst;
    numLater += result.numLater;
    numDivided += result.numDivided;
    numLeftOut += result.numLeftOut;
    numGivenUp += result.found.isGivenUp ? 1 : 0;
    if (result.found.size <= 1) {
      worst = std::max(worst, result.found.size);
      continue;
    }
    ++numFailed;
    const std::string path = outputFolder() + "/restitution_" + solverTypeName(GetParam()) + "_" +
                             std::to_string(seed) + ".toml";
    writeCase(path, scene, result.found.text + "\n");
    if (numFailed <= 3)
      ADD_FAILURE() << "TANGERE_METAMORPHIC=1 TANGERE_METAMORPHIC_SEED=" << seed << "\n"
                    << result.found.text << "\n  in " << path;
  }
  std::printf(
      "restitution, %s: %d first and %d later corners, %d steps divided, %d left out, the worst "
      "%.2g of what is allowed, %ld given up, %ld failed\n",
      solverTypeName(GetParam()), numFirst, numLater, numDivided, numLeftOut, worst, numGivenUp,
      numFailed);
  if (count < 10) return;
  EXPECT_GT(numFirst, count / 4);
  EXPECT_GT(numLater, count / 4);
}

INSTANTIATE_TEST_SUITE_P(Solvers, Invariants, testing::ValuesIn(kAllSolvers), nameOfSolver);

}  // namespace
}  // namespace tangere::test
