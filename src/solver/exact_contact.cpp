// SPDX-License-Identifier: Apache-2.0
#include "solver/exact_contact.hpp"

#include "solver/point_target.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace tangere::solver {
namespace {

constexpr Real kRelativeTolerance = 1e-12;
/// Of the diagonal, in Newton's matrix alone: points beyond the freedoms of the
/// blocks make it singular. The residual is that of the problem itself, so the
/// iteration removes the error.
constexpr Real kRegularization = 1e-8;
/// Of one operation; sums of m terms have m times it.
constexpr Real kRounding = 2e-16;
constexpr int kMaxNewton = 25;
constexpr int kMaxSweeps = 3000;

}  // namespace

ExactContactSolver::ExactContactSolver() {
  // Impacts have now one point, now four: memory that grows with the most of them would be taken
  // long after the first step.
  constexpr std::size_t kPoints = 8, kRows = 3 * kPoints;
  points_.reserve(kPoints);
  slots_.reserve(2 * kPoints);
  rows_.reserve(kRows);
  free_.reserve(kPoints);
  free_turn_.reserve(kPoints);
  for (std::vector<Real>* values : {&target_, &friction_, &tangent_step_}) values->reserve(kPoints);
  for (std::vector<Real>* values :
       {&first_velocity_, &free_velocity_, &lambda_, &warm_, &velocity_, &best_, &step_})
    values->reserve(kRows);
  matrix_.reserve(kRows * kRows);
  jacobian_.reserve(kRows * kRows);
}

bool ExactContactSolver::solve(ImpulseProblem& problem, const ImpulseIsland& island,
                               const ImpulseOptions& options, Real dt,
                               std::span<std::int32_t> slotOfBlock, ImpulseReport* report) {
  gather(problem, island, dt, options, slotOfBlock);
  buildMatrix(problem);
  if (!search()) return false;
  if (iterations_ > 0) shareLoad();

  report->iterations = iterations_;
  report->residual = residual();
  report->worstPoint = points_[worst_];
  report->converged = true;
  writeBack(problem, island, slotOfBlock, report);
  if (options.correction == PositionCorrection::SplitImpulse) {
    correctPositions(problem, island, options, dt, slotOfBlock);
  }
  return true;
}

bool ExactContactSolver::solveImpact(ImpulseProblem& problem, const ImpulseIsland& island,
                                     std::span<const Real> targets,
                                     std::span<std::int32_t> slotOfBlock) {
  gather(problem, island, 0, {}, slotOfBlock);
  for (int i = 0; i < num_points_; ++i) target_[i] = targets[points_[i]];
  buildMatrix(problem);
  startAlone();
  if (!isSolved() && !newton(kMaxNewton) && !searchFromZero()) return false;
  if (iterations_ > 0) shareLoad();
  ImpulseReport report;
  writeBack(problem, island, slotOfBlock, &report);
  return true;
}

