// SPDX-License-Identifier: Apache-2.0
#include "motion.hpp"

#include "console.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <span>

namespace tangere::cli {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kMaxVerticesTracked = 64;
// Runs shorter than this are timed again: caches are cold at first, and other programs get in
// between.
constexpr Real kShortRun_s = 0.25;
constexpr int kRunsForTime = 3;

/// Second moments of the mass about its centre, over the mass [m^2].
Mat3 secondMoments(const MassProperties& mass) {
  const Real halfTrace = 0.5 * (mass.inertia(0, 0) + mass.inertia(1, 1) + mass.inertia(2, 2));
  Mat3 out;
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < 3; ++k)
      out(i, k) = ((i == k ? halfTrace : 0) - mass.inertia(i, k)) / mass.mass;
  return out;
}

/// L with L L^T = m. Inertias of files may belong to no real body: what is negative counts as zero.
Mat3 choleskyFactor(const Mat3& m) {
  Mat3 l{};
  const Real smallest = 1e-12 * (std::fabs(m(0, 0)) + std::fabs(m(1, 1)) + std::fabs(m(2, 2)));
  for (int k = 0; k < 3; ++k) {
    Real pivot = m(k, k);
    for (int j = 0; j < k; ++j) pivot -= l(k, j) * l(k, j);
    if (!(pivot > smallest)) continue;
    l(k, k) = std::sqrt(pivot);
    for (int i = k + 1; i < 3; ++i) {
      Real sum = m(i, k);
      for (int j = 0; j < k; ++j) sum -= l(i, j) * l(k, j);
      l(i, k) = sum / l(k, k);
    }
  }
  return l;
}

/// Six points with the mass's centre and second moments: the mean square of any displacement that
/// is linear in the place, as that of rigid bodies is, is then that of the mass.
std::vector<Vec3> pointsLikeMass(const MassProperties& mass) {
  if (!(mass.mass > 0)) return {mass.center};
  const Mat3 factor = choleskyFactor(secondMoments(mass));
  std::vector<Vec3> points;
  for (int k = 0; k < 3; ++k)
    for (const Real side : {1, -1})
      points.push_back(mass.center + factor.col[k] * (side * std::sqrt(Real(3))));
  return points;
}

Real sizeOf(std::span<const Vec3> points) {
  Vec3 center{};
  for (const Vec3& p : points) center += p;
  center *= 1 / static_cast<Real>(points.size());
  Real sum = 0;
  for (const Vec3& p : points) sum += squaredNorm(p - center);
  return std::sqrt(sum / static_cast<Real>(points.size()));
}

TrackedBody trackSoft(const Model& model, int soft) {
  TrackedBody tracked{
      .name = std::string(model.softBodyName(soft)), .soft = soft, .mass = model.softMass(soft)};
  const std::span<const Vec3> all = model.softMesh(soft).vertices();
  const int count = static_cast<int>(all.size());
  const int stride = std::max(1, (count + kMaxVerticesTracked - 1) / kMaxVerticesTracked);
  std::vector<Vec3> chosen;
  for (int i = 0; i < count; i += stride) {
    tracked.vertices.push_back(i);
    chosen.push_back(all[static_cast<std::size_t>(i)]);
  }
  tracked.size = sizeOf(chosen);
  return tracked;
}

/// One run: steps, and notes what is seen at the times of the grid.
class MotionRecorder {
 public:
  MotionRecorder(const MotionRequest& request, const Tracking& tracking, const TimeGrid& grid)
      : tracking_(tracking),
        grid_(grid),
        simulator_(request.model, request.numThreads),
        wall_limit_s_(request.wallLimit_s) {
    simulator_.setInterrupt(&interruptFlag());
    if (request.keyframe >= 0) simulator_.resetToKeyframe(request.keyframe);
    start_s_ = simulator_.state().time;
    motion_.dt = request.model.options().dt;
    motion_.points.reserve(static_cast<std::size_t>(tracking.numPoints) *
                           static_cast<std::size_t>(grid.numTimes));
    before_ = now_ = look();
    keep(0);
  }

