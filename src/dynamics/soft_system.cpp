// SPDX-License-Identifier: Apache-2.0
#include "dynamics/soft_system.hpp"

#include "core/assert.hpp"
#include "core/elementary.hpp"
#include "dynamics/kernels/elastic_tangent.hpp"
#include "math/quat.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace tangere::dynamics {
namespace {

using model::SoftMesh;

constexpr std::int64_t kRowGrain = 64;

Mat3 findTurns(const SoftMesh& mesh, const Vec3* x, const Vec3* v, Real dt, SoftAssembly* assembly);
Mat3 turnWith(const Vec3& angular, const Mat3& second, const SoftAssembly& assembly);
void raiseStiffness(const SoftMesh& mesh, SoftAssembly* assembly);

/// y = K x.
void multiplyStiffness(const SoftMesh& mesh, const SoftAssembly& assembly, const Vec3* x,
                       core::ThreadPool* pool, Vec3* y) {
  const math::BlockCsr& pattern = mesh.pattern;
  core::parallelFor(pool, mesh.numVertices, kRowGrain, [&](std::int64_t begin, std::int64_t end) {
    for (int i = static_cast<int>(begin); i < end; ++i) {
      Vec3 sum{};
      for (int k = pattern.rowBegin[i]; k < pattern.rowBegin[i + 1]; ++k) {
        const Real* const b = assembly.stiffness.data() + std::size_t{9} * k;
        const Vec3& u = x[pattern.column[k]];
        sum += Vec3{b[0] * u.x + b[1] * u.y + b[2] * u.z, b[3] * u.x + b[4] * u.y + b[5] * u.z,
                    b[6] * u.x + b[7] * u.y + b[8] * u.z};
      }
      y[i] = sum;
    }
  });
}

/// N^T of impulses; of velocities with their masses it is N^T M.
Vec3 turnsOf(const SoftMesh& mesh, const SoftAssembly& assembly, const Vec3* x, const Vec3* values,
             bool areVelocities) {
  Vec3 torque{};
  for (int i = 0; i < mesh.numVertices; ++i)
    torque += cross(x[i] - assembly.center, areVelocities ? values[i] * mesh.mass[i] : values[i]);
  return {dot(assembly.turn[0], torque), dot(assembly.turn[1], torque),
          dot(assembly.turn[2], torque)};
}

/// N of three rates is this rate of turning about the center.
Vec3 rateOf(const SoftAssembly& assembly, const Vec3& turns) {
  return assembly.turn[0] * turns.x + assembly.turn[1] * turns.y + assembly.turn[2] * turns.z;
}

void takeTurnsFromVelocities(const SoftMesh& mesh, const SoftAssembly& assembly, const Vec3* x,
                             Vec3* v) {
  const Vec3 rate = rateOf(assembly, turnsOf(mesh, assembly, x, v, true));
  for (int i = 0; i < mesh.numVertices; ++i) v[i] -= cross(rate, x[i] - assembly.center);
}

/// T^T y; returns N^T y.
Vec3 takeTurnsFromImpulses(const SoftMesh& mesh, const SoftAssembly& assembly, const Vec3* x,
                           Vec3* y) {
  const Vec3 turns = turnsOf(mesh, assembly, x, y, false);
  const Vec3 rate = rateOf(assembly, turns);
  for (int i = 0; i < mesh.numVertices; ++i)
    y[i] -= cross(rate, x[i] - assembly.center) * mesh.mass[i];
  return turns;
}

/// P, Q and C of solver::SapTurning, for `scale` times the stiffness.
void findTurning(const SoftMesh& mesh, const Vec3* x, Real scale, core::ThreadPool* pool,
                 SoftAssembly* assembly) {
  std::vector<Vec3>&turned = assembly->scratch, &product = assembly->pull;
  for (int k = 0; k < 3; ++k) {
    for (int i = 0; i < mesh.numVertices; ++i)
      turned[i] = cross(assembly->turn[k], x[i] - assembly->center);
    multiplyStiffness(mesh, *assembly, turned.data(), pool, product.data());
    for (int i = 0; i < mesh.numVertices; ++i) {
      for (int r = 0; r < 3; ++r) {
        const std::size_t at = 9 * static_cast<std::size_t>(i) + 3 * r + k;
        assembly->turningP[at] = scale * product[i][r];
        assembly->turningQ[at] = mesh.mass[i] * turned[i][r];
      }
    }
    const Vec3 turns = turnsOf(mesh, *assembly, x, product.data(), false) * scale;
    for (int l = 0; l < 3; ++l) assembly->turningC[3 * l + k] = turns[l];
  }
  for (const auto [a, b] : {std::array{1, 3}, std::array{2, 6}, std::array{5, 7}}) {
    Real* const c = assembly->turningC;
    c[a] = c[b] = Real(0.5) * (c[a] + c[b]);  // symmetric but for rounding
  }
}

}  // namespace

