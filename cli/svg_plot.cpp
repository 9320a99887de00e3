// SPDX-License-Identifier: Apache-2.0
#include "svg_plot.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace tangere::cli {

namespace {

constexpr Real kWidth = 720, kHeight = 420;
constexpr Real kLeft = 78, kRight = 596, kTop = 44, kBottom = 366;
constexpr Real kLabelSpacing = 15;

template <class... Values>
std::string format(const char* pattern, Values... values) {
  std::string text(static_cast<std::size_t>(std::snprintf(nullptr, 0, pattern, values...)) + 1, 0);
  std::snprintf(text.data(), text.size(), pattern, values...);
  text.pop_back();
  return text;
}

struct Tick {
  Real value = 0;
  bool hasNumber = true;
};

/// Maps the values of one axis to places on the page.
class Scale {
 public:
  Scale(bool isLog, Real from, Real to) : is_log_(isLog), from_(from), to_(to) {}

  void include(Real value) {
    low_ = std::min(low_, value);
    high_ = std::max(high_, value);
  }
  /// Makes room around the data.
  void close(Real largestDecades) {
    if (low_ > high_) low_ = high_ = 1;
    if (is_log_) {
      low_ = std::max(low_, high_ * std::pow(Real(10), -largestDecades));
      const Real room = std::max(std::pow(high_ / low_, Real(0.06)), Real(1.15));
      low_ /= room;
      high_ *= room;
    } else {
      low_ = std::min(low_, Real(0));
      if (!(high_ > low_)) high_ = low_ + 1;
    }
  }
  [[nodiscard]] bool canShow(Real value) const {
    return std::isfinite(value) && (!is_log_ || value > 0);
  }
  [[nodiscard]] bool isInside(Real value) const { return value >= low_ && value <= high_; }
  [[nodiscard]] Real place(Real value) const {
    const Real part =
        is_log_ ? std::log(value / low_) / std::log(high_ / low_) : (value - low_) / (high_ - low_);
    return from_ + (to_ - from_) * std::clamp(part, Real(-0.02), Real(1.02));
  }
  [[nodiscard]] std::vector<Tick> ticks() const { return is_log_ ? logTicks() : linearTicks(); }

 private:
  [[nodiscard]] std::vector<Tick> linearTicks() const {
    const Real rough = (high_ - low_) / 6;
    const Real unit = std::pow(Real(10), std::floor(std::log10(rough)));
    Real step = 10 * unit;
    for (const Real nice : {5.0, 2.0, 1.0})
      if (nice * unit >= rough) step = nice * unit;
    std::vector<Tick> out;
    for (Real i = std::ceil(low_ / step); i * step <= high_ * (1 + 1e-12); ++i)
      out.push_back({.value = i * step});
    return out;
  }
  /// Decades; where there are few of them twos and fives too, where many not each has a number.
  [[nodiscard]] std::vector<Tick> logTicks() const {
    const Real decades = std::log10(high_ / low_);
    const int skip = decades > 7 ? 2 : 1;
    std::vector<Tick> out;
    for (int e = static_cast<int>(std::floor(std::log10(low_))); e <= std::log10(high_); ++e)
      for (const int digit : {1, 2, 5}) {
        const Real value = digit * std::pow(Real(10), e);
        if (isInside(value) && (digit == 1 || decades < 4))
          out.push_back(
              {.value = value, .hasNumber = decades < 2.2 || (digit == 1 && e % skip == 0)});
      }
    return out;
  }

  bool is_log_;
  Real from_, to_;
  Real low_ = 1e300, high_ = -1e300;
};

/// Writes one plot from the back to the front.
class Painter {
 public:
  explicit Painter(const Plot& plot)
      : plot_(plot), x_(plot.x.isLog, kLeft, kRight), y_(plot.y.isLog, kBottom, kTop) {
    for (const PlotSeries& series : plot.series)
      for (const PlotPoint& p : series.points)
        if (x_.canShow(p.x) && y_.canShow(p.y)) {
          x_.include(p.x);
          y_.include(p.y);
        }
    if (plot.wantedX) x_.include(*plot.wantedX);
    if (plot.wantedY) y_.include(*plot.wantedY);
    for (const SlopeTriangle& t : plot.triangles) y_.include(t.y);
    x_.close(12);
    y_.close(plot.largestDecades);
  }

  std::string paint(const std::string& style) {
    add(R"(<svg xmlns="http://www.w3.org/2000/svg" class="plot" viewBox="0 0 %g %g" role="img">)",
        kWidth, kHeight);
    out_ += "<title>" + escapedForXml(plot_.title) + "</title>";
    // Lines leave the frame where they are too small to be shown. A page may have many plots.
    clip_ = "inside " + plot_.title;
    std::replace_if(
        clip_.begin(), clip_.end(), [](char c) { return (c < 'a' || c > 'z'); }, '-');
    add(R"(<clipPath id="%s"><rect x="%g" y="%g" width="%g" height="%g"/></clipPath>)",
        clip_.c_str(), kLeft - 6, kTop - 10, kRight - kLeft + 12, kBottom - kTop + 11);
    if (!style.empty())
      out_ += "<style>" + style + "</style><rect class=\"paper\" width=\"100%\" height=\"100%\"/>";
    text(kLeft, 24, "heading", "start", plot_.title);
    paintAxes();
    paintWanted();
    for (const SlopeTriangle& triangle : plot_.triangles) paintTriangle(triangle);
    for (const PlotSeries& series : plot_.series) paintSeries(series);
    paintWantedName();
    paintLabels();
    return out_ + "</svg>\n";
  }

