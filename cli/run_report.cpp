// SPDX-License-Identifier: Apache-2.0
#include "run_report.hpp"

#include <tangere/recording.hpp>

#include <sys/resource.h>

#include <algorithm>
#include <cstdio>

namespace tangere::cli {

namespace {

Json vecJson(const Vec3& v) { return Json::array({v.x, v.y, v.z}); }
Json quatJson(const Quat& q) { return Json::array({q.w, q.x, q.y, q.z}); }

/// The largest resident memory of this process so far.
Real peakMemory_mb() {
  struct rusage usage {};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<Real>(usage.ru_maxrss) / 1024;  // kilobytes on Linux
}

Real ratio(Real a, Real b) { return b > 0 ? a / b : 0; }

Real meanOf(std::uint64_t sum, std::uint64_t count) {
  return ratio(static_cast<Real>(sum), static_cast<Real>(count));
}

/// Calls visit(name, steps) for Ok and then for every bit that has a name.
template <class Visit>
void forEachStatus(const RunCounters& counters, Visit visit) {
  visit(stepStatusName(StepStatus::Ok), counters.stepsOk);
  const std::string_view unknown = stepStatusName(static_cast<StepStatus>(1u << 31));
  for (std::size_t bit = 0; bit < counters.stepsWithStatus.size(); ++bit) {
    const std::string_view name = stepStatusName(static_cast<StepStatus>(1u << bit));
    if (name != unknown) visit(name, counters.stepsWithStatus[bit]);
  }
}

/// Means over the vertices, and the box around them.
Json softJson(const Simulator& simulator, int soft) {
  const std::span<const Vec3> x = simulator.softPositions(soft), v = simulator.softVelocities(soft);
  Vec3 center{}, velocity{}, lower = x[0], upper = x[0];
  Real fastest = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    center += x[i];
    velocity += v[i];
    fastest = std::max(fastest, norm(v[i]));
    for (int k = 0; k < 3; ++k) {
      lower[k] = std::min(lower[k], x[i][k]);
      upper[k] = std::max(upper[k], x[i][k]);
    }
  }
  const Real share = 1 / static_cast<Real>(x.size());
  return {{"position", vecJson(center * share)},
          {"linear_velocity", vecJson(velocity * share)},
          {"lower", vecJson(lower)},
          {"upper", vecJson(upper)},
          {"max_speed", fastest},
          {"vertices", x.size()}};
}

}  // namespace

std::string hashText(std::uint64_t hash) {
  char digits[20];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(hash));
  return digits;
}

Json eventsDocument(const std::vector<EventRecord>& events, const Model& model) {
  const auto nameOf = [](EventCause cause) {
    switch (cause) {
      case EventCause::ContactBegins:
        return "contact_begins";
      case EventCause::ContactEnds:
        return "contact_ends";
      case EventCause::Impact:
        return "impact";
      case EventCause::ForceVanishes:
        return "force_vanishes";
      case EventCause::ForceReturns:
        return "force_returns";
    }
    return "";
  };
  Json out = Json::array();
  for (const EventRecord& event : events) {
    out.push_back({{"time", event.time},
                   {"signal", eventSignalName(event.cause)},
                   {"cause", nameOf(event.cause)},
                   {"body1", std::string(model.bodyName(event.body1))},
                   {"body2", std::string(model.bodyName(event.body2))},
                   {"distance", event.distance},
                   {"normal", vecJson(event.normal)},
                   {"position", vecJson(event.position)},
                   {"approach_speed", event.approachSpeed},
                   {"c_res", event.stiffness},
                   {"d_res", event.damping},
                   {"restart", event.isRestart}});
  }
  return out;
}

