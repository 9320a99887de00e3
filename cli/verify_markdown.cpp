// SPDX-License-Identifier: Apache-2.0
#include "verify_markdown.hpp"

#include <algorithm>
#include <cstdio>

namespace tangere::cli {

namespace {

constexpr const char* kHead = R"(# Accuracy

Errors against the references of `tests/data/golden/accuracy`, which were computed without any
engine. Written by

    tangere verify tests/data/golden/accuracy --markdown > docs/accuracy.md

`rel` is |x - r| / |r|, `abs` |x - r|, `rel_to_max` |x - r| / max |r| (of lists: the largest over
the entries), `le_factor` x / r. A lane is a solver and its step: `accurate` is the event solver,
`impulse`, `sap` and `lagged` (Hunt-Crossley under SAP) step by the time in their name,
`hydro` and `fem` are fields and deformable bodies, `sap` and `geom` without a step are single
calls. Errors below 1e-15 are rounding and shown as 0.
)";

constexpr const char* kTail = R"(
## What every scene keeps

[metamorphic.md](metamorphic.md): relations that hold for every scene under every solver, and invariants of every step,
tried on thousands of random scenes, with the command. What a solver does not keep by its nature, and by how much:

| solver | what | measured |
|---|---|---|
| `impulse`, `sap` | a box said as twelve triangles or as two halves has other contact points | 2 to 4 % of the scenes; half of them by less than 0.2 % (halves) and 10 % (triangles) of the speed; across the cut of a floor up to all of it |
| `impulse`, `sap` | the depth of a rim in a corner or an edge: other directions part the two over almost the same way | 0.2 % of mirrored scenes, 1e-6 to 0.3 of the speed |
| `sap`, `event` | bodies and links that start in each other are led apart at a speed in m/s and rad/s, joints beyond a limit in 20 ms | not the same in other units |
| `sap` | welded bodies are a tree, whose forces of rotation are of first order | 5 % of the speed after three steps of 0.1 rad |
| `sap` | an impact is taken in two steps, and friction in it depends on how it is divided | 8 % of the shifted scenes, by up to 8 % of the speed |
| `impulse` | several impacts of one pair within a step, in a world that moves | 0.1 % of the scenes, by up to 1e-3 |
| `impulse` | two bodies that push on each other and land at different times of a step | 0.2 % of the scenes |
| `impulse`, `sap` | a fast body that is stopped by two others within one step: angular momentum | 2 of 14000 scenes, by up to 1e-3 |
| all | where impacts follow each other without end the last ones are taken together | 2 steps in 2000 scenes of corners |
)";

std::string shortNumber(double value) {
  if (value < 1e-15) return "0";
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.1e", value);
  return buffer;
}

std::string typeOf(const Row& row) { return row.tolerance.value("type", ""); }

void addTable(const std::vector<const Row*>& rows, std::string* out) {
  *out += "\n| quantity | lane | error | allowed | |\n|---|---|---|---|---|\n";
  for (const Row* row : rows) {
    char allowed[32];
    std::snprintf(allowed, sizeof allowed, "%g", row->tolerance.value("value", 0.0));
    *out += join("| ", row->quantity, " | ", row->lane, " | ",
                 row->value.empty() ? std::string("not measured") : shortNumber(row->scaledError),
                 " | ", allowed, " ", typeOf(*row), " | ", row->pass ? "" : "**missed**", " |\n");
  }
}

void addPeers(const std::string& caseId, const Json& peers, std::string* out) {
  std::string lines;
  for (const Json& row : peers) {
    if (row.value("case", "") != caseId) continue;
    lines += join("| ", row.value("quantity", ""), " | ", row.value("engine", ""), " | ",
                  shortNumber(row.value("error", 0.0)), " ", row.value("error_type", ""), " |\n");
  }
  if (lines.empty()) return;
  *out += "\nOther engines on the same case:\n\n| quantity | engine | error |\n|---|---|---|\n";
  *out += lines;
}

}  // namespace

std::string accuracyMarkdown(const Outcome& outcome, const Json& peers) {
  std::string out = kHead;
  std::vector<std::string> ids;
  for (const Row& row : outcome.rows)
    if (std::find(ids.begin(), ids.end(), row.caseId) == ids.end()) ids.push_back(row.caseId);
  const auto failed =
      std::count_if(outcome.rows.begin(), outcome.rows.end(), [](const Row& r) { return !r.pass; });
  out += join("\n", std::to_string(outcome.rows.size()), " rows, ", std::to_string(failed),
              " missed.\n");
  for (const std::string& id : ids) {
    out += join("\n## ", id, "\n");
    std::vector<const Row*> rows;
    for (const Row& row : outcome.rows)
      if (row.caseId == id) rows.push_back(&row);
    addTable(rows, &out);
    addPeers(id, peers, &out);
  }
  if (!outcome.skipped.empty()) {
    out += "\n## Not run\n\n| case | lane | why |\n|---|---|---|\n";
    for (const Skipped& s : outcome.skipped)
      out += join("| ", s.caseId, " | ", s.lane, " | ", s.reason, " |\n");
  }
  return out + kTail;
}

}  // namespace tangere::cli
