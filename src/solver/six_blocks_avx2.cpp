// SPDX-License-Identifier: Apache-2.0
//
// Compiled with -mavx2 (and without fma) where the compiler targets x86.
#include "solver/six_blocks_body.hpp"

namespace tangere::solver {

const SixFunctions* avx2SixFunctions() {
#if defined(__AVX2__)
  return __builtin_cpu_supports("avx2") ? &kFunctions : nullptr;
#else
  return nullptr;
#endif
}

}  // namespace tangere::solver