SystemScales scalesOf(const SoftMesh& mesh, Real dt, Real stiffening) {
  const Real elastic = stiffening * dt * dt, damping = mesh.elasticity.damping * dt;
  const bool isLinear = mesh.elasticity.model == ElasticModel::Linear;
  return {.mass = 1 + mesh.elasticity.massDamping * dt,
          .stiffness = elastic + damping,
          .turning = isLinear ? damping : elastic + damping};
}

void keepSpin(const SoftMesh& mesh, const Vec3* x, const Vec3* v, Real dt, core::ThreadPool* pool,
              SoftAssembly* assembly) {
  const Mat3 turn = findTurns(mesh, x, v, dt, assembly);
  if (mesh.elasticity.model == ElasticModel::Linear) {
    std::fill(assembly->spin.begin(), assembly->spin.end(), Vec3{});
    return;
  }
  for (int i = 0; i < mesh.numVertices; ++i) {
    const Vec3 r = x[i] - assembly->center;
    assembly->spin[i] = (turn * r - r) / dt;
  }
  const Real scale = scalesOf(mesh, dt, assembly->stiffening).stiffness;
  multiplyStiffness(mesh, *assembly, assembly->spin.data(), pool, assembly->pull.data());
  for (int i = 0; i < mesh.numVertices; ++i) assembly->momentum[i] += assembly->pull[i] * scale;
}

Real followSpin(const SoftMesh& mesh, const Vec3* x, const Vec3* v1, Real dt,
                core::ThreadPool* pool, SoftAssembly* assembly) {
  assembly->scratch.assign(assembly->spin.begin(), assembly->spin.end());
  keepSpin(mesh, x, v1, dt, pool, assembly);
  Real change = 0;
  for (int i = 0; i < mesh.numVertices; ++i)
    change += mesh.mass[i] * squaredNorm(assembly->spin[i] - assembly->scratch[i]);
  return std::sqrt(change);
}

void formSystem(const SoftMesh& mesh, const Vec3* x, Real dt, Real stiffening, bool isTurningFree,
                core::ThreadPool* pool, SoftAssembly* assembly) {
  if (stiffening > 1 && !(assembly->stiffening > 1)) raiseStiffness(mesh, assembly);
  assembly->stiffening = stiffening;
  assembly->isTurningFree = isTurningFree;
  const SystemScales scales = scalesOf(mesh, dt, stiffening);
  math::BlockCsr& A = assembly->matrix;
  for (std::size_t k = 0; k < A.values.size(); ++k)
    A.values[k] = scales.stiffness * assembly->stiffness[k];
  for (int i = 0; i < mesh.numVertices; ++i) {
    for (int r = 0; r < 3; ++r) A.block(A.diagonal[i])[4 * r] += scales.mass * mesh.mass[i];
  }
  if (isTurningFree) findTurning(mesh, x, scales.turning, pool, assembly);
  std::vector<Vec3>& change = assembly->pull;
  if (mesh.elasticity.model == ElasticModel::Linear) {
    assembly->momentum = assembly->load;
    return;
  }
  std::vector<Vec3>& spin = assembly->scratch;
  spin.assign(assembly->spin.begin(), assembly->spin.end());
  if (isTurningFree) takeTurnsFromVelocities(mesh, *assembly, x, spin.data());
  multiplyStiffness(mesh, *assembly, spin.data(), pool, change.data());
  if (isTurningFree) takeTurnsFromImpulses(mesh, *assembly, x, change.data());
  for (int i = 0; i < mesh.numVertices; ++i)
    assembly->momentum[i] = assembly->load[i] + change[i] * scales.stiffness;
}