  Motion run() {
    const bool isEvent = simulator_.model().options().solver == SolverType::Event;
    while (motion_.numTimes < grid_.numTimes && motion_.isComplete()) {
      throwIfInterrupted();
      if (isEvent)
        advanceToNextTime();
      else
        step();
    }
    motion_.simulated_s = elapsed();
    motion_.numSteps = isEvent ? static_cast<std::uint64_t>(simulator_.eventStatistics().numSteps)
                               : simulator_.state().step;
    motion_.ledger = simulator_.energySum();
    return std::move(motion_);
  }

 private:
  /// Everything of one instant.
  struct Sight {
    Real time = 0, energy = 0;
    std::vector<Vec3> points{};
    std::vector<Vec3> momenta{};  // of each body, about its centre of mass
  };

  [[nodiscard]] Real elapsed() const { return simulator_.state().time - start_s_; }

  void step() {
    const Real slack = 1e-6 * motion_.dt;
    const Real before = elapsed();
    const bool isDue = before + motion_.dt >= grid_.time(motion_.numTimes) - slack;
    if (isDue) before_ = look();
    const bool isFine = timed([&] { simulator_.step(); });
    if (!isFine) return;
    if (before <= 0) setStartEnergy();
    if (!isDue) return;
    now_ = look();
    // A coarse step may pass several times of the grid.
    while (motion_.numTimes < grid_.numTimes && grid_.time(motion_.numTimes) <= now_.time + slack)
      keep(grid_.time(motion_.numTimes));
  }

  void advanceToNextTime() {
    const Real before = elapsed();
    const Real target = grid_.time(motion_.numTimes);
    if (!timed([&] { simulator_.advanceTo(start_s_ + target); })) return;
    if (before <= 0) setStartEnergy();
    before_ = now_ = look();
    keep(target);
  }

  /// False when the run can go no further.
  template <class Advance>
  bool timed(Advance advance) {
    const Real before = elapsed();
    const auto begin = Clock::now();
    advance();
    motion_.wall_s += std::chrono::duration<Real>(Clock::now() - begin).count();
    if (isRefused(simulator_.report().status) || !(elapsed() > before))
      motion_.stopped =
          describe(simulator_.report(), simulator_.model(), simulator_.state().step + 1);
    else if (wall_limit_s_ > 0 && motion_.wall_s > wall_limit_s_)
      motion_.stopped =
          "took longer than " + std::to_string(std::lround(wall_limit_s_)) + " s of computing";
    return motion_.isComplete();
  }

  /// Before the first step nobody has added up the energy: it is what the step has booked nowhere.
  void setStartEnergy() {
    const EnergyLedger& e = simulator_.energy();
    const Real booked = e.external + e.damping + e.contactNormal + e.contactFriction + e.kinematic +
                        e.constraint + e.correction + e.integration + e.gyroscopic + e.residual;
    before_.energy = motion_.energy.front() = e.kinetic + e.potential - booked;
  }

  [[nodiscard]] Sight look() const {
    Sight sight{.time = elapsed(),
                .energy = simulator_.energy().kinetic + simulator_.energy().potential};
    sight.points.reserve(static_cast<std::size_t>(tracking_.numPoints));
    for (const TrackedBody& tracked : tracking_.bodies) {
      if (tracked.soft >= 0) {
        const std::span<const Vec3> x = simulator_.softPositions(tracked.soft);
        for (const int vertex : tracked.vertices)
          sight.points.push_back(x[static_cast<std::size_t>(vertex)]);
        sight.momenta.push_back(meanVelocity(tracked.soft) * tracked.mass);
        continue;
      }
      const BodyState body = simulator_.body(tracked.body);
      for (const Vec3& p : tracked.points) sight.points.push_back(body.pose * p);
      const Vec3& center = simulator_.model().massProperties(tracked.body).center;
      sight.momenta.push_back(
          (body.linearVelocity + cross(body.angularVelocity, body.pose.rotation * center)) *
          tracked.mass);
    }
    return sight;
  }

