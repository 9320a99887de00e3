// SPDX-License-Identifier: Apache-2.0
//
// Convex problems with soft bodies, for tests and timings: linear tetrahedra on a grid, which may
// be bent into a ball, held by contacts with the ground, with each other, with themselves and with
// an arm of nine velocities that grasps them.
#pragma once

#include "math/block_csr.hpp"
#include "solver/sap_problem.hpp"
#include "solver/sap_scenes.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace tangere::solver::test {

struct SoftMaterial {
  Real young = 1e5, poisson = 0.45, density = 1000;
};

/// Tetrahedra with a mass for each vertex and the stiffness of small strains.
struct SoftMesh {
  std::vector<Vec3> vertices;
  std::vector<std::array<std::int32_t, 4>> tets;
  std::vector<Real> mass;
  math::BlockCsr stiffness;

  [[nodiscard]] int numVertices() const { return static_cast<int>(vertices.size()); }

  void addElasticity(const SoftMaterial& material) {
    mass.assign(vertices.size(), 0);
    stiffness = math::BlockCsr::fromCells<4>(numVertices(), tets);
    const Real mu = material.young / (2 * (1 + material.poisson));
    const Real lambda =
        material.young * material.poisson / ((1 + material.poisson) * (1 - 2 * material.poisson));
    for (const auto& tet : tets) {
      const Vec3 e1 = vertices[tet[1]] - vertices[tet[0]];
      const Vec3 e2 = vertices[tet[2]] - vertices[tet[0]];
      const Vec3 e3 = vertices[tet[3]] - vertices[tet[0]];
      const Real six = dot(e1, cross(e2, e3));
      const Real volume = std::abs(six) / 6;
      Vec3 g[4];  // gradients of the shape functions
      g[1] = cross(e2, e3) / six;
      g[2] = cross(e3, e1) / six;
      g[3] = cross(e1, e2) / six;
      g[0] = (g[1] + g[2] + g[3]) * Real(-1);
      for (int a = 0; a < 4; ++a) {
        mass[tet[a]] += material.density * volume / 4;
        for (int b = 0; b < 4; ++b) {
          Real* const block = stiffness.block(stiffness.find(tet[a], tet[b]));
          for (int r = 0; r < 3; ++r) {
            for (int c = 0; c < 3; ++c) {
              block[3 * r + c] += volume * (lambda * g[a][r] * g[b][c] + mu * g[a][c] * g[b][r] +
                                            (r == c ? mu * dot(g[a], g[b]) : 0));
            }
          }
        }
      }
    }
  }

  /// A = M + dt (dt + damping) K.
  [[nodiscard]] math::BlockCsr matrix(Real dt, Real damping = 0) const {
    math::BlockCsr a = stiffness;
    for (Real& x : a.values) x *= dt * (dt + damping);
    for (int i = 0; i < numVertices(); ++i) {
      for (int k = 0; k < 9; k += 4) a.block(a.diagonal[i])[k] += mass[i];
    }
    return a;
  }
};

/// A box of nx x ny x nz cubes of five tetrahedra each, from the origin.
inline SoftMesh gridMesh(int nx, int ny, int nz, Real edge) {
  SoftMesh mesh;
  const auto at = [&](int x, int y, int z) {
    return static_cast<std::int32_t>((z * (ny + 1) + y) * (nx + 1) + x);
  };
  for (int z = 0; z <= nz; ++z) {
    for (int y = 0; y <= ny; ++y) {
      for (int x = 0; x <= nx; ++x) mesh.vertices.push_back({x * edge, y * edge, z * edge});
    }
  }
  for (int z = 0; z < nz; ++z) {
    for (int y = 0; y < ny; ++y) {
      for (int x = 0; x < nx; ++x) {
        std::int32_t v[8];
        for (int k = 0; k < 8; ++k) v[k] = at(x + (k & 1), y + (k >> 1 & 1), z + (k >> 2));
        // Neighbouring cubes are mirrored, so that their faces meet.
        if ((x + y + z) % 2 == 0) {
          mesh.tets.insert(mesh.tets.end(), {{v[0], v[1], v[2], v[4]},
                                             {v[3], v[2], v[1], v[7]},
                                             {v[5], v[1], v[4], v[7]},
                                             {v[6], v[4], v[2], v[7]},
                                             {v[1], v[2], v[4], v[7]}});
        } else {
          mesh.tets.insert(mesh.tets.end(), {{v[1], v[0], v[5], v[3]},
                                             {v[2], v[3], v[6], v[0]},
                                             {v[4], v[5], v[0], v[6]},
                                             {v[7], v[6], v[3], v[5]},
                                             {v[0], v[3], v[5], v[6]}});
        }
      }
    }
  }
  return mesh;
}

