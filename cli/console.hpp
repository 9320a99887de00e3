// SPDX-License-Identifier: Apache-2.0
//
// What every command shares: exit codes, the common options, rejected input, and how results and
// messages reach the user. Results go to stdout, everything said about them to stderr; with --json
// stdout carries one document and nothing else.
#pragma once

#include <tangere/error.hpp>

#include <nlohmann/json.hpp>

#include <atomic>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

namespace tangere::cli {

using Json = nlohmann::ordered_json;

enum ExitCode : int {
  kDone = 0,
  kDifferent = 1,
  kUsage = 2,
  kInputRejected = 3,
  kSimulationStopped = 4,
  kResourceLimit = 5,
  kInputOutput = 6,
  kDevice = 7,
  kInterrupted = 130,
};

struct CommonOptions {
  bool json = false;
  int quiet = 0;
  int verbose = 0;
  int threads = 1;
};

/// One thing wrong with an input. Lines and columns count from 1; 0 where there is none.
struct Diagnostic {
  std::string file{};
  int line = 0;
  int column = 0;
  std::string message{};  ///< "a1: found '-3', expected a positive size [m]"
};

/// Ends a command with an exit code; the diagnostics are what the user is told.
class CommandError : public std::runtime_error {
 public:
  /// `numErrors`: all that were found, when that is more than the list has.
  CommandError(ExitCode code, std::vector<Diagnostic> diagnostics, std::size_t numErrors = 0);
  CommandError(ExitCode code, const std::string& message);

  [[nodiscard]] ExitCode code() const { return code_; }
  [[nodiscard]] const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }
  [[nodiscard]] std::size_t numErrors() const { return num_errors_; }

 private:
  ExitCode code_;
  std::vector<Diagnostic> diagnostics_;
  std::size_t num_errors_;
};

/// Ends a command with an exit code when the user has been told everything already.
struct CommandEnd {
  ExitCode code = kDone;
};

/// Collects what is wrong, so that the user sees the first twenty mistakes and not only one.
class Diagnostics {
 public:
  static constexpr int kMaxListed = 20;

  explicit Diagnostics(std::string file) : file_(std::move(file)) {}
  void add(int line, int column, const std::string& message);
  void addIn(const std::string& file, int line, int column, const std::string& message);
  [[nodiscard]] bool empty() const { return list_.empty(); }
  [[nodiscard]] int size() const { return static_cast<int>(list_.size()); }
  [[nodiscard]] const std::vector<Diagnostic>& list() const { return list_; }
  /// Throws CommandError with kInputRejected when something was added.
  void throwIfAny() const;

 private:
  std::string file_;
  std::vector<Diagnostic> list_;
};

/// "file:line:column: message".
[[nodiscard]] std::string describe(const Diagnostic& diagnostic);

/// Prints an error to stderr and, with --json, as the one document on stdout. Returns its code.
int reportError(const CommandError& error, const CommonOptions& common);

/// A line on stderr, unless quiet.
void say(const CommonOptions& common, const std::string& text);
void warn(const CommonOptions& common, const std::string& text);
void printJson(const Json& document);
/// Throws CommandError with kInputOutput when what was printed did not reach stdout.
void flushStdout();

/// True once SIGINT or SIGTERM arrived; commands look at it between units of work. A second one
/// ends the program at once.
void catchInterrupts();
[[nodiscard]] bool interrupted();
/// After so many seconds (positive, below 1e9) it is as if SIGINT had arrived, and isTimeUp().
void limitTime(double seconds);
[[nodiscard]] bool isTimeUp();
/// The same for a step that takes long.
[[nodiscard]] const std::atomic<bool>& interruptFlag();
void throwIfInterrupted();

/// While one lives, SIGINT, SIGTERM and the time limit end the program at once: for work that looks
/// for no interrupt, such as loading, while no file is open that would have to be finished.
class EndsAtOnce {
 public:
  /// `work`: what the user is told was cut, "FILE was read".
  EndsAtOnce(const CommonOptions& common, const std::string& work);
  ~EndsAtOnce();
  EndsAtOnce(const EndsAtOnce&) = delete;
  EndsAtOnce& operator=(const EndsAtOnce&) = delete;

 private:
  friend void endAtOnce(bool isTimeUp);

  /// What is printed then, made before: a signal handler may not allocate.
  struct LastWords {
    std::string message, document;
  };
  LastWords interrupted_, time_up_;
  const EndsAtOnce* outer_;
};

/// The parts one after the other. (Chains of + on strings trip gcc 12's -Wrestrict.)
template <class... Parts>
[[nodiscard]] std::string join(const Parts&... parts) {
  std::string text;
  (text.append(parts), ...);
  return text;
}

using tangere::nearNames;

}  // namespace tangere::cli
