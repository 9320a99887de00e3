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
/// After so many sweeps of many points the slowest way of changing is followed to its end: a light
/// body between heavy ones takes a million sweeps otherwise.
constexpr int kSweepsToEnd = 10;
/// Energy that rounding may add, relative to what the impulses turn over.
constexpr Real kRounding = 1e-12;
/// Points take part in an impact that touch, or are apart by at most this part of the size of the
/// pair: a box that lands flat hits with all corners though rounding lifts one of them.
constexpr Real kTogether = 1e-8;
/// A bounce counts that gets this many times as high as positions are uncertain.
constexpr Real kSeen = 30;

}  // namespace

EventImpacts::EventImpacts(EventState& state) : state_(state) {
  change_.resize(state.model().dofs.size());
  rate_.resize(static_cast<std::size_t>(state.size()));
}

ImpactOutcome EventImpacts::resolveNext(Real t, Real* y, bool isInelastic) {
  ImpactOutcome out;
  for (std::size_t i = 0; i < state_.contacts.size(); ++i) {
    EventContact& contact = state_.contacts[i];
    if (!contact.law.isRigid() || (contact.link1 < 0 && contact.link2 < 0)) continue;
    const Real speed = approachSpeed(contact);
    if (speed <= contact.law.impactSpeed || speed <= out.approachSpeed) continue;
    out.contact = static_cast<int>(i);
    out.approachSpeed = speed;
  }
  if (out.contact < 0) return out;
  EventContact& contact = state_.contacts[static_cast<std::size_t>(out.contact)];
  const bool isBounce = !isInelastic && contact.law.restitution > 0 &&
                        isBounceSeen(t, y, contact, contact.law.restitution * out.approachSpeed);
  pairs_.assign(1, {.contact = out.contact});
  if (!isBounce) gatherGroup(out.contact, isInelastic);
  markHits(out.contact);
  points_.clear();
  for (const PairImpact& pair : pairs_)
    gatherPoints(pair.contact, isBounce ? contact.law.restitution : Real(0));
  buildRows();
  out.isConverged = iterate();
  if (isBounce) limitEnergy();
  if (!out.isConverged) weaken();
  apply(t, y, &out);
  return out;
}

/// All rigid contacts that do not bounce and hang together with this one.
void EventImpacts::gatherGroup(int contact, bool isInelastic) {
  const model::ModelData& model = state_.model();
  is_touched_.assign(model.trees.size(), 0);
  const auto treeOf = [&](int link) { return link < 0 ? -1 : model.links[link].tree; };
  const auto touch = [&](const EventContact& c) {
    for (const int tree : {treeOf(c.link1), treeOf(c.link2)}) {
      if (tree >= 0) is_touched_[static_cast<std::size_t>(tree)] = 1;
    }
  };
  const auto isTouched = [&](int tree) {
    return tree >= 0 && is_touched_[static_cast<std::size_t>(tree)] != 0;
  };
  touch(state_.contacts[static_cast<std::size_t>(contact)]);
  for (bool isAny = true; isAny;) {
    isAny = false;
    for (std::size_t i = 0; i < state_.contacts.size(); ++i) {
      const EventContact& c = state_.contacts[i];
      const int index = static_cast<int>(i);
      if (!c.law.isRigid() || (c.law.restitution > 0 && !isInelastic)) continue;
      if (!isTouched(treeOf(c.link1)) && !isTouched(treeOf(c.link2))) continue;
      const auto isIt = [&](const PairImpact& pair) { return pair.contact == index; };
      if (std::any_of(pairs_.begin(), pairs_.end(), isIt)) continue;
      pairs_.push_back({.contact = index});
      touch(c);
      isAny = true;
    }
  }
  std::sort(pairs_.begin(), pairs_.end(),
            [](const PairImpact& a, const PairImpact& b) { return a.contact < b.contact; });
}

/// The one that was found, and others that approach as fast as impacts do.
void EventImpacts::markHits(int contact) {
  for (PairImpact& pair : pairs_) {
    EventContact& of = state_.contacts[static_cast<std::size_t>(pair.contact)];
    const Real speed = approachSpeed(of);
    pair.wasHit = pair.contact == contact || speed > of.law.impactSpeed;
    if (!pair.wasHit) continue;
    of.approachSpeed = speed;
    of.wasHit = true;
  }
}

