// SPDX-License-Identifier: Apache-2.0
//
// Functions compiled a second time for wider registers: the same operations in the same order on
// every number, and no fused ones, so the same bits. What is not inlined stays as it is everywhere.
#pragma once

#if defined(__x86_64__) && defined(__GNUC__)
#define TANGERE_WIDE __attribute__((target("avx2"), flatten))
#else
#define TANGERE_WIDE
#endif

namespace tangere::dynamics {

/// Are there registers for what is TANGERE_WIDE?
[[nodiscard]] inline bool hasWideRegisters() {
#if defined(__x86_64__) && defined(__GNUC__)
  static const bool isThere = __builtin_cpu_supports("avx2") != 0;
  return isThere;
#else
  return false;
#endif
}

}  // namespace tangere::dynamics
