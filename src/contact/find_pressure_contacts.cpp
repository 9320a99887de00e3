// SPDX-License-Identifier: Apache-2.0
#include "contact/find_pressure_contacts.hpp"

#include "collision/self_proximity.hpp"
#include "contact/reduce_patches.hpp"
#include "core/stable_sort.hpp"
#include "math/quat.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <tuple>

namespace tangere::contact {

namespace {

using collision::ContactPolygon;
using collision::PressureMesh;
using Kind = model::PressureShape::Kind;

/// Bodies that move by less than this share of a cell within the step are asked where they are, and
/// not where they will be.
constexpr Real kStill = 0.1;

void updateShapes(const model::ModelData& model, const State& state, const model::Workspace& ws,
                  PressureWorkspace& pressure);
void updateSofts(const model::ModelData& model, const State& state, PressureWorkspace& pressure);
void addRigidPairs(const model::ModelData& model, const State& state, const model::Workspace& ws,
                   PressureWorkspace& pressure);
void addSoftShapePairs(const model::ModelData& model, const State& state,
                       const model::Workspace& ws, PressureWorkspace& pressure);
void addSoftPairs(const model::ModelData& model, const State& state, PressureWorkspace& pressure);
void placeForeseen(const model::ModelData& model, const State& state, const model::Workspace& ws,
                   const PressureWorkspace& pressure, PressureContact& contact);

Real depthOf(const model::ModelData& model, const PressureWorkspace& pressure,
             const PressureContact& contact);

void limitSprings(Real partOfStep, std::span<PressureContact> contacts);
void sortContacts(PressureWorkspace& pressure);

}  // namespace

void findPressureContacts(const model::ModelData& model, const State& state, model::Workspace& ws,
                          SapWorkspace& sap) {
  PressureWorkspace& pressure = sap.pressure;
  std::vector<PressureContact>& contacts = pressure.contacts;
  contacts.clear();
  pressure.pairs.clear();
  pressure.numParts = 1;
  pressure.clock.set(pressure.clock.isOn());
  if (model.hasPressure) {
    updateShapes(model, state, ws, pressure);
    updateSofts(model, state, pressure);
    pressure.clock.begin();
    addRigidPairs(model, state, ws, pressure);
    addSoftShapePairs(model, state, ws, pressure);
    addSoftPairs(model, state, pressure);
    for (PressureContact& contact : contacts) {
      contact.depth = depthOf(model, pressure, contact);
      if (contact.isForeseen) placeForeseen(model, state, ws, pressure, contact);
    }
    limitSprings(pressure.partOfStep, contacts);
    pressure.clock.end(PressurePart::Polygons);
    // No gap to be closed: it is no new contact, but one that other elements have now.
    std::erase_if(contacts, [](const PressureContact& contact) {
      return contact.isForeseen && contact.gap <= 0;
    });
    sortContacts(pressure);
  }
  ws.report.numPressurePolygons = static_cast<int>(contacts.size());
  reducePatches(model, ws, pressure);
  ws.report.patchError = pressure.patchError;
  if (model.hasPressure) pressure.clock.end(PressurePart::Patches);
}

namespace {

/// Where the velocities of their bodies take the shapes.
void updateShapes(const model::ModelData& model, const State& state, const model::Workspace& ws,
                  PressureWorkspace& pressure) {
  const Real dt = model.options.dt;
  pressure.nextPose.resize(model.shapes.size());
  pressure.shapeWay.resize(model.shapes.size());
  for (std::size_t i = 0; i < model.shapes.size(); ++i) {
    const model::ModelShape& shape = model.shapes[i];
    pressure.nextPose[i] = ws.shapePose[i];
    pressure.shapeWay[i] = 0;
    if (model.bodies[shape.body].type == BodyType::Fixed) continue;
    const Vec3& center = state.center[shape.body];
    const Vec3 way = state.velocity[shape.body] * dt;
    const Vec3 turn = state.angularVelocity[shape.body] * dt;
    const Real angle = math::scaledNorm(turn);
    const Mat3 R = rotationMatrix(math::quatFromAxisAngle(turn, angle));
    pressure.nextPose[i] = {R * ws.shapePose[i].rotation,
                            center + way + R * (ws.shapePose[i].translation - center)};
    pressure.shapeWay[i] = norm(way) + angle * shape.reach;
  }
}

/// Trees and gradients of the soft bodies as they are, and where their velocities take them.
void updateSofts(const model::ModelData& model, const State& state, PressureWorkspace& pressure) {
  for (std::size_t s = 0; s < model.softs.size(); ++s) {
    const model::ModelSoft& soft = model.softs[s];
    SoftWork& work = pressure.softs[s];
    const std::size_t numVertices = soft.elastic.mass.size();
    const std::span<const Vec3> x(state.softPosition.data() + soft.firstVertex, numVertices);
    const std::span<const Vec3> v(state.softVelocity.data() + soft.firstVertex, numVertices);
    const std::span<const Tet> tets = soft.elastic.tets;
    const auto update = [&](std::span<const Vec3> at, geometry::LinearBvh* tree,
                            std::vector<Vec3>* gradient) {
      pressure.clock.begin();
      gradient->resize(tets.size());
      collision::computePressureGradients(at, tets, soft.pressure, *gradient);
      pressure.clock.end(PressurePart::Gradients);
      if (tree->empty())
        collision::buildTetTree(at, tets, soft.pressure, tree);
      else
        collision::updateTetTree(at, tets, tree);
      pressure.clock.end(PressurePart::Trees);
    };
    update(x, &work.tetTree, &work.gradient);
    work.bounds = work.tetTree.bounds();
    Real fastest = 0;
    for (const Vec3& velocity : v) fastest = std::max(fastest, squaredNorm(velocity));
    work.way = std::sqrt(fastest) * model.options.dt;
    work.isFast = work.way > kStill * soft.cellSize;
    if (!work.isFast) continue;
    work.next.resize(numVertices);
    for (std::size_t i = 0; i < numVertices; ++i) work.next[i] = x[i] + v[i] * model.options.dt;
    update(work.next, &work.nextTree, &work.nextGradient);
  }
}

/// The pressure on a flank hardly grows along the normal of its polygon, whose spring would then be
/// many times as long as the bodies overlap. It would push so far within one long step, while the
/// true force ends where the bodies part. So no spring of a pair is longer than the longest of the
/// polygons that face along their pressure. The force is the same. In a part of a divided step it
/// is that part of it: what overlaps already would else be thrown out as many times faster.
void limitSprings(Real partOfStep, std::span<PressureContact> contacts) {
  constexpr Real kFacing = 0.5;  // less than the 0.57 of the faces of a box that stands on a corner
  for (std::size_t begin = 0; begin < contacts.size();) {
    std::size_t end = begin;
    Real longest = 0;
    for (; end < contacts.size() && contacts[end].object1 == contacts[begin].object1 &&
           contacts[end].object2 == contacts[begin].object2;
         ++end) {
      const PressureContact& contact = contacts[end];
      if (contact.isForeseen) continue;
      const bool isFacing = contact.depth >= kFacing * -contact.gap;
      longest = std::max(longest, isFacing ? -contact.gap : contact.depth);
    }
    for (; begin < end; ++begin)
      contacts[begin].longest = longest > 0 ? longest * partOfStep : kUnlimited;
  }
}

std::tuple<std::uint32_t, std::uint32_t, std::int32_t, std::int32_t, int> keyOf(
    const PressureContact& contact) {
  return {contact.object1, contact.object2, contact.polygon.element1, contact.polygon.element2,
          contact.part};
}

/// By objects and elements; of what was foreseen of elements that are in touch nothing is kept. The
/// contacts are large, and mostly in order as they were found: what moves is their indices.
void sortContacts(PressureWorkspace& pressure) {
  std::vector<PressureContact>& contacts = pressure.contacts;
  const auto isBefore = [](const PressureContact& a, const PressureContact& b) {
    return keyOf(a) < keyOf(b);
  };
  if (!std::is_sorted(contacts.begin(), contacts.end(), isBefore)) {
    thread_local std::vector<std::uint32_t> order;
    order.resize(contacts.size());
    std::iota(order.begin(), order.end(), 0u);
    // Ties stay as they were found, what is in touch first.
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      return keyOf(contacts[a]) < keyOf(contacts[b]);
    });
    pressure.found.clear();
    for (const std::uint32_t i : order) pressure.found.push_back(contacts[i]);
    std::swap(pressure.found, contacts);
  }
  contacts.erase(std::unique(contacts.begin(), contacts.end(),
                             [](const PressureContact& a, const PressureContact& b) {
                               return b.isForeseen && keyOf(a) == keyOf(b);
                             }),
                 contacts.end());
}

