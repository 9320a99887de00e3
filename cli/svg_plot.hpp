// SPDX-License-Identifier: Apache-2.0
//
// Line plots as SVG: linear or logarithmic axes, series that carry their names at their ends, and
// triangles that show a slope. Colours are classes of plotStyle(), which knows light and dark.
#pragma once

#include <tangere/config.hpp>

#include <optional>
#include <string>
#include <vector>

namespace tangere::cli {

struct PlotPoint {
  Real x = 0, y = 0;
};

enum class SeriesLook : unsigned char { Line, Markers, LineAndMarkers, Star };

struct PlotSeries {
  std::string label{};  ///< written at the height of its last point, or beside that; may be empty
  std::string color{};  ///< a class of plotStyle(): "ramp0" to "ramp5", "sap", "impulse", "event"
  SeriesLook look = SeriesLook::Line;
  std::vector<PlotPoint> points{};  ///< those that an axis cannot show are left out
};

struct PlotAxis {
  std::string label{};
  bool isLog = false;
  std::string (*format)(Real value) = nullptr;  ///< of the numbers at its ticks
};

/// Under a line of slope `slope` in logarithms, from x to `factor` x.
struct SlopeTriangle {
  Real x = 0, y = 0, factor = 2, slope = 1;
  std::string label{}, color{};
};

struct Plot {
  std::string title{};
  PlotAxis x{}, y{};
  std::vector<PlotSeries> series{};
  std::vector<SlopeTriangle> triangles{};
  std::optional<Real> wantedX{}, wantedY{};  ///< a dashed line across
  std::string wantedLabel{};
  bool isLabelledAtPoints = false;  ///< the names of series are at their last points, not outside
  Real largestDecades = 9;          ///< of a logarithmic y axis: what is smaller is cut off
};

/// An <svg> element for a page that has plotStyle().
[[nodiscard]] std::string svgElement(const Plot& plot);
/// A file of its own.
[[nodiscard]] std::string standaloneSvg(const Plot& plot);
/// CSS, light and dark as the reader's system asks.
[[nodiscard]] const char* plotStyle();
/// With <, >, & and quotes as entities.
[[nodiscard]] std::string escapedForXml(const std::string& text);

}  // namespace tangere::cli
