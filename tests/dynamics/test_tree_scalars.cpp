// SPDX-License-Identifier: Apache-2.0
//
// The kernels of trees with other scalars: dual numbers give derivatives, float the same to its
// digits. And the rates of motion subspaces.
#include "dynamics/kernels/articulated_body.hpp"
#include "dynamics/kernels/bias_force.hpp"
#include "dynamics/kernels/composite_inertia.hpp"
#include "dynamics/kernels/tree_motion.hpp"
#include "dynamics/random_tree.hpp"
#include "dynamics/tree_arrays.hpp"
#include "math/dual.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace tangere {
namespace {

using namespace test;
using math::Dual;

template <class S>
std::vector<S> castAll(const std::vector<Real>& x) {
  std::vector<S> out;
  for (const Real value : x) out.push_back(static_cast<S>(value));
  return out;
}

/// Mass matrix (rows by depth), bias, and acceleration under no force both ways, of the first tree.
template <class S>
std::vector<S> computeAll(const Model& model, const std::vector<S>& q, const std::vector<S>& v) {
  dynamics::TreeArrays<S> arrays(model.data());
  const kernel::TreeView<S> tree = arrays.view(0);
  for (std::size_t k = 0; k < v.size(); ++k)
    arrays.rate[k] = v[static_cast<std::size_t>(arrays.dofs[k].v)];
  const Vec3& g = model.options().gravity;
  kernel::computeTreePositions(tree, q.data());
  kernel::computeTreeVelocities(tree, static_cast<const S*>(arrays.rate.data()));
  kernel::computeTreeMatrix(tree, S(0));
  std::vector<S> bias(v.size());
  kernel::computeTreeBias(tree, Vec3T<S>{S(g.x), S(g.y), S(g.z)}, bias.data());
  kernel::addSpringForces(tree, q.data(), bias.data());
  std::vector<S> out;
  for (const kernel::DofT<S>& dof : arrays.dofs)
    for (int d = 0; d <= dof.depth; ++d) out.push_back(tree.matrix[dof.row + d]);
  out.insert(out.end(), bias.begin(), bias.end());
  EXPECT_TRUE(kernel::factorTreeMatrix(tree));
  EXPECT_TRUE(kernel::factorArticulatedInertia(tree));
  std::vector<S> x = bias;
  kernel::solveTreeMatrix(tree, x.data());
  out.insert(out.end(), x.begin(), x.end());
  x = bias;
  kernel::solveArticulated(tree, x.data());
  out.insert(out.end(), x.begin(), x.end());
  return out;
}

TEST(TreeScalars, DualNumbersGiveTheDerivativeOfEverything) {
  constexpr Real kStep = 1e-6;
  for (const TreeOptions& options : manyTrees()) {
    if (options.numLinks > 12) continue;
    const Model model = randomTree(options);
    const State state = randomState(model, options.seed);
    // Straight through the coordinates: quaternions leave the sphere, and are normalized.
    Random random(options.seed);
    const std::vector<Real> dq = random.vector(state.q.size(), 1),
                            dv = random.vector(state.v.size(), 1);
    std::vector<Dual> q, v;
    for (std::size_t i = 0; i < dq.size(); ++i) q.push_back({state.q[i], dq[i]});
    for (std::size_t i = 0; i < dv.size(); ++i) v.push_back({state.v[i], dv[i]});
    const std::vector<Dual> dual = computeAll(model, q, v);
    std::vector<Real> side[2];
    for (int s = 0; s < 2; ++s) {
      const Real step = s == 0 ? -kStep : kStep;
      std::vector<Real> moved = state.q, rate = state.v;
      for (std::size_t i = 0; i < dq.size(); ++i) moved[i] += step * dq[i];
      for (std::size_t i = 0; i < dv.size(); ++i) rate[i] += step * dv[i];
      side[s] = computeAll(model, moved, rate);
    }
    const std::vector<Real> plain = computeAll(model, state.q, state.v);
    std::vector<Real> rates, differences, values;
    for (std::size_t i = 0; i < dual.size(); ++i) {
      values.push_back(dual[i].value);
      rates.push_back(dual[i].rate);
      differences.push_back((side[1][i] - side[0][i]) / (2 * kStep));
    }
    EXPECT_LT(relativeDifference(values, plain), 1e-11) << options.seed;
    EXPECT_LT(relativeDifference(differences, rates), 1e-6) << options.seed;
  }
}

TEST(TreeScalars, FloatIsTheSameToItsDigits) {
  for (const TreeOptions& options : manyTrees()) {
    if (options.numLinks > 3) continue;
    const Model model = randomTree(options);
    const State state = randomState(model, options.seed);
    const std::vector<Real> expected = computeAll(model, state.q, state.v);
    const std::vector<float> actual =
        computeAll(model, castAll<float>(state.q), castAll<float>(state.v));
    EXPECT_LT(relativeDifference(castAll<Real>(std::vector<Real>(actual.begin(), actual.end())),
                                 expected),
              1e-3)
        << options.seed;
  }
}

TEST(TreeScalars, SubspaceRatesAreThoseOfTheSubspaces) {
  // Dual numbers along the motion; the reference point of the tree moves, that of the rates does
  // not.
  for (const TreeOptions& options : manyTrees()) {
    const Model model = randomTree(options);
    const State state = randomState(model, options.seed);
    const std::size_t n = state.v.size();
    constexpr Real kStep = 1e-5;
    dynamics::TreeArrays<Real> arrays(model.data());
    const kernel::TreeView<Real> tree = arrays.view(0);
    for (std::size_t k = 0; k < n; ++k)
      arrays.rate[k] = state.v[static_cast<std::size_t>(arrays.dofs[k].v)];
    kernel::computeTreePositions(tree, state.q.data());
    kernel::computeTreeVelocities(tree, static_cast<const Real*>(arrays.rate.data()));
    std::vector<math::SpatialT<Real>> rates(n);
    kernel::computeSubspaceRates(tree, static_cast<const Real*>(arrays.rate.data()), rates.data());
    const Vec3 reference = tree.frame->center();

    std::vector<math::SpatialT<Real>> side[2];
    for (int s = 0; s < 2; ++s) {
      const std::vector<Real> q =
          integratePositions(model, state.q, state.v, s == 0 ? -kStep : kStep);
      dynamics::TreeArrays<Real> moved(model.data());
      const kernel::TreeView<Real> there = moved.view(0);
      kernel::computeTreePositions(there, q.data());
      const Vec3 shift = reference - there.frame->center();
      for (std::size_t k = 0; k < n; ++k)
        side[s].push_back({there.subspace[k].angular, math::velocityAt(there.subspace[k], shift)});
    }
    for (std::size_t k = 0; k < n; ++k) {
      const math::SpatialT<Real> rate = (side[1][k] - side[0][k]) * (1 / (2 * kStep));
      const Real scale = 1 + norm(rates[k].angular) + norm(rates[k].linear);
      EXPECT_LT(norm(rate.angular - rates[k].angular), 1e-6 * scale * scale) << options.seed;
      EXPECT_LT(norm(rate.linear - rates[k].linear), 1e-6 * scale * scale) << options.seed;
    }
  }
}

}  // namespace
}  // namespace tangere