/// The other body as the first one.
void exchange(ContactPolygon* polygon) {
  std::swap(polygon->element1, polygon->element2);
  std::swap(polygon->weight1, polygon->weight2);
  polygon->normal = -polygon->normal;
  std::reverse(polygon->vertex.begin(), polygon->vertex.begin() + polygon->numVertices);
  std::reverse(polygon->vertexPressure.begin(),
               polygon->vertexPressure.begin() + polygon->numVertices);
}

/// A polygon on a layer as the layer feels it: along its normal, with the area that is seen along
/// it. What leaning polygons push sideways cancels over the patch, as their pressures depend on the
/// depth alone; each by itself would brake what slides, for its normal says that sliding presses it
/// in. The force along the normal of the layer and the stiffness are those of the polygon.
void actAlongLayer(const Vec3& normal, PressureContact* contact) {
  ContactPolygon& polygon = contact->polygon;
  const Real along = dot(polygon.normal, normal);
  if (!(std::fabs(along) > 0)) return;
  contact->leaning = polygon.normal;
  polygon.normal = along > 0 ? normal : -normal;
  polygon.area *= std::fabs(along);
  polygon.gradient /= std::fabs(along);
}

void take(const ContactPolygon& polygon, std::uint32_t object1, std::uint32_t object2,
          bool isExchanged, bool isForeseen, const Vec3* layer,
          std::vector<PressureContact>* contacts) {
  PressureContact& contact = contacts->emplace_back();
  contact.polygon = polygon;
  if (isExchanged) exchange(&contact.polygon);
  if (layer != nullptr) actAlongLayer(*layer, &contact);
  contact.object1 = object1;
  contact.object2 = object2;
  contact.isForeseen = isForeseen;
  contact.point1 = contact.point2 = polygon.centroid;
  contact.gap = -polygon.pressure / contact.polygon.gradient;
  if (polygon.numVertices == 1) {  // an element may have several vertices on a plane
    while (contact.part < 3 && polygon.weight1[static_cast<std::size_t>(contact.part)] == 0)
      ++contact.part;
  }
}