void ExactContactSolver::gather(const ImpulseProblem& problem, const ImpulseIsland& island, Real dt,
                                const ImpulseOptions& options,
                                std::span<std::int32_t> slotOfBlock) {
  free_.clear();
  free_turn_.clear();
  for (const std::int32_t b : island.blocks) {
    const ImpulseBlock& block = problem.blocks[b];
    slotOfBlock[b] = static_cast<std::int32_t>(free_.size());
    free_.push_back(block.velocity + block.duration * block.acceleration);
    free_turn_.push_back(block.angularVelocity + block.duration * block.angularAcceleration);
  }

  points_.clear();
  slots_.clear();
  rows_.clear();
  target_.clear();
  friction_.clear();
  warm_.clear();
  free_velocity_.clear();
  first_velocity_.clear();
  for (const std::int32_t g : island.groups) {
    const ImpulseGroup& group = problem.groups[g];
    const ImpulseBlock& block1 = problem.blocks[group.block1];
    const ImpulseBlock& block2 = problem.blocks[group.block2];
    const std::int32_t slot1 = block1.inverseMass > 0 ? slotOfBlock[group.block1] : -1;
    const std::int32_t slot2 = block2.inverseMass > 0 ? slotOfBlock[group.block2] : -1;
    const Vec3 v1 = slot1 >= 0 ? free_[slot1] : block1.velocity;
    const Vec3 w1 = slot1 >= 0 ? free_turn_[slot1] : block1.angularVelocity;
    const Vec3 v2 = slot2 >= 0 ? free_[slot2] : block2.velocity;
    const Vec3 w2 = slot2 >= 0 ? free_turn_[slot2] : block2.angularVelocity;
    const Real h = pointDuration(block1, block2);
    for (std::int32_t p = group.first; p < group.first + group.count; ++p) {
      const ImpulsePoint& point = problem.points[p];
      points_.push_back(p);
      slots_.push_back(slot1);
      slots_.push_back(slot2);
      target_.push_back(pointTarget(commonGap(point, block1, block2, h, dt), h, dt, options));
      friction_.push_back(point.friction);
      const Vec3 v = (v1 - v2) + (cross(w1, point.r1) - cross(w2, point.r2));
      const Vec3 before =
          (block1.velocity - block2.velocity) +
          (cross(block1.angularVelocity, point.r1) - cross(block2.angularVelocity, point.r2));
      const Vec3 axes[3] = {point.tangent1, point.tangent2, point.normal};
      for (const Vec3& axis : axes) {
        Row row{.axis = axis,
                .arm1 = cross(point.r1, axis),
                .arm2 = cross(point.r2, axis),
                .turn1 = {},
                .turn2 = {}};
        row.turn1 = slot1 >= 0 ? block1.inverseInertia * row.arm1 : Vec3{};
        row.turn2 = slot2 >= 0 ? block2.inverseInertia * row.arm2 : Vec3{};
        rows_.push_back(row);
        free_velocity_.push_back(dot(axis, v));
        first_velocity_.push_back(dot(axis, before));
      }
      // Of the whole step, however little of it is left: see sweep_transfer.cpp.
      warm_.push_back(point.tangentImpulse[0]);
      warm_.push_back(point.tangentImpulse[1]);
      warm_.push_back(point.normalImpulse);
    }
  }
  num_points_ = static_cast<int>(points_.size());
  iterations_ = 0;
}

void ExactContactSolver::buildMatrix(const ImpulseProblem& problem) {
  const int m = 3 * num_points_;
  matrix_.assign(static_cast<std::size_t>(m) * m, 0);
  for (int i = 0; i < num_points_; ++i) {
    const ImpulsePoint& point = problem.points[points_[i]];
    const Real inverseMass1 = slots_[2 * i] >= 0 ? problem.blocks[point.block1].inverseMass : 0;
    const Real inverseMass2 = slots_[2 * i + 1] >= 0 ? problem.blocks[point.block2].inverseMass : 0;
    for (int j = 0; j <= i; ++j) {
      // The sign is that of the two sides of the shared block: it pushes one
      // way on each.
      for (int side = 0; side < 4; ++side) {
        const int sideI = side & 1, sideJ = side >> 1;
        const std::int32_t slot = slots_[2 * i + sideI];
        if (slot < 0 || slot != slots_[2 * j + sideJ]) continue;
        const Real inverseMass = sideI == 0 ? inverseMass1 : inverseMass2;
        const Real sign = sideI == sideJ ? 1 : -1;
        for (int a = 0; a < 3; ++a) {
          const Row& rowI = rows_[3 * i + a];
          const Vec3& turn = sideI == 0 ? rowI.turn1 : rowI.turn2;
          for (int b = 0; b < 3; ++b) {
            const Row& rowJ = rows_[3 * j + b];
            const Vec3& arm = sideJ == 0 ? rowJ.arm1 : rowJ.arm2;
            matrix_[(3 * i + a) * m + 3 * j + b] +=
                sign * (inverseMass * dot(rowI.axis, rowJ.axis) + dot(turn, arm));
          }
        }
      }
      for (int a = 0; a < 3; ++a) {
        for (int b = 0; b < 3; ++b) {
          matrix_[(3 * j + b) * m + 3 * i + a] = matrix_[(3 * i + a) * m + 3 * j + b];
        }
      }
    }
  }
  tangent_step_.resize(static_cast<std::size_t>(num_points_));
  for (int i = 0; i < num_points_; ++i) {
    const Real w11 = matrix_[(3 * i) * m + 3 * i], w22 = matrix_[(3 * i + 1) * m + 3 * i + 1];
    const Real w12 = matrix_[(3 * i) * m + 3 * i + 1];
    const Real half = Real(0.5) * (w11 - w22);
    const Real high = Real(0.5) * (w11 + w22) + std::sqrt(half * half + w12 * w12);
    tangent_step_[i] = high > 0 ? 1 / high : 0;
  }
}

