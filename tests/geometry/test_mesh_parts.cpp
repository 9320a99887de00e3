// SPDX-License-Identifier: Apache-2.0
//
// Closed surfaces in several pieces are filled as the solids they bound: apart, joined or hollow.
#include <tangere/shape.hpp>
#include <tangere/tet_mesh.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <string>

namespace tangere {
namespace {

struct BoxPiece {
  Vec3 center{}, half{0.05, 0.05, 0.05};
  Mat3 turn = Mat3::identity();
  bool isHollow = false;

  [[nodiscard]] bool holds(const Vec3& p) const {
    const Vec3 q = transposeTimes(turn, p - center);
    return std::fabs(q.x) <= half.x && std::fabs(q.y) <= half.y && std::fabs(q.z) <= half.z;
  }
};

Mesh surfaceOf(const std::vector<BoxPiece>& boxes) {
  std::vector<Vec3> v;
  std::vector<Triangle> f;
  constexpr std::array<Triangle, 12> kFaces{{{0, 2, 1},
                                             {1, 2, 3},
                                             {4, 5, 6},
                                             {5, 7, 6},
                                             {0, 1, 4},
                                             {1, 5, 4},
                                             {2, 6, 3},
                                             {3, 6, 7},
                                             {0, 4, 2},
                                             {2, 4, 6},
                                             {1, 3, 5},
                                             {3, 7, 5}}};
  for (const BoxPiece& box : boxes) {
    const int first = static_cast<int>(v.size());
    for (int i = 0; i < 8; ++i) {
      const Vec3 corner{(i & 1) != 0 ? box.half.x : -box.half.x,
                        (i & 2) != 0 ? box.half.y : -box.half.y,
                        (i & 4) != 0 ? box.half.z : -box.half.z};
      v.push_back(box.center + box.turn * corner);
    }
    for (Triangle t : kFaces) {
      if (box.isHollow) std::swap(t[1], t[2]);
      f.push_back({t[0] + first, t[1] + first, t[2] + first});
    }
  }
  return Mesh(v, f);
}

bool tells(const TetMeshReport& report, const std::string& words) {
  return std::any_of(report.findings.begin(), report.findings.end(), [&](const std::string& text) {
    return text.find(words) != std::string::npos;
  });
}

/// Gives the volume of the mesh.
Real fill(const std::vector<BoxPiece>& boxes, TetMeshReport* report, Real resolution = 0) {
  return meshShape(surfaceOf(boxes), {.resolution = resolution}, report).volume();
}

TEST(MeshParts, BoxesTenMicrometresApartStayApart) {
  TetMeshReport report;
  const Real volume = fill({{}, {.center = {0.10001, 0, 0}}}, &report);
  EXPECT_NEAR(volume, 2e-3, 2e-5);
  EXPECT_EQ(report.quality.numParts, 2);
  EXPECT_TRUE(tells(report, "2 solids that do not touch"));
  EXPECT_TRUE(tells(report, "1e-05 m apart"));
}

TEST(MeshParts, BoxesThatShareAFaceAreOneSolid) {
  for (const Real shift : {0.0, 0.013}) {
    TetMeshReport report;
    const Real volume = fill({{}, {.center = {0.1, shift, shift}}}, &report);
    EXPECT_NEAR(volume, 2e-3, 4e-5) << shift;
    EXPECT_EQ(report.quality.numParts, 1);
    EXPECT_TRUE(tells(report, "touch"));
  }
}

TEST(MeshParts, BoxesThatOverlapAreFilledOnce) {
  TetMeshReport report;
  // 0.06 of the 0.1 m of each lie in the other.
  const Real volume = fill({{}, {.center = {0.04, 0, 0}}}, &report);
  EXPECT_NEAR(volume, 1.4e-3, 4e-5);
  EXPECT_EQ(report.quality.numParts, 1);
  EXPECT_TRUE(tells(report, "intersects itself"));
  // A cross, of which no corner is in the other.
  const Real cross = fill({{.half = {0.1, 0.02, 0.02}}, {.half = {0.02, 0.1, 0.021}}}, &report);
  EXPECT_NEAR(cross, 3.2e-4 + 3.36e-4 - 0.04 * 0.04 * 0.04, 3e-5);
  EXPECT_TRUE(tells(report, "intersects itself"));
}

TEST(MeshParts, AHollowStaysEmpty) {
  TetMeshReport report;
  const Real volume =
      fill({{.half = {0.1, 0.1, 0.1}}, {.isHollow = true}, {.center = {0.3, 0, 0}}}, &report);
  EXPECT_NEAR(volume, 8e-3 - 1e-3 + 1e-3, 2e-4);
  EXPECT_EQ(report.quality.numParts, 2);
  EXPECT_TRUE(tells(report, "hollow"));
}

TEST(MeshParts, RandomBoxesHoldTheVolumeOfTheirUnion) {
  std::mt19937_64 random(5);
  const auto real = [&](Real low, Real high) {
    return low + (high - low) * static_cast<Real>(random() >> 11) * 0x1p-53;
  };
  for (int trial = 0; trial < 12; ++trial) {
    std::vector<BoxPiece> boxes;
    for (int i = 0; i < 3; ++i) {
      BoxPiece& box = boxes.emplace_back();
      box.center = {real(-0.1, 0.1), real(-0.1, 0.1), real(-0.1, 0.1)};
      box.half = {real(0.03, 0.08), real(0.03, 0.08), real(0.03, 0.08)};
      const Real angle = real(0, 6);
      box.turn = {{{std::cos(angle), std::sin(angle), 0},
                   {-std::sin(angle), std::cos(angle), 0},
                   {0, 0, 1}}};
    }
    TetMeshReport report;
    const Real volume = fill(boxes, &report, 0.01);
    constexpr int kSamples = 60;  // along each axis of a cube of 0.48 m
    int inside = 0;
    for (int i = 0; i < kSamples * kSamples * kSamples; ++i) {
      const Vec3 p{0.008 * (i % kSamples) - 0.236, 0.008 * (i / kSamples % kSamples) - 0.236,
                   0.008 * (i / kSamples / kSamples) - 0.236};
      inside +=
          std::any_of(boxes.begin(), boxes.end(), [&](const BoxPiece& b) { return b.holds(p); });
    }
    const Real expected = inside * 0.008 * 0.008 * 0.008;
    // A lattice of 1 cm takes corners and edges off.
    EXPECT_NEAR(volume, expected, 0.07 * expected) << trial;
  }
}

TEST(MeshParts, AThinPlateGetsAMeshOfBoundedSize) {
  for (const Real thickness : {0.12, 0.01, 0.002}) {
    TetMeshReport report;
    const TetMesh mesh = meshShape(surfaceOf({{.half = {0.5, 0.5, thickness / 2}}}), {}, &report);
    EXPECT_LT(mesh.vertices().size(), 20000u) << thickness;
    EXPECT_NEAR(mesh.volume(), thickness, 0.05 * thickness);
    EXPECT_EQ(report.quality.numParts, 1);
    EXPECT_EQ(tells(report, "the shape is thin"), thickness < 0.1);
  }
}

}  // namespace
}  // namespace tangere