/// The polygons of one pair from the scratch to the contacts; `isExchanged`: object 2 was asked as
/// the first; `layer`: the normal of the layer that one of them is, or null. They stay sorted.
void take(std::uint32_t object1, std::uint32_t object2, bool isExchanged, bool isForeseen,
          const Vec3* layer, PressureWorkspace& pressure) {
  const std::vector<ContactPolygon>& polygons = pressure.polygons;
  if (!isExchanged) {
    for (const ContactPolygon& polygon : polygons)
      take(polygon, object1, object2, false, isForeseen, layer, &pressure.contacts);
  } else {
    thread_local std::vector<core::KeyedIndex> order, scratch;
    order.clear();
    for (std::size_t i = 0; i < polygons.size(); ++i) {
      const auto element1 = static_cast<std::uint32_t>(polygons[i].element2 + 1);
      const auto element2 = static_cast<std::uint32_t>(polygons[i].element1 + 1);
      order.push_back({std::uint64_t{element1} << 32 | element2, static_cast<std::uint32_t>(i)});
    }
    core::stableSortByKey(order, scratch, [](const core::KeyedIndex& r) { return r.key; });
    for (const core::KeyedIndex& record : order)
      take(polygons[record.index], object1, object2, true, isForeseen, layer, &pressure.contacts);
  }
  pressure.polygons.clear();
}

collision::ContactPlane planeOf(const Transform& X_WS) {
  const Vec3& normal = X_WS.rotation.col[2];
  return {normal, dot(normal, X_WS.translation)};
}

