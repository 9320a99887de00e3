// SPDX-License-Identifier: Apache-2.0
//
// Islands of the convex problem: cliques that constraints connect.
#pragma once

#include "solver/sap_problem.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tangere::solver {

/// Both lists ascend.
struct SapIsland {
  std::span<const std::int32_t> cliques;
  std::span<const std::int32_t> constraints;
};

/// In order of their lowest clique; dense cliques without constraint are in none. Depends on the
/// graph alone.
class SapIslands {
 public:
  /// Returns the first constraint that names cliques, rows or velocities that do not exist, or -1;
  /// there are no islands then.
  std::int32_t build(const SapProblem& problem);

  [[nodiscard]] std::span<const SapIsland> islands() const { return islands_; }
  /// function(clique) for every dense clique without constraint, ascending.
  template <class Function>
  void forEachFree(Function&& function) const {
    for (std::size_t i = 0; i < island_of_clique_.size(); ++i) {
      if (island_of_clique_[i] < 0) function(static_cast<std::int32_t>(i));
    }
  }

 private:
  std::vector<std::int32_t> parent_, island_of_clique_, clique_list_, constraint_list_;
  std::vector<std::int32_t> clique_end_, constraint_end_;
  std::vector<SapIsland> islands_;
};

}  // namespace tangere::solver
