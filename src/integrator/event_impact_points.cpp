// SPDX-License-Identifier: Apache-2.0
//
// Impacts with great friction. A sweep that takes the normal impulse of a point first and then the
// friction it allows runs in circles there: a little more normal impulse allows mu times as much
// friction, which lifts the point by more than there was to begin with. So each point is solved
// whole, normal impulse and friction together, and the sweeps only pass on what the others do.
#include "integrator/event_impacts.hpp"

#include <algorithm>
#include <cmath>

namespace tangere::integrator {

namespace {

constexpr std::size_t kMaxPoints = 64;
constexpr int kMaxSweeps = 2000;
/// From here on sweeps that do not settle go half of their way.
constexpr int kWholeSweeps = 300;

/// v = W p + free at one point: two tangents and the normal. W is symmetric.
struct PointProblem {
  Mat3 W{};
  Vec3 free{};
  Real target = 0, friction = 0;
};

/// All of the approach, no slip; false where W cannot be solved or it takes more than friction has.
bool stick(const PointProblem& problem, Vec3* impulse) {
  const Vec3 &x = problem.W.col[0], &y = problem.W.col[1], &z = problem.W.col[2];
  const Real determinant = dot(x, cross(y, z));
  constexpr Real kRounding = 1e-12;
  if (!(determinant > kRounding * x.x * y.y * z.z)) return false;
  const Vec3 wanted = Vec3{0, 0, problem.target} - problem.free;
  const Vec3 p =
      Vec3{dot(wanted, cross(y, z)), dot(wanted, cross(z, x)), dot(wanted, cross(x, y))} /
      determinant;
  const Real most = problem.friction * p.z;
  if (!(p.z >= 0) || !(p.x * p.x + p.y * p.y <= most * most)) return false;
  *impulse = p;
  return true;
}

/// Slip after an impulse with full friction along (u, v), times a positive number if there is such
/// an impulse. `isPressed`: there is.
struct Slide {
  Real u = 0, v = 0;
  Real slipU = 0, slipV = 0;
  bool isPressed = false;

