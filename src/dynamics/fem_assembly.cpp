// SPDX-License-Identifier: Apache-2.0
#include "dynamics/fem_assembly.hpp"

#include "core/assert.hpp"
#include "core/elementary.hpp"
#include "dynamics/kernels/corotated_tet.hpp"
#include "dynamics/kernels/linear_tet.hpp"
#include "dynamics/kernels/neo_hookean_tet.hpp"
#include "dynamics/kernels/st_venant_kirchhoff_tet.hpp"
#include "dynamics/soft_system.hpp"
#include "dynamics/turning_stiffness.hpp"

#include <algorithm>
#include <cstddef>

namespace tangere::dynamics {
namespace {

using kernel::PrincipalTangent;
using model::SoftMesh;
using Lame = kernel::LameT<Real>;

// Chunks depend on the mesh alone; each is some ten microseconds of work.
constexpr std::int64_t kTetGrain = 64;
constexpr std::int64_t kRowGrain = 64;

/// Numbers that a tetrahedron hands to the gathering of the matrix: four gradients; these and half
/// the stiffness against turning (xx xy xz yy yz zz, its trace with compression); or ten blocks.
constexpr int kGradientTangent = 12;
constexpr int kTurningTangent = 19;
constexpr int kBlockTangent = 90;

/// Place of the block of vertices (a, b) among the ten of a tetrahedron.
constexpr int kPairOf[16] = {0, 1, 2, 3, 1, 4, 5, 6, 2, 5, 7, 8, 3, 6, 8, 9};

int tangentSize(ElasticModel model) {
  switch (model) {
    case ElasticModel::Linear:
      return kGradientTangent;
    case ElasticModel::Corotated:
      return kTurningTangent;
    case ElasticModel::NeoHookean:
    case ElasticModel::StVenantKirchhoff:
      break;
  }
  return kBlockTangent;
}

/// Young's modulus and Poisson's ratio mean the same for every law: the stiffness at rest.
Lame lameOf(const SoftMesh& mesh) {
  const Lame hooke = kernel::lameFromYoung(mesh.elasticity.young, mesh.elasticity.poisson);
  return mesh.elasticity.model == ElasticModel::NeoHookean ? kernel::neoHookeanFromHooke(hooke)
                                                           : hooke;
}

Mat3 deformationGradient(const SoftMesh& mesh, const Vec3* x, std::int64_t t) {
  const Tet& tet = mesh.tets[t];
  const Vec3 origin = x[tet[0]];
  return Mat3{{x[tet[1]] - origin, x[tet[2]] - origin, x[tet[3]] - origin}} * mesh.inverseRest[t];
}

// --- laws ---------------------------------------------------------------------------------------
//
// Of one tetrahedron: `evaluate` gives energy and stress, and what `tangent` needs besides F.

struct TetResponse {
  Real energy = 0;  ///< [J/m^3]
  Mat3 stress{};    ///< first Piola [Pa]
  Mat3 rotation{};  ///< of the turned linear laws
};

struct Linear {
  static TetResponse evaluate(const Lame& lame, const Mat3& f) {
    return {kernel::LinearLaw<Real>::energy(lame, f), kernel::LinearLaw<Real>::stress(lame, f),
            Mat3::identity()};
  }
};

struct Corotated {
  static TetResponse evaluate(const Lame& lame, const Mat3& f) {
    return evaluate(lame, f, math::polarRotation(f));
  }
  static TetResponse evaluate(const Lame& lame, const Mat3& f, const Mat3& r) {
    return {kernel::CorotatedLaw<Real>::energy(lame, f, r),
            kernel::CorotatedLaw<Real>::stress(lame, f, r), r};
  }
};

template <class Law>
struct Principal {
  static TetResponse evaluate(const Lame& lame, const Mat3& f) {
    return {Law::energy(lame, f), Law::stress(lame, f), {}};
  }
  static PrincipalTangent<Real> tangent(const Lame& lame, const Vec3& sigma) {
    PrincipalTangent<Real> out = Law::tangent(lame, sigma);
    kernel::projectToSemidefinite(&out);
    return out;
  }
};
using NeoHookean = Principal<kernel::NeoHookeanLaw<Real>>;
using StVenantKirchhoff = Principal<kernel::StVenantKirchhoffLaw<Real>>;

/// action(law) for the law of the mesh.
template <class Action>
auto withLaw(ElasticModel model, const Action& action) {
  switch (model) {
    case ElasticModel::Linear:
      return action(Linear{});
    case ElasticModel::NeoHookean:
      return action(NeoHookean{});
    case ElasticModel::StVenantKirchhoff:
      return action(StVenantKirchhoff{});
    case ElasticModel::Corotated:
      break;
  }
  return action(Corotated{});
}

// --- tetrahedra ---------------------------------------------------------------------------------

/// f_a = -V P g_a; the gradients sum to zero, and so do the forces.
void storeForces(const Mat3& stress, const Mat3& inverseRest, Real volume, Vec3* out) {
  const Mat3 gradients = transpose(inverseRest);
  const Mat3 forces = stress * gradients;
  for (int a = 1; a < 4; ++a) out[a] = forces.col[a - 1] * -volume;
  out[0] = -(out[1] + out[2] + out[3]);
}

/// sqrt(V) R g_a for the four vertices.
void storeGradients(const Mat3& rotation, const Mat3& inverseRest, Real volume, Real* out) {
  const Mat3 gradients = rotation * transpose(inverseRest);
  const Real root = std::sqrt(volume);
  Vec3 last{};
  for (int a = 1; a < 4; ++a) {
    const Vec3 g = gradients.col[a - 1] * root;
    last -= g;
    for (int i = 0; i < 3; ++i) out[3 * a + i] = g[i];
  }
  for (int i = 0; i < 3; ++i) out[i] = last[i];
}

/// V K_ab for the ten pairs of vertices, row major; the rows are those of the vertex with the lower
/// number. Blocks of vertex 0 follow from the others: no force comes of a shift.
template <class Law>
void storeBlocks(const Lame& lame, const Mat3& f, const Mat3& inverseRest, Real volume,
                 const Tet& tet, Real* out) {
  const math::SignedSvd<Real> svd = math::signedSvd(f);
  const PrincipalTangent<Real> tangent = Law::tangent(lame, svd.sigma);
  const Mat3 gradients = transposeTimes(svd.v, transpose(inverseRest));
  const Mat3 scaledU{{svd.u.col[0] * volume, svd.u.col[1] * volume, svd.u.col[2] * volume}};
  Mat3 blocks[4][4];
  for (int a = 1; a < 4; ++a) {
    for (int b = a; b < 4; ++b) {
      const Mat3 inAxes =
          kernel::principalBlock(tangent, gradients.col[a - 1], gradients.col[b - 1]);
      blocks[a][b] = math::timesTranspose(scaledU * inAxes, svd.u);
      if (a != b) blocks[b][a] = transpose(blocks[a][b]);
    }
  }
  for (int b = 1; b < 4; ++b) {
    for (int k = 0; k < 3; ++k)
      blocks[0][b].col[k] = -(blocks[1][b].col[k] + blocks[2][b].col[k] + blocks[3][b].col[k]);
    blocks[b][0] = transpose(blocks[0][b]);
  }
  for (int k = 0; k < 3; ++k)
    blocks[0][0].col[k] = -(blocks[1][0].col[k] + blocks[2][0].col[k] + blocks[3][0].col[k]);

  for (int a = 0; a < 4; ++a) {
    for (int b = a; b < 4; ++b, out += 9) {
      const Mat3& block = tet[a] <= tet[b] ? blocks[a][b] : blocks[b][a];
      for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) out[3 * i + j] = block(i, j);
      }
    }
  }
}

