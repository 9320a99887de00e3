// SPDX-License-Identifier: Apache-2.0
//
// What a study looks like: error over time, error against step, cost against error; one by one, or
// with tables and sentences on a page that needs no other file.
#pragma once

#include "compare_report.hpp"
#include "svg_plot.hpp"

#include <string>
#include <vector>

namespace tangere::cli {

struct ComparePlot {
  std::string name;  ///< "error_over_time_sap", "error_over_dt", "cost_over_error"
  Plot plot{};
};

[[nodiscard]] std::vector<ComparePlot> comparePlots(const ComparedScene& scene);
/// The complete HTML text.
[[nodiscard]] std::string comparePage(const ComparedScene& scene);

}  // namespace tangere::cli
