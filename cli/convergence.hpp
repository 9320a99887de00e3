// SPDX-License-Identifier: Apache-2.0
//
// What a ladder of errors says about a method: the order in which they fall with the step, over
// which steps that holds, or why there is none.
//
// Errors are relative numbers; those near 1 say only that two motions have nothing to do with each
// other. A reference made of the method itself at a step r is wrong in the same direction as the
// others: against it a method of order p shows C (dt^p - r^p), not C dt^p.
#pragma once

#include <tangere/config.hpp>

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tangere::cli {

/// The error of one step size.
struct LadderError {
  Real dt = 0;     ///< [s]
  Real error = 0;  ///< relative
};

/// error = factor dt^order over the `numLevels` finest steps that were used.
struct OrderFit {
  Real order = 0;
  Real factor = 0;
  int numLevels = 0;
  Real scatter = 0;  ///< root mean square of ln(measured / fitted)
  [[nodiscard]] Real errorOf(Real dt) const;
  [[nodiscard]] Real dtFor(Real error) const;
};

struct ReferenceOfLadder {
  Real dt = 0;     ///< step of a reference made by the method itself; 0: an independent one
  Real floor = 0;  ///< errors below this are errors of the reference
};

/// Least squares of ln(error) over the steps in the asymptotic range: the finest ones, as many as
/// follow one power of the step, at least three. Nothing where there are no three.
[[nodiscard]] std::optional<OrderFit> fitOrder(std::span<const LadderError> ladder,
                                               const ReferenceOfLadder& reference);

/// The same over all steps, however much the errors scatter about the line: where an impact falls
/// within a step may matter as much as the step. Nothing where there are no three.
[[nodiscard]] std::optional<OrderFit> fitAll(std::span<const LadderError> ladder,
                                             const ReferenceOfLadder& reference);

/// Until when the step keeps an error.
struct Horizon {
  Real dt = 0;    ///< [s]
  Real time = 0;  ///< [s]
};

/// Errors that grow exponentially with time: each halving of the step keeps them small for the same
/// little time more.
struct ErrorGrowth {
  Real rate = 0;            ///< of ln(error), if errors begin in first order [1/s]
  Real gainPerHalving = 0;  ///< [s]
};

/// Straight line of the horizons against ln(dt). Nothing where there are no three, or they follow
/// no such line.
[[nodiscard]] std::optional<ErrorGrowth> fitGrowth(std::span<const Horizon> horizons);

enum class Verdict : unsigned char {
  Converges,  ///< errors fall with a power of the step
  Exact,      ///< no step has an error that matters, or one larger than the reference's
  Plateau,    ///< the method converges, to another motion than the reference
  Chaotic,    ///< errors grow exponentially with time
  Scattered,  ///< errors fall with no power of the step
  TooFew,     ///< fewer than three errors to judge by
};
/// "converges", "exact", ...
[[nodiscard]] const char* verdictName(Verdict verdict);

struct Judgement {
  Verdict verdict = Verdict::TooFew;
  std::optional<OrderFit> fit{};
  std::optional<OrderFit> overall{};  ///< fitAll()
  std::optional<ErrorGrowth> growth{};
  Real plateau = 0;  ///< what is left of the error at the finest step
  Real largest = 0;  ///< error of any step
};

struct Evidence {
  std::vector<LadderError> ladder{};  ///< from coarse to fine, the reference left out
  /// Of each two neighbouring steps the difference of their motions, with the coarser dt.
  std::vector<LadderError> differences{};
  ReferenceOfLadder reference{};
  Real wantedError = 0;  ///< smaller errors are nobody's chaos
  /// Of the steps that do not keep the wanted error to the end.
  std::vector<Horizon> horizons{};
};

[[nodiscard]] Judgement judge(const Evidence& evidence);

}  // namespace tangere::cli
