// SPDX-License-Identifier: Apache-2.0
//
// What SapIterate knows of the derivative of Coulomb's law: the part that friction adds to H when
// its bounds follow the normal impulses.
#include "solver/sap_iterate.hpp"

namespace tangere::solver {

void SapIterate::keepCoupling() {
  solver::keepCoupling(locals_, vc_.data(), constraints_, &coupling_);
  coupled_.clear();
  for (int i = 0; i < numConstraints(); ++i) {
    if (coupling_[2 * i] != 0 || coupling_[2 * i + 1] != 0) coupled_.push_back(i);
  }
}

void SapIterate::multiplyCoupled(const Real* x, Real* y) {
  multiply(x, y);
  addCoupled(
      locals_, coupling_, [&](const Local& local, Real* rows) { rowVelocity(local, x, rows); },
      [&](const Local& local, const Real* rows) { addTransposed(local, rows, y); });
}

void SapIterate::coupledVelocities(const Real* x, Real* s) const {
  for (const std::int32_t i : coupled_) {
    const Local& local = locals_[i];
    const Real* const row1 = local.jacobian1 + 2 * local.size1;
    const Real* const row2 = local.jacobian2 + 2 * local.size2;
    Real sum = 0;
    for (int k = 0; k < local.size1; ++k) sum += row1[k] * x[local.velocity1 + k];
    for (int k = 0; k < local.size2; ++k) sum += row2[k] * x[local.velocity2 + k];
    *s++ = sum;
  }
}

void SapIterate::subtractCoupling(const Real* s, Real* y) const {
  for (const std::int32_t i : coupled_) {
    const Real rows[3] = {-coupling_[2 * i] * *s, -coupling_[2 * i + 1] * *s, 0};
    addTransposed(locals_[i], rows, y);
    ++s;
  }
}

}  // namespace tangere::solver
