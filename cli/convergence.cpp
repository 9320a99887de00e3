// SPDX-License-Identifier: Apache-2.0
#include "convergence.hpp"

#include <algorithm>
#include <cmath>

namespace tangere::cli {

namespace {

constexpr std::size_t kMinLevels = 3;
// Beyond this, bodies are elsewhere by a large part of their way: nothing is linear any more.
constexpr Real kSaturated = 0.5;
// Errors nearer to the floor than this feel it.
constexpr Real kAboveFloor = 10;
// Of the wanted error nobody looks at this part; coordinates are rounded to about the other.
constexpr Real kNegligible = 1e-4, kRounding = 1e-11;
// ln(measured / fitted): what smooth errors may deviate from one power of the step, and what those
// may that scatter because contacts begin sooner or later within a step.
constexpr Real kSmooth = 0.02, kMaxScatter = 0.2;
// A coarser step belongs to the range if it makes the scatter grow by no more than this.
constexpr Real kScatterGrowth = 1.5;
constexpr Real kSmallestOrder = 0.1, kLargestOrder = 6;
// A fit of a smaller order is no convergence: half of the error is left after four times the work.
constexpr Real kMinOrder = 0.5;

/// The fit of the given order; `factor` and `scatter` are its own.
OrderFit fitOfOrder(Real order, std::span<const LadderError> ladder, Real referenceDt) {
  Real sum = 0, squares = 0;
  for (const LadderError& level : ladder) {
    const Real power = std::pow(level.dt, order) - std::pow(referenceDt, order);
    const Real ratio = std::log(level.error / power);
    sum += ratio;
    squares += ratio * ratio;
  }
  const Real count = static_cast<Real>(ladder.size()), mean = sum / count;
  return {.order = order,
          .factor = std::exp(mean),
          .numLevels = static_cast<int>(ladder.size()),
          .scatter = std::sqrt(std::max(squares / count - mean * mean, Real(0)))};
}

/// The scatter has one minimum in the order: both models are straight lines or nearly so in logs.
OrderFit bestFit(std::span<const LadderError> ladder, Real referenceDt) {
  Real low = kSmallestOrder, high = kLargestOrder;
  while (high - low > 1e-6) {
    const Real third = (high - low) / 3;
    const bool isLower = fitOfOrder(low + third, ladder, referenceDt).scatter <
                         fitOfOrder(high - third, ladder, referenceDt).scatter;
    (isLower ? high : low) += isLower ? -third : third;
  }
  return fitOfOrder((low + high) / 2, ladder, referenceDt);
}

/// Those that say something about the method: between the floor and saturation.
std::vector<LadderError> usable(std::span<const LadderError> ladder,
                                const ReferenceOfLadder& reference) {
  std::vector<LadderError> out;
  for (const LadderError& level : ladder)
    if (level.dt > reference.dt && std::isfinite(level.error) && level.error > 0 &&
        level.error >= kAboveFloor * reference.floor && level.error <= kSaturated)
      out.push_back(level);
  return out;
}

struct Line {
  Real slope = 0;
  Real squares = 0;   ///< what is left over, per point
  Real variance = 0;  ///< of y
};

Line fitLine(std::span<const Real> x, std::span<const Real> y) {
  const Real count = static_cast<Real>(x.size());
  Real sx = 0, sy = 0, sxx = 0, sxy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    sx += x[i];
    sy += y[i];
  }
  for (std::size_t i = 0; i < x.size(); ++i) {
    sxx += (x[i] - sx / count) * (x[i] - sx / count);
    sxy += (x[i] - sx / count) * (y[i] - sy / count);
  }
  if (!(sxx > 0)) return {};
  Line line{.slope = sxy / sxx};
  for (std::size_t i = 0; i < x.size(); ++i) {
    const Real left = y[i] - sy / count - line.slope * (x[i] - sx / count);
    line.squares += left * left / count;
    line.variance += (y[i] - sy / count) * (y[i] - sy / count) / count;
  }
  return line;
}

/// Whether no step has an error that matters: those of the reference, or far below what is wanted.
bool isExact(const Evidence& evidence) {
  const Real floor = kAboveFloor * evidence.reference.floor;
  // A reference that is itself wrong by what is asked for proves nothing.
  if (floor > 0 && floor > evidence.wantedError) return false;
  const Real negligible = std::max({floor, kNegligible * evidence.wantedError, kRounding});
  return std::all_of(evidence.ladder.begin(), evidence.ladder.end(),
                     [&](const LadderError& level) { return level.error < negligible; });
}

/// Whether the finer half of the ladder hardly falls although the motions come together.
bool isPlateau(const Evidence& evidence) {
  if (evidence.reference.dt > 0 || evidence.ladder.size() < kMinLevels) return false;
  const LadderError& finest = evidence.ladder.back();
  const LadderError& before = evidence.ladder[evidence.ladder.size() - 2];
  const Real local = std::log(before.error / finest.error) / std::log(before.dt / finest.dt);
  if (!(local < kMinOrder) || evidence.differences.empty()) return false;
  const LadderError& last = evidence.differences.back();
  if (last.error < 0.1 * finest.error) return true;
  const std::optional<OrderFit> own = fitOrder(evidence.differences, {});
  return own && own->order >= kMinOrder && last.error < 0.5 * finest.error;
}

}  // namespace

