// SPDX-License-Identifier: Apache-2.0
#include "contact/soft_rows.hpp"

#include "contact/body_rows.hpp"
#include "contact/settle_softs.hpp"
#include "dynamics/soft_system.hpp"

#include <algorithm>

namespace tangere::contact {

namespace {

void findDriven(const model::ModelData& model, const model::Control& control, const State& state,
                int index, const SapWorkspace& sap, SoftWork& work);
void findTangled(const model::ModelSoft& soft, SoftWork& work);
Vec3 attachedPoint(const model::ModelAttachment& attachment, const model::ModelData& model,
                   const State& state);

}  // namespace

void addSoftCliques(const model::ModelData& model, const model::Control& control,
                    const State& state, model::Workspace& ws, SapWorkspace& sap) {
  const Real dt = model.options.dt;
  PressureClock& clock = sap.pressure.clock;
  clock.begin();
  ws.report.numInverted = 0;
  for (std::size_t s = 0; s < model.softs.size(); ++s) {
    const model::ModelSoft& soft = model.softs[s];
    SoftWork& work = sap.pressure.softs[s];
    const Vec3* const x = state.softPosition.data() + soft.firstVertex;
    const Vec3* const v = state.softVelocity.data() + soft.firstVertex;
    const Vec3* const force =
        control.softForce.empty() ? nullptr : control.softForce.data() + soft.firstVertex;
    dynamics::assembleSoft(soft.elastic, x, v, dt, model.options.gravity, force, ws.pool.get(),
                           &work.assembly);
    dynamics::keepSpin(soft.elastic, x, v, dt, ws.pool.get(), &work.assembly);
    findDriven(model, control, state, static_cast<int>(s), sap, work);
    work.numTurns = 0;
    work.chordEnergy = -1;
    formSoft(soft, x, dt, {.isTurningFree = isTurnedByStiffness(soft, x, v, dt, ws, work)}, ws,
             work);
    if (work.assembly.numInverted > 0) {
      findTangled(soft, work);
      ws.report.numInverted += work.assembly.numInverted;
      ws.report.status = ws.report.status | StepStatus::ElementsInverted;
      if (ws.report.soft < 0) ws.report.soft = static_cast<int>(s);
    }
    work.clique = sap.problem.addSparseClique(&work.assembly.matrix, &work.assembly.momentum[0].x,
                                              soft.elastic.mass.data(), x, turningOf(work));
    const auto numVelocities = static_cast<std::size_t>(sap.problem.numVelocities());
    sap.v0.resize(numVelocities);
    sap.v1.resize(numVelocities);
    Real* const guess = sap.problem.velocity(work.clique);
    Real* const before = sap.v0.data() + sap.problem.firstVelocity[work.clique];
    const auto numVertices = static_cast<int>(soft.elastic.mass.size());
    for (int i = 0; i < numVertices; ++i) {
      for (int k = 0; k < 3; ++k) before[3 * i + k] = v[i][k];
      const Vec3* const driven = drivenVelocity(work, i);
      const Vec3& start = driven != nullptr ? *driven : v[i];
      guess[3 * i] = start.x;
      guess[3 * i + 1] = start.y;
      guess[3 * i + 2] = start.z;
    }
  }
  clock.end(PressurePart::SoftAssembly);
}

void addAttachmentRows(const model::ModelData& model, const State& state, SapWorkspace& sap) {
  sap.pressure.attachments.clear();
  for (std::size_t s = 0; s < model.softs.size(); ++s) {
    const model::ModelSoft& soft = model.softs[s];
    const SoftWork& work = sap.pressure.softs[s];
    for (std::size_t k = 0; k < soft.attachments.size(); ++k) {
      const model::ModelAttachment& attachment = soft.attachments[k];
      if (work.drivenOf[attachment.vertex] >= 0) continue;
      const Vec3 point = attachedPoint(attachment, model, state);
      const Vec3 error = state.softPosition[soft.firstVertex + attachment.vertex] - point;
      const std::int32_t node = attachment.vertex;
      const int c =
          sap.problem.addBilateral(3, work.clique, cliqueOf(sap, attachment.body), {}, {&node, 1});
      writePointRows(model, state, c, 0, kWorld, point, attachment.body, point, Mat3::identity(),
                     sap);
      for (int row = 0; row < 3; ++row) {
        sap.problem.jacobian1(c)[3 * row + row] = 1;
        sap.problem.target(c)[row] = error[row];
      }
      sap.pressure.attachments.push_back(
          {.soft = static_cast<int>(s), .attachment = static_cast<int>(k), .constraint = c});
    }
  }
}

namespace {

/// Tetrahedra that are inside out, and those that share a vertex with one.
void findTangled(const model::ModelSoft& soft, SoftWork& work) {
  const std::vector<Tet>& tets = soft.elastic.tets;
  const std::vector<std::uint8_t>& isInverted = work.assembly.isInverted;
  work.isNearInverted.assign(soft.elastic.mass.size(), 0);
  for (std::size_t t = 0; t < tets.size(); ++t) {
    if (isInverted[t] == 0) continue;
    for (const int vertex : tets[t]) work.isNearInverted[vertex] = 1;
  }
  work.isTangled.assign(tets.size(), 0);
  for (std::size_t t = 0; t < tets.size(); ++t) {
    for (const int vertex : tets[t]) {
      if (work.isNearInverted[vertex] != 0) work.isTangled[t] = 1;
    }
  }
}

/// The vertices that the caller drives, and those that hang on what the solve does not move.
void findDriven(const model::ModelData& model, const model::Control& control, const State& state,
                int index, const SapWorkspace& sap, SoftWork& work) {
  const model::ModelSoft& soft = model.softs[index];
  const Real dt = model.options.dt;
  work.drivenVertices.clear();
  work.drivenVelocities.clear();
  work.drivenOf.assign(soft.elastic.mass.size(), -1);
  const auto drive = [&](int vertex, const Vec3& target) {
    const Vec3& x = state.softPosition[soft.firstVertex + vertex];
    work.drivenOf[vertex] = static_cast<std::int32_t>(work.drivenVertices.size());
    work.drivenVertices.push_back(vertex);
    work.drivenVelocities.push_back((target - x) * (1 / dt));
  };
  for (const model::DrivenVertex& driven : control.drivenVertices) {
    if (driven.soft == index) drive(driven.vertex, driven.target);
  }
  for (const model::ModelAttachment& attachment : soft.attachments) {
    if (work.drivenOf[attachment.vertex] >= 0) continue;
    const int body = attachment.body;
    if (body >= 0 && cliqueOf(sap, body) >= 0) continue;
    Vec3 target = attachedPoint(attachment, model, state);
    if (body >= 0) {
      const Vec3 arm = target - state.center[body];
      target += (state.velocity[body] + cross(state.angularVelocity[body], arm)) * dt;
    }
    drive(attachment.vertex, target);
  }
}

Vec3 attachedPoint(const model::ModelAttachment& attachment, const model::ModelData& model,
                   const State& state) {
  if (attachment.body < 0) return attachment.point;
  const Mat3 R = rotationMatrix(state.orientation[attachment.body]);
  return state.center[attachment.body] +
         R * (attachment.point - model.bodies[attachment.body].mass.center);
}

}  // namespace

}  // namespace tangere::contact