/// The attempts, cheapest first.
bool ExactContactSolver::search() {
  const bool isWarm =
      std::any_of(warm_.begin(), warm_.end(), [](Real impulse) { return impulse != 0; });
  if (isWarm) {
    lambda_ = warm_;
    updateVelocity();
    if (isSolved() || newton(kMaxNewton)) return true;
  }
  startFromNormals();
  return newton(kMaxNewton) || searchFromZero();
}

bool ExactContactSolver::searchFromZero() {
  lambda_.assign(3 * static_cast<std::size_t>(num_points_), 0);
  updateVelocity();
  for (int numSweeps = 1, nextTry = 8; numSweeps <= kMaxSweeps; ++numSweeps) {
    sweep();
    ++iterations_;
    if (numSweeps < nextTry) continue;
    nextTry = 2 * numSweeps;
    updateVelocity();
    best_ = lambda_;
    if (isSolved() || newton(kMaxNewton)) return true;
    lambda_ = best_;
    updateVelocity();
  }
  return isSolved();
}

/// velocity_ = free velocity + A lambda, and the tolerance from the size of
/// what was added.
void ExactContactSolver::updateVelocity() {
  const int m = 3 * num_points_;
  velocity_.resize(static_cast<std::size_t>(m));
  Real largest = 0;
  for (int i = 0; i < m; ++i) {
    Real sum = free_velocity_[i], size = std::fabs(free_velocity_[i]);
    for (int j = 0; j < m; ++j) {
      const Real term = matrix_[i * m + j] * lambda_[j];
      sum += term;
      size += std::fabs(term);
    }
    velocity_[i] = sum;
    largest = std::max(largest, size);
  }
  // Impulses that are large for no reason must not widen what counts as solved
  // by more than their rounding.
  Real wanted = 0;
  for (int i = 0; i < m; ++i) wanted = std::max(wanted, std::fabs(free_velocity_[i]));
  tolerance_ = kRelativeTolerance * wanted + kRounding * m * largest;
}

/// Within the tolerance, and without energy from nowhere (impulses far from the
/// solution can look like one where the matrix is nearly singular).
bool ExactContactSolver::isSolved() {
  if (!(residual() <= tolerance_)) return false;
  const int m = 3 * num_points_;
  Real work = 0, size = 0;
  for (int i = 0; i < m; ++i) {
    const Real pushed = i % 3 == 2 ? lambda_[i] * std::max(target_[i / 3], Real(0)) : 0;
    work += Real(0.5) * lambda_[i] * (free_velocity_[i] + velocity_[i]) - pushed;
    size += std::fabs(lambda_[i] * free_velocity_[i]);
  }
  return work <= kRelativeTolerance * size;
}

/// Largest violation of complementarity and of Coulomb's law [m/s]; not finite
/// counts as infinite.
Real ExactContactSolver::residual() {
  const int m = 3 * num_points_;
  Real largest = 0;
  worst_ = 0;
  for (int i = 0; i < num_points_; ++i) {
    const Real* l = &lambda_[3 * i];
    const Real* v = &velocity_[3 * i];
    const Real wnn = matrix_[(3 * i + 2) * m + 3 * i + 2];
    const Real normal = std::fabs(std::min(l[2] * wnn, v[2] - target_[i]));
    const Real step = tangent_step_[i];
    Real y1 = l[0] - step * v[0], y2 = l[1] - step * v[1];
    const Real radius = friction_[i] * std::max(l[2], Real(0));
    const Real length = std::sqrt(y1 * y1 + y2 * y2);
    if (length > radius) {
      y1 *= radius / length;
      y2 *= radius / length;
    }
    const Real d1 = l[0] - y1, d2 = l[1] - y2;
    const Real tangent = step > 0 ? std::sqrt(d1 * d1 + d2 * d2) / step : 0;
    const Real violation = std::max(normal, tangent);
    if (!(violation <= largest)) {
      largest = violation;
      worst_ = i;
      if (!std::isfinite(violation)) return std::numeric_limits<Real>::infinity();
    }
  }
  return largest;
}

