// SPDX-License-Identifier: Apache-2.0
#include "integrator/zero_crossing.hpp"

#include "contact/find_contacts.hpp"
#include "math/transform.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tangere::integrator {

namespace {

/// Up to this many pairs are all asked always.
constexpr std::size_t kFewPairs = 24;
/// Boxes are enlarged by this part of their size: how far a shape moves before the list of near
/// pairs is made anew.
constexpr Real kEnlargement = 0.1;

/// What a pair holds, its last list and the broad phase included.
constexpr Real kBytesOfPair = 2 * sizeof(NearPair) + 4 * sizeof(ObjectPair);

constexpr Real kNoContact = -42;
constexpr Real kNoPair = 42;

bool mayMeet(const model::ModelData& model, int shape1, int shape2) {
  return contact::mayTouch(model, {static_cast<ObjectId>(shape1), static_cast<ObjectId>(shape2)}) &&
         pairSupport(model.shapes[shape1].shape->type(), model.shapes[shape2].shape->type())
             .distance;
}

bool contains(const Aabb& outer, const Aabb& inner) {
  for (int k = 0; k < 3; ++k) {
    if (!(inner.lower[k] >= outer.lower[k] && inner.upper[k] <= outer.upper[k])) return false;
  }
  return true;
}

Aabb merged(const Aabb& a, const Aabb& b) {
  Aabb out = a;
  for (int k = 0; k < 3; ++k) {
    out.lower[k] = std::min(a.lower[k], b.lower[k]);
    out.upper[k] = std::max(a.upper[k], b.upper[k]);
  }
  return out;
}

Real sizeOf(const Aabb& box) {
  Real size = 0;
  for (int k = 0; k < 3; ++k) {
    const Real length = box.upper[k] - box.lower[k];
    if (std::isfinite(length)) size = std::max(size, length);
  }
  return size;
}

}  // namespace

ZeroCrossing::ZeroCrossing(EventState& state)
    : state_(state), is_penetrating_(state.isPenetrating()) {
  const model::ModelData& model = state.model();
  boxes_.resize(model.shapes.size());
  now_boxes_.resize(model.shapes.size());
  start_boxes_.resize(model.shapes.size());
  for (const model::ModelShape& shape : model.shapes) {
    is_moving_.push_back(model.bodies[shape.body].type != BodyType::Fixed ? 1 : 0);
    reach_.push_back(shape.reach);
  }
  listAllPairs();
}

void ZeroCrossing::listAllPairs() {
  const model::ModelData& model = state_.model();
  const int n = static_cast<int>(model.shapes.size());
  is_small_ = true;
  for (int i = 0; i < n && is_small_; ++i) {
    for (int k = i + 1; k < n && is_small_; ++k) {
      if (mayMeet(model, i, k)) addPair(i, k);
      is_small_ = pairs_.size() <= kFewPairs;
    }
  }
  if (!is_small_) pairs_.clear();
}

void ZeroCrossing::addPair(int shape1, int shape2) {
  NearPair& pair = pairs_.emplace_back();
  pair.id = pairId(shape1, shape2);
  pair.shape1 = shape1;
  pair.shape2 = shape2;
  pair.startDistance = -1;
}

void ZeroCrossing::rebuild() {
  if (is_small_) return;
  const model::ModelData& model = state_.model();
  for (std::size_t s = 0; s < boxes_.size(); ++s) {
    boxes_[s] = model.shapes[s].shape->worldAabb(state_.shapePose(static_cast<int>(s)));
    now_boxes_[s] = start_boxes_[s] = boxes_[s];
    boxes_[s].expand(kEnlargement * sizeOf(boxes_[s]));
  }
  if (!is_filled_) {
    std::vector<ObjectId> ids(boxes_.size());
    for (std::size_t s = 0; s < ids.size(); ++s) ids[s] = static_cast<ObjectId>(s);
    broad_phase_.addBulk(ids, boxes_);
    is_filled_ = true;
  } else {
    for (std::size_t s = 0; s < boxes_.size(); ++s) {
      if (is_moving_[s]) broad_phase_.update(static_cast<ObjectId>(s), boxes_[s]);
    }
  }
  listNearPairs();
}

void ZeroCrossing::followBoxes() {
  if (is_small_) return;
  const model::ModelData& model = state_.model();
  bool isAnyOut = false;
  for (std::size_t s = 0; s < boxes_.size(); ++s) {
    if (!is_moving_[s]) continue;
    const Aabb& now = now_boxes_[s] =
        model.shapes[s].shape->worldAabb(state_.shapePose(static_cast<int>(s)));
    if (contains(boxes_[s], now)) continue;
    isAnyOut = true;
    boxes_[s] = merged(start_boxes_[s], now);
    boxes_[s].expand(kEnlargement * sizeOf(boxes_[s]));
    broad_phase_.update(static_cast<ObjectId>(s), boxes_[s]);
  }
  if (isAnyOut) listNearPairs();
}