namespace {

/// The driven part of the three terms to the right side; its rows out of them.
void constrainTurning(std::span<const int> vertices, std::span<const Vec3> velocities,
                      SoftAssembly* assembly) {
  Real byP[3] = {}, byQ[3] = {};
  for (std::size_t n = 0; n < vertices.size(); ++n) {
    for (int r = 0; r < 3; ++r) {
      for (int k = 0; k < 3; ++k) {
        const std::size_t at = 9 * static_cast<std::size_t>(vertices[n]) + 3 * r + k;
        byP[k] += assembly->turningP[at] * velocities[n][r];
        byQ[k] += assembly->turningQ[at] * velocities[n][r];
        assembly->turningP[at] = assembly->turningQ[at] = 0;
      }
    }
  }
  for (int k = 0; k < 3; ++k) {
    for (int l = 0; l < 3; ++l) byP[k] -= assembly->turningC[3 * k + l] * byQ[l];
  }
  for (std::size_t i = 0; i < assembly->momentum.size(); ++i) {
    for (int r = 0; r < 3; ++r) {
      for (int k = 0; k < 3; ++k) {
        const std::size_t at = 9 * i + 3 * r + k;
        assembly->momentum[i][r] +=
            assembly->turningP[at] * byQ[k] + assembly->turningQ[at] * byP[k];
      }
    }
  }
}

}  // namespace

void applyVertexConstraints(const SoftMesh& mesh, std::span<const int> vertices,
                            std::span<const Vec3> velocities, SoftAssembly* assembly) {
  TANGERE_ASSERT(vertices.size() == velocities.size());
  math::BlockCsr& A = assembly->matrix;
  if (assembly->isTurningFree) constrainTurning(vertices, velocities, assembly);
  for (std::size_t n = 0; n < vertices.size(); ++n) {
    const int i = vertices[n];
    const Vec3& velocity = velocities[n];
    for (int k = A.rowBegin[i]; k < A.rowBegin[i + 1]; ++k) {
      Real* const own = A.block(k);
      Real* const other = A.block(mesh.mirror[k]);
      if (k != A.diagonal[i]) {
        Vec3& b = assembly->momentum[A.column[k]];
        for (int r = 0; r < 3; ++r) {
          b[r] -= other[3 * r] * velocity.x + other[3 * r + 1] * velocity.y +
                  other[3 * r + 2] * velocity.z;
        }
      }
      std::fill_n(own, 9, Real(0));
      std::fill_n(other, 9, Real(0));
    }
    for (int r = 0; r < 3; ++r) A.block(A.diagonal[i])[4 * r] = mesh.mass[i];
    assembly->momentum[i] = velocity * mesh.mass[i];
  }
}

Vec3 readPull(const SoftMesh& mesh, const Vec3* x, const Vec3* v1, core::ThreadPool* pool,
              SoftAssembly* assembly) {
  std::vector<Vec3>& change = assembly->scratch;
  for (int i = 0; i < mesh.numVertices; ++i) change[i] = v1[i] - assembly->spin[i];
  const auto multiplyFreed = [&](Vec3* out) {
    if (assembly->isTurningFree) takeTurnsFromVelocities(mesh, *assembly, x, change.data());
    multiplyStiffness(mesh, *assembly, change.data(), pool, out);
    if (!assembly->isTurningFree) return turnsOf(mesh, *assembly, x, out, false);
    takeTurnsFromImpulses(mesh, *assembly, x, out);
    return Vec3{};
  };
  if (mesh.elasticity.model != ElasticModel::Linear) return multiplyFreed(assembly->pull.data());
  multiplyStiffness(mesh, *assembly, change.data(), pool, assembly->pull.data());
  if (assembly->drag.empty()) return {};
  return multiplyFreed(assembly->drag.data());
}

void closeMomentum(const SoftMesh& mesh, const Vec3* x, Real dt, Vec3* v1, SoftAssembly* assembly) {
  const Real scale = 1 / scalesOf(mesh, dt, 1).mass;
  Vec3 linear{}, torque{};
  Real mass = 0;
  for (int i = 0; i < mesh.numVertices; ++i) {
    const Vec3 missing = assembly->load[i] * scale - v1[i] * mesh.mass[i];
    linear += missing;
    torque += cross(x[i] - assembly->center, missing);
    mass += mesh.mass[i];
  }
  linear *= 1 / mass;
  Vec3 rate{};
  if (mesh.elasticity.model != ElasticModel::Linear) {
    for (const Vec3& turn : assembly->turn) rate += turn * dot(turn, torque);
    takeTurnsFromImpulses(mesh, *assembly, x, assembly->pull.data());
  }
  for (int i = 0; i < mesh.numVertices; ++i) v1[i] += linear + cross(rate, x[i] - assembly->center);
}

