// SPDX-License-Identifier: Apache-2.0
#include "recording_columns.hpp"

#include "arrays.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace tangere::python {

namespace {

/// Numbers of all frames, one column after another.
struct Columns {
  std::vector<Real> time, position, quaternion, linear, angular, sensors, softVertices;
  std::vector<std::uint64_t> step, stateHash;
  std::vector<std::int64_t> numContacts, numPolygons, numIslands, numEvents, iterations, status;
  std::vector<std::int64_t> numInverted, linearIterations;
  std::vector<Real> maxDepth, residual, errorBound;
  std::vector<std::uint8_t> isAsleep;
  std::vector<EnergyLedger> energy;
};

void add(const Vec3& v, std::vector<Real>* out) { out->insert(out->end(), {v.x, v.y, v.z}); }

void addBodies(const RecordedFrame& frame, Columns* out) {
  for (const BodyState& body : frame.bodies) {
    const Quat& q = body.orientation;
    add(body.pose.translation, &out->position);
    out->quaternion.insert(out->quaternion.end(), {q.w, q.x, q.y, q.z});
    add(body.linearVelocity, &out->linear);
    add(body.angularVelocity, &out->angular);
  }
  // Recordings of earlier versions do not say who sleeps.
  std::vector<std::uint8_t> asleep = frame.isAsleep;
  asleep.resize(frame.bodies.size(), 0);
  out->isAsleep.insert(out->isAsleep.end(), asleep.begin(), asleep.end());
}

void addFrame(const RecordedFrame& frame, Columns* out) {
  out->time.push_back(frame.time);
  out->step.push_back(frame.step);
  out->stateHash.push_back(frame.stateHash);
  addBodies(frame, out);
  for (const Vec3& vertex : frame.softVertices) add(vertex, &out->softVertices);
  out->sensors.insert(out->sensors.end(), frame.sensors.begin(), frame.sensors.end());
  const StepReport& report = frame.report;
  out->numContacts.push_back(static_cast<std::int64_t>(frame.contacts.size()));
  out->numPolygons.push_back(static_cast<std::int64_t>(frame.polygons.size()));
  out->numIslands.push_back(report.numIslands);
  out->numEvents.push_back(frame.numEvents);
  out->iterations.push_back(report.iterations);
  out->linearIterations.push_back(report.linearIterations);
  out->status.push_back(static_cast<std::int64_t>(report.status));
  out->numInverted.push_back(report.numInverted);
  out->maxDepth.push_back(report.maxDepth);
  out->residual.push_back(report.residual);
  out->errorBound.push_back(report.errorBound);
  out->energy.push_back(frame.energy);
}

template <class T>
void put(nb::dict& out, const char* name, std::vector<T>&& values, std::vector<std::size_t> shape) {
  out[name] = makeArray<T>(std::move(values), std::move(shape));
}

/// One number of each frame.
template <class T>
void put(nb::dict& out, const char* name, std::vector<T>&& values) {
  const std::size_t frames = values.size();
  put(out, name, std::move(values), {frames});
}

std::vector<std::int64_t> widened(const std::vector<int>& values) {
  return {values.begin(), values.end()};
}

void putEnergy(nb::dict& out, const std::vector<EnergyLedger>& energy) {
  for (const LedgerRow& row : energyLedgerRows()) {
    std::vector<Real> values;
    for (const EnergyLedger& ledger : energy) values.push_back(ledger.*(row.value));
    put(out, (std::string("energy_") + row.name).c_str(), std::move(values));
  }
}

nb::dict toArrays(Columns&& columns, std::size_t bodies) {
  const std::size_t frames = columns.time.size();
  const std::size_t perFrame = frames == 0 ? 1 : frames;
  const std::size_t vertices = columns.softVertices.size() / 3 / perFrame;
  const std::size_t readings = columns.sensors.size() / perFrame;
  nb::dict out;
  put(out, "time", std::move(columns.time));
  put(out, "step", std::move(columns.step));
  put(out, "state_hash", std::move(columns.stateHash));
  put(out, "position", std::move(columns.position), {frames, bodies, 3});
  put(out, "quaternion", std::move(columns.quaternion), {frames, bodies, 4});
  put(out, "linear_velocity", std::move(columns.linear), {frames, bodies, 3});
  put(out, "angular_velocity", std::move(columns.angular), {frames, bodies, 3});
  put(out, "is_asleep", std::move(columns.isAsleep), {frames, bodies});
  out["is_asleep"] = out["is_asleep"].attr("view")("bool");
  put(out, "soft_vertices", std::move(columns.softVertices), {frames, vertices, 3});
  put(out, "sensors", std::move(columns.sensors), {frames, readings});
  put(out, "num_contacts", std::move(columns.numContacts));
  put(out, "num_pressure_polygons", std::move(columns.numPolygons));
  put(out, "num_islands", std::move(columns.numIslands));
  put(out, "num_events", std::move(columns.numEvents));
  put(out, "iterations", std::move(columns.iterations));
  put(out, "linear_iterations", std::move(columns.linearIterations));
  put(out, "status", std::move(columns.status));
  put(out, "num_inverted", std::move(columns.numInverted));
  put(out, "max_depth", std::move(columns.maxDepth));
  put(out, "residual", std::move(columns.residual));
  put(out, "error_bound", std::move(columns.errorBound));
  putEnergy(out, columns.energy);
  return out;
}

}  // namespace

nb::dict readColumns(RecordingReader& recording, std::int64_t start,
                     std::optional<std::int64_t> stop, std::int64_t stride) {
  if (stride < 1) throw InvalidInput("stride must be at least 1, found " + std::to_string(stride));
  const std::int64_t count = recording.numFrames();
  // As slices do: from the end where negative.
  const auto place = [count](std::int64_t i) {
    return std::clamp<std::int64_t>(i < 0 ? i + count : i, 0, count);
  };
  const std::int64_t last = place(stop.value_or(count));
  Columns columns;
  {
    const nb::gil_scoped_release release;
    for (std::int64_t i = place(start); i < last; i += std::min(stride, count))
      addFrame(recording.frame(i), &columns);
  }
  return toArrays(std::move(columns), static_cast<std::size_t>(recording.numBodies()));
}

nb::dict readSeries(const RecordingReader& recording) {
  RecordedSeries series = [&] {
    const nb::gil_scoped_release release;
    return recording.series();
  }();
  std::vector<std::int64_t> status;
  for (const StepStatus bits : series.status) status.push_back(static_cast<std::int64_t>(bits));
  nb::dict out;
  put(out, "time", std::move(series.time));
  put(out, "step", std::move(series.step));
  put(out, "status", std::move(status));
  put(out, "num_contacts", widened(series.numContacts));
  put(out, "num_pressure_polygons", widened(series.numPolygons));
  put(out, "num_islands", widened(series.numIslands));
  put(out, "num_events", widened(series.numEvents));
  put(out, "iterations", widened(series.iterations));
  put(out, "residual", std::move(series.residual));
  put(out, "max_depth", std::move(series.maxDepth));
  putEnergy(out, series.energy);
  return out;
}

}  // namespace tangere::python
