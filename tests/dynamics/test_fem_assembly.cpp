// SPDX-License-Identifier: Apache-2.0
//
// The system of a soft body: forces are derivatives of the energy and make no momentum, the matrix
// is that of the linearly implicit step, patches stay uniform, inverted tetrahedra return, and
// nothing depends on the number of threads.
#include "core/counted_allocations.hpp"
#include "dynamics/fem_assembly.hpp"
#include "dynamics/soft_system.hpp"

#include <tangere/error.hpp>

#include "dynamics/box_grid.hpp"
#include "dynamics/random_tree.hpp"
#include "math/polar.hpp"

#include <Eigen/SparseCholesky>
#include <Eigen/SparseCore>

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <vector>

namespace tangere {
namespace {

using dynamics::SoftAssembly;
using model::SoftMesh;
using test::BoxGrid;
using test::Random;

constexpr ElasticModel kAllLaws[] = {ElasticModel::Linear, ElasticModel::Corotated,
                                     ElasticModel::NeoHookean, ElasticModel::StVenantKirchhoff};
constexpr ElasticModel kTurningLaws[] = {ElasticModel::Corotated, ElasticModel::NeoHookean,
                                         ElasticModel::StVenantKirchhoff};
constexpr Real kYoung = 1e5;

/// A box whose inner vertices are shifted: no two tetrahedra are alike.
TetMesh irregularBox(const BoxGrid& grid) {
  Random random(21);
  std::vector<Vec3> vertices = test::gridVertices(grid);
  for (int k = 1; k < grid.count[2]; ++k) {
    for (int j = 1; j < grid.count[1]; ++j) {
      for (int i = 1; i < grid.count[0]; ++i)
        vertices[grid.vertexAt(i, j, k)] += random.vec3(0.2 * grid.size.x / grid.count[0]);
    }
  }
  return TetMesh(std::move(vertices), test::gridTets(grid));
}

SoftMesh softBox(ElasticModel law, int n = 3, Real poisson = 0.3) {
  return model::makeSoftMesh(irregularBox({{1, 1, 1}, {n, n, n}}), {}, 1000,
                             {.model = law, .young = kYoung, .poisson = poisson});
}

std::vector<Vec3> shaken(const SoftMesh& mesh, Real size, std::uint64_t seed) {
  Random random(seed);
  std::vector<Vec3> x = mesh.rest;
  for (Vec3& p : x) p += random.vec3(size);
  return x;
}

SoftAssembly assembled(const SoftMesh& mesh, const std::vector<Vec3>& x) {
  const std::vector<Vec3> still(x.size());
  SoftAssembly out = dynamics::makeSoftAssembly(mesh);
  dynamics::assembleSoft(mesh, x.data(), still.data(), 0.01, {}, nullptr, nullptr, &out);
  return out;
}

Real largest(const std::vector<Vec3>& values) {
  Real size = 0;
  for (const Vec3& v : values) size = std::max(size, norm(v));
  return size;
}

Eigen::SparseMatrix<double> sparseOf(const math::BlockCsr& matrix) {
  std::vector<Eigen::Triplet<double>> entries;
  for (int i = 0; i < matrix.numRows(); ++i) {
    for (int k = matrix.rowBegin[i]; k < matrix.rowBegin[i + 1]; ++k) {
      for (int rc = 0; rc < 9; ++rc)
        entries.emplace_back(3 * i + rc / 3, 3 * matrix.column[k] + rc % 3, matrix.block(k)[rc]);
    }
  }
  Eigen::SparseMatrix<double> out(3 * matrix.numRows(), 3 * matrix.numRows());
  out.setFromTriplets(entries.begin(), entries.end());
  return out;
}

std::vector<Vec3> solved(const SoftAssembly& assembly) {
  const Eigen::SimplicialLDLT<Eigen::SparseMatrix<double>> solver(sparseOf(assembly.matrix));
  EXPECT_EQ(solver.info(), Eigen::Success);
  Eigen::VectorXd b(3 * assembly.momentum.size());
  for (std::size_t d = 0; d < 3 * assembly.momentum.size(); ++d)
    b[d] = assembly.momentum[d / 3][static_cast<int>(d % 3)];
  const Eigen::VectorXd v = solver.solve(b);
  std::vector<Vec3> out(assembly.momentum.size());
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = {v[3 * i], v[3 * i + 1], v[3 * i + 2]};
  return out;
}

// --- mesh ---------------------------------------------------------------------------------------

TEST(SoftMesh, HasTheMassOfItsVolumeAndTheShapeOfItsPose) {
  const Transform pose{Random(1).rotation(), {1e6, -2e6, 3e6}};
  const TetMesh box = irregularBox({{2, 1, 0.5}, {2, 2, 2}});
  const SoftMesh mesh = model::makeSoftMesh(box, pose, 700, {.model = ElasticModel::Linear});
  Real mass = 0, volume = 0;
  for (const Real m : mesh.mass) mass += m;
  for (const Real v : mesh.restVolume) volume += v;
  EXPECT_NEAR(mass, 700, 1e-9);
  EXPECT_NEAR(volume, 1, 1e-13);
  // Coordinates of 1e6 m are known to 2e-10 m, over edges of 0.25 m.
  const SoftAssembly assembly = assembled(mesh, mesh.rest);
  EXPECT_LT(largest(assembly.force), 1e-8 * mesh.elasticity.young);
}

TEST(SoftMesh, RefusesMaterialsThatAreNone) {
  const TetMesh box = irregularBox({{1, 1, 1}, {1, 1, 1}});
  const auto make = [&](Real density, const Elasticity& elasticity) {
    return model::makeSoftMesh(box, {}, density, elasticity);
  };
  EXPECT_THROW((void)make(0, {}), InvalidInput);
  EXPECT_THROW((void)make(std::nan(""), {}), InvalidInput);
  EXPECT_THROW((void)make(1, {.young = 0}), InvalidInput);
  EXPECT_THROW((void)make(1, {.young = kUnlimited}), InvalidInput);
  EXPECT_THROW((void)make(1, {.poisson = 0.5}), InvalidInput);
  EXPECT_THROW((void)make(1, {.poisson = -0.1}), InvalidInput);
  EXPECT_THROW((void)make(1, {.damping = -1}), InvalidInput);
  EXPECT_THROW((void)make(1, {.massDamping = std::nan("")}), InvalidInput);
}

TEST(SoftMesh, KnowsWhereEachBlockComesFrom) {
  const SoftMesh mesh = softBox(ElasticModel::Corotated);
  std::size_t total = 0;
  for (int i = 0; i < mesh.numVertices; ++i) {
    for (int k = mesh.pattern.rowBegin[i]; k < mesh.pattern.rowBegin[i + 1]; ++k) {
      const int j = mesh.pattern.column[k];
      EXPECT_EQ(mesh.mirror[k], mesh.pattern.find(j, i));
      for (int n = mesh.gatherBegin[k]; n < mesh.gatherBegin[k + 1]; ++n, ++total) {
        const int entry = mesh.gather[n];
        EXPECT_EQ(mesh.tets[entry / 16][entry / 4 % 4], i);
        EXPECT_EQ(mesh.tets[entry / 16][entry % 4], j);
        EXPECT_EQ(mesh.blockOf[entry / 16][entry % 16], k);
      }
    }
  }
  EXPECT_EQ(total, 10 * mesh.tets.size());
}

// --- forces -------------------------------------------------------------------------------------

TEST(FemForces, VanishWhenTheBodyMovesRigidly) {
  Random random(2);
  for (const ElasticModel law : kTurningLaws) {
    const SoftMesh mesh = softBox(law);
    const Mat3 turn = random.rotation();
    std::vector<Vec3> x = mesh.rest;
    for (Vec3& p : x) p = turn * p + Vec3{3, -4, 5};
    const SoftAssembly assembly = assembled(mesh, x);
    EXPECT_LT(largest(assembly.force), 1e-13 * kYoung);
    EXPECT_NEAR(assembly.energy, 0, 1e-15 * kYoung);
    EXPECT_EQ(assembly.numInverted, 0);
  }
}

TEST(FemForces, HaveNeitherSumNorTorque) {
  for (const ElasticModel law : kAllLaws) {
    const SoftMesh mesh = softBox(law);
    for (const Real size : {0.01, 0.1, 0.5}) {  // the last turns many tetrahedra inside out
      const std::vector<Vec3> x = shaken(mesh, size, 3);
      const SoftAssembly assembly = assembled(mesh, x);
      Vec3 sum{}, torque{};
      for (int i = 0; i < mesh.numVertices; ++i) {
        sum += assembly.force[i];
        torque += cross(x[i], assembly.force[i]);
      }
      const Real scale = largest(assembly.force) * mesh.numVertices;
      EXPECT_LT(norm(sum), 1e-15 * scale);
      if (law != ElasticModel::Linear) {
        EXPECT_LT(norm(torque), 1e-15 * scale);
      }
    }
  }
}

TEST(FemForces, AreTheDerivativeOfTheEnergy) {
  std::vector<Real> partials;
  for (const ElasticModel law : kAllLaws) {
    const SoftMesh mesh = softBox(law);
    const std::vector<Vec3> x = shaken(mesh, 0.05, 4);
    const SoftAssembly assembly = assembled(mesh, x);
    for (int vertex = 0; vertex < mesh.numVertices; vertex += 7) {
      for (int axis = 0; axis < 3; ++axis) {
        const auto energyAt = [&](Real step) {
          std::vector<Vec3> moved = x;
          moved[vertex][axis] += step;
          return dynamics::elasticEnergy(mesh, moved.data(), nullptr, &partials);
        };
        const Real h = 1e-3;
        const Real slope =
            (energyAt(-2 * h) - energyAt(2 * h) + 8 * (energyAt(h) - energyAt(-h))) / (12 * h);
        EXPECT_NEAR(assembly.force[vertex][axis], -slope, 1e-6 * largest(assembly.force));
      }
    }
  }
}

TEST(FemForces, AloneAreThoseOfTheAssembly) {
  for (const ElasticModel law : kAllLaws) {
    const SoftMesh mesh = softBox(law);
    const std::vector<Vec3> x = shaken(mesh, 0.2, 5);
    const SoftAssembly assembly = assembled(mesh, x);
    SoftAssembly scratch = dynamics::makeSoftAssembly(mesh);
    std::vector<Vec3> force(x.size());
    std::vector<Real> partials;
    dynamics::elasticForce(mesh, x.data(), nullptr, &scratch, force.data());
    EXPECT_EQ(force, assembly.force);
    EXPECT_EQ(dynamics::elasticEnergy(mesh, x.data(), nullptr, &partials), assembly.energy);
    // With what the energy leaves for it, an assembly is the same to the bit; for others nothing is
    // left.
    for (const std::uint64_t seed : {33u, 34u}) {
      const std::vector<Vec3> at = shaken(mesh, 0.1, seed);
      const SoftAssembly fresh = assembled(mesh, at);
      SoftAssembly used = dynamics::makeSoftAssembly(mesh);
      const std::vector<Vec3> first = seed == 33u ? at : shaken(mesh, 0.1, 35);
      const Real energy = dynamics::elasticEnergy(mesh, first.data(), nullptr, &used);
      EXPECT_EQ(energy == fresh.energy, seed == 33u);
      dynamics::assembleSoft(mesh, at.data(), std::vector<Vec3>(at.size()).data(), 0.01, {},
                             nullptr, nullptr, &used);
      EXPECT_EQ(used.energy, fresh.energy);
      EXPECT_EQ(used.force, fresh.force);
      EXPECT_EQ(used.matrix.values, fresh.matrix.values);
    }
    EXPECT_EQ(dynamics::countInvertedTets(mesh, x.data()), assembly.numInverted);
    EXPECT_GT(assembly.numInverted, 0);
  }
}

// --- stiffness ----------------------------------------------------------------------------------

/// K d - (f(x - h d) - f(x + h d)) / 2h, over K d.
Real stiffnessError(const SoftMesh& mesh, const std::vector<Vec3>& x, Real h) {
  SoftAssembly assembly = assembled(mesh, x);
  Random random(6);
  std::vector<Vec3> direction(x.size()), forward = x, back = x, product(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    direction[i] = random.vec3(1);
    forward[i] += direction[i] * h;
    back[i] -= direction[i] * h;
  }
  assembly.matrix.values = assembly.stiffness;
  assembly.matrix.multiply(&direction[0].x, &product[0].x);
  const std::vector<Vec3> ahead = assembled(mesh, forward).force;
  const std::vector<Vec3> behind = assembled(mesh, back).force;
  std::vector<Vec3> error(x.size());
  for (std::size_t i = 0; i < x.size(); ++i)
    error[i] = product[i] + (ahead[i] - behind[i]) * (0.5 / h);
  return largest(error) / largest(product);
}

TEST(FemStiffness, IsTheDerivativeOfTheForceWhereNothingIsProjected) {
  const SoftMesh linear = softBox(ElasticModel::Linear);
  EXPECT_LT(stiffnessError(linear, shaken(linear, 0.3, 7), 0.1), 1e-13);
  for (const ElasticModel law : {ElasticModel::NeoHookean, ElasticModel::StVenantKirchhoff}) {
    const SoftMesh mesh = softBox(law);
    std::vector<Vec3> x = shaken(mesh, 0.002, 8);
    for (Vec3& p : x) p *= 1.08;  // under tension every tangent is positive definite
    EXPECT_LT(stiffnessError(mesh, x, 1e-5), 1e-7);
  }
  const SoftMesh corotated = softBox(ElasticModel::Corotated);
  std::vector<Vec3> turned = corotated.rest;
  const Mat3 turn = Random(9).rotation();
  for (Vec3& p : turned) p = turn * p;
  EXPECT_LT(stiffnessError(corotated, turned, 1e-5), 1e-7);
  // Drawn out along all axes: tension against turning is part of it.
  turned = shaken(corotated, 0.002, 8);
  for (Vec3& p : turned) p = turn * p * 1.3;
  EXPECT_LT(stiffnessError(corotated, turned, 1e-5), 1e-7);
}

TEST(FemStiffness, IsSymmetricToTheBitAndLeavesShiftsAlone) {
  for (const ElasticModel law : kAllLaws) {
    const SoftMesh mesh = softBox(law);
    SoftAssembly assembly = assembled(mesh, shaken(mesh, 0.2, 10));
    const math::BlockCsr& A = assembly.matrix;
    for (int k = 0; k < A.numBlocks(); ++k) {
      for (int r = 0; r < 3; ++r) {
        for (int c = 0; c < 3; ++c)
          ASSERT_EQ(A.block(k)[3 * r + c], A.block(mesh.mirror[k])[3 * c + r]);
      }
    }
    assembly.matrix.values = assembly.stiffness;
    std::vector<Vec3> shift(mesh.rest.size(), Vec3{1, 2, -3}), product(shift.size());
    assembly.matrix.multiply(&shift[0].x, &product[0].x);
    EXPECT_LT(largest(product), 1e-12 * kYoung);
  }
}

TEST(FemStiffness, GivesAPositiveDefiniteMatrixWhateverTheShape) {
  for (const ElasticModel law : kAllLaws) {
    for (const Real poisson : {0.0, 0.3, 0.49}) {
      const SoftMesh mesh = softBox(law, 2, poisson);
      for (const Real size : {0.0, 0.1, 0.5, 2.0}) {
        std::vector<Vec3> x = shaken(mesh, size, 11);
        if (size == 2.0) {
          for (Vec3& p : x) p.z = 0;  // flat
        }
        const Eigen::SimplicialLDLT<Eigen::SparseMatrix<double>> solver(
            sparseOf(assembled(mesh, x).matrix));
        ASSERT_EQ(solver.info(), Eigen::Success);
        EXPECT_GT(solver.vectorD().minCoeff(), 0);
      }
    }
  }
}

// --- system -------------------------------------------------------------------------------------

TEST(FemSystem, IsThatOfTheLinearlyImplicitStep) {
  const Real dt = 0.02, alpha = 0.7, beta = 0.03;
  const Vec3 gravity{0.1, 0.2, -9.81};
  for (const ElasticModel law : kAllLaws) {
    const SoftMesh mesh =
        model::makeSoftMesh(irregularBox({{1, 1, 1}, {2, 2, 2}}), {}, 500,
                            {.model = law, .young = kYoung, .damping = beta, .massDamping = alpha});
    const std::vector<Vec3> x = shaken(mesh, 0.05, 12), load = shaken(mesh, 3, 13);
    std::vector<Vec3> v = shaken(mesh, 1, 14);
    SoftAssembly assembly = dynamics::makeSoftAssembly(mesh);
    dynamics::assembleSoft(mesh, x.data(), v.data(), dt, gravity, load.data(), nullptr, &assembly);
    const std::vector<Vec3> next = solved(assembly);
    math::BlockCsr K = assembly.matrix;
    K.values = assembly.stiffness;
    std::vector<Vec3> stiff(next.size());
    K.multiply(&next[0].x, &stiff[0].x);
    for (int i = 0; i < mesh.numVertices; ++i) {
      const Real m = mesh.mass[i];
      const Vec3 damping = -(next[i] * (alpha * m) + stiff[i] * beta);
      const Vec3 force = load[i] + gravity * m + assembly.force[i] - stiff[i] * dt + damping;
      EXPECT_LT(norm((next[i] - v[i]) * m - force * dt), 1e-10 * m * (1 + norm(v[i])));
    }
  }
}

TEST(FemSystem, DampsAShiftByItsMassAlone) {
  const SoftMesh mesh = model::makeSoftMesh(irregularBox({{1, 1, 1}, {2, 2, 2}}), {}, 500,
                                            {.young = kYoung, .damping = 0.1, .massDamping = 2});
  const std::vector<Vec3> v(mesh.rest.size(), Vec3{1, -2, 3});
  SoftAssembly assembly = dynamics::makeSoftAssembly(mesh);
  dynamics::assembleSoft(mesh, mesh.rest.data(), v.data(), 0.01, {}, nullptr, nullptr, &assembly);
  for (const Vec3& next : solved(assembly))
    EXPECT_LT(norm(next - Vec3{1, -2, 3} * (1 / 1.02)), 1e-12);
}

TEST(FemSystem, TakesGivenVelocitiesOfVertices) {
  const SoftMesh mesh = softBox(ElasticModel::Corotated);
  const std::vector<Vec3> x = shaken(mesh, 0.05, 15), v = shaken(mesh, 1, 16);
  SoftAssembly whole = dynamics::makeSoftAssembly(mesh);
  dynamics::assembleSoft(mesh, x.data(), v.data(), 0.01, {0, 0, -9.81}, nullptr, nullptr, &whole);
  SoftAssembly held = whole;
  const std::vector<int> vertices{0, 1, 5, 21, 22, 40};
  std::vector<Vec3> velocities;
  for (std::size_t n = 0; n < vertices.size(); ++n)
    velocities.push_back({0.5 * static_cast<Real>(n), -1, 2});
  dynamics::applyVertexConstraints(mesh, vertices, velocities, &held);

  const std::vector<Vec3> next = solved(held);
  std::vector<Vec3> product(next.size());
  whole.matrix.multiply(&next[0].x, &product[0].x);
  std::vector<std::uint8_t> isHeld(next.size(), 0);
  for (std::size_t n = 0; n < vertices.size(); ++n) {
    isHeld[vertices[n]] = 1;
    EXPECT_LT(norm(next[vertices[n]] - velocities[n]), 1e-15 * 4);
  }
  for (std::size_t i = 0; i < next.size(); ++i) {
    if (!isHeld[i]) {
      EXPECT_LT(norm(product[i] - whole.momentum[i]), 1e-10 * largest(whole.momentum));
    }
  }
  for (int k = 0; k < held.matrix.numBlocks(); ++k) {
    for (int r = 0; r < 9; ++r)
      ASSERT_EQ(held.matrix.block(k)[r], held.matrix.block(mesh.mirror[k])[3 * (r % 3) + r / 3]);
  }
}

TEST(FemSystem, HasTheSameBitsForAnyNumberOfThreads) {
  for (const ElasticModel law : kAllLaws) {
    const SoftMesh mesh = softBox(law, 10);
    ASSERT_GT(mesh.numTets(), core::kReduceGrain);  // the energy is summed in parts
    const std::vector<Vec3> x = shaken(mesh, 0.05, 17), v = shaken(mesh, 1, 18);
    SoftAssembly expected = dynamics::makeSoftAssembly(mesh);
    dynamics::assembleSoft(mesh, x.data(), v.data(), 0.01, {0, 0, -9.81}, nullptr, nullptr,
                           &expected);
    dynamics::keepSpin(mesh, x.data(), v.data(), 0.01, nullptr, &expected);
    for (int numThreads = 1; numThreads <= 8; ++numThreads) {
      core::ThreadPool pool(numThreads);
      SoftAssembly found = dynamics::makeSoftAssembly(mesh);
      dynamics::assembleSoft(mesh, x.data(), v.data(), 0.01, {0, 0, -9.81}, nullptr, &pool, &found);
      dynamics::keepSpin(mesh, x.data(), v.data(), 0.01, &pool, &found);
      EXPECT_EQ(found.energy, expected.energy);
      EXPECT_EQ(found.force, expected.force);
      EXPECT_EQ(found.momentum, expected.momentum);
      EXPECT_EQ(found.stiffness, expected.stiffness);
      EXPECT_EQ(found.matrix.values, expected.matrix.values);
      EXPECT_EQ(found.numInverted, expected.numInverted);
      std::vector<Real> partials;
      EXPECT_EQ(dynamics::elasticEnergy(mesh, x.data(), &pool, &partials), expected.energy);
    }
  }
}

TEST(FemSystem, TakesNoMemory) {
  for (const ElasticModel law : kAllLaws) {
    const SoftMesh mesh = softBox(law, 10);
    const std::vector<Vec3> x = shaken(mesh, 0.05, 19), v(x.size());
    SoftAssembly assembly = dynamics::makeSoftAssembly(mesh);
    const std::vector<int> vertices{0, 3};
    const std::vector<Vec3> velocities(2);
    const long before = test::numAllocations;
    dynamics::assembleSoft(mesh, x.data(), v.data(), 0.01, {}, nullptr, nullptr, &assembly);
    dynamics::keepSpin(mesh, x.data(), v.data(), 0.01, nullptr, &assembly);
    dynamics::applyVertexConstraints(mesh, vertices, velocities, &assembly);
    EXPECT_EQ(test::numAllocations - before, 0);
  }
}

// --- spin ---------------------------------------------------------------------------------------

struct Spinning {
  Real angularMomentum = 0, kinetic = 0, elastic = 0;
};

/// A free cube of 0.1 m that starts with 10 rad/s, after `duration`; the elastic energy is the mean
/// over the last tenth.
Spinning spinCube(ElasticModel law, Real damping, Real dt, Real duration) {
  const SoftMesh mesh = model::makeSoftMesh(test::gridMesh({{0.1, 0.1, 0.1}, {2, 2, 2}}), {}, 1000,
                                            {.model = law, .young = kYoung, .damping = damping});
  std::vector<Vec3> x = mesh.rest, v(x.size());
  for (std::size_t i = 0; i < x.size(); ++i)
    v[i] = cross({0, 0, 10}, x[i] - Vec3{0.05, 0.05, 0.05}) + Vec3{1, 2, 3};
  SoftAssembly assembly = dynamics::makeSoftAssembly(mesh);
  const int numSteps = static_cast<int>(duration / dt + 0.5);
  Spinning out;
  for (int step = 0; step < numSteps; ++step) {
    dynamics::assembleSoft(mesh, x.data(), v.data(), dt, {}, nullptr, nullptr, &assembly);
    dynamics::keepSpin(mesh, x.data(), v.data(), dt, nullptr, &assembly);
    v = solved(assembly);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] += v[i] * dt;
    if (step >= numSteps - numSteps / 10) out.elastic += assembly.energy / (numSteps / 10);
  }
  Vec3 center{};
  Real mass = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    center += x[i] * mesh.mass[i];
    mass += mesh.mass[i];
  }
  center *= 1 / mass;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const Vec3 relative = v[i] - Vec3{1, 2, 3};
    out.angularMomentum += mesh.mass[i] * cross(x[i] - center, relative).z;
    out.kinetic += 0.5 * mesh.mass[i] * squaredNorm(relative);
  }
  return out;
}

