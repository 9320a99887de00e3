// SPDX-License-Identifier: Apache-2.0
//
// Elastic laws: the stress is the derivative of the energy and the tangent that of the stress, for
// collapsed and inverted deformations too; laws know no direction; projected tangents are the
// nearest positive semidefinite ones. Published numbers for one deformation.
#include "dynamics/kernels/corotated_tet.hpp"
#include "dynamics/kernels/linear_tet.hpp"
#include "dynamics/kernels/neo_hookean_tet.hpp"
#include "dynamics/kernels/st_venant_kirchhoff_tet.hpp"
#include "dynamics/random_tree.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace tangere {
namespace {

using Lame = kernel::LameT<Real>;
using Tangent = kernel::PrincipalTangent<Real>;

constexpr Lame kSoft{3.5e4, 1.4e5};
constexpr Lame kCork{5e4, 0};  // a Poisson ratio of zero

Mat3 diagonal(const Vec3& d) { return {{{d.x, 0, 0}, {0, d.y, 0}, {0, 0, d.z}}}; }

Mat3 difference(const Mat3& a, const Mat3& b) { return kernel::combined(a, 1.0, b, -1.0); }

Real largestEntry(const Mat3& m) {
  Real largest = 0;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) largest = std::max(largest, std::fabs(m(i, j)));
  }
  return largest;
}

Real distanceToRotation(const Mat3& r) {
  return std::max(largestEntry(difference(transposeTimes(r, r), Mat3::identity())),
                  std::fabs(math::determinant(r) - 1));
}

/// U diag(sigma) V^T with random U and V.
Mat3 withStretches(test::Random* random, const Vec3& sigma) {
  const Mat3 u = random->rotation(), v = random->rotation();
  return math::timesTranspose(u * diagonal(sigma), v);
}

/// Deformations of every kind, those no mesh should have included.
std::vector<Mat3> deformations(std::uint64_t seed) {
  test::Random random(seed);
  std::vector<Mat3> out{Mat3::identity(), diagonal({1, 1, 0}), diagonal({1, 1, -1}),
                        diagonal({2, 0.5, 1})};
  for (const Vec3& sigma :
       {Vec3{1.2, 1, 0.8}, Vec3{1.001, 1, 0.999}, Vec3{1, 1, 1}, Vec3{3, 1, 0.3}, Vec3{2, 2, 0.1},
        Vec3{1, 0.5, 1e-3}, Vec3{1, 0.5, 1e-9}, Vec3{1, 0.6, 0}, Vec3{1, 1, -0.2},
        Vec3{1.5, 0.9, -0.5}, Vec3{0.5, 0.4, 0.3}, Vec3{0.1, 0.1, 0.1}, Vec3{4, 3, 2}}) {
    for (int k = 0; k < 5; ++k) out.push_back(withStretches(&random, sigma));
  }
  return out;
}

// --- rotations and singular values --------------------------------------------------------------

void expectFactors(const Mat3& f, Real scale) {
  const math::SignedSvd<Real> svd = math::signedSvd(f);
  EXPECT_LT(distanceToRotation(svd.u), 4e-15);
  EXPECT_LT(distanceToRotation(svd.v), 4e-15);
  EXPECT_GE(svd.sigma.x * (1 + 1e-15), svd.sigma.y);
  EXPECT_GE(svd.sigma.y * (1 + 1e-15), std::fabs(svd.sigma.z));
  const Mat3 product = math::timesTranspose(svd.u * diagonal(svd.sigma), svd.v);
  EXPECT_LE(largestEntry(difference(product, f)), 4e-15 * scale);
}

TEST(SignedSvd, GivesBackTheMatrixForEveryRankSignAndSize) {
  for (const Mat3& f : deformations(1)) expectFactors(f, std::max(1.0, largestEntry(f)));
  test::Random random(2);
  for (const Real size : {1e-150, 1e-8, 1e6, 1e150}) {
    const Mat3 f = withStretches(&random, {size, 0.5 * size, -0.1 * size});
    expectFactors(f, size);
  }
  for (const Vec3& sigma : {Vec3{1, 0, 0}, Vec3{1, 1e-12, 1e-13}, Vec3{1, 1e-200, 0}})
    expectFactors(withStretches(&random, sigma), 1);
  expectFactors(Mat3{}, 1);
  expectFactors(Mat3{{{1, 2, 3}, {2, 4, 6}, {-1, -2, -3}}}, 6);
}