/// Polygons of a body with a pressure, or of any body against a layer, as object 1, and a shape.
void findAgainst(const PressureMesh& a, const Transform& X_WA, PlaneContact planeContact,
                 const model::PressureShape& b, const Transform& X_WB,
                 std::vector<ContactPolygon>* out) {
  if (b.isHalfSpace() && planeContact == PlaneContact::Vertices) {
    const Real stiffness = b.kind == Kind::Layer ? b.layerGradient : kUnlimited;
    collision::findPlaneVertices(a, X_WA, planeOf(X_WB), stiffness, out);
    return;
  }
  switch (b.kind) {
    case Kind::Field:
      collision::findTetTet(a, X_WA, b.view(), X_WB, out);
      return;
    case Kind::Surface:
      collision::findTetSurface(a, X_WA, b.view(), X_WB, out);
      return;
    case Kind::HalfSpace:
      collision::findTetPlane(a, X_WA, planeOf(X_WB), out);
      return;
    case Kind::Layer:
      collision::findPlaneLayer(a, X_WA, planeOf(X_WB), b.layerGradient, out);
      return;
    case Kind::None:
      return;
  }
}

/// A layer that elements press on, not vertices.
bool isPressedByElements(PlaneContact planeContact, const model::PressureShape& shape) {
  return shape.kind == Kind::Layer && planeContact == PlaneContact::Elements;
}

/// A velocity at every point of the space.
struct Motion {
  Vec3 center{}, velocity{}, angularVelocity{};

  [[nodiscard]] Vec3 at(const Vec3& point) const {
    return velocity + cross(angularVelocity, point - center);
  }
};

Motion motionOf(const State& state, int body) {
  return {state.center[body], state.velocity[body], state.angularVelocity[body]};
}

Vec3 velocityAt(const model::ModelData& model, const State& state, std::uint32_t object,
                std::int32_t element, const std::array<Real, 4>& weight, const Vec3& point) {
  if (object < model.shapes.size()) {
    return motionOf(state, model.shapes[object].body).at(point);
  }
  const model::ModelSoft& soft = model.softs[object - model.shapes.size()];
  const Vec3* const v = state.softVelocity.data() + soft.firstVertex;
  Vec3 sum{};
  for (int i = 0; i < 4; ++i) sum += v[soft.elastic.tets[element][i]] * weight[i];
  return sum;
}

/// Notes that two objects were looked at; their contacts start at `first`.
void addPair(std::uint32_t object1, std::uint32_t object2, std::size_t first,
             PressureWorkspace& pressure) {
  PressedPair& pair = pressure.pairs.emplace_back(PressedPair{object1, object2});
  for (std::size_t i = first; i < pressure.contacts.size(); ++i)
    pair.pressure = std::max(pair.pressure, pressure.contacts[i].polygon.pressure);
}

/// Asks for as many parts of the step as keep two bodies from moving past the middle of the thinner
/// of them that yields, `depth`, of which the part `used` is behind them. Bodies in touch (their
/// contacts start at `first`) may slide; those apart may go anywhere within `way`.
void keepFromCrossing(const model::ModelData& model, const State& state, Real way, Real depth,
                      Real used, std::size_t first, PressureWorkspace& pressure) {
  // Close to the middle contacts have long done what they can: they are not asked for more parts.
  constexpr Real kLeastLeft = 0.25;
  depth *= std::max(1 - used, kLeastLeft);
  if (!(way > depth)) return;
  if (pressure.contacts.size() > first) {
    Real closing = 0;
    for (std::size_t i = first; i < pressure.contacts.size(); ++i) {
      const PressureContact& contact = pressure.contacts[i];
      const ContactPolygon& p = contact.polygon;
      const Vec3 relative =
          velocityAt(model, state, contact.object1, p.element1, p.weight1, p.centroid) -
          velocityAt(model, state, contact.object2, p.element2, p.weight2, p.centroid);
      closing = std::max(closing, -dot(relative, p.normal));
    }
    way = std::min(way, closing * model.options.dt);
  }
  pressure.numParts = std::max(pressure.numParts, std::ceil(way / depth));
}

