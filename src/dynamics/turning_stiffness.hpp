// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dynamics/kernels/elastic_tangent.hpp"

namespace tangere::dynamics {

/// Half the stiffness against turning of a tetrahedron of corotated material with the deformation
/// gradient `f` and its rotation `r`: xx xy xz yy yz zz, as far as it is positive, and the trace of
/// all of it. In a file of its own, or the loop over
/// tetrahedra grows beyond what compilers inline.
void storeTurning(const kernel::LameT<Real>& lame, const Mat3& f, const Mat3& r, Real* out);

}  // namespace tangere::dynamics
