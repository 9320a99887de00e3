// SPDX-License-Identifier: Apache-2.0
#include "progress.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace tangere::cli {

namespace {

using Clock = std::chrono::steady_clock;

constexpr double kInterval_s = 0.1;
constexpr int kMostBar = 30, kLeastBar = 5;

double secondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

bool isTerminal(const CommonOptions& common) {
  return common.quiet == 0 && !common.json && isatty(STDERR_FILENO) != 0;
}

/// Asked each time: the window may have been resized.
int terminalWidth() {
  struct winsize size {};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

/// In the last column some terminals go on to the next line.
void drawLine(const std::string& line) {
  std::fprintf(stderr, "\r%s\x1b[K", line.c_str());
  std::fflush(stderr);
}

void clearLine() {
  std::fputs("\r\x1b[K", stderr);
  std::fflush(stderr);
}

std::string numberText(double value) {
  char text[32];
  std::snprintf(text, sizeof text, value < 1e15 && value == std::floor(value) ? "%.0f" : "%.3g",
                value);
  return text;
}

std::string rateText(double rate) {
  char text[32];
  std::snprintf(text, sizeof text, rate >= 100 && rate < 1e9 ? "%.0f" : "%.3g", rate);
  return text;
}

/// Names come from files: a line of the terminal stays one line, and short.
std::string printable(std::string_view text, std::size_t longest) {
  std::string out;
  for (const char c : text) out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  if (out.size() > longest) out = join("...", out.substr(out.size() - longest + 3));
  return out;
}

constexpr std::size_t kLongestText = 40;

}  // namespace

std::string clockText(double seconds) {
  const double whole = std::floor(std::clamp(seconds, 0.0, 3.6e8) + 0.5);
  const auto all = static_cast<long long>(whole);
  char text[48];
  if (all < 3600)
    std::snprintf(text, sizeof text, "%lld:%02lld", all / 60, all % 60);
  else
    std::snprintf(text, sizeof text, "%lld:%02lld:%02lld", all / 3600, all / 60 % 60, all % 60);
  return text;
}

std::string progressLine(std::string_view title, double part, std::string_view figures, int width) {
  char percent[16];
  std::snprintf(percent, sizeof percent, "%3.0f %%", std::floor(part * 100));
  std::string ending = join(percent, figures.empty() ? "" : "  ", figures);
  const int room = width - static_cast<int>(title.size() + ending.size()) - 4;
  std::string line(title);
  if (room >= kLeastBar) {
    const int length = std::min(room, kMostBar);
    const int filled = static_cast<int>(part * length);
    line += " [";
    line.append(static_cast<std::size_t>(filled), '#');
    line.append(static_cast<std::size_t>(length - filled), ' ');
    line += "]";
  }
  line += " ";
  line += ending;
  if (static_cast<int>(line.size()) > width)
    line.resize(static_cast<std::size_t>(std::max(width, 0)));
  return line;
}

namespace {

/// What is known after `elapsed` seconds: counts, rate and time left.
std::string lineAt(const ProgressBar::Work& work, double at, double elapsed,
                   std::string_view what) {
  const double done = at - work.first, all = work.last - work.first;
  const double part = all > 0 ? std::clamp(done / all, 0.0, 1.0) : 1;
  std::string figures;
  const auto append = [&](const std::string& text) {
    figures += join(figures.empty() ? "" : ", ", text);
  };
  if (!work.unit.empty()) {
    append(join(work.unit, " ", numberText(at), " of ", numberText(work.last)));
    if (elapsed > 0 && done > 0) append(join(rateText(done / elapsed), " ", work.unit, "s/s"));
  }
  if (part > 0 && elapsed > 2 * kInterval_s)
    append(join(clockText(elapsed * (1 - part) / part), " left"));
  if (!what.empty()) append(printable(what, kLongestText));
  return progressLine(work.title, part, figures, terminalWidth() - 1);
}

/// "mesh, 0:12".
std::string clockLine(const std::string& title, double elapsed, std::string_view what) {
  std::string line = join(title, ", ", clockText(elapsed), what.empty() ? "" : ", ",
                          printable(what, kLongestText));
  line.resize(std::min(line.size(), static_cast<std::size_t>(std::max(terminalWidth() - 1, 0))));
  return line;
}

ProgressBar::Work printableWork(ProgressBar::Work work) {
  work.title = printable(work.title, kLongestText);
  return work;
}

}  // namespace

ProgressBar::ProgressBar(const CommonOptions& common, const Work& work)
    : is_shown_(isTerminal(common)), work_(printableWork(work)) {}

void ProgressBar::update(double at, std::string_view what) {
  if (!is_shown_ || secondsSince(drawn_) < kInterval_s) return;
  drawn_ = Clock::now();
  drawLine(lineAt(work_, at, secondsSince(begin_), what));
  is_drawn_ = true;
}

void ProgressBar::clear() {
  if (is_drawn_) clearLine();
  is_drawn_ = false;
}

ProgressWatch::ProgressWatch(const CommonOptions& common, ProgressBar::Work work)
    : work_(printableWork(std::move(work))), at_(work_.first) {
  if (isTerminal(common))
    thread_ = std::thread([this] { watch(); });
  else if (work_.plainEvery_s > 0 && common.quiet == 0 && isatty(STDERR_FILENO) == 0)
    thread_ = std::thread([this] { watchPlainly(); });
}

ProgressWatch::~ProgressWatch() {
  if (!thread_.joinable()) return;
  {
    const std::scoped_lock lock(mutex_);
    is_over_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void ProgressWatch::say(const std::string& what) {
  const std::scoped_lock lock(mutex_);
  what_ = what;
}

void ProgressWatch::watch() {
  const Clock::time_point begin = Clock::now();
  std::unique_lock lock(mutex_);
  bool isDrawn = false;
  // Work that is over in a moment shows nothing.
  while (!changed_.wait_for(lock, std::chrono::milliseconds(200), [&] { return is_over_; })) {
    const double elapsed = secondsSince(begin);
    drawLine(work_.last > 0 ? lineAt(work_, at_.load(), elapsed, what_)
                            : clockLine(work_.title, elapsed, what_));
    isDrawn = true;
  }
  if (isDrawn) clearLine();
}

/// Lines for a log: it is whole after each of them.
void ProgressWatch::watchPlainly() {
  const Clock::time_point begin = Clock::now();
  std::unique_lock lock(mutex_);
  const std::chrono::duration<double> pause(work_.plainEvery_s);
  while (!changed_.wait_for(lock, pause, [&] { return is_over_; })) {
    const std::string count =
        join(work_.unit, " ", numberText(at_.load()), " of ", numberText(work_.last));
    std::fprintf(stderr, "%s\n",
                 clockLine(join(work_.title, ": ", count), secondsSince(begin), what_).c_str());
    std::fflush(stderr);
  }
}

}  // namespace tangere::cli
