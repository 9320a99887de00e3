// SPDX-License-Identifier: Apache-2.0
//
// The two builds of the sweeps give the same bits, and the sweep does what a plain loop would.
#include "solver/contact_packs.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <random>
#include <vector>

namespace tangere::solver {
namespace {

/// Packs of random points between random slots.
struct RandomPacks {
  std::vector<GroupPack> groups;
  std::vector<RowPack> rows;
  std::vector<RowRecord> records;
  std::vector<FramePack> frames;
  std::vector<SpinPack> spins;
  std::vector<ProjectionPack> projections;
  std::vector<RowMomentum> rowMomenta;
  std::vector<SlotMomentum> slotMomenta;
  std::vector<double> partials, alongs;
  std::vector<SlotVelocity> velocities, sums, moves, pushes;

  explicit RandomPacks(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    const auto uniform = [&](double low, double high) {
      return low + (high - low) * (static_cast<double>(random() >> 11) * 0x1p-53);
    };
    const auto fill = [&](Pack* pack, int count, double low, double high) {
      for (int i = 0; i < count; ++i) {
        for (int lane = 0; lane < kLanes; ++lane) pack[i][lane] = uniform(low, high);
      }
    };
    constexpr int kPacks = 6, kRows = 3, kSlots = 2 * kLanes * kPacks;
    velocities.resize(kSlots);
    for (SlotVelocity& slot : velocities) {
      for (double& v : slot.linear) v = uniform(-1, 1);
      for (double& w : slot.angular) w = uniform(-1, 1);
      slot.inverseMass = uniform(0.1, 10);
    }
    sums = moves = pushes = velocities;
    for (int p = 0; p < kPacks; ++p) {
      GroupPack group{};
      for (int lane = 0; lane < kLanes; ++lane) {
        group.slot1[lane] = 2 * (kLanes * p + lane);
        group.slot2[lane] = group.slot1[lane] + 1;
      }
      group.firstRow = group.firstFrame = p * kRows;
      group.numRows = kRows;
      group.frameStride = p % 2;
      group.firstSpin = p % 3 == 0 ? p * kRows : -1;
      for (Pack* inertia : {group.inverseInertia1, group.inverseInertia2}) {
        fill(inertia, 3, 5, 10);
        fill(inertia + 3, 3, -1, 1);
      }
      fill(&group.inverseH, 1, 500, 2000);
      groups.push_back(group);
    }
    rows.resize(kPacks * kRows);
    records.resize(rows.size());
    frames.resize(rows.size());
    spins.resize(rows.size());
    projections.resize(rows.size());
    rowMomenta.resize(rows.size());
    slotMomenta.assign(velocities.size(), SlotMomentum{});
    for (SlotMomentum& slot : slotMomenta) {
      const double mass = uniform(0.1, 10), inertia = uniform(0.1, 10);
      slot.weight[0] = Pack{mass, mass, mass, 0};
      slot.weight[1] = Pack{inertia, inertia, inertia, 0};
    }
    partials.resize(groups.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      std::memset(static_cast<void*>(&rows[i]), 0, sizeof(RowPack));
      std::memset(static_cast<void*>(&records[i]), 0, sizeof(RowRecord));
      std::memset(static_cast<void*>(&spins[i]), 0, sizeof(SpinPack));
      fill(rows[i].r1, 3, -0.2, 0.2);
      fill(rows[i].r2, 3, -0.2, 0.2);
      fill(&rows[i].friction, 1, 0, 1);
      fill(rows[i].impulse, 3, 0, 0.1);
      fill(&records[i].gap, 1, -1e-3, 1e-3);
      for (int lane = 0; lane < kLanes; ++lane) {
        records[i].point[lane] = random() % 4 == 0 ? -1 : static_cast<int>(i);
        // A right-handed frame from two random directions.
        double n[3], t[3];
        for (double& x : n) x = uniform(-1, 1);
        for (double& x : t) x = uniform(-1, 1);
        const double nn = std::sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
        for (double& x : n) x /= nn;
        const double nt = n[0] * t[0] + n[1] * t[1] + n[2] * t[2];
        for (int k = 0; k < 3; ++k) t[k] -= nt * n[k];
        const double tt = std::sqrt(t[0] * t[0] + t[1] * t[1] + t[2] * t[2]);
        for (double& x : t) x /= tt;
        for (int k = 0; k < 3; ++k) {
          frames[i].normal[k][lane] = n[k];
          frames[i].tangent1[k][lane] = t[k];
          frames[i].tangent2[k][lane] =
              n[(k + 1) % 3] * t[(k + 2) % 3] - n[(k + 2) % 3] * t[(k + 1) % 3];
        }
      }
      fill(&spins[i].torsionalFriction, 1, 0, 0.1);
      fill(&spins[i].rollingFriction, 1, 0, 0.1);
    }
  }

