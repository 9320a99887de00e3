// SPDX-License-Identifier: Apache-2.0
#include "collision/contact_patch_packs.hpp"

#include "collision/contact_patch_packs_body.hpp"

namespace tangere::collision {

RewriteFour rewriteFour() {
  static const RewriteFour function = [] {
    if (avx512RewriteFour() != nullptr) return avx512RewriteFour();
    return avx2RewriteFour() != nullptr ? avx2RewriteFour() : genericRewriteFour();
  }();
  return function;
}

RewriteFour genericRewriteFour() { return rewriteFourPoints; }

}  // namespace tangere::collision