TEST(SignedSvd, KeepsTheDigitsOfSmallValuesAndTheSignOfTheDeterminant) {
  test::Random random(3);
  for (int n = 0; n < 200; ++n) {
    // Columns of very different length: each value is known to its own digits.
    const Mat3 f = random.rotation() * diagonal({1, 1e-5, n % 2 == 0 ? 1e-10 : -1e-10});
    const math::SignedSvd<Real> svd = math::signedSvd(f);
    EXPECT_NEAR(svd.sigma.x, 1, 1e-14);
    EXPECT_NEAR(svd.sigma.y, 1e-5, 1e-19);
    EXPECT_NEAR(svd.sigma.z, n % 2 == 0 ? 1e-10 : -1e-10, 1e-24);
  }
}

TEST(PolarRotation, IsTheOneTheMatrixWasMadeOf) {
  test::Random random(4);
  for (int n = 0; n < 2000; ++n) {
    const Mat3 r = random.rotation(), v = random.rotation();
    const Real least = random.between(0.1, 1);
    Vec3 sigma{random.between(1, 3), random.between(least, 1), least};
    if (n % 4 == 0) sigma.z = -0.5 * least;  // inside out, yet nearest to r
    if (n % 4 == 1) sigma = {1 + 1e-3 * sigma.x, 1 + 1e-3 * sigma.y, 1 + 1e-3 * sigma.z};
    const Mat3 f = r * math::timesTranspose(v * diagonal(sigma), v);
    const Mat3 found = math::polarRotation(f);
    EXPECT_LT(distanceToRotation(found), 2e-15);
    // The rotation answers a change of F by that over the sum of the two least values.
    EXPECT_LT(largestEntry(difference(found, r)), 2e-15 * (1 + sigma.x / (sigma.y + sigma.z)));
  }
}

TEST(PolarRotation, IsProperForCollapsedAndInvertedMatrices) {
  for (const Mat3& f : deformations(5)) {
    const Mat3 r = math::polarRotation(f);
    EXPECT_LT(distanceToRotation(r), 4e-15);
    const math::SignedSvd<Real> svd = math::signedSvd(f);
    EXPECT_NEAR(math::doubleDot(r, f), svd.sigma.x + svd.sigma.y + svd.sigma.z, 1e-14 * 10);
  }
  EXPECT_LT(distanceToRotation(math::polarRotation(Mat3{})), 4e-15);
  EXPECT_LT(distanceToRotation(math::polarRotation(diagonal({-1, -1, -1}))), 4e-15);
}

// --- laws ---------------------------------------------------------------------------------------

struct Law {
  std::string name;
  Real (*energy)(const Lame&, const Mat3&);
  Mat3 (*stress)(const Lame&, const Mat3&);
  Tangent (*tangent)(const Lame&, const Vec3&);  ///< in principal axes
};

template <class L>
Law isotropic(const char* name) {
  return {name, [](const Lame& lame, const Mat3& f) { return L::energy(lame, f); },
          [](const Lame& lame, const Mat3& f) { return L::stress(lame, f); },
          [](const Lame& lame, const Vec3& sigma) { return L::tangent(lame, sigma); }};
}

std::vector<Law> isotropicLaws() {
  return {isotropic<kernel::CorotatedLaw<Real>>("corotated"),
          isotropic<kernel::NeoHookeanLaw<Real>>("neo_hookean"),
          isotropic<kernel::StVenantKirchhoffLaw<Real>>("stvk")};
}

Law linearLaw() {
  return {"linear",
          [](const Lame& lame, const Mat3& f) { return kernel::LinearLaw<Real>::energy(lame, f); },
          [](const Lame& lame, const Mat3& f) { return kernel::LinearLaw<Real>::stress(lame, f); },
          [](const Lame& lame, const Vec3&) { return kernel::LinearLaw<Real>::tangent(lame); }};
}

/// The rotation of the corotated law turns fast where two singular values nearly cancel.
bool isSmooth(const Law& law, const Mat3& f) {
  const Vec3 sigma = math::signedSvd(f).sigma;
  return law.name != "corotated" || sigma.y + sigma.z > 0.25;
}

