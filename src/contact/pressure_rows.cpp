// SPDX-License-Identifier: Apache-2.0
#include "contact/pressure_rows.hpp"

#include "contact/body_rows.hpp"
#include "contact/soft_rows.hpp"
#include "math/contact_frame.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

namespace tangere::contact {

namespace {

/// A side of a polygon: a body, or vertices of a soft body.
struct Side {
  int body = kWorld;
  int soft = -1;
  std::array<std::int32_t, 4> vertices{};
  std::array<Real, 4> weights{};
};

Side sideOf(std::uint32_t object, std::int32_t element, const std::array<Real, 4>& weights,
            const model::ModelData& model);
int cliqueOfSide(const Side& side, const SapWorkspace& sap);
/// Velocity of the side at p, of the State.
Vec3 velocityOfSide(const Side& side, const Vec3& p, const model::ModelData& model,
                    const State& state);
void addPolygon(const model::ModelData& model, const State& state, PressureContact& contact,
                SapWorkspace& sap);
const model::ContactMaterial& materialOf(const PressureContact& contact,
                                         const model::ModelData& model);
Real frictionOf(const PressureContact& contact, const model::ModelData& model);

auto keyOf(const PressureContact& contact) {
  return std::tuple(contact.object1, contact.object2, contact.polygon.element1,
                    contact.polygon.element2, std::int64_t{contact.part});
}
auto keyOf(const HeldFriction& held) {
  return std::tuple(held.object1, held.object2, held.element1, held.element2, held.part);
}

}  // namespace

void addPressureRows(const model::ModelData& model, const State& state, SapWorkspace& sap) {
  for (PressureContact& contact : sap.pressure.contacts) addPolygon(model, state, contact, sap);
}

void storeHeldFriction(const SapWorkspace& sap, State& state) {
  state.heldFriction.clear();
  for (const PressureContact& contact : sap.pressure.contacts) {
    if (contact.constraint < 0) continue;
    const Real* const impulse = sap.problem.impulseOf(contact.constraint);
    if (!(impulse[2] > 0)) continue;
    state.heldFriction.push_back(
        {.object1 = contact.object1,
         .object2 = contact.object2,
         .element1 = contact.polygon.element1,
         .element2 = contact.polygon.element2,
         .part = contact.part,
         .tangent = contact.frame.col[0] * impulse[0] + contact.frame.col[1] * impulse[1],
         .normal = impulse[2]});
  }
}

void bookPressureWork(const model::ModelData& model, const State& state, model::Workspace& ws,
                      SapWorkspace& sap) {
  for (SoftWork& work : sap.pressure.softs) work.impulse.assign(work.drivenOf.size(), {});
  for (PressureContact& contact : sap.pressure.contacts) {
    if (contact.constraint < 0) continue;
    const collision::ContactPolygon& polygon = contact.polygon;
    ws.report.maxDepth = std::max(ws.report.maxDepth, -contact.gap);
    const Real* const impulse = sap.problem.impulseOf(contact.constraint);
    const Real* const after = sap.problem.velocityOf(contact.constraint);
    const auto workOf = [&](int row) {
      return Real(0.5) * impulse[row] * (contact.velocityBefore[row] + after[row]);
    };
    contact.normalWork = workOf(2);
    contact.frictionWork = workOf(0) + workOf(1);
    ws.ledger.contactNormal += contact.normalWork;
    ws.ledger.contactFriction += contact.frictionWork;

    const Vec3 given = contact.frame * Vec3{impulse[0], impulse[1], impulse[2]};
    const auto take = [&](const Side& side, const Vec3& point, const Vec3& share) {
      if (side.soft >= 0) {
        std::vector<Vec3>& impulses = sap.pressure.softs[side.soft].impulse;
        for (int i = 0; i < 4; ++i) impulses[side.vertices[i]] += share * side.weights[i];
      } else if (side.body >= 0 && model.bodies[side.body].type == BodyType::Kinematic) {
        ws.ledger.kinematic -= dot(share, velocityOfSide(side, point, model, state));
      }
    };
    take(sideOf(contact.object1, polygon.element1, polygon.weight1, model), contact.point1, given);
    take(sideOf(contact.object2, polygon.element2, polygon.weight2, model), contact.point2, -given);
  }
}

void listPressureContacts(const model::ModelData& model, const SapWorkspace& sap,
                          std::vector<PressurePolygon>* out) {
  out->clear();
  const auto publicSide = [&](std::uint32_t object, std::int32_t element) {
    PressureSide side{.element = element};
    if (object >= model.shapes.size()) {
      side.soft = static_cast<int>(object - model.shapes.size());
    } else {
      side.shape = static_cast<int>(object);
      side.body = model.shapes[object].body;
    }
    return side;
  };
  for (const PatchPolygon& part : sap.pressure.shown) {
    const collision::ContactPolygon& polygon = part.polygon;
    PressurePolygon& shown = out->emplace_back();
    shown.side1 = publicSide(part.object1, polygon.element1);
    shown.side2 = publicSide(part.object2, polygon.element2);
    shown.numVertices = polygon.numVertices;
    for (int i = 0; i < polygon.numVertices; ++i) {
      shown.vertices[i] = polygon.vertex[i];
      shown.pressures[i] = polygon.vertexPressure[i];
    }
    shown.centroid = polygon.centroid;
    shown.normal = polygon.normal;
    shown.area = polygon.area;
    shown.pressure = polygon.pressure;
    for (int i = part.firstContact; i < part.firstContact + part.numContacts; ++i) {
      const PressureContact& contact = sap.pressure.contacts[i];
      if (contact.constraint < 0) continue;
      const Real* const impulse = sap.problem.impulseOf(contact.constraint);
      shown.force +=
          contact.frame * Vec3{impulse[0], impulse[1], impulse[2]} * (part.share / sap.problem.dt);
      shown.normalWork += part.share * contact.normalWork;
      shown.frictionWork += part.share * contact.frictionWork;
    }
  }
}

namespace {

Side sideOf(std::uint32_t object, std::int32_t element, const std::array<Real, 4>& weights,
            const model::ModelData& model) {
  if (object < model.shapes.size()) return {.body = model.shapes[object].body};
  Side side{.soft = static_cast<int>(object - model.shapes.size()), .weights = weights};
  side.vertices = model.softs[side.soft].elastic.tets[element];
  return side;
}

int cliqueOfSide(const Side& side, const SapWorkspace& sap) {
  return side.soft >= 0 ? sap.pressure.softs[side.soft].clique : cliqueOf(sap, side.body);
}

Vec3 velocityOfSide(const Side& side, const Vec3& p, const model::ModelData& model,
                    const State& state) {
  if (side.soft >= 0) {
    Vec3 sum{};
    const Vec3* const v = state.softVelocity.data() + model.softs[side.soft].firstVertex;
    for (int i = 0; i < 4; ++i) sum += v[side.vertices[i]] * side.weights[i];
    return sum;
  }
  if (side.body < 0) return {};
  return state.velocity[side.body] +
         cross(state.angularVelocity[side.body], p - state.center[side.body]);
}

/// The vertices of a side that the solve moves, with the weights of their velocities.
struct Nodes {
  std::array<std::int32_t, solver::kSapMaxNodes> vertex{};
  std::array<Real, solver::kSapMaxNodes> weight{};
  int count = 0;

