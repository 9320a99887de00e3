// SPDX-License-Identifier: Apache-2.0
//
// A run as one page that plays it: no server, no network, one file. It keeps sixty frames for each
// simulated second, and fewer of a run so long that the page would grow beyond what browsers like.
#pragma once

#include <tangere/recording.hpp>

#include "view_stream.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace tangere::cli {

class Replay {
 public:
  /// `visuals` as readVisuals() made them.
  Replay(const Model& model, std::vector<VisualShape> visuals);

  /// Takes the frame if one is due.
  void add(const RecordFrame& frame, const ViewExtras& extras);
  /// The complete HTML text.
  [[nodiscard]] std::string page(const std::string& title) const;
  [[nodiscard]] int numFrames() const { return static_cast<int>(frames_.size()); }
  /// Whether a frame at this time would be taken.
  [[nodiscard]] bool isDue(Real time) const { return frames_.empty() || time >= next_time_; }

 private:
  struct Frame {
    Real time = 0;
    std::vector<std::byte> bytes;
  };
  void dropEverySecond();

  Model model_;
  std::vector<VisualShape> visuals_;
  ViewEncoder encoder_;
  std::vector<Frame> frames_;
  std::size_t num_bytes_ = 0;
  Real interval_s_, next_time_ = 0;
};

}  // namespace tangere::cli