 private:
  template <class... Values>
  void add(const char* pattern, Values... values) {
    out_ += format(pattern, values...) + "\n";
  }

  void text(Real x, Real y, const std::string& look, const char* anchor, const std::string& words) {
    add(R"(<text x="%.1f" y="%.1f" class="%s" text-anchor="%s">%s</text>)", x, y, look.c_str(),
        anchor, escapedForXml(words).c_str());
  }

  void paintAxes() {
    for (const Tick& tick : x_.ticks()) {
      const Real at = x_.place(tick.value);
      add(R"(<line class="grid" x1="%.1f" x2="%.1f" y1="%g" y2="%g"/>)", at, at, kTop, kBottom);
      if (tick.hasNumber) text(at, kBottom + 17, "number", "middle", plot_.x.format(tick.value));
    }
    for (const Tick& tick : y_.ticks()) {
      const Real at = y_.place(tick.value);
      add(R"(<line class="grid" x1="%g" x2="%g" y1="%.1f" y2="%.1f"/>)", kLeft, kRight, at, at);
      if (tick.hasNumber) text(kLeft - 7, at + 4, "number", "end", plot_.y.format(tick.value));
    }
    add(R"(<path class="axis" d="M%g %gV%gH%g"/>)", kLeft, kTop, kBottom, kRight);
    text((kLeft + kRight) / 2, kBottom + 40, "axisname", "middle", plot_.x.label);
    add(R"svg(<text class="axisname" text-anchor="middle" transform="translate(16 %g) rotate(-90)">)svg",
        (kTop + kBottom) / 2);
    out_ += escapedForXml(plot_.y.label) + "</text>\n";
  }

  void paintWanted() {
    if (plot_.wantedY) {
      const Real at = y_.place(*plot_.wantedY);
      add(R"(<line class="wanted" x1="%g" x2="%g" y1="%.1f" y2="%.1f"/>)", kLeft, kRight, at, at);
    }
    if (plot_.wantedX) {
      const Real at = x_.place(*plot_.wantedX);
      add(R"(<line class="wanted" x1="%.1f" x2="%.1f" y1="%g" y2="%g"/>)", at, at, kTop, kBottom);
    }
  }

  /// Over the lines, or it could not be read.
  void paintWantedName() {
    if (plot_.wantedY)
      text(kLeft + 6, y_.place(*plot_.wantedY) - 5, "wantedname", "start", plot_.wantedLabel);
    if (plot_.wantedX)
      text(x_.place(*plot_.wantedX) + 5, kTop + 12, "wantedname", "start", plot_.wantedLabel);
  }

  /// The right angle is at the coarse end: from there down to where the line has fallen.
  void paintTriangle(const SlopeTriangle& t) {
    const Real x1 = x_.place(t.x), x2 = x_.place(t.x * t.factor);
    const Real y1 = y_.place(t.y), y2 = y_.place(t.y * std::pow(t.factor, t.slope));
    add(R"(<path class="triangle %s" d="M%.1f %.1fH%.1fV%.1fZ"/>)", t.color.c_str(), x1, y1, x2,
        y2);
    text(x2 + 6, (y1 + y2) / 2 + 4, "name text-" + t.color, "start", t.label);
  }

