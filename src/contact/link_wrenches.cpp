// SPDX-License-Identifier: Apache-2.0
#include "contact/link_wrenches.hpp"

#include "contact/tendon_rows.hpp"

namespace tangere::contact {

namespace {

/// Adds forces at points to the wrenches of bodies.
class WrenchSum {
 public:
  WrenchSum(const model::ModelData& model, const model::Workspace& ws,
            std::vector<dynamics::LinkWrench>* ofBody)
      : model_(model), ws_(ws), wrenches_(*ofBody) {}

  /// X_WB at the start of the step.
  [[nodiscard]] Transform pose(int body) const {
    return body < 0 ? Transform{} : ws_.bodyPose[body];
  }
  [[nodiscard]] Transform sitePose(int site) const {
    const model::ModelSite& s = model_.sites[site];
    return pose(s.body) * s.site.pose;
  }
  void addForce(int body, const Vec3& point, const Vec3& force) {
    if (body < 0) return;
    addAtCenter(body, point - pose(body) * model_.bodies[body].mass.center, force);
  }
  void addAtCenter(int body, const Vec3& arm, const Vec3& force) {
    wrenches_[body].force += force;
    wrenches_[body].torque += cross(arm, force);
  }
  void addTorque(int body, const Vec3& torque) {
    if (body >= 0) wrenches_[body].torque += torque;
  }

