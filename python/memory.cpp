// SPDX-License-Identifier: Apache-2.0
#include "memory.hpp"

#include <tangere/limit_exceeded.hpp>

#include <malloc.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <limits>

namespace tangere::python {

namespace {

constexpr double kUnknown = std::numeric_limits<double>::infinity();

/// The number of a file that holds one; what is no number ("max") is no limit.
double numberIn(const char* path) {
  double number = 0;
  return std::ifstream(path) >> number ? number : kUnknown;
}

double machineBytes() {
  std::ifstream file("/proc/meminfo");
  std::string word;
  double kilobytes = 0;
  while (file >> word)
    if (word == "MemAvailable:" && file >> kilobytes) return 1024 * kilobytes;
  return kUnknown;
}

double availableBytes() {
  const double most = numberIn("/sys/fs/cgroup/memory.max");
  const double taken = numberIn("/sys/fs/cgroup/memory.current");
  const double ofGroup =
      most < kUnknown && taken < kUnknown ? std::max(most - taken, 0.0) : kUnknown;
  return std::min(machineBytes(), ofGroup);
}

std::string sizeText(double bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g GB", bytes / 1e9);
  return text;
}

}  // namespace

void requireMemory(double bytes, const std::string& what) {
  const double available = availableBytes();
  if (bytes <= available) return;
  throw LimitExceeded(what + " take about " + sizeText(bytes) + " of memory, and " +
                      sizeText(available) + " are free");
}

std::size_t heapBytes() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

}  // namespace tangere::python