/// Newton's method on
///   open    lambda = 0                                  where lambda_n - v_n /
///   W_nn < 0 closed  v_n = target, and for the tangent, with y = lambda_t -
///   step v_t: stick   v_t = 0                                     where |y| <=
///   mu lambda_n slide   lambda_t = mu lambda_n y / |y|              elsewhere
bool ExactContactSolver::newton(int maxIterations) {
  const int m = 3 * num_points_;
  jacobian_.resize(static_cast<std::size_t>(m) * m);
  step_.resize(static_cast<std::size_t>(m));
  for (int iteration = 0; iteration < maxIterations; ++iteration) {
    ++iterations_;
    std::fill(jacobian_.begin(), jacobian_.end(), Real(0));
    const auto a = [&](int row, int column) {
      const Real entry = matrix_[row * m + column];
      return row == column ? entry * (1 + kRegularization) : entry;
    };
    for (int i = 0; i < num_points_; ++i) {
      const int t = 3 * i, n = t + 2;
      const Real wnn = matrix_[n * m + n];
      const Real z = lambda_[n] * wnn - (velocity_[n] - target_[i]);
      if (!(z > 0)) {
        for (int k = 0; k < 3; ++k) {
          jacobian_[(t + k) * m + t + k] = 1;
          step_[t + k] = -lambda_[t + k];
        }
        continue;
      }
      for (int j = 0; j < m; ++j) jacobian_[n * m + j] = a(n, j);
      step_[n] = target_[i] - velocity_[n];

      const Real gain = tangent_step_[i];
      const Real y1 = lambda_[t] - gain * velocity_[t];
      const Real y2 = lambda_[t + 1] - gain * velocity_[t + 1];
      const Real length = std::sqrt(y1 * y1 + y2 * y2);
      const Real radius = friction_[i] * std::max(lambda_[n], Real(0));
      if (length <= radius && friction_[i] > 0) {
        for (int k = 0; k < 2; ++k) {
          for (int j = 0; j < m; ++j) jacobian_[(t + k) * m + j] = a(t + k, j);
          step_[t + k] = -velocity_[t + k];
        }
        continue;
      }
      // d(lambda_t) - mu u d(lambda_n) - (radius/|y|) (1 - u u^T) (d(lambda_t)
      // - gain A_t d)
      const Real u1 = length > 0 ? y1 / length : 0, u2 = length > 0 ? y2 / length : 0;
      const Real ratio = length > 0 ? radius / length : 0;
      const Real p11 = ratio * (1 - u1 * u1), p22 = ratio * (1 - u2 * u2), p12 = -ratio * u1 * u2;
      for (int j = 0; j < m; ++j) {
        const Real a1 = gain * a(t, j), a2 = gain * a(t + 1, j);
        jacobian_[t * m + j] = p11 * a1 + p12 * a2;
        jacobian_[(t + 1) * m + j] = p12 * a1 + p22 * a2;
      }
      jacobian_[t * m + t] += 1 - p11;
      jacobian_[t * m + t + 1] -= p12;
      jacobian_[(t + 1) * m + t] -= p12;
      jacobian_[(t + 1) * m + t + 1] += 1 - p22;
      jacobian_[t * m + n] -= friction_[i] * u1;
      jacobian_[(t + 1) * m + n] -= friction_[i] * u2;
      step_[t] = -(lambda_[t] - radius * u1);
      step_[t + 1] = -(lambda_[t + 1] - radius * u2);
    }
    if (!solveLinear()) return false;
    for (int i = 0; i < m; ++i) lambda_[i] += step_[i];
    updateVelocity();
    if (isSolved()) return true;
  }
  return false;
}