  [[nodiscard]] Real across() const { return u * slipV - v * slipU; }
  /// Friction opposes the slip.
  [[nodiscard]] bool isRight() const { return isPressed && u * slipU + v * slipV <= 0; }
};
Slide slideAlong(const PointProblem& problem, Real u, Real v, Vec3* impulse) {
  const Real size = std::sqrt(u * u + v * v);
  const Vec3 push{problem.friction * u / size, problem.friction * v / size, 1};
  const Vec3 moved = problem.W * push;
  const Real approach = problem.target - problem.free.z;  // > 0
  *impulse = push * (approach / moved.z);
  return {u / size, v / size, moved.z * problem.free.x + approach * moved.x,
          moved.z * problem.free.y + approach * moved.y, moved.z > 0};
}

/// Full friction against the slip that is left; the direction nearest to where it slips without
/// friction.
bool slide(const PointProblem& problem, Vec3* impulse) {
  constexpr int kDirections = 64, kHalvings = 60;
  constexpr Real kCos = 0.99518472667219693, kSin = 0.098017140329560604;  // of 2 pi / 64
  const Real speed = std::sqrt(problem.free.x * problem.free.x + problem.free.y * problem.free.y);
  const Real u0 = speed > 0 ? -problem.free.x / speed : 1,
             v0 = speed > 0 ? -problem.free.y / speed : 0;
  Slide left = slideAlong(problem, u0, v0, impulse), right = left;
  if (left.isRight() && left.across() == 0) return true;
  for (int i = 0; i < kDirections; ++i) {
    // To one side and to the other in turn.
    Slide& last = i % 2 == 0 ? left : right;
    const Real sine = i % 2 == 0 ? kSin : -kSin;
    Slide a = last;
    Slide b = slideAlong(problem, a.u * kCos - a.v * sine, a.u * sine + a.v * kCos, impulse);
    last = b;
    if ((a.across() > 0) == (b.across() > 0)) continue;
    for (int k = 0; k < kHalvings; ++k) {
      const Slide middle = slideAlong(problem, a.u + b.u, a.v + b.v, impulse);
      ((middle.across() > 0) == (a.across() > 0) ? a : b) = middle;
    }
    if (slideAlong(problem, b.u, b.v, impulse).isRight()) return true;
  }
  return false;
}

/// Coulomb's law at one point, the others given. False: what there is without friction.
bool solvePoint(const PointProblem& problem, Vec3* impulse) {
  *impulse = {};
  const Real w = problem.W.col[2].z;
  if (problem.free.z >= problem.target || !(w > 0)) return true;
  if (problem.friction > 0) {
    if (stick(problem, impulse) || slide(problem, impulse)) return true;
  }
  *impulse = {0, 0, (problem.target - problem.free.z) / w};
  return !(problem.friction > 0);
}

}  // namespace

bool EventImpacts::solveByPoints(Real tolerance) {
  Real most = 0;
  for (const Point& point : points_) most = std::max(most, point.friction);
  if (points_.size() > kMaxPoints || most <= 1) return false;
  // W of all points together, by columns.
  const std::size_t size = 3 * points_.size();
  std::vector<Real> W(size * size), velocity(size);
  const std::vector<Real> before = change_;
  for (std::size_t column = 0; column < size; ++column) {
    std::fill(change_.begin(), change_.end(), Real(0));
    push(column, 1);
    for (std::size_t row = 0; row < size; ++row) {
      const Point& point = points_[row / 3];
      W[column * size + row] = velocityAt(point, row) - point.before[static_cast<int>(row % 3)];
    }
  }
  std::vector<Vec3> impulses(points_.size());
  std::vector<PointProblem> problems(points_.size());
  for (std::size_t p = 0; p < points_.size(); ++p) {
    problems[p].target = points_[p].target;
    problems[p].friction = points_[p].friction;
    for (int k = 0; k < 3; ++k) {
      const std::size_t at = 3 * p + static_cast<std::size_t>(k);
      velocity[at] = points_[p].before[k];
      const Real* column = W.data() + at * size + 3 * p;
      problems[p].W.col[k] = {column[0], column[1], column[2]};
    }
  }
  bool isConverged = false;
  for (int sweep = 0; sweep < kMaxSweeps && !isConverged && state_.budget().mayGoOn(); ++sweep) {
    Real change = 0;
    bool isSolved = true;
    for (std::size_t p = 0; p < points_.size(); ++p) {
      PointProblem& problem = problems[p];
      const Real* v = velocity.data() + 3 * p;
      problem.free = Vec3{v[0], v[1], v[2]} - problem.W * impulses[p];
      Vec3 next;
      isSolved = solvePoint(problem, &next) && isSolved;
      Vec3 step = next - impulses[p];
      const Vec3 moved = problem.W * step;
      for (int k = 0; k < 3; ++k) change = std::max(change, std::fabs(moved[k]));
      if (sweep >= kWholeSweeps) step = step * Real(0.5);
      impulses[p] += step;
      for (int k = 0; k < 3; ++k) {
        const Real* column = W.data() + (3 * p + static_cast<std::size_t>(k)) * size;
        for (std::size_t row = 0; row < size; ++row) velocity[row] += column[row] * step[k];
      }
    }
    isConverged = isSolved && change <= tolerance;
  }
  if (!isConverged) {
    change_ = before;
    return false;
  }
  std::fill(change_.begin(), change_.end(), Real(0));
  for (std::size_t row = 0; row < size; ++row) {
    const int axis = static_cast<int>(row % 3);
    points_[row / 3].impulse[axis] = impulses[row / 3][axis];
    push(row, impulses[row / 3][axis]);
  }
  return true;
}

}  // namespace tangere::integrator
