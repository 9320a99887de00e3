// SPDX-License-Identifier: Apache-2.0
#include "integrator/event_impacts.hpp"

#include "math/contact_frame.hpp"

#include <algorithm>
#include <cmath>

namespace tangere::integrator {

namespace {

constexpr int kMaxSweeps = 10000;
/// Sweeps end when no velocity changes by more than this part of the approach; what takes long ends
/// with less. Points that stick at heights that differ, by how deep bodies rest in each other,
/// cannot all stick: such sweeps go on forever, each by depth over size, some 1e-8.
struct Patience {
  int numSweeps = 0;
  Real tolerance = 0;
};
constexpr Patience kPatience[] = {{60, 1e-14}, {1000, 1e-10}, {kMaxSweeps, 1e-7}};
/// Points of a pair whose heights differ by less than this part of its size are at one height.
constexpr Real kLevel = 1e-6;
/// After so many sweeps great friction is taken to be what makes them fail: points are solved
/// whole.
constexpr int kSweepsAlone = 300;
constexpr Real kPointTolerance = 1e-11;
/// After so many sweeps of many points the slowest way of changing is followed to its end: a light
/// body between heavy ones takes a million sweeps otherwise.
constexpr int kSweepsToEnd = 10;
/// So many points are solved all at once first, in at most so many sweeps.
constexpr std::size_t kMaxTogether = 32;
constexpr int kSweepsTogether = 500;
/// Velocities that a row has where nothing passes an impulse on: of two bodies, or a little more.
constexpr std::size_t kTreeOfTwo = 24;
/// A bounce counts that gets this many times as high as positions are uncertain.
constexpr Real kSeen = 30;

}  // namespace

EventImpacts::EventImpacts(EventState& state) : state_(state) {
  change_.resize(state.model().dofs.size());
  rate_.resize(static_cast<std::size_t>(state.size()));
}

bool EventImpacts::findHits() {
  hits_.clear();
  for (std::size_t i = 0; i < state_.contacts.size() && state_.budget().mayGoOn(); ++i) {
    EventContact& contact = state_.contacts[i];
    if (!contact.law.isRigid() || (contact.link1 < 0 && contact.link2 < 0)) continue;
    Hit hit{.contact = static_cast<int>(i)};
    hit.speed = approachSpeed(contact, &hit.point);
    if (hit.speed > contact.law.impactSpeed) hits_.push_back(hit);
  }
  return !hits_.empty();
}

ImpactOutcome EventImpacts::resolveHits(Real t, Real* y, bool isInelastic) {
  ImpactOutcome out{.numHits = static_cast<int>(hits_.size())};
  pairs_.clear();
  if (hits_.empty()) return out;
  findBounces(t, y, isInelastic);
  joinHits();
  gatherResting(isInelastic);
  for (std::size_t first = 0; first < pairs_.size();) {
    std::size_t end = first + 1;
    while (end < pairs_.size() && pairs_[end].group == pairs_[first].group) ++end;
    resolveGroup(first, end, y, &out);
    first = end;
  }
  state_.setMotion(t, y);
  return out;
}

/// Pairs [first, end) of one group. What the others of this round do is not seen: no group moves
/// what another does.
void EventImpacts::resolveGroup(std::size_t first, std::size_t end, Real* y, ImpactOutcome* out) {
  points_.clear();
  bool isAnyBounce = false;
  for (std::size_t i = first; i < end; ++i) {
    gatherPoints(static_cast<int>(i));
    isAnyBounce = isAnyBounce || pairs_[i].restitution > 0;
  }
  buildRows();
  if (!state_.budget().mayGoOn()) return;
  const bool isConverged = iterate();
  if (isAnyBounce) limitEnergy();
  if (!isConverged) {
    weaken();
    if (out->isConverged) out->contact = pairs_[first].contact;
    out->isConverged = false;
  }
  book(out);
  state_.addVelocities(change_.data(), y);
}

/// Those with which the trees of each hit hang together: union by the smaller number.
void EventImpacts::joinHits() {
  const std::size_t numTrees = state_.model().trees.size();
  group_.resize(numTrees);
  for (std::size_t i = 0; i < numTrees; ++i) group_[i] = static_cast<int>(i);
  const bool isSpread = state_.drives().hasEqualities();  // a blow may reach every tree
  if (isSpread) std::fill(group_.begin(), group_.end(), 0);
  rest_.assign(numTrees, Rest::All);
  for (const Hit& hit : hits_) {
    EventContact& contact = state_.contacts[static_cast<std::size_t>(hit.contact)];
    join(contact);
    contact.approachSpeed = hit.speed;
    contact.wasHit = true;
    pairs_.push_back({.contact = hit.contact,
                      .wasHit = true,
                      .restitution = hit.isBounce ? contact.law.restitution : Real(0),
                      .at = hit.point});
  }
  // What passes the blow on at once, by the liveliest hit of the group.
  for (const Hit& hit : hits_) {
    const EventContact& contact = state_.contacts[static_cast<std::size_t>(hit.contact)];
    Rest& rest = rest_[static_cast<std::size_t>(groupOf(contact))];
    if (hit.isBounce)
      rest = Rest::None;
    else if (!hit.isUnseen)
      rest = std::min(rest, Rest::Inelastic);
  }
}

/// What does not bounce comes to rest together with the contacts that do not bounce either; what is
/// too slow to be seen with all of them.
void EventImpacts::gatherResting(bool isInelastic) {
  is_hit_.assign(state_.contacts.size(), 0);
  is_reached_.assign(state_.model().trees.size(), 0);
  const auto reach = [&](const EventContact& contact) {
    for (const int link : {contact.link1, contact.link2})
      if (link >= 0) is_reached_[static_cast<std::size_t>(state_.model().links[link].tree)] = 1;
  };
  const auto isReached = [&](int link) {
    return link >= 0 && is_reached_[static_cast<std::size_t>(state_.model().links[link].tree)] != 0;
  };
  for (const PairImpact& pair : pairs_) {
    is_hit_[static_cast<std::size_t>(pair.contact)] = 1;
    reach(state_.contacts[static_cast<std::size_t>(pair.contact)]);
  }
  // Those that do not bounce first, then all: so the order of contacts decides nothing.
  for (const Rest kind : {Rest::Inelastic, Rest::All}) {
    for (bool isAny = true; isAny;) {
      isAny = false;
      for (std::size_t i = 0; i < state_.contacts.size() && state_.budget().mayGoOn(); ++i) {
        const EventContact& contact = state_.contacts[i];
        const bool isDead = isInelastic || !(contact.law.restitution > 0);
        if (is_hit_[i] != 0 || !contact.law.isRigid() || (kind == Rest::Inelastic && !isDead))
          continue;
        if (!isReached(contact.link1) && !isReached(contact.link2)) continue;
        const Rest rest = restOf(contact);
        if (rest < kind) continue;
        join(contact);
        rest_[static_cast<std::size_t>(groupOf(contact))] = rest;
        reach(contact);
        is_hit_[i] = 1;
        pairs_.push_back({.contact = static_cast<int>(i)});
        isAny = true;
      }
    }
  }
  for (PairImpact& pair : pairs_)
    pair.group = groupOf(state_.contacts[static_cast<std::size_t>(pair.contact)]);
  std::sort(pairs_.begin(), pairs_.end(), [](const PairImpact& a, const PairImpact& b) {
    return a.group != b.group ? a.group < b.group : a.contact < b.contact;
  });
}

int EventImpacts::rootOf(int tree) const {
  while (group_[static_cast<std::size_t>(tree)] != tree)
    tree = group_[static_cast<std::size_t>(tree)];
  return tree;
}

int EventImpacts::groupOf(const EventContact& contact) const {
  const int link = contact.link1 >= 0 ? contact.link1 : contact.link2;
  return rootOf(state_.model().links[link].tree);
}

/// Of the two groups that a contact would join: the livelier one decides.
EventImpacts::Rest EventImpacts::restOf(const EventContact& contact) const {
  Rest least = Rest::All;
  for (const int link : {contact.link1, contact.link2}) {
    if (link < 0) continue;
    const int tree = state_.model().links[link].tree;
    if (is_reached_[static_cast<std::size_t>(tree)] == 0) continue;
    least = std::min(least, rest_[static_cast<std::size_t>(rootOf(tree))]);
  }
  return least;
}

void EventImpacts::join(const EventContact& contact) {
  if (contact.link1 < 0 || contact.link2 < 0) return;
  const int a = rootOf(state_.model().links[contact.link1].tree);
  const int b = rootOf(state_.model().links[contact.link2].tree);
  group_[static_cast<std::size_t>(std::max(a, b))] = std::min(a, b);
}

/// Of the fastest point, which is told as well.
Real EventImpacts::approachSpeed(EventContact& contact, EventPoint* at) {
  Real eps = 0, fastest = 0;
  state_.locate(contact, &distance_, &eps);
  *at = distance_.points[0];
  for (int i = 0; i < distance_.numPoints; ++i) {
    const EventPoint& point = distance_.points[static_cast<std::size_t>(i)];
    if (point.distance > kTogether * contact.size) continue;
    const Real speed = state_.sample(contact, point, eps).motion.rate;
    if (!(speed > fastest)) continue;
    fastest = speed;
    *at = point;
  }
  return fastest;
}

Real EventImpacts::separationSpeed(EventContact& contact) {
  Real eps = 0, slowest = kUnlimited;
  state_.locate(contact, &distance_, &eps);
  for (int i = 0; i < distance_.numPoints; ++i) {
    const EventPoint& point = distance_.points[static_cast<std::size_t>(i)];
    if (point.distance > kTogether * contact.size) continue;
    slowest = std::min(slowest, -state_.sample(contact, point, eps).motion.rate);
  }
  return slowest;
}

/// Thrown apart at its speed, what brings the two together again gives a parabola of a height that
/// is seen, or not.
void EventImpacts::findBounces(Real t, const Real* y, bool isInelastic) {
  if (isInelastic) return;
  // After the impact they do not press.
  const auto setKind = [&](ContactLaw::Kind kind) {
    for (const Hit& hit : hits_)
      state_.contacts[static_cast<std::size_t>(hit.contact)].law.kind = kind;
  };
  setKind(ContactLaw::Kind::Observer);
  const bool isFinite = state_.derivative(t, y, rate_.data());
  setKind(ContactLaw::Kind::Rigid);
  for (Hit& hit : hits_) {
    const EventContact& contact = state_.contacts[static_cast<std::size_t>(hit.contact)];
    if (!(contact.law.restitution > 0)) continue;
    hit.isBounce =
        !isFinite || isBounceSeen(contact, hit.point, contact.law.restitution * hit.speed);
    hit.isUnseen = !hit.isBounce;
  }
}

/// At the accelerations of rate_.
bool EventImpacts::isBounceSeen(const EventContact& contact, const EventPoint& point, Real speed) {
  const Real acceleration =
      state_.accelerationAlong(contact, point.position, point.normal, rate_.data());
  if (!(acceleration < 0)) return true;
  const EventOptions& options = state_.model().options.event;
  Real farthest = 0;
  for (int k = 0; k < 3; ++k) farthest = std::max(farthest, std::fabs(point.position[k]));
  const Real uncertainty = options.relativeTolerance * farthest + options.absoluteTolerance;
  return speed * speed > -2 * acceleration * kSeen * uncertainty;
}

void EventImpacts::gatherPoints(int pair) {
  const PairImpact& of = pairs_[static_cast<std::size_t>(pair)];
  EventContact& contact = state_.contacts[static_cast<std::size_t>(of.contact)];
  Real eps = 0;
  state_.locate(contact, &distance_, &eps);
  for (int i = 0; i < distance_.numPoints; ++i) {
    const EventPoint& at = distance_.points[static_cast<std::size_t>(i)];
    if (at.distance > kTogether * contact.size) continue;
    Point& point = points_.emplace_back();
    point.pair = pair;
    point.contact = of.contact;
    point.friction = contact.law.friction;
    point.at = at;
    const EventPoint& first = distance_.points[0];
    const Real height = dot(first.normal, at.position - first.position);
    if (std::fabs(height) < kLevel * contact.size) point.at.position -= first.normal * height;
    point.R_WC = math::contactFrame(at.normal);
    point.before = point.after =
        transposeTimes(point.R_WC, state_.sample(contact, point.at, eps).motion.relativeVelocity);
    point.target = of.restitution * std::max<Real>(-point.before.z, 0);
  }
}

/// A row has entries in the trees of its contact alone; K J^T too, unless equalities pass it on.
void EventImpacts::buildRows() {
  state_.factorMasses();
  const model::ModelData& model = state_.model();
  const std::size_t count = 3 * points_.size();
  const bool isSpread = state_.drives().hasEqualities();
  const std::size_t longest = isSpread ? change_.size() : kTreeOfTwo;
  state_.budget().hold(WorkBudget::Part::Impacts,
                       static_cast<Real>(count) * static_cast<Real>(2 * longest * sizeof(Real)));
  rows_.clear();
  solved_.clear();
  ranges_.assign(count, {});
  solved_ranges_.assign(count, {});
  for (std::size_t r = 0; r < count && state_.budget().mayGoOn(); ++r) {
    const Point& point = points_[r / 3];
    const EventContact& contact = state_.contacts[static_cast<std::size_t>(point.contact)];
    int numRanges = 0;
    for (const int link : {contact.link1, contact.link2}) {
      if (link < 0) continue;
      const int tree = model.links[link].tree;
      if (numRanges == 1 && ranges_[r][0].tree == tree) continue;
      ranges_[r][static_cast<std::size_t>(numRanges++)] = {
          .tree = tree, .first = model.trees[tree].firstDof, .count = model.trees[tree].numDofs};
    }
    Real* row = change_.data();
    for (const Range& range : ranges_[r]) std::fill_n(row + range.first, range.count, Real(0));
    const Vec3 axis = point.R_WC.col[r % 3];
    if (contact.link1 >= 0) state_.addWrench(contact.link1, point.at.position, axis, {}, row);
    if (contact.link2 >= 0) state_.addWrench(contact.link2, point.at.position, -axis, {}, row);
    for (Range& range : ranges_[r]) {
      range.at = static_cast<int>(rows_.size());
      rows_.insert(rows_.end(), row + range.first, row + range.first + range.count);
    }
    solved_ranges_[r] = ranges_[r];
    if (isSpread) {
      std::fill(change_.begin(), change_.end(), Real(0));
      for (const Range& range : ranges_[r])
        std::copy_n(rows_.begin() + range.at, range.count, row + range.first);
      state_.applyInverseMass(row);
      solved_ranges_[r] = {Range{-1, 0, static_cast<int>(change_.size()), 0}, Range{}};
    } else {
      for (const Range& range : ranges_[r])
        if (range.count > 0)
          dynamics::solveMassMatrix(state_.trees(), range.tree, row + range.first);
    }
    for (Range& range : solved_ranges_[r]) {
      range.at = static_cast<int>(solved_.size());
      solved_.insert(solved_.end(), row + range.first, row + range.first + range.count);
    }
    Real mobility = 0;
    for (const Range& range : ranges_[r]) {
      for (int k = 0; k < range.count; ++k) mobility += rows_[range.at + k] * row[range.first + k];
    }
    points_[r / 3].mobility[static_cast<int>(r % 3)] = mobility;
  }
  std::fill(change_.begin(), change_.end(), Real(0));
}

void EventImpacts::push(std::size_t row, Real impulse) {
  if (impulse == 0) return;
  for (const Range& range : solved_ranges_[row]) {
    for (int k = 0; k < range.count; ++k)
      change_[range.first + k] += solved_[range.at + k] * impulse;
  }
}

/// J times the change of the velocities.
Real EventImpacts::changeAt(std::size_t row) const {
  Real sum = 0;
  for (const Range& range : ranges_[row]) {
    for (int k = 0; k < range.count; ++k) sum += rows_[range.at + k] * change_[range.first + k];
  }
  return sum;
}

/// Along an axis of a point, with the impulses so far.
Real EventImpacts::velocityAt(const Point& point, std::size_t row) const {
  return point.before[static_cast<int>(row % 3)] + changeAt(row);
}

/// Bounds of what all impulses together do along the axes of each point: steps divided by these
/// cannot go too far, whatever the others do. The same however the tangents are turned.
void EventImpacts::boundMobilities() {
  const auto size = [](Real a, Real b) { return std::sqrt(a * a + b * b); };
  for (Point& point : points_) point.normalBound = point.tangentBound = 0;
  std::vector<Real>& column = column_;
  column.resize(9 * points_.size());
  for (std::size_t q = 0; q < points_.size(); ++q) {
    for (int axis = 0; axis < 3; ++axis) {
      const std::size_t row = 3 * q + static_cast<std::size_t>(axis);
      for (const Range& range : solved_ranges_[row])
        std::copy_n(solved_.begin() + range.at, range.count, change_.begin() + range.first);
      for (std::size_t r = 0; r < 3 * points_.size(); ++r)
        column[3 * r + static_cast<std::size_t>(axis)] = changeAt(r);
      for (const Range& range : solved_ranges_[row])
        std::fill_n(change_.begin() + range.first, range.count, Real(0));
    }
    const bool isRough = points_[q].friction > 0;
    for (std::size_t p = 0; p < points_.size(); ++p) {
      const Real* w = column.data() + 9 * p;  // rows: axes of p; columns: axes of q
      Point& point = points_[p];
      point.normalBound += std::fabs(w[8]) + (isRough ? size(w[6], w[7]) : Real(0));
      point.tangentBound +=
          size(w[2], w[5]) + (isRough ? size(size(w[0], w[1]), size(w[3], w[4])) : Real(0));
    }
  }
}

/// Of one point: the normal impulse, then friction on the disk it allows, by steps that are the
/// velocities over these mobilities.
Vec3 EventImpacts::stepOf(std::size_t p, Real normalMobility, Real tangentMobility) const {
  const Point& point = points_[p];
  const std::size_t row = 3 * p;
  Vec3 next = point.impulse;
  if (normalMobility > 0)
    next.z = std::max<Real>(
        point.impulse.z + (point.target - velocityAt(point, row + 2)) / normalMobility, 0);
  if (point.friction > 0 && tangentMobility > 0) {
    next.x -= velocityAt(point, row) / tangentMobility;
    next.y -= velocityAt(point, row + 1) / tangentMobility;
    const Real size = std::sqrt(next.x * next.x + next.y * next.y), most = point.friction * next.z;
    if (size > most) {
      next.x *= most / size;
      next.y *= most / size;
    }
  }
  return next - point.impulse;
}

/// All points at once, by steps that are short enough for it. Where impulses are not unique, as of
/// the corners of a box, this finds those that are the same from every side; sweeps point by point
/// would give most to the first.
bool EventImpacts::iterateTogether(Real fastest) {
  if (points_.size() < 2 || points_.size() > kMaxTogether) return false;
  boundMobilities();
  for (int sweep = 0; sweep < kSweepsTogether && state_.budget().mayGoOn(); ++sweep) {
    Real change = 0;
    steps_.clear();
    for (std::size_t p = 0; p < points_.size(); ++p) {
      const Point& point = points_[p];
      const Vec3 step = stepOf(p, point.normalBound, point.tangentBound);
      steps_.push_back(step);
      change = std::max({change, point.normalBound * std::fabs(step.z),
                         point.tangentBound * std::max(std::fabs(step.x), std::fabs(step.y))});
    }
    move(steps_, 1);
    if (change <= kPatience[0].tolerance * fastest) return true;
  }
  return false;
}

bool EventImpacts::iterate() {
  Real fastest = 0;
  for (const Point& point : points_) fastest = std::max(fastest, norm(point.before));
  bool isConverged = iterateTogether(fastest);
  // Gauss-Seidel.
  const Patience* patience = kPatience;
  for (int sweep = 0; sweep < kMaxSweeps && !isConverged && state_.budget().mayGoOn(); ++sweep) {
    if (sweep == patience->numSweeps) ++patience;
    Real change = 0;
    for (std::size_t p = 0; p < points_.size() && state_.budget().mayGoOn(); ++p) {
      Point& point = points_[p];
      const std::size_t row = 3 * p;
      // The normal impulse first: friction sees what it does.
      const Real w = point.mobility.z;
      const Real normal = stepOf(p, w, 0).z;
      push(row + 2, normal);
      point.impulse.z += normal;
      const Real wt = std::max(point.mobility.x, point.mobility.y);
      const Vec3 step = stepOf(p, 0, wt);
      push(row, step.x);
      push(row + 1, step.y);
      point.impulse.x += step.x;
      point.impulse.y += step.y;
      change =
          std::max({change, w * std::fabs(normal), wt * std::fabs(step.x), wt * std::fabs(step.y)});
    }
    isConverged = change <= patience->tolerance * fastest;
    if (sweep == kSweepsAlone && !isConverged)
      isConverged = solveByPoints(kPointTolerance * fastest);
    if (points_.size() > 1 && !isConverged) followSlowest(sweep);
  }
  measureAfter();
  return isConverged;
}

/// Aitken's extrapolation of the impulses, from three sweeps.
void EventImpacts::followSlowest(int sweep) {
  const int phase = sweep % kSweepsToEnd;
  if (phase < kSweepsToEnd - 3) return;
  if (phase == kSweepsToEnd - 3) earlier_.assign(points_.size(), {});
  if (phase < kSweepsToEnd - 1) {
    for (std::size_t p = 0; p < points_.size(); ++p)
      earlier_[p][static_cast<std::size_t>(phase - (kSweepsToEnd - 3))] = points_[p].impulse;
    return;
  }
  Real before = 0, both = 0;
  for (std::size_t p = 0; p < points_.size(); ++p) {
    const Vec3 first = earlier_[p][1] - earlier_[p][0], last = points_[p].impulse - earlier_[p][1];
    before += squaredNorm(first);
    both += dot(first, last);
  }
  constexpr Real kSlow = 0.5, kMost = 1e9;
  if (!(both > kSlow * before)) return;
  const Real way = std::min(both < before ? both / (before - both) : kMost, kMost);
  steps_.clear();
  for (std::size_t p = 0; p < points_.size(); ++p) {
    Vec3 step = (points_[p].impulse - earlier_[p][1]) * way;
    step.z = std::max(step.z, -points_[p].impulse.z);
    steps_.push_back(step);
  }
  move(steps_, 1);
  // High friction makes sweeps that grow: their end is nowhere.
  measureAfter();
  if (energyGain() > 0) move(steps_, -1);
}

/// Adds to all impulses.
void EventImpacts::move(std::span<const Vec3> steps, Real sign) {
  for (std::size_t p = 0; p < points_.size(); ++p) {
    points_[p].impulse += steps[p] * sign;
    for (int axis = 0; axis < 3; ++axis)
      push(3 * p + static_cast<std::size_t>(axis), sign * steps[p][axis]);
  }
}

void EventImpacts::measureAfter() {
  for (std::size_t r = 0; r < 3 * points_.size(); ++r)
    points_[r / 3].after[static_cast<int>(r % 3)] = velocityAt(points_[r / 3], r);
}

void EventImpacts::book(ImpactOutcome* out) {
  for (const Point& point : points_) {
    const EventContact& contact = state_.contacts[static_cast<std::size_t>(point.contact)];
    const Vec3 mean = (point.before + point.after) * Real(0.5);
    out->normalWork += point.impulse.z * mean.z;
    out->frictionWork += point.impulse.x * mean.x + point.impulse.y * mean.y;
    const Vec3 impulse = point.R_WC * point.impulse;
    pairs_[static_cast<std::size_t>(point.pair)].load.addPoint(
        point.at.position, point.at.normal, {.force = impulse, .normalForce = point.impulse.z});
    if (contact.link1 < 0)
      out->kinematicWork -= dot(impulse, state_.pointVelocity(contact.body1, point.at.position));
    if (contact.link2 < 0)
      out->kinematicWork += dot(impulse, state_.pointVelocity(contact.body2, point.at.position));
  }
}

}  // namespace tangere::integrator
