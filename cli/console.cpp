// SPDX-License-Identifier: Apache-2.0
#include "console.hpp"

#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <iostream>

namespace tangere::cli {

void endAtOnce(bool isTimeUp);

namespace {

std::atomic<bool> interruptSeen = false;
std::atomic<bool> isTimeOver = false;
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler sets it");

std::atomic<const EndsAtOnce*> endsAtOnce = nullptr;

void onInterrupt(int number) {
  interruptSeen = true;
  endAtOnce(false);
  std::signal(number, SIG_DFL);
}

void onAlarm(int) {
  isTimeOver = true;
  interruptSeen = true;
  endAtOnce(true);
}

Json documentOf(ExitCode code, const std::vector<Diagnostic>& listed, std::size_t numErrors) {
  Json errors = Json::array();
  for (const Diagnostic& diagnostic : listed)
    errors.push_back({{"file", diagnostic.file},
                      {"line", diagnostic.line},
                      {"column", diagnostic.column},
                      {"message", diagnostic.message}});
  return {{"exit_code", static_cast<int>(code)}, {"num_errors", numErrors}, {"errors", errors}};
}

// Names come from files: a byte that is not UTF-8 must not cost the user the whole answer.
std::string textOf(const Json& document) {
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

/// For signal handlers: nothing where no such work goes on.
void endAtOnce(bool isTimeUp) {
  const EndsAtOnce* work = endsAtOnce;
  if (work == nullptr) return;
  const auto& words = isTimeUp ? work->time_up_ : work->interrupted_;
  // Nobody is left to be told that these cannot be written.
  (void)!write(STDERR_FILENO, words.message.data(), words.message.size());
  (void)!write(STDOUT_FILENO, words.document.data(), words.document.size());
  _exit(isTimeUp ? kResourceLimit : kInterrupted);
}

EndsAtOnce::EndsAtOnce(const CommonOptions& common, const std::string& work) : outer_(endsAtOnce) {
  const auto wordsFor = [&](ExitCode code, const std::string& message) {
    const std::string document =
        common.json ? textOf(documentOf(code, {{.message = message}}, 1)) : "";
    // A progress bar may be in the line.
    const char* line = isatty(STDERR_FILENO) != 0 ? "\r\x1b[K" : "";
    return LastWords{join(line, "tangere: ", message, "\n"), document};
  };
  interrupted_ = wordsFor(kInterrupted, join("interrupted while ", work));
  time_up_ = wordsFor(kResourceLimit, join("the time limit was reached while ", work));
  endsAtOnce = this;
  if (interrupted()) endAtOnce(isTimeUp());
}

EndsAtOnce::~EndsAtOnce() { endsAtOnce = outer_; }

CommandError::CommandError(ExitCode code, std::vector<Diagnostic> diagnostics,
                           std::size_t numErrors)
    : std::runtime_error(diagnostics.empty() ? "" : describe(diagnostics.front())),
      code_(code),
      diagnostics_(std::move(diagnostics)),
      num_errors_(std::max(numErrors, diagnostics_.size())) {}

CommandError::CommandError(ExitCode code, const std::string& message)
    : CommandError(code, std::vector<Diagnostic>{{.message = message}}) {}

void Diagnostics::add(int line, int column, const std::string& message) {
  addIn(file_, line, column, message);
}

void Diagnostics::addIn(const std::string& file, int line, int column, const std::string& message) {
  list_.push_back({.file = file, .line = line, .column = column, .message = message});
}

void Diagnostics::throwIfAny() const {
  if (!list_.empty()) throw CommandError(kInputRejected, list_);
}

std::string describe(const Diagnostic& diagnostic) {
  std::string text;
  if (!diagnostic.file.empty()) {
    text = diagnostic.file + ":";
    if (diagnostic.line > 0) text += std::to_string(diagnostic.line) + ":";
    if (diagnostic.line > 0 && diagnostic.column > 0)
      text += std::to_string(diagnostic.column) + ":";
    text += " ";
  }
  return text + diagnostic.message;
}

int reportError(const CommandError& error, const CommonOptions& common) {
  const auto& list = error.diagnostics();
  const auto listed = std::min(list.size(), static_cast<std::size_t>(Diagnostics::kMaxListed));
  for (std::size_t i = 0; i < listed; ++i)
    std::fprintf(stderr, "tangere: %s\n", describe(list[i]).c_str());
  if (error.numErrors() > listed)
    std::fprintf(stderr, "tangere: and %zu more errors\n", error.numErrors() - listed);
  if (common.json) {
    const auto end = list.begin() + static_cast<std::ptrdiff_t>(listed);
    printJson(documentOf(error.code(), {list.begin(), end}, error.numErrors()));
  }
  return error.code();
}

void say(const CommonOptions& common, const std::string& text) {
  if (common.quiet == 0) std::fprintf(stderr, "%s\n", text.c_str());
}

void warn(const CommonOptions& common, const std::string& text) {
  if (common.quiet < 2) std::fprintf(stderr, "tangere: warning: %s\n", text.c_str());
}

void printJson(const Json& document) { std::cout << textOf(document) << std::flush; }

void flushStdout() {
  if (!(std::cout << std::flush) || std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
    throw CommandError(kInputOutput, "stdout cannot be written");
}

void catchInterrupts() {
  std::signal(SIGINT, onInterrupt);
  std::signal(SIGTERM, onInterrupt);
  std::signal(SIGPIPE, SIG_IGN);  // a reader that went away is an input/output error, not a death
  std::signal(SIGXFSZ, SIG_IGN);  // so is a file that may not grow
}

void limitTime(double seconds) {
  std::signal(SIGALRM, onAlarm);
  const double whole = std::floor(seconds);
  itimerval timer{};
  timer.it_value.tv_sec = static_cast<time_t>(whole);
  timer.it_value.tv_usec = static_cast<suseconds_t>(1e6 * (seconds - whole));
  if (timer.it_value.tv_sec == 0 && timer.it_value.tv_usec == 0) timer.it_value.tv_usec = 1;
  setitimer(ITIMER_REAL, &timer, nullptr);
}

bool isTimeUp() { return isTimeOver; }

bool interrupted() { return interruptSeen; }

const std::atomic<bool>& interruptFlag() { return interruptSeen; }

void throwIfInterrupted() {
  if (interrupted()) throw CommandError(kInterrupted, "interrupted");
}

}  // namespace tangere::cli