/// How far points of a soft body move within the step against something that moves so, at most.
Real wayAgainst(const model::ModelData& model, const State& state, const model::ModelSoft& soft,
                const Motion& motion) {
  Real fastest = 0;
  const Vec3* const x = state.softPosition.data() + soft.firstVertex;
  const Vec3* const v = state.softVelocity.data() + soft.firstVertex;
  for (std::size_t i = 0; i < soft.elastic.mass.size(); ++i)
    fastest = std::max(fastest, squaredNorm(v[i] - motion.at(x[i])));
  return std::sqrt(fastest) * model.options.dt;
}

Vec3 meanVelocity(const State& state, const model::ModelSoft& soft) {
  Vec3 sum{};
  const Vec3* const v = state.softVelocity.data() + soft.firstVertex;
  for (std::size_t i = 0; i < soft.elastic.mass.size(); ++i) sum += v[i];
  return sum * (1 / static_cast<Real>(soft.elastic.mass.size()));
}

/// The same of two shapes.
Real wayBetween(const model::ModelData& model, const State& state, const ObjectPair& pair) {
  const model::ModelShape* small = &model.shapes[pair.first];
  const model::ModelShape* large = &model.shapes[pair.second];
  if (large->reach < small->reach) std::swap(small, large);
  const Motion own = motionOf(state, small->body), other = motionOf(state, large->body);
  return (norm(own.velocity - other.at(own.center)) +
          norm(own.angularVelocity - other.angularVelocity) * small->reach) *
         model.options.dt;
}

void addRigidPairs(const model::ModelData& model, const State& state, const model::Workspace& ws,
                   PressureWorkspace& pressure) {
  for (const ObjectPair& pair : ws.pressurePairs) {
    const model::PressureShape& a = *model.shapes[pair.first].pressure;
    const model::PressureShape& b = *model.shapes[pair.second].pressure;
    // The body with the pressure first; a layer last.
    const bool isExchanged = a.isHalfSpace() || (a.kind != Kind::Field && !b.isHalfSpace());
    const auto find = [&](const std::vector<Transform>& pose, bool isForeseen) {
      const Transform &X_WA = pose[pair.first], &X_WB = pose[pair.second];
      if (isExchanged)
        findAgainst(b.view(), X_WB, b.planeContact, a, X_WA, &pressure.polygons);
      else
        findAgainst(a.view(), X_WA, a.planeContact, b, X_WB, &pressure.polygons);
      const bool isLayer = isExchanged ? isPressedByElements(b.planeContact, a)
                                       : isPressedByElements(a.planeContact, b);
      take(pair.first, pair.second, isExchanged, isForeseen,
           isLayer ? &(isExchanged ? X_WA : X_WB).rotation.col[2] : nullptr, pressure);
    };
    const std::size_t first = pressure.contacts.size();
    find(ws.shapePose, false);
    addPair(pair.first, pair.second, first, pressure);
    const Real way = pressure.shapeWay[pair.first] + pressure.shapeWay[pair.second];
    const Real depth = std::min(a.depth, b.depth);
    const Real used = pressure.pairs.back().pressure / std::min(a.highest, b.highest);
    keepFromCrossing(model, state, std::min(way, wayBetween(model, state, pair)), depth, used,
                     first, pressure);
    // A rigid body has no cells, but a size.
    const Real cell = std::min({a.cellSize, b.cellSize, a.radius, b.radius});
    if (way > kStill * cell) find(pressure.nextPose, true);
  }
}

/// As it is, or where it will be.
PressureMesh viewOf(const model::ModelSoft& soft, const State& state, const SoftWork& work,
                    bool isNext) {
  const Vec3* const x =
      isNext && work.isFast ? work.next.data() : state.softPosition.data() + soft.firstVertex;
  return {.vertices = {x, soft.elastic.mass.size()},
          .tets = soft.elastic.tets,
          .pressure = soft.pressure,
          .gradient = isNext && work.isFast ? work.nextGradient : work.gradient,
          .surface = soft.mesh.surface(),
          .tetOfSurface = soft.mesh.tetOfSurface(),
          .tetTree = isNext && work.isFast ? &work.nextTree : &work.tetTree};
}