 private:
  const model::ModelData& model_;
  const model::Workspace& ws_;
  std::vector<dynamics::LinkWrench>& wrenches_;
};

void addContacts(const model::Workspace& ws, const SapWorkspace& sap, WrenchSum* sum);
void addPressure(const model::ModelData& model, const SapWorkspace& sap, WrenchSum* sum);
void addEqualities(const model::ModelData& model, const SapWorkspace& sap, WrenchSum* sum);
void addTendons(const model::ModelData& model, const SapWorkspace& sap, WrenchSum* sum);
void addSiteDrives(const model::ModelData& model, const SapWorkspace& sap, WrenchSum* sum);
void addHandled(const SapWorkspace& sap, WrenchSum* sum);

}  // namespace

void collectWrenches(const model::ModelData& model, const model::Workspace& ws,
                     const SapWorkspace& sap, std::vector<dynamics::LinkWrench>* ofBody) {
  ofBody->resize(model.bodies.size());
  for (std::size_t i = 0; i < ofBody->size(); ++i) {
    (*ofBody)[i].force += sap.start.force[i];
    (*ofBody)[i].torque += sap.start.torque[i];
  }
  WrenchSum sum(model, ws, ofBody);
  addContacts(ws, sap, &sum);
  addPressure(model, sap, &sum);
  addEqualities(model, sap, &sum);
  addTendons(model, sap, &sum);
  addSiteDrives(model, sap, &sum);
  addHandled(sap, &sum);
}

namespace {

Vec3 vectorOf(const Real* values, Real scale) {
  return {values[0] * scale, values[1] * scale, values[2] * scale};
}

void addContacts(const model::Workspace& ws, const SapWorkspace& sap, WrenchSum* sum) {
  const Real perTime = 1 / sap.problem.dt;
  for (const solver::ImpulseGroup& group : ws.problem.groups) {
    for (int i = group.first; i < group.first + group.count; ++i) {
      const solver::ImpulsePoint& point = ws.problem.points[i];
      const Vec3 force =
          (point.normal * point.normalImpulse + point.tangent1 * point.tangentImpulse[0] +
           point.tangent2 * point.tangentImpulse[1]) *
          perTime;
      sum->addAtCenter(group.block1, point.r1, force);
      sum->addAtCenter(group.block2, point.r2, -force);
    }
  }
}

/// Of polygons, and of soft bodies that hang on links.
void addPressure(const model::ModelData& model, const SapWorkspace& sap, WrenchSum* sum) {
  const Real perTime = 1 / sap.problem.dt;
  for (const PressureContact& contact : sap.pressure.contacts) {
    if (contact.constraint < 0) continue;
    const Vec3 force = contact.frame * vectorOf(sap.problem.impulseOf(contact.constraint), perTime);
    if (contact.object1 < model.shapes.size())
      sum->addForce(model.shapes[contact.object1].body, contact.point1, force);
    if (contact.object2 < model.shapes.size())
      sum->addForce(model.shapes[contact.object2].body, contact.point2, -force);
    if (contact.tilt < 0) continue;
    const Real* const tilt = sap.problem.impulseOf(contact.tilt);
    const Vec3 torque = (contact.tiltAxis[0] * tilt[0] + contact.tiltAxis[1] * tilt[1]) * perTime;
    if (contact.object1 < model.shapes.size())
      sum->addTorque(model.shapes[contact.object1].body, torque);
    if (contact.object2 < model.shapes.size())
      sum->addTorque(model.shapes[contact.object2].body, -torque);
  }
  for (const AttachmentRow& row : sap.pressure.attachments) {
    const model::ModelAttachment& attachment = model.softs[row.soft].attachments[row.attachment];
    sum->addForce(attachment.body, sum->pose(attachment.body) * attachment.point,
                  -vectorOf(sap.problem.impulseOf(row.constraint), perTime));
  }
}

void addEqualities(const model::ModelData& model, const SapWorkspace& sap, WrenchSum* sum) {
  const Real perTime = 1 / sap.problem.dt;
  for (const RowOwner& owner : sap.owners) {
    if (owner.kind != RowOwner::Kind::Equality) continue;
    const model::ModelEquality& equality = model.equalities[owner.index];
    const Equality::Type type = equality.equality.type;
    if (type == Equality::Type::Joint || type == Equality::Type::Tendon) continue;
    const Real* impulse = sap.problem.impulseOf(owner.constraint);
    const Vec3 p1 = sum->pose(equality.first) * equality.anchor1;
    const Vec3 p2 = sum->pose(equality.second) * equality.anchor2;
    const Vec3 force = type == Equality::Type::Distance
                           ? (p1 - p2) * (impulse[0] * perTime / norm(p1 - p2))
                           : vectorOf(impulse, perTime);
    sum->addForce(equality.first, p1, force);
    sum->addForce(equality.second, p2, -force);
    if (type == Equality::Type::Weld) {
      const Vec3 torque = vectorOf(impulse + 3, perTime);
      sum->addTorque(equality.first, torque);
      sum->addTorque(equality.second, -torque);
    }
  }
}

Real slopeOf(const std::array<Real, 5>& polynomial, Real x) {
  Real slope = 0;
  for (int i = 4; i >= 1; --i) slope = slope * x + static_cast<Real>(i) * polynomial[i];
  return slope;
}

/// Force that lengthens the tendon: what its rows and actuators do along it.
Real tensionOf(int tendon, const model::ModelData& model, const SapWorkspace& sap) {
  Real impulses = 0;
  for (const RowOwner& owner : sap.owners) {
    const Real impulse = sap.problem.impulseOf(owner.constraint)[0];
    switch (owner.kind) {
      case RowOwner::Kind::Limit:
      case RowOwner::Kind::Friction:
        break;
      case RowOwner::Kind::TendonLimit:
      case RowOwner::Kind::TendonFriction:
      case RowOwner::Kind::TendonSpring:
      case RowOwner::Kind::TendonArmature:
        if (owner.index == tendon) impulses += owner.sign * impulse;
        break;
      case RowOwner::Kind::Equality: {
        const model::ModelEquality& equality = model.equalities[owner.index];
        if (equality.equality.type != Equality::Type::Tendon) break;
        if (equality.first == tendon) impulses += impulse;
        if (equality.second == tendon) {
          const TendonState& at = sap.tendons[tendon];
          impulses -= slopeOf(equality.equality.polynomial, at.length - at.startLength) * impulse;
        }
        break;
      }
    }
  }
  Real force = impulses / sap.problem.dt;
  for (std::size_t i = 0; i < model.actuators.size(); ++i) {
    const model::ModelActuator& actuator = model.actuators[i];
    if (actuator.actuator.target == Actuator::Target::Tendon && actuator.target == tendon)
      force += actuator.actuator.gear[0] * sap.drives[i].force;
  }
  return force;
}

void addTendons(const model::ModelData& model, const SapWorkspace& sap, WrenchSum* sum) {
  for (int i = 0; i < static_cast<int>(model.tendons.size()); ++i) {
    const model::ModelTendon& tendon = model.tendons[i];
    if (tendon.sites.empty()) continue;
    const Real tension = tensionOf(i, model, sap);
    forEachPiece(tendon, [&](int a, int b, Real weight) {
      const Vec3 pa = sum->sitePose(a).translation, pb = sum->sitePose(b).translation;
      const Real length = norm(pb - pa);
      if (!(length > 0)) return;
      const Vec3 force = (pb - pa) * (weight * tension / length);
      sum->addForce(model.sites[b].body, pb, force);
      sum->addForce(model.sites[a].body, pa, -force);
    });
  }
}

void addSiteDrives(const model::ModelData& model, const SapWorkspace& sap, WrenchSum* sum) {
  for (std::size_t i = 0; i < model.actuators.size(); ++i) {
    const model::ModelActuator& actuator = model.actuators[i];
    if (actuator.actuator.target != Actuator::Target::Site) continue;
    const Transform X_WS = sum->sitePose(actuator.target);
    const Real* gear = actuator.actuator.gear.data();
    const int body = model.sites[actuator.target].body;
    sum->addForce(body, X_WS.translation, X_WS.rotation * vectorOf(gear, sap.drives[i].force));
    sum->addTorque(body, X_WS.rotation * vectorOf(gear + 3, sap.drives[i].force));
  }
}

void addHandled(const SapWorkspace& sap, WrenchSum* sum) {
  for (const HandledConstraint& handled : sap.handled) {
    if (handled.constraint < 0) continue;
    const Real* impulse = sap.problem.impulseOf(handled.constraint);
    for (int k = 0; k < handled.rows.numRows; ++k) {
      const ConstraintRow& row = handled.rows.row[k];
      const Vec3 force = row.direction * (impulse[k] / sap.problem.dt);
      if (row.isAngular) {
        sum->addTorque(handled.rows.body1, force);
        sum->addTorque(handled.rows.body2, -force);
      } else {
        sum->addForce(handled.rows.body1, row.point1, force);
        sum->addForce(handled.rows.body2, row.point2, -force);
      }
    }
  }
}

}  // namespace

}  // namespace tangere::contact
