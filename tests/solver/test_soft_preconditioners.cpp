// SPDX-License-Identifier: Apache-2.0
//
// The preconditioners of soft bodies, each on its own: incomplete and complete factorizations, the
// second level, and the steps of conjugate gradients that each leaves.
#include "solver/incomplete_cholesky.hpp"
#include "solver/pcg.hpp"
#include "solver/small_dense.hpp"
#include "solver/soft_factor.hpp"
#include "solver/soft_matrix.hpp"
#include "solver/two_level.hpp"
#include "solver/vertex_parts.hpp"

#include "solver/soft_scenes.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace tangere::solver {
namespace {

using test::SoftMesh;
using test::uniform;

std::vector<Real> randomNumbers(std::mt19937_64* random, int size) {
  std::vector<Real> x(static_cast<std::size_t>(size));
  for (Real& e : x) e = uniform(random, -1, 1);
  return x;
}

/// |A z - r| / |r|.
Real residualOf(const math::BlockCsr& a, const std::vector<Real>& z, const std::vector<Real>& r) {
  std::vector<Real> product(r.size());
  a.multiply(z.data(), product.data());
  Real error = 0, size = 0;
  for (std::size_t k = 0; k < r.size(); ++k) {
    error += (product[k] - r[k]) * (product[k] - r[k]);
    size += r[k] * r[k];
  }
  return std::sqrt(error / size);
}

std::vector<Real> stiffnessOf(const math::BlockCsr& a) {
  std::vector<Real> out;
  for (int i = 0; i < a.numRows(); ++i) {
    const Real* const block = a.block(a.diagonal[i]);
    out.push_back((block[0] + block[4] + block[8]) / 3);
  }
  return out;
}

SoftMesh elasticBall(int n, Real poisson) {
  SoftMesh mesh = test::ballMesh(n, 0.03);
  mesh.addElasticity({.young = 1e5, .poisson = poisson});
  return mesh;
}

/// A with contacts that stick at every second tetrahedron of one side.
math::BlockCsr withContacts(const SoftMesh& mesh, const math::BlockCsr& a, Real strength,
                            std::vector<std::uint8_t>* isTouched) {
  std::mt19937_64 random(4);
  std::vector<VertexGroup> groups;
  std::vector<std::int32_t> vertices;
  for (std::size_t t = 0; t < mesh.tets.size(); t += 2) {
    if (mesh.vertices[mesh.tets[t][0]].x < 0.02) continue;
    groups.push_back({.first = static_cast<std::int32_t>(vertices.size()), .count = 4});
    vertices.insert(vertices.end(), mesh.tets[t].begin(), mesh.tets[t].end());
  }
  SoftMatrix matrix;
  const math::BlockCsr* const body = &a;
  matrix.setPattern({&body, 1}, groups, vertices);
  matrix.setA();
  const std::vector<Real> stiffness = stiffnessOf(a);
  for (const VertexGroup& group : groups) {
    Vec3 frame[3];
    test::makeFrame({1, 0, 0}, frame);
    Real weights[4], jacobian[36], product[36];
    for (Real& w : weights) w = uniform(&random, 0.05, 0.6);
    test::writeSoftRows(frame, weights, 1, jacobian);
    for (int k = 0; k < 36; ++k) {
      product[k] = jacobian[k] * strength * stiffness[vertices[group.first]];
    }
    matrix.add(group, 3, jacobian, product);
  }
  isTouched->assign(static_cast<std::size_t>(mesh.numVertices()), 0);
  for (const std::int32_t i : vertices) (*isTouched)[i] = 1;
  return matrix.matrix();
}

TEST(VertexParts, AreOfAboutEqualSizeAndHoldEveryVertexOnce) {
  const SoftMesh mesh = test::gridMesh(7, 5, 3, 0.1);
  VertexParts parts;
  parts.add(mesh.vertices, 10);
  parts.add(std::span(mesh.vertices).first(25), 10);
  parts.addConsecutive(13, 5);
  const int total = mesh.numVertices() + 25 + 13;
  std::vector<int> count(static_cast<std::size_t>(total));
  for (int part = 0; part < parts.numParts(); ++part) {
    EXPECT_GE(parts.vertices(part).size(), 3u);
    EXPECT_LE(parts.vertices(part).size(), 10u);
    for (const std::int32_t i : parts.vertices(part)) {
      EXPECT_EQ(parts.partOf(i), part);
      ++count[i];
    }
  }
  for (const int c : count) EXPECT_EQ(c, 1);
}

TEST(IncompleteCholesky, IsExactWhereEveryRowIsComplete) {
  std::mt19937_64 random(1);
  const SoftMesh mesh = elasticBall(4, 0.4);
  const math::BlockCsr a = mesh.matrix(1.0 / 60);
  const std::vector<std::uint8_t> all(static_cast<std::size_t>(a.numRows()), 1);
  IncompleteCholesky factor;
  factor.setPattern(a, all);
  ASSERT_TRUE(factor.factor(a));
  EXPECT_EQ(factor.shift(), 0);
  const std::vector<Real> r = randomNumbers(&random, 3 * a.numRows());
  std::vector<Real> z(r.size());
  factor.solve(r.data(), z.data());
  EXPECT_LT(residualOf(a, z, r), 1e-11);
  std::vector<Real> inPlace = r;
  factor.solve(inPlace.data(), inPlace.data());
  EXPECT_EQ(inPlace, z);
}

TEST(IncompleteCholesky, IsSymmetricAndPositiveForAnyMaterial) {
  std::mt19937_64 random(2);
  for (const Real poisson : {0.0, 0.3, 0.45, 0.49, 0.499}) {
    const SoftMesh mesh = elasticBall(6, poisson);
    for (const Real strength : {0.0, 1.0, 1e3, 1e6}) {
      const math::BlockCsr a = mesh.matrix(1.0 / 60);
      std::vector<std::uint8_t> isTouched;
      const math::BlockCsr s = withContacts(mesh, a, strength, &isTouched);
      IncompleteCholesky factor;
      factor.setPattern(s, isTouched);
      ASSERT_TRUE(factor.factor(s, stiffnessOf(a).data()));
      const int size = 3 * s.numRows();
      const std::vector<Real> x = randomNumbers(&random, size), y = randomNumbers(&random, size);
      std::vector<Real> px(x.size()), py(y.size());
      factor.solve(x.data(), px.data());
      factor.solve(y.data(), py.data());
      const Real xx = dotLong(x.data(), px.data(), size), yy = dotLong(y.data(), py.data(), size);
      EXPECT_GT(xx, 0);
      EXPECT_GT(yy, 0);
      EXPECT_NEAR(dotLong(x.data(), py.data(), size), dotLong(y.data(), px.data(), size),
                  1e-9 * std::sqrt(xx * yy));
    }
  }
}

TEST(IncompleteCholesky, DoesNotFillABodyThatIsTouchedEverywhere) {
  SoftMesh mesh = test::gridMesh(14, 14, 14, 0.01);
  mesh.addElasticity({.young = 1e5, .poisson = 0.3});
  const math::BlockCsr a = mesh.matrix(1.0 / 60);
  const std::vector<std::uint8_t> all(static_cast<std::size_t>(a.numRows()), 1);
  IncompleteCholesky factor;
  factor.setPattern(a, all);
  EXPECT_LT(factor.numBlocks(), 6 * a.numBlocks());
  ASSERT_TRUE(factor.factor(a));
  std::mt19937_64 random(6);
  const std::vector<Real> r = randomNumbers(&random, 3 * a.numRows());
  std::vector<Real> z(r.size());
  factor.solve(r.data(), z.data());
  EXPECT_GT(dotLong(r.data(), z.data(), 3 * a.numRows()), 0);
}

TEST(IncompleteCholesky, SolvesForFourVectorsAsForEachOfThem) {
  const SoftMesh mesh = elasticBall(5, 0.4);
  const math::BlockCsr a = mesh.matrix(1.0 / 60);
  IncompleteCholesky factor;
  factor.setPattern(a);
  ASSERT_TRUE(factor.factor(a));
  std::mt19937_64 random(7);
  const int size = 3 * a.numRows();
  const std::vector<Real> r = randomNumbers(&random, 4 * size);
  std::vector<Real> z(r.size()), one(static_cast<std::size_t>(size));
  factor.solveFour(r.data(), z.data());
  for (int c = 0; c < 4; ++c) {
    for (int k = 0; k < size; ++k) one[k] = r[4 * k + c];
    factor.solve(one.data(), one.data());
    for (int k = 0; k < size; ++k) ASSERT_EQ(z[4 * k + c], one[k]);
  }
}

TEST(IncompleteCholesky, RefusesADiagonalThatIsNotPositive) {
  const SoftMesh mesh = elasticBall(3, 0.3);
  math::BlockCsr a = mesh.matrix(1.0 / 60);
  a.block(a.diagonal[5])[4] = -1;
  IncompleteCholesky factor;
  factor.setPattern(a);
  EXPECT_FALSE(factor.factor(a));
}

TEST(TwoLevel, GivesBackRigidMotionsOfThePieces) {
  // With r = S P y the second level alone answers P y; a motion of the whole body is one.
  const SoftMesh mesh = elasticBall(6, 0.3);
  const math::BlockCsr s = mesh.matrix(1.0 / 60);
  TwoLevel level;
  const std::int32_t size = mesh.numVertices();
  level.setPattern(s, {&size, 1}, mesh.vertices);
  EXPECT_GT(level.numPieces(), 5);
  level.factor(s, stiffnessOf(s).data(), nullptr);
  std::mt19937_64 random(4);
  const Vec3 velocity = test::randomVector(&random, 1), turn = test::randomVector(&random, 30);
  std::vector<Real> motion, force(static_cast<std::size_t>(3 * size)), answer(force.size());
  for (const Vec3& p : mesh.vertices) {
    const Vec3 v = velocity + cross(turn, p);
    motion.insert(motion.end(), {v.x, v.y, v.z});
  }
  s.multiply(motion.data(), force.data());
  level.addSolution(force.data(), answer.data());
  for (std::size_t k = 0; k < motion.size(); ++k) EXPECT_NEAR(answer[k], motion[k], 1e-4);
}

TEST(TwoLevel, StandsPiecesWithoutExtentAndHeldOnes) {
  // All vertices in one place, and all of them held by contacts.
  SoftMesh mesh = elasticBall(4, 0.3);
  const math::BlockCsr a = mesh.matrix(1.0 / 60);
  const std::int32_t size = mesh.numVertices();
  std::mt19937_64 random(5);
  const std::vector<Real> r = randomNumbers(&random, 3 * size);
  std::vector<Vec3> same(mesh.vertices.size(), Vec3{1, 2, 3});
  TwoLevel level;
  level.setPattern(a, {&size, 1}, same);
  level.factor(a, stiffnessOf(a).data(), nullptr);
  std::vector<Real> z(r.size());
  level.addSolution(r.data(), z.data());
  EXPECT_GE(dotLong(r.data(), z.data(), 3 * size), 0);
  for (const Real x : z) ASSERT_TRUE(std::isfinite(x));

  std::vector<Real> soft = stiffnessOf(a);
  for (Real& x : soft) x *= 1e-3;
  level.setPattern(a, {&size, 1}, mesh.vertices);
  level.factor(a, soft.data(), nullptr);
  std::fill(z.begin(), z.end(), Real(0));
  level.addSolution(r.data(), z.data());
  for (const Real x : z) ASSERT_EQ(x, 0);
}

/// What solvePcg wants to know of a matrix and its preconditioner.
struct SoftSystem {
  const math::BlockCsr* s = nullptr;
  SoftFactor* factor = nullptr;
  void multiply(const Real* x, Real* y) const { s->multiply(x, y); }
  void precondition(const Real* r, Real* z) const { factor->solve(r, z); }
  [[nodiscard]] Real dot(const Real* x, const Real* y) const {
    return dotLong(x, y, 3 * s->numRows());
  }
};

int numSteps(SoftPreconditioner kind, const SoftMesh& mesh, const math::BlockCsr& a,
             const math::BlockCsr& s, const std::vector<std::uint8_t>& isTouched) {
  const std::int32_t size = s.numRows();
  SoftFactor factor;
  factor.setPattern(
      kind,
      {.pattern = &s, .bodySizes = {&size, 1}, .positions = mesh.vertices, .isTouched = isTouched});
  EXPECT_TRUE(factor.factor(s, stiffnessOf(a).data(), nullptr));
  // Weight, and a push from one side.
  std::vector<Real> b(static_cast<std::size_t>(3 * size)), x(b.size());
  for (int i = 0; i < size; ++i) {
    b[3 * i + 2] = -9.81 / 60 * mesh.mass[i];
    if (mesh.vertices[i].x < 1e-9) b[3 * i] = mesh.mass[i];
  }
  SoftSystem system{.s = &s, .factor = &factor};
  PcgScratch scratch;
  const PcgReport report = solvePcg({.maxIterations = 3000, .tolerance = 1e-6}, &system, 3 * size,
                                    b.data(), x.data(), &scratch);
  EXPECT_TRUE(report.converged);
  EXPECT_LT(residualOf(s, x, b), 1e-3);
  return report.iterations;
}

TEST(TwoLevel, HalvesTheStepsOnTenThousandVerticesAtLeast) {
  struct Case {
    const char* name;
    Real young, dt;
  };
  for (const Case& own :
       {Case{"E 1e5, dt 1/120", 1e5, 1.0 / 120}, Case{"E 1e5, dt 1/60", 1e5, 1.0 / 60},
        Case{"E 1e7, dt 1/120", 1e7, 1.0 / 120}, Case{"E 1e7, dt 1/60", 1e7, 1.0 / 60}}) {
    SoftMesh mesh = test::gridMesh(20, 20, 22, 0.01);
    ASSERT_GE(mesh.numVertices(), 10000);
    mesh.addElasticity({.young = own.young, .poisson = 0.3});
    const math::BlockCsr a = mesh.matrix(own.dt);
    const std::vector<std::uint8_t> none(static_cast<std::size_t>(a.numRows()), 0);
    const int jacobi = numSteps(SoftPreconditioner::BlockJacobi, mesh, a, a, none);
    const int incomplete = numSteps(SoftPreconditioner::IncompleteCholesky, mesh, a, a, none);
    const int two = numSteps(SoftPreconditioner::TwoLevel, mesh, a, a, none);
    std::printf("%s: block Jacobi %d, incomplete Cholesky %d, two levels %d\n", own.name, jacobi,
                incomplete, two);
    EXPECT_LE(2 * two, incomplete) << own.name;
    EXPECT_LT(incomplete, jacobi) << own.name;
  }
}

TEST(TwoLevel, NeedsNoMoreStepsWhereContactsStick) {
  const SoftMesh mesh = elasticBall(9, 0.45);
  const math::BlockCsr a = mesh.matrix(1.0 / 120);
  std::vector<std::uint8_t> isTouched;
  const math::BlockCsr weak = withContacts(mesh, a, 1, &isTouched);
  const math::BlockCsr strong = withContacts(mesh, a, 1e3, &isTouched);
  const int few = numSteps(SoftPreconditioner::TwoLevel, mesh, a, weak, isTouched);
  const int many = numSteps(SoftPreconditioner::TwoLevel, mesh, a, strong, isTouched);
  const int incomplete =
      numSteps(SoftPreconditioner::IncompleteCholesky, mesh, a, strong, isTouched);
  std::printf("contacts of the stiffness of the body %d, a thousand times that %d (one level %d)\n",
              few, many, incomplete);
  EXPECT_LE(many, few + few / 2);
  EXPECT_LT(many, incomplete);
}

TEST(SoftFactor, IsChosenByTheNumberOfVertices) {
  const auto choose = [](int cells, bool hasPositions) {
    SoftMesh mesh = test::gridMesh(cells, cells, cells, 0.1);
    mesh.addElasticity({});
    const math::BlockCsr a = mesh.matrix(0.01);
    const std::int32_t size = a.numRows();
    SoftFactor factor;
    factor.setPattern(
        SoftPreconditioner::Auto,
        {.pattern = &a,
         .bodySizes = {&size, 1},
         .positions = hasPositions ? std::span<const Vec3>(mesh.vertices) : std::span<const Vec3>(),
         .isTouched = {}});
    return factor.kind();
  };
  EXPECT_EQ(choose(1, true), SoftPreconditioner::IncompleteCholesky);
  EXPECT_EQ(choose(4, true), SoftPreconditioner::IncompleteCholesky);
  EXPECT_EQ(choose(9, true), SoftPreconditioner::TwoLevel);
  EXPECT_EQ(choose(9, false), SoftPreconditioner::IncompleteCholesky);
}

}  // namespace
}  // namespace tangere::solver
