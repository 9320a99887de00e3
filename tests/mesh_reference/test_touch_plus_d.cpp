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

TEST(TouchPlusD, CasesThatOnceFailedAreRight) {
  struct Failed {
    std::uint64_t seed;
    int kind1, kind2;
  };
  // A vertex beside a rim; the hull of what is crossed, left sooner than what is beside it; edges
  // and corners between several triangles of a body; bumps of which none is left along a plane; a
  // wall at the foot of which the floor is touched too; corners of a patch beside a long side.
  for (const auto& [seed, kind1, kind2] :
       {Failed{7004164, 6, 10}, Failed{7004282, 6, 9}, Failed{7014818, 14, 20},
        Failed{9001163, 0, 18}, Failed{9007448, 0, 20}, Failed{9008394, 0, 21},
        Failed{9008787, 7, 3}, Failed{9009498, 9, 0}, Failed{9010370, 6, 19},
        Failed{9013420, 13, 6}, Failed{9015216, 7, 3}, Failed{9018761, 4, 9},
        Failed{9022389, 5, 21}, Failed{9027085, 4, 18}, Failed{9041921, 13, 12},
        Failed{9078771, 14, 9}, Failed{9081101, 5, 6}}) {
    TouchCase c;
    ASSERT_TRUE(makeTouchCase(kind1, kind2, seed, &c)) << seed;
    EXPECT_EQ(listOf(findFaults(c)), "")
        << c.shape1.name << " on " << c.shape2.name << ", seed " << seed;
  }
}

}  // namespace
}  // namespace tangere::reference
