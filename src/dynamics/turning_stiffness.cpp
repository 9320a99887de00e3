// SPDX-License-Identifier: Apache-2.0
#include "dynamics/turning_stiffness.hpp"

#include "dynamics/kernels/corotated_tet.hpp"

namespace tangere::dynamics {

void storeTurning(const kernel::LameT<Real>& lame, const Mat3& f, const Mat3& r, Real* out) {
  const kernel::SymmetricT<Real> whole =
      kernel::CorotatedLaw<Real>::signedSpinStiffness(lame, f, r);
  const kernel::SymmetricT<Real> stiffness = kernel::positivePart(whole);
  out[0] = 0.5 * stiffness.xx;
  out[1] = 0.5 * stiffness.xy;
  out[2] = 0.5 * stiffness.xz;
  out[3] = 0.5 * stiffness.yy;
  out[4] = 0.5 * stiffness.yz;
  out[5] = 0.5 * stiffness.zz;
  out[6] = 0.5 * (whole.xx + whole.yy + whole.zz);
}

}  // namespace tangere::dynamics
