// SPDX-License-Identifier: Apache-2.0
//
// Compiled with -mavx2 (and without fma) where the compiler targets x86.
#include "solver/contact_packs_body.hpp"

namespace tangere::solver {

const PackFunctions* avx2PackFunctions() {
#if defined(__AVX2__)
  return __builtin_cpu_supports("avx2") ? &kFunctions : nullptr;
#else
  return nullptr;
#endif
}

}  // namespace tangere::solver
