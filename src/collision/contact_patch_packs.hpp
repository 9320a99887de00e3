// SPDX-License-Identifier: Apache-2.0
//
// The short way of rewriteAtRest for four points whose features name them: one lane for each point.
// Compiled for any machine, for AVX2 and for AVX-512; all give the bits of the loop over the
// points, since lanes never meet and no operation is fused.
#pragma once

#include <tangere/contact_patch_cache.hpp>

namespace tangere::collision {

/// What the short way needs to know of PatchRules.
struct AtRestLimits {
  Real squaredApart;  ///< contacts farther apart than this are never one [m^2]
  Real squaredNear;   ///< a point this close to where it was is the same [m^2]
  Real normalDot;
  Real unitTolerance;  ///< of the squared length of a normal
  bool allowNegativeDepth;
};

/// Four raw contacts, four points of the patch. False, and nothing written, where two contacts are
/// equally deep, a feature is not that of exactly one point, or anything else is not plain.
/// Otherwise place[i] is where contact i went.
using RewriteFour = bool (*)(const ContactPoint* raw, const Transform& X_W1, const Transform& X_W2,
                             const AtRestLimits& limits, ContactPatch& patch, int* place);

/// The one for this machine.
[[nodiscard]] RewriteFour rewriteFour();
/// That for any machine, and those for AVX2 and for AVX-512 (null where they were not compiled or
/// the machine lacks it).
[[nodiscard]] RewriteFour genericRewriteFour();
[[nodiscard]] RewriteFour avx2RewriteFour();
[[nodiscard]] RewriteFour avx512RewriteFour();

}  // namespace tangere::collision
