// SPDX-License-Identifier: Apache-2.0
//
// Small contact problems with known answers: boxes on a fixed block, and random heaps.
#pragma once

#include "math/contact_frame.hpp"
#include "solver/impulse_solver.hpp"
#include "solver/islands.hpp"

#include <cstdint>
#include <random>
#include <vector>

namespace tangere::solver::test {

inline constexpr Real kGravity = 9.81;
inline constexpr Real kDt = 0.002;

inline ImpulseBlock fixedBlock() { return {.duration = kDt}; }

/// A solid box of half sizes `half` whose axes are those of the world.
inline ImpulseBlock boxBlock(Real mass, const Vec3& half, const Vec3& acceleration) {
  const Real c = 3 / mass;
  return {.inverseMass = 1 / mass,
          .inverseInertia = {.xx = c / (half.y * half.y + half.z * half.z),
                             .yy = c / (half.x * half.x + half.z * half.z),
                             .zz = c / (half.x * half.x + half.y * half.y)},
          .acceleration = acceleration,
          .duration = kDt};
}

/// Adds a group of contacts at the world positions, given the centres of the two blocks.
inline void addGroup(ImpulseProblem* problem, int block1, int block2, const Vec3& center1,
                     const Vec3& center2, const Vec3& normal, const std::vector<Vec3>& positions,
                     Real gap, Real friction) {
  problem->groups.push_back({.block1 = block1,
                             .block2 = block2,
                             .first = static_cast<std::int32_t>(problem->points.size()),
                             .count = static_cast<std::int32_t>(positions.size())});
  const Mat3 frame = math::contactFrame(normal);
  for (const Vec3& position : positions) {
    problem->points.push_back({.block1 = block1,
                               .block2 = block2,
                               .normal = normal,
                               .tangent1 = frame.col[0],
                               .tangent2 = frame.col[1],
                               .r1 = position - center1,
                               .r2 = position - center2,
                               .gap = gap,
                               .friction = friction});
  }
}

/// The four corners of a face of a box at height z.
inline std::vector<Vec3> corners(const Vec3& center, const Vec3& half, Real z) {
  return {{center.x - half.x, center.y - half.y, z},
          {center.x + half.x, center.y - half.y, z},
          {center.x + half.x, center.y + half.y, z},
          {center.x - half.x, center.y + half.y, z}};
}

/// Block 0 is fixed, block 1 a box of 2 x 2 x 2 `half` that rests on it with four points; `tilt`
/// turns gravity in the x direction.
inline ImpulseProblem restingBox(Real mass, Real half, Real friction, Real tiltSin, Real tiltCos) {
  ImpulseProblem problem;
  const Vec3 size{half, half, half}, center{0, 0, half};
  problem.blocks = {fixedBlock(),
                    boxBlock(mass, size, {kGravity * tiltSin, 0, -kGravity * tiltCos})};
  addGroup(&problem, 1, 0, center, {}, {0, 0, 1}, corners(center, size, 0), 0, friction);
  return problem;
}

/// A tower of unit-density cubes of the given masses (all of side 0.1 m) on a fixed block 0.
inline ImpulseProblem tower(const std::vector<Real>& masses, Real friction) {
  ImpulseProblem problem;
  problem.blocks = {fixedBlock()};
  const Vec3 half{0.05, 0.05, 0.05};
  Vec3 below{};
  for (std::size_t i = 0; i < masses.size(); ++i) {
    const Vec3 center{0, 0, 0.05 + 0.1 * static_cast<Real>(i)};
    const int block = static_cast<int>(problem.blocks.size());
    problem.blocks.push_back(boxBlock(masses[i], half, {0, 0, -kGravity}));
    addGroup(&problem, block, block - 1, center, below, {0, 0, 1},
             corners(center, half, center.z - 0.05), 0, friction);
    below = center;
  }
  return problem;
}

/// A connected heap: blocks with random inertia and velocity, contacts in random directions, warm
/// impulses of any size where `warmSize` is not zero.
inline ImpulseProblem randomHeap(std::mt19937_64* random, int numBlocks, Real warmSize) {
  const auto uniform = [&](Real low, Real high) {
    return low + (high - low) * (static_cast<Real>((*random)() >> 11) * 0x1p-53);
  };
  const auto vector = [&](Real size) {
    return Vec3{uniform(-size, size), uniform(-size, size), uniform(-size, size)};
  };
  ImpulseProblem problem;
  std::vector<Vec3> centers = {{}};
  problem.blocks = {fixedBlock()};
  for (int i = 1; i <= numBlocks; ++i) {
    // One draw after the other: the order within a call is the compiler's choice.
    const Real mass = uniform(0.1, 10), sizeX = uniform(0.02, 0.1), sizeY = uniform(0.02, 0.1);
    ImpulseBlock block = boxBlock(mass, {sizeX, sizeY, 0.05}, {0, 0, -kGravity});
    block.velocity = vector(1);
    block.angularVelocity = vector(5);
    problem.blocks.push_back(block);
    centers.push_back(vector(0.5));
    // Each with one below it, and with some other one.
    const int others[2] = {static_cast<int>(uniform(0, i)), static_cast<int>(uniform(0, i))};
    for (int k = 0; k < (others[0] == others[1] ? 1 : 2); ++k) {
      Vec3 normal = vector(1);
      normal = normal / norm(normal);
      std::vector<Vec3> positions;
      const int count = 1 + static_cast<int>(uniform(0, 4));
      for (int p = 0; p < count; ++p) positions.push_back(centers[i] + vector(0.08));
      const std::size_t first = problem.points.size();
      const Real gap = uniform(-1e-3, 1e-3), friction = uniform(0, 1);
      addGroup(&problem, i, others[k], centers[i], centers[others[k]], normal, positions, gap,
               friction);
      for (std::size_t p = first; p < problem.points.size() && warmSize > 0; ++p) {
        problem.points[p].normalImpulse = uniform(0, warmSize);
        problem.points[p].tangentImpulse[0] = uniform(-warmSize, warmSize);
        problem.points[p].tangentImpulse[1] = uniform(-warmSize, warmSize);
      }
    }
  }
  return problem;
}

inline std::vector<ImpulseReport> solveAll(ImpulseProblem* problem, const ImpulseOptions& options,
                                           core::ThreadPool* pool = nullptr) {
  Islands islands;
  islands.build(problem->blocks, problem->groups);
  std::vector<ImpulseReport> reports(islands.islands().size());
  ImpulseSolver solver;
  solver.solve(*problem, islands.islands(), options, kDt, pool, reports);
  return reports;
}

/// Inverse of a positive definite Sym3 times a vector.
inline Vec3 inertiaTimes(const Sym3& inverse, const Vec3& v) {
  // Columns of the adjugate over the determinant.
  const Vec3 x{inverse.xx, inverse.xy, inverse.xz}, y{inverse.xy, inverse.yy, inverse.yz},
      z{inverse.xz, inverse.yz, inverse.zz};
  const Real determinant = dot(x, cross(y, z));
  const Vec3 a = cross(y, z), b = cross(z, x), c = cross(x, y);
  return Vec3{dot(a, v), dot(b, v), dot(c, v)} / determinant;
}

inline Real kineticEnergy(const ImpulseProblem& problem) {
  Real sum = 0;
  for (const ImpulseBlock& block : problem.blocks) {
    if (!(block.inverseMass > 0)) continue;
    sum += squaredNorm(block.velocity) / block.inverseMass +
           dot(block.angularVelocity, inertiaTimes(block.inverseInertia, block.angularVelocity));
  }
  return sum / 2;
}

/// Work of the free accelerations along meanDisplacement and meanRotation.
inline Real freeWork(const ImpulseProblem& problem) {
  Real sum = 0;
  for (const ImpulseBlock& block : problem.blocks) {
    if (!(block.inverseMass > 0)) continue;
    sum += dot(block.acceleration, block.meanDisplacement) / block.inverseMass +
           dot(inertiaTimes(block.inverseInertia, block.angularAcceleration), block.meanRotation);
  }
  return sum;
}

/// Work of the points, on moving blocks only: what a driven block does is not theirs.
inline Real contactWork(const ImpulseProblem& problem) {
  Real sum = 0;
  for (const ImpulsePoint& point : problem.points) sum += point.normalWork + point.frictionWork;
  return sum;
}

inline Vec3 pointVelocity(const ImpulseProblem& problem, const ImpulsePoint& point) {
  const ImpulseBlock& block1 = problem.blocks[point.block1];
  const ImpulseBlock& block2 = problem.blocks[point.block2];
  return block1.velocity + cross(block1.angularVelocity, point.r1) - block2.velocity -
         cross(block2.angularVelocity, point.r2);
}

}  // namespace tangere::solver::test
