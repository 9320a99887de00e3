// SPDX-License-Identifier: Apache-2.0
//
// Recordings: what is written is read, whatever happens to the program or the disk on the way.
#include <tangere/error.hpp>
#include <tangere/recording.hpp>

#include "io/expect_same_frame.hpp"
#include "io/recording_layout.hpp"
#include "io/recording_samples.hpp"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <cerrno>
#include <cmath>
#include <fstream>
#include <iterator>
#include <limits>

namespace {

/// What was done to a file, in order: bytes at a place, or a new length.
struct FileChange {
  off_t offset = 0;
  std::string bytes;
  bool isTruncation = false;
};
std::vector<FileChange>* changes = nullptr;
off_t bytesUntilFull = -1;

}  // namespace

// These stand before the C library's: a recording changes its file through them alone.
extern "C" ssize_t pwrite(int descriptor, const void* bytes, std::size_t size, off_t offset) {
  if (bytesUntilFull >= 0 && offset + static_cast<off_t>(size) > bytesUntilFull) {
    errno = ENOSPC;
    return -1;
  }
  if (changes != nullptr)
    changes->push_back({offset, std::string(static_cast<const char*>(bytes), size), false});
  return syscall(SYS_pwrite64, descriptor, bytes, size, offset);
}
extern "C" int ftruncate(int descriptor, off_t size) noexcept {
  if (changes != nullptr) changes->push_back({size, "", true});
  return static_cast<int>(syscall(SYS_ftruncate, descriptor, size));
}

