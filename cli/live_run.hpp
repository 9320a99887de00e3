// SPDX-License-Identifier: Apache-2.0
//
// A simulation that people watch: in real time or a multiple of it, with pause, single steps, reset
// and a spring between a body and the mouse.
#pragma once

#include <tangere/simulator.hpp>

#include "view_server.hpp"
#include "view_stream.hpp"

#include <chrono>
#include <mutex>
#include <optional>
#include <vector>

namespace tangere::cli {

class LiveRun {
 public:
  explicit LiveRun(const Model& model, int numThreads);

  /// From any thread; done before the next step. False for a word that is no command; what is
  /// otherwise wrong with one is passed over.
  bool take(const Json& command);
  /// Until it is interrupted, or for `seconds` of real time.
  void run(std::optional<Real> seconds);
  [[nodiscard]] FrameChannel& frames() { return frames_; }

 private:
  using Clock = std::chrono::steady_clock;
  /// The mouse pulls at a point of a body, or at some vertices of a soft body.
  struct Pull {
    int body = -1;
    Vec3 point{};  ///< in the body's frame
    int soft = -1;
    std::vector<int> vertices{};
    Vec3 offset{};  ///< from the middle of the vertices to the mouse, when it took hold
    Vec3 target{};
  };

  void obey(const Json& command);
  void startPull(int body, const Vec3& from, const Vec3& to);
  void startSoftPull(int soft, const Vec3& from, const Vec3& to);
  void applyPull();
  void pullBody(const Pull& pull);
  void pullSoft(const Pull& pull);
  [[nodiscard]] Vec3 springForce(Real mass, const Vec3& stretch, const Vec3& velocity) const;
  /// Steps until the time that the clock says, but not for longer than a frame.
  void catchUp();
  /// Steps that were asked for, but not for longer than a frame: all clients see them go by.
  void takeSteps();
  void step();
  void publish();
  void restartClock();

  Simulator simulator_;
  ViewEncoder encoder_;
  FrameChannel frames_;
  std::mutex mutex_;
  std::vector<Json> commands_;
  std::vector<BodyState> bodies_;
  ViewNews news_;
  bool is_playing_ = true, is_new_ = true;
  int steps_asked_ = 0;  // while it does not play
  Real speed_ = 1;
  std::optional<Pull> pull_;
  Clock::time_point clock_start_{};
  Real time_start_ = 0;
};

}  // namespace tangere::cli