/// Four corners carry a box in many ways: of all answers, the one with the least impulses, so that
/// equal corners carry equal loads. Moves along the null space of the matrix of the closed points
/// (minimise d A d + eps |lambda + d|^2) and lets Newton remove what that leaves. Where a point
/// slides its friction is decided: nothing is moved then.
void ExactContactSolver::shareLoad() {
  const int m = 3 * num_points_;
  constexpr Real kEpsilon = 1e-8;
  constexpr Real kLeastShare = 1e-6;
  constexpr int kMaxPolish = 5;
  jacobian_.assign(static_cast<std::size_t>(m) * m, 0);
  step_.assign(static_cast<std::size_t>(m), 0);
  best_ = lambda_;
  const Real before = residual();
  const auto isClosed = [&](int i) { return velocity_[3 * i + 2] - target_[i] <= tolerance_; };
  const auto isRow = [&](int row) {
    return isClosed(row / 3) && (row % 3 == 2 || friction_[row / 3] > 0);
  };
  for (int i = 0; i < num_points_; ++i) {
    const bool slides =
        std::fabs(velocity_[3 * i]) > tolerance_ || std::fabs(velocity_[3 * i + 1]) > tolerance_;
    if (isClosed(i) && slides && friction_[i] > 0) return;
  }
  for (int row = 0; row < m; ++row) {
    if (!isRow(row)) {
      jacobian_[row * m + row] = 1;
      continue;
    }
    for (int j = 0; j < m; ++j)
      if (isRow(j)) jacobian_[row * m + j] = matrix_[row * m + j];
    const Real weight = kEpsilon * matrix_[row * m + row];
    jacobian_[row * m + row] += weight;
    step_[row] = -weight * lambda_[row];
  }
  if (!solveLinear()) return;
  Real moved = 0, size = 0;
  for (int row = 0; row < m; ++row) {
    moved = std::max(moved, std::fabs(step_[row]));
    size = std::max(size, std::fabs(lambda_[row]));
    lambda_[row] += step_[row];
  }
  bool isAllowed = moved > kLeastShare * size;  // less is the trace of eps, not a null space
  for (int i = 0; i < num_points_; ++i) {
    const Real t1 = lambda_[3 * i], t2 = lambda_[3 * i + 1], normal = lambda_[3 * i + 2];
    isAllowed = isAllowed && normal >= 0 &&
                t1 * t1 + t2 * t2 <= friction_[i] * friction_[i] * normal * normal;
  }
  updateVelocity();
  // Not at the price of accuracy, which very different masses would cost.
  isAllowed = isAllowed && (isSolved() || newton(kMaxPolish)) &&
              residual() <= std::max(before, Real(1e-3) * tolerance_);
  if (isAllowed) return;
  lambda_ = best_;
  updateVelocity();
}

/// step_ = jacobian_^-1 step_ by Gaussian elimination with row pivoting, rows
/// scaled by their largest entry (impulse rows and velocity rows have different
/// units). False when singular.
bool ExactContactSolver::solveLinear() {
  const int m = 3 * num_points_;
  for (int i = 0; i < m; ++i) {
    Real largest = 0;
    for (int j = 0; j < m; ++j) largest = std::max(largest, std::fabs(jacobian_[i * m + j]));
    if (!(largest > 0) || !std::isfinite(largest)) return false;
    const Real scale = 1 / largest;
    for (int j = 0; j < m; ++j) jacobian_[i * m + j] *= scale;
    step_[i] *= scale;
  }
  for (int k = 0; k < m; ++k) {
    int pivot = k;
    for (int i = k + 1; i < m; ++i) {
      if (std::fabs(jacobian_[i * m + k]) > std::fabs(jacobian_[pivot * m + k])) pivot = i;
    }
    if (jacobian_[pivot * m + k] == 0) return false;
    if (pivot != k) {
      std::swap_ranges(&jacobian_[k * m], &jacobian_[k * m] + m, &jacobian_[pivot * m]);
      std::swap(step_[k], step_[pivot]);
    }
    const Real inverse = 1 / jacobian_[k * m + k];
    for (int i = k + 1; i < m; ++i) {
      const Real factor = jacobian_[i * m + k] * inverse;
      if (factor == 0) continue;
      for (int j = k + 1; j < m; ++j) jacobian_[i * m + j] -= factor * jacobian_[k * m + j];
      step_[i] -= factor * step_[k];
    }
  }
  for (int k = m - 1; k >= 0; --k) {
    for (int j = k + 1; j < m; ++j) step_[k] -= jacobian_[k * m + j] * step_[j];
    step_[k] /= jacobian_[k * m + k];
    if (!std::isfinite(step_[k])) return false;
  }
  return true;
}

/// Each point as if it were one of as many that carry alike: no order of points can tell.
void ExactContactSolver::startAlone() {
  const int m = 3 * num_points_;
  lambda_.assign(static_cast<std::size_t>(m), 0);
  for (int i = 0; i < num_points_; ++i) {
    const int n = 3 * i + 2;
    lambda_[n] =
        std::max(target_[i] - free_velocity_[n], Real(0)) / (matrix_[n * m + n] * num_points_);
  }
  updateVelocity();
}

