// SPDX-License-Identifier: Apache-2.0
#include <tangere/dynamics.hpp>

#include "core/assert.hpp"
#include "dynamics/fem_assembly.hpp"
#include "dynamics/tendons.hpp"
#include "dynamics/tree_dynamics.hpp"
#include "math/quat.hpp"

#include <algorithm>

namespace tangere {

struct Dynamics::Impl {
  explicit Impl(const Model& made) : model(made), ws(made.data()) {
    x.resize(ws.dofs.size());
    y.resize(ws.dofs.size());
    bias.resize(ws.dofs.size());
    q.resize(static_cast<std::size_t>(model.numPositions()));
    const model::ModelData& data = model.data();
    tendons.resize(data.tendons.size());
    for (std::size_t i = 0; i < tendons.size(); ++i) {
      tendons[i].startLength = dynamics::tendonStartLength(data, static_cast<int>(i));
      tendons[i].row.resize(ws.dofs.size());
      if (data.tendons[i].tendon.armature > 0) withArmature.push_back(static_cast<int>(i));
    }
    solved.resize(withArmature.size() * ws.dofs.size());
    small.resize(withArmature.size() * withArmature.size());
    unknown.resize(withArmature.size());
    for (const model::ModelSoft& soft : data.softs)
      softPositions.insert(softPositions.end(), soft.elastic.rest.begin(), soft.elastic.rest.end());
    softVelocities.resize(softPositions.size());
  }

  [[nodiscard]] const Tendon& tendon(int i) const { return model.data().tendons[i].tendon; }
  void measureTendons() {
    if (areTendonsKnown) return;
    for (std::size_t i = 0; i < tendons.size(); ++i)
      dynamics::measureTendon(model.data(), static_cast<int>(i), q, ws, &tendons[i]);
    areTendonsKnown = true;
  }
  /// x = (M + sum of J^T a J)^-1 M x, where applyInverse makes M^-1 of a vector: by the formula of
  /// Woodbury, with a small matrix of as many rows as tendons have armature.
  template <class ApplyInverse>
  void addArmature(const ApplyInverse& applyInverse);

  [[nodiscard]] const dynamics::TreeRange& range(int tree) const {
    return ws.trees[static_cast<std::size_t>(tree)];
  }
  [[nodiscard]] const Vec3& gravity() const { return model.options().gravity; }
  [[nodiscard]] std::size_t numVelocities() const { return ws.dofs.size(); }
  void requireVelocities(std::span<const Real> v) const {
    TANGERE_REQUIRE(v.size() == numVelocities(), "a vector must have one entry for each velocity",
                    v.size(), numVelocities());
  }
  void requirePositions(std::span<const Real> positions) const {
    TANGERE_REQUIRE(positions.size() == q.size(), "a vector must have one entry for each position",
                    positions.size(), q.size());
  }
  void requireBody(int body) const {
    TANGERE_REQUIRE(body >= 0 && body < model.numBodies(), "no such body", body, model.numBodies());
  }
  void requireEntries(std::span<const Real> out, std::size_t wanted) const {
    TANGERE_REQUIRE(out.size() == wanted, "a matrix has another number of entries", out.size(),
                    wanted);
  }

  /// The bias of the state, computed once.
  const std::vector<Real>& biasInTrees() {
    if (!isBiasKnown) {
      for (int t = 0; t < ws.numTrees(); ++t)
        dynamics::computeBiasForce(ws, t, gravity(), bias.data() + range(t).firstDof);
      measureTendons();
      for (const int i : withArmature) {
        const dynamics::TendonMotion& at = tendons[i];
        for (std::size_t k = 0; k < bias.size(); ++k)
          bias[k] += tendon(i).armature * at.biasRate * at.row[k];
      }
      isBiasKnown = true;
    }
    return bias;
  }
  /// action(mass, position, velocity) for the vertices of all soft bodies.
  template <class Action>
  void forEachVertex(const Action& action) const {
    for (const model::ModelSoft& soft : model.data().softs) {
      for (std::size_t i = 0; i < soft.elastic.mass.size(); ++i) {
        const std::size_t at = static_cast<std::size_t>(soft.firstVertex) + i;
        action(soft.elastic.mass[i], softPositions[at], softVelocities[at]);
      }
    }
  }
  void requireMatrix() {
    if (isMatrixKnown) return;
    for (int t = 0; t < ws.numTrees(); ++t) dynamics::computeMassMatrix(ws, t);
    isMatrixKnown = true;
  }
  /// force - bias in the order of trees.
  void putRightSide(std::span<const Real> force) {
    biasInTrees();
    for (std::size_t k = 0; k < x.size(); ++k)
      x[k] = force[static_cast<std::size_t>(ws.dofs[k].v)] - bias[k];
  }

