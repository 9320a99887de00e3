// SPDX-License-Identifier: Apache-2.0
#include "console.hpp"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <iostream>

namespace tangere::cli {

namespace {

volatile std::sig_atomic_t interruptSeen = 0;

void onInterrupt(int) { interruptSeen = 1; }

int editDistance(const std::string& a, const std::string& b) {
  std::vector<int> previous(b.size() + 1), current(b.size() + 1), beforePrevious(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) previous[j] = static_cast<int>(j);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    current[0] = static_cast<int>(i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const int change = previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      current[j] = std::min({previous[j] + 1, current[j - 1] + 1, change});
      // Two letters swapped are the most common slip: one mistake, not two.
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        current[j] = std::min(current[j], beforePrevious[j - 2] + 1);
    }
    beforePrevious = previous;
    previous = current;
  }
  return previous[b.size()];
}

std::string lowerCase(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

}  // namespace

CommandError::CommandError(ExitCode code, std::vector<Diagnostic> diagnostics)
    : std::runtime_error(diagnostics.empty() ? "" : describe(diagnostics.front())),
      code_(code),
      diagnostics_(std::move(diagnostics)) {}

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
  if (list.size() > listed)
    std::fprintf(stderr, "tangere: and %zu more errors\n", list.size() - listed);
  if (common.json) {
    Json errors = Json::array();
    for (std::size_t i = 0; i < listed; ++i)
      errors.push_back({{"file", list[i].file},
                        {"line", list[i].line},
                        {"column", list[i].column},
                        {"message", list[i].message}});
    printJson({{"exit_code", static_cast<int>(error.code())},
               {"num_errors", list.size()},
               {"errors", errors}});
  }
  return error.code();
}

void say(const CommonOptions& common, const std::string& text) {
  if (common.quiet == 0) std::fprintf(stderr, "%s\n", text.c_str());
}

void warn(const CommonOptions& common, const std::string& text) {
  if (common.quiet < 2) std::fprintf(stderr, "tangere: warning: %s\n", text.c_str());
}

void printJson(const Json& document) {
  // Names come from files: a byte that is not UTF-8 must not cost the user the whole answer.
  std::cout << document.dump(2, ' ', false, Json::error_handler_t::replace) << "\n" << std::flush;
}

void catchInterrupts() {
  std::signal(SIGINT, onInterrupt);
  std::signal(SIGTERM, onInterrupt);
  std::signal(SIGPIPE, SIG_IGN);  // a reader that went away is an input/output error, not a death
}

bool interrupted() { return interruptSeen != 0; }

void throwIfInterrupted() {
  if (interrupted()) throw CommandError(kInterrupted, "interrupted");
}

std::string nearNames(const std::string& word, const std::vector<std::string>& candidates) {
  const std::string wanted = lowerCase(word);
  int best = static_cast<int>(std::max<std::size_t>(1, wanted.size() / 3));
  std::vector<std::string> near;
  for (const std::string& candidate : candidates) {
    const int mistakes = editDistance(wanted, lowerCase(candidate));
    if (mistakes > best) continue;
    if (mistakes < best) near.clear();
    near.push_back(candidate);
    best = mistakes;
  }
  if (near.empty()) return "";
  std::string text = " (did you mean ";
  for (std::size_t i = 0; i < near.size() && i < 3; ++i)
    text += (i > 0 ? " or '" : "'") + near[i] + "'";
  return text + "?)";
}

}  // namespace tangere::cli
