// SPDX-License-Identifier: Apache-2.0
#include "view_stream.hpp"

#include <algorithm>
#include <cstddef>

namespace tangere::cli {

namespace {

constexpr std::size_t kMaxPoints = 1200;  // of a plot
constexpr std::size_t kMaxMarks = 2000;

std::string packed(const std::vector<Real>& numbers) {
  return base64(std::as_bytes(std::span(numbers)));
}

/// The columns of the plots (viewer/src/series.ts), one frame out of `stride`. Work is summed over
/// all frames, also those between; of solver figures the largest since the last point is kept.
Json plotsOf(const RecordedSeries& series) {
  const std::size_t count = series.time.size();
  const std::size_t stride = std::max<std::size_t>(1, (count + kMaxPoints - 1) / kMaxPoints);
  const auto numRows = energyLedgerRows().size();
  std::vector<Real> time;
  std::vector<std::vector<Real>> energy(numRows), figures(5);
  EnergyLedger sum;
  std::vector<Real> largest(figures.size(), 0);
  for (std::size_t i = 0; i < count; ++i) {
    const Real now[] = {
        static_cast<Real>(series.numContacts[i]), static_cast<Real>(series.iterations[i]),
        static_cast<Real>(series.numIslands[i]), series.residual[i], series.maxDepth[i]};
    for (std::size_t k = 0; k < figures.size(); ++k) largest[k] = std::max(largest[k], now[k]);
    for (const LedgerRow& row : energyLedgerRows()) sum.*row.value += series.energy[i].*row.value;
    sum.kinetic = series.energy[i].kinetic;
    sum.potential = series.energy[i].potential;
    const bool isFirst = series.step[i] == 0;  // before the first step there is no ledger
    if (isFirst || (i % stride != 0 && i + 1 != count)) continue;
    time.push_back(series.time[i]);
    for (std::size_t k = 0; k < numRows; ++k) energy[k].push_back(sum.*energyLedgerRows()[k].value);
    for (std::size_t k = 0; k < figures.size(); ++k) figures[k].push_back(largest[k]);
    largest.assign(figures.size(), 0);
  }
  Json columns = Json::array();
  for (const auto* list : {&energy, &figures})
    for (const std::vector<Real>& column : *list) columns.push_back(packed(column));
  return {{"time", packed(time)}, {"columns", columns}};
}

/// Frames with events or a status; where there are too many, some of them.
Json marksOf(const RecordedSeries& series) {
  std::vector<std::size_t> frames;
  for (std::size_t i = 0; i < series.time.size(); ++i)
    if (series.numEvents[i] > 0 || series.status[i] != StepStatus::Ok) frames.push_back(i);
  const std::size_t stride = frames.size() / kMaxMarks + 1;
  Json marks = Json::array();
  for (std::size_t k = 0; k < frames.size(); k += stride) {
    const std::size_t i = frames[k];
    marks.push_back(Json::array(
        {series.time[i], static_cast<std::uint32_t>(series.status[i]), series.numEvents[i]}));
  }
  return marks;
}

}  // namespace

Json viewIndex(Json scene, const RecordedSeries& series, std::int64_t framesPerChunk) {
  return {{"scene", std::move(scene)},
          {"times", packed(series.time)},
          {"plots", plotsOf(series)},
          {"marks", marksOf(series)},
          {"framesPerChunk", framesPerChunk}};
}

}  // namespace tangere::cli
