// SPDX-License-Identifier: Apache-2.0
//
// Soft bodies in equilibrium against closed forms: a column under its weight, the cantilever of
// Timoshenko and the elastica. Linear tetrahedra lock in bending; what they owe is convergence with
// the square of their size.
#include "dynamics/box_grid.hpp"
#include "dynamics/soft_statics.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <string>
#include <vector>

namespace tangere {
namespace {

using test::BoxGrid;
using test::StaticProblem;
using test::StaticResult;

model::SoftMesh softGrid(const BoxGrid& grid, Real density, const Elasticity& elasticity) {
  return model::makeSoftMesh(test::gridMesh(grid), {}, density, elasticity);
}

// --- column -------------------------------------------------------------------------------------

struct Column {
  Real height = 1, area = 0.04, young = 1e5, density = 100, gravity = 9.81;
  BoxGrid grid{{0.2, 0.2, 1}, {2, 2, 10}};

  [[nodiscard]] StaticProblem standing(const model::SoftMesh& mesh) const {
    StaticProblem problem(mesh);
    for (int v = 0; v < mesh.numVertices; ++v) {
      if (mesh.rest[v].z == 0) problem.hold(v);
      problem.load[v] = {0, 0, -gravity * mesh.mass[v]};
    }
    return problem;
  }
  /// Mean sag of the vertices at height z.
  [[nodiscard]] static Real sagAt(const model::SoftMesh& mesh, const std::vector<Vec3>& x, Real z) {
    Real sum = 0;
    int count = 0;
    for (int v = 0; v < mesh.numVertices; ++v) {
      if (std::fabs(mesh.rest[v].z - z) > 1e-12) continue;
      sum += mesh.rest[v].z - x[v].z;
      ++count;
    }
    return sum / count;
  }
};

TEST(FemStatics, ColumnOfCorkSagsAsTheBarAtEveryNode) {
  const Column column;
  const model::SoftMesh mesh =
      softGrid(column.grid, column.density,
               {.model = ElasticModel::Linear, .young = column.young, .poisson = 0});
  StaticProblem problem = column.standing(mesh);
  // Weights as a bar's: each layer's on the two sections beside it, by the areas that a uniform
  // stress gives the vertices there. (Those of tetrahedra differ from them at the top alone.)
  std::vector<Real> share(problem.load.size(), 0);
  for (int t = 0; t < mesh.numTets(); ++t) {
    Real sum = 0;
    for (int a = 1; a < 4; ++a) sum += mesh.inverseRest[t](a - 1, 2);
    const Real slope[4] = {-sum, mesh.inverseRest[t](0, 2), mesh.inverseRest[t](1, 2),
                           mesh.inverseRest[t](2, 2)};
    for (int a = 0; a < 4; ++a)
      share[mesh.tets[t][a]] += 0.5 * mesh.restVolume[t] * std::fabs(slope[a]);
  }
  const Real layer = column.height / column.grid.count[2];
  for (std::size_t v = 0; v < share.size(); ++v)
    problem.load[v] = {0, 0, -column.density * column.gravity * layer * share[v]};

  const StaticResult result = test::solveStatics(problem, 1e-13, 5);
  for (int v = 0; v < mesh.numVertices; ++v) {
    const Real z = mesh.rest[v].z;
    const Real sag =
        column.density * column.gravity * (column.height * z - z * z / 2) / column.young;
    EXPECT_NEAR(mesh.rest[v].z - result.x[v].z, sag, 1e-14);
    EXPECT_NEAR(result.x[v].x, mesh.rest[v].x, 1e-14);
  }
}

TEST(FemStatics, ColumnOfCorkUnderTheWeightOfItsTetrahedraSagsAsTheBar) {
  const Column column;
  const Real sag = 0.004905, half = 0.00367875;  // rho g H^2 / (2 E); z = H/2
  const model::SoftMesh linear =
      softGrid(column.grid, column.density,
               {.model = ElasticModel::Linear, .young = column.young, .poisson = 0});
  const StaticResult result = test::solveStatics(column.standing(linear), 1e-12, 5);
  EXPECT_NEAR(Column::sagAt(linear, result.x, 1) / sag, 1, 1e-3);
  EXPECT_NEAR(Column::sagAt(linear, result.x, 0.5) / half, 1, 1e-3);
}

TEST(FemStatics, ColumnBetweenRollersHasTheOedometricSagAndStress) {
  Column column;
  column.grid.count = {1, 1, 20};
  for (const ElasticModel law : {ElasticModel::Linear, ElasticModel::Corotated}) {
    const model::SoftMesh mesh = softGrid(column.grid, column.density,
                                          {.model = law, .young = column.young, .poisson = 0.3});
    StaticProblem problem = column.standing(mesh);
    for (int v = 0; v < mesh.numVertices; ++v)
      problem.isHeld[3 * v] = problem.isHeld[3 * v + 1] = 1;
    const StaticResult result = test::solveStatics(problem, 1e-11, 50);
    EXPECT_LT(result.residual, 1e-11);
    EXPECT_NEAR(Column::sagAt(mesh, result.x, 1) / 0.0036437142857142857, 1, 1e-3);

    std::vector<Mat3> stress(mesh.tets.size());
    dynamics::tetStresses(mesh, result.x.data(), nullptr, stress.data());
    Mat3 floor{};  // mean of the lowest layer, half a layer above the floor
    for (int t = 0; t < 6; ++t) {
      for (int k = 0; k < 3; ++k) floor.col[k] += stress[t].col[k] / 6;
    }
    const Real here = 1 - 0.5 / column.grid.count[2];
    // The strain of a large part of a percent is no longer nothing for the corotated law.
    EXPECT_NEAR(floor(2, 2) / (-981 * here), 1, 0.01);
    EXPECT_NEAR(floor(0, 0) / (-420.42857142857144 * here), 1, 0.02);
  }
}

// --- cantilever ---------------------------------------------------------------------------------

constexpr Real kLength = 1, kHeight = 0.1, kYoung = 1e6;

struct Tip {
  Vec3 displacement{};  ///< mean of the end face
  Real slope = 0;       ///< of the end face [rad]
};

enum class Root {
  Clamped,     ///< nothing moves
  Contracting  ///< in the plane, but free to grow thinner: what beam theory has in mind
};

void holdRoot(const BoxGrid& grid, Root root, StaticProblem* problem) {
  for (int k = 0; k <= grid.count[2]; ++k) {
    for (int j = 0; j <= grid.count[1]; ++j) {
      const int v = grid.vertexAt(0, j, k);
      const bool isClamped = root == Root::Clamped;
      problem->isHeld[3 * v] = 1;
      problem->isHeld[3 * v + 1] = isClamped || 2 * j == grid.count[1];
      problem->isHeld[3 * v + 2] = isClamped || 2 * k == grid.count[2];
    }
  }
}

/// Trapezoid weight of a vertex of the end face: a uniform traction, or a mean.
Real endWeight(const BoxGrid& grid, int j, int k) {
  const Real weight = (k % grid.count[2] == 0 ? 0.5 : 1) * (j % grid.count[1] == 0 ? 0.5 : 1);
  return weight / (grid.count[1] * grid.count[2]);
}

/// A beam along x, held at x = 0, loaded on the end face along -z.
Tip bendBeam(const BoxGrid& grid, const Elasticity& elasticity, Root root, Real force) {
  const model::SoftMesh mesh = softGrid(grid, 1000, elasticity);
  StaticProblem problem(mesh);
  holdRoot(grid, root, &problem);
  const int last = grid.count[0];
  for (int k = 0; k <= grid.count[2]; ++k) {
    for (int j = 0; j <= grid.count[1]; ++j)
      problem.load[grid.vertexAt(last, j, k)] = {0, 0, -force * endWeight(grid, j, k)};
  }
  constexpr Real kTolerance = 1e-8;  // rounding of F leaves 1e-9
  const StaticResult result = test::solveStatics(problem, kTolerance, 60);
  EXPECT_LT(result.residual, kTolerance);
  Tip tip;
  Vec3 across{};  // from the lower to the upper edge of the end face
  for (int j = 0; j <= grid.count[1]; ++j) {
    across += result.x[grid.vertexAt(last, j, grid.count[2])] - result.x[grid.vertexAt(last, j, 0)];
    for (int k = 0; k <= grid.count[2]; ++k) {
      const int v = grid.vertexAt(last, j, k);
      tip.displacement += (result.x[v] - mesh.rest[v]) * endWeight(grid, j, k);
    }
  }
  tip.slope = std::atan2(across.x, across.z);
  return tip;
}

/// P L^3 / (3 E I) + P L / (k G A), Cowper's k = 10 (1 + nu) / (12 + 11 nu).
Real timoshenkoDeflection(Real force, Real poisson) {
  const Real area = kHeight * kHeight, inertia = area * area / 12;
  const Real k = 10 * (1 + poisson) / (12 + 11 * poisson), shear = kYoung / (2 * (1 + poisson));
  return force * kLength * kLength * kLength / (3 * kYoung * inertia) +
         force * kLength / (k * shear * area);
}

TEST(FemStatics, CantileverConvergesToTimoshenkoWithTheSquareOfTheSize) {
  // No Poisson effect and one layer across: the bending plane alone is refined.
  const Elasticity cork{.model = ElasticModel::Linear, .young = kYoung, .poisson = 0};
  const Real force = 10;  // a linear law: far above rounding, and no other answer
  std::array<Real, 4> error{};
  for (int level = 0; level < 4; ++level) {
    const int n = 4 << level;
    const BoxGrid grid{{kLength, kHeight, kHeight}, {10 * n, 1, n}};
    const Real deflection = -bendBeam(grid, cork, Root::Clamped, force).displacement.z;
    error[level] = 1 - deflection / timoshenkoDeflection(force, 0);
    RecordProperty("error" + std::to_string(n), std::to_string(error[level]));
  }
  EXPECT_GT(error[3], 0);  // from the stiff side
  EXPECT_LT(error[3], 0.003);
  EXPECT_GT(std::log2(error[1] / error[2]), 1.85);
  EXPECT_GT(std::log2(error[2] / error[3]), 1.9);
}

TEST(FemStatics, CantileverOfAFullMeshTendsToTimoshenko) {
  const Elasticity rubber{.model = ElasticModel::Linear, .young = kYoung, .poisson = 0.3};
  const Real force = 10;
  EXPECT_NEAR(timoshenkoDeflection(0.01, 0.3), 0.00040306, 1e-16);
  std::array<Real, 2> compliance{};
  for (int level = 0; level < 2; ++level) {
    const int n = 4 + 2 * level;
    const BoxGrid grid{{kLength, kHeight, kHeight}, {10 * n, n, n}};
    compliance[level] = -bendBeam(grid, rubber, Root::Contracting, force).displacement.z / force;
  }
  // Locking adds to the stiffness with the square of the size: take it out.
  const Real stiffness = (36 / compliance[1] - 16 / compliance[0]) / 20;
  EXPECT_NEAR(stiffness * timoshenkoDeflection(1, 0.3), 1, 0.01);
}

TEST(FemStatics, BeamBendsAsTheElasticaForLawsOfLargeRotation) {
  // P L^2 / (E I) = 1
  const Real inertia = kHeight * kHeight * kHeight * kHeight / 12;
  const Real force = kYoung * inertia;
  for (const ElasticModel law :
       {ElasticModel::Corotated, ElasticModel::NeoHookean, ElasticModel::StVenantKirchhoff}) {
    std::array<Tip, 2> tip{};
    for (int level = 0; level < 2; ++level) {
      const int n = 4 << level;
      const BoxGrid grid{{kLength, kHeight, kHeight}, {10 * n, 1, n}};
      tip[level] =
          bendBeam(grid, {.model = law, .young = kYoung, .poisson = 0}, Root::Clamped, force);
    }
    const auto limit = [](Real coarse, Real fine) { return fine + (fine - coarse) / 3; };
    EXPECT_NEAR(-limit(tip[0].displacement.z, tip[1].displacement.z), 0.30172077379981355, 0.01);
    EXPECT_NEAR(-limit(tip[0].displacement.x, tip[1].displacement.x), 0.05643323628337688, 0.01);
    EXPECT_NEAR(limit(tip[0].slope, tip[1].slope), 0.461351949711879, 0.01);
  }
}

}  // namespace
}  // namespace tangere
