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
void addTilt(const model::ModelData& model, const State& state, const Side& side1,
             const Side& side2, PressureContact& contact, SapWorkspace& sap);
void bookTilt(const model::ModelData& model, const State& state, const Side& side1,
              const Side& side2, PressureContact& contact, model::Workspace& ws, SapWorkspace& sap);
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
  sap.pressure.clock.begin();
  for (PressureContact& contact : sap.pressure.contacts) addPolygon(model, state, contact, sap);
  sap.pressure.clock.end(PressurePart::Rows);
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
  for (const PatchPolygon& shown : sap.pressure.shown) {
    if (!shown.isForeseen) ws.report.maxDepth = std::max(ws.report.maxDepth, shown.depth);
  }
  for (PressureContact& contact : sap.pressure.contacts) {
    if (contact.constraint < 0) continue;
    const collision::ContactPolygon& polygon = contact.polygon;
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
    const Side side1 = sideOf(contact.object1, polygon.element1, polygon.weight1, model);
    const Side side2 = sideOf(contact.object2, polygon.element2, polygon.weight2, model);
    take(side1, contact.point1, given);
    take(side2, contact.point2, -given);
    if (contact.tilt >= 0) bookTilt(model, state, side1, side2, contact, ws, sap);
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
    shown.isForeseen = part.isForeseen;
    for (int i = 0; i < polygon.numVertices; ++i) {
      shown.vertices[i] = polygon.vertex[i];
      shown.pressures[i] = part.isForeseen ? 0 : polygon.vertexPressure[i];
    }
    shown.centroid = polygon.centroid;
    shown.normal = polygon.normal;
    shown.area = polygon.area;
    shown.pressure = part.isForeseen ? 0 : polygon.pressure;
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

/// What the solve moves: one or two cliques, the first of them there.
struct Ends {
  int clique1 = -1, clique2 = -1;
  Nodes nodes1{}, nodes2{};
  Vec3 given{};  ///< what driven vertices add to the velocity
};

Ends endsOf(const Side& side1, const Side& side2, const SapWorkspace& sap) {
  Ends out{.clique1 = cliqueOfSide(side1, sap), .clique2 = cliqueOfSide(side2, sap)};
  const bool isSelf = out.clique1 == out.clique2;
  gatherNodes(side1, 1, sap, &out.nodes1, &out.given);
  gatherNodes(side2, -1, sap, isSelf ? &out.nodes1 : &out.nodes2, &out.given);
  if (isSelf) out.clique2 = -1;
  if (side1.soft >= 0 && out.nodes1.count == 0) out.clique1 = -1;
  if (side2.soft >= 0 && out.nodes2.count == 0) out.clique2 = -1;
  if (out.clique1 < 0) {
    std::swap(out.clique1, out.clique2);
    std::swap(out.nodes1, out.nodes2);
  }
  return out;
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
/// flank of a body deep in another, the spring of that force is longer than the bodies overlap, and
/// so soft that no dissipation acts on it: there a shorter one gives the same force.
struct PressureSpring {
  Real stiffness = 0, gap = 0;
};
PressureSpring springOf(const PressureContact& contact, const model::ContactMaterial& material,
                        Real dt) {
  constexpr Real kMaxSpeed = 10;  // at which things may be thrown apart [m/s]
  const Real longest = std::min(kMaxSpeed * (dt + material.relaxationTime), contact.longest);
  const Real stiffness = contact.polygon.area * contact.polygon.gradient;
  if (contact.gap >= -longest) return {stiffness, contact.gap};
  return {stiffness * (-contact.gap / longest), -longest};
}

/// A body against itself at a tetrahedron that is inside out, or next to one: pressure falls there
/// where it should grow, and contacts would hold all of it as it is. Without, elasticity turns it
/// back.
bool isTangled(const PressureContact& contact, const Side& side, const SapWorkspace& sap) {
  if (side.soft < 0 || contact.object1 != contact.object2) return false;
  const SoftWork& work = sap.pressure.softs[side.soft];
  if (work.assembly.numInverted == 0) return false;
  return work.isTangled[contact.polygon.element1] != 0 ||
         work.isTangled[contact.polygon.element2] != 0;
}

void addPolygon(const model::ModelData& model, const State& state, PressureContact& contact,
                SapWorkspace& sap) {
  const collision::ContactPolygon& polygon = contact.polygon;
  const Side side1 = sideOf(contact.object1, polygon.element1, polygon.weight1, model);
  const Side side2 = sideOf(contact.object2, polygon.element2, polygon.weight2, model);
  contact.frame = math::contactFrame(polygon.normal);
  contact.constraint = contact.tilt = -1;
  const Vec3 before =
      transposeTimes(contact.frame, velocityOfSide(side1, contact.point1, model, state) -
                                        velocityOfSide(side2, contact.point2, model, state));
  for (int row = 0; row < 3; ++row) contact.velocityBefore[row] = before[row];

  const Ends ends = endsOf(side1, side2, sap);
  const auto& [clique1, clique2, nodes1, nodes2, given] = ends;
  if (clique1 < 0 || isTangled(contact, side1, sap)) return;

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
                                     .normalVelocity = before.z,
                                     .slipSpeed = model.options.sap.slipSpeed},
                                    nodes1.vertices(), nodes2.vertices());
  } else {
    solver::SapContact law{.friction = friction,
                           .stiffness = stiffness,
                           .dissipationTime = material.relaxationTime,
                           .gap = gap};
    if (held != nullptr) {
      law.heldImpulse[0] = scale * dot(held->tangent, contact.frame.col[0]);
      law.heldImpulse[1] = scale * dot(held->tangent, contact.frame.col[1]);
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
  addTilt(model, state, side1, side2, contact, sap);
}

/// Growth of the pressure that the rows against tilting count with [Pa/m]; 0: none are needed, as
/// the pressure grows so little over the polygon, seen from the elasticity of its soft side, that
/// the centroid stands for it. There is a most, too: rows much stiffer than the body would hold on
/// to a surface that lets go within the step.
Real tiltGradient(const PressureContact& contact, const Side& side1, const Side& side2,
                  const model::ModelData& model) {
  constexpr Real kLeast = 5, kMost = 30;
  const collision::ContactPolygon& polygon = contact.polygon;
  if (contact.isForeseen || polygon.numVertices < 3) return 0;
  Real young = kUnlimited;
  for (const Side* side : {&side1, &side2}) {
    if (side->soft >= 0) young = std::min(young, model.softs[side->soft].elastic.elasticity.young);
  }
  const Real own = young / std::sqrt(polygon.area);
  if (!(polygon.gradient > kLeast * own)) return 0;
  return std::min(polygon.gradient, kMost * own);
}

/// Root of the second moments of the polygon about its centroid, in its plane: [l11 0; l21 l22]
/// [m^2].
struct PolygonSpread {
  Real l11 = 0, l21 = 0, l22 = 0;
};

PolygonSpread spreadOf(const PressureContact& contact) {
  const collision::ContactPolygon& polygon = contact.polygon;
  const Vec3 &t1 = contact.frame.col[0], &t2 = contact.frame.col[1];
  Real uu = 0, uv = 0, vv = 0;
  for (int i = 1; i + 1 < polygon.numVertices; ++i) {
    const Vec3 corner[3] = {polygon.vertex[0] - polygon.centroid,
                            polygon.vertex[i] - polygon.centroid,
                            polygon.vertex[i + 1] - polygon.centroid};
    const Real sixth = norm(cross(corner[1] - corner[0], corner[2] - corner[0])) / 6;
    for (int k = 0; k < 3; ++k) {  // midpoints of the edges are exact for squares
      const Vec3 mid = (corner[k] + corner[(k + 1) % 3]) * Real(0.5);
      const Real u = dot(mid, t1), v = dot(mid, t2);
      uu += sixth * u * u;
      uv += sixth * u * v;
      vv += sixth * v * v;
    }
  }
  PolygonSpread out{.l11 = std::sqrt(uu)};
  out.l21 = out.l11 > 0 ? uv / out.l11 : 0;
  out.l22 = std::sqrt(std::max<Real>(vv - out.l21 * out.l21, 0));
  return out;
}

/// The side with what its vertices do to a row of the tilt in place of the weights: slopes of the
/// shape functions along the plane.
Side tiltedSide(const Side& side, int row, const PressureContact& contact,
                const PolygonSpread& spread, const model::ModelData& model, const State& state) {
  Side out = side;
  if (side.soft < 0) return out;
  const Vec3* const x = state.softPosition.data() + model.softs[side.soft].firstVertex;
  const Vec3& origin = x[side.vertices[0]];
  const Mat3 edges{
      {x[side.vertices[1]] - origin, x[side.vertices[2]] - origin, x[side.vertices[3]] - origin}};
  const Vec3 cofactors[3] = {cross(edges.col[1], edges.col[2]), cross(edges.col[2], edges.col[0]),
                             cross(edges.col[0], edges.col[1])};
  const Real det = dot(edges.col[0], cofactors[0]);
  const Vec3 along = row == 0
                         ? contact.frame.col[0] * spread.l11 + contact.frame.col[1] * spread.l21
                         : contact.frame.col[1] * spread.l22;
  out.weights = {};
  if (!(std::fabs(det) > 0)) return out;
  for (int i = 0; i < 3; ++i) {
    out.weights[i + 1] = dot(cofactors[i], along) / det;
    out.weights[0] -= out.weights[i + 1];
  }
  return out;
}

/// The rate of a row of the tilt on one side.
Real tiltRate(const Side& tilted, int row, const PressureContact& contact,
              const model::ModelData& model, const State& state) {
  if (tilted.soft >= 0) return dot(contact.frame.col[2], velocityOfSide(tilted, {}, model, state));
  if (tilted.body < 0) return 0;
  return dot(contact.tiltAxis[row], state.angularVelocity[tilted.body]);
}

/// A polygon acts at its centroid; what its pressure does when it tilts about that is as stiff, and
/// left out it comes as a surprise in the next step: vertices of coarse bodies on stiff contacts
/// chatter. Two rows resist the tilting within the step, with the stiffness that the pressure has,
/// and nothing of them is left at rest.
void addTilt(const model::ModelData& model, const State& state, const Side& side1,
             const Side& side2, PressureContact& contact, SapWorkspace& sap) {
  const Real gradient = tiltGradient(contact, side1, side2, model);
  if (!(gradient > 0)) return;
  const PolygonSpread spread = spreadOf(contact);
  const Vec3& normal = contact.frame.col[2];
  contact.tiltAxis[0] =
      cross(contact.frame.col[0] * spread.l11 + contact.frame.col[1] * spread.l21, normal);
  contact.tiltAxis[1] = cross(contact.frame.col[1] * spread.l22, normal);
  if (!(spread.l11 > 0 && spread.l22 > 0)) return;
  const model::ContactMaterial& material = materialOf(contact, model);
  const bool isLinear = model.options.sap.contact == SapContactModel::Linear;
  const Ends shape = endsOf(side1, side2, sap);
  const int c = sap.problem.addBilateral(
      2, shape.clique1, shape.clique2,
      {.stiffness = gradient, .dissipationTime = isLinear ? material.relaxationTime : 0},
      shape.nodes1.vertices(), shape.nodes2.vertices());
  contact.tilt = c;
  for (int row = 0; row < 2; ++row) {
    const Side tilted1 = tiltedSide(side1, row, contact, spread, model, state);
    const Side tilted2 = tiltedSide(side2, row, contact, spread, model, state);
    const Ends ends = endsOf(tilted1, tilted2, sap);
    const auto write = [&](const Nodes& nodes, Real* rows) {
      Real* const out = rows + std::ptrdiff_t{3} * nodes.count * row;
      for (int i = 0; i < nodes.count; ++i) {
        for (int k = 0; k < 3; ++k) out[3 * i + k] = nodes.weight[i] * normal[k];
      }
    };
    if (ends.nodes1.count > 0) write(ends.nodes1, sap.problem.jacobian1(c));
    if (ends.nodes2.count > 0) write(ends.nodes2, sap.problem.jacobian2(c));
    thread_local CliqueRow rigid;
    clearRow(&rigid);
    Real bias = dot(normal, ends.given);
    const auto addRigid = [&](const Side& side, Real sign) {
      if (side.soft >= 0 || side.body < 0) return;
      if (cliqueOf(sap, side.body) < 0)
        bias += sign * dot(contact.tiltAxis[row], state.angularVelocity[side.body]);
      else
        addAngularTo(model, side.body, contact.tiltAxis[row], sign, &rigid, sap);
    };
    addRigid(side1, 1);
    addRigid(side2, -1);
    writeRow(rigid, 1, c, sap, row);
    sap.problem.biasOf(c)[row] += bias;
    sap.problem.target(c)[row] = 0;
    contact.tiltBefore[row] = tiltRate(tilted1, row, contact, model, state) -
                              tiltRate(tilted2, row, contact, model, state);
  }
}

/// Work of the rows against tilting, and what they gave to the sides.
void bookTilt(const model::ModelData& model, const State& state, const Side& side1,
              const Side& side2, PressureContact& contact, model::Workspace& ws,
              SapWorkspace& sap) {
  const Real* const impulse = sap.problem.impulseOf(contact.tilt);
  const Real* const after = sap.problem.velocityOf(contact.tilt);
  const PolygonSpread spread = spreadOf(contact);
  Real work = 0;
  for (int row = 0; row < 2; ++row) {
    work += Real(0.5) * impulse[row] * (contact.tiltBefore[row] + after[row]);
    const auto take = [&](const Side& side, Real sign) {
      const Side tilted = tiltedSide(side, row, contact, spread, model, state);
      if (side.soft >= 0) {
        std::vector<Vec3>& impulses = sap.pressure.softs[side.soft].impulse;
        for (int i = 0; i < 4; ++i)
          impulses[side.vertices[i]] +=
              contact.frame.col[2] * (sign * impulse[row] * tilted.weights[i]);
      } else if (side.body >= 0 && model.bodies[side.body].type == BodyType::Kinematic) {
        ws.ledger.kinematic -= sign * impulse[row] * tiltRate(tilted, row, contact, model, state);
      }
    };
    take(side1, 1);
    take(side2, -1);
  }
  contact.normalWork += work;
  ws.ledger.contactNormal += work;
  ws.ledger.constraint -= work;  // where it is booked as that of all bilateral rows
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
