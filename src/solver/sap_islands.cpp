// SPDX-License-Identifier: Apache-2.0
#include "solver/sap_islands.hpp"

#include <cstddef>
#include <utility>

namespace tangere::solver {
namespace {

std::int32_t findRoot(std::int32_t* parent, std::int32_t clique) {
  while (parent[clique] != clique) {
    parent[clique] = parent[parent[clique]];
    clique = parent[clique];
  }
  return clique;
}

/// A sparse side names its vertices, each once; a dense one none.
bool isSoundSide(const SapProblem& problem, std::int32_t clique, std::int32_t firstNode,
                 int numNodes) {
  if (clique < 0 || !problem.isSparse(clique)) return numNodes == 0;
  if (numNodes < 1 || numNodes > kSapMaxNodes) return false;
  const std::int32_t* const nodes = problem.nodes.data() + firstNode;
  for (int i = 0; i < numNodes; ++i) {
    if (nodes[i] < 0 || 3 * nodes[i] >= problem.numVelocities(clique)) return false;
    for (int k = 0; k < i; ++k) {
      if (nodes[k] == nodes[i]) return false;
    }
  }
  return true;
}

bool isSound(const SapProblem& problem, const SapConstraint& c) {
  const std::int32_t count = problem.numCliques();
  if (c.numRows < 1 || c.numRows > kSapMaxRows) return false;
  if (c.clique1 < 0 || c.clique1 >= count) return false;
  if (c.clique2 < -1 || c.clique2 >= count || c.clique2 == c.clique1) return false;
  if (c.dof1 < 0) {
    return isSoundSide(problem, c.clique1, c.firstNode1, c.numNodes1) &&
           isSoundSide(problem, c.clique2, c.firstNode2, c.numNodes2);
  }
  return !problem.isSparse(c.clique1) &&
         (c.dof1 < problem.numVelocities(c.clique1) && c.numRows == 1 && c.clique2 < 0);
}

}  // namespace

std::int32_t SapIslands::build(const SapProblem& problem) {
  const std::int32_t numCliques = problem.numCliques();
  const std::int32_t numConstraints = problem.numConstraints();
  islands_.clear();
  parent_.resize(static_cast<std::size_t>(numCliques));
  island_of_clique_.assign(static_cast<std::size_t>(numCliques), -1);
  std::int32_t* const parent = parent_.data();
  for (std::int32_t i = 0; i < numCliques; ++i) {
    parent[i] = i;
    if (problem.isSparse(i)) island_of_clique_[i] = -2;  // v* is not known before it is solved for
  }
  for (std::int32_t i = 0; i < numConstraints; ++i) {
    const SapConstraint& c = problem.constraints[i];
    if (!isSound(problem, c)) return i;
    island_of_clique_[c.clique1] = -2;  // touched
    if (c.clique2 < 0) continue;
    island_of_clique_[c.clique2] = -2;
    // The lower root wins: a root is the lowest clique of its island, whatever the order.
    std::int32_t root1 = findRoot(parent, c.clique1), root2 = findRoot(parent, c.clique2);
    if (root1 == root2) continue;
    if (root2 < root1) std::swap(root1, root2);
    parent[root2] = root1;
  }

  std::int32_t numIslands = 0;
  for (std::int32_t i = 0; i < numCliques; ++i) {
    if (island_of_clique_[i] == -1) continue;
    const std::int32_t root = findRoot(parent, i);
    island_of_clique_[i] = root == i ? numIslands++ : island_of_clique_[root];
  }
  // Counts, their running sums, then one pass that fills the lists in ascending order.
  clique_end_.assign(static_cast<std::size_t>(numIslands) + 1, 0);
  constraint_end_.assign(static_cast<std::size_t>(numIslands) + 1, 0);
  for (std::int32_t i = 0; i < numCliques; ++i) {
    if (island_of_clique_[i] >= 0) ++clique_end_[island_of_clique_[i] + 1];
  }
  for (const SapConstraint& c : problem.constraints) {
    ++constraint_end_[island_of_clique_[c.clique1] + 1];
  }
  for (std::int32_t i = 0; i < numIslands; ++i) {
    clique_end_[i + 1] += clique_end_[i];
    constraint_end_[i + 1] += constraint_end_[i];
  }
  clique_list_.resize(static_cast<std::size_t>(clique_end_[numIslands]));
  constraint_list_.resize(static_cast<std::size_t>(numConstraints));
  islands_.resize(static_cast<std::size_t>(numIslands));
  for (std::int32_t i = 0; i < numIslands; ++i) {
    islands_[i] = {
        .cliques = {clique_list_.data() + clique_end_[i], clique_list_.data() + clique_end_[i + 1]},
        .constraints = {constraint_list_.data() + constraint_end_[i],
                        constraint_list_.data() + constraint_end_[i + 1]}};
  }
  for (std::int32_t i = 0; i < numCliques; ++i) {
    if (island_of_clique_[i] >= 0) clique_list_[clique_end_[island_of_clique_[i]]++] = i;
  }
  for (std::int32_t i = 0; i < numConstraints; ++i) {
    const std::int32_t island = island_of_clique_[problem.constraints[i].clique1];
    constraint_list_[constraint_end_[island]++] = i;
  }
  return -1;
}

}  // namespace tangere::solver