void ZeroCrossing::listNearPairs() {
  const model::ModelData& model = state_.model();
  std::swap(pairs_, old_pairs_);
  pairs_.clear();
  if (!mayListPairs()) return;
  auto old = old_pairs_.begin();
  for (const ObjectPair& pair : broad_phase_.computePotentialPairs()) {
    const int shape1 = static_cast<int>(pair.first), shape2 = static_cast<int>(pair.second);
    if (!mayMeet(model, shape1, shape2)) continue;
    const std::uint64_t id = pairId(shape1, shape2);
    while (old != old_pairs_.end() && old->id < id) ++old;
    if (old != old_pairs_.end() && old->id == id)
      pairs_.push_back(*old);
    else
      addPair(shape1, shape2);
  }
  state_.budget().hold(WorkBudget::Part::Pairs, kBytesOfPair * static_cast<Real>(pairs_.size()));
  refreshRoles();
}

/// Shapes of which most are near most others have more pairs than memory has room for: these are
/// counted before they are listed.
bool ZeroCrossing::mayListPairs() {
  WorkBudget& budget = state_.budget();
  const Real numShapes = static_cast<Real>(boxes_.size());
  if (numShapes * (numShapes - 1) / 2 * kBytesOfPair <= budget.maxMemory()) return budget.mayGoOn();
  Real numNear = 0;
  for (std::size_t s = 0; s < boxes_.size() && budget.mayGoOn(); ++s) {
    near_.clear();
    broad_phase_.queryOverlap(boxes_[s], near_);
    numNear += static_cast<Real>(near_.size() - 1) / 2;  // without itself; the other one counts too
    budget.hold(WorkBudget::Part::Pairs, numNear * kBytesOfPair);
  }
  return budget.mayGoOn();
}

void ZeroCrossing::refreshRoles() {
  needs_velocities_ = false;
  auto contact = state_.contacts.begin();
  for (NearPair& pair : pairs_) {
    while (contact != state_.contacts.end() && contact->id < pair.id) ++contact;
    pair.isInContact = contact != state_.contacts.end() && contact->id == pair.id;
    if (pair.isInContact) pair.isDeparting = false;
    needs_velocities_ = needs_velocities_ || pair.isDeparting;
  }
  needs_velocities_ = needs_velocities_ || !state_.contacts.empty();
}

bool hasTension(const ContactLaw& law) {
  return law.kind == ContactLaw::Kind::Hertz || law.kind == ContactLaw::Kind::HuntCrossley ||
         law.kind == ContactLaw::Kind::Linear;
}

NearPair* ZeroCrossing::find(std::uint64_t id) {
  const auto at = std::lower_bound(pairs_.begin(), pairs_.end(), id,
                                   [](const NearPair& p, std::uint64_t key) { return p.id < key; });
  return at != pairs_.end() && at->id == id ? &*at : nullptr;
}