enum class TetParts { Force, ForceAndTangent };

template <class Law, TetParts kParts>
void evaluateTets(const SoftMesh& mesh, const Lame& lame, const Vec3* x, bool areRotationsKnown,
                  std::int64_t begin, std::int64_t end, SoftAssembly* out) {
  constexpr bool isTurnedLinear = std::is_same_v<Law, Linear> || std::is_same_v<Law, Corotated>;
  for (std::int64_t t = begin; t < end; ++t) {
    const Mat3 f = deformationGradient(mesh, x, t);
    const Real volume = mesh.restVolume[t];
    TetResponse response;
    if constexpr (std::is_same_v<Law, Corotated>) {
      response =
          areRotationsKnown ? Law::evaluate(lame, f, out->rotation[t]) : Law::evaluate(lame, f);
    } else {
      response = Law::evaluate(lame, f);
    }
    out->tetEnergy[t] = volume * response.energy;
    out->isInverted[t] = !(math::determinant(f) > 0);
    storeForces(response.stress, mesh.inverseRest[t], volume, &out->tetForce[4 * t]);
    if constexpr (kParts == TetParts::ForceAndTangent) {
      if constexpr (isTurnedLinear) {
        constexpr int kSize = std::is_same_v<Law, Corotated> ? kTurningTangent : kGradientTangent;
        Real* const tangent = &out->tetTangent[kSize * t];
        storeGradients(response.rotation, mesh.inverseRest[t], volume, tangent);
        if constexpr (std::is_same_v<Law, Corotated>) {
          storeTurning(lame, f, response.rotation, tangent + kGradientTangent);
        }
      } else {
        storeBlocks<Law>(lame, f, mesh.inverseRest[t], volume, mesh.tets[t],
                         &out->tetTangent[kBlockTangent * t]);
      }
    }
  }
}