TEST(KeepSpin, HoldsTheAngularMomentumAndTheShapeOfASpinningBody) {
  for (const ElasticModel law : kTurningLaws) {
    for (const Real damping : {0.0, 0.01}) {
      const Spinning start = spinCube(law, damping, 1e-12, 1e-12);
      const Spinning fine = spinCube(law, damping, 1.0 / 1200, 0.25);
      const Spinning coarse = spinCube(law, damping, 1.0 / 120, 0.25);
      EXPECT_NEAR(coarse.angularMomentum / start.angularMomentum, 1, 1e-4);
      EXPECT_NEAR(fine.angularMomentum / start.angularMomentum, 1, 1e-4);
      EXPECT_NEAR(coarse.kinetic / start.kinetic, 1, 3e-3);  // chords of 0.08 rad
      if (damping > 0) {  // vibrations of the start have died away
        EXPECT_NEAR(coarse.elastic / fine.elastic, 1, 0.02);
      }
    }
  }
}

TEST(KeepSpin, ChangesNothingForABodyThatDoesNotTurn) {
  const SoftMesh mesh = softBox(ElasticModel::NeoHookean);
  const std::vector<Vec3> x = shaken(mesh, 0.05, 22), v(x.size(), Vec3{1, -2, 3});
  SoftAssembly assembly = dynamics::makeSoftAssembly(mesh);
  dynamics::assembleSoft(mesh, x.data(), v.data(), 0.01, {}, nullptr, nullptr, &assembly);
  const std::vector<Vec3> before = assembly.momentum;
  dynamics::keepSpin(mesh, x.data(), v.data(), 0.01, nullptr, &assembly);
  for (std::size_t i = 0; i < before.size(); ++i)
    EXPECT_LT(norm(assembly.momentum[i] - before[i]), 1e-12 * largest(before));
}

