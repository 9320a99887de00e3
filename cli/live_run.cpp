// SPDX-License-Identifier: Apache-2.0
#include "live_run.hpp"

#include "console.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <thread>
#include <utility>

namespace tangere::cli {

namespace {

constexpr std::size_t kMaxCommands = 256;
constexpr Real kFrame_s = 1.0 / 60;
constexpr Real kPullPeriod_s = 0.5;  // of the body on the spring of the mouse
constexpr Real kPullRate = 2 * std::numbers::pi / kPullPeriod_s;
constexpr Real kPulledPart = 0.2;  // of a soft body, by size
constexpr int kMaxStepsAsked = 10000;

std::optional<Vec3> vectorOf(const Json& list) {
  if (!list.is_array() || list.size() != 3) return std::nullopt;
  Vec3 v;
  for (int k = 0; k < 3; ++k) {
    const Json& number = list[static_cast<std::size_t>(k)];
    if (!number.is_number() || !(std::fabs(number.get<Real>()) < 1e9)) return std::nullopt;
    v[k] = number.get<Real>();
  }
  return v;
}

/// -1 when there is none.
int indexOf(const Json& command, const char* name) {
  const auto found = command.find(name);
  if (found == command.end() || !found->is_number_integer()) return -1;
  const auto index = found->get<std::int64_t>();
  return index < 0 || index > std::numeric_limits<int>::max() ? -1 : static_cast<int>(index);
}

Vec3 middleOf(std::span<const Vec3> points, const std::vector<int>& which) {
  Vec3 sum{};
  for (const int i : which) sum += points[static_cast<std::size_t>(i)];
  return sum / static_cast<Real>(which.size());
}

Real secondsBetween(std::chrono::steady_clock::time_point begin,
                    std::chrono::steady_clock::time_point end) {
  return std::chrono::duration<Real>(end - begin).count();
}

}  // namespace

LiveRun::LiveRun(const Model& model, int numThreads)
    : simulator_(model, numThreads), encoder_(model) {
  simulator_.setInterrupt(&interruptFlag());
}

bool LiveRun::take(const Json& command) {
  const auto word = command.find("command");
  if (word == command.end() || !word->is_string()) return true;
  constexpr std::array kWords{"play", "pause", "step", "reset", "speed", "pull", "release"};
  if (std::find(kWords.begin(), kWords.end(), word->get<std::string>()) == kWords.end())
    return false;
  const std::lock_guard lock(mutex_);
  if (commands_.size() < kMaxCommands) commands_.push_back(command);
  return true;
}

void LiveRun::run(std::optional<Real> seconds) {
  const auto begin = Clock::now();
  auto published = begin - std::chrono::seconds(1);
  restartClock();
  while (!interrupted() && !(seconds && secondsBetween(begin, Clock::now()) > *seconds)) {
    std::vector<Json> commands;
    {
      const std::lock_guard lock(mutex_);
      commands.swap(commands_);
    }
    for (const Json& command : commands) obey(command);
    if (is_playing_) catchUp();
    if (steps_asked_ > 0) takeSteps();
    if (is_new_ && secondsBetween(published, Clock::now()) >= kFrame_s) {
      publish();
      published = Clock::now();
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

void LiveRun::obey(const Json& command) {
  const auto word = command.find("command");
  if (word == command.end() || !word->is_string()) return;
  const std::string name = word->get<std::string>();
  if (name == "play" || name == "pause") {
    is_playing_ = name == "play";
    steps_asked_ = 0;
    restartClock();
  } else if (name == "step") {
    is_playing_ = false;
    const std::int64_t count = command.contains("count") && command["count"].is_number_integer()
                                   ? command["count"].get<std::int64_t>()
                                   : 1;
    // However many ask, no more are waited for than one may ask for.
    const auto most = static_cast<std::int64_t>(kMaxStepsAsked);
    steps_asked_ =
        static_cast<int>(std::min(steps_asked_ + std::clamp(count, std::int64_t{0}, most), most));
  } else if (name == "reset") {
    pull_.reset();
    steps_asked_ = 0;
    simulator_.reset();
    is_new_ = true;
    restartClock();
  } else if (name == "speed" && command.contains("factor") && command["factor"].is_number()) {
    speed_ = std::clamp(command["factor"].get<Real>(), 1e-3, 1e3);
    restartClock();
  } else if (name == "pull") {
    const auto from = vectorOf(command.value("from", Json()));
    const auto to = vectorOf(command.value("to", Json()));
    const int body = indexOf(command, "body"), soft = indexOf(command, "soft");
    if (from && to && body >= 0) startPull(body, *from, *to);
    if (from && to && soft >= 0) startSoftPull(soft, *from, *to);
  } else if (name == "release") {
    pull_.reset();
  }
}

void LiveRun::startPull(int body, const Vec3& from, const Vec3& to) {
  if (body >= simulator_.model().numBodies()) return;
  if (!pull_ || pull_->body != body) {
    const Transform X_WB = simulator_.body(body).pose;
    pull_ = Pull{.body = body, .point = transpose(X_WB.rotation) * (from - X_WB.translation)};
  }
  pull_->target = to;
}

/// By the vertices that are nearer than a part of the size: one alone would be torn out.
void LiveRun::startSoftPull(int soft, const Vec3& from, const Vec3& to) {
  if (soft >= simulator_.model().numSoftBodies()) return;
  if (!pull_ || pull_->soft != soft) {
    const std::span<const Vec3> x = simulator_.softPositions(soft);
    Real nearest = std::numeric_limits<Real>::infinity(), farthest = 0;
    for (const Vec3& p : x) {
      nearest = std::min(nearest, norm(p - from));
      farthest = std::max(farthest, norm(p - from));
    }
    Pull pull{.soft = soft};
    for (std::size_t i = 0; i < x.size(); ++i)
      if (norm(x[i] - from) <= nearest + kPulledPart * farthest)
        pull.vertices.push_back(static_cast<int>(i));
    pull.offset = from - middleOf(x, pull.vertices);
    pull_ = std::move(pull);
  }
  pull_->target = to;
}

void LiveRun::applyPull() {
  if (!pull_) return;
  if (pull_->body >= 0)
    pullBody(*pull_);
  else
    pullSoft(*pull_);
}

/// A spring, critically damped, as stiff as the mass asks for, and what carries its weight: a small
/// thing would hang far below the mouse.
Vec3 LiveRun::springForce(Real mass, const Vec3& stretch, const Vec3& velocity) const {
  return mass *
         (kPullRate * (kPullRate * stretch - 2 * velocity) - simulator_.model().options().gravity);
}

void LiveRun::pullBody(const Pull& pull) {
  const MassProperties& mass = simulator_.model().massProperties(pull.body);
  const BodyState body = simulator_.body(pull.body);
  const Vec3 arm = body.pose.rotation * pull.point;
  const Vec3 point = body.pose.translation + arm;
  const Vec3 velocity = body.linearVelocity + cross(body.angularVelocity, arm);
  const Vec3 force = springForce(mass.mass, pull.target - point, velocity);
  const Vec3 center = body.pose.translation + body.pose.rotation * mass.center;
  simulator_.applyForce(pull.body, force, cross(point - center, force));
}

void LiveRun::pullSoft(const Pull& pull) {
  const Vec3 point = middleOf(simulator_.softPositions(pull.soft), pull.vertices) + pull.offset;
  const Vec3 velocity = middleOf(simulator_.softVelocities(pull.soft), pull.vertices);
  const Real mass = simulator_.model().softMass(pull.soft);
  const Vec3 force = springForce(mass, pull.target - point, velocity);
  for (const int vertex : pull.vertices)
    simulator_.applySoftForce(pull.soft, vertex, force / static_cast<Real>(pull.vertices.size()));
}

void LiveRun::catchUp() {
  const auto begin = Clock::now();
  const Real target = time_start_ + speed_ * secondsBetween(clock_start_, begin);
  while (is_playing_ && simulator_.state().time + simulator_.model().options().dt <= target) {
    step();
    if (secondsBetween(begin, Clock::now()) < kFrame_s) continue;
    restartClock();  // slower than real time: as fast as it goes
    return;
  }
}

void LiveRun::takeSteps() {
  const auto begin = Clock::now();
  while (steps_asked_ > 0 && !is_playing_ && !interrupted()) {
    --steps_asked_;
    step();
    if (secondsBetween(begin, Clock::now()) > kFrame_s) return;
  }
}

void LiveRun::step() {
  applyPull();
  const StepReport& report = simulator_.step();
  news_.add(simulator_);
  is_new_ = true;
  if (!isRefused(report.status) || has(report.status, StepStatus::Interrupted)) return;
  is_playing_ = false;
  steps_asked_ = 0;
  frames_.stop(describe(report, simulator_.model(), simulator_.state().step));
}

void LiveRun::publish() {
  is_new_ = false;
  std::vector<std::byte> bytes;
  encoder_.encode(frameOf(simulator_, &bodies_), extrasOf(simulator_, std::exchange(news_, {})),
                  &bytes);
  frames_.publish(std::move(bytes));
}

void LiveRun::restartClock() {
  clock_start_ = Clock::now();
  time_start_ = simulator_.state().time;
}

}  // namespace tangere::cli
