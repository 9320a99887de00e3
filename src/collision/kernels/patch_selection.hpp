// SPDX-License-Identifier: Apache-2.0
//
// Reduces contact points to the four that carry the patch best: the deepest, then one after the
// other the point farthest from those already chosen. Ties go to the deeper point (a rim is a
// regular polygon, and has them whatever it lies on), then to the lower index, and "tie" has a
// tolerance, so that a resting body does not trade one corner for another on rounding noise.
#pragma once

#include <tangere/types.hpp>

namespace tangere::kernel {

inline constexpr int kMaxPatchPoints = 4;

/// Depths that differ by less than this share of the patch's size count as equal; squared distances
/// that differ by less than kDistanceTie of themselves too. Both lie well above the noise of a
/// query and well below anything a solver notices.
template <class S>
inline constexpr S kDepthTie = S(1e-8);
template <class S>
inline constexpr S kDistanceTie = S(1e-6);

/// Points given coordinate by coordinate in any orthonormal frame. Writes the chosen indices, the
/// deepest first, and returns their number, min(count, kMaxPatchPoints). `size` is a length of the
/// order of the patch or of the bodies [m]; `nearest` is scratch space for `count` numbers.
template <class S>
TANGERE_HD inline int selectPatchPoints(const S* x, const S* y, const S* z, const S* depth,
                                        int count, S size, S* nearest, int* chosen) {
  if (count <= 0) return 0;
  S deepest = depth[0];
  for (int i = 1; i < count; ++i) deepest = depth[i] > deepest ? depth[i] : deepest;
  int first = 0;
  while (depth[first] < deepest - kDepthTie<S> * size) ++first;
  chosen[0] = first;
  if (count <= kMaxPatchPoints) {
    int n = 1;
    for (int i = 0; i < count; ++i) {
      if (i == first) continue;
      chosen[n++] = i;
    }
    return n;
  }

  // nearest[i]: squared distance of point i to the nearest chosen one, 0 for the chosen themselves.
  for (int n = 1; n < kMaxPatchPoints; ++n) {
    const int c = chosen[n - 1];
    const S cx = x[c], cy = y[c], cz = z[c];
    int best = -1;
    S farthest = S(0);
    for (int i = 0; i < count; ++i) {
      const S dx = x[i] - cx, dy = y[i] - cy, dz = z[i] - cz;
      const S d = dx * dx + dy * dy + dz * dz;
      const S near = n == 1 || d < nearest[i] ? d : nearest[i];
      nearest[i] = near;
      const S tie = S(1) + kDistanceTie<S>;
      if (near > farthest * tie) {
        farthest = near;
        best = i;
      } else if (best >= 0 && near * tie > farthest &&
                 depth[i] > depth[best] + kDepthTie<S> * size) {
        best = i;
      }
    }
    if (best < 0) return n;  // the others are copies of those chosen
    chosen[n] = best;
  }
  return kMaxPatchPoints;
}

}  // namespace tangere::kernel
