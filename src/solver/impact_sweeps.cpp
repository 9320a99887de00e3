// SPDX-License-Identifier: Apache-2.0
#include "solver/impact_sweeps.hpp"

#include <algorithm>
#include <cmath>

namespace tangere::solver {
namespace {

constexpr int kMaxSweeps = 3000;
constexpr Real kTolerance = 1e-15;

Vec3 velocityAt(const ImpulseProblem& problem, const ImpulsePoint& point) {
  const ImpulseBlock& block1 = problem.blocks[point.block1];
  const ImpulseBlock& block2 = problem.blocks[point.block2];
  return block1.velocity + cross(block1.angularVelocity, point.r1) - block2.velocity -
         cross(block2.angularVelocity, point.r2);
}

/// axis_i . W axis_j of a point.
Real response(const ImpulseProblem& problem, const ImpulsePoint& point, const Vec3& axisI,
              const Vec3& axisJ) {
  const ImpulseBlock& block1 = problem.blocks[point.block1];
  const ImpulseBlock& block2 = problem.blocks[point.block2];
  const Vec3 turn1 = block1.inverseInertia * cross(point.r1, axisJ);
  const Vec3 turn2 = block2.inverseInertia * cross(point.r2, axisJ);
  return dot(axisI, axisJ * (block1.inverseMass + block2.inverseMass) + cross(turn1, point.r1) +
                        cross(turn2, point.r2));
}

void apply(ImpulseProblem& problem, const ImpulsePoint& point, const Vec3& impulse) {
  ImpulseBlock& block1 = problem.blocks[point.block1];
  ImpulseBlock& block2 = problem.blocks[point.block2];
  block1.velocity += impulse * block1.inverseMass;
  block1.angularVelocity += block1.inverseInertia * cross(point.r1, impulse);
  block2.velocity -= impulse * block2.inverseMass;
  block2.angularVelocity -= block2.inverseInertia * cross(point.r2, impulse);
}

/// One point: its normal row, then friction on the disk. Returns the largest change of a velocity.
Real relax(ImpulseProblem& problem, Real target, ImpulsePoint& point) {
  const Real wn = response(problem, point, point.normal, point.normal);
  const Real vn = dot(point.normal, velocityAt(problem, point));
  const Real normal = std::max<Real>(point.normalImpulse + (target - vn) / wn, 0);
  Real change = std::fabs(normal - point.normalImpulse) * wn;
  apply(problem, point, point.normal * (normal - point.normalImpulse));
  point.normalImpulse = normal;
  if (!(point.friction > 0)) return change;

  const Vec3 v = velocityAt(problem, point);
  const Real v1 = dot(point.tangent1, v), v2 = dot(point.tangent2, v);
  const Real a = response(problem, point, point.tangent1, point.tangent1);
  const Real b = response(problem, point, point.tangent1, point.tangent2);
  const Real d = response(problem, point, point.tangent2, point.tangent2);
  const Real det = a * d - b * b;
  Real t1 = point.tangentImpulse[0] - (d * v1 - b * v2) / det;
  Real t2 = point.tangentImpulse[1] - (a * v2 - b * v1) / det;
  const Real length = std::sqrt(t1 * t1 + t2 * t2), radius = point.friction * normal;
  if (length > radius) {
    t1 *= radius / length;
    t2 *= radius / length;
  }
  const Real d1 = t1 - point.tangentImpulse[0], d2 = t2 - point.tangentImpulse[1];
  point.tangentImpulse[0] = t1;
  point.tangentImpulse[1] = t2;
  apply(problem, point, point.tangent1 * d1 + point.tangent2 * d2);
  return std::max({change, std::fabs(d1) * a, std::fabs(d2) * d});
}

}  // namespace

void sweepImpact(ImpulseProblem& problem, std::span<const Real> targets) {
  const std::vector<ImpulseBlock> start = problem.blocks;
  Real fastest = 0;
  for (ImpulsePoint& point : problem.points) {
    point.normalImpulse = point.tangentImpulse[0] = point.tangentImpulse[1] = 0;
    fastest = std::max(fastest, norm(velocityAt(problem, point)));
  }
  for (int sweep = 0; sweep < kMaxSweeps; ++sweep) {
    Real change = 0;
    for (std::size_t i = 0; i < problem.points.size(); ++i)
      change = std::max(change, relax(problem, targets[i], problem.points[i]));
    if (change <= kTolerance * fastest) break;
  }
  // From the start once more, by the sums: the rounding of all the sweeps is left behind, so that
  // the work is the change of energy.
  problem.blocks = start;
  for (ImpulsePoint& point : problem.points) {
    const Vec3 v = velocityAt(problem, point);
    point.normalWork = Real(0.5) * point.normalImpulse * dot(point.normal, v);
    point.frictionWork = Real(0.5) * (point.tangentImpulse[0] * dot(point.tangent1, v) +
                                      point.tangentImpulse[1] * dot(point.tangent2, v));
  }
  for (const ImpulsePoint& point : problem.points) {
    apply(problem, point,
          point.normal * point.normalImpulse + point.tangent1 * point.tangentImpulse[0] +
              point.tangent2 * point.tangentImpulse[1]);
  }
  for (ImpulsePoint& point : problem.points) {
    const Vec3 v = velocityAt(problem, point);
    point.normalWork += Real(0.5) * point.normalImpulse * dot(point.normal, v);
    point.frictionWork += Real(0.5) * (point.tangentImpulse[0] * dot(point.tangent1, v) +
                                       point.tangentImpulse[1] * dot(point.tangent2, v));
  }
}

}  // namespace tangere::solver
