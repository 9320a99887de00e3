// SPDX-License-Identifier: Apache-2.0
//
// Benchmarks of whole steps: the time of a step with what makes it meaningful, how still the bodies
// are and how deep they overlap.
#pragma once

#include <timing.hpp>

#include <vector>

namespace tangere::cli {

/// A stack of 10, a wall of 64 boxes with the patch cache on and off, and a bin of boxes and balls.
void benchScenes(int numThreads, std::vector<workload::BenchRow>& rows);

}  // namespace tangere::cli
