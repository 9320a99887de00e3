// SPDX-License-Identifier: Apache-2.0
//
// Compiled with -mavx2 (and without fma) where the compiler targets x86.
#include "collision/contact_patch_packs_body.hpp"

namespace tangere::collision {

RewriteFour avx2RewriteFour() {
#if defined(__AVX2__)
  return __builtin_cpu_supports("avx2") ? &rewriteFourPoints : nullptr;
#else
  return nullptr;
#endif
}

}  // namespace tangere::collision