/// d value / d f(i, j) by a rule of fourth order.
template <class Function>
auto slope(const Function& value, const Mat3& f, int i, int j, Real h) {
  const auto at = [&](Real step) {
    Mat3 moved = f;
    moved(i, j) += step;
    return value(moved);
  };
  return std::array{at(-2 * h), at(-h), at(h), at(2 * h)};
}

Real combine(const std::array<Real, 4>& v, Real h) {
  return (v[0] - v[3] + 8 * (v[2] - v[1])) / (12 * h);
}

TEST(ElasticLaws, StressIsTheDerivativeOfTheEnergy) {
  std::vector<Law> laws = isotropicLaws();
  laws.push_back(linearLaw());
  for (const Law& law : laws) {
    for (const Lame& lame : {kSoft, kCork}) {
      for (const Mat3& f : deformations(6)) {
        if (!isSmooth(law, f)) continue;
        const Mat3 p = law.stress(lame, f);
        const Real scale = lame.mu + lame.lambda + largestEntry(p) + std::fabs(law.energy(lame, f));
        for (int i = 0; i < 3; ++i) {
          for (int j = 0; j < 3; ++j) {
            const Real h = 1e-3;
            const Real found =
                combine(slope([&](const Mat3& g) { return law.energy(lame, g); }, f, i, j, h), h);
            EXPECT_NEAR(p(i, j), found, 1e-9 * scale) << law.name;
          }
        }
      }
    }
  }
}

TEST(ElasticLaws, TangentIsTheDerivativeOfTheStress) {
  for (const Law& law : isotropicLaws()) {
    for (const Lame& lame : {kSoft, kCork}) {
      for (const Mat3& f : deformations(7)) {
        if (!isSmooth(law, f)) continue;
        const math::SignedSvd<Real> svd = math::signedSvd(f);
        Real tangent[9][9];
        kernel::tangentMatrix(svd, law.tangent(lame, svd.sigma), tangent);
        const Real size = svd.sigma.x;
        const Real scale = (lame.mu + lame.lambda) * (1 + size * size * size * size);
        for (int k = 0; k < 3; ++k) {
          for (int l = 0; l < 3; ++l) {
            const Real h = 1e-3;
            const std::array<Mat3, 4> p =
                slope([&](const Mat3& g) { return law.stress(lame, g); }, f, k, l, h);
            for (int i = 0; i < 3; ++i) {
              for (int j = 0; j < 3; ++j) {
                const Real found = combine({p[0](i, j), p[1](i, j), p[2](i, j), p[3](i, j)}, h);
                EXPECT_NEAR(tangent[3 * i + j][3 * k + l], found, 2e-9 * scale) << law.name;
              }
            }
          }
        }
      }
    }
  }
}

TEST(ElasticLaws, TangentOfTheLinearLawGivesItsStress) {
  test::Random random(8);
  Real tangent[9][9];
  kernel::tangentMatrix({}, kernel::LinearLaw<Real>::tangent(kSoft), tangent);
  for (int n = 0; n < 50; ++n) {
    const Mat3 f{{random.vec3(2), random.vec3(2), random.vec3(2)}};
    const Mat3 p = kernel::LinearLaw<Real>::stress(kSoft, f);
    const Mat3 d = kernel::displacementGradient(f);
    for (int row = 0; row < 9; ++row) {
      Real sum = 0;
      for (int column = 0; column < 9; ++column)
        sum += tangent[row][column] * d(column / 3, column % 3);
      EXPECT_NEAR(p(row / 3, row % 3), sum, 1e-9);  // of 1e6
    }
  }
}

TEST(ElasticLaws, AreTheSameInEveryDirection) {
  test::Random random(9);
  for (const Law& law : isotropicLaws()) {
    for (const Mat3& f : deformations(10)) {
      if (!isSmooth(law, f)) continue;
      const Mat3 q = random.rotation();
      const Real energy = law.energy(kSoft, f);
      const Mat3 p = law.stress(kSoft, f);
      const Real scale = kSoft.lambda + largestEntry(p) + std::fabs(energy);
      EXPECT_NEAR(law.energy(kSoft, q * f), energy, 1e-14 * scale) << law.name;
      EXPECT_NEAR(law.energy(kSoft, f * q), energy, 1e-14 * scale) << law.name;
      EXPECT_LT(largestEntry(difference(law.stress(kSoft, q * f), q * p)), 1e-13 * scale);
      EXPECT_LT(largestEntry(difference(law.stress(kSoft, f * q), p * q)), 1e-13 * scale);
    }
  }
}

