// SPDX-License-Identifier: Apache-2.0
//
// The motion of a scene under one solver, looked at on a grid of times that is the same for all
// solvers and steps, so that two motions can be subtracted.
//
// A body is followed by a few of its points, chosen so that their root mean square displacement is
// that of the body's mass, whatever the body's shape and however it turns. Soft bodies are followed
// by vertices. Between two steps of a fixed-step solver points move straight.
#pragma once

#include <tangere/simulator.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace tangere::cli {

/// A body that can move by itself, and its points.
struct TrackedBody {
  std::string name;
  int body = -1;                ///< in the Model; -1: a soft body
  int soft = -1;                ///< the same for soft bodies
  Real mass = 0;                ///< [kg]
  int firstPoint = 0;           ///< among the points of all bodies
  std::vector<Vec3> points{};   ///< rigid: in the body's frame
  std::vector<int> vertices{};  ///< soft: numbers of the vertices
  Real size = 0;                ///< root mean square distance of its mass from its centre [m]
  [[nodiscard]] int numPoints() const {
    return static_cast<int>(points.empty() ? vertices.size() : points.size());
  }
};

struct Tracking {
  std::vector<TrackedBody> bodies;
  int numPoints = 0;
};

/// Dynamic and soft bodies, in order of the Model.
[[nodiscard]] Tracking trackBodies(const Model& model);

/// When to look: at the start, at multiples of the interval, and at the end.
struct TimeGrid {
  Real interval = 0;  ///< [s]
  Real duration = 0;  ///< [s]
  int numTimes = 0;
  [[nodiscard]] Real time(int index) const {
    return index + 1 == numTimes ? duration : interval * index;
  }
};

/// At most `maxTimes` times, each at the end of a step of `coarsest_s`; the duration is rounded up
/// to whole steps of it.
[[nodiscard]] TimeGrid makeTimeGrid(Real duration_s, Real coarsest_s, int maxTimes);

/// What was seen at the times of a grid; shorter than the grid when the run stopped.
struct Motion {
  Real dt = 0;
  std::vector<Vec3> points{};   ///< all points of the first time, then of the second, ... [m]
  std::vector<Vec3> impulse{};  ///< of each body, laid out as the points: what it was given since
                                ///< the start besides gravity, mass (v - v_0 - g t) [N s]
  Real largestMomentum = 0;     ///< of any body at these times [N s]
  std::vector<Real> energy{};   ///< kinetic and potential [J]
  Real largestKinetic = 0;      ///< at these times [J]
  EnergyLedger ledger{};        ///< summed over the run
  int numTimes = 0;
  std::uint64_t numSteps = 0;
  Real simulated_s = 0;
  Real wall_s = 0;        ///< of the steps alone
  std::string stopped{};  ///< why, when the run did not reach the end

  [[nodiscard]] bool isComplete() const { return stopped.empty(); }
  [[nodiscard]] Real wallPerSimulated() const { return simulated_s > 0 ? wall_s / simulated_s : 0; }
  [[nodiscard]] const Vec3* impulsesAt(int time, const Tracking& tracking) const {
    return impulse.data() + static_cast<std::size_t>(time) * tracking.bodies.size();
  }
  [[nodiscard]] const Vec3* pointsAt(int time, const Tracking& tracking) const {
    return points.data() + static_cast<std::size_t>(time) * tracking.numPoints;
  }
};

struct MotionRequest {
  Model model;        ///< with solver and dt
  int keyframe = -1;  ///< to start from; -1: the start of the model
  int numThreads = 1;
  Real wallLimit_s = 0;  ///< the run stops when its steps have taken this long; 0: never
};

/// Runs the model to the end of the grid. Throws CommandError when interrupted.
[[nodiscard]] Motion recordMotion(const MotionRequest& request, const Tracking& tracking,
                                  const TimeGrid& grid);

}  // namespace tangere::cli