/// A cube of n^3 cubes bent into a ball about the origin.
inline SoftMesh ballMesh(int n, Real radius) {
  SoftMesh mesh = gridMesh(n, n, n, Real(2) / n);
  for (Vec3& p : mesh.vertices) {
    p = p - Vec3{1, 1, 1};
    const Real largest = std::max({std::abs(p.x), std::abs(p.y), std::abs(p.z)});
    const Real length = norm(p);
    // Layers of cubes become layers of the ball; the inner ones stay rounder cubes.
    const Real blend = largest;
    const Real scale = length > 0 ? (1 - blend) * Real(0.75) + blend * largest / length : 0;
    p = p * (scale * radius);
  }
  return mesh;
}

/// The row t1, t2, n of a point with weights on vertices.
inline void writeSoftRows(const Vec3* frame, std::span<const Real> weights, Real sign,
                          Real* jacobian) {
  const int columns = 3 * static_cast<int>(weights.size());
  for (int r = 0; r < 3; ++r) {
    for (std::size_t i = 0; i < weights.size(); ++i) {
      for (int k = 0; k < 3; ++k) {
        jacobian[r * columns + 3 * static_cast<int>(i) + k] = sign * weights[i] * frame[r][k];
      }
    }
  }
}

inline void makeFrame(const Vec3& normal, Vec3* frame) {
  const Vec3 helper = std::abs(normal.x) < 0.6 ? Vec3{1, 0, 0} : Vec3{0, 1, 0};
  const Vec3 across = cross(normal, helper);
  frame[0] = across / norm(across);
  frame[1] = cross(normal, frame[0]);
  frame[2] = normal;
}

/// A soft ball between the fingers of an arm: seven joints that carry the hand, one for each
/// finger. Contacts are points inside the outermost tetrahedra, as pressure fields make them.
/// Small displacements: points and tetrahedra stay where they are.
struct SoftGrasp {
  struct Point {
    int tet = 0;
    int finger = 0;
    Real weights[4] = {};
    Real gap = 0;
    Real held[2] = {};
  };
  SoftMesh mesh;
  math::BlockCsr a;
  std::vector<Real> u, v, momentum;  // displacement and velocity of the vertices
  std::vector<Point> points;
  std::array<Real, 9> q{}, armVelocity{};
  std::array<Real, 9 * 9> armMass{};
  std::array<Real, 6 * 7> handJacobian{};
  Real dt = 1.0 / 120;
  Real stiffness = 5e3;  // of one contact [N/m]
  Real friction = 0.8, grip = 10, lift = 0;
  bool hasHeld = true;

  explicit SoftGrasp(int n = 9, Real radius = 0.03, const SoftMaterial& material = {},
                     Real threshold = 0.8) {
    mesh = ballMesh(n, radius);
    mesh.addElasticity(material);
    a = mesh.matrix(dt, 0.001);
    const auto size = static_cast<std::size_t>(mesh.numVertices()) * 3;
    u.assign(size, 0);
    v.assign(size, 0);
    momentum.assign(size, 0);
    std::mt19937_64 random(7);
    for (int i = 0; i < 9; ++i) {
      for (int k = 0; k < 9; ++k) {
        if (i >= 7 || k >= 7) continue;
        const Real x = uniform(&random, -0.05, 0.05);
        armMass[9 * i + k] += x;
        armMass[9 * k + i] += x;
      }
      armMass[10 * i] += i < 7 ? 1.2 - 0.15 * i : 0.1;
    }
    for (int k = 0; k < 7; ++k) {  // joints along a bent arm, seen from the ball
      const Vec3 axis = k % 2 == 0 ? Vec3{0, 0, 1} : Vec3{0, 1, 0};
      const Vec3 joint{-0.6 + 0.08 * k, 0.02 * k, 0.5 - 0.03 * k * k};
      const Vec3 velocity = cross(axis, joint * Real(-1));
      for (int e = 0; e < 3; ++e) {
        handJacobian[7 * e + k] = velocity[e];
        handJacobian[7 * (3 + e) + k] = axis[e];
      }
    }
    for (int t = 0; t < static_cast<int>(mesh.tets.size()); ++t) {
      Vec3 center{};
      Real farthest = 0;
      for (const std::int32_t i : mesh.tets[t]) {
        center = center + mesh.vertices[i] * Real(0.25);
        farthest = std::max(farthest, norm(mesh.vertices[i]));
      }
      if (farthest < 0.999 * radius || std::abs(center.x) < threshold * radius) continue;
      Point point;
      point.tet = t;
      point.finger = center.x > 0 ? 1 : 0;
      Real sum = 0;
      for (Real& w : point.weights) sum += w = uniform(&random, 0.05, 1);
      for (Real& w : point.weights) w /= sum;
      Vec3 place{};
      for (int k = 0; k < 4; ++k) {
        place = place + mesh.vertices[mesh.tets[t][k]] * point.weights[k];
      }
      point.gap = 0.93 * radius - std::abs(place.x);
      points.push_back(point);
    }
  }