/// Normals by the active set, as if there were no friction.
void ExactContactSolver::startFromNormals() {
  const int m = 3 * num_points_;
  normal_matrix_.resize(num_points_, num_points_);
  normal_b_.resize(num_points_);
  normal_x_.resize(num_points_);
  for (int i = 0; i < num_points_; ++i) {
    for (int j = 0; j < num_points_; ++j) {
      normal_matrix_(i, j) = matrix_[(3 * i + 2) * m + 3 * j + 2];
    }
    normal_b_[i] = target_[i] - free_velocity_[3 * i + 2];
    // All that approach share the load at first, so that a symmetric contact is
    // answered so.
    const Real alone = std::max(normal_b_[i], Real(0)) / normal_matrix_(i, i) / num_points_;
    normal_x_[i] = std::max(warm_[3 * i + 2], alone);
  }
  iterations_ += active_set_.solve(normal_matrix_, normal_b_, normal_x_).iterations;
  lambda_.assign(static_cast<std::size_t>(m), 0);
  for (int i = 0; i < num_points_; ++i) lambda_[3 * i + 2] = normal_x_[i];
  updateVelocity();
}

/// One sweep over the points, each its normal row and then its friction on the
/// disk.
void ExactContactSolver::sweep() {
  const int m = 3 * num_points_;
  const auto add = [&](int row, Real change) {
    if (change == 0) return;
    lambda_[row] += change;
    for (int j = 0; j < m; ++j) velocity_[j] += matrix_[row * m + j] * change;
  };
  for (int i = 0; i < num_points_; ++i) {
    const int t = 3 * i, n = t + 2;
    const Real wnn = matrix_[n * m + n];
    if (!(wnn > 0)) continue;
    const Real normal = std::max(lambda_[n] - (velocity_[n] - target_[i]) / wnn, Real(0));
    add(n, normal - lambda_[n]);
    Real y1 = lambda_[t] - tangent_step_[i] * velocity_[t];
    Real y2 = lambda_[t + 1] - tangent_step_[i] * velocity_[t + 1];
    const Real length = std::sqrt(y1 * y1 + y2 * y2), radius = friction_[i] * lambda_[n];
    if (length > radius) {
      y1 *= radius / length;
      y2 *= radius / length;
    }
    const Real d1 = y1 - lambda_[t], d2 = y2 - lambda_[t + 1];
    add(t, d1);
    add(t + 1, d2);
  }
}

void ExactContactSolver::writeBack(ImpulseProblem& problem, const ImpulseIsland& island,
                                   std::span<const std::int32_t> slotOfBlock,
                                   ImpulseReport* report) const {
  for (const std::int32_t b : island.blocks) {
    ImpulseBlock& block = problem.blocks[b];
    const Real h = block.duration;
    block.meanDisplacement = (Real(0.5) * h) * block.velocity;
    block.meanRotation = (Real(0.5) * h) * block.angularVelocity;
    block.isTouched = false;
    block.pushDisplacement = block.pushRotation = Vec3{};
    block.velocity = free_[slotOfBlock[b]];
    block.angularVelocity = free_turn_[slotOfBlock[b]];
  }
  for (int i = 0; i < num_points_; ++i) {
    ImpulsePoint& point = problem.points[points_[i]];
    // A closed point may come out a rounding below zero, a sliding one a
    // rounding beyond its disk.
    const Real normal = std::max(lambda_[3 * i + 2], Real(0));
    Real t1 = lambda_[3 * i], t2 = lambda_[3 * i + 1];
    const Real length = std::sqrt(t1 * t1 + t2 * t2), radius = point.friction * normal;
    if (length > radius) {
      t1 *= radius / length;
      t2 *= radius / length;
    }
    point.normalImpulse = normal;
    point.tangentImpulse[0] = t1;
    point.tangentImpulse[1] = t2;
    if (normal == 0) continue;
    const Row* row = &rows_[3 * i];
    for (int side = 0; side < 2; ++side) {
      if (slots_[2 * i + side] < 0) continue;
      ImpulseBlock& block = problem.blocks[side == 0 ? point.block1 : point.block2];
      const Real sign = side == 0 ? 1 : -1;
      block.isTouched = true;
      block.velocity +=
          (sign * block.inverseMass) * (t1 * row[0].axis + t2 * row[1].axis + normal * row[2].axis);
      block.angularVelocity +=
          sign * (side == 0 ? t1 * row[0].turn1 + t2 * row[1].turn1 + normal * row[2].turn1
                            : t1 * row[0].turn2 + t2 * row[1].turn2 + normal * row[2].turn2);
    }
  }
  for (int i = 0; i < num_points_; ++i) {
    ImpulsePoint& point = problem.points[points_[i]];
    const ImpulseBlock& block1 = problem.blocks[point.block1];
    const ImpulseBlock& block2 = problem.blocks[point.block2];
    const Vec3 v = (block1.velocity - block2.velocity) + (cross(block1.angularVelocity, point.r1) -
                                                          cross(block2.angularVelocity, point.r2));
    const Real* free = &free_velocity_[3 * i];
    const Real* before = &first_velocity_[3 * i];
    const Real lambda[3] = {point.tangentImpulse[0], point.tangentImpulse[1], point.normalImpulse};
    const Real after[3] = {dot(point.tangent1, v), dot(point.tangent2, v), dot(point.normal, v)};
    point.normalWork = Real(0.5) * lambda[2] * (before[2] + after[2]);
    point.frictionWork =
        Real(0.5) * (lambda[0] * (before[0] + after[0]) + lambda[1] * (before[1] + after[1]));
    for (int k = 0; k < 3; ++k) {
      report->contactWork += Real(0.5) * lambda[k] * (free[k] + after[k]);
    }
    report->contactWork -= lambda[2] * std::max(target_[i], Real(0));
  }
  for (const std::int32_t b : island.blocks) {
    ImpulseBlock& block = problem.blocks[b];
    const Real h = block.duration;
    block.meanDisplacement += (Real(0.5) * h) * block.velocity;
    block.meanRotation += (Real(0.5) * h) * block.angularVelocity;
    // The mean is exact for a constant acceleration; one that touches stays
    // where its gaps want it.
    block.displacement = block.isTouched ? h * block.velocity : block.meanDisplacement;
    block.rotation = block.isTouched ? h * block.angularVelocity : block.meanRotation;
  }
}

