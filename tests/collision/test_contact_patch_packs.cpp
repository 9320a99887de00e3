// SPDX-License-Identifier: Apache-2.0
//
// The short way for four points writes the bits that the long way writes, in both of its builds,
// and nothing where it refuses.
#include "collision/contact_patch_packs.hpp"
#include "math/quat.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

namespace tangere::collision {
namespace {

constexpr AtRestLimits kLimits{.squaredApart = 5e-8,
                               .squaredNear = 1e-8,
                               .normalDot = 0.99,
                               .unitTolerance = 1e-12,
                               .allowNegativeDepth = false};

struct Pair {
  ContactPoint raw[4];
  Transform X_W1, X_W2;
  ContactPatch patch;
};

/// A patch of a square whose points were at the raw contacts, in any order.
Pair randomPair(std::mt19937_64& random, bool hasTies) {
  const auto uniform = [&](Real low, Real high) {
    return low + (high - low) * (static_cast<Real>(random() >> 11) * 0x1p-53);
  };
  Pair pair;
  const auto randomPose = [&] {
    const Quat q = math::normalized(Quat{uniform(-1, 1), uniform(-1, 1), uniform(-1, 1), 1});
    return Transform{rotationMatrix(q), {uniform(-1, 1), uniform(-1, 1), uniform(-1, 1)}};
  };
  pair.X_W1 = randomPose();
  pair.X_W2 = randomPose();
  const Vec3 normal = pair.X_W1.rotation.col[2];
  int order[4] = {0, 1, 2, 3};
  for (int i = 3; i > 0; --i) std::swap(order[i], order[random() % static_cast<unsigned>(i + 1)]);
  for (int i = 0; i < 4; ++i) {
    const Real x = i % 2 == 0 ? 0.1 : -0.1, y = i < 2 ? 0.1 : -0.1;
    ContactPoint& contact = pair.raw[i];
    contact = {.position = pair.X_W1 * Vec3{x, y, 0},
               .normal = normal,
               .depth = hasTies && i % 2 == 1 ? Real(1e-5) : uniform(0, 1e-4),
               .feature1 = i,
               .feature2 = 7 - i};
    ContactPatchPoint& point = pair.patch.points[order[i]];
    point.contact = contact;
    point.local1 = inverseTimes(pair.X_W1, contact.position - normal * (0.5 * contact.depth)) +
                   Vec3{uniform(-4e-5, 4e-5), uniform(-4e-5, 4e-5), uniform(-4e-5, 4e-5)};
    point.local2 = inverseTimes(pair.X_W2, contact.position + normal * (0.5 * contact.depth));
    point.normalImpulse = uniform(0, 1);
    point.tangentImpulse = {uniform(-1, 1), uniform(-1, 1), uniform(-1, 1)};
    point.id = static_cast<std::uint64_t>(100 + i);
  }
  pair.patch.count = 4;
  return pair;
}

/// The builds that this machine can run.
std::vector<RewriteFour> builds() {
  std::vector<RewriteFour> all{genericRewriteFour()};
  if (avx2RewriteFour() != nullptr) all.push_back(avx2RewriteFour());
  if (avx512RewriteFour() != nullptr) all.push_back(avx512RewriteFour());
  return all;
}

class BothBuilds : public testing::TestWithParam<bool> {};

TEST_P(BothBuilds, WriteThePointsInOrderWithTheirImpulses) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 500; ++round) {
    const Pair pair = randomPair(random, GetParam());
    for (const RewriteFour rewrite : builds()) {
      ContactPatch patch = pair.patch;
      int place[4];
      ASSERT_TRUE(rewrite(pair.raw, pair.X_W1, pair.X_W2, kLimits, patch, place));
      for (int i = 0; i < 4; ++i) {
        const ContactPoint& contact = pair.raw[i];
        const ContactPatchPoint& point = patch.points[place[i]];
        const Vec3 half = contact.normal * (Real(0.5) * contact.depth);
        EXPECT_EQ(std::memcmp(&point.contact, &contact, sizeof contact), 0);
        EXPECT_EQ(point.local1, inverseTimes(pair.X_W1, contact.position - half));
        EXPECT_EQ(point.local2, inverseTimes(pair.X_W2, contact.position + half));
        EXPECT_EQ(point.id, static_cast<std::uint64_t>(100 + i));
        const auto old = std::find_if(
            pair.patch.points, pair.patch.points + 4,
            [&](const ContactPatchPoint& candidate) { return candidate.id == point.id; });
        EXPECT_EQ(point.normalImpulse, old->normalImpulse);
        EXPECT_EQ(point.tangentImpulse, old->tangentImpulse);
      }
      for (int k = 1; k < 4; ++k) {
        const ContactPoint &a = patch.points[k - 1].contact, &b = patch.points[k].contact;
        EXPECT_TRUE(a.depth > b.depth || (a.depth == b.depth && (a.position.x < b.position.x ||
                                                                 (a.position.x == b.position.x &&
                                                                  a.position.y < b.position.y))));
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(TiedOrNot, BothBuilds, testing::Bool());

TEST(RewriteFour, RefusesWhatIsNotPlainAndWritesNothing) {
  std::mt19937_64 random(2);
  const Pair good = randomPair(random, false);
  const auto refuses = [&](const char* what, auto spoil) {
    Pair pair = good;
    spoil(pair);
    for (const RewriteFour rewrite : builds()) {
      ContactPatch patch = pair.patch;
      int place[4] = {9, 9, 9, 9};
      EXPECT_FALSE(rewrite(pair.raw, pair.X_W1, pair.X_W2, kLimits, patch, place)) << what;
      EXPECT_EQ(std::memcmp(&patch, &pair.patch, sizeof patch), 0) << what;
    }
  };
  refuses("a stale point", [](Pair& pair) { pair.patch.points[2].age = 1; });
  refuses("a feature not known", [](Pair& pair) { pair.raw[1].feature1 = 55; });
  refuses("no features", [](Pair& pair) {
    for (ContactPoint& contact : pair.raw) contact.feature1 = contact.feature2 = -1;
  });
  refuses("two contacts of one feature", [](Pair& pair) {
    pair.raw[1].feature1 = pair.raw[0].feature1;
    pair.raw[1].feature2 = pair.raw[0].feature2;
  });
  refuses("a contact that moved",
          [](Pair& pair) { pair.raw[3].position += pair.X_W1.rotation.col[0] * Real(2e-4); });
  refuses("contacts close together", [](Pair& pair) {
    const Vec3 step = pair.raw[0].position + Vec3{1e-4, 0, 0} - pair.raw[1].position;
    pair.raw[1].position += step;
    for (ContactPatchPoint& point : pair.patch.points) {
      if (point.id != 101) continue;
      point.local1 += transposeTimes(pair.X_W1.rotation, step);
      point.local2 += transposeTimes(pair.X_W2.rotation, step);
    }
  });
  refuses("a normal that is not unit", [](Pair& pair) { pair.raw[0].normal = Vec3{0, 0, 1.1}; });
  refuses("a normal that turned", [](Pair& pair) {
    pair.raw[0].normal = pair.X_W1.rotation.col[0];
    pair.raw[0].depth = 0;
  });
  refuses("a gap", [](Pair& pair) { pair.raw[0].depth = -1e-6; });
  refuses("not a number",
          [](Pair& pair) { pair.raw[0].position.x = std::numeric_limits<Real>::quiet_NaN(); });
}

}  // namespace
}  // namespace tangere::collision