  PackView view() {
    return {.groups = groups.data(),
            .rows = rows.data(),
            .records = records.data(),
            .frames = frames.data(),
            .spins = spins.data(),
            .projections = projections.data(),
            .rowMomenta = rowMomenta.data(),
            .slotMomenta = slotMomenta.data(),
            .velocities = velocities.data(),
            .sums = sums.data(),
            .moves = moves.data(),
            .pushes = pushes.data(),
            .partials = partials.data()};
  }

  /// Returns how far the sweep before went along with its own momentum.
  double sweepOn(const PackFunctions& functions, double momentum) {
    const PackView packs = view();
    alongs.push_back(functions.carryOn(packs, 0, static_cast<int>(velocities.size()), momentum));
    functions.sweepOn(packs, 0, static_cast<int>(groups.size()), momentum);
    return alongs.back();
  }

  void run(const PackFunctions& functions) {
    const PackView packs = view();
    const int n = static_cast<int>(groups.size());
    const TargetRule rule{.rate = 100, .slop = 1e-4, .maxSpeed = 5};
    functions.prepare(packs, 0, n, rule);
    functions.warmStart(packs, 0, n);
    for (int i = 0; i < 3; ++i) functions.sweep(packs, 0, n);
    functions.finish(packs, 0, n, rule, true);
    functions.sweep(packs, 0, n);
    for (const double momentum : {0.0, 0.3, 0.6}) sweepOn(functions, momentum);
    functions.beginProjection(packs, 0, n);
    for (int i = 0; i < 3; ++i) {
      functions.spreadDirection(packs, 0, n, 0.5);
      functions.imageOfDirection(packs, 0, n);
      functions.advanceProjection(packs, 0, n, 0.1);
    }
    alongs.push_back(functions.leavesCones(packs, 0, n));
    functions.limitStep(packs, 0, n);
    functions.applyStep(packs, 0, n, 1, false);
    functions.applyStep(packs, 0, n, 0.5, true);
    functions.finish(packs, 0, n, rule, true);
    functions.workOfStep(packs, 0, n);
    functions.beginCorrection(packs, 0, n, rule, 500);
    for (int i = 0; i < 3; ++i) functions.correctionSweep(packs, 0, n);
  }
};

template <class T>
void expectSameBits(const std::vector<T>& a, const std::vector<T>& b, const char* what) {
  ASSERT_EQ(a.size(), b.size());
  EXPECT_EQ(std::memcmp(a.data(), b.data(), a.size() * sizeof(T)), 0) << what;
}

void expectSameBits(const RandomPacks& a, const RandomPacks& b) {
  expectSameBits(a.velocities, b.velocities, "velocities");
  expectSameBits(a.pushes, b.pushes, "pushes");
  expectSameBits(a.rows, b.rows, "rows");
  expectSameBits(a.records, b.records, "records");
  expectSameBits(a.spins, b.spins, "spins");
  expectSameBits(a.projections, b.projections, "projections");
  expectSameBits(a.partials, b.partials, "partials");
  expectSameBits(a.rowMomenta, b.rowMomenta, "momenta of rows");
  expectSameBits(a.slotMomenta, b.slotMomenta, "momenta of slots");
  expectSameBits(a.alongs, b.alongs, "what went along");
}

void expectSameAsGeneric(const PackFunctions& functions) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    RandomPacks generic(seed), wide(seed);
    generic.run(genericPackFunctions());
    wide.run(functions);
    expectSameBits(generic, wide);
  }
}

TEST(ContactPacks, TheBuildForAvx2GivesTheSameBits) {
  if (avx2PackFunctions() == nullptr) GTEST_SKIP() << "this machine has no AVX2";
  expectSameAsGeneric(*avx2PackFunctions());
}

TEST(ContactPacks, TheBuildForAvx512GivesTheSameBits) {
  if (avx512PackFunctions() == nullptr) GTEST_SKIP() << "this machine has no AVX-512";
  expectSameAsGeneric(*avx512PackFunctions());
}

TEST(ContactPacks, PacksSweptTwoAtATimeGiveTheSameBits) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    RandomPacks one(seed), two(seed);
    for (RandomPacks* packs : {&one, &two}) packs->groups[2].numRows = 1;  // less than its partner
    for (std::size_t p = 0; p + 1 < two.groups.size(); ++p) two.groups[p].isApartFromNext = 1;
    one.run(packFunctions());
    two.run(packFunctions());
    expectSameBits(one, two);
  }
}