void ExactContactSolver::correctPositions(ImpulseProblem& problem, const ImpulseIsland& island,
                                          const ImpulseOptions& options, Real dt,
                                          std::span<const std::int32_t> slotOfBlock) {
  bool isNeeded = false;
  normal_b_.resize(num_points_);
  for (int i = 0; i < num_points_; ++i) {
    ImpulsePoint& point = problem.points[points_[i]];
    point.correctionImpulse = 0;
    const ImpulseBlock& block1 = problem.blocks[point.block1];
    const ImpulseBlock& block2 = problem.blocks[point.block2];
    const Real gap = movedGap(point, block1, block2);
    normal_b_[i] = correctionTarget(gap, dt, options);
    isNeeded = isNeeded || -gap > options.slop;
  }
  if (!isNeeded) return;

  const int m = 3 * num_points_;
  normal_matrix_.resize(num_points_, num_points_);
  normal_x_.resize(num_points_);
  for (int i = 0; i < num_points_; ++i) {
    for (int j = 0; j < num_points_; ++j) {
      normal_matrix_(i, j) = matrix_[(3 * i + 2) * m + 3 * j + 2];
    }
  }
  for (int i = 0; i < num_points_; ++i) {
    normal_x_[i] = std::max(normal_b_[i], Real(0)) / normal_matrix_(i, i) / num_points_;
  }
  active_set_.solve(normal_matrix_, normal_b_, normal_x_);

  push_.assign(free_.size(), Vec3{});
  push_turn_.assign(free_.size(), Vec3{});
  for (int i = 0; i < num_points_; ++i) {
    ImpulsePoint& point = problem.points[points_[i]];
    const Real impulse = normal_x_[i];
    const Row& row = rows_[3 * i + 2];
    point.correctionImpulse = impulse;
    if (const std::int32_t slot = slots_[2 * i]; slot >= 0) {
      push_[slot] += (impulse * problem.blocks[point.block1].inverseMass) * row.axis;
      push_turn_[slot] += impulse * row.turn1;
    }
    if (const std::int32_t slot = slots_[2 * i + 1]; slot >= 0) {
      push_[slot] -= (impulse * problem.blocks[point.block2].inverseMass) * row.axis;
      push_turn_[slot] -= impulse * row.turn2;
    }
  }
  for (const std::int32_t b : island.blocks) {
    problem.blocks[b].pushDisplacement = dt * push_[slotOfBlock[b]];
    problem.blocks[b].pushRotation = dt * push_turn_[slotOfBlock[b]];
  }
}

}  // namespace tangere::solver
