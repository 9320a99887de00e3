// SPDX-License-Identifier: Apache-2.0
#include "contact/soft_ledger.hpp"

#include "dynamics/soft_system.hpp"

#include <cmath>

namespace tangere::contact {

namespace {

Vec3 at(const Real* values, int i) { return {values[3 * i], values[3 * i + 1], values[3 * i + 2]}; }

/// What attachments gave to the vertices of a soft body.
void addAttachmentImpulses(const model::ModelData& model, SapWorkspace& sap) {
  for (const AttachmentRow& row : sap.pressure.attachments) {
    const Real* const impulse = sap.problem.impulseOf(row.constraint);
    const int vertex = model.softs[row.soft].attachments[row.attachment].vertex;
    sap.pressure.softs[row.soft].impulse[vertex] += {impulse[0], impulse[1], impulse[2]};
  }
}

}  // namespace

void addSoftEnergy(const model::ModelData& model, const State& state, model::Workspace& ws,
                   SapWorkspace& sap) {
  for (std::size_t s = 0; s < model.softs.size(); ++s) {
    const model::ModelSoft& soft = model.softs[s];
    const Vec3* const x = state.softPosition.data() + soft.firstVertex;
    const Vec3* const v = state.softVelocity.data() + soft.firstVertex;
    Real kinetic = 0, weight = 0;
    for (std::size_t i = 0; i < soft.elastic.mass.size(); ++i) {
      kinetic += Real(0.5) * soft.elastic.mass[i] * squaredNorm(v[i]);
      weight -= soft.elastic.mass[i] * dot(model.options.gravity, x[i]);
    }
    const Real elastic =
        dynamics::elasticEnergy(soft.elastic, x, ws.pool.get(), &sap.pressure.softs[s].assembly);
    ws.treeEnergy.kinetic += kinetic;
    ws.treeEnergy.potential += weight + elastic;
    ws.treeEnergy.scale += kinetic + std::fabs(weight) + elastic;
  }
}

void bookSoftWork(const model::ModelData& model, const model::Control& control, const State& state,
                  model::Workspace& ws, SapWorkspace& sap) {
  addAttachmentImpulses(model, sap);
  const Real dt = model.options.dt;
  for (std::size_t s = 0; s < model.softs.size(); ++s) {
    const model::ModelSoft& soft = model.softs[s];
    const SoftWork& work = sap.pressure.softs[s];
    const Elasticity& law = soft.elastic.elasticity;
    const Real* const v1 = sap.problem.velocity(work.clique);
    const std::vector<Vec3>& drags = dynamics::dragOf(work.assembly);
    Real external = 0, damping = 0, driven = 0, free = 0, kinetic = 0;
    for (int i = 0; i < static_cast<int>(soft.elastic.mass.size()); ++i) {
      const Real mass = soft.elastic.mass[i];
      const Vec3& before = state.softVelocity[soft.firstVertex + i];
      const Vec3 after = at(v1, i), way = (before + after) * (Real(0.5) * dt);
      const Vec3 applied =
          control.softForce.empty() ? Vec3{} : control.softForce[soft.firstVertex + i];
      const Vec3 pull = work.assembly.pull[i] * (work.assembly.stiffening * dt);
      const Vec3 drag = after * (-law.massDamping * mass) - drags[i] * law.damping;
      const Vec3 own = model.options.gravity * mass + work.assembly.force[i] - pull;
      external += dot(applied, way);
      damping += dot(drag, way);
      free += dot(own, way);
      kinetic += Real(0.5) * mass * squaredNorm(after);
      if (work.drivenOf[i] >= 0) {
        // What drives the vertex gives what is missing from its momentum.
        const Vec3 missing =
            (after - before) * mass - (applied + drag + own) * dt - work.impulse[i];
        driven += dot(missing, way) / dt;
      }
    }
    ws.ledger.external += external;
    ws.ledger.damping += damping;
    ws.ledger.kinematic += driven;
    sap.kineticAtStart += kinetic;
    sap.freeWork += free;
  }
}

}  // namespace tangere::contact
