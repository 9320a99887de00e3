// SPDX-License-Identifier: Apache-2.0
//
// MCAP, the container format of robot logs (https://mcap.dev/spec): messages of several channels in
// chunks, each with an index, and a summary at the end by which a reader finds any moment without
// reading the rest. Every part that the format can guard by a CRC has one.
//
// The file is NAME.partial until finish(); a writer that is destroyed before that leaves nothing.
#pragma once

#include "io/partial_file.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tangere::io {

class McapWriter {
 public:
  /// A chunk is written when it holds this many bytes; a message is never divided.
  static constexpr std::size_t kBytesPerChunk = std::size_t{1} << 20;

  /// Throws FileError when the file cannot be written, as all functions do.
  McapWriter(const std::string& path, std::string_view library, bool isCompressed);
  McapWriter(const McapWriter&) = delete;
  McapWriter& operator=(const McapWriter&) = delete;

  /// A channel of JSON messages of a JSON schema; channels are added before messages. Returns its
  /// number.
  std::uint16_t addChannel(std::string_view topic, std::string_view schemaName,
                           std::string_view schema);
  /// Text about the file as a whole.
  void addMetadata(std::string_view name, const std::map<std::string, std::string>& values);
  /// Times do not decrease.
  void write(std::uint16_t channel, std::uint64_t time_ns, std::string_view message);
  /// The summary; then the file is brought to the disk and gets its name.
  void finish();

  [[nodiscard]] std::uint64_t numMessages() const { return num_messages_; }
  [[nodiscard]] std::uint64_t numChunks() const { return chunks_.size(); }
  [[nodiscard]] std::uint64_t numBytes() const { return position_; }

 private:
  struct IndexEntry {
    std::uint64_t time_ns = 0, offset = 0;  // in the chunk, before it is compressed
  };
  struct Channel {
    std::string topic{};
    std::uint16_t schema = 0;
    std::uint64_t numMessages = 0;
    std::vector<IndexEntry> index{};  // of the chunk that is being filled
  };
  struct Schema {
    std::string name{}, text{};
  };
  struct Chunk {
    std::uint64_t begin_ns = 0, end_ns = 0, position = 0, length = 0;
    std::vector<std::pair<std::uint16_t, std::uint64_t>> indexPositions{};
    std::uint64_t indexLength = 0, compressedSize = 0, size = 0;
    bool isCompressed = false;
  };
  struct Metadata {
    std::string name{};
    std::uint64_t position = 0, length = 0;
  };

  void put(std::string_view bytes);
  void writeChunk();
  [[nodiscard]] std::string schemaRecord(std::size_t index) const;
  [[nodiscard]] std::string channelRecord(std::size_t index) const;
  [[nodiscard]] std::string statisticsRecord() const;
  void writeSummary();
  [[noreturn]] void fail() const;

  PartialFile file_;
  bool is_compressed_;
  std::uint64_t position_ = 0;
  std::uint32_t crc_ = 0;  // of all bytes so far
  std::vector<Schema> schemas_{};
  std::vector<Channel> channels_{};
  std::vector<Metadata> metadata_{};
  std::string records_{};  // of the chunk that is being filled
  std::uint64_t chunk_begin_ns_ = 0, first_ns_ = 0, last_ns_ = 0;
  std::uint64_t num_messages_ = 0;
  std::vector<Chunk> chunks_{};
};

/// CRC-32 of zlib, PNG and MCAP; `crc` is that of what came before, 0 at first.
[[nodiscard]] std::uint32_t crc32(std::string_view bytes, std::uint32_t crc = 0);

}  // namespace tangere::io
