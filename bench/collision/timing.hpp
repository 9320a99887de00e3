// SPDX-License-Identifier: Apache-2.0
//
// One row of a benchmark and how its times are taken: the same for us and for the peers.
#pragma once

#include <tangere/types.hpp>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

namespace tangere::workload {

struct BenchRow {
  std::string name{};
  std::string library = "tangere";
  Real median_ns = 0, p99_ns = 0;
  Real perSecond = 0;
  std::string unit{};     ///< of what is done per second
  std::string quality{};  ///< what `error` is
  Real error = 0;
  Real errorLimit = 0;  ///< above it the time says nothing
};

/// How many poses a pair is asked for, in blocks long enough for the clock, how often.
struct PairTiming {
  static constexpr int kPoses = 1000, kBlock = 20, kPasses = 10;
};

template <class T>
void keep(const T& value) {
  asm volatile("" : : "g"(&value) : "memory");
}

/// Times `call(i)`, i in [0, count): blocks of calls long enough for the clock, several passes.
template <class Call>
void timeCalls(int count, int blockSize, int passes, BenchRow& row, const Call& call) {
  for (int i = 0; i < count; ++i) call(i);
  std::vector<Real> samples;
  for (int pass = 0; pass < passes; ++pass)
    for (int begin = 0; begin + blockSize <= count; begin += blockSize) {
      const auto start = std::chrono::steady_clock::now();
      for (int i = begin; i < begin + blockSize; ++i) call(i);
      const auto end = std::chrono::steady_clock::now();
      samples.push_back(std::chrono::duration<Real, std::nano>(end - start).count() / blockSize);
    }
  std::sort(samples.begin(), samples.end());
  row.median_ns = samples[samples.size() / 2];
  row.p99_ns = samples[samples.size() * 99 / 100];
  row.perSecond = 1e9 / row.median_ns;
}

}  // namespace tangere::workload