Json runDocument(const RunSummary& summary) {
  const RunCounters& counters = summary.counters;
  const Simulator& simulator = *summary.simulator;
  Json status = Json::object();
  forEachStatus(counters, [&](std::string_view name, std::uint64_t steps) {
    status[std::string(name)] = steps;
  });
  Json energy = Json::object();
  for (const LedgerRow& row : energyLedgerRows()) energy[row.name] = counters.energy.*row.value;
  Json bodies = Json::object();
  for (int i = 0; i < simulator.model().numBodies(); ++i) {
    const BodyState body = simulator.body(i);
    bodies[std::string(simulator.model().bodyName(i))] = {
        {"position", vecJson(body.pose.translation)},
        {"quaternion", quatJson(body.orientation)},
        {"linear_velocity", vecJson(body.linearVelocity)},
        {"angular_velocity", vecJson(body.angularVelocity)}};
  }
  Json softs = Json::object();
  for (int i = 0; i < simulator.model().numSoftBodies(); ++i)
    softs[std::string(simulator.model().softBodyName(i))] = softJson(simulator, i);
  Json hashes = Json::array();
  for (const std::uint64_t hash : summary.stateHashes) hashes.push_back(hashText(hash));
  Json document = {{"steps", counters.steps},
                   {"simulated_s", simulator.state().time},
                   {"wall_s", summary.wall_s},
                   {"realtime_factor", ratio(summary.simulatedHere_s, summary.wall_s)},
                   {"steps_per_s", ratio(static_cast<Real>(summary.stepsHere), summary.wall_s)},
                   {"contacts_mean", meanOf(counters.contactsSum, counters.steps)},
                   {"contacts_max", counters.contactsMax},
                   {"pressure_polygons_mean", meanOf(counters.polygonsSum, counters.steps)},
                   {"pressure_polygons_max", counters.polygonsMax},
                   {"iterations_mean", meanOf(counters.iterationsSum, counters.steps)},
                   {"iterations_max", counters.iterationsMax},
                   {"status", status},
                   {"max_depth_m", counters.maxDepth},
                   {"energy", energy},
                   {"peak_memory_mb", peakMemory_mb()},
                   {"state_hash", hashText(simulator.state().hash())},
                   {"bodies", bodies},
                   {"soft_bodies", softs},
                   {"envs", summary.numEnvironments},
                   {"environment_steps_per_s",
                    ratio(static_cast<Real>(summary.environmentStepsHere), summary.wall_s)},
                   {"state_hashes", hashes}};
  if (summary.events != nullptr && simulator.model().options().solver == SolverType::Event)
    document["events"] = eventsDocument(*summary.events, simulator.model());
  return document;
}

void printRunTable(const std::string& scene, const RunSummary& summary, bool withBodies) {
  const RunCounters& counters = summary.counters;
  const Simulator& simulator = *summary.simulator;
  const auto row = [](const char* name, const char* format, auto... values) {
    std::printf("  %-18s ", name);
    std::printf(format, values...);
    std::printf("\n");
  };
  std::printf("%s\n", scene.c_str());
  row("bodies", "%d", simulator.model().numBodies());
  if (const int softs = simulator.model().numSoftBodies(); softs > 0)
    row("soft bodies", "%d with %d vertices", softs, simulator.model().numSoftVertices());
  row("steps", "%llu", static_cast<unsigned long long>(counters.steps));
  row("simulated", "%.6g s", simulator.state().time);
  row("wall time", "%.3f s (%.4g x real time, %.4g steps/s)", summary.wall_s,
      ratio(summary.simulatedHere_s, summary.wall_s),
      ratio(static_cast<Real>(summary.stepsHere), summary.wall_s));
  if (summary.numEnvironments > 1)
    row("environments", "%d, %.4g steps/s together; below: environment 0, status of all",
        summary.numEnvironments,
        ratio(static_cast<Real>(summary.environmentStepsHere), summary.wall_s));
  row("contacts", "mean %.4g, max %llu", meanOf(counters.contactsSum, counters.steps),
      static_cast<unsigned long long>(counters.contactsMax));
  if (counters.polygonsMax > 0)
    row("pressure contact", "polygons: mean %.4g, max %llu",
        meanOf(counters.polygonsSum, counters.steps),
        static_cast<unsigned long long>(counters.polygonsMax));
  row("iterations", "mean %.4g, max %llu", meanOf(counters.iterationsSum, counters.steps),
      static_cast<unsigned long long>(counters.iterationsMax));
  row("deepest contact", "%.4g mm", counters.maxDepth * 1e3);
  forEachStatus(counters, [&](std::string_view name, std::uint64_t steps) {
    if (steps > 0)
      row("status", "%llu steps %s", static_cast<unsigned long long>(steps),
          std::string(name).c_str());
  });
  for (const LedgerRow& ledger : energyLedgerRows())
    if (counters.energy.*ledger.value != 0)
      row("energy", "%+.6e J %s", counters.energy.*ledger.value, ledger.name);
  row("peak memory", "%.1f MB", peakMemory_mb());
  if (summary.numEnvironments == 1)
    row("state hash", "%s", hashText(simulator.state().hash()).c_str());
  else
    for (std::size_t i = 0; i < summary.stateHashes.size(); ++i)
      row("state hash", "%s of environment %zu", hashText(summary.stateHashes[i]).c_str(), i);
  if (!withBodies) return;
  for (int i = 0; i < simulator.model().numBodies(); ++i) {
    const BodyState body = simulator.body(i);
    const Vec3 &p = body.pose.translation, &v = body.linearVelocity;
    std::printf("  %-18s position %.6g %.6g %.6g m, velocity %.4g %.4g %.4g m/s\n",
                std::string(simulator.model().bodyName(i)).c_str(), p.x, p.y, p.z, v.x, v.y, v.z);
  }
}

}  // namespace tangere::cli