// --- patch --------------------------------------------------------------------------------------

TEST(FemPatch, InnerVerticesOfAUniformDeformationAreInEquilibriumUnderOneStress) {
  const BoxGrid grid{{1, 1, 1}, {4, 4, 4}};
  const Mat3 f = transpose(Mat3{{{1.1, 0.05, -0.02}, {0.03, 0.95, 0.04}, {-0.01, 0.02, 1.05}}});
  for (const ElasticModel law : kAllLaws) {
    const TetMesh box = irregularBox(grid);
    const SoftMesh mesh =
        model::makeSoftMesh(box, {}, 1000, {.model = law, .young = kYoung, .poisson = 0.4});
    std::vector<Vec3> x = mesh.rest;
    for (Vec3& p : x) p = f * p;
    const SoftAssembly assembly = assembled(mesh, x);
    for (int i = 0; i < mesh.numVertices; ++i) {
      if (!box.isOnSurface()[i]) {
        EXPECT_LT(norm(assembly.force[i]), 1e-13 * kYoung);
      }
    }
    std::vector<Mat3> stress(mesh.tets.size());
    dynamics::tetStresses(mesh, x.data(), nullptr, stress.data());
    for (const Mat3& s : stress) {
      for (int k = 0; k < 3; ++k) {
        EXPECT_LT(norm(s.col[k] - stress[0].col[k]), 1e-12 * kYoung);
        if (law != ElasticModel::Linear) {
          EXPECT_NEAR(s(k, (k + 1) % 3), s((k + 1) % 3, k), 1e-12 * kYoung);
        }
      }
    }
  }
}