/// In a beam that is bent the tension outside and the compression inside let each piece turn
/// freely. The positive parts alone would hold it, as if it were heavier: they count as far as
/// tension prevails in the body.
void keepPrevailingTension(const SoftMesh& mesh, std::vector<Real>* tangents) {
  Real tension = 0, all = 0;
  for (std::int64_t t = 0; t < mesh.numTets(); ++t) {
    const Real* const q = tangents->data() + kTurningTangent * t + kGradientTangent;
    tension += mesh.restVolume[t] * (q[0] + q[3] + q[5]);
    all += mesh.restVolume[t] * q[6];
  }
  if (!(tension > 0)) return;
  const Real part = std::clamp<Real>(all / tension, 0, 1);
  for (std::int64_t t = 0; t < mesh.numTets(); ++t) {
    Real* const q = tangents->data() + kTurningTangent * t + kGradientTangent;
    for (int i = 0; i < 6; ++i) q[i] *= part;
  }
}

// --- rows of the matrix -------------------------------------------------------------------------

void addProduct(const Real* a, const Real* b, Real (&sum)[9]) {
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) sum[3 * i + j] += a[i] * b[j];
  }
}

/// Adds [a]^T Q [b], where [a] x is the vector product of a and x.
void addTurning(const Real* a, const Real* b, const Real* q, Real (&sum)[9]) {
  const Real c0 = q[1] * b[2] - q[2] * b[1], c1 = q[3] * b[2] - q[4] * b[1],
             c2 = q[4] * b[2] - q[5] * b[1];  // Q (b x e_0)
  sum[0] += a[2] * c1 - a[1] * c2;
  sum[3] += a[0] * c2 - a[2] * c0;
  sum[6] += a[1] * c0 - a[0] * c1;
  const Real d0 = q[2] * b[0] - q[0] * b[2], d1 = q[4] * b[0] - q[1] * b[2],
             d2 = q[5] * b[0] - q[2] * b[2];
  sum[1] += a[2] * d1 - a[1] * d2;
  sum[4] += a[0] * d2 - a[2] * d0;
  sum[7] += a[1] * d0 - a[0] * d1;
  const Real e0 = q[0] * b[1] - q[1] * b[0], e1 = q[1] * b[1] - q[3] * b[0],
             e2 = q[2] * b[1] - q[4] * b[0];
  sum[2] += a[2] * e1 - a[1] * e2;
  sum[5] += a[0] * e2 - a[2] * e0;
  sum[8] += a[1] * e0 - a[0] * e1;
}