TEST(ContactPacks, AStepThatLeavesAConeIsNoticed) {
  RandomPacks packs(4);
  const PackView view = packs.view();
  packFunctions().prepare(view, 0, 6, {});
  for (RowPack& row : packs.rows) {
    row.impulse[0] = row.impulse[1] = Pack{};
    row.impulse[2] = row.friction = Pack{1, 1, 1, 1};
  }
  packFunctions().beginProjection(view, 0, 6);  // closed and sticking, and no step yet
  EXPECT_EQ(packFunctions().leavesCones(view, 0, 6), 0);
  packs.projections[4].step[0][2] = 0.5;
  EXPECT_EQ(packFunctions().leavesCones(view, 0, 6), 0);
  packs.projections[4].step[0][2] = 1.5;
  EXPECT_EQ(packFunctions().leavesCones(view, 0, 6), 1);
  packs.projections[4].step[0][2] = 0;
  packs.projections[7].step[2][1] = -1.5;
  EXPECT_EQ(packFunctions().leavesCones(view, 0, 6), 1);
  packs.projections[7].isClosed[1] = packs.projections[7].isSticking[1] = 0;  // it was open
  EXPECT_EQ(packFunctions().leavesCones(view, 0, 6), 0);
}

TEST(ContactPacks, UnusedLanesGiveNoImpulse) {
  RandomPacks packs(3);
  for (RowRecord& record : packs.records) {
    for (int lane = 0; lane < kLanes; ++lane) record.point[lane] = -1;
  }
  for (RowPack& row : packs.rows) {
    for (Pack& impulse : row.impulse) impulse = Pack{};
    row.friction = Pack{};
  }
  for (SpinPack& spin : packs.spins) spin.torsionalFriction = spin.rollingFriction = Pack{};
  const std::vector<SlotVelocity> before = packs.velocities;
  const PackView view = packs.view();
  packFunctions().prepare(view, 0, 6, {});
  EXPECT_EQ(packFunctions().sweep(view, 0, 6), 0);
  expectSameBits(before, packs.velocities, "velocities");
}

TEST(ContactPacks, TheDiskBoundHoldsToRounding) {
  RandomPacks packs(9);
  const PackView view = packs.view();
  packFunctions().prepare(view, 0, 6, {});
  for (int i = 0; i < 5; ++i) packFunctions().sweep(view, 0, 6);
  for (std::size_t i = 0; i < packs.rows.size(); ++i) {
    for (int lane = 0; lane < kLanes; ++lane) {
      if (packs.records[i].point[lane] < 0) continue;
      const RowPack& row = packs.rows[i];
      const double t = std::hypot(row.impulse[0][lane], row.impulse[1][lane]);
      EXPECT_LE(t, row.friction[lane] * row.impulse[2][lane] * (1 + 1e-15));
    }
  }
}

TEST(ContactPacks, MomentumCarriesImpulsesAndVelocitiesAlike) {
  RandomPacks packs(11), again(11);
  for (RandomPacks* p : {&packs, &again}) {
    for (GroupPack& group : p->groups) group.firstSpin = -1;
    for (RowPack& row : p->rows) {
      for (Pack& impulse : row.impulse) impulse = Pack{};
    }
    packFunctions().prepare(p->view(), 0, 6, {});
  }
  packFunctions().sweep(packs.view(), 0, 6);
  for (const double momentum : {0.0, 0.3, 0.6, 0.8}) packs.sweepOn(packFunctions(), momentum);
  for (std::size_t i = 0; i < packs.rows.size(); ++i) {
    for (int k = 0; k < 3; ++k) again.rows[i].impulse[k] = packs.rows[i].impulse[k];
  }
  packFunctions().warmStart(again.view(), 0, 6);
  for (std::size_t i = 0; i < packs.velocities.size(); ++i) {
    for (int k = 0; k < 3; ++k) {
      EXPECT_NEAR(packs.velocities[i].linear[k], again.velocities[i].linear[k], 1e-12);
      EXPECT_NEAR(packs.velocities[i].angular[k], again.velocities[i].angular[k], 1e-12);
    }
  }
}

TEST(ContactPacks, WhatGoesAgainstItsMomentumIsNoticed) {
  RandomPacks packs(5);
  const PackView view = packs.view();
  const int numSlots = static_cast<int>(packs.velocities.size());
  const auto push = [&](double speed) {
    for (SlotVelocity& slot : packs.velocities) slot.linear[0] += speed;
  };
  packFunctions().carryOn(view, 0, numSlots, 0);
  push(1);
  EXPECT_EQ(packFunctions().carryOn(view, 0, numSlots, 0.5), 0);  // there was none to go along with
  push(0.25);
  double mass = 0;
  for (const SlotMomentum& slot : packs.slotMomenta) mass += slot.weight[0][0];
  EXPECT_NEAR(packFunctions().carryOn(view, 0, numSlots, 0.5), 0.25 * 0.5 * mass, 1e-12 * mass);
  push(-0.25);
  EXPECT_LT(packFunctions().carryOn(view, 0, numSlots, 0.5), 0);
}

}  // namespace
}  // namespace tangere::solver