  Model model;
  dynamics::TreeWorkspace ws;
  bool isBiasKnown = false, isMatrixKnown = false;
  std::vector<Real> bias;  ///< in the order of trees
  std::vector<Real> x, y;  ///< in the order of trees
  std::vector<Real> q;
  std::vector<dynamics::TendonMotion> tendons;
  std::vector<int> withArmature;
  bool areTendonsKnown = false;
  std::vector<Real> solved, small, unknown;  ///< of addArmature()
  std::vector<Vec3> softPositions, softVelocities;
  std::vector<Real> partials;
};

template <class ApplyInverse>
void Dynamics::Impl::addArmature(const ApplyInverse& applyInverse) {
  if (withArmature.empty()) return;
  measureTendons();
  const std::size_t n = x.size(), m = withArmature.size();
  const auto rowOf = [&](std::size_t i) -> const std::vector<Real>& {
    return tendons[withArmature[i]].row;
  };
  const auto dotOf = [&](const std::vector<Real>& row, const Real* other) {
    Real sum = 0;
    for (std::size_t k = 0; k < n; ++k) sum += row[k] * other[k];
    return sum;
  };
  for (std::size_t i = 0; i < m; ++i) {
    std::copy(rowOf(i).begin(), rowOf(i).end(),
              solved.begin() + static_cast<std::ptrdiff_t>(i * n));
    applyInverse(solved.data() + i * n);
  }
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t k = 0; k < m; ++k) small[i * m + k] = dotOf(rowOf(i), solved.data() + k * n);
    small[i * m + i] += 1 / tendon(withArmature[i]).armature;
    unknown[i] = dotOf(rowOf(i), x.data());
  }
  // Symmetric and positive definite: no pivots needed.
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t r = i + 1; r < m; ++r) {
      const Real factor = small[r * m + i] / small[i * m + i];
      for (std::size_t k = i; k < m; ++k) small[r * m + k] -= factor * small[i * m + k];
      unknown[r] -= factor * unknown[i];
    }
  }
  for (std::size_t i = m; i-- > 0;) {
    for (std::size_t k = i + 1; k < m; ++k) unknown[i] -= small[i * m + k] * unknown[k];
    unknown[i] /= small[i * m + i];
  }
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t k = 0; k < n; ++k) x[k] -= solved[i * n + k] * unknown[i];
  }
}

namespace {

const Model& withCoordinates(const Model& model) {
  TANGERE_REQUIRE(model.options().solver != SolverType::Impulse,
                  "a model of the impulse solver has no coordinates; build it with the SAP solver");
  return model;
}

}  // namespace

Dynamics::Dynamics(const Model& model) : impl_(std::make_unique<Impl>(withCoordinates(model))) {}
Dynamics::~Dynamics() = default;
Dynamics::Dynamics(Dynamics&&) noexcept = default;
Dynamics& Dynamics::operator=(Dynamics&&) noexcept = default;

void Dynamics::setState(std::span<const Real> q, std::span<const Real> v) {
  impl_->requirePositions(q);
  impl_->requireVelocities(v);
  std::copy(q.begin(), q.end(), impl_->q.begin());
  impl_->isBiasKnown = false;
  impl_->isMatrixKnown = false;
  impl_->areTendonsKnown = false;
  dynamics::computeTreePositions(impl_->ws, q);
  dynamics::computeTreeVelocities(impl_->ws, v);
}

void Dynamics::setSoftState(std::span<const Vec3> positions, std::span<const Vec3> velocities) {
  const std::size_t wanted = impl_->softPositions.size();
  TANGERE_REQUIRE(positions.size() == wanted && velocities.size() == wanted,
                  "soft bodies have another number of vertices", positions.size(), wanted);
  std::copy(positions.begin(), positions.end(), impl_->softPositions.begin());
  std::copy(velocities.begin(), velocities.end(), impl_->softVelocities.begin());
}