/// What it covers within the step.
Aabb sweptBounds(const SoftWork& work) {
  Aabb box = work.bounds;
  box.expand(work.way);
  return box;
}

bool mayTouch(const model::ModelSoft& soft, const model::ModelShape& shape) {
  const bool isSeenByShape = (soft.group & shape.mask) != 0;
  const bool isSeenBySoft = (shape.group & soft.mask) != 0;
  if (shape.isOneSideEnough ? !isSeenByShape && !isSeenBySoft : !isSeenByShape || !isSeenBySoft)
    return false;
  return !std::binary_search(soft.excludedBodies.begin(), soft.excludedBodies.end(), shape.body);
}

/// Leaves out elements that hang on the body.
void dropAttached(const model::ModelSoft& soft, int body, std::vector<ContactPolygon>* polygons) {
  if (soft.attachedTets.empty()) return;
  std::erase_if(*polygons, [&](const ContactPolygon& polygon) {
    return std::binary_search(soft.attachedTets.begin(), soft.attachedTets.end(),
                              std::pair<int, int>{body, polygon.element1});
  });
}

void addSoftShapePairs(const model::ModelData& model, const State& state,
                       const model::Workspace& ws, PressureWorkspace& pressure) {
  for (std::size_t s = 0; s < model.softs.size(); ++s) {
    const model::ModelSoft& soft = model.softs[s];
    const SoftWork& work = pressure.softs[s];
    const auto object = static_cast<std::uint32_t>(model.shapes.size() + s);
    for (std::size_t i = 0; i < model.shapes.size(); ++i) {
      const model::ModelShape& shape = model.shapes[i];
      if (!ws.sweptBox[i].overlaps(sweptBounds(work)) || !mayTouch(soft, shape)) continue;
      const auto find = [&](bool isForeseen) {
        const PlaneContact planeContact = model.materials[soft.material].planeContact;
        const Transform& X_WS = isForeseen ? pressure.nextPose[i] : ws.shapePose[i];
        findAgainst(viewOf(soft, state, work, isForeseen), {}, planeContact, *shape.pressure, X_WS,
                    &pressure.polygons);
        dropAttached(soft, shape.body, &pressure.polygons);
        const bool isLayer = isPressedByElements(planeContact, *shape.pressure);
        take(static_cast<std::uint32_t>(i), object, true, isForeseen,
             isLayer ? &X_WS.rotation.col[2] : nullptr, pressure);
      };
      const std::size_t first = pressure.contacts.size();
      find(false);
      addPair(static_cast<std::uint32_t>(i), object, first, pressure);
      const Real depth = std::min(soft.depth, shape.pressure->depth);
      const Real used =
          pressure.pairs.back().pressure / std::min(soft.highest, shape.pressure->highest);
      if (work.way + pressure.shapeWay[i] > depth * (1 - used)) {
        keepFromCrossing(model, state, wayAgainst(model, state, soft, motionOf(state, shape.body)),
                         depth, used, first, pressure);
      }
      if (work.isFast || pressure.shapeWay[i] > kStill * soft.cellSize) find(true);
    }
  }
}

/// A body with itself, where its surface meets itself.
void addSelf(const model::ModelSoft& soft, const PressureMesh& mesh,
             collision::SelfProximity* proximity, std::vector<ContactPolygon>* out) {
  const std::span<const Triangle> surface = soft.mesh.surface();
  // From the start: in which step it is made must not show.
  if (proximity->patches.empty()) {
    collision::buildSelfProximity(soft.mesh.vertices(), surface, proximity);
  }
  if (collision::mayTouchItself(mesh.vertices, surface, proximity)) {
    collision::findSelf(mesh, proximity->regions, out);
  }
}