namespace {

/// The center of mass and N; returns the turn of the body as a whole within dt.
Mat3 findTurns(const SoftMesh& mesh, const Vec3* x, const Vec3* v, Real dt,
               SoftAssembly* assembly) {
  Vec3 weighted{}, linear{};
  Real mass = 0;
  for (int i = 0; i < mesh.numVertices; ++i) {
    weighted += (x[i] - x[0]) * mesh.mass[i];
    linear += v[i] * mesh.mass[i];
    mass += mesh.mass[i];
  }
  assembly->center = x[0] + weighted / mass;
  const Vec3 drift = linear / mass;
  Vec3 angular{};
  Mat3 second{};  // sum m r r^T
  for (int i = 0; i < mesh.numVertices; ++i) {
    const Vec3 r = x[i] - assembly->center, scaled = r * mesh.mass[i];
    angular += cross(scaled, v[i] - drift);
    for (int k = 0; k < 3; ++k) second.col[k] += scaled * r[k];
  }
  for (Vec3& turn : assembly->turn) turn = {};
  const Real size = kernel::trace(second);
  const Mat3 inertia = kernel::combined(Mat3::identity(), size, second, -1.0);
  // A body drawn out to a line has no spin about it.
  if (!(math::determinant(inertia) > 1e-12 * size * size * size)) return Mat3::identity();
  // The columns of L^-T with inertia = L L^T, by Gram and Schmidt.
  for (int k = 0; k < 3; ++k) {
    Vec3 turn{};
    turn[k] = 1;
    for (int l = 0; l < k; ++l) turn -= assembly->turn[l] * dot(assembly->turn[l], inertia.col[k]);
    assembly->turn[k] = turn / std::sqrt(dot(turn, inertia * turn));
  }
  return turnWith(angular * dt, second, *assembly);
}

/// The turn R whose chords have the angular momentum, sum m r x R r = angular (Moser and Veselov
/// 1991): that of the rate, r x dt (rate x r), would change it about any axis that is not a
/// principal one, and what turns by half a radian in a step would be stretched by it.
Mat3 turnWith(const Vec3& angular, const Mat3& second, const SoftAssembly& assembly) {
  constexpr int kMaxRounds = 30;
  const auto solve = [&](const Vec3& moment) {  // by the inertia
    return rateOf(assembly, {dot(assembly.turn[0], moment), dot(assembly.turn[1], moment),
                             dot(assembly.turn[2], moment)});
  };
  const auto missing = [&](const Mat3& turn) {
    const Mat3 m = turn * second;  // sum m (R r) r^T
    return angular - Vec3{m(2, 1) - m(1, 2), m(0, 2) - m(2, 0), m(1, 0) - m(0, 1)};
  };
  const Vec3 first = solve(angular);
  const Real sine = norm(first);
  if (!(sine > 0)) return Mat3::identity();
  Vec3 rate = first * (core::asin(std::min(sine, Real(1))) / sine);
  Mat3 turn = math::rotationExp(rate), best = turn;
  Real least = norm(missing(turn));
  for (int round = 0; round < kMaxRounds && least > 1e-15 * norm(angular); ++round) {
    rate += solve(missing(turn));
    turn = math::rotationExp(rate);
    const Real left = norm(missing(turn));
    if (!(left < least)) break;
    least = left;
    best = turn;
  }
  return best;
}

/// Adds what resists every deformation, however far the law lets go of some: the shear modulus
/// times the squares of all derivatives. The step would not be held otherwise by any number of
/// times a stiffness that is zero.
void raiseStiffness(const SoftMesh& mesh, SoftAssembly* assembly) {
  const Real mu = kernel::lameFromYoung(mesh.elasticity.young, mesh.elasticity.poisson).mu;
  const auto gradient = [&](int t, int a) {
    const Mat3& inverse = mesh.inverseRest[static_cast<std::size_t>(t)];
    const auto row = [&](int r) { return Vec3{inverse(r, 0), inverse(r, 1), inverse(r, 2)}; };
    return a > 0 ? row(a - 1) : -(row(0) + row(1) + row(2));
  };
  for (int i = 0; i < mesh.numVertices; ++i) {
    for (int k = mesh.pattern.diagonal[i]; k < mesh.pattern.rowBegin[i + 1]; ++k) {
      Real sum = 0;
      for (int n = mesh.gatherBegin[k]; n < mesh.gatherBegin[k + 1]; ++n) {
        const std::int32_t entry = mesh.gather[n];
        const int t = entry >> 4;
        sum += 2 * mu * mesh.restVolume[t] *
               dot(gradient(t, (entry >> 2) & 3), gradient(t, entry & 3));
      }
      for (int r = 0; r < 3; ++r) {
        assembly->stiffness[std::size_t{9} * k + 4 * r] += sum;
        if (mesh.mirror[k] != k)
          assembly->stiffness[std::size_t{9} * mesh.mirror[k] + 4 * r] += sum;
      }
    }
  }
}

}  // namespace

}  // namespace tangere::dynamics
