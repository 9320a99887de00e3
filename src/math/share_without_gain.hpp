// SPDX-License-Identifier: Apache-2.0
//
// How far one may go from impulses that add no energy towards others that do.
#pragma once

#include <tangere/types.hpp>

#include <algorithm>
#include <cmath>

namespace tangere {

/// The largest share s in [0, 1] up to which the energy gained, w + s b + s^2 c, is at most 0.
/// c >= 0; w > 0, which only rounding makes of impulses that add none, counts as 0.
[[nodiscard]] inline Real shareWithoutGain(Real w, Real b, Real c) {
  w = std::min<Real>(w, 0);
  const Real root = std::sqrt(std::max<Real>(b * b - 4 * c * w, 0));
  Real share = 0;  // the larger root, written so that nothing cancels
  if (b > 0) {
    share = -2 * w / (b + root);
  } else if (c > 0) {
    share = (root - b) / (2 * c);
  }
  return std::clamp<Real>(share, 0, 1);
}

}  // namespace tangere