TEST(ElasticLaws, HaveNeitherEnergyNorStressAtRest) {
  std::vector<Law> laws = isotropicLaws();
  laws.push_back(linearLaw());
  test::Random random(11);
  for (const Law& law : laws) {
    for (const Lame& lame : {kSoft, kCork}) {
      EXPECT_EQ(law.energy(lame, Mat3::identity()), 0) << law.name;
      EXPECT_LT(largestEntry(law.stress(lame, Mat3::identity())), 1e-16 * lame.mu) << law.name;
      if (law.name == "linear") continue;
      const Mat3 turned = random.rotation();
      EXPECT_NEAR(law.energy(lame, turned), 0, 1e-15 * lame.mu) << law.name;
      EXPECT_LT(largestEntry(law.stress(lame, turned)), 1e-14 * (lame.mu + lame.lambda));
    }
  }
}

TEST(ElasticLaws, AgreeForSmallStrains) {
  test::Random random(12);
  for (int n = 0; n < 20; ++n) {
    const Mat3 d{{random.vec3(1e-5), random.vec3(1e-5), random.vec3(1e-5)}};
    const Mat3 f = kernel::combined(Mat3::identity(), 1.0, d, 1.0);
    const Real linear = kernel::LinearLaw<Real>::energy(kSoft, f);
    EXPECT_NEAR(kernel::CorotatedLaw<Real>::energy(kSoft, f) / linear, 1, 1e-4);
    EXPECT_NEAR(kernel::StVenantKirchhoffLaw<Real>::energy(kSoft, f) / linear, 1, 1e-4);
    // With its parameters as given, this law is softer: 3/4 of the shear modulus at rest.
    const Lame matched = kernel::neoHookeanFromHooke(kSoft);
    EXPECT_NEAR(kernel::NeoHookeanLaw<Real>::energy(matched, f) / linear, 1, 1e-4);
  }
}

TEST(NeoHookeanLaw, IsFiniteWhateverTheDeformation) {
  for (const Mat3& f :
       {Mat3{}, diagonal({0, 0, 1e-300}), diagonal({-5, 4, 1}), diagonal({1e3, 1e3, -1e3})}) {
    for (const Lame& lame : {kSoft, kCork}) {
      EXPECT_TRUE(std::isfinite(kernel::NeoHookeanLaw<Real>::energy(lame, f)));
      EXPECT_TRUE(std::isfinite(largestEntry(kernel::NeoHookeanLaw<Real>::stress(lame, f))));
    }
  }
}

TEST(NeoHookeanLaw, LogarithmKeepsItsDigitsAcrossTheChangeOfFormula) {
  for (const Real x : {-0.05, 0.05}) {
    const Real near = kernel::excessOfLog(x), far = kernel::excessOfLog(x * (1 + 1e-15));
    EXPECT_NEAR(near / far, 1, 1e-13);
  }
  EXPECT_NEAR(kernel::excessOfLog(1e-8) / (0.5e-16 - 1e-24 / 3), 1, 1e-15);
  EXPECT_NEAR(kernel::excessOfLog(1.0), 1 - std::log(2.0), 1e-16);
}

// --- projection ---------------------------------------------------------------------------------

/// The nearest semidefinite matrix by the eigenvectors of all nine directions.
void clampEigenvalues(Real (&m)[9][9]) {
  const math::SymmetricEigen<Real, 9> eigen = math::symmetricEigen(m);
  for (int i = 0; i < 9; ++i) {
    for (int j = 0; j < 9; ++j) {
      m[i][j] = 0;
      for (int k = 0; k < 9; ++k)
        m[i][j] += std::max(0.0, eigen.values[k]) * eigen.vectors[i][k] * eigen.vectors[j][k];
    }
  }
}

