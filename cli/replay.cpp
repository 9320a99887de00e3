// SPDX-License-Identifier: Apache-2.0
#include "replay.hpp"

#include "console.hpp"

#include <utility>

namespace tangere::cli {

namespace {

constexpr Real kFramesPerSecond = 60;
constexpr std::size_t kMaxBytes = std::size_t{48} << 20;  // 64 MB of base64

}  // namespace

Replay::Replay(const Model& model, std::vector<VisualShape> visuals)
    : model_(model),
      visuals_(std::move(visuals)),
      encoder_(model),
      interval_s_(1 / kFramesPerSecond) {}

void Replay::add(const RecordFrame& frame, const ViewExtras& extras) {
  if (!isDue(frame.time)) return;
  Frame& kept = frames_.emplace_back();
  kept.time = frame.time;
  encoder_.encode(frame, extras, &kept.bytes);
  num_bytes_ += kept.bytes.size();
  // Not time + interval: the steps of a run do not fall on sixtieths, and lateness would add up.
  next_time_ = frames_.size() == 1 ? frame.time + interval_s_ : next_time_ + interval_s_;
  while (num_bytes_ > kMaxBytes && frames_.size() > 2) dropEverySecond();
}

void Replay::dropEverySecond() {
  std::vector<Frame> kept;
  num_bytes_ = 0;
  for (std::size_t i = 0; i < frames_.size(); i += 2) {
    num_bytes_ += frames_[i].bytes.size();
    kept.push_back(std::move(frames_[i]));
  }
  frames_ = std::move(kept);
  interval_s_ *= 2;
  next_time_ = frames_.back().time + interval_s_;
}

std::string Replay::page(const std::string& title) const {
  std::vector<std::byte> bytes;
  bytes.reserve(num_bytes_);
  for (const Frame& frame : frames_)
    bytes.insert(bytes.end(), frame.bytes.begin(), frame.bytes.end());
  return viewerPage({{"scene", viewScene(model_, visuals_, title)}, {"frames", base64(bytes)}});
}

}  // namespace tangere::cli
