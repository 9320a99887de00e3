// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cfenv>

namespace tangere::core {

/// Default floating-point environment (round to nearest, subnormals kept, no traps) for as long as
/// it lives: a host program that changed it gets the same bits, and its own setting back.
class FpuGuard {
 public:
  FpuGuard() {
    std::fegetenv(&saved_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~FpuGuard() { std::fesetenv(&saved_); }
  FpuGuard(const FpuGuard&) = delete;
  FpuGuard& operator=(const FpuGuard&) = delete;

 private:
  std::fenv_t saved_;
};

}  // namespace tangere::core