/// K_ij = mu tr(M) I + mu M^T + lambda M with M = sum V g_i g_j^T over the tetrahedra, and what
/// tension sets against their turning.
template <int kSize>
void gatherTurnedLinear(const SoftMesh& mesh, const Lame& lame, const Real* tangents, int block,
                        Real (&sum)[9]) {
  Real m[9] = {}, turning[9] = {};
  for (int n = mesh.gatherBegin[block]; n < mesh.gatherBegin[block + 1]; ++n) {
    const std::int32_t entry = mesh.gather[n];
    const Real* const tet = tangents + std::size_t{kSize} * (entry >> 4);
    const int a = 3 * ((entry >> 2) & 3), b = 3 * (entry & 3);
    addProduct(tet + a, tet + b, m);
    if constexpr (kSize == kTurningTangent) {
      const Real* const q = tet + kGradientTangent;
      if (q[0] + q[3] + q[5] > 0) addTurning(tet + a, tet + b, q, turning);
    }
  }
  const Real diagonal = lame.mu * (m[0] + m[4] + m[8]);
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j)
      sum[3 * i + j] = lame.mu * m[3 * j + i] + lame.lambda * m[3 * i + j] + turning[3 * i + j];
    sum[4 * i] += diagonal;
  }
}

void gatherBlocks(const SoftMesh& mesh, const Real* tangents, int block, Real (&sum)[9]) {
  for (Real& s : sum) s = 0;
  for (int n = mesh.gatherBegin[block]; n < mesh.gatherBegin[block + 1]; ++n) {
    const std::int32_t entry = mesh.gather[n];
    const Real* const part =
        tangents + std::size_t{kBlockTangent} * (entry >> 4) + 9 * kPairOf[entry & 15];
    for (int k = 0; k < 9; ++k) sum[k] += part[k];
  }
}

Vec3 gatherForce(const SoftMesh& mesh, const std::vector<Vec3>& tetForce, int vertex) {
  Vec3 sum{};
  const int block = mesh.pattern.diagonal[vertex];
  for (int n = mesh.gatherBegin[block]; n < mesh.gatherBegin[block + 1]; ++n) {
    const std::int32_t entry = mesh.gather[n];  // 16 t + 5 a
    sum += tetForce[4 * static_cast<std::size_t>(entry >> 4) + (entry & 3)];
  }
  return sum;
}

/// The blocks of row `i` on and right of the diagonal, and their mirror images: every block has one
/// row that writes it.
void writeRow(const SoftMesh& mesh, const Lame& lame, const SystemScales& scales, int i,
              SoftAssembly* out) {
  const int diagonal = mesh.pattern.diagonal[i];
  for (int k = diagonal; k < mesh.pattern.rowBegin[i + 1]; ++k) {
    Real sum[9] = {};
    switch (mesh.elasticity.model) {
      case ElasticModel::Linear:
        gatherTurnedLinear<kGradientTangent>(mesh, lame, out->tetTangent.data(), k, sum);
        break;
      case ElasticModel::Corotated:
        gatherTurnedLinear<kTurningTangent>(mesh, lame, out->tetTangent.data(), k, sum);
        break;
      case ElasticModel::NeoHookean:
      case ElasticModel::StVenantKirchhoff:
        gatherBlocks(mesh, out->tetTangent.data(), k, sum);
        break;
    }
    if (k == diagonal) {  // rounding of the parts is not symmetric
      for (const auto [p, q] : {std::array{1, 3}, std::array{2, 6}, std::array{5, 7}})
        sum[p] = sum[q] = 0.5 * (sum[p] + sum[q]);
    }
    Real* const own = out->stiffness.data() + std::size_t{9} * k;
    Real* const other = out->stiffness.data() + std::size_t{9} * mesh.mirror[k];
    Real* const ownA = out->matrix.block(k);
    Real* const otherA = out->matrix.block(mesh.mirror[k]);
    for (int r = 0; r < 3; ++r) {
      for (int c = 0; c < 3; ++c) {
        const Real value = sum[3 * r + c];
        own[3 * r + c] = other[3 * c + r] = value;
        ownA[3 * r + c] = otherA[3 * c + r] = scales.stiffness * value;
      }
    }
    if (k == diagonal) {
      for (int r = 0; r < 3; ++r) ownA[4 * r] += scales.mass * mesh.mass[i];
    }
  }
}

