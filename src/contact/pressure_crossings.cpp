// SPDX-License-Identifier: Apache-2.0
#include "contact/pressure_crossings.hpp"

#include "geometry/kernels/tet_gradient.hpp"
#include "math/quat.hpp"

#include <algorithm>
#include <cmath>

namespace tangere::contact {

namespace {

using Kind = model::PressureShape::Kind;

/// Pairs that move by less than this part of the depth of the thinner, and press with less than
/// this part of what the weaker can, have not passed.
constexpr Real kNear = 0.05, kHard = 0.2;

/// Where a body as strong as the weaker one counts as passing its core: short of its own core, on
/// which it could be found by chance only.
constexpr Real kOwnCore = 0.75;

/// Samples of a way through a field, at most, and how many to its depth.
constexpr int kMostSamples = 256;
constexpr Real kSamplesPerDepth = 4;

/// One side of a pair, at the start and at the end of the step.
struct Party {
  std::uint32_t object = 0;
  const model::ModelShape* shape = nullptr;
  const model::PressureShape* field = nullptr;  ///< of a shape
  Transform before{}, after{};                  ///< of a shape
  const model::ModelSoft* soft = nullptr;
  const SoftWork* work = nullptr;
  const Vec3* x = nullptr;  ///< of the vertices of a soft body, at the end
  const Vec3* v = nullptr;
  Real dt = 0;

