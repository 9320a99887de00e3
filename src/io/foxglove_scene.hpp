// SPDX-License-Identifier: Apache-2.0
//
// What a recording looks like, as messages of Foxglove's 3D panel: shapes of bodies, soft bodies,
// contacts with their forces, pressure over areas. Numbers that are only drawn have the digits of
// a float.
#pragma once

#include <tangere/recording.hpp>

#include "io/json_text.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace tangere::io {

/// A moment as Foxglove writes it. Throws InvalidInput for one that it cannot write: before 0, or
/// after five centuries.
[[nodiscard]] std::uint64_t nanoseconds(Real time_s);

class FoxgloveScene {
 public:
  /// Looks at some frames, to draw forces and pressures at a size that can be seen.
  explicit FoxgloveScene(RecordingReader& recording);

  /// Of a body; "world" is that of all.
  [[nodiscard]] const std::string& frameName(int body) const {
    return frames_[static_cast<std::size_t>(body)];
  }
  [[nodiscard]] const std::string& worldName() const { return world_; }
  [[nodiscard]] Real metresPerNewton() const { return metres_per_newton_; }

  // Each appends one message to an empty text.
  /// Shapes, each in the frame of its body.
  void addShapes(Real time_s, JsonText& json) const;
  void addTransforms(const RecordedFrame& frame, bool ofFixed, JsonText& json) const;
  void addContacts(const RecordedFrame& frame, JsonText& json) const;
  void addSoftBodies(const RecordedFrame& frame, JsonText& json) const;

  [[nodiscard]] bool hasFixed() const { return has_fixed_; }
  [[nodiscard]] bool hasMoving() const { return has_moving_; }

 private:
  void nameFrames();
  void findScales();
  void addPatches(const RecordedFrame& frame, JsonText& json) const;

  RecordingReader& recording_;
  std::string world_{"world"};
  std::vector<std::string> frames_{};
  bool has_fixed_ = false, has_moving_ = false;
  Real typical_size_ = 0;  ///< of a shape [m]
  Real plane_size_ = 0;    ///< half of what is drawn of a half space [m]
  Real metres_per_newton_ = 0, max_pressure_ = 0;
};

}  // namespace tangere::io