  void paintSeries(const PlotSeries& series) {
    std::string path;
    for (const PlotPoint& p : series.points) {
      if (!x_.canShow(p.x) || !y_.canShow(p.y)) continue;
      path += format("%c%.1f %.1f", path.empty() ? 'M' : 'L', x_.place(p.x), y_.place(p.y));
    }
    if (path.empty()) return;
    const char* color = series.color.c_str();
    if (series.look == SeriesLook::Line || series.look == SeriesLook::LineAndMarkers)
      add(R"svg(<path class="line %s" clip-path="url(#%s)" d="%s"/>)svg", color, clip_.c_str(),
          path.c_str());
    if (series.look == SeriesLook::Line) return;
    for (const PlotPoint& p : series.points) {
      if (!x_.canShow(p.x) || !y_.canShow(p.y)) continue;
      if (series.look == SeriesLook::Star)
        paintStar(x_.place(p.x), y_.place(p.y), color);
      else
        add(R"(<circle class="marker %s" cx="%.1f" cy="%.1f" r="4"/>)", color, x_.place(p.x),
            y_.place(p.y));
    }
  }

  void paintStar(Real x, Real y, const char* color) {
    std::string path;
    for (int i = 0; i < 10; ++i) {
      const Real angle = 3.141592653589793 * (i / 5.0 - 0.5), radius = i % 2 == 0 ? 9 : 4;
      path += format("%c%.1f %.1f", i == 0 ? 'M' : 'L', x + radius * std::cos(angle),
                     y + radius * std::sin(angle));
    }
    add(R"(<path class="star %s" d="%sZ"/>)", color, path.c_str());
  }

  /// At the right ends of the lines, moved apart where they would cover each other.
  void paintLabels() {
    struct Label {
      Real x, y;
      const PlotSeries* series;
    };
    std::vector<Label> labels;
    for (const PlotSeries& series : plot_.series) {
      if (series.label.empty()) continue;
      for (auto p = series.points.rbegin(); p != series.points.rend(); ++p)
        if (x_.canShow(p->x) && y_.canShow(p->y)) {
          labels.push_back({x_.place(p->x), y_.place(p->y), &series});
          break;
        }
    }
    if (plot_.isLabelledAtPoints) {
      for (const Label& label : labels)
        text(label.x + 9, label.y + 14, "name text-" + label.series->color, "start",
             label.series->label);
      return;
    }
    std::stable_sort(labels.begin(), labels.end(),
                     [](const Label& a, const Label& b) { return a.y < b.y; });
    Real last = kTop - kLabelSpacing;
    for (Label& label : labels) last = label.y = std::max(label.y, last + kLabelSpacing);
    last = kBottom + kLabelSpacing;
    for (auto label = labels.rbegin(); label != labels.rend(); ++label)
      last = label->y = std::min(label->y, last - kLabelSpacing);
    for (const Label& label : labels)
      text(kRight + 8, label.y + 4, "name text-" + label.series->color, "start",
           label.series->label);
  }

  const Plot& plot_;
  Scale x_, y_;
  std::string clip_, out_;
};

}  // namespace

std::string svgElement(const Plot& plot) { return Painter(plot).paint({}); }

std::string standaloneSvg(const Plot& plot) {
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" + Painter(plot).paint(plotStyle());
}

const char* plotStyle() {
  return R"css(
:root, svg.plot { --paper: #ffffff; --ink: #1d2733; --soft: #5b6875; --grid: #e4e8ec; --wanted: #c2255c;
  --sap: #1864ab; --impulse: #b35c00; --event: #2b7a3d;
  --ramp0: #92c5e6; --ramp1: #64a9d6; --ramp2: #3f8bc2; --ramp3: #236da8; --ramp4: #124f87; --ramp5: #06335f; }
@media (prefers-color-scheme: dark) { :root, svg.plot { --paper: #14191f; --ink: #e6ebf0; --soft: #9aa7b4; --grid: #28313a; --wanted: #ff7aa8;
  --sap: #66b2f0; --impulse: #f0a050; --event: #6fcf86;
  --ramp0: #37597b; --ramp1: #4176a3; --ramp2: #5594c6; --ramp3: #76b1df; --ramp4: #a1cdf0; --ramp5: #d3e9fb; } }
.plot { font: 12px system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
.plot .paper { fill: var(--paper); } .plot text { fill: var(--ink); }
.plot .heading { font-size: 15px; font-weight: 600; } .plot .number { fill: var(--soft); font-variant-numeric: tabular-nums; }
.plot .name, .plot .wantedname { paint-order: stroke; stroke: var(--paper); stroke-width: 4px; stroke-linejoin: round; }
.plot .axisname { fill: var(--soft); font-size: 13px; } .plot .name { font-weight: 600; }
.plot .grid { stroke: var(--grid); } .plot .axis { fill: none; stroke: var(--soft); }
.plot .wanted { stroke: var(--wanted); stroke-dasharray: 6 4; } .plot .wantedname { fill: var(--wanted); }
.plot .line { fill: none; stroke: currentColor; stroke-width: 1.8; stroke-linejoin: round; }
.plot .marker { fill: currentColor; stroke: var(--paper); } .plot .star { fill: currentColor; stroke: var(--paper); }
.plot .triangle { fill: none; stroke: currentColor; stroke-width: 1.2; stroke-dasharray: 3 2; }
.plot .sap { color: var(--sap); } .plot .impulse { color: var(--impulse); } .plot .event { color: var(--event); }
.plot .text-sap { fill: var(--sap); } .plot .text-impulse { fill: var(--impulse); } .plot .text-event { fill: var(--event); }
.plot .ramp0 { color: var(--ramp0); } .plot .ramp1 { color: var(--ramp1); } .plot .ramp2 { color: var(--ramp2); }
.plot .ramp3 { color: var(--ramp3); } .plot .ramp4 { color: var(--ramp4); } .plot .ramp5 { color: var(--ramp5); }
.plot .text-ramp0, .plot .text-ramp1, .plot .text-ramp2 { fill: var(--ramp2); }
.plot .text-ramp3 { fill: var(--ramp3); } .plot .text-ramp4 { fill: var(--ramp4); } .plot .text-ramp5 { fill: var(--ramp5); }
)css";
}

std::string escapedForXml(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

}  // namespace tangere::cli
