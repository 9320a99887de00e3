// SPDX-License-Identifier: Apache-2.0
#pragma once

#if defined(__x86_64__)
#include <xmmintrin.h>
#else
#include <cfenv>
#endif

namespace tangere::core {

/// Default floating-point environment (round to nearest, subnormals kept, no traps) for as long as
/// it lives: a host program that changed it gets the same bits, and its own setting back.
class FpuGuard {
 public:
#if defined(__x86_64__)
  // float and double live in SSE registers alone: the x87 part of the environment, slow to read and
  // to write (0.2 us, a fiftieth of a robot's step), reaches no result.
  FpuGuard() : saved_(_mm_getcsr()) { _mm_setcsr(kDefault); }
  ~FpuGuard() { _mm_setcsr(saved_); }
#else
  FpuGuard() {
    std::fegetenv(&saved_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~FpuGuard() { std::fesetenv(&saved_); }
#endif
  FpuGuard(const FpuGuard&) = delete;
  FpuGuard& operator=(const FpuGuard&) = delete;

 private:
#if defined(__x86_64__)
  static constexpr unsigned kDefault = 0x1f80;  // all exceptions masked
  unsigned saved_;
#else
  std::fenv_t saved_;
#endif
};

}  // namespace tangere::core
