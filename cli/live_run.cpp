// SPDX-License-Identifier: Apache-2.0
#include "live_run.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <thread>

namespace tangere::cli {

namespace {

constexpr std::size_t kMaxCommands = 256;
constexpr Real kFrame_s = 1.0 / 60;
constexpr Real kPullPeriod_s = 0.5;  // of the body on the spring of the mouse
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

Real secondsBetween(std::chrono::steady_clock::time_point begin,
                    std::chrono::steady_clock::time_point end) {
  return std::chrono::duration<Real>(end - begin).count();
}

}  // namespace

LiveRun::LiveRun(const Model& model, int numThreads)
    : simulator_(model, numThreads), encoder_(model) {}

void LiveRun::take(const Json& command) {
  const std::lock_guard lock(mutex_);
  if (commands_.size() < kMaxCommands) commands_.push_back(command);
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
    restartClock();
  } else if (name == "step") {
    is_playing_ = false;
    const int count = command.contains("count") && command["count"].is_number_integer()
                          ? command["count"].get<int>()
                          : 1;
    for (int i = 0; i < std::clamp(count, 0, kMaxStepsAsked) && !interrupted(); ++i) step();
  } else if (name == "reset") {
    pull_.reset();
    simulator_.reset();
    is_new_ = true;
    restartClock();
  } else if (name == "speed" && command.contains("factor") && command["factor"].is_number()) {
    speed_ = std::clamp(command["factor"].get<Real>(), 1e-3, 1e3);
    restartClock();
  } else if (name == "pull" && command.contains("body") && command["body"].is_number_integer()) {
    const auto from = vectorOf(command.value("from", Json()));
    const auto to = vectorOf(command.value("to", Json()));
    if (from && to) startPull(command["body"].get<int>(), *from, *to);
  } else if (name == "release") {
    pull_.reset();
  }
}

void LiveRun::startPull(int body, const Vec3& from, const Vec3& to) {
  if (body < 0 || body >= simulator_.model().numBodies()) return;
  if (!pull_ || pull_->body != body) {
    const Transform X_WB = simulator_.body(body).pose;
    pull_ = Pull{body, transpose(X_WB.rotation) * (from - X_WB.translation), to};
  }
  pull_->target = to;
}

/// A spring, critically damped, as stiff as the mass of the body asks for.
void LiveRun::applyPull() {
  if (!pull_) return;
  const MassProperties& mass = simulator_.model().massProperties(pull_->body);
  const BodyState body = simulator_.body(pull_->body);
  const Vec3 arm = body.pose.rotation * pull_->point;
  const Vec3 point = body.pose.translation + arm;
  const Vec3 velocity = body.linearVelocity + cross(body.angularVelocity, arm);
  const Real rate = 2 * std::numbers::pi / kPullPeriod_s;
  const Vec3 force = mass.mass * rate * (rate * (pull_->target - point) - 2 * velocity);
  const Vec3 center = body.pose.translation + body.pose.rotation * mass.center;
  simulator_.applyForce(pull_->body, force, cross(point - center, force));
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

void LiveRun::step() {
  applyPull();
  const StepReport& report = simulator_.step();
  is_new_ = true;
  if (!has(report.status, StepStatus::StateNotFinite | StepStatus::IntegratorFailed)) return;
  is_playing_ = false;
  frames_.stop(describe(report, simulator_.model(), simulator_.state().step));
}

void LiveRun::publish() {
  is_new_ = false;
  const State& state = simulator_.state();
  bodies_.clear();
  for (int i = 0; i < simulator_.model().numBodies(); ++i) bodies_.push_back(simulator_.body(i));
  std::vector<std::byte> bytes;
  encoder_.encode(
      {.time = state.time,
       .step = state.step,
       .stateHash = 0,
       .bodies = bodies_,
       .contacts = simulator_.contacts(),
       .report = simulator_.report(),
       .energy = simulator_.energy(),
       .softVertices = state.softPosition,
       .polygons = simulator_.pressureContacts()},
      {.isAsleep = state.isAsleep, .numEvents = static_cast<int>(simulator_.events().size())},
      &bytes);
  frames_.publish(std::move(bytes));
}

void LiveRun::restartClock() {
  clock_start_ = Clock::now();
  time_start_ = simulator_.state().time;
}

}  // namespace tangere::cli
