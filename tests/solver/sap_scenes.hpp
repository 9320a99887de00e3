// SPDX-License-Identifier: Apache-2.0
//
// Convex problems of free bodies and contacts, for tests and benchmarks: bodies have a mass, a
// diagonal inertia and a position, contacts stay where they are and only their gaps change.
#pragma once

#include "solver/sap_problem.hpp"
#include "solver/sap_solver.hpp"

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace tangere::solver::test {

inline constexpr Real kSapGravity = 9.81;

inline Real uniform(std::mt19937_64* random, Real low, Real high) {
  return low + (high - low) * (static_cast<Real>((*random)() >> 11) * 0x1p-53);
}
inline Vec3 randomVector(std::mt19937_64* random, Real size) {
  return {uniform(random, -size, size), uniform(random, -size, size), uniform(random, -size, size)};
}
inline Vec3 randomUnit(std::mt19937_64* random) {
  for (;;) {
    const Vec3 v = randomVector(random, 1);
    if (squaredNorm(v) > 0.01 && squaredNorm(v) < 1) return v / norm(v);
  }
}

/// Row of the velocity of the point at r from the centre along d: d.v + (r x d).w.
inline void writeRow(const Vec3& d, const Vec3& r, Real sign, Real* row) {
  const Vec3 moment = cross(r, d);
  for (int k = 0; k < 3; ++k) {
    row[k] = sign * d[k];
    row[3 + k] = sign * moment[k];
  }
}

struct SapBody {
  Real mass = 1;
  Vec3 inertia{0.1, 0.1, 0.1};
  Vec3 position{};
  Vec3 velocity{}, angularVelocity{};
};

struct SapTouch {
  int body1 = 0, body2 = -1;  // -1: the world
  Vec3 point{}, normal{0, 0, 1};
  SapContact contact{};
};

struct SapWorld {
  std::vector<SapBody> bodies;
  std::vector<SapTouch> touches;
  Vec3 gravity{0, 0, -kSapGravity};
  Real dt = 0.002;

  /// The problem of the next step; the guess is the present velocity.
  void fill(SapProblem* problem) const {
    problem->clear(dt);
    for (const SapBody& body : bodies) {
      const int c = problem->addClique(6);
      Real* const a = problem->matrix(c);
      for (int k = 0; k < 3; ++k) {
        a[7 * k] = body.mass;
        a[7 * (k + 3)] = body.inertia[k];
        problem->velocity(c)[k] = body.velocity[k];
        problem->velocity(c)[3 + k] = body.angularVelocity[k];
        problem->freeVelocity(c)[k] = body.velocity[k] + dt * gravity[k];
        problem->freeVelocity(c)[3 + k] = body.angularVelocity[k];
      }
    }
    for (const SapTouch& touch : touches) {
      const int c = problem->addContact(touch.body1, touch.body2, touch.contact);
      const Vec3 helper = std::abs(touch.normal.x) < 0.6 ? Vec3{1, 0, 0} : Vec3{0, 1, 0};
      const Vec3 across = cross(touch.normal, helper);
      const Vec3 t1 = across / norm(across), t2 = cross(touch.normal, t1);
      const Vec3 frame[3] = {t1, t2, touch.normal};
      for (int k = 0; k < 3; ++k) {
        writeRow(frame[k], touch.point - bodies[touch.body1].position, 1,
                 problem->jacobian1(c) + 6 * k);
        if (touch.body2 >= 0) {
          writeRow(frame[k], touch.point - bodies[touch.body2].position, -1,
                   problem->jacobian2(c) + 6 * k);
        }
      }
    }
  }

  /// Takes the solution over: velocities, and gaps after the step.
  void take(const SapProblem& problem) {
    for (std::size_t b = 0; b < bodies.size(); ++b) {
      const Real* const v = problem.velocity(static_cast<int>(b));
      bodies[b].velocity = {v[0], v[1], v[2]};
      bodies[b].angularVelocity = {v[3], v[4], v[5]};
    }
    for (std::size_t c = 0; c < touches.size(); ++c) {
      touches[c].contact.gap += dt * problem.velocityOf(static_cast<int>(c))[2];
    }
  }
};

/// A cube of this edge on the plane z = 0, four points under its corners.
inline SapWorld cubeOnPlane(Real mass, Real edge, const SapContact& contact) {
  SapWorld world;
  const Real inertia = mass * edge * edge / 6;
  world.bodies.push_back(
      {.mass = mass, .inertia = {inertia, inertia, inertia}, .position = {0, 0, edge / 2}});
  for (const Real x : {-edge / 2, edge / 2}) {
    for (const Real y : {-edge / 2, edge / 2}) {
      world.touches.push_back({.body1 = 0, .point = {x, y, 0}, .contact = contact});
    }
  }
  return world;
}

/// `count` cubes of 0.1 m heaped on the floor of a bin: each touches those of its neighbours in a
/// disturbed grid with four points, and the floor or a wall where it is next to one.
inline SapWorld clutter(int count, std::uint64_t seed, const SapContact& contact) {
  std::mt19937_64 random(seed);
  SapWorld world;
  const Real edge = 0.1;
  const int side = std::max(2, static_cast<int>(std::sqrt(count / 2.5) + 0.5));
  for (int i = 0; i < count; ++i) {
    const Vec3 cell{static_cast<Real>(i % side), static_cast<Real>(i / side % side),
                    static_cast<Real>(i / (side * side))};
    const Real mass = uniform(&random, 0.2, 1.0);
    const Real inertia = mass * edge * edge / 6;
    world.bodies.push_back({.mass = mass,
                            .inertia = {inertia, uniform(&random, 0.6, 1) * inertia, inertia},
                            .position = cell * edge + randomVector(&random, 0.02)});
  }
  const auto addPatch = [&](int body1, int body2, const Vec3& center, const Vec3& normal,
                            int numPoints) {
    const Vec3 helper = std::abs(normal.x) < 0.6 ? Vec3{1, 0, 0} : Vec3{0, 1, 0};
    const Vec3 t1 = cross(normal, helper) / norm(cross(normal, helper)), t2 = cross(normal, t1);
    for (int k = 0; k < numPoints; ++k) {
      const Real s = numPoints == 1 ? 0 : (k < 2 ? -0.03 : 0.03);
      const Real t = numPoints == 1 ? 0 : (k % 2 == 0 ? -0.03 : 0.03);
      SapContact own = contact;
      own.gap = uniform(&random, -1e-4, 1e-4);
      world.touches.push_back({.body1 = body1,
                               .body2 = body2,
                               .point = center + s * t1 + t * t2,
                               .normal = normal,
                               .contact = own});
    }
  };
  for (int i = 0; i < count; ++i) {
    const SapBody& body = world.bodies[i];
    if (i < side * side) {
      addPatch(i, -1, body.position - Vec3{0, 0, edge / 2}, {0, 0, 1}, 4);
    }
    if (i % side == 0) addPatch(i, -1, body.position - Vec3{edge / 2, 0, 0}, {1, 0, 0}, 1);
    if (i % side == side - 1) addPatch(i, -1, body.position + Vec3{edge / 2, 0, 0}, {-1, 0, 0}, 1);
    for (int k = 0; k < i; ++k) {
      const Vec3 offset = body.position - world.bodies[k].position;
      const Real distance = norm(offset);
      if (distance > 0.108) continue;
      const bool isBelow = offset.z > 0.06;
      addPatch(i, k, world.bodies[k].position + offset * 0.5, offset / distance, isBelow ? 4 : 1);
    }
  }
  return world;
}

}  // namespace tangere::solver::test