TEST(FemPatch, InnerVerticesReturnToTheUniformDeformation) {
  const BoxGrid grid{{1, 1, 1}, {3, 3, 3}};
  const Mat3 f = transpose(Mat3{{{1.1, 0.05, -0.02}, {0.03, 0.95, 0.04}, {-0.01, 0.02, 1.05}}});
  const TetMesh box = irregularBox(grid);
  for (const ElasticModel law : kAllLaws) {
    const SoftMesh mesh =
        model::makeSoftMesh(box, {}, 1000, {.model = law, .young = kYoung, .poisson = 0.4});
    std::vector<Vec3> x = shaken(mesh, 0.05, 20), v(x.size());
    std::vector<int> outer;
    for (int i = 0; i < mesh.numVertices; ++i) {
      if (!box.isOnSurface()[i]) continue;
      x[i] = f * mesh.rest[i];
      outer.push_back(i);
    }
    const std::vector<Vec3> still(outer.size());
    SoftAssembly assembly = dynamics::makeSoftAssembly(mesh);
    for (int step = 0; step < 60; ++step) {  // long steps: each is one of Newton's
      for (Vec3& u : v) u = {};
      dynamics::assembleSoft(mesh, x.data(), v.data(), 1e3, {}, nullptr, nullptr, &assembly);
      dynamics::applyVertexConstraints(mesh, outer, still, &assembly);
      v = solved(assembly);
      for (std::size_t i = 0; i < x.size(); ++i) x[i] += v[i] * 1e3;
    }
    for (int i = 0; i < mesh.numVertices; ++i) EXPECT_LT(norm(x[i] - f * mesh.rest[i]), 1e-12);
  }
}