void addSoftPairs(const model::ModelData& model, const State& state, PressureWorkspace& pressure) {
  for (std::size_t s = 0; s < model.softs.size(); ++s) {
    const model::ModelSoft& soft = model.softs[s];
    SoftWork& work = pressure.softs[s];
    const auto object = static_cast<std::uint32_t>(model.shapes.size() + s);
    const auto isExcluded = [&](std::size_t other) {
      return std::binary_search(soft.excludedSofts.begin(), soft.excludedSofts.end(),
                                static_cast<int>(other));
    };
    if (soft.selfContact && !isExcluded(s)) {
      addSelf(soft, viewOf(soft, state, work, false), &work.proximity, &pressure.polygons);
      take(object, object, false, false, nullptr, pressure);
    }
    for (std::size_t t = s + 1; t < model.softs.size(); ++t) {
      const model::ModelSoft& other = model.softs[t];
      const SoftWork& otherWork = pressure.softs[t];
      if ((soft.group & other.mask) == 0 || (other.group & soft.mask) == 0) continue;
      if (isExcluded(t)) continue;
      if (!sweptBounds(work).overlaps(sweptBounds(otherWork))) continue;
      const auto find = [&](bool isForeseen) {
        collision::findTetTet(viewOf(soft, state, work, isForeseen), {},
                              viewOf(other, state, otherWork, isForeseen), {}, &pressure.polygons);
        take(object, static_cast<std::uint32_t>(model.shapes.size() + t), false, isForeseen,
             nullptr, pressure);
      };
      const std::size_t first = pressure.contacts.size();
      find(false);
      addPair(object, static_cast<std::uint32_t>(model.shapes.size() + t), first, pressure);
      const Real depth = std::min(soft.depth, other.depth);
      const Real used = pressure.pairs.back().pressure / std::min(soft.highest, other.highest);
      if (work.way + otherWork.way > depth * (1 - used)) {
        const Motion along{.velocity = meanVelocity(state, other)};
        keepFromCrossing(
            model, state,
            wayAgainst(model, state, soft, along) + wayAgainst(model, state, other, along), depth,
            used, first, pressure);
      }
      if (work.isFast || otherWork.isFast) find(true);
    }
  }
}

/// How far inside both bodies the polygon is: the pressure over what it grows by straight inward.
/// Along the normal of a polygon on a flank it hardly grows.
Real depthOf(const model::ModelData& model, const PressureWorkspace& pressure,
             const PressureContact& contact) {
  const auto depthIn = [&](std::uint32_t object, std::int32_t element) -> Real {
    Real growth = 0;
    if (object >= model.shapes.size()) {
      growth = norm(pressure.softs[object - model.shapes.size()].gradient[element]);
    } else {
      const model::PressureShape& shape = *model.shapes[object].pressure;
      if (shape.kind == Kind::Field) growth = norm(shape.gradient[element]);
      if (shape.kind == Kind::Layer) growth = shape.layerGradient;
    }
    return growth > 0 ? contact.polygon.pressure / growth : 0;
  };
  return depthIn(contact.object1, contact.polygon.element1) +
         depthIn(contact.object2, contact.polygon.element2);
}

/// Takes a polygon that lies where things will be back to where they are.
void placeForeseen(const model::ModelData& model, const State& state, const model::Workspace& ws,
                   const PressureWorkspace& pressure, PressureContact& contact) {
  const ContactPolygon& polygon = contact.polygon;
  const auto wayOf = [&](std::uint32_t object, std::int32_t element,
                         const std::array<Real, 4>& weight, Vec3* point) {
    if (object < model.shapes.size()) {
      *point = ws.shapePose[object] * (inverse(pressure.nextPose[object]) * polygon.centroid);
      return polygon.centroid - *point;
    }
    const std::size_t s = object - model.shapes.size();
    Vec3 way{};
    if (!pressure.softs[s].isFast) return way;
    const Vec3* const v = state.softVelocity.data() + model.softs[s].firstVertex;
    const Tet& tet = model.softs[s].elastic.tets[element];
    for (int i = 0; i < 4; ++i) way += v[tet[i]] * (weight[i] * model.options.dt);
    return way;
  };
  const Vec3 way1 = wayOf(contact.object1, polygon.element1, polygon.weight1, &contact.point1);
  const Vec3 way2 = wayOf(contact.object2, polygon.element2, polygon.weight2, &contact.point2);
  contact.gap -= dot(polygon.normal, way1 - way2);
}

}  // namespace

}  // namespace tangere::contact
