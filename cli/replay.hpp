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

  /// Takes the state of the simulator, whose bodies are given, if a frame is due.
  void add(const Simulator& simulator, std::span<const BodyState> bodies);
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
    std::vector<float> softs;     // three for each vertex on the surface of a soft body
    std::vector<float> polygons;  // number of vertices, pressure, then three for each vertex

    [[nodiscard]] std::size_t numFloats() const {
      return poses.size() + contacts.size() + softs.size() + polygons.size();
    }
  };
  void dropEverySecond();

  Model model_;
  std::vector<std::vector<int>> surface_vertices_;  // of each soft body, in its own numbers
  std::vector<Frame> frames_;
  std::size_t num_floats_ = 0;
  Real interval_s_, next_time_ = 0;
};

}  // namespace tangere::cli
