// SPDX-License-Identifier: Apache-2.0
#include "commands.hpp"
#include "verify_families.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

namespace tangere::cli {

namespace {

struct VerifyOptions {
  std::vector<std::string> paths;
};

struct Row {
  std::string caseId, lane, quantity;
  std::vector<double> reference, value;
  Json tolerance;
  double error = 0;
  bool pass = false;
};

struct Skipped {
  std::string caseId, lane, reason;
};

struct Outcome {
  std::vector<Row> rows;
  std::vector<Skipped> skipped;
};

/// Families whose solvers are not part of this version.
constexpr std::array kLaterFamilies = {"hunt_crossley",   "modia_bounce", "hertz",
                                       "spinning_disc",   "sap_contact",  "box_manifold",
                                       "double_pendulum", "andrews"};

std::vector<std::string> caseFiles(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    std::error_code error;
    if (!std::filesystem::is_directory(path, error)) {
      files.push_back(path);
      continue;
    }
    std::vector<std::string> inside;
    for (const auto& entry : std::filesystem::directory_iterator(path, error)) {
      if (entry.path().extension() == ".json") inside.push_back(entry.path().string());
    }
    if (inside.empty())
      throw CommandError(kInputRejected,
                         {{.file = path, .message = "no .json case in the folder"}});
    std::stable_sort(inside.begin(), inside.end());
    files.insert(files.end(), inside.begin(), inside.end());
  }
  return files;
}

Json readCase(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw CommandError(kInputOutput, {{.file = path, .message = "cannot be read"}});
  std::stringstream text;
  text << in.rdbuf();
  try {
    Json document = Json::parse(text.str());
    for (const char* key : {"id", "family", "parameters", "checks"}) {
      if (!document.contains(key)) {
        throw CommandError(kInputRejected,
                           {{.file = path, .message = join("'", key, "' is missing")}});
      }
    }
    if (!document["id"].is_string() || !document["family"].is_string() ||
        !document["parameters"].is_object() || !document["checks"].is_array()) {
      throw CommandError(kInputRejected,
                         {{.file = path,
                           .message = "not an accuracy case: id and family are "
                                      "strings, parameters an object, checks a list"}});
    }
    return document;
  } catch (const Json::exception& error) {
    throw CommandError(kInputRejected, {{.file = path, .message = error.what()}});
  }
}

std::vector<double> numbers(const Json& value) {
  std::vector<double> out;
  if (value.is_number()) return {value.get<double>()};
  if (value.is_array()) {
    for (const Json& entry : value) {
      if (!entry.is_number()) return {};
      out.push_back(entry.get<double>());
    }
  }
  return out;
}

/// The rules of the reference data: rel, abs, rel_to_max, equal, le_factor.
void judge(Row* row) {
  const std::string type = row->tolerance.value("type", "");
  const double bound = row->tolerance.value("value", 0.0);
  if (row->value.size() != row->reference.size()) return;
  double largest = 0;
  for (const double r : row->reference) largest = std::max(largest, std::fabs(r));
  row->pass = !row->value.empty();
  for (std::size_t i = 0; i < row->value.size(); ++i) {
    const double v = row->value[i], r = row->reference[i];
    const double error = std::fabs(v - r);
    double allowed = 0;
    if (type == "rel") allowed = bound * std::fabs(r);
    if (type == "abs") allowed = bound;
    if (type == "rel_to_max") allowed = bound * largest;
    if (type == "le_factor") {
      row->pass = row->pass && v >= 0 && v <= bound * r;
      row->error = std::max(row->error, v);
      continue;
    }
    row->pass = row->pass && error <= allowed;  // false for NaN
    row->error = std::max(row->error, error);
  }
}

/// "impulse_dt_1e-3" and the like; nothing for a lane of another solver.
std::optional<Lane> laneOf(const std::string& name) {
  for (const auto& [known, kind] :
       {std::pair<std::string_view, LaneKind>{"hydro_fine", LaneKind::FinePressure},
        std::pair<std::string_view, LaneKind>{"hydro_coarse", LaneKind::CoarsePressure},
        std::pair<std::string_view, LaneKind>{"fem", LaneKind::Elastic}}) {
    if (name == known) return Lane{.solver = SolverType::Sap, .kind = kind};
  }
  for (const auto& [prefix, solver] :
       {std::pair<std::string_view, SolverType>{"impulse_dt_", SolverType::Impulse},
        std::pair<std::string_view, SolverType>{"sap_dt_", SolverType::Sap},
        std::pair<std::string_view, SolverType>{"lagged_dt_", SolverType::Sap}}) {
    if (name.rfind(prefix, 0) != 0) continue;
    try {
      const double dt = std::stod(name.substr(prefix.size()));
      if (dt > 0 && dt <= 1) return Lane{dt, solver, prefix == "lagged_dt_"};
    } catch (const std::exception&) {
    }
  }
  return std::nullopt;
}

bool canRun(const Family& family, const Lane& lane) {
  const auto has = [](const auto& list, auto value) {
    return std::find(list.begin(), list.end(), value) != list.end();
  };
  return has(family.solvers, lane.solver) && has(family.kinds, lane.kind) &&
         (!lane.isLagged || family.hasLagged);
}

void verifyCase(const std::string& path, Outcome* outcome) {
  const Json document = readCase(path);
  const std::string id = document["id"], family = document["family"];
  std::vector<std::string> lanes;
  for (const Json& check : document["checks"]) {
    if (!check.contains("quantity") || !check.contains("reference")) {
      throw CommandError(kInputRejected,
                         {{.file = path, .message = "a check needs a quantity and a reference"}});
    }
    const Json goals = check.value("tolerance_goal", Json::object());
    for (const auto& goal : goals.items()) {
      const std::string& lane = goal.key();
      if (std::find(lanes.begin(), lanes.end(), lane) == lanes.end()) lanes.push_back(lane);
    }
  }

  const auto& all = families();
  const auto found = all.find(family);
  if (found == all.end()) {
    std::vector<std::string> known(kLaterFamilies.begin(), kLaterFamilies.end());
    const bool isLater = std::find(known.begin(), known.end(), family) != known.end();
    for (const auto& [name, unused] : all) known.push_back(name);
    if (!isLater) {
      throw CommandError(kInputRejected,
                         {{.file = path,
                           .message = join("family: found '", family, "', which does not exist",
                                           nearNames(family, known))}});
    }
    outcome->skipped.push_back({id, "all", "the solver of this family is not in this version"});
    return;
  }
  for (const std::string& lane : lanes) {
    const std::optional<Lane> how = laneOf(lane);
    if (!how) {
      outcome->skipped.push_back(
          {id, lane, "this version runs impulse, sap, lagged, hydro and fem lanes"});
      continue;
    }
    if (!canRun(found->second, *how)) {
      outcome->skipped.push_back(
          {id, lane, join("the ", solverTypeName(how->solver), " solver cannot express it")});
      continue;
    }
    throwIfInterrupted();
    const Measured measured = [&] {
      try {
        return found->second.run(document["parameters"], *how);
      } catch (const InvalidInput& error) {
        throw CommandError(kInputRejected, {{.file = path, .message = error.what()}});
      }
    }();
    for (const Json& check : document["checks"]) {
      const Json goals = check.value("tolerance_goal", Json::object());
      if (!goals.contains(lane)) continue;
      Row row{.caseId = id,
              .lane = lane,
              .quantity = check["quantity"],
              .reference = numbers(check["reference"]),
              .value = {},
              .tolerance = goals[lane]};
      const auto value = measured.find(row.quantity);
      if (value != measured.end()) row.value = value->second;
      const auto reason = found->second.notMeasured.find(row.quantity);
      if (value == measured.end() && reason != found->second.notMeasured.end()) {
        outcome->skipped.push_back({id, lane, join(row.quantity, ": ", reason->second)});
        continue;
      }
      judge(&row);
      outcome->rows.push_back(std::move(row));
    }
  }
}

Json scalarOrList(const std::vector<double>& values) {
  if (values.size() == 1) return values[0];
  return values;
}

std::string text(const std::vector<double>& values) {
  std::string out;
  for (const double value : values) {
    char buffer[32];
    std::snprintf(buffer, sizeof buffer, "%s%.9g", out.empty() ? "" : " ", value);
    out += buffer;
  }
  return out.empty() ? "not measured" : out;
}

void runVerify(const VerifyOptions& options, const CommonOptions& common) {
  Outcome outcome;
  for (const std::string& file : caseFiles(options.paths)) verifyCase(file, &outcome);

  int failed = 0;
  Json rows = Json::array(), skipped = Json::array();
  for (const Row& row : outcome.rows) {
    failed += row.pass ? 0 : 1;
    rows.push_back({{"case", row.caseId},
                    {"lane", row.lane},
                    {"quantity", row.quantity},
                    {"reference", scalarOrList(row.reference)},
                    {"value", scalarOrList(row.value)},
                    {"error", row.error},
                    {"tolerance", row.tolerance},
                    {"pass", row.pass}});
  }
  for (const Skipped& s : outcome.skipped)
    skipped.push_back({{"case", s.caseId}, {"lane", s.lane}, {"reason", s.reason}});
  if (common.json) {
    printJson({{"rows", rows},
               {"skipped", skipped},
               {"passed", outcome.rows.size() - static_cast<std::size_t>(failed)},
               {"failed", failed}});
  } else {
    for (const Row& row : outcome.rows) {
      std::printf("%s  %-28s %-16s %-20s %-22s error %-10.3g %s\n", row.pass ? "pass" : "FAIL",
                  row.caseId.c_str(), row.lane.c_str(), row.quantity.c_str(),
                  text(row.value).c_str(), row.error, row.tolerance.dump().c_str());
    }
    for (const Skipped& s : outcome.skipped) {
      std::printf("skip  %-28s %-16s %s\n", s.caseId.c_str(), s.lane.c_str(), s.reason.c_str());
    }
    std::printf("%zu rows, %d failed, %zu skipped\n", outcome.rows.size(), failed,
                outcome.skipped.size());
  }
  if (failed > 0) throw CommandEnd{kDifferent};
}

}  // namespace

void addVerifyCommand(CLI::App& program, const CommonOptions& common) {
  auto* command =
      program.add_subcommand("verify", "Run accuracy cases and compare with their references");
  const auto options = std::make_shared<VerifyOptions>();
  command->add_option("CASE", options->paths, "Case files (.json), or folders of them")->required();
  command->footer("Example:\n  tangere verify tests/data/golden/accuracy --json");
  command->callback([options, &common] { runVerify(*options, common); });
}

}  // namespace tangere::cli
