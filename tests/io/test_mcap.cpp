// SPDX-License-Identifier: Apache-2.0
//
// MCAP files byte by byte: checksums, compression, JSON, and what is left when an export ends
// early. tests/cli/test_export.py reads whole files by the rules of the format.
#include <tangere/error.hpp>
#include <tangere/mcap.hpp>

#include "io/json_text.hpp"
#include "io/lz4_frame.hpp"
#include "io/mcap_writer.hpp"
#include "io/recording_samples.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <random>

namespace tangere {
namespace {

using samples::makeFrame;
using samples::makeModel;
using samples::OwnedFrame;
using samples::TemporaryFolder;

constexpr int kNumBodies = 3;  // of makeModel()

/// An LZ4 frame as its description says it is read.
std::string decompressed(const std::string& frame) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(frame.at(i)); };
  const auto word = [&](std::size_t i) {
    return byte(i) | byte(i + 1) << 8 | byte(i + 2) << 16 | std::uint32_t{byte(i + 3)} << 24;
  };
  EXPECT_EQ(word(0), 0x184d2204u);
  std::string out;
  std::size_t at = 7;
  for (std::uint32_t length = word(at); length != 0; length = word(at)) {
    at += 4;
    const bool isStored = length >> 31 != 0;
    const std::size_t end = at + (length & 0x7fffffffu), blockBegin = out.size();
    if (isStored) out += frame.substr(at, end - at);
    while (!isStored && at < end) {
      const unsigned token = byte(at++);
      const auto extended = [&](std::size_t value) {
        if (value < 15) return value;
        unsigned more = 255;
        while (more == 255) value += more = byte(at++);
        return value;
      };
      const std::size_t literals = extended(token >> 4);
      out += frame.substr(at, literals);
      at += literals;
      if (at == end) break;
      const std::size_t offset = byte(at) | byte(at + 1) << 8;
      at += 2;
      const std::size_t copied = extended(token & 15) + 4;
      if (offset == 0 || offset > out.size() - blockBegin) throw std::runtime_error("offset");
      for (std::size_t i = 0; i < copied; ++i) out += out[out.size() - offset];
    }
    at = end;
  }
  EXPECT_EQ(at + 4, frame.size());
  return out;
}

TEST(Crc32, IsThatOfTheStandard) {
  EXPECT_EQ(io::crc32("123456789"), 0xcbf43926u);  // the check value of CRC-32/ISO-HDLC
  EXPECT_EQ(io::crc32(""), 0u);
  EXPECT_EQ(io::crc32("6789", io::crc32("12345")), 0xcbf43926u);
}

TEST(Lz4, WhatIsCompressedIsReadAsItWas) {
  std::mt19937 random(1);
  std::vector<std::string> texts = {"",
                                    "a",
                                    "abcabcabcabc",
                                    std::string(12, 'x'),
                                    std::string(13, 'x'),
                                    std::string(100000, 'y')};
  for (int i = 0; i < 200; ++i) {  // from noise to four letters, of any length
    std::string text;
    const unsigned letters = 1u << (1 + random() % 8);
    const std::size_t length = random() % 5000;
    for (std::size_t k = 0; k < length; ++k) text += static_cast<char>(random() % letters);
    texts.push_back(text);
  }
  std::string far(70000, '\0');  // a match that is too far, beside one that is near enough
  for (char& c : far) c = static_cast<char>(random());
  texts.push_back(far + far.substr(0, 50) + far.substr(10000, 300));
  texts.push_back(std::string((std::size_t{4} << 20) + 17, 'z') + far);  // two blocks
  for (const std::string& text : texts) EXPECT_EQ(decompressed(io::compressLz4(text)), text);
}

TEST(Lz4, TextOfOneKindBecomesMuchShorter) {
  std::string text;
  for (int i = 0; i < 2000; ++i)
    text += "{\"name\":\"box\",\"position\":{\"x\":" + std::to_string(i) + "},\"depth\":0}";
  EXPECT_LT(5 * io::compressLz4(text).size(), text.size());
}

TEST(JsonText, NumbersAreReadBackAsTheyWere) {
  for (const Real value :
       {0.1, 1.0 / 3, -1e-300, 1.7976931348623157e308, 5e-324, 0.0, 123456789.0}) {
    io::JsonText json;
    EXPECT_EQ(std::strtod(json.value(value).text().c_str(), nullptr), value);
  }
  for (const Real value :
       {std::numeric_limits<Real>::infinity(), std::numeric_limits<Real>::quiet_NaN()})
    EXPECT_THROW(io::JsonText().value(value), InvalidInput);
}