namespace tangere {
namespace {

using samples::expectSame;
using samples::makeFrame;
using samples::makeModel;
using samples::OwnedFrame;
using samples::TemporaryFolder;

constexpr int kNumBodies = 3;  // of makeModel()

/// Frames with no, few and, sometimes, more contacts than a chunk holds.
OwnedFrame frameAt(std::uint64_t step) {
  const int numContacts = step % 50 == 49 ? 2500 : static_cast<int>(step % 4);
  return makeFrame(step, kNumBodies, numContacts);
}

void writeFrames(const std::filesystem::path& path, int numFrames) {
  RecordingWriter writer(path, makeModel());
  for (int i = 0; i < numFrames; ++i) writer.append(frameAt(static_cast<std::uint64_t>(i)).view());
  writer.close();
}

std::string bytesOf(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

TEST(Recording, EveryNumberIsReadAsItWasWritten) {
  const TemporaryFolder folder;
  writeFrames(folder / "a.h5", 300);  // two chunks and a part

  RecordingReader reader(folder / "a.h5");
  ASSERT_EQ(reader.numFrames(), 300);
  ASSERT_EQ(reader.numBodies(), kNumBodies);
  EXPECT_EQ(reader.bodyName(0), "ball 0");
  EXPECT_EQ(reader.bodyName(2), "floor");
  EXPECT_EQ(reader.modelHash(), makeModel().hash());
  for (int i = 0; i < 300; ++i) expectSame(reader.frame(i), frameAt(static_cast<std::uint64_t>(i)));
  for (const int i : {299, 0, 150, 127, 128})
    expectSame(reader.frame(i), frameAt(static_cast<std::uint64_t>(i)));
  EXPECT_THROW((void)reader.frame(300), InvalidInput);
  EXPECT_THROW((void)reader.frame(-1), InvalidInput);
}

TEST(Recording, ARunWithoutFramesIsARecording) {
  const TemporaryFolder folder;
  writeFrames(folder / "a.h5", 0);
  EXPECT_EQ(RecordingReader(folder / "a.h5").numFrames(), 0);
}

TEST(Recording, HasItsNameOnlyWhenItIsClosed) {
  const TemporaryFolder folder;
  RecordingWriter writer(folder / "a.h5", makeModel());
  writer.append(frameAt(0).view());
  EXPECT_FALSE(std::filesystem::exists(folder / "a.h5"));
  EXPECT_TRUE(std::filesystem::exists(folder / "a.h5.partial"));
  writer.close();
  EXPECT_TRUE(std::filesystem::exists(folder / "a.h5"));
  EXPECT_FALSE(std::filesystem::exists(folder / "a.h5.partial"));
  EXPECT_THROW(writer.append(frameAt(1).view()), InvalidInput);
}

TEST(Recording, WithoutCloseAllFramesAreInThePartialFile) {
  const TemporaryFolder folder;
  {
    RecordingWriter writer(folder / "a.h5", makeModel());
    for (int i = 0; i < 130; ++i) writer.append(frameAt(static_cast<std::uint64_t>(i)).view());
  }
  EXPECT_FALSE(std::filesystem::exists(folder / "a.h5"));
  EXPECT_EQ(RecordingReader(folder / "a.h5.partial").numFrames(), 130);
}

TEST(Recording, CanBeReadWhileItIsWritten) {
  const TemporaryFolder folder;
  RecordingWriter writer(folder / "a.h5", makeModel(), {.framesPerChunk = 4});
  for (int i = 0; i < 9; ++i) writer.append(frameAt(static_cast<std::uint64_t>(i)).view());
  writer.flush();
  {
    RecordingReader reader(folder / "a.h5.partial");
    ASSERT_EQ(reader.numFrames(), 9);
    expectSame(reader.frame(8), frameAt(8));
  }
  writer.append(frameAt(9).view());
  writer.close();
  RecordingReader reader(folder / "a.h5");
  ASSERT_EQ(reader.numFrames(), 10);
  for (int i = 0; i < 10; ++i) expectSame(reader.frame(i), frameAt(static_cast<std::uint64_t>(i)));
}

TEST(Recording, AfterAKillAtAnyWriteItIsReadableUpToTheLastChunk) {
  const TemporaryFolder folder;
  constexpr int kNumFrames = 24, kChunk = 4;
  const Model model = samples::makeSoftModel();
  const auto frame = [&](std::int64_t i) {
    return samples::makeSoftFrame(static_cast<std::uint64_t>(i), model, 60, 40);
  };
  std::vector<FileChange> done;
  std::vector<std::size_t> changesAt;  // [c]: how many changes had been made when chunk c was there
  changes = &done;
  {
    RecordingWriter writer(folder / "a.h5", model, {.framesPerChunk = kChunk});
    changesAt.push_back(done.size());
    for (int i = 0; i < kNumFrames; ++i) {
      writer.append(frame(i).view());
      if (i % kChunk != kChunk - 1) continue;
      writer.flush();
      changesAt.push_back(done.size());
    }
    writer.close();
  }
  changes = nullptr;
  ASSERT_GT(done.size(), 200u);

  // A kill keeps what was written so far: make the same changes one by one and read after each.
  const std::filesystem::path replica = folder / "replica.h5.partial";
  const int descriptor = open(replica.c_str(), O_RDWR | O_CREAT, 0600);
  ASSERT_GE(descriptor, 0);
  std::size_t chunks = 0;
  for (std::size_t k = 0; k < done.size(); ++k) {
    if (done[k].isTruncation)
      ASSERT_EQ(ftruncate(descriptor, done[k].offset), 0);
    else
      ASSERT_EQ(pwrite(descriptor, done[k].bytes.data(), done[k].bytes.size(), done[k].offset),
                static_cast<ssize_t>(done[k].bytes.size()));
    if (k + 1 < changesAt[0]) continue;  // the constructor has not returned
    while (chunks + 1 < changesAt.size() && changesAt[chunks + 1] <= k + 1) ++chunks;
    SCOPED_TRACE("killed after write " + std::to_string(k));
    RecordingReader reader(replica);
    ASSERT_GE(reader.numFrames(), static_cast<std::int64_t>(kChunk * chunks));
    ASSERT_LE(reader.numFrames(), static_cast<std::int64_t>(kChunk * (chunks + 1)));
    for (std::int64_t i = 0; i < reader.numFrames(); ++i) expectSame(reader.frame(i), frame(i));
    ASSERT_FALSE(HasFailure());
  }
  close(descriptor);
}

TEST(Recording, AFullDiskIsAnErrorThatNamesPathAndBytesAndKeepsWholeFrames) {
  const TemporaryFolder folder;
  for (const long capacity : {20'000L, 60'000L, 61'234L, 100'000L}) {
    std::int64_t numWhole = 0;
    {
      RecordingWriter writer(folder / "a.h5", makeModel(), {.framesPerChunk = 4});
      bytesUntilFull = capacity;
      std::string message;
      try {
        for (int i = 0; i < 1000; ++i) {
          writer.append(makeFrame(static_cast<std::uint64_t>(i), kNumBodies, 60).view());
          if (i % 4 != 3) continue;
          writer.flush();
          numWhole = i + 1;
        }
      } catch (const FileError& error) {
        message = error.what();
      }
      EXPECT_NE(message.find("a.h5.partial"), std::string::npos) << message;
      EXPECT_NE(message.find("No space left"), std::string::npos) << message;
      EXPECT_NE(message.find(" bytes"), std::string::npos) << message;
      EXPECT_NE(message.find("holds " + std::to_string(numWhole) + " whole frames"),
                std::string::npos)
          << message << " " << numWhole;
      EXPECT_THROW(writer.flush(), FileError);
      EXPECT_THROW(writer.close(), FileError);
    }
    bytesUntilFull = -1;
    EXPECT_FALSE(std::filesystem::exists(folder / "a.h5"));
    if (numWhole > 0) {
      RecordingReader reader(folder / "a.h5.partial");
      EXPECT_GE(reader.numFrames(), numWhole);
      for (std::int64_t i = 0; i < reader.numFrames(); ++i)
        expectSame(reader.frame(i), makeFrame(static_cast<std::uint64_t>(i), kNumBodies, 60));
    }
  }
  writeFrames(folder / "b.h5", 10);  // the library is none the worse for it
  EXPECT_EQ(RecordingReader(folder / "b.h5").numFrames(), 10);
}

TEST(Recording, ADiskFullFromTheStartIsAnError) {
  const TemporaryFolder folder;
  bytesUntilFull = 0;
  EXPECT_THROW(RecordingWriter(folder / "a.h5", makeModel()), FileError);
  bytesUntilFull = -1;
  EXPECT_FALSE(std::filesystem::exists(folder / "a.h5.partial"));
}

TEST(Recording, AFullDiskIsToldToOneWhoOnlyAppends) {
  const TemporaryFolder folder;
  RecordingWriter writer(folder / "a.h5", makeModel(), {.framesPerChunk = 4});
  bytesUntilFull = 60'000;
  EXPECT_THROW(
      {
        for (int i = 0; i < 1000; ++i)
          writer.append(makeFrame(static_cast<std::uint64_t>(i), kNumBodies, 60).view());
      },
      FileError);
  EXPECT_LT(writer.numFrames(), 500u);
  EXPECT_THROW(writer.close(), FileError);
  bytesUntilFull = -1;
}

TEST(Recording, ANumberThatIsNotFiniteIsRefusedAndTheFrameLeftOut) {
  const TemporaryFolder folder;
  const Real nan = std::numeric_limits<Real>::quiet_NaN();
  {
    RecordingWriter writer(folder / "a.h5", makeModel());
    OwnedFrame frame = frameAt(1);
    frame.bodies[1].linearVelocity.y = nan;
    EXPECT_THROW(writer.append(frame.view()), InvalidInput);
    frame = frameAt(1);
    frame.contacts[0].force.z = std::numeric_limits<Real>::infinity();
    EXPECT_THROW(writer.append(frame.view()), InvalidInput);
    frame = frameAt(1);
    frame.energy.residual = nan;
    EXPECT_THROW(writer.append(frame.view()), InvalidInput);
    frame = frameAt(1);
    frame.report.residual = nan;
    EXPECT_THROW(writer.append(frame.view()), InvalidInput);
    frame = frameAt(1);
    frame.bodies.pop_back();
    EXPECT_THROW(writer.append(frame.view()), InvalidInput);
    EXPECT_EQ(writer.numFrames(), 0u);
    writer.append(frameAt(1).view());
    writer.close();
  }
  RecordingReader reader(folder / "a.h5");
  ASSERT_EQ(reader.numFrames(), 1);
  expectSame(reader.frame(0), frameAt(1));
}

TEST(Recording, TwoRunsDoNotWriteTheSameFile) {
  const TemporaryFolder folder;
  RecordingWriter first(folder / "a.h5", makeModel());
  EXPECT_THROW(RecordingWriter(folder / "a.h5", makeModel()), FileError);
  first.append(frameAt(0).view());
  first.close();
  EXPECT_EQ(RecordingReader(folder / "a.h5").numFrames(), 1);
}

TEST(Recording, WhatAKilledRunLeftIsReplacedByTheNext) {
  const TemporaryFolder folder;
  { RecordingWriter left(folder / "a.h5", makeModel()); }
  writeFrames(folder / "a.h5", 3);
  EXPECT_EQ(RecordingReader(folder / "a.h5").numFrames(), 3);
  EXPECT_FALSE(std::filesystem::exists(folder / "a.h5.partial"));
}

TEST(Recording, PlacesThatCannotHoldAFileAreRefused) {
  const TemporaryFolder folder;
  EXPECT_THROW(RecordingWriter("/dev/full", makeModel()), FileError);
  EXPECT_THROW(RecordingWriter(folder / "missing/a.h5", makeModel()), FileError);
  std::filesystem::create_directory(folder / "a.h5");
  EXPECT_THROW(RecordingWriter(folder / "a.h5", makeModel()), FileError);
}

TEST(Recording, WhatIsNoRecordingIsRefused) {
  const TemporaryFolder folder;
  EXPECT_THROW(RecordingReader(folder / "missing.h5"), FileError);
  std::ofstream(folder / "empty.h5").close();
  EXPECT_THROW(RecordingReader(folder / "empty.h5"), InvalidInput);
  std::ofstream(folder / "text.h5") << "this is no HDF5 file";
  EXPECT_THROW(RecordingReader(folder / "text.h5"), InvalidInput);

  writeFrames(folder / "a.h5", 20);
  const std::string bytes = bytesOf(folder / "a.h5");
  for (const std::size_t size : {bytes.size() / 4, bytes.size() / 2, bytes.size() - 1}) {
    std::ofstream(folder / "cut.h5", std::ios::binary) << bytes.substr(0, size);
    EXPECT_THROW(
        {
          RecordingReader reader(folder / "cut.h5");
          for (std::int64_t i = 0; i < reader.numFrames(); ++i) (void)reader.frame(i);
          throw InvalidInput("a cut at the end took nothing that was needed");
        },
        InvalidInput);
  }
}

TEST(Recording, TheMeaningOfTheStatusNamesEveryBit) {
  const std::string meaning = io::kStatusMeaning;
  for (std::uint32_t bit = 1; bit <= 16384; bit <<= 1) {
    const std::string entry =
        std::to_string(bit) + " " + std::string(stepStatusName(static_cast<StepStatus>(bit)));
    EXPECT_NE(meaning.find(entry), std::string::npos) << entry;
  }
  EXPECT_EQ(stepStatusName(static_cast<StepStatus>(32768)), "Unknown") << "a new bit needs a name";
}

/// Two recordings of 200 frames; `change` alters one frame of the second.
template <class Change>
std::optional<RecordingDifference> differenceAfter(std::uint64_t step, Change change,
                                                   const RecordingDiffOptions& options = {}) {
  const TemporaryFolder folder;
  for (const char* name : {"a.h5", "b.h5"}) {
    RecordingWriter writer(folder / name, makeModel());
    for (std::uint64_t i = 0; i < 200; ++i) {
      OwnedFrame frame = frameAt(i);
      if (i == step && std::string(name) == "b.h5") change(frame);
      writer.append(frame.view());
    }
    writer.close();
  }
  RecordingReader a(folder / "a.h5"), b(folder / "b.h5");
  return firstDifference(a, b, options);
}

TEST(RecordingDiff, EqualRecordingsHaveNone) {
  EXPECT_FALSE(differenceAfter(0, [](OwnedFrame&) {}).has_value());
}

TEST(RecordingDiff, OneBitOfABodyIsFoundWithStepNameAndValues) {
  const auto difference = differenceAfter(150, [](OwnedFrame& frame) {
    Real& x = frame.bodies[1].pose.translation.x;
    x = std::nextafter(x, 1e9);
  });
  ASSERT_TRUE(difference.has_value());
  EXPECT_EQ(difference->step, 150u);
  EXPECT_EQ(difference->kind, "body");
  EXPECT_EQ(difference->name, "ball 1");
  EXPECT_EQ(difference->quantity, "position");
  EXPECT_NE(difference->value1, difference->value2);
}

TEST(RecordingDiff, AContactIsNamedByItsBodies) {
  const auto difference = differenceAfter(
      3, [](OwnedFrame& frame) { frame.contacts[1].force.z = std::nextafter(1.0, 2.0); });
  ASSERT_TRUE(difference.has_value());
  EXPECT_EQ(difference->step, 3u);
  EXPECT_EQ(difference->kind, "contact");
  EXPECT_EQ(difference->name, "ball 1 on floor");
  EXPECT_EQ(difference->quantity, "force");
}

TEST(RecordingDiff, AMissingContactIsFound) {
  const auto difference = differenceAfter(3, [](OwnedFrame& frame) { frame.contacts.pop_back(); });
  ASSERT_TRUE(difference.has_value());
  EXPECT_EQ(difference->quantity, "number of contacts");
  EXPECT_EQ(difference->value1, "3");
  EXPECT_EQ(difference->value2, "2");
}

TEST(RecordingDiff, SolverEnergyTimeAndHiddenStateAreCompared) {
  const auto kindAfter = [](auto change) {
    const auto difference = differenceAfter(5, change);
    return difference ? difference->kind + " " + difference->quantity : "";
  };
  EXPECT_EQ(kindAfter([](OwnedFrame& f) { ++f.report.iterations; }), "solver iterations");
  EXPECT_EQ(kindAfter([](OwnedFrame& f) { f.report.status = StepStatus::Ok; }), "solver status");
  EXPECT_EQ(kindAfter([](OwnedFrame& f) { f.energy.damping += 1; }), "energy damping");
  EXPECT_EQ(kindAfter([](OwnedFrame& f) { f.time += 1; }), "frames time");
  EXPECT_EQ(kindAfter([](OwnedFrame& f) { ++f.stateHash; }), "state hash of what is not recorded");
}

TEST(RecordingDiff, ToleranceForgivesSmallDifferencesOfTheMotion) {
  const auto change = [](OwnedFrame& frame) {
    frame.bodies[0].pose.translation.z += 1e-9;
    frame.contacts.pop_back();
    ++frame.stateHash;
  };
  EXPECT_TRUE(differenceAfter(7, change, {.tolerance = 1e-10}).has_value());
  EXPECT_FALSE(differenceAfter(7, change, {.tolerance = 1e-8}).has_value());
}

TEST(RecordingDiff, AMissingStepIsADifferenceUnlessOnlyCommonStepsCount) {
  const TemporaryFolder folder;
  const auto write = [&](const char* name, std::uint64_t begin, std::uint64_t end) {
    RecordingWriter writer(folder / name, makeModel());
    for (std::uint64_t i = begin; i < end; ++i) writer.append(frameAt(i).view());
    writer.close();
  };
  write("whole.h5", 0, 20);
  write("late.h5", 10, 20);
  write("short.h5", 0, 15);
  write("other.h5", 100, 110);
  const auto difference = [&](const char* name, bool onlyCommon) {
    RecordingReader a(folder / "whole.h5"), b(folder / name);
    return firstDifference(a, b, {.onlyCommonSteps = onlyCommon});
  };
  EXPECT_EQ(difference("late.h5", false)->step, 0u);
  EXPECT_EQ(difference("short.h5", false)->step, 15u);
  EXPECT_EQ(difference("short.h5", false)->value2, "missing");
  EXPECT_FALSE(difference("late.h5", true).has_value());
  EXPECT_FALSE(difference("short.h5", true).has_value());
  EXPECT_TRUE(difference("other.h5", true).has_value()) << "nothing in common is not equality";
}

TEST(RecordingDiff, OtherBodiesAreADifferenceOfTheModel) {
  const TemporaryFolder folder;
  writeFrames(folder / "a.h5", 1);
  {
    RecordingWriter writer(folder / "b.h5", makeModel(3));
    writer.append(makeFrame(0, 4, 0).view());
    writer.close();
  }
  RecordingReader a(folder / "a.h5"), b(folder / "b.h5");
  const auto difference = firstDifference(a, b);
  ASSERT_TRUE(difference.has_value());
  EXPECT_FALSE(difference->step.has_value());
  EXPECT_EQ(difference->kind, "model");
  EXPECT_EQ(difference->value1, "floor");
  EXPECT_EQ(difference->value2, "ball 2");
}

}  // namespace
}  // namespace tangere