  /// The problem of the next step; the guess is the present velocity.
  void fill(SapProblem* problem) {
    problem->clear(dt);
    const int arm = problem->addClique(9);
    std::copy(armMass.begin(), armMass.end(), problem->matrix(arm));
    for (int k = 0; k < 9; ++k) {
      problem->velocity(arm)[k] = problem->freeVelocity(arm)[k] = armVelocity[k];
    }
    mesh.stiffness.multiply(u.data(), momentum.data());
    for (int i = 0; i < mesh.numVertices(); ++i) {
      for (int k = 0; k < 3; ++k) {
        const int at = 3 * i + k;
        const Real force = -momentum[at] - (k == 2 ? kSapGravity * mesh.mass[i] : 0);
        momentum[at] = mesh.mass[i] * v[at] + dt * force;
      }
    }
    const int ball =
        problem->addSparseClique(&a, momentum.data(), mesh.mass.data(), mesh.vertices.data());
    std::copy(v.begin(), v.end(), problem->velocity(ball));
    for (const Point& point : points) addPoint(point, ball, arm, problem);
    for (int k = 0; k < 9; ++k) {
      const bool isFinger = k >= 7;
      problem->addDriveOnVelocity(
          arm, k, 1,
          isFinger
              ? SapDrive{.kd = 5, .feedForward = grip}
              : SapDrive{.kp = 2000, .kd = 200, .position = q[k], .targetPosition = liftOf(k)});
    }
  }

  /// Of joint k, for the hand to rise by `lift`.
  [[nodiscard]] Real liftOf(int k) const {
    if (k >= 7) return 0;
    Real squares = 0;
    for (int i = 0; i < 7; ++i) squares += handJacobian[14 + i] * handJacobian[14 + i];
    return lift * handJacobian[14 + k] / squares;
  }

  void addPoint(const Point& point, int ball, int arm, SapProblem* problem) const {
    const auto& tet = mesh.tets[point.tet];
    SapContact contact{.friction = friction, .stiffness = stiffness, .gap = point.gap};
    if (hasHeld) {
      contact.heldImpulse[0] = point.held[0];
      contact.heldImpulse[1] = point.held[1];
    }
    const int c = problem->addContact(ball, arm, contact, tet);
    const Vec3 normal{point.finger == 1 ? Real(-1) : Real(1), 0, 0};
    Vec3 frame[3];
    makeFrame(normal, frame);
    writeSoftRows(frame, point.weights, 1, problem->jacobian1(c));
    Vec3 place{};
    for (int k = 0; k < 4; ++k) place = place + mesh.vertices[tet[k]] * point.weights[k];
    for (int r = 0; r < 3; ++r) {
      const Vec3 moment = cross(place, frame[r]);
      Real* const row = problem->jacobian2(c) + 9 * r;
      for (int k = 0; k < 7; ++k) {
        Real sum = 0;
        for (int e = 0; e < 3; ++e) {
          sum += frame[r][e] * handJacobian[7 * e + k] + moment[e] * handJacobian[7 * (3 + e) + k];
        }
        row[k] = -sum;
      }
      row[7 + point.finger] = -dot(frame[r], normal);  // its finger moves along the normal
    }
  }

  void take(const SapProblem& problem) {
    for (int k = 0; k < 9; ++k) {
      armVelocity[k] = problem.velocity(0)[k];
      q[k] += dt * armVelocity[k];
    }
    const Real* const now = problem.velocity(1);
    for (std::size_t k = 0; k < u.size(); ++k) {
      v[k] = now[k];
      u[k] += dt * now[k];
    }
    for (std::size_t c = 0; c < points.size(); ++c) {
      const int index = static_cast<int>(c);
      points[c].gap += dt * problem.velocityOf(index)[2];
      for (int k = 0; k < 2; ++k) points[c].held[k] = problem.impulseOf(index)[k];
    }
  }
};

}  // namespace tangere::solver::test