Real OrderFit::errorOf(Real dt) const { return factor * std::pow(dt, order); }

Real OrderFit::dtFor(Real error) const { return std::pow(error / factor, 1 / order); }

std::optional<OrderFit> fitOrder(std::span<const LadderError> ladder,
                                 const ReferenceOfLadder& reference) {
  const std::vector<LadderError> levels = usable(ladder, reference);
  const std::span<const LadderError> all = levels;
  std::optional<OrderFit> best;
  for (std::size_t count = kMinLevels; count <= all.size(); ++count) {
    const OrderFit fit = bestFit(all.last(count), reference.dt);
    const Real allowed = best ? std::max(kSmooth, kScatterGrowth * best->scatter) : kMaxScatter;
    if (fit.scatter <= std::min(allowed, kMaxScatter))
      best = fit;
    else if (best)
      break;
  }
  if (best && best->order < 2 * kSmallestOrder) return std::nullopt;
  return best;
}

std::optional<OrderFit> fitAll(std::span<const LadderError> ladder,
                               const ReferenceOfLadder& reference) {
  const std::vector<LadderError> levels = usable(ladder, reference);
  if (levels.size() < kMinLevels) return std::nullopt;
  return bestFit(levels, reference.dt);
}

std::optional<ErrorGrowth> fitGrowth(std::span<const Horizon> horizons) {
  if (horizons.size() < kMinLevels) return std::nullopt;
  std::vector<Real> halvings, times;
  for (const Horizon& horizon : horizons) {
    halvings.push_back(-std::log2(horizon.dt));
    times.push_back(horizon.time);
  }
  const Line line = fitLine(halvings, times);
  if (!(line.slope > 0) || line.squares > 0.2 * line.variance) return std::nullopt;
  return ErrorGrowth{.rate = std::log(Real(2)) / line.slope, .gainPerHalving = line.slope};
}

const char* verdictName(Verdict verdict) {
  switch (verdict) {
    case Verdict::Converges:
      return "converges";
    case Verdict::Exact:
      return "exact";
    case Verdict::Plateau:
      return "plateau";
    case Verdict::Chaotic:
      return "chaotic";
    case Verdict::Scattered:
      return "scattered";
    case Verdict::TooFew:
      return "too_few";
  }
  return "too_few";
}

Judgement judge(const Evidence& evidence) {
  Judgement out;
  if (!evidence.ladder.empty()) out.plateau = evidence.ladder.back().error;
  for (const LadderError& level : evidence.ladder) out.largest = std::max(out.largest, level.error);
  if (!evidence.ladder.empty() && isExact(evidence)) {
    out.verdict = Verdict::Exact;
    return out;
  }
  if (evidence.ladder.size() < kMinLevels) return out;
  out.growth = fitGrowth(evidence.horizons);
  out.fit = fitOrder(evidence.ladder, evidence.reference);
  out.overall = fitAll(evidence.ladder, evidence.reference);
  if (isPlateau(evidence)) {
    out.verdict = Verdict::Plateau;
    out.fit.reset();
  } else if (out.fit && out.fit->order >= kMinOrder) {
    out.verdict = Verdict::Converges;
  } else {
    out.fit.reset();
    const bool matters = out.plateau > evidence.wantedError;
    out.verdict = out.growth && matters ? Verdict::Chaotic : Verdict::Scattered;
  }
  return out;
}

}  // namespace tangere::cli
