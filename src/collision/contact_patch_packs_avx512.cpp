// SPDX-License-Identifier: Apache-2.0
//
// Compiled for the vectors of AVX2 with the 32 registers that AVX-512VL gives them (and without
// fma) where the compiler targets x86: the points before and after fill more than 16.
#include "collision/contact_patch_packs_body.hpp"

namespace tangere::collision {

RewriteFour avx512RewriteFour() {
#if defined(__AVX512VL__) && defined(__AVX512DQ__)
  const bool isThere = __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
  return isThere ? &rewriteFourPoints : nullptr;
#else
  return nullptr;
#endif
}

}  // namespace tangere::collision
