// SPDX-License-Identifier: Apache-2.0
#include "motion_error.hpp"

#include <algorithm>
#include <cmath>

namespace tangere::cli {

namespace {

/// Root mean square distance of the points of one body.
Real distanceOf(const TrackedBody& body, const Vec3* a, const Vec3* b) {
  Real sum = 0;
  for (int i = body.firstPoint; i < body.firstPoint + body.numPoints(); ++i)
    sum += squaredNorm(a[i] - b[i]);
  return std::sqrt(sum / body.numPoints());
}

Real over(Real error, Real scale) { return scale > 0 ? std::fabs(error) / scale : 0; }

}  // namespace

ErrorScales scalesOf(const Motion& reference, const Tracking& tracking) {
  ErrorScales scales;
  for (const TrackedBody& body : tracking.bodies) {
    Real way = 0;
    for (int i = 1; i < reference.numTimes; ++i)
      way += distanceOf(body, reference.pointsAt(i - 1, tracking), reference.pointsAt(i, tracking));
    scales.way.push_back(way);
    scales.body.push_back(std::max(way, body.size));
  }
  if (reference.numTimes == 0) return scales;
  scales.impulse = reference.largestMomentum;
  for (const Vec3& impulse : reference.impulse)
    scales.impulse = std::max(scales.impulse, norm(impulse));
  const auto [least, most] = std::minmax_element(reference.energy.begin(), reference.energy.end());
  scales.energy = std::max(*most - *least, reference.largestKinetic);
  return scales;
}

ErrorCurve errorBetween(const Motion& motion, const Motion& reference, const Tracking& tracking,
                        const ErrorScales& scales) {
  ErrorCurve curve;
  const int numTimes = std::min(motion.numTimes, reference.numTimes);
  const Real perBody = 1 / std::max(static_cast<Real>(tracking.bodies.size()), Real(1));
  for (int time = 0; time < numTimes; ++time) {
    Real worst = 0, squares = 0;
    int worstBody = -1;
    for (std::size_t i = 0; i < tracking.bodies.size(); ++i) {
      const Real error = over(distanceOf(tracking.bodies[i], motion.pointsAt(time, tracking),
                                         reference.pointsAt(time, tracking)),
                              scales.body[i]);
      squares += error * error;
      if (error > worst) {
        worst = error;
        worstBody = static_cast<int>(i);
      }
    }
    const auto t = static_cast<std::size_t>(time);
    curve.worst.push_back(worst);
    curve.worstBody.push_back(worstBody);
    curve.rms.push_back(std::sqrt(squares * perBody));
    const Vec3* given = motion.impulsesAt(time, tracking);
    const Vec3* due = reference.impulsesAt(time, tracking);
    Real impulse = 0;
    for (std::size_t i = 0; i < tracking.bodies.size(); ++i)
      impulse = std::max(impulse, norm(given[i] - due[i]));
    curve.impulse.push_back(over(impulse, scales.impulse));
    curve.energy.push_back(over(motion.energy[t] - reference.energy[t], scales.energy));
  }
  return curve;
}

ErrorSummary summarize(const ErrorCurve& curve, int numTimes) {
  ErrorSummary out;
  const std::size_t count = std::min(curve.worst.size(), static_cast<std::size_t>(numTimes));
  for (std::size_t i = 0; i < count; ++i) {
    if (curve.worst[i] > out.worst) {
      out.worst = curve.worst[i];
      out.worstBody = curve.worstBody[i];
      out.worstTime = static_cast<int>(i);
    }
    out.rms += curve.rms[i] * curve.rms[i];
    out.impulse = std::max(out.impulse, curve.impulse[i]);
    out.energy = std::max(out.energy, curve.energy[i]);
  }
  if (count > 0) out.rms = std::sqrt(out.rms / static_cast<Real>(count));
  return out;
}

int firstBeyond(const ErrorCurve& curve, Real wanted) {
  const auto found = std::find_if(curve.worst.begin(), curve.worst.end(),
                                  [&](Real error) { return error > wanted; });
  return static_cast<int>(found - curve.worst.begin());
}

}  // namespace tangere::cli