TEST(JsonText, TextIsEscapedAndMended) {
  const auto quoted = [](std::string_view text) { return io::JsonText().value(text).text(); };
  EXPECT_EQ(quoted("a\"b\\c\n\x01"), "\"a\\\"b\\\\c\\u000a\\u0001\"");
  EXPECT_EQ(quoted("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"),
            "\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\"");
  const std::string bad = "\xef\xbf\xbd";  // U+FFFD for each byte that belongs to no character
  EXPECT_EQ(quoted("\xff"), "\"" + bad + "\"");
  EXPECT_EQ(quoted("a\xc3"), "\"a" + bad + "\"");
  EXPECT_EQ(quoted("\xc0\x80"), "\"" + bad + bad + "\"");            // too long
  EXPECT_EQ(quoted("\xed\xa0\x80"), "\"" + bad + bad + bad + "\"");  // half of a surrogate pair
  EXPECT_EQ(io::JsonText()
                .beginObject()
                .member("a", 1)
                .key("b")
                .beginArray()
                .value(2)
                .value(true)
                .endArray()
                .endObject()
                .text(),
            "{\"a\":1,\"b\":[2,true]}");
}

class McapExport : public ::testing::Test {
 protected:
  std::filesystem::path record(int frames) {
    const std::filesystem::path path = folder / "a.h5";
    RecordingWriter writer(path, makeModel());
    for (int i = 0; i < frames; ++i)
      writer.append(makeFrame(static_cast<std::uint64_t>(i), kNumBodies, i % 4).view());
    writer.close();
    return path;
  }
  [[nodiscard]] std::filesystem::path output() const { return folder / "a.mcap"; }
  [[nodiscard]] bool isNothingLeft() const {
    return !std::filesystem::exists(output()) &&
           !std::filesystem::exists(output().string() + ".partial");
  }
  TemporaryFolder folder;
};

TEST_F(McapExport, CountsWhatItWrote) {
  RecordingReader recording(record(200));
  std::int64_t calls = 0;
  const McapReport report =
      exportMcap(recording, output(), {}, [&](std::int64_t done, std::int64_t all) {
        EXPECT_EQ(done, ++calls);
        EXPECT_EQ(all, 200);
      });
  EXPECT_EQ(report.numFrames, 200);
  EXPECT_EQ(calls, 200);
  // /shapes and /tf_static once; /tf, /contact_scene, /bodies, /contacts, /solver, /energy always
  EXPECT_EQ(report.numMessages, 2u + 6u * 200u);
  EXPECT_EQ(report.numBytes, std::filesystem::file_size(output()));
  EXPECT_GT(report.metresPerNewton, 0);
}

TEST_F(McapExport, ChunksAreBounded) {
  RecordingReader recording(record(2000));
  const McapReport report = exportMcap(recording, output(), {.isCompressed = false});
  const Real perChunk = static_cast<Real>(report.numBytes) / static_cast<Real>(report.numChunks);
  EXPECT_GT(report.numChunks, 2u);
  EXPECT_LT(perChunk, 1.5 * static_cast<Real>(io::McapWriter::kBytesPerChunk));
}

TEST_F(McapExport, WhateverEndsItNothingIsLeft) {
  RecordingReader recording(record(50));
  EXPECT_THROW(exportMcap(recording, output(), {},
                          [](std::int64_t done, std::int64_t) {
                            if (done == 20) throw std::runtime_error("enough");
                          }),
               std::runtime_error);
  EXPECT_TRUE(isNothingLeft());
  EXPECT_THROW(exportMcap(recording, output(), {.rate = -1}), InvalidInput);
  EXPECT_THROW(exportMcap(recording, folder / "missing/a.mcap"), FileError);
  RecordingReader empty(record(0));
  EXPECT_THROW(exportMcap(empty, output()), InvalidInput);
  EXPECT_TRUE(isNothingLeft());
}

TEST_F(McapExport, ATimeThatGoesBackIsRefused) {
  const std::filesystem::path path = folder / "a.h5";
  {
    RecordingWriter writer(path, makeModel());
    for (const Real time : {0.0, 0.2, 0.1}) {
      OwnedFrame frame = makeFrame(1, kNumBodies, 0);
      frame.time = time;
      writer.append(frame.view());
    }
    writer.close();
  }
  RecordingReader recording(path);
  EXPECT_THROW(exportMcap(recording, output()), InvalidInput);
  EXPECT_TRUE(isNothingLeft());
}

TEST_F(McapExport, TwoExportsDoNotWriteTheSameFile) {
  RecordingReader recording(record(3)), other(folder / "a.h5");
  EXPECT_THROW(exportMcap(recording, output(), {},
                          [&](std::int64_t, std::int64_t) { (void)exportMcap(other, output()); }),
               FileError);
}

}  // namespace
}  // namespace tangere