Real EventImpacts::approachSpeed(EventContact& contact) {
  Real eps = 0, fastest = 0;
  state_.locate(contact, &distance_, &eps);
  for (int i = 0; i < distance_.numPoints; ++i) {
    const EventPoint& point = distance_.points[static_cast<std::size_t>(i)];
    if (point.distance > kTogether * contact.size) continue;
    fastest = std::max(fastest, state_.sample(contact, point, eps).motion.rate);
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

/// Thrown apart at `speed`, what brings the two together again gives a parabola of this height.
bool EventImpacts::isBounceSeen(Real t, const Real* y, EventContact& contact, Real speed) {
  Real eps = 0;
  state_.locate(contact, &distance_, &eps);
  const EventPoint point = distance_.points[0];
  const ContactLaw::Kind kind = contact.law.kind;
  contact.law.kind = ContactLaw::Kind::Observer;  // after the impact it does not press
  const bool isFinite = state_.derivative(t, y, rate_.data());
  contact.law.kind = kind;
  if (!isFinite) return true;
  std::fill(change_.begin(), change_.end(), Real(0));
  if (contact.link1 >= 0)
    state_.addWrench(contact.link1, point.position, point.normal, {}, change_.data());
  if (contact.link2 >= 0)
    state_.addWrench(contact.link2, point.position, -point.normal, {}, change_.data());
  // J^T n times the accelerations, those of free turns in world axes.
  for (const EventState::FreeTurn& turn : state_.freeTurns()) {
    Real* at = change_.data() + turn.dof;
    const Vec3 world = state_.rotationOf(turn) * Vec3{at[0], at[1], at[2]};
    at[0] = world.x, at[1] = world.y, at[2] = world.z;
  }
  Real acceleration = 0;
  const Real* a = rate_.data() + state_.numPositions();
  for (std::size_t k = 0; k < change_.size(); ++k)
    acceleration += change_[k] * a[state_.trees().dofs[k].v];
  if (!(acceleration < 0)) return true;
  const EventOptions& options = state_.model().options.event;
  Real farthest = 0;
  for (int k = 0; k < 3; ++k) farthest = std::max(farthest, std::fabs(point.position[k]));
  const Real uncertainty = options.relativeTolerance * farthest + options.absoluteTolerance;
  return speed * speed > -2 * acceleration * kSeen * uncertainty;
}

void EventImpacts::gatherPoints(int index, Real restitution) {
  EventContact& contact = state_.contacts[static_cast<std::size_t>(index)];
  Real eps = 0;
  state_.locate(contact, &distance_, &eps);
  for (int i = 0; i < distance_.numPoints; ++i) {
    const EventPoint& at = distance_.points[static_cast<std::size_t>(i)];
    if (at.distance > kTogether * contact.size) continue;
    Point& point = points_.emplace_back();
    point.contact = index;
    point.at = at;
    const EventPoint& first = distance_.points[0];
    const Real height = dot(first.normal, at.position - first.position);
    if (std::fabs(height) < kLevel * contact.size) point.at.position -= first.normal * height;
    point.R_WC = math::contactFrame(at.normal);
    point.before = point.after =
        transposeTimes(point.R_WC, state_.sample(contact, point.at, eps).motion.relativeVelocity);
    point.target = restitution * std::max<Real>(-point.before.z, 0);
  }
}

/// A row has entries in the trees of its contact alone; K J^T too, unless equalities pass it on.
void EventImpacts::buildRows() {
  state_.factorMasses();
  const model::ModelData& model = state_.model();
  const std::size_t n = model.dofs.size();
  const std::size_t count = 3 * points_.size();
  const bool isSpread = state_.drives().hasEqualities();
  rows_.assign(count * n, 0);
  ranges_.assign(count, {});
  solved_ranges_.assign(count, {});
  std::fill(change_.begin(), change_.end(), Real(0));
  for (std::size_t r = 0; r < count; ++r) {
    Point& point = points_[r / 3];
    const EventContact& contact = state_.contacts[static_cast<std::size_t>(point.contact)];
    const Vec3 axis = point.R_WC.col[r % 3];
    Real* row = rows_.data() + r * n;
    int numRanges = 0;
    Real sign = 1;
    for (const int link : {contact.link1, contact.link2}) {
      if (link >= 0) {
        state_.addWrench(link, point.at.position, axis * sign, {}, row);
        const int tree = model.links[link].tree;
        if (numRanges == 0 || ranges_[r][0].tree != tree)
          ranges_[r][static_cast<std::size_t>(numRanges++)] = {tree, model.trees[tree].firstDof,
                                                               model.trees[tree].numDofs};
      }
      sign = -1;
    }
    solved_ranges_[r] = ranges_[r];
    if (isSpread) solved_ranges_[r] = {Range{-1, 0, static_cast<int>(n)}, Range{}};
  }
  solved_ = rows_;
  for (std::size_t r = 0; r < count; ++r) {
    Real* solved = solved_.data() + r * n;
    if (isSpread) {
      state_.applyInverseMass(solved);
    } else {
      for (const Range& range : ranges_[r]) {
        if (range.count > 0)
          dynamics::solveMassMatrix(state_.trees(), range.tree, solved + range.first);
      }
    }
    Real mobility = 0;
    for (const Range& range : ranges_[r]) {
      for (int k = range.first; k < range.first + range.count; ++k)
        mobility += rows_[r * n + static_cast<std::size_t>(k)] * solved[k];
    }
    points_[r / 3].mobility[static_cast<int>(r % 3)] = mobility;
  }
}

void EventImpacts::push(std::size_t row, Real impulse) {
  if (impulse == 0) return;
  const Real* solved = solved_.data() + row * change_.size();
  for (const Range& range : solved_ranges_[row]) {
    for (int k = range.first; k < range.first + range.count; ++k) change_[k] += solved[k] * impulse;
  }
}

/// Along an axis of a point, with the impulses so far.
Real EventImpacts::velocityAt(const Point& point, std::size_t row) const {
  Real sum = point.before[static_cast<int>(row % 3)];
  const Real* entries = rows_.data() + row * change_.size();
  for (const Range& range : ranges_[row]) {
    for (int k = range.first; k < range.first + range.count; ++k) sum += entries[k] * change_[k];
  }
  return sum;
}

/// Gauss-Seidel: of each point the normal impulse, then friction on the disk it allows.
bool EventImpacts::iterate() {
  Real fastest = 0;
  for (const Point& point : points_) fastest = std::max(fastest, norm(point.before));
  bool isConverged = false;
  const Patience* patience = kPatience;
  for (int sweep = 0; sweep < kMaxSweeps && !isConverged; ++sweep) {
    if (sweep == patience->numSweeps) ++patience;
    Real change = 0;
    for (std::size_t p = 0; p < points_.size(); ++p) {
      Point& point = points_[p];
      const std::size_t row = 3 * p;
      const Real friction = state_.contacts[static_cast<std::size_t>(point.contact)].law.friction;
      const Real w = point.mobility.z;
      if (w > 0) {
        const Real next =
            std::max<Real>(point.impulse.z + (point.target - velocityAt(point, row + 2)) / w, 0);
        const Real step = next - point.impulse.z;
        push(row + 2, step);
        point.impulse.z = next;
        change = std::max(change, w * std::fabs(step));
      }
      const Real wt = std::max(point.mobility.x, point.mobility.y);
      if (!(friction > 0) || !(wt > 0)) continue;
      Real x = point.impulse.x - velocityAt(point, row) / wt;
      Real y = point.impulse.y - velocityAt(point, row + 1) / wt;
      const Real size = std::sqrt(x * x + y * y), most = friction * point.impulse.z;
      if (size > most) {
        x *= most / size;
        y *= most / size;
      }
      const Real dx = x - point.impulse.x, dy = y - point.impulse.y;
      push(row, dx);
      push(row + 1, dy);
      point.impulse.x = x;
      point.impulse.y = y;
      change = std::max(change, wt * std::max(std::fabs(dx), std::fabs(dy)));
    }
    isConverged = change <= patience->tolerance * fastest;
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

/// What the impulses do: their mean with the velocities before and after.
Real EventImpacts::energyGain() const {
  Real gain = 0;
  for (const Point& point : points_) gain += dot(point.impulse, point.before + point.after) / 2;
  return gain;
}

/// Newton's restitution with friction may add energy. Impulses without restitution never do, and
/// neither do those on the way to them up to a point: there it ends.
void EventImpacts::limitEnergy() {
  Real turnover = 0;
  for (const Point& point : points_) turnover += std::fabs(dot(point.impulse, point.before));
  const Real gain = energyGain();
  if (!(gain > kRounding * turnover)) return;
  bounce_.clear();
  for (Point& point : points_) {
    bounce_.push_back(point.impulse);
    point.impulse = {};
    point.target = 0;
  }
  std::fill(change_.begin(), change_.end(), Real(0));
  (void)iterate();
  // With the impulses p + s d: the energy is e + s b + s^2 c, and at most 0 up to the share s.
  const Real still = energyGain();
  Real c = 0, b = 0;
  const std::vector<Real> rest = change_;
  std::fill(change_.begin(), change_.end(), Real(0));
  for (std::size_t r = 0; r < 3 * points_.size(); ++r) {
    const int axis = static_cast<int>(r % 3);
    push(r, bounce_[r / 3][axis] - points_[r / 3].impulse[axis]);
  }
  for (std::size_t r = 0; r < 3 * points_.size(); ++r) {
    const Point& point = points_[r / 3];
    const int axis = static_cast<int>(r % 3);
    const Real d = bounce_[r / 3][axis] - point.impulse[axis];
    const Real along = velocityAt(point, r) - point.before[axis];
    c += d * along / 2;
    b += d * point.after[axis];
  }
  const Real root = std::sqrt(std::max<Real>(b * b - 4 * c * std::min<Real>(still, 0), 0));
  const Real share = c > 0 ? std::clamp<Real>((root - b) / (2 * c), 0, 1) : Real(0);
  for (std::size_t k = 0; k < change_.size(); ++k) change_[k] = rest[k] + share * change_[k];
  for (std::size_t p = 0; p < points_.size(); ++p)
    points_[p].impulse += (bounce_[p] - points_[p].impulse) * share;
  measureAfter();
}

/// Impulses that did not get to their end may add energy: less of them does not.
void EventImpacts::weaken() {
  Real b = 0, c = 0;  // the gain is s b + s^2 c with the share s of the impulses
  for (const Point& point : points_) {
    b += dot(point.impulse, point.before);
    c += dot(point.impulse, point.after - point.before) / 2;
  }
  if (!(b + c > 0)) return;
  const Real share = b < 0 ? -b / c : Real(0);
  for (Point& point : points_) point.impulse = point.impulse * share;
  for (Real& velocity : change_) velocity *= share;
  measureAfter();
}

void EventImpacts::apply(Real t, Real* y, ImpactOutcome* out) {
  for (const Point& point : points_) {
    const EventContact& contact = state_.contacts[static_cast<std::size_t>(point.contact)];
    const Vec3 mean = (point.before + point.after) * Real(0.5);
    out->normalWork += point.impulse.z * mean.z;
    out->frictionWork += point.impulse.x * mean.x + point.impulse.y * mean.y;
    const Vec3 impulse = point.R_WC * point.impulse;
    const auto isIt = [&](const PairImpact& pair) { return pair.contact == point.contact; };
    std::find_if(pairs_.begin(), pairs_.end(), isIt)
        ->load.addPoint(point.at.position, point.at.normal,
                        {.force = impulse, .normalForce = point.impulse.z});
    if (contact.link1 < 0)
      out->kinematicWork -= dot(impulse, state_.pointVelocity(contact.body1, point.at.position));
    if (contact.link2 < 0)
      out->kinematicWork += dot(impulse, state_.pointVelocity(contact.body2, point.at.position));
  }
  const auto of = [&](const Point& point) { return point.contact == out->contact; };
  const Point& first = *std::find_if(points_.begin(), points_.end(), of);
  out->position = first.at.position;
  out->normal = first.at.normal;
  state_.addVelocities(change_.data(), y);
  state_.setMotion(t, y);
}

}  // namespace tangere::integrator
