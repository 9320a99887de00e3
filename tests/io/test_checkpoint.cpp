// SPDX-License-Identifier: Apache-2.0
//
// Checkpoints: a run goes on from one to the same bits, and a file that is not whole is refused.
#include <tangere/checkpoint.hpp>
#include <tangere/error.hpp>

#include "io/recording_samples.hpp"

#include <gtest/gtest.h>

#include <sys/stat.h>

#include <fstream>
#include <iterator>

namespace tangere {
namespace {

using samples::makeModel;
using samples::TemporaryFolder;

std::string bytesOf(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

void writeBytes(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

/// Two balls that have just landed: contacts, patches and warm starts are part of the state.
Simulator landedBalls(int numThreads = 1) {
  Simulator simulator(makeModel(), numThreads);
  for (int i = 0; i < 200; ++i) (void)simulator.step();
  return simulator;
}

TEST(Checkpoint, GoesOnToTheSameBits) {
  const TemporaryFolder folder;
  Simulator unbroken = landedBalls();
  ASSERT_GT(unbroken.report().numContacts, 0);
  RunCounters counters;
  counters.add(unbroken.report(), unbroken.energy());
  saveCheckpoint(folder / "a.ck", unbroken.model(), unbroken.state(), counters);

  Simulator resumed(makeModel(), 2);
  const Checkpoint checkpoint = loadCheckpoint(folder / "a.ck", resumed.model());
  resumed.setState(checkpoint.state);
  EXPECT_EQ(resumed.state().hash(), unbroken.state().hash());
  for (int i = 0; i < 300; ++i) {
    (void)unbroken.step();
    (void)resumed.step();
    ASSERT_EQ(resumed.state().hash(), unbroken.state().hash()) << "step " << i;
  }
}

TEST(Checkpoint, KeepsTheCounters) {
  const TemporaryFolder folder;
  const Model model = makeModel();
  RunCounters counters;
  for (const std::uint64_t step : {3u, 8u, 21u}) {
    const samples::OwnedFrame frame = samples::makeFrame(step, 3, static_cast<int>(step));
    counters.add(frame.report, frame.energy);
  }
  EXPECT_EQ(counters.steps, 3u);
  EXPECT_EQ(counters.contactsSum, 32u);
  EXPECT_EQ(counters.contactsMax, 21u);
  EXPECT_EQ(counters.stepsOk, 0u);
  EXPECT_EQ(counters.stepsWithStatus[0], 2u);  // 3 and 21 are odd
  EXPECT_EQ(counters.stepsWithStatus[3], 1u);  // 8
  saveCheckpoint(folder / "a.ck", model, State(model), counters);

  const RunCounters read = loadCheckpoint(folder / "a.ck", model).counters;
  EXPECT_EQ(read.steps, counters.steps);
  EXPECT_EQ(read.contactsSum, counters.contactsSum);
  EXPECT_EQ(read.contactsMax, counters.contactsMax);
  EXPECT_EQ(read.polygonsSum, counters.polygonsSum);
  EXPECT_EQ(read.polygonsMax, counters.polygonsMax);
  EXPECT_EQ(read.iterationsSum, counters.iterationsSum);
  EXPECT_EQ(read.iterationsMax, counters.iterationsMax);
  EXPECT_EQ(read.stepsOk, counters.stepsOk);
  EXPECT_EQ(read.stepsWithStatus, counters.stepsWithStatus);
  EXPECT_EQ(read.maxDepth, counters.maxDepth);
  for (const LedgerRow& row : energyLedgerRows())
    EXPECT_EQ(read.energy.*row.value, counters.energy.*row.value) << row.name;
}

TEST(Checkpoint, ACutAtAnyLengthIsRefused) {
  const TemporaryFolder folder;
  const Simulator simulator = landedBalls();
  saveCheckpoint(folder / "a.ck", simulator.model(), simulator.state(), {});
  const std::string bytes = bytesOf(folder / "a.ck");
  ASSERT_GT(bytes.size(), 500u);
  writeBytes(folder / "cut.ck", bytes);
  for (std::size_t size = bytes.size(); size-- > 0;) {
    std::filesystem::resize_file(folder / "cut.ck", size);
    ASSERT_THROW((void)loadCheckpoint(folder / "cut.ck", simulator.model()), InvalidInput) << size;
  }
  writeBytes(folder / "long.ck", bytes + '\0');
  EXPECT_THROW((void)loadCheckpoint(folder / "long.ck", simulator.model()), InvalidInput);
  EXPECT_NO_THROW((void)loadCheckpoint(folder / "a.ck", simulator.model()));
}

TEST(Checkpoint, AWrongBitInAnyByteIsRefused) {
  const TemporaryFolder folder;
  const Simulator simulator = landedBalls();
  saveCheckpoint(folder / "a.ck", simulator.model(), simulator.state(), {});
  const std::string bytes = bytesOf(folder / "a.ck");
  std::fstream file(folder / "a.ck", std::ios::in | std::ios::out | std::ios::binary);
  const auto put = [&](std::size_t at, char byte) {
    file.seekp(static_cast<std::streamoff>(at));
    file.put(byte).flush();
  };
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    put(at, static_cast<char>(bytes[at] ^ (1 << (at % 8))));
    ASSERT_THROW((void)loadCheckpoint(folder / "a.ck", simulator.model()), InvalidInput) << at;
    put(at, bytes[at]);
  }
  EXPECT_NO_THROW((void)loadCheckpoint(folder / "a.ck", simulator.model()));
}

std::string messageOf(const std::filesystem::path& path, const Model& model) {
  try {
    (void)loadCheckpoint(path, model);
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

TEST(Checkpoint, OfAnotherSceneNamesBothHashes) {
  const TemporaryFolder folder;
  const Model model = makeModel(2), other = makeModel(3);
  saveCheckpoint(folder / "a.ck", model, State(model), {});
  const std::string message = messageOf(folder / "a.ck", other);
  for (const std::uint64_t hash : {model.hash(), other.hash()}) {
    char digits[20];
    std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(hash));
    EXPECT_NE(message.find(digits), std::string::npos) << message;
  }
  SimulationOptions slower = model.options();
  slower.dt /= 2;
  EXPECT_THROW((void)loadCheckpoint(folder / "a.ck", model.withOptions(slower)), InvalidInput);
}

TEST(Checkpoint, OfAnotherVersionNamesBothVersions) {
  const TemporaryFolder folder;
  const Model model = makeModel();
  saveCheckpoint(folder / "a.ck", model, State(model), {});
  std::string bytes = bytesOf(folder / "a.ck");
  bytes[8] = 7;
  writeBytes(folder / "b.ck", bytes);
  const std::string message = messageOf(folder / "b.ck", model);
  EXPECT_NE(message.find("version 7"), std::string::npos) << message;
  EXPECT_NE(message.find("version 1"), std::string::npos) << message;
}

TEST(Checkpoint, WhatIsNoCheckpointIsRefused) {
  const TemporaryFolder folder;
  const Model model = makeModel();
  EXPECT_THROW((void)loadCheckpoint(folder / "missing.ck", model), FileError);
  EXPECT_THROW((void)loadCheckpoint("/dev/zero", model), FileError);
  std::filesystem::create_directory(folder / "folder");
  EXPECT_THROW((void)loadCheckpoint(folder / "folder", model), FileError);
  ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
  EXPECT_THROW((void)loadCheckpoint(folder / "pipe", model), FileError);
  writeBytes(folder / "text.ck", std::string(1000, 'x'));
  EXPECT_NE(messageOf(folder / "text.ck", model).find("no checkpoint"), std::string::npos);
}

TEST(Checkpoint, ReplacesTheOneBeforeOrLeavesIt) {
  const TemporaryFolder folder;
  Simulator simulator = landedBalls();
  saveCheckpoint(folder / "a.ck", simulator.model(), simulator.state(), {});
  (void)simulator.step();
  saveCheckpoint(folder / "a.ck", simulator.model(), simulator.state(), {});
  EXPECT_EQ(loadCheckpoint(folder / "a.ck", simulator.model()).state.step, 201u);
  EXPECT_FALSE(std::filesystem::exists(folder / "a.ck.partial"));

  std::filesystem::create_directory(folder / "a.ck.partial");  // in the way of the next one
  EXPECT_THROW(saveCheckpoint(folder / "a.ck", simulator.model(), simulator.state(), {}),
               FileError);
  EXPECT_EQ(loadCheckpoint(folder / "a.ck", simulator.model()).state.step, 201u);
  EXPECT_THROW(saveCheckpoint("/dev/full", simulator.model(), simulator.state(), {}), FileError);
  EXPECT_THROW(saveCheckpoint(folder / "missing/a.ck", simulator.model(), simulator.state(), {}),
               FileError);
}

}  // namespace
}  // namespace tangere