Real sumEnergies(core::ThreadPool* pool, const std::vector<Real>& energies,
                 std::vector<Real>* partials) {
  return core::parallelReduce(
      pool, static_cast<std::int64_t>(energies.size()), Real(0),
      [&](std::int64_t t) { return energies[t]; }, [](Real a, Real b) { return a + b; }, partials);
}

}  // namespace

SoftAssembly makeSoftAssembly(const SoftMesh& mesh) {
  const std::size_t numTets = mesh.tets.size();
  const std::size_t numVertices = static_cast<std::size_t>(mesh.numVertices);
  SoftAssembly out;
  out.force.resize(numVertices);
  out.momentum.resize(numVertices);
  out.load.resize(numVertices);
  out.spin.resize(numVertices);
  out.pull.resize(numVertices);
  out.scratch.resize(numVertices);
  const bool isLinear = mesh.elasticity.model == ElasticModel::Linear;
  if (isLinear && mesh.elasticity.damping > 0) out.drag.resize(numVertices);
  out.turningP.assign(9 * numVertices, 0);
  out.turningQ.assign(9 * numVertices, 0);
  out.rotationAt.reserve(numVertices);
  out.matrix = mesh.pattern;
  out.stiffness.assign(mesh.pattern.values.size(), 0);
  out.tetEnergy.assign(numTets, 0);
  out.isInverted.assign(numTets, 0);
  out.tetForce.resize(4 * numTets);
  out.tetTangent.assign(numTets * static_cast<std::size_t>(tangentSize(mesh.elasticity.model)), 0);
  out.partialSums.reserve(numTets / core::kReduceGrain + 1);
  if (mesh.elasticity.model == ElasticModel::Corotated) out.rotation.resize(numTets);
  return out;
}

void assembleSoft(const SoftMesh& mesh, const Vec3* x, const Vec3* v, Real dt, const Vec3& gravity,
                  const Vec3* externalForce, core::ThreadPool* pool, SoftAssembly* out) {
  TANGERE_ASSERT(out->tetEnergy.size() == mesh.tets.size());
  TANGERE_ASSERT(out->matrix.column.size() == mesh.pattern.column.size());
  const Lame lame = lameOf(mesh);
  const bool areRotationsKnown = mesh.elasticity.model == ElasticModel::Corotated &&
                                 !out->rotationAt.empty() &&
                                 std::equal(out->rotationAt.begin(), out->rotationAt.end(), x);
  withLaw(mesh.elasticity.model, [&](auto law) {
    core::parallelFor(pool, mesh.numTets(), kTetGrain, [&](std::int64_t begin, std::int64_t end) {
      evaluateTets<decltype(law), TetParts::ForceAndTangent>(mesh, lame, x, areRotationsKnown,
                                                             begin, end, out);
    });
  });
  if (mesh.elasticity.model == ElasticModel::Corotated)
    keepPrevailingTension(mesh, &out->tetTangent);
  out->energy = sumEnergies(pool, out->tetEnergy, &out->partialSums);
  out->numInverted =
      static_cast<int>(std::count(out->isInverted.begin(), out->isInverted.end(), std::uint8_t{1}));

  out->stiffening = 1;
  out->isTurningFree = false;
  const SystemScales scales = scalesOf(mesh, dt, out->stiffening);
  core::parallelFor(pool, mesh.numVertices, kRowGrain, [&](std::int64_t begin, std::int64_t end) {
    for (int i = static_cast<int>(begin); i < end; ++i) {
      writeRow(mesh, lame, scales, i, out);
      out->force[i] = gatherForce(mesh, out->tetForce, i);
      Vec3 total = out->force[i] + gravity * mesh.mass[i];
      if (externalForce != nullptr) total += externalForce[i];
      out->load[i] = out->momentum[i] = v[i] * mesh.mass[i] + total * dt;
    }
  });
}