TEST(ProjectToSemidefinite, GivesTheNearestSemidefiniteTangent) {
  int numIndefinite = 0;
  for (const Law& law : isotropicLaws()) {
    for (const Mat3& f : deformations(13)) {
      if (!isSmooth(law, f)) continue;
      const math::SignedSvd<Real> svd = math::signedSvd(f);
      Tangent tangent = law.tangent(kSoft, svd.sigma);
      Real exact[9][9], projected[9][9];
      kernel::tangentMatrix(svd, tangent, exact);
      const math::SymmetricEigen<Real, 9> eigen = math::symmetricEigen(exact);
      const Real scale = std::max(-eigen.values[0], eigen.values[8]);
      if (eigen.values[0] < -1e-9 * scale) ++numIndefinite;
      clampEigenvalues(exact);
      kernel::projectToSemidefinite(&tangent);
      kernel::tangentMatrix(svd, tangent, projected);
      EXPECT_GT(math::symmetricEigen(projected).values[0], -1e-13 * scale) << law.name;
      for (int i = 0; i < 9; ++i) {
        for (int j = 0; j < 9; ++j)
          EXPECT_NEAR(projected[i][j], exact[i][j], 1e-12 * scale) << law.name;
      }
    }
  }
  EXPECT_GT(numIndefinite, 50);  // or nothing was projected
}

TEST(CorotatedLaw, TangentWithTheRotationHeldIsSemidefiniteAndExactAtRest) {
  const Tangent held = kernel::CorotatedLaw<Real>::heldTangent(kSoft);
  Real matrix[9][9], exact[9][9];
  kernel::tangentMatrix({}, held, matrix);
  kernel::tangentMatrix({}, kernel::CorotatedLaw<Real>::tangent(kSoft, {1, 1, 1}), exact);
  EXPECT_GT(math::symmetricEigen(matrix).values[0], -1e-12 * kSoft.lambda);
  for (int i = 0; i < 9; ++i) {
    for (int j = 0; j < 9; ++j) EXPECT_NEAR(matrix[i][j], exact[i][j], 1e-15 * kSoft.lambda);
  }
}

/// U diag(max(0, values)) U^T.
Mat3 positiveOf(const Mat3& u, const Vec3& values) {
  const Vec3 kept{std::max(values.x, 0.0), std::max(values.y, 0.0), std::max(values.z, 0.0)};
  return math::timesTranspose(u * diagonal(kept), u);
}

Mat3 matrixOf(const kernel::SymmetricT<Real>& m) {
  return {{{m.xx, m.xy, m.xz}, {m.xy, m.yy, m.yz}, {m.xz, m.yz, m.zz}}};
}

TEST(PositivePart, IsMadeOfThePositiveEigenvalues) {
  test::Random random(31);
  constexpr Real kValues[] = {-3, -1, -1e-9, 0, 1e-9, 0.5, 0.5, 2};
  for (const Real a : kValues) {
    for (const Real b : kValues) {
      for (const Real c : kValues) {
        const Mat3 u = random.rotation();
        const Mat3 m = math::timesTranspose(u * diagonal({a, b, c}), u);
        const Mat3 part = matrixOf(
            kernel::positivePart<Real>({m(0, 0), m(0, 1), m(0, 2), m(1, 1), m(1, 2), m(2, 2)}));
        const Real scale = std::max({std::fabs(a), std::fabs(b), std::fabs(c)});
        // Where two of them vanish together, their signs are known to the root of rounding.
        const int numSmall = (std::fabs(a) < 0.1) + (std::fabs(b) < 0.1) + (std::fabs(c) < 0.1);
        const Real tolerance = numSmall < 2 ? 1e-13 : 3e-8;
        EXPECT_LE(largestEntry(difference(part, positiveOf(u, {a, b, c}))), tolerance * scale)
            << a << " " << b << " " << c;
      }
    }
  }
}

