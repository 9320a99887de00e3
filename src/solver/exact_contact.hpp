// SPDX-License-Identifier: Apache-2.0
//
// A few contact points solved to rounding: normals and friction together, with
// the normal forces that friction itself brings about (a sliding rod digs in or
// lifts; where no sliding motion exists, it jams).
//
// The unknowns are tried in this order, each only when the one before did not
// end: the warm start as it is; Newton's method on the complementarity
// functions from it; the same from the normals without friction (active set);
// Gauss-Seidel from zero with Newton in between. The last always approaches
// from zero, so of several solutions it finds the one with the least impulses.
#pragma once

#include "solver/active_set.hpp"
#include "solver/impulse_problem.hpp"

#include <Eigen/Core>
#include <cstdint>
#include <vector>

namespace tangere::solver {

/// Keeps its memory between solves.
class ExactContactSolver {
 public:
  ExactContactSolver();

  /// Solves the island over the durations of its blocks and writes what
  /// ImpulseSolver::solve does, or writes nothing and returns false where no
  /// attempt reached 1e-12. `slotOfBlock` has one entry for each block of the
  /// problem; those of the island are overwritten. Points must have no
  /// torsional or rolling friction.
  bool solve(ImpulseProblem& problem, const ImpulseIsland& island, const ImpulseOptions& options,
             Real dt, std::span<std::int32_t> slotOfBlock, ImpulseReport* report);

  /// The same for impacts without duration: the normal velocity of each point after is at least
  /// that of `targets`. Durations of the blocks must be zero.
  bool solveImpact(ImpulseProblem& problem, const ImpulseIsland& island,
                   std::span<const Real> targets, std::span<std::int32_t> slotOfBlock);

 private:
  /// Axis and moment arm of one row, and the velocities a unit impulse gives.
  struct Row {
    Vec3 axis, arm1, arm2, turn1, turn2;
  };

  void gather(const ImpulseProblem& problem, const ImpulseIsland& island, Real dt,
              const ImpulseOptions& options, std::span<std::int32_t> slotOfBlock);
  void buildMatrix(const ImpulseProblem& problem);
  void updateVelocity();
  [[nodiscard]] Real residual();
  [[nodiscard]] bool isSolved();
  bool newton(int maxIterations);
  void shareLoad();
  bool solveLinear();
  void startAlone();
  void startFromNormals();
  void sweep();
  bool search();
  bool searchFromZero();
  void writeBack(ImpulseProblem& problem, const ImpulseIsland& island,
                 std::span<const std::int32_t> slotOfBlock, ImpulseReport* report) const;
  void correctPositions(ImpulseProblem& problem, const ImpulseIsland& island,
                        const ImpulseOptions& options, Real dt,
                        std::span<const std::int32_t> slotOfBlock);

  int num_points_ = 0;
  std::vector<std::int32_t> points_;  // of the problem
  std::vector<std::int32_t> slots_;   // two for each point, -1: fixed
  std::vector<Row> rows_;             // t1, t2, n of each point
  std::vector<Vec3> free_,
      free_turn_;  // velocities without contact, of each slot
  std::vector<Real> first_velocity_,
      free_velocity_;  // of the rows, before and after a
  std::vector<Real> target_, friction_, tangent_step_;
  std::vector<Real> lambda_, warm_, velocity_, best_;
  std::vector<Real> matrix_;  // rows x rows
  std::vector<Real> jacobian_, step_;
  std::vector<Vec3> push_, push_turn_;
  Real tolerance_ = 0;
  int iterations_ = 0;
  int worst_ = 0;
  ActiveSetSolver active_set_;
  Eigen::MatrixXd normal_matrix_;
  Eigen::VectorXd normal_b_, normal_x_;
};

}  // namespace tangere::solver
