// SPDX-License-Identifier: Apache-2.0
//
// Waiting for another thread for a moment that is shorter than falling asleep and waking up.
#pragma once

#include <thread>

namespace tangere::core {

/// One turn of a loop that waits; `spins` counts them. Some ten microseconds pass in the processor
/// alone; beyond, a thread that may have no core of its own lets the others work.
inline void pauseBriefly(int spins) {
  constexpr int kMaxPauses = 1000;
  if (spins >= kMaxPauses) return std::this_thread::yield();
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

/// Turns after which it is time to sleep: a fraction of a millisecond.
inline constexpr int kMaxSpins = 1600;

}  // namespace tangere::core
