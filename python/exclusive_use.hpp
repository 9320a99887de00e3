// SPDX-License-Identifier: Apache-2.0
//
// What is not for two users at a time says so instead of crashing. Calls into the engine release
// the interpreter's lock, so a second thread may come in; so may a callback of the engine itself.
// And a process that was forked has the memory, but not the threads.
#pragma once

#include <unistd.h>

#include <atomic>
#include <stdexcept>
#include <string>

namespace tangere::python {

class Exclusive {
 public:
  /// `what` is a class as Python knows it; it must outlive this.
  explicit Exclusive(const char* what) : what_(what), process_(getpid()) {}

  /// Whether its threads, if it has any, are in another process.
  [[nodiscard]] bool isForked() const { return hasThreads && process_ != getpid(); }

  bool hasThreads = false;

 private:
  friend class ExclusiveUse;

  const char* what_;
  pid_t process_;
  std::atomic<bool> is_used_{false};
};

/// Held while something is used. Throws std::runtime_error, RuntimeError in Python.
class ExclusiveUse {
 public:
  explicit ExclusiveUse(Exclusive& exclusive) : exclusive_(exclusive) {
    const std::string what = exclusive.what_;
    if (exclusive.isForked())
      throw std::runtime_error("this " + what +
                               " was made before fork(), and its threads are in the other process: "
                               "make a new one here");
    if (exclusive.is_used_.exchange(true))
      throw std::runtime_error("another thread, or a callback of its own, is using this " + what +
                               ": use one for each thread");
  }
  ~ExclusiveUse() { exclusive_.is_used_ = false; }
  ExclusiveUse(const ExclusiveUse&) = delete;
  ExclusiveUse& operator=(const ExclusiveUse&) = delete;

 private:
  Exclusive& exclusive_;
};

}  // namespace tangere::python