void Dynamics::massMatrix(std::span<Real> out) {
  Impl& d = *impl_;
  const std::size_t n = d.numVelocities();
  d.requireEntries(out, n * n);
  std::fill(out.begin(), out.end(), Real(0));
  d.requireMatrix();
  for (int t = 0; t < d.ws.numTrees(); ++t) {
    const kernel::TreeView<Real> view = d.ws.view(t);
    for (int k = 0; k < view.numDofs; ++k) {
      const kernel::DofT<Real>& dof = view.dofs[k];
      const auto row = static_cast<std::size_t>(dof.v);
      for (int e = 0; e <= dof.depth; ++e) {
        const auto column = static_cast<std::size_t>(view.dofs[view.ancestors[dof.row + e]].v);
        out[row * n + column] = view.matrix[dof.row + e];
        out[column * n + row] = view.matrix[dof.row + e];
      }
    }
  }
  if (d.withArmature.empty()) return;
  d.measureTendons();
  for (const int i : d.withArmature) {
    const std::vector<Real>& row = d.tendons[i].row;
    for (std::size_t k = 0; k < n; ++k) {
      if (row[k] == 0) continue;
      for (std::size_t l = 0; l < n; ++l)
        out[static_cast<std::size_t>(d.ws.dofs[k].v) * n +
            static_cast<std::size_t>(d.ws.dofs[l].v)] += d.tendon(i).armature * row[k] * row[l];
    }
  }
}

void Dynamics::biasForce(std::span<Real> out) {
  Impl& d = *impl_;
  d.requireVelocities(out);
  dynamics::scatterVelocities(d.ws, d.biasInTrees(), out);
}

void Dynamics::passiveForce(std::span<Real> out) {
  Impl& d = *impl_;
  d.requireVelocities(out);
  std::fill(d.x.begin(), d.x.end(), Real(0));
  for (int t = 0; t < d.ws.numTrees(); ++t)
    dynamics::addPassiveForce(d.ws, t, d.q, d.x.data() + d.range(t).firstDof);
  d.measureTendons();
  for (int i = 0; i < static_cast<int>(d.tendons.size()); ++i) {
    const dynamics::TendonMotion& at = d.tendons[i];
    const Real force =
        d.tendon(i).stiffness * dynamics::springStretch(d.tendon(i), at.length, at.startLength) +
        d.tendon(i).damping * at.rate;
    for (std::size_t k = 0; k < d.x.size(); ++k) d.x[k] -= force * at.row[k];
  }
  dynamics::scatterVelocities(d.ws, d.x, out);
}

void Dynamics::inverseDynamics(std::span<const Real> acceleration, std::span<Real> force) {
  Impl& d = *impl_;
  d.requireVelocities(acceleration);
  d.requireVelocities(force);
  dynamics::gatherVelocities(d.ws, acceleration, d.x);
  for (int t = 0; t < d.ws.numTrees(); ++t) {
    const int first = d.range(t).firstDof;
    dynamics::computeInverseDynamics(d.ws, t, d.gravity(), d.x.data() + first, {},
                                     d.y.data() + first);
  }
  d.measureTendons();
  for (const int i : d.withArmature) {
    const dynamics::TendonMotion& at = d.tendons[i];
    Real change = at.biasRate;
    for (std::size_t k = 0; k < d.x.size(); ++k) change += at.row[k] * d.x[k];
    for (std::size_t k = 0; k < d.y.size(); ++k)
      d.y[k] += d.tendon(i).armature * change * at.row[k];
  }
  dynamics::scatterVelocities(d.ws, d.y, force);
}

void Dynamics::forwardDynamics(std::span<const Real> force, std::span<Real> acceleration) {
  Impl& d = *impl_;
  d.requireVelocities(force);
  d.requireVelocities(acceleration);
  d.putRightSide(force);
  for (int t = 0; t < d.ws.numTrees(); ++t) dynamics::factorArticulatedBodies(d.ws, t);
  const auto applyInverse = [&](Real* x) {
    for (int t = 0; t < d.ws.numTrees(); ++t)
      dynamics::solveArticulatedBodies(d.ws, t, x + d.range(t).firstDof);
  };
  applyInverse(d.x.data());
  d.addArmature(applyInverse);
  dynamics::scatterVelocities(d.ws, d.x, acceleration);
}

void Dynamics::forwardDynamicsByFactors(std::span<const Real> force, std::span<Real> acceleration) {
  Impl& d = *impl_;
  d.requireVelocities(force);
  d.requireVelocities(acceleration);
  d.requireMatrix();
  d.putRightSide(force);
  for (int t = 0; t < d.ws.numTrees(); ++t) dynamics::factorMassMatrix(d.ws, t);
  const auto applyInverse = [&](Real* x) {
    for (int t = 0; t < d.ws.numTrees(); ++t)
      dynamics::solveMassMatrix(d.ws, t, x + d.range(t).firstDof);
  };
  applyInverse(d.x.data());
  d.addArmature(applyInverse);
  dynamics::scatterVelocities(d.ws, d.x, acceleration);
}

