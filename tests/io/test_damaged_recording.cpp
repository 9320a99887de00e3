// SPDX-License-Identifier: Apache-2.0
//
// Recordings with wrong bits or missing ends: a clear error or the frames as they are, in a moment
// and without much memory, whatever is wrong.
#include <tangere/error.hpp>
#include <tangere/mcap.hpp>
#include <tangere/recording.hpp>

#include "io/recording_samples.hpp"

#include <sys/resource.h>

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <iterator>
#include <random>

namespace tangere {
namespace {

using samples::TemporaryFolder;

std::string bytesOf(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
void writeBytes(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

long peakMemory_kb() {
  struct rusage usage {};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

enum class Outcome { Read, Refused };

/// Everything that a file can be asked for. What is thrown names the file.
Outcome readAll(const std::filesystem::path& path) {
  try {
    RecordingReader recording(path);
    for (std::int64_t i = 0; i < recording.numFrames(); ++i) {
      const RecordedFrame& frame = recording.frame(i);
      EXPECT_EQ(static_cast<int>(frame.bodies.size()), recording.numBodies());
      for (const ContactForce& contact : frame.contacts)
        EXPECT_LT(contact.body1, recording.numBodies());
    }
    return Outcome::Read;
  } catch (const InvalidInput& error) {
    EXPECT_NE(std::string(error.what()).find(path.filename().string()), std::string::npos)
        << error.what();
  } catch (const FileError& error) {
    EXPECT_NE(std::string(error.what()).find(path.filename().string()), std::string::npos)
        << error.what();
  }
  return Outcome::Refused;
}

class DamagedRecording : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const bool isSoft = std::string_view(GetParam()) == "soft";
    const Model model = isSoft ? samples::makeSoftModel() : samples::makeModel();
    RecordingWriter writer(path, model, {.framesPerChunk = 16});
    for (std::uint64_t i = 0; i < 40; ++i)
      writer.append((isSoft ? samples::makeSoftFrame(i, model, static_cast<int>(i % 4), 3)
                            : samples::makeFrame(i, model.numBodies(), static_cast<int>(i % 4)))
                        .view());
    writer.close();
    whole = bytesOf(path);
    ASSERT_EQ(readAll(path), Outcome::Read);
  }

  /// Reads `bytes` as a file; adds up what came of it and the longest time it took.
  void tryBytes(const std::string& bytes) {
    const std::filesystem::path damaged = folder / "damaged.h5";
    writeBytes(damaged, bytes);
    const auto begin = std::chrono::steady_clock::now();
    ++(readAll(damaged) == Outcome::Read ? numRead : numRefused);
    const auto end = std::chrono::steady_clock::now();
    longest_s = std::max(longest_s, std::chrono::duration<double>(end - begin).count());
  }

  TemporaryFolder folder;
  const std::filesystem::path path = folder / "whole.h5";
  std::string whole;
  int numRead = 0, numRefused = 0;
  double longest_s = 0;
};

INSTANTIATE_TEST_SUITE_P(Kinds, DamagedRecording, ::testing::Values("rigid", "soft"),
                         [](const auto& kind) { return std::string(kind.param); });

TEST_P(DamagedRecording, WrongBitsAreAnErrorOrOtherNumbers) {
  const long before = peakMemory_kb();
  for (unsigned seed = 0; seed < 500; ++seed) {
    std::mt19937_64 random(seed);
    std::string bytes = whole;
    // One bit of the whole file, of the first part, where its structure is, or sixteen bits.
    const std::size_t reach =
        seed % 3 == 1 ? std::min<std::size_t>(bytes.size(), 16384) : bytes.size();
    for (int k = seed % 3 == 2 ? 16 : 1; k > 0; --k)
      bytes[random() % reach] ^= static_cast<char>(1 << random() % 8);
    tryBytes(bytes);
  }
  EXPECT_GT(numRefused, 50);
  EXPECT_LT(longest_s, 10);
  EXPECT_LT(peakMemory_kb() - before, 300'000);
}

TEST_P(DamagedRecording, ACutFileIsAnError) {
  for (unsigned seed = 0; seed < 150; ++seed) {
    std::mt19937_64 random(seed);
    tryBytes(whole.substr(0, seed < 50 ? seed * 17 : random() % whole.size()));
  }
  EXPECT_EQ(numRead, 0);
  EXPECT_LT(longest_s, 10);
}

TEST_P(DamagedRecording, AWrongBitIsAnErrorOrWhereNothingIsSaid) {
  const std::filesystem::path damaged = folder / "damaged.h5", out = folder / "out.mcap";
  const auto exported = [&](const std::filesystem::path& recording) {
    RecordingReader reader(recording);
    (void)exportMcap(reader, out);
    return bytesOf(out);
  };
  const std::string expected = exported(path);
  int refused = 0;
  // Names, shapes and looks are in the first part of the file.
  for (unsigned seed = 0; seed < 400; ++seed) {
    std::mt19937_64 random(seed);
    std::string bytes = whole;
    const std::size_t reach =
        seed % 2 == 0 ? std::min<std::size_t>(bytes.size(), 32768) : bytes.size();
    const std::size_t at = random() % reach;
    bytes[at] ^= static_cast<char>(1 << random() % 8);
    writeBytes(damaged, bytes);
    try {
      EXPECT_TRUE(exported(damaged) == expected) << "the byte " << at << " counts for nothing";
    } catch (const InvalidInput&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 50);
}

TEST_P(DamagedRecording, NoExportOfItIsLeftBehind) {
  const std::filesystem::path damaged = folder / "damaged.h5", out = folder / "out.mcap";
  int refused = 0;
  for (unsigned seed = 0; seed < 60; ++seed) {
    std::mt19937_64 random(seed);
    std::string bytes = whole;
    for (int k = 0; k < 30; ++k)
      bytes[random() % bytes.size()] ^= static_cast<char>(1 << random() % 8);
    writeBytes(damaged, bytes);
    std::filesystem::remove(out);
    try {
      RecordingReader recording(damaged);
      (void)exportMcap(recording, out);
      EXPECT_TRUE(std::filesystem::exists(out));
    } catch (const InvalidInput&) {
      ++refused;
      EXPECT_FALSE(std::filesystem::exists(out));
    }
    EXPECT_FALSE(std::filesystem::exists(out.string() + ".partial"));
  }
  EXPECT_GT(refused, 10);
}

}  // namespace
}  // namespace tangere