  [[nodiscard]] Vec3 meanVelocity(int soft) const {
    const std::span<const Vec3> v = simulator_.softVelocities(soft);
    Vec3 sum{};
    for (const Vec3& one : v) sum += one;
    return sum * (1 / static_cast<Real>(v.size()));
  }

  /// What was seen at `time`, which is between the last two looks.
  void keep(Real time) {
    const Real span = now_.time - before_.time;
    const Real part = span > 0 ? std::clamp((time - before_.time) / span, Real(0), Real(1)) : 1;
    const Real s = part > 1 - 1e-6 ? 1 : part;
    for (std::size_t i = 0; i < now_.points.size(); ++i)
      motion_.points.push_back(s == 1 ? now_.points[i]
                                      : before_.points[i] * (1 - s) + now_.points[i] * s);
    if (start_momenta_.empty()) start_momenta_ = now_.momenta;
    const Vec3& gravity = simulator_.model().options().gravity;
    for (std::size_t i = 0; i < now_.momenta.size(); ++i) {
      const Vec3 momentum = before_.momenta[i] * (1 - s) + now_.momenta[i] * s;
      motion_.impulse.push_back(momentum - start_momenta_[i] -
                                gravity * (tracking_.bodies[i].mass * time));
      motion_.largestMomentum = std::max(motion_.largestMomentum, norm(momentum));
    }
    motion_.energy.push_back(before_.energy * (1 - s) + now_.energy * s);
    motion_.largestKinetic = std::max(motion_.largestKinetic, simulator_.energy().kinetic);
    ++motion_.numTimes;
  }

  const Tracking& tracking_;
  const TimeGrid& grid_;
  Simulator simulator_;
  Real wall_limit_s_;
  Real start_s_ = 0;
  std::vector<Vec3> start_momenta_;
  Sight before_, now_;
  Motion motion_;
};

}  // namespace

Tracking trackBodies(const Model& model) {
  Tracking tracking;
  const auto add = [&](TrackedBody tracked) {
    tracked.firstPoint = tracking.numPoints;
    tracking.numPoints += tracked.numPoints();
    tracking.bodies.push_back(std::move(tracked));
  };
  for (int i = 0; i < model.numBodies(); ++i) {
    if (model.bodyType(i) != BodyType::Dynamic) continue;
    TrackedBody tracked{.name = std::string(model.bodyName(i)),
                        .body = i,
                        .mass = model.massProperties(i).mass,
                        .points = pointsLikeMass(model.massProperties(i))};
    tracked.size = sizeOf(tracked.points);
    add(std::move(tracked));
  }
  for (int i = 0; i < model.numSoftBodies(); ++i) add(trackSoft(model, i));
  return tracking;
}

TimeGrid makeTimeGrid(Real duration_s, Real coarsest_s, int maxTimes) {
  const Real steps = duration_s / coarsest_s;
  const Real nearest = std::floor(steps + 0.5);
  const bool isWhole = nearest >= 1 && std::fabs(steps - nearest) <= 1e-9 * (1 + steps);
  const Real count = isWhole ? nearest : std::ceil(steps);
  const Real stride = std::ceil(count / maxTimes);
  return {.interval = stride * coarsest_s,
          .duration = count * coarsest_s,
          .numTimes = static_cast<int>(std::ceil(count / stride)) + 1};
}

Motion recordMotion(const MotionRequest& request, const Tracking& tracking, const TimeGrid& grid) {
  Motion motion = MotionRecorder(request, tracking, grid).run();
  for (int run = 1; run < kRunsForTime && motion.wall_s < kShortRun_s; ++run)
    motion.wall_s = std::min(motion.wall_s, MotionRecorder(request, tracking, grid).run().wall_s);
  return motion;
}

}  // namespace tangere::cli