void Dynamics::jacobian(int body, const Vec3& point, std::span<Real> out) {
  Impl& d = *impl_;
  const std::size_t n = d.numVelocities();
  d.requireBody(body);
  d.requireEntries(out, 6 * n);
  std::fill(out.begin(), out.end(), Real(0));
  const int link = d.model.data().linkOfBody[static_cast<std::size_t>(body)];
  if (link < 0) return;
  const kernel::TreeView<Real> view = d.ws.view(d.ws.treeOfLink[static_cast<std::size_t>(link)]);
  const Vec3 p = point - view.frame->center();
  for (int k = d.ws.links[static_cast<std::size_t>(link)].lastDof; k >= 0;
       k = view.dofs[k].parent) {
    const Vec3 moving = kernel::pointColumn(view, k, p);
    const Vec3& turning = view.subspace[k].angular;
    const auto column = static_cast<std::size_t>(view.dofs[k].v);
    for (int i = 0; i < 3; ++i) {
      out[static_cast<std::size_t>(i) * n + column] = moving[i];
      out[static_cast<std::size_t>(3 + i) * n + column] = turning[i];
    }
  }
}

Transform Dynamics::bodyPose(int body) const {
  impl_->requireBody(body);
  const model::ModelData& data = impl_->model.data();
  const int link = data.linkOfBody[static_cast<std::size_t>(body)];
  if (link < 0) return data.bodies[static_cast<std::size_t>(body)].startPose;
  return dynamics::linkPose(impl_->ws, link);
}

BodyVelocity Dynamics::bodyVelocity(int body) const {
  impl_->requireBody(body);
  const model::ModelData& data = impl_->model.data();
  const int link = data.linkOfBody[static_cast<std::size_t>(body)];
  if (link < 0) return {};
  return {dynamics::linkVelocity(impl_->ws, link), dynamics::linkAngularVelocity(impl_->ws, link)};
}

Vec3 Dynamics::centerOfMass() const {
  const Impl& d = *impl_;
  Real mass = 0;
  Vec3 moment;
  const Vec3 origin = !d.ws.frame.empty()        ? d.ws.frame[0].base
                      : !d.softPositions.empty() ? d.softPositions[0]
                                                 : Vec3{};
  for (const kernel::TreeFrameT<Real>& frame : d.ws.frame) {
    mass += frame.mass;
    moment += ((frame.base - origin) + frame.reference) * frame.mass;
  }
  d.forEachVertex([&](Real m, const Vec3& x, const Vec3&) {
    mass += m;
    moment += (x - origin) * m;
  });
  return mass > 0 ? origin + moment / mass : origin;
}

Real Dynamics::kineticEnergy() const {
  Real sum = 0;
  for (int t = 0; t < impl_->ws.numTrees(); ++t) sum += dynamics::treeKineticEnergy(impl_->ws, t);
  impl_->measureTendons();
  for (const int i : impl_->withArmature)
    sum += Real(0.5) * impl_->tendon(i).armature * impl_->tendons[i].rate * impl_->tendons[i].rate;
  impl_->forEachVertex(
      [&](Real m, const Vec3&, const Vec3& v) { sum += Real(0.5) * m * squaredNorm(v); });
  return sum;
}

Real Dynamics::potentialEnergy() const {
  Real sum = 0;
  for (int t = 0; t < impl_->ws.numTrees(); ++t)
    sum += dynamics::treePotentialEnergy(impl_->ws, t, impl_->gravity(), impl_->q);
  impl_->measureTendons();
  for (int i = 0; i < static_cast<int>(impl_->tendons.size()); ++i) {
    const dynamics::TendonMotion& at = impl_->tendons[i];
    const Real stretch = dynamics::springStretch(impl_->tendon(i), at.length, at.startLength);
    sum += Real(0.5) * impl_->tendon(i).stiffness * stretch * stretch;
  }
  impl_->forEachVertex(
      [&](Real m, const Vec3& x, const Vec3&) { sum -= m * dot(impl_->gravity(), x); });
  for (const model::ModelSoft& soft : impl_->model.data().softs)
    sum += dynamics::elasticEnergy(soft.elastic, impl_->softPositions.data() + soft.firstVertex,
                                   nullptr, &impl_->partials);
  return sum;
}

