// SPDX-License-Identifier: Apache-2.0
//
// A part of what touch_plus_d runs: enough to see a fault that is not rare.
#include "mesh_reference/inside_poses.hpp"

#include <gtest/gtest.h>

namespace tangere::reference {
namespace {

std::string listOf(const std::vector<std::string>& faults) {
  std::string out;
  for (const std::string& fault : faults) out += fault + " ";
  return out;
}

TEST(TouchPlusD, ContactsDistancesAndImpactsAreThoseOfBruteForce) {
  int run = 0;
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    Dice dice(seed);
    const int kind1 = dice.below(kNumBodies), kind2 = dice.below(kNumKinds);
    TouchCase c;
    if (!makeTouchCase(kind1, kind2, seed, &c)) continue;
    ++run;
    EXPECT_EQ(listOf(findFaults(c)), "")
        << c.shape1.name << " on " << c.shape2.name << ", seed " << seed;
  }
  EXPECT_GT(run, 700);
}

TEST(TouchPlusD, WhatIsInsideOverlapsForAllQueriesAndIsParted) {
  int run = 0;
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    Dice dice(seed);
    const int kind1 = dice.below(kNumBodies), kind2 = dice.below(kNumKinds);
    TouchCase c;
    if (!makeInsideCase(kind1, kind2, seed, &c)) continue;
    ++run;
    EXPECT_EQ(listOf(findInsideFaults(c)), "")
        << c.shape1.name << " in " << c.shape2.name << ", seed " << seed;
  }
  EXPECT_GT(run, 200);
}

}  // namespace
}  // namespace tangere::reference
