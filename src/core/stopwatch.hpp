// SPDX-License-Identifier: Apache-2.0
//
// How long the parts of something take. Times are for people: they never reach a result.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace tangere::core {

/// Adds up the time of each part (an enum of kCount values); off, it costs one branch a part. Of
/// one thread.
template <class Part, int kCount>
class Stopwatch {
 public:
  [[nodiscard]] bool isOn() const { return is_on_; }
  /// Sets all times to zero.
  void set(bool isOn) {
    is_on_ = isOn;
    spent_ns_ = {};
  }
  /// What follows belongs to the next part that ends.
  void begin() {
    if (is_on_) mark_ = std::chrono::steady_clock::now();
  }
  void end(Part part) {
    if (!is_on_) return;
    const auto now = std::chrono::steady_clock::now();
    spent_ns_[static_cast<std::size_t>(part)] +=
        std::chrono::duration_cast<std::chrono::nanoseconds>(now - mark_).count();
    mark_ = now;
  }
  void add(const Stopwatch& other) {
    for (std::size_t i = 0; i < spent_ns_.size(); ++i) spent_ns_[i] += other.spent_ns_[i];
  }
  [[nodiscard]] std::int64_t spent_ns(Part part) const {
    return spent_ns_[static_cast<std::size_t>(part)];
  }

 private:
  bool is_on_ = false;
  std::array<std::int64_t, kCount> spent_ns_{};
  std::chrono::steady_clock::time_point mark_{};
};

}  // namespace tangere::core
