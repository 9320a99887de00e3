// SPDX-License-Identifier: Apache-2.0
#include "contact/settle_softs.hpp"

#include "dynamics/soft_system.hpp"

#include <algorithm>
#include <cmath>

namespace tangere::contact {

namespace {

/// Of the energies that took part in a step: above what the solver leaves open, and so little that
/// thousands of steps add nothing that is seen.
constexpr Real kGain = 1e-6;
/// Of the momenta of a body: far below what else is wrong in a step.
constexpr Real kTorque = 1e-6;
/// Strains of rounding, where there is no energy to speak of.
constexpr Real kLeastStrain = 1e-9;

/// What the step of a body says about itself.
struct SoftStep {
  Real gain = 0;     ///< see the head of settle_softs.hpp [J]
  Real allowed = 0;  ///< of it [J]
  Real torque = 0;   ///< what stiffness makes of the turn of the body, in turns [J^1/2]
  Real size = 0;     ///< of the momenta, likewise
};

bool isTouched(int clique, const SapWorkspace& sap);
SoftStep readStep(const model::ModelSoft& soft, const Vec3* x, const Vec3* v0, bool isFree, Real dt,
                  model::Workspace& ws, SapWorkspace& sap, SoftWork& work);
bool followTurn(const model::ModelSoft& soft, const Vec3* x, Real dt, const SoftStep& step,
                model::Workspace& ws, SapWorkspace& sap, SoftWork& work);

}  // namespace

void formSoft(const model::ModelSoft& soft, const Vec3* x, Real dt, const SoftForm& form,
              model::Workspace& ws, SoftWork& work) {
  dynamics::SoftAssembly& assembly = work.assembly;
  if (form.isTurningFree || form.stiffening > 1) {  // else it is as assembled
    dynamics::formSystem(soft.elastic, x, dt, form.stiffening, form.isTurningFree, ws.pool.get(),
                         &assembly);
  }
  dynamics::applyVertexConstraints(soft.elastic, work.drivenVertices, work.drivenVelocities,
                                   &assembly);
  work.turning = {.p = assembly.turningP.data(), .q = assembly.turningQ.data()};
  std::copy_n(assembly.turningC, 9, work.turning.c);
}

bool isTurnedByStiffness(const model::ModelSoft& soft, const Vec3* x, const Vec3* v, Real dt,
                         model::Workspace& ws, SoftWork& work) {
  constexpr Real kSlow = 1e-4;  // against what the elastic forces could do within the step
  const model::SoftMesh& mesh = soft.elastic;
  Vec3 momentum{};
  Real mass = 0;
  for (int i = 0; i < mesh.numVertices; ++i) {
    momentum += v[i] * mesh.mass[i];
    mass += mesh.mass[i];
  }
  const Vec3 drift = momentum / mass;
  Real deforming = 0, size = 0;
  for (int i = 0; i < mesh.numVertices; ++i) {
    const Real m = mesh.mass[i];
    deforming += m * squaredNorm(v[i] - drift - work.assembly.spin[i]);
    size += m * squaredNorm(v[i]) + squaredNorm(work.assembly.force[i]) * (dt * dt / m);
  }
  if (!(deforming > kSlow * kSlow * size)) return false;
  const Vec3 turns = dynamics::readPull(mesh, x, v, ws.pool.get(), &work.assembly);
  const Real scale = dynamics::scalesOf(mesh, dt, 1).turning;
  return norm(turns) * scale > kTorque * std::sqrt(size);
}

bool settleSofts(const model::ModelData& model, const State& state, model::Workspace& ws,
                 SapWorkspace& sap) {
  constexpr Real kMostStiffening = 1 << 20, kFactor = 4;
  const Real dt = model.options.dt;
  bool isSettled = true;
  for (std::size_t s = 0; s < model.softs.size(); ++s) {
    const model::ModelSoft& soft = model.softs[s];
    SoftWork& work = sap.pressure.softs[s];
    const Vec3* const x = state.softPosition.data() + soft.firstVertex;
    const Vec3* const v0 = state.softVelocity.data() + soft.firstVertex;
    const bool isFree = work.drivenVertices.empty() && !isTouched(work.clique, sap);
    const SoftStep step = readStep(soft, x, v0, isFree, dt, ws, sap, work);
    dynamics::SoftAssembly& assembly = work.assembly;
    work.isGaining = !(step.gain <= step.allowed);
    SoftForm form{.stiffening = assembly.stiffening, .isTurningFree = true};
    if (!assembly.isTurningFree && step.torque > kTorque * step.size) {
      // Energies are looked at when the turn is out of it.
    } else if (work.isGaining && assembly.stiffening < kMostStiffening) {
      if (!followTurn(soft, x, dt, step, ws, sap, work)) form.stiffening *= kFactor;
    } else {
      continue;
    }
    formSoft(soft, x, dt, form, ws, work);
    sap.problem.sparseCliques[sap.problem.sparseOf[work.clique]].turning = turningOf(work);
    isSettled = false;
  }
  return isSettled;
}

int firstGaining(const SapWorkspace& sap) {
  for (std::size_t s = 0; s < sap.pressure.softs.size(); ++s) {
    if (sap.pressure.softs[s].isGaining) return static_cast<int>(s);
  }
  return -1;
}

namespace {

bool isTouched(int clique, const SapWorkspace& sap) {
  return std::any_of(
      sap.problem.constraints.begin(), sap.problem.constraints.end(),
      [&](const solver::SapConstraint& c) { return c.clique1 == clique || c.clique2 == clique; });
}

SoftStep readStep(const model::ModelSoft& soft, const Vec3* x, const Vec3* v0, bool isFree, Real dt,
                  model::Workspace& ws, SapWorkspace& sap, SoftWork& work) {
  const model::SoftMesh& mesh = soft.elastic;
  dynamics::SoftAssembly& assembly = work.assembly;
  auto* const v1 = reinterpret_cast<Vec3*>(sap.problem.velocity(work.clique));
  const Vec3 turns = dynamics::readPull(mesh, x, v1, ws.pool.get(), &assembly);
  const dynamics::SystemScales scales = dynamics::scalesOf(mesh, dt, assembly.stiffening);
  SoftStep out{.torque = norm(turns) * scales.turning};
  if (isFree) dynamics::closeMomentum(mesh, x, dt, v1, &assembly);
  std::vector<Vec3>& x1 = assembly.scratch;
  Vec3 momentum{};
  Real gained = 0, change = 0, before = 0, after = 0, rigid = 0, thrust = 0, mass = 0;
  for (int i = 0; i < mesh.numVertices; ++i) {
    const Real m = mesh.mass[i];
    const Vec3 force = assembly.force[i] - assembly.pull[i] * (assembly.stiffening * dt);
    x1[i] = x[i] + v1[i] * dt;
    gained += dot(force, v1[i]) * dt;
    change += m * squaredNorm(v1[i] - v0[i]);
    before += m * squaredNorm(v0[i]);
    after += m * squaredNorm(v1[i]);
    rigid += m * squaredNorm(assembly.spin[i]);
    thrust += squaredNorm(assembly.force[i]) * (dt * dt / m);
    momentum += v0[i] * m;
    mass += m;
  }
  if (!std::isfinite(after)) return {};  // refused as such
  const Real energy1 = dynamics::elasticEnergy(mesh, x1.data(), ws.pool.get(), &assembly);
  out.gain = energy1 - assembly.energy + gained - Real(0.5) * change;
  // Velocities that somebody has set are no chords, which have more energy at the same momentum.
  if (work.chordEnergy < 0)  // with the turn that they have, not yet that of a solution
    work.chordEnergy = Real(0.5) * std::max<Real>(rigid + squaredNorm(momentum) / mass - before, 0);
  out.allowed = kGain * (assembly.energy + energy1 + Real(0.5) * (before + after)) +
                work.chordEnergy +
                kLeastStrain * kLeastStrain * mesh.elasticity.young * mass / mesh.density;
  out.size = std::sqrt(after + thrust);
  return out;
}

/// Takes over the turn that the solution has: what holds or strikes a body turns it otherwise than
/// it went, and chords stretch it, however stiff it is. Whether that is worth a solution of its
/// own.
bool followTurn(const model::ModelSoft& soft, const Vec3* x, Real dt, const SoftStep& step,
                model::Workspace& ws, SapWorkspace& sap, SoftWork& work) {
  constexpr int kMostRounds = 3;
  const auto* const v1 = reinterpret_cast<const Vec3*>(sap.problem.velocity(work.clique));
  const Real change = dynamics::followSpin(soft.elastic, x, v1, dt, ws.pool.get(), &work.assembly);
  return change > kTorque * step.size && work.numTurns++ < kMostRounds;
}

}  // namespace

}  // namespace tangere::contact
