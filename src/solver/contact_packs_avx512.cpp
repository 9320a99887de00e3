// SPDX-License-Identifier: Apache-2.0
//
// Compiled for the vectors of AVX2 with the 32 registers that AVX-512VL gives them (and without
// fma) where the compiler targets x86: a row of a sweep holds more than 16.
#include "solver/contact_packs_body.hpp"

namespace tangere::solver {

const PackFunctions* avx512PackFunctions() {
#if defined(__AVX512VL__) && defined(__AVX512DQ__)
  const bool isThere = __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
  return isThere ? &kFunctions : nullptr;
#else
  return nullptr;
#endif
}

}  // namespace tangere::solver
