// SPDX-License-Identifier: Apache-2.0
//
// A run as one page that plays it: no server, no network, one file. It keeps sixty frames for each
// simulated second, and fewer of a run so long that the page would grow beyond what browsers like.
#pragma once

#include <tangere/simulator.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tangere::cli {

class Replay {
 public:
  explicit Replay(const Model& model);

  /// Takes the frame if it is due.
  void add(Real time, std::span<const BodyState> bodies, std::span<const ContactForce> contacts);
  /// The complete HTML text.
  [[nodiscard]] std::string page(const std::string& title) const;
  [[nodiscard]] int numFrames() const { return static_cast<int>(frames_.size()); }
  /// Whether a frame at this time would be taken.
  [[nodiscard]] bool isDue(Real time) const { return frames_.empty() || time >= next_time_; }

 private:
  struct Frame {
    Real time = 0;
    std::vector<float> poses;     // seven for each body: position, quaternion w x y z
    std::vector<float> contacts;  // nine for each: position, force on body 1, depth, the two bodies
  };
  void dropEverySecond();

  Model model_;
  std::vector<Frame> frames_;
  std::size_t num_floats_ = 0;
  Real interval_s_, next_time_ = 0;
};

}  // namespace tangere::cli