TEST(CorotatedLaw, SpinStiffnessIsThePositivePartOfTheExactSpin) {
  int numTense = 0;
  for (const Lame& lame : {kSoft, kCork}) {
    for (const Mat3& f : deformations(17)) {
      const math::SignedSvd<Real> svd = math::signedSvd(f);
      const Vec3& s = svd.sigma;
      if (s.y + s.z < 0.3) continue;  // nearly collapsed: left out
      const Mat3 r = math::polarRotation(f);
      const Mat3 stiffness = matrixOf(kernel::CorotatedLaw<Real>::spinStiffness(lame, f, r));
      const Tangent exact = kernel::CorotatedLaw<Real>::tangent(lame, s);
      const Real scale = lame.mu + largestEntry(diagonal(exact.spin));
      EXPECT_LT(largestEntry(difference(stiffness, positiveOf(svd.u, exact.spin))), 1e-12 * scale);
      if (largestEntry(stiffness) > 0.01 * lame.mu) ++numTense;
    }
  }
  EXPECT_GT(numTense, 30);
}

// --- published numbers --------------------------------------------------------------------------

struct PatchCase {
  const char* law;
  Real energy;
  Real stress[9];  ///< row major
};

/// E = 1e5, nu = 0.4 and the F of the test, to 17 digits.
constexpr PatchCase kPatchCases[] = {
    {"linear",
     1444.642857142857,
     {21428.571428571428, 2857.142857142857, -1071.4285714285713, 2857.142857142857,
      10714.285714285714, 2142.857142857143, -1071.4285714285713, 2142.857142857143,
      17857.14285714286}},
    {"stvk",
     1647.760625,
     {25816.821428571428, 3851.0714285714284, -1516.2857142857142, 3480.964285714286,
      11952.107142857143, 2714.75, -1347.392857142857, 2393.25, 20538.85714285714}},
    {"corotated_linear",
     1447.9935325321228,
     {21463.805671445185, 3012.9176539948403, -1147.3352143478476, 2698.5204582175943,
      10751.683761224003, 2283.207961800702, -1001.1071448764417, 1999.7356249599202,
      17892.530029185255}},
    {"corotated_fixed",
     1369.384083430572,
     {20612.983065597164, 2441.9183913942807, -940.3750222177346, 2123.1214948069505,
      12037.402370078078, 1835.3399943888596, -789.2932012196809, 1540.3592313983509,
      17674.033819248794}},
    {"neo_hookean",
     1300.6104440924605,
     {18519.773148341937, 2450.3410764057453, -924.7161401786216, 2173.5839704122145,
      9868.664911627928, 1897.3520803130539, -794.6714654350407, 1643.5131395157803,
      15758.995107005072}},
    {"stable_neo_hookean",
     -21153.690466701013,
     {16746.811042167377, 1786.1310830855302, -679.140173234212, 1519.8522955656038,
      10560.03996433936, 1388.8135036112812, -551.3108937599632, 1137.1375303770692,
      14762.878201938991}},
};

TEST(ElasticLaws, GiveThePublishedStressAndEnergyOfTheConstitutivePatch) {
  const Mat3 f = transpose(Mat3{{{1.1, 0.05, -0.02}, {0.03, 0.95, 0.04}, {-0.01, 0.02, 1.05}}});
  const Lame lame = kernel::lameFromYoung(1e5, 0.4);
  for (const PatchCase& expected : kPatchCases) {
    const std::string law = expected.law;
    Real energy = 0;
    Mat3 p;
    const auto evaluate = [&](auto l) {
      energy = decltype(l)::energy(lame, f);
      p = decltype(l)::stress(lame, f);
    };
    if (law == "linear") evaluate(kernel::LinearLaw<Real>{});
    if (law == "stvk") evaluate(kernel::StVenantKirchhoffLaw<Real>{});
    if (law == "corotated_linear") evaluate(kernel::CorotatedLaw<Real>{});
    if (law == "corotated_fixed") evaluate(kernel::FixedCorotatedLaw<Real>{});
    if (law == "neo_hookean") evaluate(kernel::LogNeoHookeanLaw<Real>{});
    if (law == "stable_neo_hookean") {
      evaluate(kernel::NeoHookeanLaw<Real>{});
      energy += kernel::NeoHookeanLaw<Real>::restEnergy(lame);
    }
    EXPECT_NEAR(energy / expected.energy, 1, 1e-13) << law;
    Real largest = 0;
    for (const Real entry : expected.stress) largest = std::max(largest, std::fabs(entry));
    for (int k = 0; k < 9; ++k)
      EXPECT_NEAR(p(k / 3, k % 3), expected.stress[k], 1e-13 * largest) << law << " " << k;
  }
}

}  // namespace
}  // namespace tangere