// --- one tetrahedron, inside out ----------------------------------------------------------------

SoftMesh oneTet(ElasticModel law) {
  const TetMesh tet({{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {{0, 1, 2, 3}});
  return model::makeSoftMesh(tet, {}, 1000,
                             {.model = law, .young = 1e4, .damping = 0.3, .massDamping = 4});
}

TEST(OneTet, HasTheForcesOfItsUniformStress) {
  const SoftMesh mesh = oneTet(ElasticModel::Linear);
  std::vector<Vec3> x = mesh.rest;
  x[3].z = 1.01;
  const SoftAssembly assembly = assembled(mesh, x);
  const Real mu = 1e4 / 2.6, lambda = 1e4 * 0.3 / (1.3 * 0.4);
  EXPECT_NEAR(assembly.force[3].z, -(2 * mu + lambda) * 0.01 / 6, 1e-12 * 1e4);
  EXPECT_NEAR(assembly.force[1].x, -lambda * 0.01 / 6, 1e-12 * 1e4);
  EXPECT_NEAR(assembly.energy, (2 * mu + lambda) * 1e-4 / 12, 1e-14 * 1e4);
  EXPECT_NEAR(mesh.mass[0], 1000.0 / 24, 1e-12);
}

/// Implicit steps of 1/100 s; true when the body is back in its rest shape.
bool recovers(const SoftMesh& mesh, std::vector<Vec3> x, int numSteps) {
  SoftAssembly assembly = dynamics::makeSoftAssembly(mesh);
  std::vector<Vec3> v(x.size());
  Real start = 0;
  for (int step = 0; step < numSteps; ++step) {
    dynamics::assembleSoft(mesh, x.data(), v.data(), 0.01, {}, nullptr, nullptr, &assembly);
    if (step == 0) {
      start = assembly.energy;
      EXPECT_GT(assembly.numInverted, 0);
    }
    v = solved(assembly);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] += v[i] * 0.01;
  }
  std::vector<Real> partials;
  return dynamics::countInvertedTets(mesh, x.data()) == 0 &&
         dynamics::elasticEnergy(mesh, x.data(), nullptr, &partials) < 1e-9 * start;
}

TEST(InvertedTets, ReturnUnderImplicitSteps) {
  for (const ElasticModel law : {ElasticModel::Corotated, ElasticModel::NeoHookean}) {
    const SoftMesh mesh = oneTet(law);
    for (const Real height : {-0.1, -0.5, -1.0, -2.0}) {
      std::vector<Vec3> x = mesh.rest;
      x[3] = {0.1, 0.2, height};
      EXPECT_TRUE(recovers(mesh, x, 600)) << static_cast<int>(law) << " " << height;
    }
    std::vector<Vec3> flat = mesh.rest;
    flat[3].z = 0;
    EXPECT_TRUE(recovers(mesh, flat, 600)) << static_cast<int>(law);
    std::vector<Vec3> small = mesh.rest;
    for (Vec3& p : small) p = Vec3{p.x, p.y, -p.z} * 0.2;
    EXPECT_TRUE(recovers(mesh, small, 600)) << static_cast<int>(law);
  }
  // In one point the neo-Hookean law has neither force nor stiffness; the corotated one has.
  std::vector<Vec3> point(4);
  point[1].x = 1e-9;
  EXPECT_TRUE(recovers(oneTet(ElasticModel::Corotated), point, 600));
}

TEST(InvertedTets, ReturnInsideABody) {
  for (const ElasticModel law : {ElasticModel::Corotated, ElasticModel::NeoHookean}) {
    const BoxGrid grid{{1, 1, 1}, {2, 2, 2}};
    const SoftMesh mesh =
        model::makeSoftMesh(test::gridMesh(grid), {}, 1000,
                            {.model = law, .young = 1e4, .damping = 0.3, .massDamping = 4});
    std::vector<Vec3> x = mesh.rest;
    x[grid.vertexAt(1, 1, 1)] = {1.2, 0.3, 0.8};  // out of its neighbours
    EXPECT_TRUE(recovers(mesh, x, 600)) << static_cast<int>(law);
  }
}

}  // namespace
}  // namespace tangere