void ZeroCrossing::evaluate(Real* z) {
  Real leaving = kNoContact, entering = kNoPair;
  Real vanishing = kNoPair, returning = kNoContact;
  Real clearing = kNoContact, turning = kNoPair;
  for (EventContact& contact : state_.contacts) {
    if (!state_.budget().mayGoOn()) break;
    Real eps = 0;
    state_.locate(contact, &distance_, &eps);
    const ContactSample deepest = state_.sample(contact, distance_.points[0], eps);
    contact.signal = leavingSignal(distance_.distance, eps);
    contact.signalRate = -deepest.motion.rate;
    state_.measureLoad(distance_, eps, deepest, &contact);
    leaving = std::max(leaving, contact.signal);
    if (contact.hasPoints) entering = std::min(entering, nextPoint(eps));
    if (!hasTension(contact.law)) continue;
    Real tension = state_.tensionOf(contact, distance_, eps, deepest);
    // What is let out of an overlap slowly moves at the very speed at which its force vanishes: as
    // long as it is zero nothing has changed, and a crossing that starts from zero is not seen.
    constexpr Real kLeast = std::numeric_limits<Real>::min();
    if (tension == 0) tension = contact.isPulled ? -kLeast : kLeast;
    if (contact.isPulled)
      returning = std::max(returning, tension);
    else
      vanishing = std::min(vanishing, tension);
  }
  const EventDrives& drives = state_.drives();
  if (!drives.limits.empty()) state_.drives().measure(state_);
  for (std::size_t i = 0; i < drives.limits.size(); ++i) {
    const Real gap = drives.gapOf(i, state_);
    if (drives.isLimitActive[i] != 0)
      leaving = std::max(leaving, leavingSignal(gap, kLimitEps));
    else
      entering = std::min(entering, enteringSignal(gap, kLimitEps));
  }
  followBoxes();
  const model::ModelData& model = state_.model();
  for (NearPair& pair : pairs_) {
    if (!state_.budget().mayGoOn()) break;
    if (pair.isInContact) continue;
    const Transform &X_W1 = state_.shapePose(pair.shape1), &X_W2 = state_.shapePose(pair.shape2);
    pair.eps = contactEps(X_W1, X_W2);
    if (pair.isDeparting) {
      const PairSample now = sample(pair, 0);
      clearing = std::max(clearing, leavingSignal(now.distance, pair.eps));
      turning = std::min(turning, now.rate);
      continue;
    }
    pair.distance = pairDistance(*model.shapes[pair.shape1].shape, X_W1,
                                 *model.shapes[pair.shape2].shape, X_W2, entering, &pair.hint);
    entering = std::min(entering, enteringSignal(pair.distance, pair.eps));
  }
  z[static_cast<int>(CrossingSignal::ContactEnds)] = leaving;
  z[static_cast<int>(CrossingSignal::ContactBegins)] = entering;
  z[static_cast<int>(CrossingSignal::ForceVanishes)] = vanishing;
  z[static_cast<int>(CrossingSignal::ForceReturns)] = returning;
  z[static_cast<int>(CrossingSignal::Cleared)] = clearing;
  z[static_cast<int>(CrossingSignal::TurnedBack)] = turning;
}

/// The least signal of those points of the contact at hand that do not touch.
Real ZeroCrossing::nextPoint(Real eps) const {
  Real least = kNoPair;
  for (int i = 0; i < distance_.numPoints; ++i) {
    const EventPoint& point = distance_.points[static_cast<std::size_t>(i)];
    if (point.touching < 0) least = std::min(least, enteringSignal(point.distance, eps));
  }
  return least;
}

Real ZeroCrossing::distanceOf(NearPair& pair) {
  const model::ModelData& model = state_.model();
  const Transform &X_W1 = state_.shapePose(pair.shape1), &X_W2 = state_.shapePose(pair.shape2);
  pair.eps = contactEps(X_W1, X_W2);
  pair.distance = pairDistance(*model.shapes[pair.shape1].shape, X_W1,
                               *model.shapes[pair.shape2].shape, X_W2, kUnlimited, &pair.hint);
  return pair.distance;
}

PairSample ZeroCrossing::sample(NearPair& pair, Real t) {
  const model::ModelData& model = state_.model();
  const model::ModelShape &s1 = model.shapes[pair.shape1], &s2 = model.shapes[pair.shape2];
  const Transform &X_W1 = state_.shapePose(pair.shape1), &X_W2 = state_.shapePose(pair.shape2);
  pair.eps = contactEps(X_W1, X_W2);
  evaluatePair(*s1.shape, X_W1, *s2.shape, X_W2, &distance_, &pair.hint);
  pair.distance = distance_.distance;
  const EventPoint& point = distance_.points[0];
  const Vec3 velocity =
      state_.pointVelocity(s1.body, point.position) - state_.pointVelocity(s2.body, point.position);
  return {t, distance_.distance, dot(point.normal, velocity)};
}

void ZeroCrossing::beginStep() {
  for (EventContact& contact : state_.contacts) {
    contact.startSignal = contact.signal;
    contact.startRate = contact.signalRate;
  }
  for (NearPair& pair : pairs_) pair.startDistance = pair.isInContact ? Real(-1) : pair.distance;
  if (!is_small_) start_boxes_ = now_boxes_;
}

ShapeSpeed ZeroCrossing::speedOf(int shape) const {
  if (!is_moving_[static_cast<std::size_t>(shape)]) return {};
  const model::ModelShape& s = state_.model().shapes[shape];
  const model::ModelBody& body = state_.model().bodies[s.body];
  const Vec3 velocity = state_.pointVelocity(s.body, state_.bodyPose(s.body) * body.mass.center);
  const Real spin = norm(state_.angularVelocity(s.body));
  if (spin == 0) return {velocity, norm(velocity), 0};
  const Real reach = reach_[static_cast<std::size_t>(shape)];
  return {velocity, norm(velocity) + spin * reach, spin * spin * reach};
}

}  // namespace tangere::integrator
