// SPDX-License-Identifier: Apache-2.0
//
// How far long work has come: a line that is drawn over itself, on a terminal only. Nothing of it
// remains: not at the end, not after an interrupt, not above an error message. It is not drawn with
// --json or -q, nor when stderr is no terminal, and fits the terminal also when that is resized.
#pragma once

#include "console.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace tangere::cli {

/// "run [#########      ]  62 %  step 6200 of 10000, 1240 steps/s, 0:03 left": for a loop that
/// tells where it is. Not for two threads at a time.
class ProgressBar {
 public:
  struct Work {
    std::string title{};
    std::string unit{};  ///< one of what is counted, "step"; "" shows no counts and no rate
    double first = 0;    ///< where it begins
    double last = 0;     ///< where it ends
    /// ProgressWatch: where stderr is no terminal, a line of its own so often; 0: none. Not with
    /// -q.
    double plainEvery_s = 0;
  };
  ProgressBar(const CommonOptions& common, const Work& work);
  ~ProgressBar() { clear(); }
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  /// Draws at most ten times a second. `what`: of what is being done now.
  void update(double at, std::string_view what = "");
  /// Takes the line away, so that something can be printed; update() draws it again.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;

  bool is_shown_, is_drawn_ = false;
  Work work_;
  Clock::time_point begin_ = Clock::now(), drawn_{};
};

/// The same for work that cannot stop to draw: a thread of its own draws. Without an end
/// (Work::last is 0) it shows for how long the work has gone on.
class ProgressWatch {
 public:
  ProgressWatch(const CommonOptions& common, ProgressBar::Work work);
  ~ProgressWatch();
  ProgressWatch(const ProgressWatch&) = delete;
  ProgressWatch& operator=(const ProgressWatch&) = delete;

  // From any thread.
  void add(double done) { at_.fetch_add(done); }
  void say(const std::string& what);

 private:
  void watch();
  void watchPlainly();

  ProgressBar::Work work_;
  std::atomic<double> at_;
  std::mutex mutex_{};
  std::condition_variable changed_{};
  std::string what_{};
  bool is_over_ = false;
  std::thread thread_{};
};

/// "0:07", "12:30", "3:00:00".
[[nodiscard]] std::string clockText(double seconds);

/// One line, at most `width` characters: first the bar gives way, then the end.
[[nodiscard]] std::string progressLine(std::string_view title, double part,
                                       std::string_view figures, int width);

}  // namespace tangere::cli