  [[nodiscard]] Real depth() const { return soft != nullptr ? soft->depth : field->depth; }
  [[nodiscard]] bool isCompliant() const { return soft != nullptr || field->kind == Kind::Field; }
  /// The highest pressure; a half space of a layer has none.
  [[nodiscard]] Real strength() const {
    return soft != nullptr              ? soft->highest
           : field->kind == Kind::Field ? field->highest
                                        : kUnlimited;
  }
  [[nodiscard]] std::size_t numCore() const {
    return soft != nullptr ? soft->core.size() : field->core.size();
  }
  [[nodiscard]] Real corePressure(std::size_t i) const {
    return soft != nullptr ? soft->pressure[soft->core[i]] : field->core[i].pressure;
  }
  [[nodiscard]] Vec3 coreBefore(std::size_t i) const {
    if (soft == nullptr) return before * field->core[i].place;
    return x[soft->core[i]] - v[soft->core[i]] * dt;
  }
  [[nodiscard]] Vec3 coreAfter(std::size_t i) const {
    return soft != nullptr ? x[soft->core[i]] : after * field->core[i].place;
  }
  [[nodiscard]] bool isCoreHeldBy(std::size_t i, const Party& other) const;
};

/// A straight way as seen from a body: in the frame of a shape, or in the world past a soft body
/// that stays where it is at the end.
struct Way {
  Vec3 from{}, to{};
};

bool isWatched(const model::ModelData& model, const State& state, const PressedPair& pair,
               const Party& a, const Party& b);
Party partyOf(const model::ModelData& model, const State& state, const model::Workspace& ws,
              SapWorkspace& sap, std::uint32_t object);
bool mayBeLost(const State& state, const Party& a, const Party& b);
bool hasPassedCore(const Party& weak, const Party& strong);
bool hasPassedThrough(const Party& weak, const Party& strong);
void nameThem(const model::ModelData& model, const PressedPair& pair, StepReport* report);

}  // namespace

bool findCrossing(const model::ModelData& model, const State& state, model::Workspace& ws,
                  SapWorkspace& sap) {
  for (SoftWork& work : sap.pressure.softs) work.isNextReached = false;
  for (const PressedPair& pair : sap.pressure.pairs) {
    const Party a = partyOf(model, state, ws, sap, pair.object1);
    const Party b = partyOf(model, state, ws, sap, pair.object2);
    if (!isWatched(model, state, pair, a, b)) continue;
    for (const Party* party : {&a, &b}) {
      if (party->soft == nullptr) continue;
      SoftWork& work = sap.pressure.softs[party->object - model.shapes.size()];
      if (work.isNextReached) continue;
      const std::span<const Vec3> x(party->x, party->soft->pressure.size());
      if (work.nextTree.empty())
        collision::buildTetTree(x, party->soft->elastic.tets, party->soft->pressure,
                                &work.nextTree);
      else
        collision::updateTetTree(x, party->soft->elastic.tets, &work.nextTree);
      work.isNextReached = true;
    }
    const bool isFirstWeak = a.isCompliant() && a.strength() <= b.strength();
    const bool isSecondWeak = b.isCompliant() && b.strength() <= a.strength();
    const bool isPassed = mayBeLost(state, a, b) ||
                          (isFirstWeak && (hasPassedCore(a, b) || hasPassedThrough(a, b))) ||
                          (isSecondWeak && (hasPassedCore(b, a) || hasPassedThrough(b, a)));
    if (!isPassed) continue;
    nameThem(model, pair, &ws.report);
    return true;
  }
  return false;
}

namespace {

bool Party::isCoreHeldBy(std::size_t i, const Party& other) const {
  if (soft == nullptr || other.shape == nullptr || soft->attachments.empty()) return false;
  const std::int32_t vertex = soft->core[i];
  return std::any_of(soft->attachedTets.begin(), soft->attachedTets.end(), [&](const auto& held) {
    const Tet& tet = soft->elastic.tets[held.second];
    return held.first == other.shape->body &&
           std::find(tet.begin(), tet.end(), vertex) != tet.end();
  });
}

Party partyOf(const model::ModelData& model, const State& state, const model::Workspace& ws,
              SapWorkspace& sap, std::uint32_t object) {
  Party out{.object = object};
  out.dt = model.options.dt;
  if (object < model.shapes.size()) {
    out.shape = &model.shapes[object];
    out.field = out.shape->pressure.get();
    const int body = out.shape->body;
    const Mat3 R = rotationMatrix(state.orientation[body]);
    const Transform X_WB{R, state.center[body] - R * model.bodies[body].mass.center};
    out.before = ws.shapePose[object];
    out.after = X_WB * out.shape->pose;
    return out;
  }
  const std::size_t s = object - model.shapes.size();
  out.soft = &model.softs[s];
  out.work = &sap.pressure.softs[s];
  out.x = state.softPosition.data() + out.soft->firstVertex;
  out.v = state.softVelocity.data() + out.soft->firstVertex;
  return out;
}

Real wayOf(const State& state, const Party& party) {
  if (party.soft == nullptr) {
    const int body = party.shape->body;
    return (norm(state.velocity[body]) +
            norm(state.angularVelocity[body]) * std::min(party.shape->reach, Real(1e6))) *
           party.dt;
  }
  Real fastest = 0;
  for (std::size_t i = 0; i < party.soft->pressure.size(); ++i)
    fastest = std::max(fastest, squaredNorm(party.v[i]));
  return std::sqrt(fastest) * party.dt;
}

bool isInsideOut(const Party& party) {
  return party.work != nullptr && party.work->assembly.numInverted > 0;
}

bool isWatched(const model::ModelData& model, const State& state, const PressedPair& pair,
               const Party& a, const Party& b) {
  (void)model;
  const Real strength = std::min(a.strength(), b.strength());
  if (!(strength < kUnlimited)) return false;  // a rigid body on a layer: that has no other side
  if (pair.pressure > kHard * strength) return true;
  // Elements that are inside out hardly press: slowly, in small parts of a step, all may pass.
  if (isInsideOut(a) || isInsideOut(b)) return true;
  return wayOf(state, a) + wayOf(state, b) > kNear * std::min(a.depth(), b.depth());
}

/// Is a tetrahedron at the core of a soft body inside out?
bool isCoreInsideOut(const Party& party) {
  if (party.soft == nullptr) return false;
  const std::vector<std::int32_t>& core = party.soft->core;
  return std::any_of(
      party.soft->elastic.tets.begin(), party.soft->elastic.tets.end(), [&](const Tet& tet) {
        const Vec3& p = party.x[tet[0]];
        const Real volume =
            dot(party.x[tet[1]] - p, cross(party.x[tet[2]] - p, party.x[tet[3]] - p));
        return volume <= 0 && std::any_of(core.begin(), core.end(), [&](std::int32_t vertex) {
                 return std::find(tet.begin(), tet.end(), vertex) != tet.end();
               });
      });
}

/// A core that is inside out tells no longer where the middle of its body is: where bodies move by
/// more than they are thick, one may then be on either side of the other.
bool mayBeLost(const State& state, const Party& a, const Party& b) {
  return wayOf(state, a) + wayOf(state, b) > std::min(a.depth(), b.depth()) &&
         (isCoreInsideOut(a) || isCoreInsideOut(b));
}

/// The way of a point past a body.
Way wayPast(const Party& body, const Vec3& before, const Vec3& after) {
  if (body.soft == nullptr) return {inverse(body.before) * before, inverse(body.after) * after};
  Vec3 mean{};
  const std::size_t n = body.soft->pressure.size();
  for (std::size_t i = 0; i < n; ++i) mean += body.v[i];
  return {before + mean * (body.dt / static_cast<Real>(n)), after};
}

/// The field of a body at a point, as a Way has it.
struct FieldValue {
  bool isInside = false;
  Real pressure = 0;
  Vec3 gradient{};
};

FieldValue fieldAt(const Party& body, const Vec3& point) {
  const bool isSoft = body.soft != nullptr;
  const geometry::LinearBvh& tree = isSoft ? body.work->nextTree : body.field->tetTree;
  const std::span<const Tet> tets = isSoft ? std::span<const Tet>(body.soft->elastic.tets)
                                           : std::span<const Tet>(body.field->tets);
  const Vec3* const x = isSoft ? body.x : body.field->vertices.data();
  const Real* const p = isSoft ? body.soft->pressure.data() : body.field->pressure.data();
  thread_local std::vector<std::int32_t> found;
  tree.query({point, point}, &found);
  FieldValue out;
  for (const std::int32_t t : found) {
    const Tet& tet = tets[t];
    Vec3 corner[4];
    Real pressure[4], weight[4];
    for (int k = 0; k < 4; ++k) {
      corner[k] = x[tet[k]];
      pressure[k] = p[tet[k]];
    }
    kernel::BarycentricMap<Real> map;
    if (!kernel::barycentricMap(corner, &map)) continue;
    kernel::barycentricCoordinates(map, point, weight);
    constexpr Real kRounding = 1e-9;
    if (!(std::min({weight[0], weight[1], weight[2], weight[3]}) >= -kRounding)) continue;
    const Real here = weight[0] * pressure[0] + weight[1] * pressure[1] + weight[2] * pressure[2] +
                      weight[3] * pressure[3];
    if (out.isInside && here <= out.pressure) continue;
    out.isInside = true;
    out.pressure = here;
    kernel::tetGradient(corner, pressure, &out.gradient);
  }
  return out;
}

/// Part of the way that lies in the bounds of the body: what is outside need not be sampled.
bool clipToBounds(const Party& body, const Way& way, Real* begin, Real* end) {
  const Aabb box = (body.soft != nullptr ? body.work->nextTree : body.field->tetTree).bounds();
  *begin = 0;
  *end = 1;
  const Vec3 d = way.to - way.from;
  for (int k = 0; k < 3; ++k) {
    if (d[k] == 0) {
      if (way.from[k] < box.lower[k] || way.from[k] > box.upper[k]) return false;
      continue;
    }
    Real t0 = (box.lower[k] - way.from[k]) / d[k], t1 = (box.upper[k] - way.from[k]) / d[k];
    if (t0 > t1) std::swap(t0, t1);
    *begin = std::max(*begin, t0);
    *end = std::min(*end, t1);
  }
  return *begin <= *end;
}

/// Calls look(part) at samples of the way that may lie in the body, the last one at its end, until
/// it returns true.
template <class Look>
bool lookAlong(const Party& body, const Way& way, const Look& look) {
  Real begin = 0, end = 1;
  if (!clipToBounds(body, way, &begin, &end)) return false;
  const Real length = norm(way.to - way.from) * (end - begin);
  const Real wanted = std::ceil(kSamplesPerDepth * length / body.depth());
  const int n = static_cast<int>(std::clamp(wanted, Real(1), Real(kMostSamples)));
  for (int i = 0; i <= n; ++i) {
    if (look(begin + (end - begin) * Real(i) / Real(n))) return true;
  }
  return false;
}

/// Did a point whose core pressure is `pressure` come to where the body presses as much?
bool comesInto(const Party& body, const Way& way, Real pressure) {
  if (body.soft != nullptr || body.field->kind == Kind::Field) {
    const Real limit = std::min(pressure, kOwnCore * body.strength());
    if (fieldAt(body, way.from).pressure >= limit) return false;  // it was there before
    return lookAlong(body, way, [&](Real part) {
      return fieldAt(body, way.from + (way.to - way.from) * part).pressure >= limit;
    });
  }
  switch (body.field->kind) {
    case Kind::HalfSpace:
      return way.from.z > 0 && way.to.z <= 0;
    case Kind::Layer:
      return -body.field->layerGradient * way.from.z < pressure &&
             -body.field->layerGradient * way.to.z >= pressure;
    case Kind::Surface: {
      const Vec3 d = way.to - way.from;
      const Real length = norm(d);
      if (!(length > 0)) return false;
      const auto hit = body.shape->shape->rayCast({way.from, d * (1 / length)});
      return hit && hit->t <= length && dot(hit->normal, d) < 0 &&
             body.shape->shape->signedDistance(way.from).distance > 0;
    }
    case Kind::Field:
    case Kind::None:
      break;
  }
  return false;
}

bool hasPassedCore(const Party& weak, const Party& strong) {
  for (std::size_t i = 0; i < weak.numCore(); ++i) {
    const Way way = wayPast(strong, weak.coreBefore(i), weak.coreAfter(i));
    if (comesInto(strong, way, weak.corePressure(i)) && !weak.isCoreHeldBy(i, strong)) return true;
  }
  return false;
}

/// Did a point of the strong body go up the pressure of the weak one and down again, over what is
/// at least half as high as its highest?
bool goesOver(const Party& weak, const Way& way) {
  constexpr Real kHigh = 0.5, kAlong = 0.05;
  const Vec3 d = way.to - way.from;
  const Real length = norm(d);
  if (!(length > 0)) return false;
  bool hasRisen = !fieldAt(weak, way.from).isInside;
  return lookAlong(weak, way, [&](Real part) {
    const FieldValue value = fieldAt(weak, way.from + d * part);
    if (!value.isInside) return false;
    const Real growth = dot(value.gradient, d), steep = kAlong * norm(value.gradient) * length;
    if (growth > steep) hasRisen = true;
    return hasRisen && growth < -steep && value.pressure > kHigh * weak.strength();
  });
}

bool hasPassedThrough(const Party& weak, const Party& strong) {
  const auto passes = [&](const Vec3& before, const Vec3& after) {
    return goesOver(weak, wayPast(weak, before, after));
  };
  for (std::size_t i = 0; i < strong.numCore(); ++i) {
    if (strong.isCoreHeldBy(i, weak)) continue;
    if (passes(strong.coreBefore(i), strong.coreAfter(i))) return true;
  }
  if (strong.soft != nullptr || strong.field->isHalfSpace()) return false;
  for (const Vec3& vertex : strong.field->vertices) {
    if (passes(strong.before * vertex, strong.after * vertex)) return true;
  }
  return false;
}

void nameThem(const model::ModelData& model, const PressedPair& pair, StepReport* report) {
  report->body1 = report->body2 = report->soft = report->soft2 = -1;
  for (const std::uint32_t object : {pair.object1, pair.object2}) {
    const bool isShape = object < model.shapes.size();
    int& first = isShape ? report->body1 : report->soft;
    int& second = isShape ? report->body2 : report->soft2;
    (first < 0 ? first : second) =
        isShape ? model.shapes[object].body : static_cast<int>(object - model.shapes.size());
  }
}

}  // namespace

}  // namespace tangere::contact
