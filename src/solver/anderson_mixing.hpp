// SPDX-License-Identifier: Apache-2.0
//
// A fixed point x = f(x) of many numbers from few evaluations (Anderson's mixing): the next x is
// taken from several of the last ones together, the combination whose error would be least, were f
// linear. Plain repetition x <- f(x) may swing ever wider: the friction bounds of a tall box that
// slides change the normal impulses that they follow from by mu times (arm of the friction)/(arm of
// the normal force).
#pragma once

#include <tangere/config.hpp>

#include <cstddef>
#include <span>
#include <vector>

namespace tangere::solver {

class AndersonMixing {
 public:
  /// No memory of earlier steps, for so many numbers.
  void reset(int count);

  // Of each number, to be written before choose().
  [[nodiscard]] std::span<Real> used() { return {used_.data(), count_}; }            ///< x
  [[nodiscard]] std::span<Real> following() { return {following_.data(), count_}; }  ///< f(x)
  /// What an error of the number counts; 0: nothing depends on it now.
  [[nodiscard]] std::span<Real> weights() { return {weights_.data(), count_}; }

  /// The x to use next; never negative.
  [[nodiscard]] std::span<const Real> choose();

 private:
  static constexpr int kMemory = 5;

  void mix();
  /// No choice beyond an x that was found too large or too small.
  void keepWithin();

  [[nodiscard]] Real* memory(std::vector<Real>* array, int age) {
    return array->data() + static_cast<std::size_t>((num_kept_ - 1 - age) % (kMemory + 1)) * count_;
  }

  std::size_t count_ = 0;
  int num_plain_ = 0;  // steps since the last mixture
  Real length_ = 1;    // of the next of them
  bool has_few_wrong_ = true;
  int num_kept_ = 0;  // since reset(), of which the last kMemory + 1 are there

  std::vector<Real> used_, following_, weights_, chosen_;
  std::vector<Real> low_, high_;  // the last x with f(x) > x, with f(x) < x
  std::vector<Real> kept_used_, kept_error_;
};

}  // namespace tangere::solver