  [[nodiscard]] std::span<const std::int32_t> vertices() const {
    return {vertex.data(), static_cast<std::size_t>(count)};
  }
};

/// Those of the side to `nodes`; what driven vertices do to `given`.
void gatherNodes(const Side& side, Real sign, const SapWorkspace& sap, Nodes* nodes, Vec3* given) {
  if (side.soft < 0) return;
  const SoftWork& work = sap.pressure.softs[side.soft];
  for (int i = 0; i < 4; ++i) {
    const Real weight = sign * side.weights[i];
    if (const Vec3* const driven = drivenVelocity(work, side.vertices[i])) {
      *given += *driven * weight;
      continue;
    }
    nodes->vertex[nodes->count] = side.vertices[i];
    nodes->weight[nodes->count] = weight;
    ++nodes->count;
  }
}

/// Rows of R_WC^T (sum of weights times velocities).
void writeNodeRows(const Nodes& nodes, const Mat3& R_WC, Real* rows) {
  const int stride = 3 * nodes.count;
  for (int row = 0; row < 3; ++row) {
    const Vec3& axis = R_WC.col[row];
    for (int i = 0; i < nodes.count; ++i) {
      Real* const at = rows + row * stride + 3 * i;
      at[0] = nodes.weight[i] * axis.x;
      at[1] = nodes.weight[i] * axis.y;
      at[2] = nodes.weight[i] * axis.z;
    }
  }
}

const HeldFriction* findHeld(const State& state, const PressureContact& contact) {
  const auto found = std::lower_bound(
      state.heldFriction.begin(), state.heldFriction.end(), contact,
      [](const HeldFriction& a, const PressureContact& b) { return keyOf(a) < keyOf(b); });
  if (found == state.heldFriction.end() || keyOf(*found) != keyOf(contact)) return nullptr;
  return &*found;
}

/// The force is area times pressure. Where the pressure hardly grows along the normal, as on the
/// flank of a body deep in another, the spring of that force is so soft and so long that no
/// dissipation acts on it: there a shorter one gives the same force.
struct PressureSpring {
  Real stiffness = 0, gap = 0;
};
PressureSpring springOf(const PressureContact& contact, const model::ContactMaterial& material,
                        Real dt) {
  constexpr Real kMaxSpeed = 10;  // at which things may be thrown apart [m/s]
  const Real longest = kMaxSpeed * (dt + material.relaxationTime);
  const Real stiffness = contact.polygon.area * contact.polygon.gradient;
  if (contact.gap >= -longest) return {stiffness, contact.gap};
  return {stiffness * (-contact.gap / longest), -longest};
}

void addPolygon(const model::ModelData& model, const State& state, PressureContact& contact,
                SapWorkspace& sap) {
  const collision::ContactPolygon& polygon = contact.polygon;
  const Side side1 = sideOf(contact.object1, polygon.element1, polygon.weight1, model);
  const Side side2 = sideOf(contact.object2, polygon.element2, polygon.weight2, model);
  contact.frame = math::contactFrame(polygon.normal);
  contact.constraint = -1;
  const Vec3 before =
      transposeTimes(contact.frame, velocityOfSide(side1, contact.point1, model, state) -
                                        velocityOfSide(side2, contact.point2, model, state));
  for (int row = 0; row < 3; ++row) contact.velocityBefore[row] = before[row];

  // What the solve moves: one or two cliques, the first of them there.
  Nodes nodes1, nodes2;
  Vec3 given{};
  int clique1 = cliqueOfSide(side1, sap), clique2 = cliqueOfSide(side2, sap);
  const bool isSelf = clique1 == clique2;
  gatherNodes(side1, 1, sap, &nodes1, &given);
  gatherNodes(side2, -1, sap, isSelf ? &nodes1 : &nodes2, &given);
  if (isSelf) clique2 = -1;
  if (side1.soft >= 0 && nodes1.count == 0) clique1 = -1;
  if (side2.soft >= 0 && nodes2.count == 0) clique2 = -1;
  const bool isSwapped = clique1 < 0;
  if (isSwapped) {
    std::swap(clique1, clique2);
    std::swap(nodes1, nodes2);
  }
  if (clique1 < 0) return;

  const model::ContactMaterial& material = materialOf(contact, model);
  const Real friction = frictionOf(contact, model);
  const auto [stiffness, gap] = springOf(contact, material, sap.problem.dt);
  const HeldFriction* const held = findHeld(state, contact);
  const Real scale = impulseScale(state, sap.problem.dt);
  int c = -1;
  if (model.options.sap.contact == SapContactModel::HuntCrossley) {
    c = sap.problem.addHuntCrossley(clique1, clique2,
                                    {.friction = friction,
                                     .stiffness = stiffness,
                                     .dissipation = material.dissipation,
                                     .gap = gap,
                                     .normalVelocity = before.z},
                                    nodes1.vertices(), nodes2.vertices());
  } else {
    solver::SapContact law{.friction = friction,
                           .stiffness = stiffness,
                           .dissipationTime = material.relaxationTime,
                           .gap = gap};
    if (held != nullptr) {
      law.heldImpulse[0] = scale * dot(held->tangent, contact.frame.col[0]);
      law.heldImpulse[1] = scale * dot(held->tangent, contact.frame.col[1]);
      constexpr Real kNearlyAll = 1 - 1e-6;
      const bool slid = norm(held->tangent) >= kNearlyAll * friction * held->normal;
      if (slid && friction > 0) law.slip = std::sqrt(before.x * before.x + before.y * before.y);
    }
    c = sap.problem.addContact(clique1, clique2, law, nodes1.vertices(), nodes2.vertices());
  }
  contact.constraint = c;
  if (held != nullptr) {
    Real* const impulse = sap.problem.impulseOf(c);
    impulse[0] = scale * dot(held->tangent, contact.frame.col[0]);
    impulse[1] = scale * dot(held->tangent, contact.frame.col[1]);
    impulse[2] = scale * held->normal;
  }
  if (nodes1.count > 0) writeNodeRows(nodes1, contact.frame, sap.problem.jacobian1(c));
  if (nodes2.count > 0) writeNodeRows(nodes2, contact.frame, sap.problem.jacobian2(c));
  writePointRows(model, state, c, 0, side1.soft >= 0 ? kWorld : side1.body, contact.point1,
                 side2.soft >= 0 ? kWorld : side2.body, contact.point2, contact.frame, sap);
  const Vec3 bias = transposeTimes(contact.frame, given);
  for (int row = 0; row < 3; ++row) sap.problem.biasOf(c)[row] += bias[row];
}

const model::ContactMaterial& materialOf(const PressureContact& contact,
                                         const model::ModelData& model) {
  const auto materialOfObject = [&](std::uint32_t object) {
    return object < model.shapes.size() ? model.shapes[object].material
                                        : model.softs[object - model.shapes.size()].material;
  };
  return model.contactMaterial(materialOfObject(contact.object1),
                               materialOfObject(contact.object2));
}

Real frictionOf(const PressureContact& contact, const model::ModelData& model) {
  for (const model::ModelShapePair& rule : model.shapePairs) {
    if (static_cast<std::uint32_t>(rule.shape1) == contact.object1 &&
        static_cast<std::uint32_t>(rule.shape2) == contact.object2 && rule.friction >= 0)
      return rule.friction;
  }
  return materialOf(contact, model).friction;
}

}  // namespace

}  // namespace tangere::contact