Momentum Dynamics::momentum() const {
  const Impl& d = *impl_;
  Momentum sum;
  const Vec3 center = centerOfMass();
  for (int t = 0; t < d.ws.numTrees(); ++t) {
    const math::SpatialT<Real> part = dynamics::treeMomentum(d.ws, t);
    sum.linear += part.linear;
    sum.angular += part.angular +
                   cross(d.ws.frame[static_cast<std::size_t>(t)].center() - center, part.linear);
  }
  d.forEachVertex([&](Real m, const Vec3& x, const Vec3& v) {
    sum.linear += v * m;
    sum.angular += cross(x - center, v) * m;
  });
  return sum;
}

void Dynamics::integratePositions(std::span<const Real> q, std::span<const Real> v, Real dt,
                                  std::span<Real> out) const {
  impl_->requirePositions(q);
  impl_->requireVelocities(v);
  impl_->requirePositions(out);
  dynamics::integratePositions(impl_->ws, q, v, dt, out);
}

void Dynamics::differentiatePositions(std::span<const Real> q1, std::span<const Real> q2,
                                      std::span<Real> v) const {
  impl_->requirePositions(q1);
  impl_->requirePositions(q2);
  impl_->requireVelocities(v);
  dynamics::differentiatePositions(impl_->ws, q1, q2, v);
}

namespace {

Dynamics at(const Model& model, const State& state) {
  Dynamics dynamics(model);
  dynamics.setState(state.q, state.v);
  dynamics.setSoftState(state.softPosition, state.softVelocity);
  return dynamics;
}

std::size_t numVelocities(const Model& model) {
  return static_cast<std::size_t>(model.numVelocities());
}

}  // namespace

std::vector<Real> massMatrix(const Model& model, const State& state) {
  std::vector<Real> out(numVelocities(model) * numVelocities(model));
  at(model, state).massMatrix(out);
  return out;
}

std::vector<Real> biasForce(const Model& model, const State& state) {
  std::vector<Real> out(numVelocities(model));
  at(model, state).biasForce(out);
  return out;
}

std::vector<Real> passiveForce(const Model& model, const State& state) {
  std::vector<Real> out(numVelocities(model));
  at(model, state).passiveForce(out);
  return out;
}

std::vector<Real> inverseDynamics(const Model& model, const State& state,
                                  std::span<const Real> acceleration) {
  std::vector<Real> out(numVelocities(model));
  at(model, state).inverseDynamics(acceleration, out);
  return out;
}

std::vector<Real> forwardDynamics(const Model& model, const State& state,
                                  std::span<const Real> force) {
  std::vector<Real> out(numVelocities(model));
  at(model, state).forwardDynamics(force, out);
  return out;
}

std::vector<Real> jacobian(const Model& model, const State& state, int body, const Vec3& point) {
  std::vector<Real> out(6 * numVelocities(model));
  at(model, state).jacobian(body, point, out);
  return out;
}

Transform bodyPose(const Model& model, const State& state, int body) {
  const Transform X_WB = at(model, state).bodyPose(body);
  if (model.bodyType(body) != BodyType::Kinematic) return X_WB;
  const Mat3 R = rotationMatrix(state.orientation[static_cast<std::size_t>(body)]);
  return {R, state.center[static_cast<std::size_t>(body)] - R * model.massProperties(body).center};
}

BodyVelocity bodyVelocity(const Model& model, const State& state, int body) {
  const BodyVelocity velocity = at(model, state).bodyVelocity(body);
  if (model.bodyType(body) != BodyType::Kinematic) return velocity;
  return {state.velocity[static_cast<std::size_t>(body)],
          state.angularVelocity[static_cast<std::size_t>(body)]};
}

Vec3 centerOfMass(const Model& model, const State& state) {
  return at(model, state).centerOfMass();
}

Real kineticEnergy(const Model& model, const State& state) {
  return at(model, state).kineticEnergy();
}

Real potentialEnergy(const Model& model, const State& state) {
  return at(model, state).potentialEnergy();
}

Momentum momentum(const Model& model, const State& state) { return at(model, state).momentum(); }

std::vector<Real> integratePositions(const Model& model, std::span<const Real> q,
                                     std::span<const Real> v, Real dt) {
  std::vector<Real> out(static_cast<std::size_t>(model.numPositions()));
  Dynamics(model).integratePositions(q, v, dt, out);
  return out;
}

std::vector<Real> differentiatePositions(const Model& model, std::span<const Real> q1,
                                         std::span<const Real> q2) {
  std::vector<Real> out(numVelocities(model));
  Dynamics(model).differentiatePositions(q1, q2, out);
  return out;
}

}  // namespace tangere