Real elasticEnergy(const SoftMesh& mesh, const Vec3* x, core::ThreadPool* pool,
                   std::vector<Real>* partials) {
  const Lame lame = lameOf(mesh);
  return withLaw(mesh.elasticity.model, [&](auto law) {
    return core::parallelReduce(
        pool, mesh.numTets(), Real(0),
        [&](std::int64_t t) {
          return mesh.restVolume[t] *
                 decltype(law)::evaluate(lame, deformationGradient(mesh, x, t)).energy;
        },
        [](Real a, Real b) { return a + b; }, partials);
  });
}

Real elasticEnergy(const SoftMesh& mesh, const Vec3* x, core::ThreadPool* pool,
                   SoftAssembly* assembly) {
  std::vector<Vec3>& at = assembly->rotationAt;
  if (!at.empty() && std::equal(at.begin(), at.end(), x)) return assembly->energyAt;
  at.assign(x, x + mesh.numVertices);
  if (mesh.elasticity.model != ElasticModel::Corotated) {
    assembly->energyAt = elasticEnergy(mesh, x, pool, &assembly->partialSums);
    return assembly->energyAt;
  }
  const Lame lame = lameOf(mesh);
  core::parallelFor(pool, mesh.numTets(), kTetGrain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t t = begin; t < end; ++t) {
      const TetResponse response = Corotated::evaluate(lame, deformationGradient(mesh, x, t));
      assembly->rotation[t] = response.rotation;
      assembly->tetEnergy[t] = mesh.restVolume[t] * response.energy;
    }
  });
  assembly->energyAt = sumEnergies(pool, assembly->tetEnergy, &assembly->partialSums);
  return assembly->energyAt;
}

void elasticForce(const SoftMesh& mesh, const Vec3* x, core::ThreadPool* pool,
                  SoftAssembly* scratch, Vec3* force) {
  const Lame lame = lameOf(mesh);
  withLaw(mesh.elasticity.model, [&](auto law) {
    core::parallelFor(pool, mesh.numTets(), kTetGrain, [&](std::int64_t begin, std::int64_t end) {
      evaluateTets<decltype(law), TetParts::Force>(mesh, lame, x, false, begin, end, scratch);
    });
  });
  core::parallelFor(pool, mesh.numVertices, kRowGrain, [&](std::int64_t begin, std::int64_t end) {
    for (int i = static_cast<int>(begin); i < end; ++i)
      force[i] = gatherForce(mesh, scratch->tetForce, i);
  });
}

void tetStresses(const SoftMesh& mesh, const Vec3* x, core::ThreadPool* pool, Mat3* out) {
  const Lame lame = lameOf(mesh);
  const bool isLinear = mesh.elasticity.model == ElasticModel::Linear;
  withLaw(mesh.elasticity.model, [&](auto law) {
    core::parallelFor(pool, mesh.numTets(), kTetGrain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t t = begin; t < end; ++t) {
        const Mat3 f = deformationGradient(mesh, x, t);
        const Mat3 stress = decltype(law)::evaluate(lame, f).stress;
        constexpr Real kLeastVolume = 1e-9;
        const Real det = math::determinant(f);
        const Real held = det < 0 ? std::min(det, -kLeastVolume) : std::max(det, kLeastVolume);
        const Mat3 kirchhoff = math::timesTranspose(stress, f);
        out[t] =
            isLinear
                ? stress
                : Mat3{{kirchhoff.col[0] / held, kirchhoff.col[1] / held, kirchhoff.col[2] / held}};
      }
    });
  });
}

int countInvertedTets(const SoftMesh& mesh, const Vec3* x) {
  int count = 0;
  for (int t = 0; t < mesh.numTets(); ++t)
    count += !(math::determinant(deformationGradient(mesh, x, t)) > 0);
  return count;
}

}  // namespace tangere::dynamics
